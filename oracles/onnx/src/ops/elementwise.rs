//! `Add`, `Sub`, and functions of one argument.

use super::Call;
use crate::builder::{NodeDraft, NodeValue, Value};
use crate::error::ImportError;

pub(super) fn add(call: &mut Call<'_>) -> Result<Value, ImportError> {
    binary(call, "add")
}

pub(super) fn sub(call: &mut Call<'_>) -> Result<Value, ImportError> {
    binary(call, "sub")
}

pub(super) fn cos(call: &mut Call<'_>) -> Result<Value, ImportError> {
    univariate(call, "cos")
}

pub(super) fn relu(call: &mut Call<'_>) -> Result<Value, ImportError> {
    univariate(call, "relu")
}

pub(super) fn sigmoid(call: &mut Call<'_>) -> Result<Value, ImportError> {
    univariate(call, "sigmoid")
}

pub(super) fn sin(call: &mut Call<'_>) -> Result<Value, ImportError> {
    univariate(call, "sin")
}

pub(super) fn softplus(call: &mut Call<'_>) -> Result<Value, ImportError> {
    univariate(call, "softplus")
}

pub(super) fn tanh(call: &mut Call<'_>) -> Result<Value, ImportError> {
    univariate(call, "tanh")
}

fn univariate(call: &mut Call<'_>, kind: &'static str) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let node = call.node(&value)?;
    call.unary(kind, &node, node.shape.clone(), Vec::new()).map(Value::Node)
}

/// The graph wants equal shapes: a constant is repeated, a computed value gets a `broadcast_to`.
fn binary(call: &mut Call<'_>, kind: &'static str) -> Result<Value, ImportError> {
    let (first, second) = (call.input(0)?, call.input(1)?);
    call.same_element(&[&first, &second])?;
    let Some(shape) = broadcast(first.shape(), second.shape()) else {
        let detail = format!("shapes {:?} and {:?} do not go together", first.shape(), second.shape());
        return Err(call.shape(detail, "write the file anew with onnx"));
    };
    let first = expand(call, &first, &shape)?;
    let second = expand(call, &second, &shape)?;
    let parents = [first.id, second.id];
    let draft = NodeDraft { kind, parents: &parents, shape, element: first.element, attributes: Vec::new() };
    call.builder.push(call.origin, draft, &[]).map(Value::Node)
}

fn expand(call: &mut Call<'_>, value: &Value, shape: &[usize]) -> Result<NodeValue, ImportError> {
    match value {
        Value::Constant(constant) => call.builder.constant(constant, shape, call.origin.place),
        Value::Node(node) if node.shape == shape => Ok(node.clone()),
        Value::Node(node) => {
            let attributes = vec![("from_shape", node.shape.clone().into()), ("to_shape", shape.into())];
            call.unary("broadcast_to", node, shape.to_vec(), attributes)
        }
    }
}

/// The shape that both broadcast to: right-aligned, an extent of 1 or none stretches.
fn broadcast(first: &[usize], second: &[usize]) -> Option<Vec<usize>> {
    let rank = first.len().max(second.len());
    let extent = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(rank).map_or(Some(1), |axis| shape.get(axis).copied())
    };
    let joined = |axis| match (extent(first, axis)?, extent(second, axis)?) {
        (a, b) if a == b || b == 1 => Some(a),
        (1, b) => Some(b),
        _ => None,
    };
    (0..rank).map(joined).collect()
}
