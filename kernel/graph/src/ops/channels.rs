//! Operators with one number for each place of a channel axis.

use super::{Refusal, Shapes, Site, axis_within, repeated};
use crate::attributes::Attributes;
use crate::shape;
use certkern_core::tensor::Tensor;

/// The shape stays, and has the channel axis.
pub(super) fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let parent = shapes.parent(0)?;
    axis_within("channel_axis", attributes.number("channel_axis")?, parent.len())?;
    Ok(parent.to_vec())
}

/// The extent of the channel axis, once the shape rule holds.
pub(super) fn extent(shapes: &Shapes, attributes: &Attributes) -> Result<usize, Refusal> {
    let extent = shapes.first().get(attributes.number("channel_axis")?);
    extent.copied().ok_or(Refusal::Internal("a channel axis beyond the rank"))
}

/// The numbers of the channels, one for each element of the value.
pub(super) fn spread(site: &Site, numbers: &Tensor) -> Option<Tensor> {
    let axis = site.attributes.number("channel_axis").ok()?;
    let shape = site.shapes.declared;
    repeated(numbers, shape::elements(shape.get(axis.checked_add(1)?..)?)?, shape::elements(shape.get(..axis)?)?)
}
