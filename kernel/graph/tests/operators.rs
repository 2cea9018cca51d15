//! The values of operators at points, against PyTorch in binary64 (`certs/make/operators.py` makes the cases).

use certkern_core::interval::Interval;
use certkern_core::num::Rational;
use certkern_core::program::{Primitive, Program};
use certkern_graph::Graph;
use certkern_wire::Limits;
use certkern_wire::json::{self, Json};
use std::collections::BTreeSet;

const CASES: &str = include_str!("operators.json");

/// The values of all nodes by interval arithmetic, when the input is this point.
fn evaluate(program: &Program, input: &[Rational]) -> Vec<Vec<Interval>> {
    let mut values: Vec<Vec<Interval>> = Vec::new();
    for node in program.nodes() {
        let value = match &node.primitive {
            Primitive::Input => input.iter().map(|x| Interval::around(x, x)).collect(),
            Primitive::Affine(affine) => {
                let parents: Vec<&[Interval]> = affine.terms().iter().map(|t| values[t.parent].as_slice()).collect();
                affine.interval(node.width, &parents).unwrap()
            }
            Primitive::Univariate { function, argument } => {
                values[*argument].iter().map(|z| function.image(z).unwrap()).collect()
            }
            Primitive::Product { left, right } => {
                values[*left].iter().zip(&values[*right]).map(|(a, b)| a.product(b).unwrap()).collect()
            }
            Primitive::Max { argument, groups } => {
                let end = |group: &[usize], end: fn(&Interval) -> &certkern_core::num::Dyadic| {
                    group.iter().map(|member| end(&values[*argument][*member]).clone()).max().unwrap()
                };
                let hull = |group| Interval { lower: end(group, |z| &z.lower), upper: end(group, |z| &z.upper) };
                groups.iter().map(hull).collect()
            }
        };
        values.push(value);
    }
    values
}

fn numbers(json: &Json) -> Vec<Rational> {
    json.array("").unwrap().iter().map(|number| number.rational("", &Limits::default()).unwrap()).collect()
}

/// What is wrong with a case, if anything.
fn check(case: &Json) -> Result<Graph, String> {
    let mut fields = case.object("").unwrap();
    let mut field = |name: &str| fields.required(name).unwrap();
    let name = field("name").string("").unwrap();
    let (graph, input, expected) = (field("graph"), numbers(field("input")), numbers(field("expected")));
    let graph = Graph::of_json(graph, None, &Limits::default()).map_err(|fault| format!("{name}: {fault:?}"))?;
    let lowered = graph.lower().map_err(|fault| format!("{name}: {fault:?}"))?;
    let values = evaluate(&lowered.program, &input);
    let found = &values[*lowered.values.last().unwrap()];
    assert_eq!(found.len(), expected.len(), "{name}");
    let ratio = |n: i64, d: i64| Rational::new(n.into(), d.into());
    for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let (lower, upper) = (found.lower.to_rational(), found.upper.to_rational());
        let size = if *expected < ratio(0, 1) { ratio(1, 1) - expected } else { ratio(1, 1) + expected };
        let tolerance = size * ratio(1, 1_000_000_000_000);
        if lower > expected + &tolerance || upper < expected - &tolerance || &upper - &lower > tolerance {
            return Err(format!("{name}: element {place} is in [{lower}, {upper}], not {expected}"));
        }
    }
    Ok(graph)
}

#[test]
fn values_are_those_of_pytorch() {
    let cases = json::parse(CASES.as_bytes(), &Limits::default()).unwrap();
    let results: Vec<Result<Graph, String>> = cases.array("").unwrap().iter().map(check).collect();
    let failed: Vec<&str> = results.iter().filter_map(|result| result.as_ref().err()).map(String::as_str).collect();
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), results.len(), failed.join("\n"));
    let kinds: BTreeSet<&str> =
        results.iter().flatten().flat_map(|graph| graph.nodes().iter().map(|node| node.kind())).collect();
    assert!(kinds.len() > 60, "{kinds:?}");
}
