//! Kind `witness` on a network small enough to be evaluated by hand: `y = relu(x − 1/4) − relu(−x)` on `x ∈ [−1, 1]`.

use crate::support::{Bundle, GRAPH, above};
use certkern_report::Report;
use certkern_seal::{Subject, Verdict};

fn verdict(property: String, x: &str) -> Verdict {
    let certificate = format!(r#"{{"format":"certkern.witness.v1","x":[{x}]}}"#);
    Bundle { kind: "witness", graph: GRAPH.to_owned(), property, certificate, hints: Default::default() }.check()
}

#[track_caller]
fn accepted(property: String, x: &str) {
    let verdict = verdict(property, x);
    assert!(verdict.line().starts_with("s ACCEPTED sat "), "{}\n{}", verdict.line(), Report::of(&verdict).text());
}

#[track_caller]
fn refused(property: String, x: &str, code: &str, text: &str) {
    let verdict = verdict(property, x);
    assert_eq!(verdict.line(), format!("s REJECTED {code}"));
    assert!(Report::of(&verdict).text().contains(text), "{}", Report::of(&verdict).text());
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

fn of_function(name: &str, property: String, x: &str) -> Verdict {
    let graph = format!(
        r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[{{"id":0,"kind":"input","parents":[],"shape":[1]}},
        {{"id":1,"kind":"{name}","parents":[0],"shape":[1]}}]}}"#
    );
    let certificate = format!(r#"{{"format":"certkern.witness.v1","x":[{x}]}}"#);
    Bundle { kind: "witness", graph, property, certificate, hints: Default::default() }.check()
}

#[test]
fn a_value_that_is_not_known_is_no_witness() {
    let undefined = of_function("log", above("0.75"), "0");
    assert_eq!(undefined.line(), "s REJECTED domain.unproved");
    assert!(
        Report::of(&undefined).text().contains("value 1 of the lowered network"),
        "{}",
        Report::of(&undefined).text()
    );
    // exp⁴(1) is about 3,814,279, whose exponential has five million bits.
    let nodes = (1..6).map(|id| format!(r#"{{"id":{id},"kind":"exp","parents":[{}],"shape":[1]}}"#, id - 1));
    let graph = format!(
        r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[5],"nodes":[{{"id":0,"kind":"input","parents":[],"shape":[1]}},{}]}}"#,
        nodes.collect::<Vec<_>>().join(",")
    );
    let certificate = r#"{"format":"certkern.witness.v1","x":[1]}"#.to_owned();
    let bundle = Bundle { kind: "witness", graph, property: above("0.75"), certificate, hints: Default::default() };
    let verdict = bundle.check();
    assert_eq!(verdict.line(), "s REJECTED witness.undecided");
    assert!(Report::of(&verdict).text().contains("too large to be enclosed"), "{}", Report::of(&verdict).text());
}

#[test]
fn a_theorem_knows_the_shapes_and_that_inputs_exist() {
    let Verdict::Accepted(theorem) = verdict(above("0.75"), "1") else { panic!("not accepted") };
    assert_eq!(theorem.interface(), Some(&[vec![1], vec![1]][..]));
    let outside = above("0.75").replace(r#"[[{"y""#, r#"[[{"x":{"0":"1"},"bound":-2,"strict":false}],[{"y""#);
    let Verdict::Accepted(theorem) = verdict(outside, "1") else { panic!("not accepted") };
    assert!(matches!(theorem.subject(), Subject::Problem { vacuous: false, disjuncts: 2, .. }));
}

/// By mpmath 1.3.0 at 60 digits: sigmoid(1) = 0.73105857863000487925..., tanh(1/3) = 0.32151273753163434471...
#[test]
fn functions_without_rational_values_are_judged_in_balls() {
    for (name, x, value, more) in [
        ("sigmoid", "1", "0.7310585786300048792", "0.7310585786300048793"),
        ("tanh", "\"1/3\"", "0.321512737531634344", "0.321512737531634345"),
    ] {
        let accepted = of_function(name, above(value), x);
        assert!(accepted.line().starts_with("s ACCEPTED sat "), "{}", Report::of(&accepted).text());
        assert_eq!(of_function(name, above(more), x).line(), "s REJECTED witness.property", "{name}");
    }
    // 0.731058579630004879251159... − sigmoid(1) = 10^-9 + 3e-24 by the digits above.
    let missed = of_function("sigmoid", above("0.731058579630004879251159"), "1");
    assert_eq!(missed.line(), "s REJECTED witness.property");
    let text = Report::of(&missed).text();
    assert!(
        text.contains("misses row 0 by between 9.99999999") || text.contains("misses row 0 by 9.99999999"),
        "{text}"
    );
    // In the region, and not by 10^-8.
    assert_eq!(of_function("sigmoid", above("0.5"), "1.00000001").line(), "s REJECTED witness.region");
}

#[test]
fn what_balls_do_not_decide_is_told() {
    // sigmoid(0) = 1/2 and tanh(0) = 0.
    for name in ["sigmoid", "tanh"] {
        let bound = if name == "tanh" { "0" } else { "0.5" };
        let touching = of_function(name, above(bound), "0");
        assert!(touching.line().starts_with("s ACCEPTED sat "), "{}", Report::of(&touching).text());
        let open = of_function(name, above(bound).replace("false", "true"), "0");
        assert_eq!(open.line(), "s REJECTED witness.property");
    }
    let property =
        above("0").replace(r#""outputs":1"#, r#""outputs":2"#).replace(r#"{"0":"-1"}"#, r#"{"0":"-1","1":"1"}"#);
    let graph = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1,2],"nodes":[{"id":0,"kind":"input","parents":[],"shape":[1]},
        {"id":1,"kind":"tanh","parents":[0],"shape":[1]},{"id":2,"kind":"tanh","parents":[0],"shape":[1]}]}"#;
    let certificate = r#"{"format":"certkern.witness.v1","x":["1/3"]}"#.to_owned();
    let equal =
        Bundle { kind: "witness", graph: graph.to_owned(), property, certificate, hints: Default::default() }.check();
    assert_eq!(equal.line(), "s REJECTED witness.undecided");
    let text = Report::of(&equal).text();
    assert!(
        text.contains("1024 bits do not tell whether the point lies in disjunct 0; in row 0 the slack lies between -"),
        "{text}"
    );
}
