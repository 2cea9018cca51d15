//! Bounds of outputs as JSON (`torchlean.bound.v1`). Alone they are bound to nothing.

use crate::json::{Json, Value};
use crate::limits::Limits;
use crate::reason::{Reason, Rejection};
use crate::region::{Ends, numbers};
use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable, disjunct};

/// The format.
pub const FORMAT: &str = "torchlean.bound.v1";

/// Reads `{"format": "torchlean.bound.v1", "lower": …, "upper": …}`, where both are a number (one output) or a list of numbers.
///
/// # Errors
/// Any `json.*`, `bundle.format`, `bound.order`, or `limit.variables`.
pub fn read(document: &Json, limits: &Limits) -> Result<Ends, Rejection> {
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", FORMAT)?;
    let (lower, upper) = (fields.required("lower")?, fields.required("upper")?);
    fields.finish()?;
    let several = |json: &Json, path: &str| match json.value {
        Value::Array(_) => numbers(json, path, limits),
        _ => json.rational(path, limits).map(|number| vec![number]),
    };
    let (below, above) = (several(lower, "lower")?, several(upper, "upper")?);
    if below.len() != above.len() {
        let (expected, found) = (format!("{} upper bounds", below.len()), format!("{}", above.len()));
        return Err(upper.fault(Reason::JsonValue { expected, found }, "upper").into());
    }
    match below.iter().zip(&above).position(|(low, high)| low > high) {
        Some(output) => Err(lower.fault(Reason::BoundOrder(output), "lower").into()),
        None => Ok((below, above)),
    }
}

/// The property that the outputs violate where they lie outside the bounds: two disjuncts for each output `i`, in order `y_i < lower_i` and
/// `y_i > upper_i`.
#[must_use]
pub fn outside(region: Ends, bounds: &Ends) -> Property {
    let row = |sign: i64, output: usize, bound: &Rational| {
        let sign = Rational::from_integer(sign.into());
        disjunct([Row { bound: bound * &sign, terms: vec![(Variable::Y(output), sign)], strict: true }])
    };
    let ends = bounds.0.iter().zip(&bounds.1).enumerate();
    let disjuncts = ends.flat_map(|(i, (lower, upper))| [row(1, i, lower), row(-1, i, upper)]).collect();
    Property { lower: region.0, upper: region.1, outputs: bounds.0.len(), disjuncts }
}
