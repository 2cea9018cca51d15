//! Numbers that stand in a node: nested arrays of exactly the wanted shape, or one flat array, in row-major order.

use crate::shape;
use certkern_core::tensor::{Tensor, Values};
use certkern_wire::fields::element;
use certkern_wire::json::{Json, Value};
use certkern_wire::{Fault, Limits, Reason};

/// The tensor of this shape at `path`, each number rounded once to binary64; `misshapen` makes the fault of another shape.
pub(super) fn tensor(
    json: &Json,
    shape: Vec<usize>,
    path: &str,
    limits: &Limits,
    misshapen: impl Fn(String) -> Fault,
) -> Result<Tensor, Fault> {
    let wanted = shape::text(&shape);
    let count = shape::elements(&shape).ok_or_else(|| misshapen(format!("{wanted} is more numbers than can be")))?;
    let levels = if is_flat(json) { &[count] } else { shape.as_slice() };
    let mut items = vec![json];
    for (depth, extent) in levels.iter().enumerate() {
        let outer = levels.get(..depth).unwrap_or_default();
        let mut inner = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let array = item.array(&nested(path, outer, place))?;
            if array.len() != *extent {
                let found = array.len();
                return Err(misshapen(format!(
                    "expected the shape {wanted}; here are {found} items in place of {extent}"
                )));
            }
            inner.extend(array);
        }
        items = inner;
    }
    if items.iter().any(|item| matches!(item.value, Value::Array(_))) {
        return Err(misshapen(format!("expected the shape {wanted}; here the arrays are nested deeper")));
    }
    let bits = items.iter().enumerate().map(|(place, number)| {
        // A path is made only where there is a fault.
        number.binary64("", limits).or_else(|_| number.binary64(&nested(path, levels, place), limits))
    });
    let values = Values::Binary64(bits.collect::<Result<_, _>>()?);
    Tensor::new(shape, values).map_err(|_| json.fault(Reason::Internal("numbers that do not fill their shape"), path))
}

/// Whether this is an array without arrays in it.
fn is_flat(json: &Json) -> bool {
    match &json.value {
        Value::Array(items) => !items.iter().any(|item| matches!(item.value, Value::Array(_))),
        _ => false,
    }
}

/// The path to the element that is at `place` in row-major order of the levels.
fn nested(path: &str, levels: &[usize], place: usize) -> String {
    let mut rest = place;
    let mut indices = Vec::with_capacity(levels.len());
    for extent in levels.iter().rev() {
        indices.push(rest.checked_rem(*extent).unwrap_or(0));
        rest = rest.checked_div(*extent).unwrap_or(0);
    }
    indices.iter().rev().fold(path.to_owned(), |path, index| element(&path, *index))
}
