//! Differences, misses, tolerance and bundles of a network of one line: y = x on [−1, 1], unsafe above 3/4.

use certkern_claims::{Files, check_bundle};
use certkern_core::num::Rational;
use certkern_core::property::Range;
use certkern_core::rules::Standing;
use certkern_counterexample::{
    Comparison, Counterexample, Difference, Parts, RowSlack, Source, Tolerance, bundle, compare,
};
use certkern_graph::Graph;
use certkern_report::Report;
use certkern_seal::{Documents, Verdict};
use certkern_wire::{Limits, property};

const GRAPH: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
{"id":0,"kind":"input","parents":[],"shape":[1]},{"id":1,"kind":"relu","parents":[0],"shape":[1]}]}"#;
/// An empty safetensors file.
const PAYLOAD: &[u8] = b"\x02\0\0\0\0\0\0\0{}";
/// Unsafe: y > 3/4, or x ≤ −1/2 with y ≥ 1/4, which no x reaches.
const PROPERTY: &str = r#"{"format":"certkern.property.v1","outputs":1,"lower":[-1],"upper":[1],"unsafe":[
[{"y":{"0":-1},"bound":"-3/4","strict":true}],
[{"x":{"0":1},"bound":"-1/2","strict":false},{"y":{"0":-1},"bound":"-1/4","strict":false}]]}"#;

fn rational(p: i64, q: i64) -> Rational {
    Rational::new(p.into(), q.into())
}

fn documents() -> Documents {
    let limits = Limits::default();
    let graph = Graph::read(GRAPH.as_bytes(), Some(&PAYLOAD), &limits).unwrap();
    Documents::new(graph, property::parse(PROPERTY.as_bytes(), &limits).unwrap()).unwrap()
}

fn compared(text: &str) -> (Comparison, Standing) {
    let counterexample = Counterexample::read(text.as_bytes(), &Limits::default()).unwrap();
    let documents = documents();
    let problem = documents.problem();
    let standing = problem.standing(&counterexample.point()).unwrap();
    (compare(&counterexample, &problem.property().disjuncts, &standing), standing)
}

fn slack(disjunct: usize, row: usize, slack: Rational) -> Option<RowSlack> {
    Some(RowSlack { disjunct, row, slack: Range::exact(slack) })
}

#[test]
fn misses_are_exact_and_apart() {
    let (inside, standing) = compared("((X_0 0.875))");
    assert_eq!((inside.region_miss, inside.reached, standing.disjunct()), (None, Some(0), Some(0)));
    assert_eq!((inside.spare, inside.own_box), (slack(0, 0, rational(1, 8)), None));
    // 10^-8 outside, and unsafe.
    let (outside, _) = compared("((X_0 1.00000001))");
    assert_eq!((outside.region_miss, outside.reached), (Some((0, rational(1, 100_000_000))), Some(0)));
    // Outside by 1; y = 0 misses y > 3/4 by 3/4 and y ≥ 1/4 by 1/4, which is nearer.
    let (both, _) = compared("((X_0 -2))");
    assert_eq!((both.region_miss, both.reached), (Some((0, rational(1, 1))), None));
    assert_eq!(both.nearest, slack(1, 1, rational(-1, 4)));
    // The outputs lie in a disjunct, the point outside its own box by 1/2 + 1/2.
    let (other, standing) = compared("((X_0 0.5))");
    assert_eq!((other.region_miss, other.reached, standing.disjunct()), (None, Some(1), None));
    assert_eq!((other.spare, other.own_box), (slack(1, 1, rational(1, 4)), slack(1, 0, rational(-1, 1))));
    // On the boundary of an open row, which is missed by nothing.
    let (edge, standing) = compared("((X_0 0.75))");
    assert_eq!((edge.reached, standing.disjunct()), (Some(1), None));
}

#[test]
fn reported_outputs_are_compared_with_the_exact_ones() {
    let (none, _) = compared("((X_0 0.875))");
    assert_eq!((none.largest_difference(), none.tolerance.outputs), (None, None));
    for (y, size) in [("0.875", rational(0, 1)), ("0.876", rational(1, 1000)), ("-1", rational(15, 8))] {
        let (compared, _) = compared(&format!("((X_0 0.875) (Y_0 {y}))"));
        assert_eq!(compared.largest_difference(), Some(Difference { output: 0, size: Range::exact(size) }));
    }
}

/// Both sides of each part of the rule, by hand: 10⁻⁴ on box and rows, 10⁻⁴ + 10⁻³·7/8 = 0.000975 on an output of 7/8.
#[test]
fn the_tolerance_of_the_competition() {
    let table = [
        ("((X_0 0.875))", true, true, None),
        ("((X_0 1.0001))", true, true, None),
        ("((X_0 1.00010001))", false, true, None),
        ("((X_0 0.75))", true, true, None),
        ("((X_0 0.7499))", true, true, None),
        ("((X_0 0.74989999))", true, false, None),
        ("((X_0 0.875) (Y_0 0.875975))", true, true, Some(true)),
        ("((X_0 0.875) (Y_0 0.87597501))", true, true, Some(false)),
        ("((X_0 0.875) (Y_0 0.874025))", true, true, Some(true)),
        ("((X_0 0.875) (Y_0 0.87402499))", true, true, Some(false)),
    ];
    for (text, region, property, outputs) in table {
        let tolerance = compared(text).0.tolerance;
        assert_eq!(tolerance, Tolerance { region, property, outputs }, "{text}");
        assert_eq!(tolerance.within_competition_tolerance(), region && property && outputs != Some(false), "{text}");
    }
}

fn verdict(text: &str) -> Verdict {
    let counterexample = Counterexample::read(text.as_bytes(), &Limits::default()).unwrap();
    let documents = documents();
    let parts = Parts {
        graph: GRAPH.as_bytes(),
        payload: PAYLOAD,
        property: ("spec.json", PROPERTY.as_bytes()),
        digests: documents.digests(),
        sources: &[Source { role: "counterexample", name: "c", bytes: text.as_bytes() }],
    };
    let files = bundle(&parts, &counterexample);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["bundle.json", "cert.json", "graph.json", "payload.safetensors", "property.json"]);
    let files: Files<'_> = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    check_bundle(&files, &Limits::default(), &())
}

#[test]
fn bundles_are_what_the_kernel_checks() {
    for (text, line) in [
        ("((X_0 0.7500000000000000000000000000001))", "s ACCEPTED sat "),
        ("((X_0 0.75))", "s REJECTED witness.property"),
        ("((X_0 1.00000000000000000000000000001))", "s REJECTED witness.region"),
        ("((X_0 0x1.8p-1))", "s REJECTED witness.property"),
        ("((X_0 6/7))", "s ACCEPTED sat "),
        (r#"{"format": "certkern.counterexample.v1", "x": [1e0]}"#, "s ACCEPTED sat "),
    ] {
        let verdict = verdict(text);
        assert!(verdict.line().starts_with(line), "{text}: {}", Report::of(&verdict).text());
    }
}
