//! Kind `witness`: a point of the region whose exact outputs lie in the unsafe set.

use crate::bundle::{Named, expect, finish};
use certkern_core::num::Rational;
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
    if !documents.problem().program().is_rational() {
        return Err(Reason::WitnessIrrational.into());
    }
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
        Err(RuleError::Undefined { node, coordinate }) => Err(Reason::DomainUnproved { node, coordinate }.into()),
        Err(RuleError::DenominatorBits) => Err(Reason::Limit { name: "denominator-bits", limit: 1 << 14 }.into()),
        Err(_) => {
            let standing = problem.standing(point).map_err(|_| Reason::Internal("a point that was checked"))?;
            Err(miss(&standing).into())
        }
    }
}

/// `cert.json`: `{"format": "certkern.witness.v1", "x": [number, …]}`.
fn read(bytes: &[u8], limits: &Limits) -> Result<Vec<Rational>, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    expect(fields.required("format")?, "format", "certkern.witness.v1")?;
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
        return Reason::WitnessRegion { coordinate: *coordinate, miss: shown(slack) };
    }
    let rows = standing.disjuncts.iter().enumerate();
    let rows = rows.filter_map(|(disjunct, (_, least))| least.as_ref().map(|(row, slack)| (disjunct, *row, slack)));
    match rows.max_by(|(_, _, a), (_, _, b)| a.cmp(b)) {
        Some((disjunct, row, slack)) => Reason::WitnessProperty { disjunct, row, miss: shown(slack) },
        None => Reason::Internal("a disjunct without rows holds every point"),
    }
}

/// The size of a slack below zero, for display.
fn shown(slack: &Rational) -> String {
    number::about(&-slack)
}
