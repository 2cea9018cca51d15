//! Kind `witness`: a point of the region whose outputs lie in the unsafe set.

use crate::bundle::{Named, finish};
use certkern_core::num::Rational;
use certkern_core::property::Range;
use certkern_core::rules::{Judgement, RuleError, Standing};
use certkern_seal::Documents;
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Reason, Rejection};
use certkern_wire::{json, number};

/// Reads the point, which has a coordinate for each input.
pub(crate) fn open(
    documents: &Documents,
    (name, bytes): Named<'_>,
    limits: &Limits,
) -> Result<Vec<Rational>, Rejection> {
    let point = read(bytes, limits).map_err(|rejection| rejection.in_file(name))?;
    let inputs = documents.problem().property().inputs();
    if point.len() != inputs {
        let text = format!("the point has {} coordinates, the network {inputs} inputs", point.len());
        return Err(Rejection::from(Reason::HintShape(text)).in_file(name));
    }
    Ok(point)
}

pub(crate) fn check(documents: &Documents, point: &[Rational]) -> Result<Judgement, Rejection> {
    let problem = documents.problem();
    match Judgement::witness(problem, point) {
        Ok(judgement) => Ok(judgement),
        Err(RuleError::Mismatch(_)) => {
            let standing = problem.standing(point).map_err(|error| unevaluated(&error))?;
            Err(miss(&standing).into())
        }
        Err(error) => Err(unevaluated(&error).into()),
    }
}

/// Why there are no outputs at a point that has a coordinate for each input.
#[must_use]
pub fn unevaluated(error: &RuleError) -> Reason {
    match error {
        RuleError::Undefined { node, coordinate } => Reason::DomainUnproved { node: *node, coordinate: *coordinate },
        RuleError::DenominatorBits => Reason::Limit { name: "denominator-bits", limit: 1 << 14 },
        RuleError::Budget => Reason::WitnessUndecided(
            "a value of the network is too large to be enclosed, or not shown to be defined".to_owned(),
        ),
        _ => Reason::Internal("a point that fits"),
    }
}

/// `cert.json`: `{"format": "certkern.witness.v1", "x": [number, …]}`.
fn read(bytes: &[u8], limits: &Limits) -> Result<Vec<Rational>, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", "certkern.witness.v1")?;
    let point = fields.required("x")?.array("x")?;
    let point = point.iter().enumerate().map(|(i, json)| json.rational(&format!("x[{i}]"), limits));
    let point = point.collect::<Result<Vec<_>, _>>()?;
    finish(fields)?;
    Ok(point)
}

/// By how much a point is no witness: outside the region, or else outside the disjunct that comes nearest.
fn miss(standing: &Standing) -> Reason {
    if !standing.in_region() {
        let (coordinate, slack) = &standing.region;
        return Reason::WitnessRegion { coordinate: *coordinate, miss: number::about(&-slack) };
    }
    if let (Some(disjunct), Some(bits)) = (standing.undecided(), standing.bits) {
        let row = standing.disjuncts.get(disjunct).and_then(|(_, least)| least.as_ref());
        let row = row.map(|(row, slack)| format!("; in row {row} the slack lies {}", shown(slack)));
        let row = row.unwrap_or_default();
        return Reason::WitnessUndecided(format!(
            "{bits} bits do not tell whether the point lies in disjunct {disjunct}{row}"
        ));
    }
    let rows = standing.disjuncts.iter().enumerate();
    let rows = rows.filter_map(|(disjunct, (_, least))| least.as_ref().map(|(row, slack)| (disjunct, *row, slack)));
    match rows.max_by(|(_, _, a), (_, _, b)| a.cmp(b)) {
        Some((disjunct, row, slack)) => Reason::WitnessProperty { disjunct, row, miss: shown(&size(slack)) },
        None => Reason::Internal("a disjunct without rows holds every point"),
    }
}

/// The size of a slack below zero.
fn size(slack: &Range) -> Range {
    Range { lower: -&slack.upper, upper: -&slack.lower }
}

/// A number, or the ends of its enclosure, for display.
fn shown(range: &Range) -> String {
    let (lower, upper) = (number::about(&range.lower), number::about(&range.upper));
    if lower == upper { lower } else { format!("between {lower} and {upper}") }
}
