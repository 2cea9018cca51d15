//! Repetition along axes, shapes aligned at the right: an axis of extent 1, or one that is absent at the left, repeats.

use super::{Arity, Operator, Refusal, Shapes, Site, repeats_parent, selection};
use crate::attributes::{Attributes, list};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("broadcast_to", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[list("from_shape"), list("to_shape")]);

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    repeats_parent(shapes, attributes, "from_shape")?;
    let (from, to) = (shapes.parent(0)?, attributes.list("to_shape")?);
    let fits =
        from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(from, to)| *from == 1 || from == to);
    if fits {
        Ok(to.to_vec())
    } else {
        let (from, to) = (shape::text(from), shape::text(to));
        Err(Refusal::Shape(format!("{from} does not broadcast to {to}")))
    }
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let (from, to) = (site.shapes.first(), site.shapes.declared);
    let strides = shape::strides(from)?;
    let repeated = std::iter::repeat_n(0, to.len().checked_sub(from.len())?);
    let kept = from.iter().zip(strides).map(|(extent, stride)| if *extent == 1 { 0 } else { stride });
    let sources = shape::offsets(to.iter().copied().zip(repeated.chain(kept)))?;
    selection(parents, sources, program)
}
