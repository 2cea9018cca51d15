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

/// The shape that two shapes broadcast to, aligned at the right: where the extents differ, one of them is 1 or absent.
pub(super) fn common(first: &[usize], second: &[usize]) -> Result<Vec<usize>, Refusal> {
    let rank = first.len().max(second.len());
    let extent = |shape: &[usize], axis: usize| {
        let axis = axis.checked_add(shape.len())?.checked_sub(rank)?;
        shape.get(axis).copied()
    };
    let both = (0..rank).map(|axis| match (extent(first, axis), extent(second, axis)) {
        (Some(a), Some(b)) if a == b || b == 1 => Some(a),
        (Some(1), Some(b)) => Some(b),
        (Some(_), Some(_)) => None,
        (one, other) => one.or(other),
    });
    both.collect::<Option<_>>().ok_or_else(|| {
        let (first, second) = (shape::text(first), shape::text(second));
        Refusal::Shape(format!("{first} and {second} do not broadcast to each other"))
    })
}

pub(super) fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    selection(parents, sources(site.shapes.first(), site.shapes.declared)?, program)
}

/// For each element of a tensor of shape `to` the element of one of shape `from`, which broadcasts to it.
pub(super) fn sources(from: &[usize], to: &[usize]) -> Option<Vec<usize>> {
    let strides = shape::strides(from)?;
    let repeated = std::iter::repeat_n(0, to.len().checked_sub(from.len())?);
    let kept = from.iter().zip(strides).map(|(extent, stride)| if *extent == 1 { 0 } else { stride });
    shape::offsets(to.iter().copied().zip(repeated.chain(kept)))
}
