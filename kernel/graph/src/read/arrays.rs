//! Numbers that stand in a node: nested arrays of exactly the wanted shape, or one flat array, in row-major order. JSON numbers are rounded once to binary64; where all
//! are strings, they are exact.

use crate::shape;
use certkern_core::tensor::{Tensor, Values};
use certkern_wire::fields::element;
use certkern_wire::json::{Json, Value};
use certkern_wire::limits::within;
use certkern_wire::number::excess;
use certkern_wire::{Fault, Limits, Reason};

/// What exact numbers have used of the budget `graph-elements`; `None` where the format has none.
pub(super) type Exact<'a> = Option<&'a mut usize>;

/// The tensor of this shape at `path`; `misshapen` makes the fault of another shape.
pub(super) fn tensor(
    json: &Json,
    shape: Vec<usize>,
    path: &str,
    exact: Exact,
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
    let filled = |values| {
        let unfit = |_| json.fault(Reason::Internal("numbers that do not fill their shape"), path);
        Tensor::new(shape.clone(), values).map_err(unfit)
    };
    // Many short texts may spell long numbers.
    let spelled = |used: &mut usize, place: usize, number: &Json| {
        let value = number.rational(&nested(path, levels, place), limits)?;
        *used = used.saturating_add(excess(&value)).saturating_add(1);
        within("graph-elements", *used, limits.graph_elements).map_err(|reason| number.fault(reason, path))?;
        Ok(value)
    };
    let all_texts = !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::String(_)));
    if let Some(used) = exact.filter(|_| all_texts) {
        let values = items.iter().enumerate().map(|(place, number)| spelled(used, place, number));
        return filled(Values::Exact(values.collect::<Result<_, Fault>>()?));
    }
    let bits = items.iter().enumerate().map(|(place, number)| {
        // A path is made only where there is a fault.
        number.binary64("", limits).or_else(|_| number.binary64(&nested(path, levels, place), limits))
    });
    filled(Values::Binary64(bits.collect::<Result<_, _>>()?))
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
