//! What pooling operators have in common: windows over the last axes, for each place of the axes before.

use super::{Refusal, Shapes, Site, conv, window};
use crate::attributes::{Attribute, AttributeSpec, Attributes, list};
use crate::shape;

/// `padding_after` as of convolutions.
pub(super) const AFTER: AttributeSpec = conv::AFTER.extension();

/// `dilation`, which is 1 if absent.
pub(super) const DILATION: AttributeSpec = list("dilation")
    .or(|_, attributes| Attribute::List(vec![1; attributes.list("kernel").unwrap_or_default().len()]))
    .extension();

pub(super) fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    window::above_zero(attributes, &["spatial_rank"])?;
    window::lists_hold(attributes, &["kernel", "stride", "padding", "padding_after", "dilation"])
}

pub(super) fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (leading, spatial) = window::spatial(shapes, attributes)?;
    let output = window::output(spatial, attributes)?;
    for (axis, (extent, input)) in output.iter().zip(spatial).enumerate() {
        if !has_places(attributes, axis, *extent, *input)? {
            let detail =
                format!("the padding on spatial axis {axis} has room for a window without a place of the input");
            return Err(Refusal::Shape(detail));
        }
    }
    Ok(leading.iter().chain(&output).copied().collect())
}

/// Whether each window of a spatial axis surely has a place in the input: the first one reaches it (`padding ≤ (k − 1)·dilation`) in steps no longer
/// than it, and the last one starts before its end.
fn has_places(attributes: &Attributes, axis: usize, output: usize, input: usize) -> Result<bool, Refusal> {
    let entry = |name| window::entry(attributes, name, axis);
    let (padding, dilation) = (entry("padding")?, entry("dilation")?);
    let reach = window::effective(entry("kernel")?, dilation);
    let last = output.checked_sub(1).and_then(|last| last.checked_mul(entry("stride").ok()?));
    let reaches = padding == 0 || dilation <= input && reach.is_some_and(|reach| padding < reach);
    Ok(reaches && last.zip(input.checked_add(padding)).is_some_and(|(last, end)| last < end))
}

/// For each output place of a spatial axis the places of the input that its window covers.
fn windows(attributes: &Attributes, axis: usize, output: usize, input: usize) -> Result<Vec<Vec<usize>>, Refusal> {
    let entry = |name| window::entry(attributes, name, axis);
    let (kernel, stride, padding, dilation) =
        (entry("kernel")?, entry("stride")?, entry("padding")?, entry("dilation")?);
    let place = |start: usize, tap: usize| {
        tap.checked_mul(dilation)?.checked_add(start)?.checked_sub(padding).filter(|place| *place < input)
    };
    let window = |y: usize| {
        let start = y.saturating_mul(stride);
        (0..kernel).filter_map(|tap| place(start, tap)).collect()
    };
    Ok((0..output).map(window).collect())
}

/// For each element of the value the elements of the parent in its window.
pub(super) fn groups(site: &Site) -> Option<Vec<Vec<usize>>> {
    let (leading, spatial) = window::spatial(&site.shapes, site.attributes).ok()?;
    let mut lists: Vec<Vec<Vec<usize>>> =
        leading.iter().map(|extent| (0..*extent).map(|place| vec![place]).collect()).collect();
    for (axis, (input, output)) in spatial.iter().zip(site.shapes.declared.get(leading.len()..)?).enumerate() {
        lists.push(windows(site.attributes, axis, *output, *input).ok()?);
    }
    let mut groups = vec![vec![0_usize]];
    for (stride, lists) in shape::strides(site.shapes.first())?.into_iter().zip(lists) {
        let mut next = Vec::with_capacity(groups.len().checked_mul(lists.len())?);
        for group in &groups {
            for list in &lists {
                let mut places = Vec::with_capacity(group.len().checked_mul(list.len())?);
                for start in group {
                    for place in list {
                        places.push(place.checked_mul(stride)?.checked_add(*start)?);
                    }
                }
                next.push(places);
            }
        }
        groups = next;
    }
    Some(groups)
}

/// The value, and three indices for each place of every window.
pub(super) fn entries(shapes: &Shapes, attributes: &Attributes) -> Option<usize> {
    window::taps(shapes.declared, attributes)?.checked_mul(3)?.checked_add(shape::elements(shapes.declared)?)
}
