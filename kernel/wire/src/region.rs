//! Regions as JSON: a box by its ends, or by its centre and one radius, with the fields of TorchLean's regions.

use crate::fields::element;
use crate::json::{self, Json};
use crate::limits::{Limits, within};
use crate::number::excess;
use crate::reason::{Fault, Reason, Rejection};
use certkern_core::num::Rational;
use num_traits::Signed;

/// Lower and upper ends of a box, as many of one as of the other, none crossed.
pub type Ends = (Vec<Rational>, Vec<Rational>);

/// Reads a box: `{"lo": [number, …], "hi": [number, …]}` or `{"center": [number, …], "eps": number}`, each with `"dim": n` or without. Numbers are
/// the rationals that their texts spell, so centre and radius make the ends exactly.
///
/// # Errors
/// Any `json.*`, `region.fields`, `region.dimension`, `region.radius`, `property.empty-region`, or `limit.variables`.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Ends, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    let [dim, lo, hi, center, eps] = ["dim", "lo", "hi", "center", "eps"].map(|key| fields.optional(key));
    fields.finish()?;
    let refused = |what| Err(document.fault(Reason::RegionFields(what), "").into());
    let ends = match (lo, hi, center, eps) {
        (Some(_), None, ..) => return refused("field `lo` requires a matching `hi` field"),
        (None, Some(_), ..) => return refused("field `hi` requires a matching `lo` field"),
        (Some(lo), Some(hi), None, None) => between((lo, "lo"), (hi, "hi"), limits)?,
        (Some(_), Some(_), ..) => {
            return refused("endpoint fields (`lo`, `hi`) cannot be combined with `center` or `eps`");
        }
        (None, None, Some(center), Some(eps)) => around(center, eps, limits)?,
        (None, None, Some(_), None) => return refused("field `center` requires a matching `eps` field"),
        (None, None, None, Some(_)) => return refused("field `eps` requires either `center` or endpoint fields"),
        (None, None, None, None) => return refused("expected either (`lo`, `hi`) or (`center`, `eps`)"),
    };
    if let Some(dim) = dim {
        let (stated, found) = (dim.index("dim")?, (ends.0.len(), ends.1.len()));
        if (stated, stated) != found {
            return Err(dim.fault(Reason::RegionDimension { stated, found }, "dim").into());
        }
    }
    Ok(ends)
}

/// The box between two lists of ends, each with its path.
pub(crate) fn between(
    (lower, below): (&Json, &str),
    (upper, above): (&Json, &str),
    limits: &Limits,
) -> Result<Ends, Fault> {
    let (lows, highs) = (numbers(lower, below, limits)?, numbers(upper, above, limits)?);
    if lows.len() != highs.len() {
        let (expected, found) = (format!("{} upper ends", lows.len()), format!("{}", highs.len()));
        return Err(upper.fault(Reason::JsonValue { expected, found }, above));
    }
    match lows.iter().zip(&highs).position(|(low, high)| low > high) {
        Some(empty) => Err(lower.fault(Reason::PropertyEmptyRegion(empty), &element(below, empty))),
        None => Ok((lows, highs)),
    }
}

fn around(center: &Json, eps: &Json, limits: &Limits) -> Result<Ends, Fault> {
    let (center, radius) = (numbers(center, "center", limits)?, eps.rational("eps", limits)?);
    if radius.is_negative() {
        return Err(eps.fault(Reason::RegionRadius, "eps"));
    }
    let weight = center.len().saturating_mul(excess(&radius).saturating_add(1));
    within("variables", weight, limits.variables).map_err(|reason| eps.fault(reason, "eps"))?;
    Ok((center.iter().map(|c| c - &radius).collect(), center.iter().map(|c| c + &radius).collect()))
}

/// A list of numbers, all of them together within the budget `variables`.
pub(crate) fn numbers(json: &Json, path: &str, limits: &Limits) -> Result<Vec<Rational>, Fault> {
    let items = json.array(path)?;
    let mut weight = items.len();
    within("variables", weight, limits.variables).map_err(|reason| json.fault(reason, path))?;
    let mut number = |(i, item): (usize, &Json)| {
        let value = item.rational(&element(path, i), limits)?;
        weight = weight.saturating_add(excess(&value));
        within("variables", weight, limits.variables).map_err(|reason| json.fault(reason, path))?;
        Ok(value)
    };
    items.iter().enumerate().map(&mut number).collect()
}
