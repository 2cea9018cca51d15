//! Reductions over axes.

use super::{Call, source};
use crate::builder::{NodeValue, Value};
use crate::error::ImportError;

pub(super) fn reduce(call: &mut Call<'_>, kind: &'static str, input_since: i64) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let rank = value.shape().len();
    let listed = call.list("axes", 1, input_since)?.unwrap_or_default();
    let keep = call.attributes.int("keepdims")?.unwrap_or(1) != 0;
    let nothing = call.opset >= input_since && call.attributes.int("noop_with_empty_axes")?.unwrap_or(0) != 0;
    let mut axes = listed.iter().map(|axis| call.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(call.shape(format!("an axis of {listed:?} stands twice"), "write the file anew with onnx"));
    }
    if axes.is_empty() && !nothing {
        axes = (0..rank).collect();
    }
    if axes.is_empty() {
        return source::hand_on(call);
    }
    let node = call.node(&value)?;
    over(call, kind, &node, axes, keep).map(Value::Node)
}

/// A reduction of a node over axes, which are ascending.
pub(super) fn over(
    call: &mut Call<'_>,
    kind: &'static str,
    node: &NodeValue,
    axes: Vec<usize>,
    keep: bool,
) -> Result<NodeValue, ImportError> {
    let extents = node.shape.iter().enumerate();
    let shape = extents
        .filter_map(|(axis, extent)| if axes.contains(&axis) { keep.then_some(1) } else { Some(*extent) })
        .collect();
    call.unary(kind, node, shape, vec![("axes", axes.into()), ("keepdim", keep.into())])
}
