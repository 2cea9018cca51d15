//! `Pow` with a constant exponent.

use super::{Call, elementwise};
use crate::builder::Value;
use crate::constant::Constant;
use crate::error::ImportError;

pub(super) fn pow(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let (value, exponent) = (call.input(0)?, call.numbers(1)?);
    let Some(exponent) = exponent.cast(value.element()).filter(|exponent| exponent.floats().is_some()) else {
        let detail = format!("the exponent `{}` is not exactly of {}", exponent.name, value.element().name());
        return Err(call.operand(detail, "export the model with powers of floats"));
    };
    let shape = elementwise::common(call, &[&value, &Value::Constant(exponent.clone().into())])?;
    let node = call.spread(&value, &shape)?;
    let exponent = exponent.repeated(&shape, call.origin.place)?;
    let numbers = exponent.floats().unwrap_or_default();
    let count = numbers.len();
    let alone = |place| Constant { shape: Vec::new(), ..exponent.reshaped(vec![count]).picked(0, &[place]) };
    if numbers.iter().all(|number| Some(number) == numbers.first()) {
        return call.keep("pow", &node, &[("exponent", &alone(0))]).map(Value::Node);
    }
    let flat = call.reshape(&node, vec![count])?;
    let mut parts = Vec::with_capacity(count);
    for place in 0..count {
        let attributes = vec![("start", vec![place].into()), ("stop", vec![place + 1].into())];
        let part = call.unary("slice", &flat, vec![1], attributes)?;
        parts.push(call.keep("pow", &part, &[("exponent", &alone(place))])?);
    }
    let parts: Vec<_> = parts.iter().collect();
    let joined = call.make("concat", &parts, vec![count], vec![("axis", 0.into())], &[])?;
    call.reshape(&joined, shape).map(Value::Node)
}
