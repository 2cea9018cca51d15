//! The VNN-LIB reader: meaning by hand, refusals, budgets, real files.

mod shared;

use Variable::{X, Y};
use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable};
use certkern_wire::vnnlib::{parse, parse_about};
use certkern_wire::{Limits, Reason};

fn q(p: i64, d: i64) -> Rational {
    Rational::new(p.into(), d.into())
}

/// `Σ c·v ≤ bound` with integer coefficients.
fn row(terms: &[(Variable, i64)], bound: Rational) -> Row {
    Row { terms: terms.iter().map(|(v, c)| (*v, q(*c, 1))).collect(), bound, strict: false }
}

const HEAD: &str = "(declare-const X_0 Real) (declare-const X_1 Real) (declare-const Y_0 Real) (declare-const Y_1 Real)
    (assert (and (<= X_0 1) (>= X_0 -1) (<= X_1 2) (>= X_1 0)))";

/// The property of two inputs in [−1, 1] × [0, 2] and two outputs, with more assertions.
fn with(assertions: &str) -> Result<Property, certkern_wire::Rejection> {
    parse(format!("{HEAD}{assertions}").as_bytes(), &Limits::default())
}

/// The rows of each disjunct behind the four of the region.
fn rows(assertions: &str) -> Vec<Vec<Row>> {
    let property = with(assertions).unwrap_or_else(|fault| panic!("{assertions}: {fault:?}"));
    property.disjuncts.into_iter().map(|rows| rows[4..].iter().map(|row| Row::clone(row)).collect()).collect()
}

fn code(text: &str) -> (String, Option<usize>) {
    let rejection = parse(text.as_bytes(), &Limits::default()).expect_err(text);
    (rejection.first().reason.code(), rejection.first().place.offset)
}

#[test]
fn comparisons_are_rows() {
    let table = [
        ("(<= Y_0 Y_1)", row(&[(Y(0), 1), (Y(1), -1)], q(0, 1))),
        ("(>= Y_0 Y_1)", row(&[(Y(0), -1), (Y(1), 1)], q(0, 1))),
        ("(>= Y_0 0.5)", row(&[(Y(0), -1)], q(-1, 2))),
        ("(<= 1e-1 X_1)", row(&[(X(1), -1)], q(-1, 10))),
        ("(<= (+ Y_0 X_1 3 Y_0) 1)", row(&[(X(1), 1), (Y(0), 2)], q(-2, 1))),
        ("(<= (- Y_0 Y_1 1) (- X_0))", row(&[(X(0), 1), (Y(0), 1), (Y(1), -1)], q(1, 1))),
        ("(<= (* 2 -3 Y_0) (* (- X_0 1) 4))", row(&[(X(0), -4), (Y(0), -6)], q(-4, 1))),
        ("(>= (* (- 2) X_0) (- 2))", row(&[(X(0), 2)], q(2, 1))),
        ("(<= (* 0 X_0) 1000)", row(&[], q(1000, 1))),
        ("(<= (- X_0 X_0) -1)", row(&[], q(-1, 1))),
        ("(<= (+ X_0) (* 1 (+ (+ 2))))", row(&[(X(0), 1)], q(2, 1))),
    ];
    for (text, expected) in table {
        assert_eq!(rows(&format!("(assert {text})")), [vec![expected]], "{text}");
    }
    let strict = |text: &str| rows(text)[0][0].clone();
    assert_eq!(strict("(assert (< Y_0 1))"), Row { strict: true, ..row(&[(Y(0), 1)], q(1, 1)) });
    assert_eq!(strict("(assert (> Y_0 1))"), Row { strict: true, ..row(&[(Y(0), -1)], q(-1, 1)) });
    let equation = vec![row(&[(Y(0), 1)], q(1, 3) * q(3, 2)), row(&[(Y(0), -1)], q(-1, 2))];
    assert_eq!(rows("(assert (= Y_0 0.5))"), [equation]);
}

#[test]
fn products_run_the_first_index_slowest() {
    let y = |bound| row(&[(Y(0), 1)], q(bound, 1));
    let le = |bound: i64| format!("(<= Y_0 {bound})");
    let or = |a, b| format!("(or {} {})", le(a), le(b));
    let two = format!("(assert {}) (assert {})", or(1, 2), or(3, 4));
    let expected = [[1, 3], [1, 4], [2, 3], [2, 4]].map(|pair| pair.map(y).to_vec());
    assert_eq!(rows(&two), expected);
    assert_eq!(rows(&format!("(assert (and {} {}))", or(1, 2), or(3, 4))), expected);
    // One disjunct after many, many after many, nesting, single arguments.
    let mixed = format!("(assert {}) (assert {}) (assert (and {} (or {})))", or(1, 2), le(5), le(6), or(7, 8));
    assert_eq!(rows(&mixed), [[1, 5, 6, 7], [1, 5, 6, 8], [2, 5, 6, 7], [2, 5, 6, 8]].map(|r| r.map(y).to_vec()));
    let nested = format!("(assert (or {} (and {} (or {} (and {})))))", le(1), le(2), or(3, 4), le(5));
    assert_eq!(rows(&nested), [vec![y(1)], vec![y(2), y(3)], vec![y(2), y(4)], vec![y(2), y(5)]]);
}

#[test]
fn the_region_is_the_hull_of_the_disjuncts() {
    let region = |text: &str| {
        let property =
            parse(format!("(declare-const X_0 Real)(declare-const Y_0 Real){text}").as_bytes(), &Limits::default());
        property.map(|p| (p.lower[0].clone(), p.upper[0].clone())).map_err(|r| r.first().reason.clone())
    };
    let table = [
        ("(assert (<= X_0 1)) (assert (>= X_0 -1))", (q(-1, 1), q(1, 1))),
        // A negative coefficient on the other side, a scale, open rows, the tightest of several.
        ("(assert (<= (* -2 X_0) 3)) (assert (< (* 4 X_0) 3))", (q(-3, 2), q(3, 4))),
        ("(assert (>= X_0 0)) (assert (>= X_0 0.5)) (assert (<= X_0 9)) (assert (<= X_0 8))", (q(1, 2), q(8, 1))),
        ("(assert (= X_0 0.1))", (q(1, 10), q(1, 10))),
        ("(assert (or (and (<= X_0 1) (>= X_0 0)) (and (<= X_0 7) (>= X_0 6))))", (q(0, 1), q(7, 1))),
        // A row with an output, or without variables, bounds nothing.
        ("(assert (<= X_0 1)) (assert (>= X_0 0)) (assert (<= (+ X_0 Y_0) -5)) (assert (<= 1 0))", (q(0, 1), q(1, 1))),
        // The first disjunct is empty: it counts as it stands, [5, 0], and the hull with [1, 2] is [1, 2].
        ("(assert (or (and (<= X_0 0) (>= X_0 5)) (and (<= X_0 2) (>= X_0 1))))", (q(1, 1), q(2, 1))),
        // Two empty ones whose hull is not: a superset of nothing is sound.
        ("(assert (or (and (<= X_0 0) (>= X_0 5)) (and (<= X_0 8) (>= X_0 9))))", (q(5, 1), q(8, 1))),
        // A term that cancels leaves a row on X_0 alone.
        ("(assert (<= (+ X_0 Y_0 (- Y_0)) 1)) (assert (<= 0 X_0))", (q(0, 1), q(1, 1))),
    ];
    for (text, ends) in table {
        assert_eq!(region(text), Ok(ends), "{text}");
    }
    assert_eq!(region("(assert (<= X_0 1)) (assert (>= Y_0 1))"), Err(Reason::PropertyUnbounded(0)));
    assert_eq!(region("(assert (or (and (<= X_0 1) (>= X_0 0)) (<= X_0 1)))"), Err(Reason::PropertyUnbounded(0)));
    assert_eq!(region(""), Err(Reason::PropertyUnbounded(0)));
    assert_eq!(region("(assert (<= X_0 1)) (assert (>= X_0 1.0000001))"), Err(Reason::PropertyEmptyRegion(0)));
    assert!(with("").unwrap().disjuncts.len() == 1);
}

#[test]
fn other_text_is_refused_with_code_and_place() {
    let table = [
        ("", "property.variable", None),
        ("(declare-const Y_0 Real)", "property.variable", None),
        ("(declare-const X_1 Real)", "property.variable", Some(15)),
        ("(declare-const X_0 Real)(declare-const X_0 Real)", "property.variable", Some(39)),
        ("(declare-const X_0 Real)(declare-const X_2 Real)", "property.variable", Some(39)),
        ("(declare-const X_00 Real)", "property.variable", Some(15)),
        ("(declare-const X_ Real)", "property.variable", Some(15)),
        ("(declare-const x_0 Real)", "property.variable", Some(15)),
        ("(declare-const Z Real)", "property.variable", Some(15)),
        ("(declare-const X_0 Int)", "property.unsupported", Some(19)),
        ("(declare-const X_0)", "property.syntax", Some(0)),
        ("(declare-const (X_0) Real)", "property.syntax", Some(0)),
        ("(declare-fun X_0 () Real)", "property.unsupported", Some(0)),
        ("(check-sat)", "property.unsupported", Some(0)),
        ("()", "property.unsupported", Some(0)),
        ("((assert))", "property.unsupported", Some(0)),
        ("(assert", "property.syntax", Some(7)),
        ("assert", "property.syntax", Some(0)),
        (")", "property.syntax", Some(0)),
        ("(declare-const X_0 Real))", "property.syntax", Some(24)),
        ("(declare-const X_0 \"Real\")", "property.syntax", Some(19)),
        ("(declare-const X_é Real)", "property.syntax", Some(17)),
    ];
    for (text, expected, offset) in table {
        assert_eq!(code(text), (expected.to_owned(), offset), "{text}");
    }
    let assertions = [
        ("(assert)", "property.syntax", "(assert"),
        ("(assert (<= X_0 1) (<= X_0 1))", "property.syntax", "(assert"),
        ("(assert X_0)", "property.syntax", "X_0)"),
        ("(assert (xor (<= X_0 1) (<= X_0 1)))", "property.unsupported", "(xor"),
        ("(assert (not (<= X_0 1)))", "property.unsupported", "(not"),
        ("(assert (=> (<= X_0 1) (<= X_0 1)))", "property.unsupported", "(=>"),
        ("(assert (and))", "property.syntax", "(and"),
        ("(assert (or))", "property.syntax", "(or"),
        ("(assert ())", "property.syntax", "()"),
        ("(assert ((<= X_0 1)))", "property.syntax", "((<="),
        ("(assert (<= X_0 1 2))", "property.unsupported", "(<="),
        ("(assert (<= X_0))", "property.unsupported", "(<="),
        ("(assert (<= X_2 1))", "property.variable", "X_2"),
        ("(assert (<= Y_2 1))", "property.variable", "Y_2"),
        ("(assert (<= X_0 nan))", "property.variable", "nan"),
        ("(assert (<= X_0 1.))", "property.syntax", "1."),
        ("(assert (<= X_0 +1))", "property.syntax", "+1"),
        ("(assert (<= X_0 .5))", "property.syntax", ".5"),
        ("(assert (<= X_0 -))", "property.syntax", "-)"),
        ("(assert (<= X_0 1/2))", "property.syntax", "1/2"),
        ("(assert (<= X_0 0x1p0))", "property.syntax", "0x1"),
        ("(assert (<= X_0 1e1000000000))", "limit.exponent", "1e1"),
        ("(assert (<= (* X_0 X_0) 1))", "property.unsupported", "(*"),
        ("(assert (<= (* 2 (+ X_0 1) Y_0) 1))", "property.unsupported", "(*"),
        ("(assert (<= (/ X_0 2) 1))", "property.unsupported", "(/"),
        ("(assert (<= (<= X_0 1) 1))", "property.syntax", "(<= X_0 1)"),
        ("(assert (and (+ X_0 1)))", "property.syntax", "(+"),
        ("(assert (<= (-) 1))", "property.syntax", "(-)"),
        ("(assert (<= X_0 1)", "property.syntax", "END"),
        ("(assert (<= X_0 1)) junk", "property.syntax", "junk"),
        ("(assert (<= X_0 1)) (junk)", "property.unsupported", "(junk"),
    ];
    for (text, expected, at) in assertions {
        let place = HEAD.len() + text.find(at).unwrap_or(text.len());
        assert_eq!(code(&format!("{HEAD}{text}")), (expected.to_owned(), Some(place)), "{text}");
    }
}

#[test]
fn comments_and_space_mean_nothing() {
    let text = b"; a (comment\n(declare-const\tX_0 Real);)\r\n(declare-const Y_0 Real)(assert(and(<= X_0 1);x\n(>= X_0 -1)));\xff\xfe end";
    let property = parse(text, &Limits::default()).unwrap();
    assert_eq!((property.lower, property.upper), (vec![q(-1, 1)], vec![q(1, 1)]));
}

/// The blow-up is refused before it is built: sixty assertions of two disjuncts each are 2^60 disjuncts.
#[test]
fn a_carriage_return_ends_a_comment() {
    // SMT-LIB 2.6, section 3.1: a comment ends at the first line-breaking character, which may be a carriage return.
    assert_eq!(rows("; unsafe\r(assert (<= Y_0 1))"), [vec![row(&[(Y(0), 1)], q(1, 1))]]);
}

#[test]
fn budgets_come_before_the_product() {
    let limit = |text: &str, limits: &Limits| {
        parse(format!("{HEAD}{text}").as_bytes(), limits).expect_err("a limit").first().reason.code()
    };
    let default = Limits::default();
    let or = "(assert (or (<= Y_0 1) (<= Y_1 1)))";
    assert_eq!(limit(&or.repeat(60), &default), "limit.disjuncts");
    assert_eq!(
        limit(&format!("(assert (and {}))", "(or (<= Y_0 1) (<= Y_1 1))".repeat(60)), &default),
        "limit.disjuncts"
    );
    assert_eq!(with(&or.repeat(5)).unwrap().disjuncts.len(), 32);
    let small = Limits { rows: 20, disjuncts: 4, depth: 4, json_values: 8, ..Limits::default() };
    assert!(
        parse(format!("{HEAD}{or}{or}").as_bytes(), &Limits { json_values: 99, rows: 24, ..small.clone() }).is_ok()
    );
    assert_eq!(limit(&or.repeat(2), &Limits { json_values: 99, rows: 23, ..small.clone() }), "limit.rows");
    assert_eq!(limit(&or.repeat(3), &Limits { json_values: 99, rows: 99, ..small.clone() }), "limit.disjuncts");
    assert_eq!(limit("", &Limits { variables: 1, json_values: 99, ..small.clone() }), "limit.variables");
    assert_eq!(limit("", &small), "limit.property-expressions");
    let deep = |n: usize| format!("(assert {}(<= Y_0 1){})", "(and ".repeat(n), ")".repeat(n));
    assert!(with(&deep(62)).is_ok());
    assert_eq!(limit(&deep(63), &default), "limit.property-depth");
    // Terms and long numbers count: 10^4000 has 13288 bits, 25 units of 512, which count 200·25².
    let wide = "(assert (<= (+ Y_0 Y_1 X_0) 1))";
    assert_eq!(limit(wide, &Limits { rows: 6, ..default.clone() }), "limit.rows");
    assert!(parse(format!("{HEAD}{wide}").as_bytes(), &Limits { rows: 7, ..default.clone() }).is_ok());
    let long = "(assert (<= Y_0 1e4000))";
    assert_eq!(limit(long, &Limits { rows: 125_004, exponent: 4096, ..default.clone() }), "limit.rows");
    assert!(
        parse(format!("{HEAD}{long}").as_bytes(), &Limits { rows: 125_005, exponent: 4096, ..default.clone() }).is_ok()
    );
    // A chain of products may not grow a number without end.
    assert_eq!(limit(&format!("(assert (<= (* Y_0 {}) 1))", "1e1000 ".repeat(1000)), &default), "limit.digits");
    // No stack is used for depth, whatever the budget.
    let bottomless = Limits { depth: usize::MAX, ..Limits::default() };
    assert!(parse(format!("{HEAD}{}", deep(100_000)).as_bytes(), &bottomless).is_ok());
}

/// What each file of another verifier's reader tests must give.
#[test]
fn marabou_cases() {
    let Some(folder) = shared::folder("marabou") else { return };
    // Inputs, outputs, rows of the disjuncts, and the region of the first input.
    type Outcome = Result<(usize, usize, &'static [usize], (Rational, Rational)), &'static str>;
    let table: [(&str, Outcome); 15] = [
        ("acasxu_prop1", Ok((5, 5, &[11], (q(6, 10), q(679_857_769, 1_000_000_000))))),
        ("test_add_const", Ok((1, 1, &[3], (q(0, 1), q(1, 1))))),
        (
            "test_add_var",
            Ok((
                5,
                5,
                &[14],
                (
                    q(-30_353_115_613_746_867, 100_000_000_000_000_000),
                    q(-29_855_281_193_475_053, 100_000_000_000_000_000),
                ),
            )),
        ),
        ("test_and", Ok((1, 1, &[3], (q(0, 1), q(1, 1))))),
        ("test_assert_operator_not_implemented", Err("property.unsupported")),
        ("test_command_not_implemented", Err("property.unsupported")),
        ("test_exp_notation", Ok((1, 1, &[3], (q(-1, 1), q(1, 1))))),
        ("test_mul_var_const", Ok((1, 1, &[4], (q(0, 1), q(1, 1))))),
        ("test_mul_var_var", Err("property.unsupported")),
        ("test_nano_vnncomp", Ok((1, 1, &[3], (q(-1, 1), q(1, 1))))),
        (
            "test_prop_vnncomp",
            Ok((
                5,
                5,
                &[14],
                (
                    q(-30_353_115_613_746_867, 100_000_000_000_000_000),
                    q(-29_855_281_193_475_053, 100_000_000_000_000_000),
                ),
            )),
        ),
        ("test_small_vnncomp", Ok((1, 1, &[3], (q(-1, 1), q(1, 1))))),
        ("test_sub_const", Ok((1, 1, &[3], (q(2, 1), q(3, 1))))),
        (
            "test_sub_var",
            Ok((
                5,
                5,
                &[14],
                (
                    q(-30_353_115_613_746_867, 100_000_000_000_000_000),
                    q(-29_855_281_193_475_053, 100_000_000_000_000_000),
                ),
            )),
        ),
        ("test_tiny_vnncomp", Ok((1, 1, &[3], (q(-1, 1), q(1, 1))))),
    ];
    assert_eq!(shared::files(&folder, "vnnlib").len(), table.len());
    for (name, expected) in table {
        let read = parse(&shared::read(&folder.join("vnnlib").join(format!("{name}.vnnlib"))), &Limits::default());
        match expected {
            Err(code) => assert_eq!(read.unwrap_err().first().reason.code(), code, "{name}"),
            Ok((inputs, outputs, rows, (lower, upper))) => {
                let property = read.unwrap_or_else(|e| panic!("{name}: {e:?}"));
                assert_eq!((property.inputs(), property.outputs), (inputs, outputs), "{name}");
                assert_eq!(property.disjuncts.iter().map(Vec::len).collect::<Vec<_>>(), rows, "{name}");
                assert_eq!((&property.lower[0], &property.upper[0]), (&lower, &upper), "{name}");
            }
        }
    }
}

#[test]
fn benchmark_files_read() {
    let Some(folder) = shared::folder("") else { return };
    let mut sizes = std::collections::BTreeMap::new();
    for path in shared::files(&folder, "vnnlib") {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        if name.starts_with("marabou") {
            continue;
        }
        let property = parse(&shared::read(&path), &Limits::default()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        sizes.insert(name, (property.inputs(), property.outputs, property.disjuncts.len()));
    }
    assert!(sizes.len() >= 100, "{}", sizes.len());
    let expected = [
        ("acasxu/vnnlib/prop_3.vnnlib", (5, 5, 1)),
        ("acasxu/vnnlib/prop_6.vnnlib", (5, 5, 8)),
        ("acasxu/vnnlib/prop_7.vnnlib", (5, 5, 2)),
        ("mnist_fc/vnnlib/prop_1_0.03.vnnlib", (784, 10, 9)),
        ("tllverify/vnnlib/property_N=8_0.vnnlib", (2, 1, 1)),
    ];
    for (name, size) in expected {
        assert_eq!(sizes.get(name), Some(&size), "{name}");
    }
}

const NETWORK: &str = "(vnnlib-version <2.0>)
    (declare-network net (declare-input X Real [1, 2]) (declare-output Y Real [2]) (declare-output z Real []))
    (assert (and (<= X[0,0] 1) (>= X [0, 0] -1) (<= X[0 , 1] 2) (>= X[0,1] 0)))";

#[test]
fn the_second_version_names_elements_of_tensors() {
    // The same property in the first version: X[0,1] is X_1, Y[1] is Y_1, z is Y_2.
    let pairs = [
        ("(<= Y[1] (* 2 X[0,1]))", "(<= Y_1 (* 2 X_1))"),
        ("(or (> z Y [0]) (== z 0.5))", "(or (> Y_2 Y_0) (= Y_2 0.5))"),
        ("(!= Y[0] z)", "(or (< Y_0 Y_2) (> Y_0 Y_2))"),
    ];
    for (second, first) in pairs {
        let second = parse(format!("{NETWORK}(assert {second})").as_bytes(), &Limits::default());
        let first = with(&format!("(declare-const Y_2 Real) (assert {first})"));
        assert_eq!(second.unwrap_or_else(|fault| panic!("{first:?}: {fault:?}")), first.unwrap());
    }
}

#[test]
fn what_the_second_version_means_otherwise_is_refused() {
    let asserted = |text: &str| code(&format!("{NETWORK}(assert {text})")).0;
    for name in ["X[0]", "X[0,2]", "X[1,0]", "X", "Y[2]", "Y[-0]", "Y[00]", "z[]", "z[0]", "w[0]", "Y_0", "X_0"] {
        let code = asserted(&format!("(<= {name} 1)"));
        assert!(["property.variable", "property.syntax"].contains(&code.as_str()), "{name} {code}");
    }
    assert_eq!(asserted("(= z 1)"), "property.unsupported");
    assert_eq!(asserted("(<= z \"text\")"), "property.variable");
    let declared = |declarations: &str| {
        code(&format!("(vnnlib-version <2.0>) (declare-network n {declarations}) (assert (<= X[0] 1))")).0
    };
    let input = "(declare-input X Real [1])";
    let table = [
        (input.to_owned(), "property.syntax"),
        (format!("(declare-output Y Real [1]) {input}"), "property.syntax"),
        (format!("{input} (declare-input Z Real [1]) (declare-output Y Real [1])"), "property.unsupported"),
        (format!("{input} (declare-hidden H Real [1] \"h\") (declare-output Y Real [1])"), "property.unsupported"),
        (format!("{input} (declare-output Y Real [1] \"y\")"), "property.unsupported"),
        (format!("{input} (declare-output Y float32 [1])"), "property.unsupported"),
        (format!("{input} (declare-output Y Real [0])"), "property.syntax"),
        (format!("{input} (declare-output Y Real [2,3])"), "property.unsupported"),
        (format!("{input} (declare-output Y Real [1,])"), "property.syntax"),
        (format!("{input} (declare-output Y Real)"), "property.syntax"),
        (format!("{input} (declare-output Y (Real) [1])"), "property.syntax"),
        (format!("{input} (declare-output Y (Real))"), "property.syntax"),
        (format!("{input} (declare-output Y)"), "property.syntax"),
        (format!("{input} (declare-output Y Real [1] 2 3)"), "property.syntax"),
        (format!("{input} Y"), "property.syntax"),
        (format!("{input} ()"), "property.syntax"),
        (format!("{input} ((declare-output) Y Real [1])"), "property.syntax"),
        (format!("{input} (declare-output X Real [1])"), "property.variable"),
        (format!("{input} (declare-output n Real [1])"), "property.variable"),
        (format!("{input} (declare-output 1Y Real [1])"), "property.syntax"),
        (format!("(equal-to m) {input} (declare-output Y Real [1])"), "property.unsupported"),
        (format!("{input} (declare-output Y Real [99999999,99999999,99999999])"), "limit.variables"),
    ];
    for (declarations, expected) in table {
        assert_eq!(declared(&declarations), expected, "{declarations}");
    }
    assert_eq!(code("(vnnlib-version <2.0>) (declare-network)").0, "property.syntax");
    assert_eq!(code("(vnnlib-version <3.0>)").0, "property.unsupported");
    assert_eq!(code("(vnnlib-version)").0, "property.syntax");
    assert_eq!(code(&format!("{HEAD} (vnnlib-version <2.0>)")).0, "property.unsupported");
    assert_eq!(code(&format!("{NETWORK} (declare-const X_0 Real)")).0, "property.unsupported");
    assert_eq!(code(&format!("{NETWORK} {}", &NETWORK[22..])).0, "property.unsupported");
    // `=` is no comparison there, and is named as it is written.
    let equals = parse(format!("{NETWORK} (assert (= Y[0] 1))").as_bytes(), &Limits::default()).unwrap_err();
    assert_eq!(equals.first().reason, Reason::PropertyUnsupported("=".to_owned()));
    // Without the version the brackets are no part of a name.
    assert_eq!(code(&format!("{HEAD} (assert (<= Y_0[0] 1))")).0, "property.variable");
    assert_eq!(code(&format!("{HEAD} (assert (== Y_0 1))")).0, "property.unsupported");
}

/// A file of the second version about tensors of these shapes, X within [0, 1], and the network's shapes.
fn about(x: &str, y: &str, formula: &str, network: &[&[usize]]) -> Result<Property, certkern_wire::Rejection> {
    let count: usize = network[0].iter().product();
    let places = (0..count).map(|place| {
        let mut rest = place;
        let mut index: Vec<String> = Vec::new();
        for extent in network[0].iter().rev() {
            index.insert(0, (rest % extent).to_string());
            rest /= extent;
        }
        format!("X[{}]", index.join(","))
    });
    let ends: String = places.map(|x| format!("(<= {x} 1) (>= {x} 0)")).collect();
    let text = format!(
        "(vnnlib-version <2.0>) (declare-network n (declare-input X Real {x}) (declare-output Y Real {y}))
        (assert (and {ends})) (assert {formula})"
    );
    let network: Vec<Vec<usize>> = network.iter().map(|shape| shape.to_vec()).collect();
    parse_about(text.as_bytes(), Some(&network), &Limits::default())
}

#[test]
fn elements_of_several_axes_are_variables_in_row_major_order() {
    // Of shape [2, 3, 2] the element [1, 0, 1] is number 1·6 + 0·2 + 1 = 7; of [2, 2] the element [1, 0] is number 2.
    let property = about("[2,3,2]", "[2,2]", "(<= Y[1,0] X[1,0,1])", &[&[2, 3, 2], &[2, 2]]).unwrap();
    assert_eq!((property.inputs(), property.outputs), (12, 4));
    assert_eq!(property.disjuncts[0].last(), Some(&row(&[(X(7), -1), (Y(2), 1)], q(0, 1)).into()));
    let bound = about("[2,3]", "[2]", "(<= X[0,2] 0.5)", &[&[2, 3], &[2]]).unwrap();
    // [0, 2] is number 2, as it would not be in column-major order.
    let halved: Vec<usize> = (0..6).filter(|x| bound.upper[*x] == q(1, 2)).collect();
    assert_eq!(halved, [2]);
}

#[test]
fn tensors_are_of_the_shapes_of_the_network() {
    let refused = |x: &str, y: &str, network: &[&[usize]]| {
        let rejection = about(x, y, "(<= 0 0)", network).expect_err(y);
        (rejection.first().reason.clone(), rejection.first().place.offset.is_some())
    };
    let shape = |tensor: &str, property: &[usize], network: &[usize]| {
        let (tensor, property, network) = (tensor.to_owned(), property.to_vec(), network.to_vec());
        (Reason::PropertyShape { tensor, property, network }, true)
    };
    // The same number of elements in another order is the trap; the others would be read alike.
    assert_eq!(refused("[3,2]", "[2]", &[&[2, 3], &[2]]), shape("X", &[3, 2], &[2, 3]));
    assert_eq!(refused("[2,3]", "[2,3]", &[&[2, 3], &[3, 2]]), shape("Y", &[2, 3], &[3, 2]));
    assert_eq!(refused("[2]", "[6]", &[&[2], &[2, 3]]), shape("Y", &[6], &[2, 3]));
    assert_eq!(refused("[2]", "[1,2]", &[&[2], &[2]]), shape("Y", &[1, 2], &[2]));
    assert_eq!(refused("[2]", "[]", &[&[2], &[1]]), shape("Y", &[], &[1]));
    // An output that the network does not have is left to the comparison of widths.
    assert_eq!(about("[2]", "[2,2]", "(<= 0 0)", &[&[2]]).unwrap().outputs, 4);
    // Without a network the order of elements is not known.
    let text = "(vnnlib-version <2.0>) (declare-network n (declare-input X Real [1]) (declare-output Y Real [2,3]))
        (assert (and (<= X[0] 1) (>= X[0] 0)))";
    assert_eq!(code(text).0, "property.unsupported");
    assert!(parse_about(text.as_bytes(), Some(&[vec![1], vec![2, 3]]), &Limits::default()).is_ok());
}
