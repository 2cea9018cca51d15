//! `Constant` and its kin, and what hands its input on: `Identity`, `Cast`, `Dropout` in inference.

use super::Call;
use crate::builder::{NodeDraft, Value};
use crate::constant::{Constant, Element, data_type_name};
use crate::error::ImportError;

pub(super) fn constant(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let tensor = call.attributes.tensor("value")?;
    let wide = call.opset >= 12;
    let place = call.origin.place;
    let name = call.origin.value_name;
    let list = Constant::generated;
    let mut found = Vec::new();
    if let Some(tensor) = tensor {
        found.push(Constant::read(tensor, name, place)?);
    }
    if wide {
        if let Some(number) = call.attributes.float("value_float")? {
            found.push(list(Element::F32, Vec::new(), number.to_le_bytes().to_vec()));
        }
        if let Some(numbers) = call.attributes.floats("value_floats")? {
            let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            found.push(list(Element::F32, vec![numbers.len()], bytes));
        }
        if let Some(number) = call.attributes.int("value_int")? {
            found.push(list(Element::I64, Vec::new(), number.to_le_bytes().to_vec()));
        }
        if let Some(numbers) = call.attributes.ints("value_ints")? {
            let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            found.push(list(Element::I64, vec![numbers.len()], bytes));
        }
    }
    let constant = found.pop().filter(|constant| found.is_empty() && constant.is_finite());
    let way_out = "give exactly one of them, of finite numbers";
    constant.map(|constant| call.derived(constant)).ok_or_else(|| {
        call.attribute("value", "or one of its kin is missing, not finite, or stands beside another", way_out)
    })
}

pub(super) fn constant_of_shape(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let extents = call.integers(0)?;
    let shape: Option<Vec<usize>> = extents.iter().map(|extent| usize::try_from(*extent).ok()).collect();
    let shape = shape.ok_or_else(|| call.shape(format!("{extents:?} is no shape"), "write the file anew with onnx"))?;
    let number = match call.attributes.tensor("value")? {
        None => Constant::scalar(0.0),
        Some(tensor) => Constant::read(tensor, call.origin.value_name, call.origin.place)?,
    };
    if number.shape.iter().any(|extent| *extent != 1) {
        return Err(call.attribute("value", "is not one number", "write the file anew with onnx"));
    }
    let repeated = number.reshaped(Vec::new()).repeated(&shape, call.origin.place)?;
    Ok(call.derived(repeated))
}

/// A list of int64, as a constant under the name of the output.
fn integers(call: &Call<'_>, shape: Vec<usize>, numbers: &[usize]) -> Result<Value, ImportError> {
    let numbers: Vec<i64> = numbers.iter().filter_map(|number| i64::try_from(*number).ok()).collect();
    let constant = Constant::of_whole(Element::I64, shape, &numbers);
    let beyond = || call.shape("an extent is beyond int64".to_owned(), "only smaller networks are supported");
    constant.map(|constant| call.derived(constant)).ok_or_else(beyond)
}

pub(super) fn shape(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let shape = call.input(0)?.shape().to_vec();
    let rank = i64::try_from(shape.len()).unwrap_or(i64::MAX);
    let mut end = |name, default: i64| -> Result<usize, ImportError> {
        let at = if call.opset >= 15 { call.attributes.int(name)?.unwrap_or(default) } else { default };
        let at = if at < 0 { at.saturating_add(rank) } else { at };
        Ok(usize::try_from(at.clamp(0, rank)).unwrap_or(0))
    };
    let (start, stop) = (end("start", 0)?, end("end", rank)?);
    let extents = shape.get(start..stop).unwrap_or_default();
    integers(call, vec![extents.len()], extents)
}

pub(super) fn size(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let count = call.input(0)?.shape().iter().product();
    integers(call, Vec::new(), &[count])
}

/// Over the reals a cast between floats changes nothing.
pub(super) fn cast(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let Some(to) = call.attributes.int("to")? else {
        return Err(call.attribute("to", "is missing", "write the file anew with onnx"));
    };
    if call.opset >= 19 {
        call.attributes.int("saturate")?;
    }
    let to = i32::try_from(to).unwrap_or(0);
    let way_out = "export the model in float32 or float64";
    let Some(element) = Element::from_onnx(to) else {
        return Err(call.attribute("to", &format!("is {}", data_type_name(to)), way_out));
    };
    match &value {
        Value::Constant(constant) => {
            let cast = constant.cast(element).ok_or_else(|| {
                call.operand(format!("a number of `{}` is not exactly of {}", constant.name, element.name()), way_out)
            })?;
            Ok(call.derived(cast))
        }
        Value::Node(node) if element.dtype().is_some() => {
            let (parents, shape) = (&[node.id][..], node.shape.clone());
            let draft = NodeDraft { kind: "detach", parents, shape, element, attributes: Vec::new() };
            call.builder.push(call.origin, draft, &[]).map(Value::Node)
        }
        Value::Node(_) => Err(call.attribute("to", &format!("is {}", element.name()), way_out)),
    }
}

pub(super) fn identity(call: &mut Call<'_>) -> Result<Value, ImportError> {
    hand_on(call)
}

/// Since operator set 7 `Dropout` does nothing in inference; since 12 an input can set it to training.
pub(super) fn dropout(call: &mut Call<'_>) -> Result<Value, ImportError> {
    if call.opset >= 12 {
        call.attributes.int("seed")?;
        if call.optional(1).is_some() {
            call.numbers(1)?;
        }
        if call.optional(2).is_some() {
            let mode = call.numbers(2)?;
            if mode.element != Element::Bool || mode.bytes != [0] {
                let detail = format!("`{}` sets it to training", mode.name);
                return Err(call.operand(detail, "export the model for inference"));
            }
        }
    } else {
        call.attributes.float("ratio")?;
        if call.inputs.len() > 1 {
            let detail = format!("Dropout of operator set {} has one input", call.opset);
            return Err(call.operand(detail, "write the file anew with onnx"));
        }
    }
    hand_on(call)
}

/// A `detach` node for a computed value; a constant stays what it is.
pub(super) fn hand_on(call: &mut Call<'_>) -> Result<Value, ImportError> {
    match call.input(0)? {
        constant @ Value::Constant(_) => Ok(constant),
        Value::Node(node) => call.keep("detach", &node, &[]).map(Value::Node),
    }
}
