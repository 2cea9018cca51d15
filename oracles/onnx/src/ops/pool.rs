//! Pooling over all axes after the second.

use super::window::{Auto, Window, list};
use super::{Call, reduce};
use crate::builder::{NodeValue, Value};
use crate::error::ImportError;

/// A value with spatial axes.
fn spatial(call: &mut Call<'_>) -> Result<(NodeValue, Vec<usize>), ImportError> {
    let node = call.input_node(0)?;
    match node.shape.get(2..).filter(|spatial| !spatial.is_empty()).map(<[usize]>::to_vec) {
        Some(spatial) => Ok((node, spatial)),
        None => {
            let detail = format!("a value of shape {:?} has no spatial axes", node.shape);
            Err(call.shape(detail, "write the file anew with onnx"))
        }
    }
}

pub(super) fn max(call: &mut Call<'_>) -> Result<Value, ImportError> {
    if call.opset >= 8 {
        // The order of indices, which are not made.
        call.attributes.int("storage_order")?;
    }
    pool(call, "max_pool", 10, |_, _| Ok(true))
}

pub(super) fn average(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let whole = call.opset >= 7 && call.attributes.int("count_include_pad")?.unwrap_or(0) != 0;
    pool(call, "avg_pool", 19, |call, (window, grew)| {
        if whole && grew {
            let detail = "is 1 where `ceil_mode` makes windows reach beyond the padding";
            return Err(call.attribute("count_include_pad", detail, "export the model without one of them"));
        }
        Ok(whole || !window.padded())
    })
}

/// A pooling of this kind; `whole` says whether all places of a window count.
fn pool(
    call: &mut Call<'_>,
    kind: &'static str,
    dilated_since: i64,
    whole: impl FnOnce(&Call<'_>, (&Window, bool)) -> Result<bool, ImportError>,
) -> Result<Value, ImportError> {
    let (node, spatial) = spatial(call)?;
    let rank = spatial.len();
    let kernel = list(call, "kernel_shape", vec![0; rank], 1)?;
    if kernel.contains(&0) {
        return Err(call.attribute("kernel_shape", "is missing", "write the file anew with onnx"));
    }
    let (mut window, auto) = Window::read(call, &kernel, &spatial, call.opset >= dilated_since, true)?;
    let ceil = call.opset >= 10 && call.attributes.int("ceil_mode")?.unwrap_or(0) != 0;
    let grew = ceil && auto == Auto::Stated && window.round_up(call, &spatial, call.opset >= 22)?;
    let whole = whole(call, (&window, grew))?;
    let shape = node.shape.iter().take(2).copied().chain(window.extents(call, &spatial)?).collect();
    let mut attributes =
        vec![("spatial_rank", rank.into()), ("kernel", kernel.into()), ("stride", window.stride.into())];
    if window.after != window.before {
        attributes.push(("padding_after", window.after.into()));
    }
    attributes.push(("padding", window.before.into()));
    if window.dilation.iter().any(|dilation| *dilation != 1) {
        attributes.push(("dilation", window.dilation.into()));
    }
    if !whole {
        attributes.push(("count_include_pad", false.into()));
    }
    call.unary(kind, &node, shape, attributes).map(Value::Node)
}

pub(super) fn global_average(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let (node, spatial) = spatial(call)?;
    let shape = node.shape.iter().take(2).copied().chain(spatial.iter().map(|_| 1)).collect();
    let attributes = vec![("spatial_rank", spatial.len().into())];
    call.unary("global_avg_pool", &node, shape, attributes).map(Value::Node)
}

pub(super) fn global_max(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let (node, _) = spatial(call)?;
    let axes = (2..node.shape.len()).collect();
    reduce::over(call, "reduce_max", &node, axes, true).map(Value::Node)
}
