//! `Softmax`, `LogSoftmax`, and normalisations.

use super::{Call, affine, elementwise, reduce};
use crate::builder::{NodeValue, Origin, Value};
use crate::constant::{Constant, elements};
use crate::error::ImportError;

pub(super) fn softmax(call: &mut Call<'_>) -> Result<Value, ImportError> {
    shares(call).map(Value::Node)
}

pub(super) fn log_softmax(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let shares = shares(call)?;
    call.keep("log", &shares, &[]).map(Value::Node)
}

/// Before operator set 13 the value is a matrix, whose second axis starts at `axis`.
fn shares(call: &mut Call<'_>) -> Result<NodeValue, ImportError> {
    let node = call.input_node(0)?;
    let default = if call.opset >= 13 { -1 } else { 1 };
    let axis = call.attributes.int("axis")?.unwrap_or(default);
    let axis = call.axis(axis, node.shape.len())?;
    let along = |axis: usize| vec![("axis", axis.into())];
    if call.opset >= 13 || axis + 1 == node.shape.len() {
        return call.unary("softmax", &node, node.shape.clone(), along(axis));
    }
    let (before, after) = node.shape.split_at_checked(axis).unwrap_or_default();
    let matrix = vec![elements(call.origin.place, before)?, elements(call.origin.place, after)?];
    let flat = call.reshape(&node, matrix.clone())?;
    let shares = call.unary("softmax", &flat, matrix, along(1))?;
    call.reshape(&shares, node.shape.clone())
}

pub(super) fn batch(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let eps = call.scalar("epsilon", 1e-5)?;
    call.attributes.float("momentum")?;
    if call.opset >= 14 && call.attributes.int("training_mode")?.unwrap_or(0) != 0 {
        return Err(call.attribute("training_mode", "is not 0", "export the model for inference"));
    }
    // Before there was an attribute, the number of outputs told the mode: Y alone is inference.
    if call.opset < 14 && call.outputs.iter().skip(1).any(|(name, _)| !name.is_empty()) {
        let detail = "it names outputs beside the first, as in training".to_owned();
        return Err(call.operand(detail, "export the model for inference"));
    }
    if call.opset < 9 && call.attributes.int("spatial")?.unwrap_or(1) != 1 {
        return Err(call.attribute("spatial", "is not 1", "export the model with operator set 9 or a later one"));
    }
    let Some(channels) = value.shape().get(1).copied() else {
        let detail = format!("a value of shape {:?} has no channels", value.shape());
        return Err(call.shape(detail, "write the file anew with onnx"));
    };
    let mut tensors = Vec::with_capacity(4);
    for place in 1..5 {
        tensors.push(call.tensor(place, &value, &[channels])?);
    }
    let fields: Vec<(&str, &Constant)> = [("eps", &eps)]
        .into_iter()
        .chain(["gamma", "beta", "mean", "var"].into_iter().zip(tensors.iter().map(|tensor| &**tensor)))
        .collect();
    let node = call.node(&value)?;
    call.make("batch_norm_eval", &[&node], node.shape.clone(), vec![("channel_axis", 1.into())], &fields)
        .map(Value::Node)
}

/// The outputs are the normalised value, the means, and one over the standard deviations.
pub(super) fn layer(call: &mut Call<'_>) -> Result<Vec<Option<Value>>, ImportError> {
    let value = call.input(0)?;
    let axis = call.attributes.int("axis")?.unwrap_or(-1);
    let axis = call.axis(axis, value.shape().len())?;
    let eps = call.scalar("epsilon", 1e-5)?;
    if call.attributes.int("stash_type")?.unwrap_or(1) != 1 {
        return Err(call.attribute("stash_type", "is not 1", "export the model with the default"));
    }
    let suffix = value.shape().get(axis..).unwrap_or_default().to_vec();
    let gamma = along(call, 1, &value, &suffix)?;
    let beta = match call.optional(2) {
        None => affine::zeros(call, &gamma, suffix.clone())?,
        Some(_) => along(call, 2, &value, &suffix)?,
    };
    let outputs: Vec<Option<&str>> = call.outputs.iter().map(|(name, live)| live.then_some(*name)).collect();
    let wanted = |place: usize| outputs.get(place).copied().flatten();
    let node = call.node(&value)?;
    let origin = call.origin;
    let mut made = vec![None, None, None];
    if wanted(0).is_some() {
        let fields = [("eps", &eps), ("gamma", &gamma), ("beta", &beta)];
        let attributes = vec![("axis", axis.into())];
        made[0] = Some(Value::Node(call.make("layernorm", &[&node], node.shape.clone(), attributes, &fields)?));
    }
    if let Some(name) = wanted(1).or(wanted(2)) {
        call.origin = Origin { value_name: name, ..origin };
        let axes: Vec<usize> = (axis..node.shape.len()).collect();
        let mean = reduce::over(call, "reduce_mean", &node, axes.clone(), true)?;
        if let Some(name) = wanted(2) {
            call.origin = Origin { value_name: name, ..origin };
            made[2] = Some(Value::Node(inverse_deviation(call, &node, &mean, axes, &eps)?));
        }
        made[1] = Some(Value::Node(mean));
    }
    call.origin = origin;
    Ok(made)
}

/// `1/√(v + ε)`, where `v` is the mean square of what differs from the mean.
fn inverse_deviation(
    call: &mut Call<'_>,
    node: &NodeValue,
    mean: &NodeValue,
    axes: Vec<usize>,
    eps: &Constant,
) -> Result<NodeValue, ImportError> {
    let spread = call.spread(&Value::Node(mean.clone()), &node.shape)?;
    let difference = call.pair("sub", node, &spread)?;
    let squares = call.pair("mul_elem", &difference, &difference)?;
    let variance = reduce::over(call, "reduce_mean", &squares, axes, true)?;
    let eps = call.builder.constant(eps, &variance.shape, call.origin)?;
    let sum = call.pair("add", &variance, &eps)?;
    call.keep("pow", &sum, &[("exponent", &Constant::scalar(-0.5))])
}

/// Input `place` as a constant repeated to the last axes of the value.
fn along(call: &Call<'_>, place: usize, value: &Value, suffix: &[usize]) -> Result<Constant, ImportError> {
    let constant = call.numbers(place)?;
    call.same_element(&[value, &Value::Constant(constant.clone())])?;
    let surplus = constant.shape.len().saturating_sub(suffix.len());
    let (leading, own) = constant.shape.split_at_checked(surplus).unwrap_or_default();
    if leading.iter().any(|extent| *extent != 1) || elementwise::broadcast(own, suffix).as_deref() != Some(suffix) {
        let detail = format!("`{}` of shape {:?} does not spread to {suffix:?}", constant.name, constant.shape);
        return Err(call.shape(detail, "scale and bias over the normalised axes are supported"));
    }
    constant.reshaped(own.to_vec()).repeated(suffix, call.origin.place)
}
