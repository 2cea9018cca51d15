//! Properties as JSON (`certkern.property.v1`).

use crate::fields::{element, member};
use crate::json::{self, Json};
use crate::limits::{Limits, within};
use crate::number::excess;
use crate::reason::{Fault, Reason, Rejection};
use crate::region;
use certkern_core::num::Rational;
use certkern_core::property::{Disjunct, Property, Row, Variable};
use num_traits::Zero;
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: &str = "certkern.property.v1";

/// Reads a property from JSON. Coefficients that are zero are left out.
///
/// # Errors
/// Any `json.*`, `bundle.format`, `property.variable`, `property.empty-region`, `property.no-disjunct`, or `limit.variables`,
/// `limit.disjuncts`, `limit.rows`.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Property, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", FORMAT)?;
    let outputs = fields.required("outputs")?;
    let (lower, upper) = (fields.required("lower")?, fields.required("upper")?);
    let unsafe_set = fields.required("unsafe")?;
    fields.finish()?;
    let widest = outputs.index("outputs")?;
    within("variables", widest, limits.variables).map_err(|r| outputs.fault(r, "outputs"))?;
    let ends = lower;
    let (lower, upper) = region::between((lower, "lower"), (upper, "upper"), limits)?;
    if lower.is_empty() {
        return Err(ends.fault(Reason::PropertyVariable("no input variable".to_owned()), "lower").into());
    }
    let widths = Widths { inputs: lower.len(), outputs: widest };
    let disjuncts = disjuncts(unsafe_set, widths, limits)?;
    Ok(Property { lower, upper, outputs: widths.outputs, disjuncts })
}

/// The numbers of input and output variables.
#[derive(Clone, Copy)]
struct Widths {
    inputs: usize,
    outputs: usize,
}

fn disjuncts(json: &Json, widths: Widths, limits: &Limits) -> Result<Vec<Disjunct>, Rejection> {
    let items = json.array("unsafe")?;
    within("disjuncts", items.len(), limits.disjuncts).map_err(|r| json.fault(r, "unsafe"))?;
    if items.is_empty() {
        return Err(json.fault(Reason::PropertyNoDisjunct, "unsafe").into());
    }
    let mut used = 0_usize;
    let mut disjuncts = Vec::with_capacity(items.len());
    for (d, item) in items.iter().enumerate() {
        let path = element("unsafe", d);
        let items = item.array(&path)?;
        let mut rows = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let path = element(&path, i);
            let row = row(item, &path, widths, limits)?;
            used = used.saturating_add(weight(&row));
            within("rows", used, limits.rows).map_err(|r| item.fault(r, &path))?;
            rows.push(Arc::new(row));
        }
        disjuncts.push(rows);
    }
    Ok(disjuncts)
}

fn row(json: &Json, path: &str, widths: Widths, limits: &Limits) -> Result<Row, Rejection> {
    let mut fields = json.object(path)?;
    let mut terms = BTreeMap::new();
    if let Some(x) = fields.optional("x") {
        coefficients(x, &fields.path("x"), widths.inputs, Variable::X, &mut terms, limits)?;
    }
    if let Some(y) = fields.optional("y") {
        coefficients(y, &fields.path("y"), widths.outputs, Variable::Y, &mut terms, limits)?;
    }
    let bound = fields.required("bound")?.rational(&fields.path("bound"), limits)?;
    let strict = fields.required("strict")?.boolean(&fields.path("strict"))?;
    fields.finish()?;
    Ok(Row { terms: terms.into_iter().collect(), bound, strict })
}

/// What a row counts in the budget `rows`.
pub(crate) fn weight(row: &Row) -> usize {
    let numbers = row.terms.iter().map(|(_, coefficient)| coefficient).chain(std::iter::once(&row.bound));
    numbers.map(excess).fold(row.terms.len().max(1), usize::saturating_add)
}

/// The nonzero coefficients of an object from coordinates, in the one way that digits spell them, to numbers.
fn coefficients(
    json: &Json,
    path: &str,
    width: usize,
    variable: fn(usize) -> Variable,
    terms: &mut BTreeMap<Variable, Rational>,
    limits: &Limits,
) -> Result<(), Fault> {
    for (key, item) in json.members(path)? {
        let path = member(path, key);
        let index = coordinate(key).filter(|index| *index < width);
        let index = index.ok_or_else(|| item.fault(Reason::PropertyVariable(key.to_string()), &path))?;
        let coefficient = item.rational(&path, limits)?;
        if !coefficient.is_zero() {
            terms.insert(variable(index), coefficient);
        }
    }
    Ok(())
}

/// The natural number that `digits` spell without leading zeros.
pub(crate) fn coordinate(digits: &str) -> Option<usize> {
    let canonical = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|_| canonical)
}
