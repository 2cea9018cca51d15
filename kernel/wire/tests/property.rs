//! Properties as JSON.

use certkern_core::num::{Dyadic, Rational};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_wire::digest::{input_digest, output_digest};
use certkern_wire::{Limits, Rejection, property, region, vnnlib};

fn q(p: i64, d: i64) -> Rational {
    Rational::new(p.into(), d.into())
}

fn parse(text: &str) -> Result<Property, Rejection> {
    property::parse(text.as_bytes(), &Limits::default())
}

const GOOD: &str = r#"{"format": "certkern.property.v1", "outputs": 2, "lower": ["-1", 0.5], "upper": [1, "2/3"],
 "unsafe": [[{"x": {"0": "1"}, "y": {"1": "-1/2"}, "bound": 0, "strict": false}]]}"#;

#[test]
fn the_example_of_the_specification_reads() {
    let row = Row { terms: vec![(Variable::X(0), q(1, 1)), (Variable::Y(1), q(-1, 2))], bound: q(0, 1), strict: false };
    let expected = Property {
        lower: vec![q(-1, 1), q(1, 2)],
        upper: vec![q(1, 1), q(2, 3)],
        outputs: 2,
        disjuncts: vec![disjunct([row])],
    };
    assert_eq!(parse(GOOD).unwrap(), expected);
}

/// Terms come by variable and not by text, zero coefficients go, numbers may be spelled in any of the ways.
#[test]
fn the_same_meaning_has_the_same_digests() {
    let a = r#"{"outputs":12,"format":"certkern.property.v1","lower":[0],"upper":["0x1p-1"],
        "unsafe":[[],[{"y":{"10":1,"2":"0x1.8p+1","0":0},"x":{},"bound":"-2/8","strict":true}]]}"#;
    let b = r#"{"format":"certkern.property.v1","outputs":12,"lower":["0/7"],"upper":[5e-1],
        "unsafe":[[],[{"strict":true,"bound":-0.25,"y":{"2":3.0,"10":"1"}}]]}"#;
    let (a, b) = (parse(a).unwrap(), parse(b).unwrap());
    assert_eq!(a, b);
    assert_eq!((input_digest(&a), output_digest(&[3], &a)), (input_digest(&b), output_digest(&[3], &b)));
    assert_eq!(a.disjuncts[1][0].terms, [(Variable::Y(2), q(3, 1)), (Variable::Y(10), q(1, 1))]);
    assert_eq!(a.upper, [Dyadic::new(1, -1).to_rational()]);
}

/// Both forms of one property are one property.
#[test]
fn json_and_vnnlib_agree() {
    let text = b"(declare-const X_0 Real)(declare-const Y_0 Real)
        (assert (<= X_0 1)) (assert (>= X_0 -0.5)) (assert (or (> Y_0 3) (<= (+ Y_0 (* 2 X_0)) 0)))";
    let json = r#"{"format":"certkern.property.v1","outputs":1,"lower":["-1/2"],"upper":[1],"unsafe":[
        [{"x":{"0":1},"bound":1,"strict":false},{"x":{"0":-1},"bound":0.5,"strict":false},{"y":{"0":-1},"bound":-3,"strict":true}],
        [{"x":{"0":1},"bound":1,"strict":false},{"x":{"0":-1},"bound":0.5,"strict":false},{"x":{"0":2},"y":{"0":1},"bound":0,"strict":false}]]}"#;
    assert_eq!(parse(json).unwrap(), vnnlib::parse(text, &Limits::default()).unwrap());
}

/// One edit away from the example each.
#[test]
fn other_documents_are_refused_with_code_and_path() {
    let table = [
        ("property.v1\"", "property.v2\"", "bundle.format", "format"),
        ("\"format\": \"certkern.property.v1\",", "", "json.missing-key", ""),
        ("\"outputs\": 2", "\"outputs\": 2.0", "json.number", "outputs"),
        ("\"outputs\": 2", "\"outputs\": \"2\"", "json.type", "outputs"),
        ("\"outputs\": 2", "\"outputs\": 1", "property.variable", "unsafe[0][0].y.1"),
        ("\"outputs\": 2", "\"outputs\": 10000001", "limit.variables", "outputs"),
        ("\"outputs\": 2", "\"outputs\": 2, \"outputs\": 2", "json.duplicate-key", "outputs"),
        ("\"outputs\": 2", "\"outputs\": 2, \"inputs\": 2", "json.unknown-key", "inputs"),
        ("[\"-1\", 0.5]", "[\"-1\"]", "json.value", "upper"),
        ("[\"-1\", 0.5]", "[\"-1\", \"0.5.\"]", "json.number", "lower[1]"),
        ("[\"-1\", 0.5]", "[\"-1\", \"1/0\"]", "json.number", "lower[1]"),
        ("[\"-1\", 0.5]", "[\"-1\", null]", "json.type", "lower[1]"),
        ("[\"-1\", 0.5]", "[\"-1\", \"0.66666666666666666667\"]", "property.empty-region", "lower[1]"),
        ("[\"-1\", 0.5]", "{\"0\": 1}", "json.type", "lower"),
        ("\"x\": {\"0\"", "\"x\": {\"2\"", "property.variable", "unsafe[0][0].x.2"),
        ("\"x\": {\"0\"", "\"x\": {\"00\"", "property.variable", "unsafe[0][0].x.00"),
        ("\"x\": {\"0\"", "\"x\": {\"+0\"", "property.variable", "unsafe[0][0].x.+0"),
        ("\"x\": {\"0\"", "\"x\": {\"\"", "property.variable", "unsafe[0][0].x."),
        ("\"x\": {\"0\": \"1\"}", "\"x\": [1]", "json.type", "unsafe[0][0].x"),
        ("\"x\": {\"0\": \"1\"}", "\"z\": {\"0\": \"1\"}", "json.unknown-key", "unsafe[0][0].z"),
        ("\"bound\": 0, ", "", "json.missing-key", "unsafe[0][0]"),
        (", \"strict\": false", "", "json.missing-key", "unsafe[0][0]"),
        ("false", "0", "json.type", "unsafe[0][0].strict"),
        ("[[{", "[{\"a\":[{", "json.syntax", "unsafe[0]"),
    ];
    assert!(parse(GOOD).is_ok());
    for (old, new, code, path) in table {
        assert!(GOOD.contains(old), "{old}");
        let rejection = parse(&GOOD.replacen(old, new, 1)).expect_err(new);
        let first = rejection.first();
        assert_eq!((&*first.reason.code(), &*first.place.path), (code, path), "{old} -> {new}");
    }
    let (region, _) = GOOD.split_once("\"unsafe\"").unwrap();
    let code = |text: &str| parse(text).unwrap_err().first().reason.code();
    assert_eq!(code(&format!("{region}\"unsafe\": []}}")), "property.no-disjunct");
    assert!(parse(&format!("{region}\"unsafe\": [[]]}}")).is_ok());
    let empty = r#"{"format":"certkern.property.v1","outputs":1,"lower":[],"upper":[],"unsafe":[[]]}"#;
    assert_eq!(code(empty), "property.variable");
}

#[test]
fn unknown_fields_are_reported_together() {
    let text = GOOD.replacen("\"outputs\"", "\"a\": 1, \"b\": 2, \"outputs\"", 1);
    let rejection = parse(&text).unwrap_err();
    assert_eq!(rejection.faults().map(|fault| &*fault.place.path).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn budgets_are_named() {
    let code = |limits: Limits| property::parse(GOOD.as_bytes(), &limits).unwrap_err().first().reason.code();
    assert_eq!(code(Limits { variables: 1, ..Limits::default() }), "limit.variables");
    assert_eq!(code(Limits { disjuncts: 0, ..Limits::default() }), "limit.disjuncts");
    assert!(property::parse(GOOD.as_bytes(), &Limits { rows: 2, ..Limits::default() }).is_ok());
    assert_eq!(code(Limits { rows: 1, ..Limits::default() }), "limit.rows");
    // 10^4000 has 13288 bits: 25 units of 512, which count 200·25²; the other number, or term, counts one, as this one does.
    let long =
        GOOD.replacen("\"bound\": 0", "\"bound\": 1e4000", 1).replacen("\"upper\": [1,", "\"upper\": [1e4000,", 1);
    let code = |limits: Limits| property::parse(long.as_bytes(), &limits).map_err(|r| r.first().reason.code());
    let exact = Limits { rows: 125_002, variables: 125_002, exponent: 4096, ..Limits::default() };
    assert!(code(exact.clone()).is_ok());
    assert_eq!(code(Limits { rows: 125_001, ..exact.clone() }), Err("limit.rows".to_owned()));
    assert_eq!(code(Limits { variables: 125_001, ..exact }), Err("limit.variables".to_owned()));
}

/// A region of 0.9 MB whose ends have 3,655 bits took minutes to reduce.
#[test]
fn many_long_ends_are_a_limit() {
    let ball = |end: &str, count: usize| {
        let center = vec![end; count].join(",");
        let text = format!(r#"{{"ball":"l2","center":[{center}],"radius":1}}"#);
        region::parse(text.as_bytes(), &Limits::default()).map_err(|r| r.first().reason.code()).err()
    };
    assert_eq!(ball("1e-1100", 100_000).as_deref(), Some("limit.variables"));
    // The least positive number of binary64, for every pixel of a small picture.
    assert_eq!(ball("5e-324", 3072), None);
    assert_eq!(ball("1e-45", 150_528), None);
}
