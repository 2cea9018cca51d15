//! Windows that slide over the last axes of a tensor, as in convolutions and pooling.

use super::{Refusal, Shapes};
use crate::attributes::Attributes;
use crate::shape;
use certkern_core::affine::Convolution;

/// The longest step of a stride or dilation, so that no place of a tap overflows. Longer ones reach no second place of any input.
const STEP: usize = 1 << 31;

/// Refuses a number of these that is zero.
pub(super) fn above_zero(attributes: &Attributes, names: &[&'static str]) -> Result<(), Refusal> {
    for name in names {
        if attributes.number(name)? == 0 {
            return Err(Refusal::Attribute(name, "must be above zero".to_owned()));
        }
    }
    Ok(())
}

/// Refuses a list of these, if it is there, that has not one entry for each spatial axis; a kernel, stride or dilation of zero; a step beyond [`STEP`].
pub(super) fn lists_hold(attributes: &Attributes, names: &[&'static str]) -> Result<(), Refusal> {
    let spatial_rank = attributes.number("spatial_rank")?;
    let present = || names.iter().copied().filter(|name| attributes.has(name));
    for name in present() {
        let found = attributes.list(name)?.len();
        if found != spatial_rank {
            return Err(Refusal::Attribute(name, format!("expected {spatial_rank} entries, found {found}")));
        }
    }
    for name in present().filter(|name| ["kernel", "stride", "dilation"].contains(name)) {
        if attributes.list(name)?.contains(&0) {
            return Err(Refusal::Attribute(name, "every entry must be above zero".to_owned()));
        }
    }
    for name in present().filter(|name| ["stride", "dilation"].contains(name)) {
        if attributes.list(name)?.iter().any(|step| *step > STEP) {
            return Err(Refusal::Attribute(name, format!("an entry is above {STEP}")));
        }
    }
    Ok(())
}

/// The entry of a list for a spatial axis.
pub(super) fn entry(attributes: &Attributes, name: &str, axis: usize) -> Result<usize, Refusal> {
    let entry = attributes.list(name)?.get(axis).copied();
    entry.ok_or(Refusal::Internal("a list shorter than the spatial rank"))
}

/// The last axes of the parent, as many as `spatial_rank`, and those before.
pub(super) fn spatial<'a>(shapes: &'a Shapes, attributes: &Attributes) -> Result<(&'a [usize], &'a [usize]), Refusal> {
    let (parent, rank) = (shapes.parent(0)?, attributes.number("spatial_rank")?);
    let split = parent.len().checked_sub(rank).and_then(|first| parent.split_at_checked(first));
    split.ok_or_else(|| Refusal::Shape(format!("`spatial_rank` is {rank}, but the parent's rank is {}", parent.len())))
}

/// On each spatial axis `⌊(in + before + after − ((k − 1)·dilation + 1)) / stride⌋ + 1`.
pub(super) fn output(spatial: &[usize], attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    spatial.iter().enumerate().map(|(axis, input)| output_extent(axis, *input, attributes)).collect()
}

fn output_extent(axis: usize, input: usize, attributes: &Attributes) -> Result<usize, Refusal> {
    let entry = |name| entry(attributes, name, axis);
    let (before, after) = (entry("padding")?, entry("padding_after")?);
    let (kernel, dilation, stride) = (entry("kernel")?, entry("dilation")?, entry("stride")?);
    let padded = input.checked_add(before).and_then(|sum| sum.checked_add(after));
    let room = padded.zip(effective(kernel, dilation)).and_then(|(padded, effective)| padded.checked_sub(effective));
    let extent = room.and_then(|room| room.checked_div(stride)).and_then(|steps| steps.checked_add(1));
    extent.ok_or_else(|| {
        let detail = format!(
            "on spatial axis {axis} a kernel of {kernel} with dilation {dilation} does not fit {input} with padding {before} and {after}"
        );
        Refusal::Shape(detail)
    })
}

/// The places from the first of a kernel to the last.
pub(super) fn effective(kernel: usize, dilation: usize) -> Option<usize> {
    kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)
}

/// The geometry of a convolution of this many channels over inputs with these spatial axes, of which `batch` are independent.
pub(super) fn geometry(
    attributes: &Attributes,
    batch: usize,
    channels: [usize; 2],
    input: &[usize],
    output: &[usize],
) -> Option<Convolution> {
    let list = |name| attributes.list(name).ok().map(<[usize]>::to_vec);
    let [in_channels, out_channels] = channels;
    Some(Convolution {
        batch,
        in_channels,
        out_channels,
        input: input.to_vec(),
        kernel: list("kernel")?,
        stride: list("stride")?,
        padding: list("padding")?,
        dilation: list("dilation")?,
        output: output.to_vec(),
    })
}

/// The number of kernel places for all output places.
pub(super) fn taps(output: &[usize], attributes: &Attributes) -> Option<usize> {
    shape::elements(output)?.checked_mul(shape::elements(attributes.list("kernel").ok()?)?)
}
