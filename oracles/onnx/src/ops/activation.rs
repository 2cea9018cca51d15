//! Functions of each element with parameters.

use super::{Call, elementwise, source};
use crate::builder::Value;
use crate::constant::Constant;
use crate::error::ImportError;

/// A node of this kind whose payload fields are float attributes of the same names, with these defaults.
fn parametric(
    call: &mut Call<'_>,
    kind: &'static str,
    parameters: &[(&'static str, f32)],
) -> Result<Value, ImportError> {
    let node = call.input_node(0)?;
    let mut numbers = Vec::with_capacity(parameters.len());
    for (name, default) in parameters {
        numbers.push((*name, call.scalar(name, *default)?));
    }
    let fields: Vec<(&str, &Constant)> = numbers.iter().map(|(name, number)| (*name, number)).collect();
    call.keep(kind, &node, &fields).map(Value::Node)
}

pub(super) fn leaky_relu(call: &mut Call<'_>) -> Result<Value, ImportError> {
    parametric(call, "leaky_relu", &[("alpha", 0.01)])
}

pub(super) fn elu(call: &mut Call<'_>) -> Result<Value, ImportError> {
    parametric(call, "elu", &[("alpha", 1.0)])
}

pub(super) fn selu(call: &mut Call<'_>) -> Result<Value, ImportError> {
    parametric(call, "selu", &[("alpha", 1.673_263_2), ("gamma", 1.050_701)])
}

pub(super) fn hard_sigmoid(call: &mut Call<'_>) -> Result<Value, ImportError> {
    parametric(call, "hard_sigmoid", &[("alpha", 0.2), ("beta", 0.5)])
}

pub(super) fn gelu(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let kind = match call.attributes.string("approximate")? {
        None | Some(b"none") => "gelu",
        Some(b"tanh") => "gelu_tanh",
        Some(_) => {
            return Err(call.attribute("approximate", "is neither none nor tanh", "write the file anew with onnx"));
        }
    };
    elementwise::unary(call, kind)
}

/// Bounds are attributes with defaults before operator set 11, then inputs, each of which may be left out.
pub(super) fn clip(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let (low, high) = if call.opset >= 11 {
        (call.number(1, &value)?, call.number(2, &value)?)
    } else {
        if call.inputs.len() > 1 {
            let detail = format!("Clip of operator set {} has one input", call.opset);
            return Err(call.operand(detail, "write the file anew with onnx"));
        }
        (Some(call.scalar("min", f32::MIN)?), Some(call.scalar("max", f32::MAX)?))
    };
    let (kind, bound) = match (low, high) {
        (None, None) => return source::hand_on(call),
        (Some(low), Some(high)) => {
            if low.floats() > high.floats() {
                return Err(call.operand("`min` is above `max`".to_owned(), "export the model with bounds in order"));
            }
            let node = call.node(&value)?;
            return call.keep("clip", &node, &[("low", &low), ("high", &high)]).map(Value::Node);
        }
        (Some(low), None) => ("max_elem", low),
        (None, Some(high)) => ("min_elem", high),
    };
    let node = call.node(&value)?;
    let bound = call.builder.constant(&bound, &node.shape, call.origin)?;
    call.pair(kind, &node, &bound).map(Value::Node)
}

/// One slope for all elements, or one for each place of an axis.
pub(super) fn prelu(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let slope = call.numbers(1)?;
    call.same_element(&[&value, &Value::Constant(slope.clone())])?;
    let shape = value.shape();
    let missing = shape.len().checked_sub(slope.shape.len());
    let mut wide = slope.shape.iter().enumerate().filter(|(_, extent)| **extent != 1);
    let (first, more) = (wide.next(), wide.next());
    let axis = missing.zip(first).map(|(missing, (axis, extent))| (axis + missing, *extent));
    let fits = axis.is_none_or(|(axis, extent)| shape.get(axis) == Some(&extent));
    if missing.is_none() || more.is_some() || !fits {
        let detail = format!("a slope of shape {:?} for a value of shape {shape:?}", slope.shape);
        return Err(call.shape(detail, "slopes along one axis are supported"));
    }
    let node = call.node(&value)?;
    match axis {
        None => call.keep("leaky_relu", &node, &[("alpha", &slope.reshaped(Vec::new()))]),
        Some((axis, extent)) => {
            let (slope, attributes) = (slope.reshaped(vec![extent]), vec![("channel_axis", axis.into())]);
            call.make("prelu", &[&node], node.shape.clone(), attributes, &[("slope", &slope)])
        }
    }
    .map(Value::Node)
}
