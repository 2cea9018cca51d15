//! `Constant`, and what hands its input on: `Identity`, `Dropout` in inference.

use super::Call;
use crate::builder::Value;
use crate::constant::{Constant, Element};
use crate::error::ImportError;
use std::rc::Rc;

pub(super) fn constant(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let tensor = call.attributes.tensor("value")?;
    let wide = call.opset >= 12;
    let place = call.origin.place;
    let name = call.origin.value_name;
    let list = |element, shape, bytes| Constant { name: name.to_owned(), element, shape, bytes };
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
    constant.map(|constant| Value::Constant(Rc::new(constant))).ok_or_else(|| {
        call.attribute("value", "or one of its kin is missing, not finite, or stands beside another", way_out)
    })
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

/// A `detach` node for a computed value; a constant under its new name.
pub(super) fn hand_on(call: &mut Call<'_>) -> Result<Value, ImportError> {
    match call.input(0)? {
        Value::Constant(constant) => Ok(call.derived(Constant::clone(&constant))),
        Value::Node(node) => call.unary("detach", &node, node.shape.clone(), Vec::new()).map(Value::Node),
    }
}
