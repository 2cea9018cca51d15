//! Kind `witness` on a network small enough to be evaluated by hand: `y = relu(x − 1/4) − relu(−x)` on `x ∈ [−1, 1]`.

use crate::support::{Bundle, GRAPH, above};
use certkern_seal::Verdict;

fn verdict(property: String, x: &str) -> Verdict {
    let certificate = format!(r#"{{"format":"certkern.witness.v1","x":[{x}]}}"#);
    Bundle { kind: "witness", graph: GRAPH.to_owned(), property, certificate, hints: Default::default() }.check()
}

#[track_caller]
fn accepted(property: String, x: &str) {
    let verdict = verdict(property, x);
    assert!(verdict.line().starts_with("s ACCEPTED sat "), "{}\n{}", verdict.line(), verdict.report().text());
}

#[track_caller]
fn refused(property: String, x: &str, code: &str, text: &str) {
    let verdict = verdict(property, x);
    assert_eq!(verdict.line(), format!("s REJECTED {code}"));
    assert!(verdict.report().text().contains(text), "{}", verdict.report().text());
}

#[test]
fn a_point_is_judged_exactly() {
    accepted(above("0.75"), "1");
    // 1/3 − 1/4 = 1/12.
    accepted(above("1/12"), "\"1/3\"");
    refused(
        above("1000000000000001/12000000000000000"),
        "\"1/3\"",
        "witness.property",
        "misses row 0 by 8.33333333333333",
    );
    // y(−1/2) = −1/2.
    refused(above("0"), "-0.5", "witness.property", "misses row 0 by 5e-1");
}

#[test]
fn an_open_row_wants_more_than_touching() {
    let open = |bound: &str| above(bound).replace("false", "true");
    refused(open("0.75"), "1", "witness.property", "misses row 0 by 0e0");
    accepted(open("0.7499999999999999999"), "1");
}

#[test]
fn outside_by_little_is_outside() {
    refused(above("0.75"), "1.00000001", "witness.region", "coordinate 0 lies outside the region by 1e-8");
    refused(above("0.75"), "1.00000000000000000000000000000000000001", "witness.region", "by 1e-38");
}

#[test]
fn what_is_no_point_is_malformed() {
    for (x, code) in [("1, 1", "hint.shape"), ("", "hint.shape"), ("\"one\"", "json.number"), ("null", "json.type")] {
        assert_eq!(verdict(above("0.75"), x).line(), format!("s REJECTED {code}"), "{x}");
    }
    let hints = Bundle {
        kind: "leaves",
        graph: GRAPH.to_owned(),
        property: above("0.75"),
        certificate: r#"{"format":"certkern.witness.v1","x":[1]}"#.to_owned(),
        hints: Default::default(),
    };
    let mut files = hints.files();
    let manifest = String::from_utf8(files["bundle.json"].clone()).unwrap().replace("leaves", "witness");
    files.insert("bundle.json".to_owned(), manifest.into_bytes());
    assert_eq!(crate::support::check(&files).line(), "s REJECTED bundle.file");
}

#[test]
fn a_point_without_a_reasonable_common_denominator_is_a_limit() {
    // 3^8500 and 5^5800 have 13473 and 13468 bits each; together they are beyond 2^14.
    let power = |base: u32, exponent: u32| num_bigint::BigUint::from(base).pow(exponent).to_string();
    let graph = GRAPH.replace(
        "\"shape\":[1]},\n{\"id\":1,\"kind\":\"linear\",\"parents\":[0],\"shape\":[2],\"weight\":[[1],[-1]]",
        "\"shape\":[2]},\n{\"id\":1,\"kind\":\"linear\",\"parents\":[0],\"shape\":[2],\"weight\":[[1,0],[0,1]]",
    );
    assert_ne!(graph, GRAPH);
    let property = above("0.75").replace("\"lower\":[-1],\"upper\":[1]", "\"lower\":[-1,-1],\"upper\":[1,1]");
    let certificate =
        format!(r#"{{"format":"certkern.witness.v1","x":["1/{}","1/{}"]}}"#, power(3, 8500), power(5, 5800));
    let verdict = Bundle { kind: "witness", graph, property, certificate, hints: Default::default() }.check();
    assert_eq!(verdict.line(), "s LIMIT denominator-bits");
}

#[test]
fn a_network_without_rational_values_has_no_witness() {
    // tanh(0) = 0 is rational, but that is nothing that the kernel knows.
    let graph = GRAPH.replace("\"relu\"", "\"tanh\"");
    assert_ne!(graph, GRAPH);
    let certificate = r#"{"format":"certkern.witness.v1","x":[0]}"#.to_owned();
    let verdict =
        Bundle { kind: "witness", graph, property: above("0"), certificate, hints: Default::default() }.check();
    assert_eq!(verdict.line(), "s REJECTED witness.irrational");
    assert!(verdict.report().text().contains("not rational"), "{}", verdict.report().text());
}
