//! What reductions over some axes have in common.

use super::{Refusal, Shapes, Site, axis_within, permute};
use crate::attributes::{AttributeSpec, Attributes, flag, list};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;

/// The axes, each once; `keepdim` leaves them with the extent 1.
pub(super) const ATTRIBUTES: &[AttributeSpec] = &[list("axes"), flag("keepdim")];

pub(super) fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    distinct("axes", attributes.list("axes")?)
}

/// Refuses a list in which a number stands twice.
pub(super) fn distinct(name: &'static str, list: &[usize]) -> Result<(), Refusal> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == list.len() { Ok(()) } else { Err(Refusal::Attribute(name, "an axis stands twice".to_owned())) }
}

pub(super) fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, axes) = (shapes.parent(0)?, attributes.list("axes")?);
    for axis in axes {
        axis_within("axes", *axis, parent.len())?;
    }
    let kept = attributes.flag("keepdim")?;
    let places = parent.iter().enumerate();
    Ok(places
        .filter_map(|(axis, extent)| if axes.contains(&axis) { kept.then_some(1) } else { Some(*extent) })
        .collect())
}

/// The value, and three indices for each element of the parent.
pub(super) fn entries(shapes: &Shapes, _: &Attributes) -> Option<usize> {
    shape::elements(shapes.first())?.checked_mul(3)?.checked_add(shape::elements(shapes.declared)?)
}

/// For each element of the result the places of the parent that it is made of.
pub(super) fn groups(site: &Site) -> Option<Vec<Vec<usize>>> {
    let (sources, length) = grouped(site.shapes.first(), site.attributes.list("axes").ok()?)?;
    Some(sources.chunks(length.max(1)).map(<[usize]>::to_vec).collect())
}

/// The places of a tensor with these axes running fastest, in their order, and how many places they have together.
fn grouped(parent: &[usize], axes: &[usize]) -> Option<(Vec<usize>, usize)> {
    let kept = (0..parent.len()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let length = axes.iter().try_fold(1_usize, |length, axis| length.checked_mul(*parent.get(*axis)?))?;
    Some((permute::sources(parent, &order)?, length))
}

/// The sum over the axes, or, if `mean`, that divided by the number of elements.
pub(super) fn total(
    parent: NodeId,
    shape: &[usize],
    axes: &[usize],
    mean: bool,
    program: &mut Lowering,
) -> Option<NodeId> {
    let (sources, length) = grouped(shape, axes)?;
    let ordered = program.arranged(parent, sources)?;
    let divisor = if mean { length } else { 1 };
    program.folded(ordered, length, &Rational::new(1.into(), divisor.into()), &Rational::default())
}

/// [`total`] over the axes that the attributes name.
pub(super) fn lower(site: &Site, parents: &[NodeId], mean: bool, program: &mut Lowering) -> Option<NodeId> {
    total(*parents.first()?, site.shapes.first(), site.attributes.list("axes").ok()?, mean, program)
}
