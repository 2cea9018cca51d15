//! Functions of each element, of two values, and of any number of them; `Where`.

use super::{Call, source};
use crate::builder::{NodeValue, Value};
use crate::constant::{Constant, Element};
use crate::error::ImportError;

pub(super) fn unary(call: &mut Call<'_>, kind: &'static str) -> Result<Value, ImportError> {
    let node = call.input_node(0)?;
    call.keep(kind, &node, &[]).map(Value::Node)
}

pub(super) fn binary(call: &mut Call<'_>, kind: &'static str) -> Result<Value, ImportError> {
    let (first, second) = (call.input(0)?, call.input(1)?);
    call.same_element(&[&first, &second])?;
    let shape = common(call, &[&first, &second])?;
    if let (Value::Constant(first), Value::Constant(second)) = (&first, &second)
        && [Element::I32, Element::I64].contains(&first.element)
    {
        let (first, second) = (first.repeated(&shape, call.origin.place)?, second.repeated(&shape, call.origin.place)?);
        let result = whole(kind, &first, &second);
        let way_out = "export the model with shapes that are in range";
        let folded = result.ok_or_else(|| call.operand("a result is not in the type's range".to_owned(), way_out))?;
        return Ok(call.derived(folded));
    }
    let first = call.spread(&first, &shape)?;
    let second = call.spread(&second, &shape)?;
    call.pair(kind, &first, &second).map(Value::Node)
}

/// Arithmetic of shapes; `None` if a result is not of the type.
fn whole(kind: &str, first: &Constant, second: &Constant) -> Option<Constant> {
    let combine = |(a, b): (i64, i64)| match kind {
        "add" => a.checked_add(b),
        "sub" => a.checked_sub(b),
        "mul_elem" => a.checked_mul(b),
        "div" => a.checked_div(b),
        _ => None,
    };
    let numbers: Vec<i64> = first.whole()?.into_iter().zip(second.whole()?).map(combine).collect::<Option<_>>()?;
    Constant::of_whole(first.element, first.shape.clone(), &numbers)
}

pub(super) fn variadic(call: &mut Call<'_>, two: &'static str, more: &'static str) -> Result<Value, ImportError> {
    if call.inputs.len() == 1 {
        return source::hand_on(call);
    }
    several(call, two, more).map(Value::Node)
}

/// The mean is the sum divided by the number of inputs.
pub(super) fn mean(call: &mut Call<'_>) -> Result<Value, ImportError> {
    if call.inputs.len() == 1 {
        return source::hand_on(call);
    }
    let sum = several(call, "add", "add_n")?;
    let count = Constant::scalar(call.inputs.len() as f32);
    let count = call.builder.constant(&count, &sum.shape, call.origin)?;
    call.pair("div", &sum, &count).map(Value::Node)
}

fn several(call: &mut Call<'_>, two: &'static str, more: &'static str) -> Result<NodeValue, ImportError> {
    let values = (0..call.inputs.len()).map(|place| call.input(place)).collect::<Result<Vec<_>, _>>()?;
    let values: Vec<&Value> = values.iter().collect();
    call.same_element(&values)?;
    let shape = common(call, &values)?;
    let nodes = values.iter().map(|value| call.spread(value, &shape)).collect::<Result<Vec<_>, _>>()?;
    let kind = if nodes.len() == 2 { two } else { more };
    call.make(kind, &nodes.iter().collect::<Vec<_>>(), shape, Vec::new(), &[])
}

pub(super) fn select(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let condition = call.numbers(0)?;
    let (first, second) = (call.input(1)?, call.input(2)?);
    call.same_element(&[&first, &second])?;
    if condition.element != Element::Bool {
        let detail = format!("the condition `{}` is of {}", condition.name, condition.element.name());
        return Err(call.operand(detail, "write the file anew with onnx"));
    }
    let shape = common(call, &[&Value::Constant(condition.clone()), &first, &second])?;
    let mask = condition.repeated(&shape, call.origin.place)?;
    if let (Value::Constant(first), Value::Constant(second)) = (&first, &second) {
        let (size, place) = (first.element.size(), call.origin.place);
        let (first, second) = (first.repeated(&shape, place)?, second.repeated(&shape, place)?);
        let pairs = first.bytes.chunks_exact(size).zip(second.bytes.chunks_exact(size)).zip(&mask.bytes);
        let bytes = pairs.flat_map(|((first, second), bit)| if *bit != 0 { first } else { second }).copied().collect();
        return Ok(call.derived(Constant { bytes, ..first }));
    }
    let bytes = mask.bytes.iter().flat_map(|bit| f32::from(*bit != 0).to_le_bytes()).collect();
    let mask = Constant { element: Element::F32, bytes, ..mask };
    let first = call.spread(&first, &shape)?;
    let second = call.spread(&second, &shape)?;
    call.make("where", &[&first, &second], shape, Vec::new(), &[("mask", &mask)]).map(Value::Node)
}

/// The shape that all values broadcast to.
///
/// # Errors
/// [`ImportError::Shape`] if there is none.
pub(super) fn common(call: &Call<'_>, values: &[&Value]) -> Result<Vec<usize>, ImportError> {
    let mut shape = Vec::new();
    for value in values {
        shape = broadcast(&shape, value.shape()).ok_or_else(|| {
            let shapes: Vec<&[usize]> = values.iter().map(|value| value.shape()).collect();
            call.shape(format!("shapes {shapes:?} do not go together"), "write the file anew with onnx")
        })?;
    }
    Ok(shape)
}

/// The shape that both broadcast to: right-aligned, an extent of 1 or none stretches.
pub(super) fn broadcast(first: &[usize], second: &[usize]) -> Option<Vec<usize>> {
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
