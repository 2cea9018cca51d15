//! Regions as JSON: a box by its ends, or by its centre and one radius, with the fields of TorchLean's regions; balls, and linear constraints.

use crate::fields::element;
use crate::json::{self, Json};
use crate::limits::{Limits, within};
use crate::number::excess;
use crate::property::weight;
use crate::reason::{Fault, Reason, Rejection};
use certkern_core::num::Rational;
use certkern_core::property::{Norm, NormBall, Row, Variable, Within};
use num_traits::{Signed, Zero};

/// Lower and upper ends of a box, as many of one as of the other, none crossed.
pub type Ends = (Vec<Rational>, Vec<Rational>);

/// A box that holds a region, and what restricts it.
pub type Region = (Ends, Within);

/// Reads a box: `{"lo": [number, …], "hi": [number, …]}` or `{"center": [number, …], "eps": number}`, each with `"dim": n` or without. Numbers are
/// the rationals that their texts spell, so centre and radius make the ends exactly. Or a ball: `{"ball": "l1" or "l2", "center": [number, …], "radius": number}`.
/// `"constraints": [{"row": [number, …], "rhs": number}, …]` leave of any of them where `row · x ≤ rhs`.
///
/// # Errors
/// Any `json.*`, `region.fields`, `region.dimension`, `region.radius`, `property.empty-region`, or `limit.variables`, `limit.rows`.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Region, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    let [dim, lo, hi, center, eps] = ["dim", "lo", "hi", "center", "eps"].map(|key| fields.optional(key));
    let [norm, radius, constraints] = ["ball", "radius", "constraints"].map(|key| fields.optional(key));
    fields.finish()?;
    let refused = |what| Err(document.fault(Reason::RegionFields(what), "").into());
    let mut ball = None;
    let ends = match (lo, hi, center, eps) {
        (None, None, Some(center), None) if norm.is_some() || radius.is_some() => {
            let (Some(norm), Some(radius)) = (norm, radius) else {
                return refused("fields `ball` and `radius` require each other");
            };
            let norm = match norm.string("ball")? {
                "l1" => Norm::One,
                "l2" => Norm::Two,
                _ => return refused("field `ball` is `l1` or `l2`"),
            };
            let (center, radius) = centered(center, (radius, "radius"), limits)?;
            let ends = around(&center, &radius);
            ball = Some(NormBall { norm, center, radius });
            ends
        }
        _ if norm.is_some() || radius.is_some() => return refused("`ball` and `radius` go with `center` alone"),
        (Some(_), None, ..) => return refused("field `lo` requires a matching `hi` field"),
        (None, Some(_), ..) => return refused("field `hi` requires a matching `lo` field"),
        (Some(lo), Some(hi), None, None) => between((lo, "lo"), (hi, "hi"), limits)?,
        (Some(_), Some(_), ..) => {
            return refused("endpoint fields (`lo`, `hi`) cannot be combined with `center` or `eps`");
        }
        (None, None, Some(center), Some(eps)) => {
            let (center, radius) = centered(center, (eps, "eps"), limits)?;
            around(&center, &radius)
        }
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
    let rows = constraints.map_or_else(|| Ok(Vec::new()), |json| rows(json, ends.0.len(), limits))?;
    Ok((ends, Within { ball, rows }))
}

/// The rows of constraints.
fn rows(json: &Json, inputs: usize, limits: &Limits) -> Result<Vec<Row>, Rejection> {
    let (mut rows, mut used) = (Vec::new(), 0_usize);
    for (place, item) in json.array("constraints")?.iter().enumerate() {
        let path = element("constraints", place);
        let mut fields = item.object(&path)?;
        let terms = linear(fields.required("row")?, &fields.path("row"), inputs, limits)?;
        let bound = fields.required("rhs")?.rational(&fields.path("rhs"), limits)?;
        fields.finish()?;
        let row = Row { terms, bound, strict: false };
        used = used.saturating_add(weight(&row));
        within("rows", used, limits.rows).map_err(|reason| item.fault(reason, &path))?;
        rows.push(row);
    }
    Ok(rows)
}

/// A coefficient for each input, those that are zero left out.
pub(crate) fn linear(json: &Json, path: &str, inputs: usize, limits: &Limits) -> Result<Vec<Term>, Fault> {
    let coefficients = numbers(json, path, limits)?;
    if coefficients.len() != inputs {
        let (expected, found) = (format!("{inputs} numbers"), coefficients.len().to_string());
        return Err(json.fault(Reason::JsonValue { expected, found }, path));
    }
    let terms = coefficients.into_iter().enumerate().filter(|(_, c)| !c.is_zero());
    Ok(terms.map(|(x, c)| (Variable::X(x), c)).collect())
}

type Term = (Variable, Rational);

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

/// A centre and a radius.
fn centered(center: &Json, (eps, path): (&Json, &str), limits: &Limits) -> Result<(Vec<Rational>, Rational), Fault> {
    let (center, radius) = (numbers(center, "center", limits)?, eps.rational(path, limits)?);
    if radius.is_negative() {
        return Err(eps.fault(Reason::RegionRadius, path));
    }
    let weight = center.len().saturating_mul(excess(&radius).saturating_add(1));
    within("variables", weight, limits.variables).map_err(|reason| eps.fault(reason, path))?;
    Ok((center, radius))
}

/// The box around a centre.
fn around(center: &[Rational], radius: &Rational) -> Ends {
    (center.iter().map(|c| c - radius).collect(), center.iter().map(|c| c + radius).collect())
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
