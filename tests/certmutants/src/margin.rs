//! Room that true claims have: with this number added to the bounds of all rows about outputs they are still true. The numbers stand in
//! `margins.json`; the reference in Python proves each (`oracles/python/tests/test_margins.py`).

use crate::bundle::{Bundle, Checker, Said};
use crate::campaign::Case;
use crate::json::Json;
use crate::number::{Rational, spelled, whole};
use crate::statement::{Body, Problem, Row};
use std::collections::BTreeMap;

/// The margins by case.
pub(crate) fn table() -> BTreeMap<String, Rational> {
    let document = Json::parse(include_bytes!("../margins.json"));
    let members = document.as_ref().and_then(Json::members).unwrap_or_default();
    members.iter().filter_map(|(case, margin)| Some((case.clone(), spelled(margin.text()?)?))).collect()
}

/// The certificate of a case with a claim that is stronger by a margin; `None` for other kinds than `leaves`.
pub(crate) fn strengthened(case: &Case, margin: &Rational) -> Option<Bundle> {
    let Body::Problem(problem) = &case.statement.body else { return None };
    let name = case.bundle.named("property")?;
    let mut bundle = case.bundle.clone();
    let mut manifest = Json::parse(&bundle.files["bundle.json"])?;
    if let Json::Object(members) = &mut manifest {
        members.iter_mut().find(|(key, _)| key == "files")?.1.set("property", Json::Text("property.json".to_owned()));
    }
    bundle.files.remove(&name);
    bundle.files.insert("bundle.json".to_owned(), manifest.bytes());
    bundle.files.insert("property.json".to_owned(), property(problem, margin).bytes());
    bundle.sealed()
}

fn property(problem: &Problem, margin: &Rational) -> Json {
    let exact =
        |value: &Rational| Json::Text(if value.is_integer() { value.numer().to_string() } else { value.to_string() });
    let object = |members: Vec<(&str, Json)>| {
        Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let row = |row: &Row| {
        let terms = |output: bool| {
            let own = row.terms.iter().filter(|((side, _), _)| *side == output);
            Json::Object(own.map(|((_, index), c)| (index.to_string(), exact(c))).collect())
        };
        let bound = if row.speaks_of_output() { &row.bound + margin } else { row.bound.clone() };
        object(vec![
            ("x", terms(false)),
            ("y", terms(true)),
            ("bound", exact(&bound)),
            ("strict", Json::Bool(row.strict)),
        ])
    };
    let ends = |end: fn(&(Rational, Rational)) -> &Rational| {
        Json::List(problem.region.ends.iter().map(|ends| exact(end(ends))).collect())
    };
    object(vec![
        ("format", Json::Text("certkern.property.v1".to_owned())),
        ("outputs", Json::Number(problem.outputs.to_string())),
        ("lower", ends(|(low, _)| low)),
        ("upper", ends(|(_, high)| high)),
        (
            "unsafe",
            Json::List(problem.disjuncts.iter().map(|rows| Json::List(rows.iter().map(row).collect())).collect()),
        ),
    ])
}

/// The greatest margin, to 1/64 of it or so, with which a checker accepts the certificate of a case.
pub(crate) fn greatest(case: &Case, checker: &dyn Checker) -> Option<Rational> {
    let good = |margin: &Rational| {
        matches!(strengthened(case, margin).map(|bundle| checker.check(&bundle)), Some(Said::Accepted(_)))
    };
    let half = Rational::new(1.into(), 2.into());
    let mut step = whole(8);
    let mut margin = whole(0);
    for _ in 0..14 {
        let more = &margin + &step;
        if good(&more) {
            margin = more;
        }
        step *= &half;
    }
    (margin > whole(0)).then_some(margin)
}
