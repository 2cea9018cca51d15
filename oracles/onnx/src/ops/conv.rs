//! `Conv` and `ConvTranspose`.

use serde_json::Value as Json;

use super::window::{Window, list};
use super::{Call, affine};
use crate::builder::{NodeValue, Value};
use crate::constant::Constant;
use crate::error::ImportError;

/// The operands of a convolution.
struct Operands {
    node: NodeValue,
    /// As in the file.
    weight: std::rc::Rc<Constant>,
    group: usize,
    out: usize,
}

/// Reads the operands; `transposed` says on which of the first two axes of the weight the channels of the output are.
fn operands(call: &mut Call<'_>, transposed: bool) -> Result<Operands, ImportError> {
    let first = call.input(0)?;
    let weight = call.numbers(1)?;
    call.same_element(&[&first, &Value::Constant(weight.clone())])?;
    let node = call.node(&first)?;
    let (&[_, channels, ref spatial @ ..], &[outer, inner, ref kernel @ ..]) =
        (node.shape.as_slice(), weight.shape.as_slice())
    else {
        return Err(call.shape(format!("an input of shape {:?}", node.shape), "write the file anew with onnx"));
    };
    if !(1..=3).contains(&spatial.len()) || kernel.len() != spatial.len() || kernel.contains(&0) {
        let detail = format!("an input of shape {:?} under weights of shape {:?}", node.shape, weight.shape);
        return Err(call.shape(detail, "convolutions over 1 to 3 axes are supported"));
    }
    let stated = list(call, "kernel_shape", kernel.to_vec(), 1)?;
    if stated != kernel {
        let detail = format!("is {stated:?}, the weights have {kernel:?}");
        return Err(call.attribute("kernel_shape", &detail, "write the file anew with onnx"));
    }
    let group = call.attributes.int("group")?.unwrap_or(1);
    let fits = |group: &usize| {
        let whole = inner.checked_mul(*group);
        let channels_fit = if transposed { outer == channels } else { whole == Some(channels) };
        *group > 0 && outer > 0 && outer % group == 0 && channels_fit
    };
    let Some(group) = usize::try_from(group).ok().filter(fits) else {
        let detail = format!("does not fit {channels} channels and weights of shape {:?}", weight.shape);
        return Err(call.attribute("group", &detail, "write the file anew with onnx"));
    };
    let out = if transposed { inner.saturating_mul(group) } else { outer };
    Ok(Operands { node, weight, group, out })
}

pub(super) fn conv(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let operands = operands(call, false)?;
    let spatial = operands.node.shape.get(2..).unwrap_or_default().to_vec();
    let kernel = operands.weight.shape.get(2..).unwrap_or_default().to_vec();
    let (window, _) = Window::read(call, &kernel, &spatial, true, true)?;
    let extents = window.extents(call, &spatial)?;
    finish(call, "conv", &operands, window, extents, Vec::new())
}

pub(super) fn conv_transpose(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let operands = operands(call, true)?;
    let spatial = operands.node.shape.get(2..).unwrap_or_default().to_vec();
    let kernel = operands.weight.shape.get(2..).unwrap_or_default().to_vec();
    let (window, _) = Window::read(call, &kernel, &spatial, true, false)?;
    let more = list(call, "output_padding", vec![0; kernel.len()], 0)?;
    // (in − 1)·stride + reach + output_padding − before − after.
    let extent = |axis: usize| {
        let steps = spatial.get(axis)?.checked_sub(1)?.checked_mul(*window.stride.get(axis)?)?;
        let whole = steps.checked_add(window.reach(axis)?)?.checked_add(*more.get(axis)?)?;
        whole.checked_sub(*window.before.get(axis)?)?.checked_sub(*window.after.get(axis)?).filter(|extent| *extent > 0)
    };
    let extents: Option<Vec<usize>> = (0..spatial.len()).map(extent).collect();
    let extents = extents.ok_or_else(|| window.unfit(call, &spatial))?;
    finish(call, "conv_transpose", &operands, window, extents, vec![("output_padding", more.into())])
}

fn finish(
    call: &mut Call<'_>,
    kind: &'static str,
    operands: &Operands,
    window: Window,
    extents: Vec<usize>,
    more: Vec<(&'static str, Json)>,
) -> Result<Value, ImportError> {
    let Operands { node, weight, group, out } = operands;
    let [batch, channels, ..] = *node.shape.as_slice() else {
        return Err(call.shape(format!("an input of shape {:?}", node.shape), "write the file anew with onnx"));
    };
    let bias = match call.optional(2) {
        None => affine::zeros(call, weight, vec![*out])?,
        Some(_) => Constant::clone(&*call.tensor(2, &Value::Node(node.clone()), &[*out])?),
    };
    let dense = dense(call, weight, *group)?;
    let shape = [batch, *out].into_iter().chain(extents).collect();
    let mut attributes = vec![
        ("spatial_rank", window.kernel.len().into()),
        ("kernel", window.kernel.into()),
        ("stride", window.stride.into()),
        ("padding", window.before.into()),
        ("padding_after", window.after.into()),
        ("dilation", window.dilation.into()),
        ("groups", (*group).into()),
        ("channel_axis", 1.into()),
        ("in_channels", channels.into()),
        ("out_channels", (*out).into()),
    ];
    attributes.extend(more);
    call.make(kind, &[node], shape, attributes, &[("weight", &dense), ("bias", &bias)]).map(Value::Node)
}

/// Weights [m, n / group, k…] spread to [m, n, k…]: channel `i` of the first axis goes with the channels of the second that are in
/// its group `⌊i / (m / group)⌋`; the rest are zeros.
fn dense(call: &Call<'_>, weight: &Constant, group: usize) -> Result<Constant, ImportError> {
    let mut shape = weight.shape.clone();
    let (Some(rows), Some(inner)) = (shape.first().copied(), shape.get_mut(1)) else {
        return Ok(weight.clone());
    };
    *inner = inner.saturating_mul(group);
    if group == 1 {
        return Ok(weight.clone());
    }
    let mut dense = affine::zeros(call, weight, shape)?;
    let (block, row) = (weight.bytes.len() / rows, dense.bytes.len() / rows);
    let blocks = weight.bytes.chunks_exact(block.max(1)).zip(dense.bytes.chunks_exact_mut(row.max(1)));
    for (channel, (from, to)) in blocks.enumerate() {
        let start = channel / (rows / group) * block;
        if let Some(place) = to.get_mut(start..start + block) {
            place.copy_from_slice(from);
        }
    }
    Ok(dense)
}
