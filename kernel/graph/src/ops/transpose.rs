//! Two axes swapped.

use super::{Arity, Operator, Refusal, Shapes, Site, axis_within, permute, selection};
use crate::attributes::{Attributes, number};
use crate::lowering::Lowering;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator =
    Operator::new("transpose", Arity::Exactly(1), shape_rule, lower).attributes(&[number("axis1"), number("axis2")]);

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let mut swapped = shapes.parent(0)?.to_vec();
    let (first, second) = (attributes.number("axis1")?, attributes.number("axis2")?);
    axis_within("axis1", first, swapped.len())?;
    axis_within("axis2", second, swapped.len())?;
    swapped.swap(first, second);
    Ok(swapped)
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let parent = site.shapes.first();
    let (first, second) = (site.attributes.number("axis1").ok()?, site.attributes.number("axis2").ok()?);
    let mut permutation: Vec<usize> = (0..parent.len()).collect();
    if first.max(second) >= permutation.len() {
        return None;
    }
    permutation.swap(first, second);
    selection(parents, permute::sources(parent, &permutation)?, program)
}
