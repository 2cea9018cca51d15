//! Axes in another order: axis `i` of the result is axis `perm[i]` of the parent.

use super::{Arity, Operator, Refusal, Shapes, Site, selection};
use crate::attributes::{Attributes, list};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("permute", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[list("perm")])
    .attribute_rule(attribute_rule);

fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    let mut sorted = attributes.list("perm")?.to_vec();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(0..sorted.len()) {
        Ok(())
    } else {
        Err(Refusal::Attribute("perm", "not a permutation of the axes 0, 1, 2, …".to_owned()))
    }
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, permutation) = (shapes.parent(0)?, attributes.list("perm")?);
    if permutation.len() != parent.len() {
        let (length, rank) = (permutation.len(), parent.len());
        return Err(Refusal::Shape(format!("`perm` has {length} entries, but the parent's rank is {rank}")));
    }
    picked(parent, permutation).ok_or(Refusal::Internal("a permutation that is none"))
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    selection(parents, sources(site.shapes.first(), site.attributes.list("perm").ok()?)?, program)
}

/// For each element of the permuted tensor, the place in the parent that it comes from.
pub(super) fn sources(parent: &[usize], permutation: &[usize]) -> Option<Vec<usize>> {
    let extents = picked(parent, permutation)?;
    let strides = picked(&shape::strides(parent)?, permutation)?;
    shape::offsets(extents.into_iter().zip(strides))
}

fn picked(values: &[usize], permutation: &[usize]) -> Option<Vec<usize>> {
    permutation.iter().map(|axis| values.get(*axis).copied()).collect()
}
