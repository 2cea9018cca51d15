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

/// Numbers that are no dyadics. 1/√(1 + 0.001) and 7/5·(2 − 1/7)/√(1/3 + 1/10) + 1/9 are digits of mpmath, 1/√(1/3 + 1/9) is 3/2.
#[test]
fn batches_are_normalised_with_exact_variances() {
    let case = |[eps, gamma, beta, mean, var]: [&str; 5], x: u32, expected: &str| {
        let text = format!(
            r#"{{"name":"batch_norm_eval","graph":{{"format":"certkern.ir.v1","input_id":0,"output_ids":[1],"nodes":[
            {{"id":0,"kind":"input","parents":[],"shape":[1]}},{{"id":1,"kind":"batch_norm_eval","parents":[0],"shape":[1],"channel_axis":0,
            "eps":"{eps}","gamma":["{gamma}"],"beta":["{beta}"],"mean":["{mean}"],"var":["{var}"]}}]}},"input":[{x}],"expected":[{expected}]}}"#
        );
        check(&json::parse(text.as_bytes(), &Limits::default()).unwrap()).map(|_| ())
    };
    assert_eq!(case(["0.001", "1", "0", "0", "1"], 1, "0.99950037468777319163"), Ok(()));
    assert_eq!(case(["1/10", "7/5", "1/9", "1/7", "1/3"], 2, "4.0607946427374109145988"), Ok(()));
    assert_eq!(case(["1/9", "1", "0", "0", "1/3"], 1, "1.5"), Ok(()));
    assert!(case(["1/9", "1", "0", "0", "1/3"], 1, "1.50000001").is_err());
}

/// 1/√(1 + 10⁻⁴⁰⁰) is below 1, although the dyadic below 1 + 10⁻⁴⁰⁰ is the square of 1.
#[test]
fn a_variance_beside_a_square_is_no_square() {
    let text = br#"{"format":"certkern.ir.v1","input_id":0,"output_ids":[1],"nodes":[{"id":0,"kind":"input","parents":[],"shape":[1]},
        {"id":1,"kind":"batch_norm_eval","parents":[0],"shape":[1],"channel_axis":0,"eps":"1e-400","gamma":["1"],"beta":["0"],"mean":["0"],"var":["1"]}]}"#;
    let lowered = Graph::read(text, None, &Limits::default()).unwrap().lower().unwrap();
    let one = Rational::from_integer(1.into());
    let found = &evaluate(&lowered.program, std::slice::from_ref(&one))[*lowered.values.last().unwrap()][0];
    // 1 − 10⁻⁴⁰⁰/2 + 3·10⁻⁸⁰⁰/8 − …
    let root = &one
        - Rational::new(1.into(), 2.into())
            * numbers(&json::parse(b"[1e-400]", &Limits::default()).unwrap())[0].clone();
    assert!(found.lower.to_rational() <= root, "{}", found.lower.to_rational());
    assert!(found.upper.to_rational() > root);
}
