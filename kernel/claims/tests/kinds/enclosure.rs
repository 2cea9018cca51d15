//! Kind `enclosure`. Values of functions were computed with Arb (python-flint 0.9.0); what is rational, by hand.

use certkern_claims::check_document;
use certkern_core::expr::{Expressions, Node};
use certkern_core::num::Rational;
use certkern_report::Report;
use certkern_seal::Verdict;
use certkern_wire::digest::query_digest;
use certkern_wire::limits::Limits;

/// An operation, its arguments and its numbers.
type Op<'a> = (&'a str, &'a [usize], &'a [&'a str]);

fn rational(text: &str) -> Rational {
    certkern_wire::number::rational_text(text, &Limits::default()).unwrap()
}

/// A certificate, bound to its query, with these balls as JSON.
fn certificate(ops: &[Op<'_>], outputs: &[usize], values: &[&str]) -> String {
    let node = |(op, arguments, numbers): &Op<'_>| {
        Node::new(op, arguments.to_vec(), numbers.iter().map(|text| rational(text)).collect()).unwrap()
    };
    let expressions = Expressions::new(ops.iter().map(node).collect(), outputs.to_vec()).unwrap();
    let nodes: Vec<String> = ops
        .iter()
        .map(|(op, arguments, numbers)| format!(r#"{{"op":"{op}","args":{arguments:?},"numbers":{numbers:?}}}"#))
        .collect();
    format!(
        r#"{{"format":"certkern.enclosure.v1",
"query":{{"format":"certkern.enclosure-query.v1","nodes":[{}],"outputs":{outputs:?}}},
"answer":{{"format":"certkern.enclosure-answer.v1","query":"{}","status":"ok","values":[{}]}}}}"#,
        nodes.join(","),
        query_digest(&expressions),
        values.join(","),
    )
}

fn check(document: &str) -> Verdict {
    check_document(document.as_bytes(), &Limits::default())
}

#[track_caller]
fn accepted(ops: &[Op<'_>], outputs: &[usize], values: &[&str]) {
    let verdict = check(&certificate(ops, outputs, values));
    assert!(verdict.line().starts_with("s ACCEPTED enclosure "), "{}\n{}", verdict.line(), Report::of(&verdict).text());
}

#[track_caller]
fn said(document: &str, line: &str, code: u8, text: &str) {
    let verdict = check(document);
    assert_eq!((verdict.line().as_str(), verdict.exit_code()), (line, code), "{}", Report::of(&verdict).text());
    assert!(Report::of(&verdict).text().contains(text), "{}", Report::of(&verdict).text());
}

#[track_caller]
fn refused(ops: &[Op<'_>], outputs: &[usize], values: &[&str], code: &str, text: &str) {
    said(&certificate(ops, outputs, values), &format!("s REJECTED {code}"), 1, text);
}

const TANH: &[Op<'_>] = &[("rational", &[], &["1/4"]), ("tanh", &[0], &[])];
/// tanh(1/4) = 0.244918662403709129277801131491037… by Arb at 64 bits. The midpoint is too low by 0.57 radii.
const ARB: &str = r#"["18071807536945966985","-66","157551381","-93"]"#;

#[test]
fn the_three_spellings_of_a_ball() {
    accepted(TANH, &[1], &[ARB]);
    accepted(TANH, &[1], &[r#"{"mid":"0.2449186624037091293","rad":1e-19}"#]);
    accepted(TANH, &[1], &[r#"{"mid":"2449186624037091293","rad":"1","exp":"-19"}"#]);
    accepted(TANH, &[1], &[r#"{"mid":2449186624037091293,"rad":1,"exp":-19}"#]);
    accepted(TANH, &[1, 0, 1], &[ARB, r#"{"mid":"1/4","rad":0}"#, ARB]);
    // Off by 2.7 radii.
    let off = r#"{"mid":2449186624037091290,"rad":1,"exp":-19}"#;
    refused(TANH, &[1], &[off], "enclosure.refuted", "");
}

#[test]
fn balls_come_back_exactly() {
    let verdict = check(&certificate(TANH, &[1], &[ARB]));
    // 18071807536945966985/2^66 and 157551381/2^93, which are in lowest terms.
    let values = r#""values":[{"mid":"18071807536945966985/73786976294838206464","rad":"157551381/9903520314283042199192993792"}]"#;
    assert!(Report::of(&verdict).json().contains(values), "{}", Report::of(&verdict).json());
}

#[test]
fn lies_are_found() {
    let lies = [
        (r#"["18071807536945966985","-66","157551381","-94"]"#, "half the radius"),
        (r#"["18071807536945966984","-66","157551381","-93"]"#, "a midpoint of one unit less"),
        (r#"["-18071807536945966985","-66","157551381","-93"]"#, "another sign"),
        (r#"{"mid":"0.2449186624037091294","rad":1e-19}"#, "a last digit"),
        // sin(1/4) = 0.247403959254522929…
        (r#"{"mid":"0.2474039592545229","rad":1e-16}"#, "the answer to another function"),
    ];
    for (value, what) in lies {
        let verdict = check(&certificate(TANH, &[1], &[value]));
        assert_eq!((verdict.line().as_str(), verdict.name()), ("s REJECTED enclosure.refuted", "refuted"), "{what}");
    }
    let other = certificate(&[("rational", &[], &["1/4"]), ("sin", &[0], &[])], &[1], &[ARB]).replace("sin", "tanh");
    said(&other, "s REJECTED bind.query", 2, "answer.query");
    let honest = certificate(TANH, &[1], &[ARB]);
    let edits = [
        ("\"157551381\"", "\"-157551381\"", "the radius is below zero"),
        ("\"ok\"", "\"error\"", "its status is `error`"),
        ("\"status\"", "\"precision\":64,\"status\"", "the query asks for no precision, the answer states 64 bits"),
        ("\"outputs\":[1]", "\"outputs\":[1,1]", ""),
        ("]]}}", "],[\"0\",\"0\",\"1\",\"0\"]]}}", "2 values for 1 outputs"),
        (",\"-93\"", "", "four"),
    ];
    for (old, new, text) in edits {
        assert!(honest.contains(old), "{old}");
        let code = if new.contains("[1,1]") { "bind.query" } else { "enclosure.answer" };
        said(&honest.replace(old, new), &format!("s REJECTED {code}"), 2, text);
    }
}

#[test]
fn a_stated_precision_is_the_one_asked_for() {
    let with = |asked: &str, stated: &str| {
        certificate(TANH, &[1], &[ARB])
            .replace("\"nodes\"", &format!("{asked}\"nodes\""))
            .replace("\"status\"", &format!("{stated}\"status\""))
    };
    assert_eq!(check(&with("\"precision\":64,", "\"precision\":64,")).exit_code(), 0);
    for stated in ["", "\"precision\":65,", "\"precision\":8192,"] {
        said(&with("\"precision\":64,", stated), "s REJECTED enclosure.answer", 2, "the query asks for 64 bits");
    }
    let claim = |document: &str| check(document).line();
    // It is no part of the claim.
    assert_eq!(claim(&with("", "")), claim(&with("\"precision\":64,", "\"precision\":64,")));
}

#[test]
fn the_first_value_that_fails_is_named() {
    let false_one = r#"{"mid":"0.2449186624037091294","rad":1e-19}"#;
    // True, but more than 64 bits are needed to see it.
    let narrow = r#"{"mid":"0.24491866240370912927780113149","rad":"1e-27"}"#;
    let document = |bits: usize, values: &[&str]| {
        let document = certificate(TANH, &vec![1; values.len()], values);
        document.replacen("\"query\":{", &format!("\"precision\":{bits},\"query\":{{"), 1)
    };
    said(&document(64, &[ARB, false_one, false_one]), "s REJECTED enclosure.refuted", 1, "answer.values[1]");
    said(&document(64, &[ARB, narrow, false_one]), "s REJECTED enclosure.unproved", 1, "answer.values[1]");
    said(&document(64, &[ARB, narrow]), "s REJECTED enclosure.unproved", 1, "computed with 64 bits");
    said(&document(128, &[ARB, narrow, false_one]), "s REJECTED enclosure.refuted", 1, "answer.values[2]");
    assert_eq!(check(&document(128, &[ARB, narrow])).exit_code(), 0);
}

#[test]
fn rationals_are_decided_exactly() {
    let sum: &[Op<'_>] = &[("rational", &[], &["1/3"]), ("rational", &[], &["1/6"]), ("add", &[0, 1], &[])];
    accepted(sum, &[2], &[r#"{"mid":"1/2","rad":0}"#]);
    let near = format!("{{\"mid\":\"0.5{}1\",\"rad\":0}}", "0".repeat(1000));
    refused(sum, &[2], &[&near], "enclosure.refuted", "from 1/2");
    // Rump's polynomial, whose value −54767/66192 no binary64 evaluation shows (S. M. Rump, 1988).
    let rump: &[Op<'_>] = &[
        ("rational", &[], &["77617"]),
        ("rational", &[], &["33096"]),
        ("power", &[0], &["2"]),
        ("power", &[1], &["2"]),
        ("power", &[1], &["4"]),
        ("power", &[1], &["6"]),
        ("power", &[1], &["8"]),
        ("rational", &[], &["333.75"]),
        ("mul", &[7, 5], &[]),
        ("rational", &[], &["11"]),
        ("mul", &[2, 3], &[]),
        ("mul", &[9, 10], &[]),
        ("sub", &[11, 5], &[]),
        ("rational", &[], &["121"]),
        ("mul", &[13, 4], &[]),
        ("sub", &[12, 14], &[]),
        ("rational", &[], &["2"]),
        ("sub", &[15, 16], &[]),
        ("mul", &[2, 17], &[]),
        ("rational", &[], &["5.5"]),
        ("mul", &[19, 6], &[]),
        ("mul", &[16, 1], &[]),
        ("div", &[0, 21], &[]),
        ("add", &[8, 18], &[]),
        ("add", &[23, 20], &[]),
        ("add", &[24, 22], &[]),
    ];
    accepted(rump, &[25], &[r#"{"mid":"-54767/66192","rad":0}"#]);
    // What binary64 gives.
    refused(rump, &[25], &[r#"{"mid":"1.1726","rad":"0.1"}"#], "enclosure.refuted", "from -54767/66192");
    // Ends that touch: [1/3, 1/2]·[−1/5, 2/7] = [−1/10, 1/7].
    let product: &[Op<'_>] =
        &[("interval", &[], &["1/3", "1/2"]), ("interval", &[], &["-1/5", "2/7"]), ("mul", &[0, 1], &[])];
    accepted(product, &[2], &[r#"{"mid":"3/140","rad":"17/140"}"#]);
    // relu([−1/3, 1/7]) = [0, 1/7], and [−1/3, 1/7]^4 = [0, 1/81].
    let bent: &[Op<'_>] = &[("interval", &[], &["-1/3", "1/7"]), ("leaky_relu", &[0], &["0"]), ("power", &[0], &["4"])];
    accepted(bent, &[1, 2], &[r#"{"mid":"1/14","rad":"1/14"}"#, r#"{"mid":"1/162","rad":"1/162"}"#]);
    let inverse: &[Op<'_>] = &[("interval", &[], &["-1/3", "-1/7"]), ("power", &[0], &["-3"])];
    // [−343, −27].
    accepted(inverse, &[1], &[r#"{"mid":"-185","rad":"158"}"#]);
}

#[test]
fn an_interval_is_one_unknown_number() {
    let unit: Op<'_> = ("interval", &[], &["0", "1"]);
    accepted(&[unit, ("tanh", &[0], &[])], &[1], &[r#"{"mid":"0.381","rad":"0.381"}"#]);
    // False at 1, where tanh is 0.7616, and the whole range neither lies in the ball nor apart from it.
    refused(
        &[unit, ("tanh", &[0], &[])],
        &[1],
        &[r#"{"mid":"0.38","rad":"0.381"}"#],
        "enclosure.refuted",
        "7.615941559557649e-1",
    );
    // True, but ranges do not see that both are the same number.
    refused(&[unit, ("sub", &[0, 0], &[])], &[1], &[r#"{"mid":0,"rad":"1/2"}"#], "enclosure.unproved", "1024 bits");
    // sin on [1, 3] turns at π/2: from sin 3 = 0.14112… to 1.
    let sine: &[Op<'_>] = &[("interval", &[], &["1", "3"]), ("sin", &[0], &[])];
    accepted(sine, &[1], &[r#"{"mid":"0.57056","rad":"0.42945"}"#]);
    refused(sine, &[1], &[r#"{"mid":"0.57","rad":"0.4299"}"#], "enclosure.unproved", "");
}

#[test]
fn what_is_undefined_has_its_own_code() {
    let table: [(&[Op<'_>], &str); 7] = [
        (
            &[("rational", &[], &["-1"]), ("log", &[0], &[])],
            "value 0 is not shown to be defined: `log` of this argument",
        ),
        (&[("interval", &[], &["0", "1"]), ("log", &[0], &[])], "`log`"),
        (&[("interval", &[], &["-1", "1"]), ("interval", &[], &["1", "1"]), ("div", &[1, 0], &[])], "`div`"),
        // 1/3 + 1/7 − 10/21 is zero, which no precision shows.
        (
            &[
                ("rational", &[], &["1/3"]),
                ("rational", &[], &["1/7"]),
                ("add", &[0, 1], &[]),
                ("rational", &[], &["10/21"]),
                ("sub", &[2, 3], &[]),
                ("div", &[0, 4], &[]),
            ],
            "nodes[5]",
        ),
        // π/2 lies between.
        (&[("interval", &[], &["1.5", "1.6"]), ("tan", &[0], &[])], "`tan`"),
        (&[("interval", &[], &["-1e-30", "1"]), ("sqrt", &[0], &[])], "`sqrt`"),
        (&[("interval", &[], &["-1", "1"]), ("power", &[0], &["-2"])], "`power`"),
    ];
    for (ops, text) in table {
        refused(ops, &[ops.len() - 1], &[r#"{"mid":0,"rad":1}"#], "enclosure.undefined", text);
    }
}

#[test]
fn nodes_that_are_no_expressions() {
    let honest = certificate(TANH, &[1], &[ARB]);
    let edits = [
        ("\"tanh\",\"args\":[0]", "\"tanh\",\"args\":[1]", "an argument is not an earlier node"),
        ("\"tanh\"", "\"tahn\"", "no function of this name"),
        ("\"tanh\",\"args\":[0]", "\"tanh\",\"args\":[0,0]", "so many arguments"),
        ("\"tanh\",\"args\":[0],\"numbers\":[]", "\"tanh\",\"args\":[0],\"numbers\":[1]", "no function of this name"),
        ("\"tanh\",\"args\":[0],\"numbers\":[]", "\"power\",\"args\":[0],\"numbers\":[]", "no function of this name"),
        ("\"outputs\":[1]", "\"outputs\":[0]", "no output uses the node"),
        ("\"outputs\":[1]", "\"outputs\":[2]", "query.outputs"),
        ("\"outputs\":[1]", "\"outputs\":[]", "query.outputs"),
        (
            "\"rational\",\"args\":[],\"numbers\":[\"1/4\"]",
            "\"interval\",\"numbers\":[\"1/2\",\"1/4\"]",
            "above its upper end",
        ),
    ];
    for (old, new, text) in edits {
        assert!(honest.contains(old), "{old}");
        said(&honest.replace(old, new), "s REJECTED enclosure.query", 2, text);
    }
}

/// The answers are those of binary64, whose error is a unit in the last place or two.
#[test]
fn ten_thousand_claims_fit_one_document() {
    let arguments: Vec<String> = (0..10_000).map(|i| format!("{}/1024", 2 * i - 9_999)).collect();
    let numbers: Vec<[&str; 1]> = arguments.iter().map(|text| [text.as_str()]).collect();
    let places: Vec<[usize; 1]> = (0..10_000).map(|i| [2 * i]).collect();
    let pairs = numbers.iter().zip(&places);
    let ops: Vec<Op<'_>> =
        pairs.flat_map(|(number, place)| [("rational", &[][..], &number[..]), ("tanh", &place[..], &[][..])]).collect();
    let outputs: Vec<usize> = places.iter().map(|[place]| place + 1).collect();
    let value = |i: i32| format!("{{\"mid\":{:.17e},\"rad\":1e-15}}", (f64::from(2 * i - 9_999) / 1024.0).tanh());
    let values: Vec<String> = (0..10_000).map(value).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let document = certificate(&ops, &outputs, &values);
    assert_eq!(check(&document).exit_code(), 0);
}

#[test]
fn budgets_have_names() {
    let one = r#"{"mid":0,"rad":1}"#;
    let chain =
        |leaf: Op<'static>, step: &'static str, length: usize| -> Vec<(&'static str, Vec<usize>, Vec<&'static str>)> {
            let arguments = |i: usize| if step == "neg" { vec![i] } else { vec![i, i] };
            let first = (leaf.0, vec![], leaf.2.to_vec());
            std::iter::once(first).chain((0..length).map(|i| (step, arguments(i), vec![]))).collect()
        };
    let document = |leaf, step, length: usize| {
        let ops = chain(leaf, step, length);
        let ops: Vec<Op<'_>> = ops.iter().map(|(op, a, n)| (*op, a.as_slice(), n.as_slice())).collect();
        certificate(&ops, &[length], &[one])
    };
    let third = ("rational", &[][..], &["1/3"][..]);
    // Deep.
    assert_eq!(check(&document(third, "neg", 100_001)).exit_code(), 0);
    said(&document(third, "neg", 1 << 18), "s LIMIT expression-nodes", 3, "");
    // Shared exponentially: 2^200 paths, a value of 2^200/3, and one of (1/3)^(2^200).
    said(&document(third, "add", 200), "s REJECTED enclosure.refuted", 1, "");
    said(&document(third, "mul", 200), "s LIMIT magnitude", 3, "query.nodes[");
    said(&document(("interval", &[], &["2", "3"]), "mul", 200), "s LIMIT magnitude", 3, "query.nodes[");
    let honest = certificate(TANH, &[1], &[ARB]);
    let precision = |bits: &str| honest.replacen("\"query\":{", &format!("\"precision\":{bits},\"query\":{{"), 1);
    said(&precision("1000000000"), "s LIMIT precision", 3, "");
    assert_eq!(check(&precision("8192")).exit_code(), 0);
    said(&honest.replace("\"nodes\"", "\"precision\":1000000000,\"nodes\""), "s LIMIT precision", 3, "query.precision");
    said(&honest.replace("1/4", &"7".repeat(1_000_000)), "s LIMIT digits", 3, "query.nodes[0].numbers[0]");
    said(&honest.replace("\"-66\"", "\"-16385\""), "s LIMIT exponent", 3, "");
    said(&honest.replace("\"-66\"", "\"123456789012345678901234567890\""), "s LIMIT exponent", 3, "");
    let few = Limits { expression_bits: 2 * 1024 - 1, ..Limits::default() };
    assert_eq!(check_document(honest.as_bytes(), &few).line(), "s LIMIT expression-bits");
    // Numbers of 16384 bits in a few letters.
    let long = vec![r#"["1","0","1","-16384"]"#; 100];
    let long = certificate(TANH, &[1; 100], &long);
    let few = Limits { expression_bits: 100 * 16384, ..Limits::default() };
    assert_eq!(check_document(long.as_bytes(), &few).line(), "s LIMIT expression-bits");
    assert_eq!(check(&long).line(), "s REJECTED enclosure.refuted");
    let enough = Limits { expression_bits: 2 * 1024, expression_nodes: 2, ..Limits::default() };
    assert_eq!(check_document(honest.as_bytes(), &enough).exit_code(), 0);
}

/// An interval of less than `2⁻¹²⁰` that holds the place of silu's least value, and a ball around the values at its ends, whose lower end lies
/// 5.39·10⁻⁷⁵ above that value: by mpmath 1.4.1 at 120 digits, and Python's decimal at 200.
#[test]
fn a_ball_around_the_ends_misses_the_least_value_between_them() {
    let ends = [
        "-27189933789702095956450056448278348975/21267647932558653966460912964485513216",
        "-108759735158808383825800225793113395841/85070591730234615865843651857942052864",
    ];
    let mid = "-0.278464542761073795109358739022980155439477488619745765453178105535029375445202286923188552101831560595076771338434469357614855792080585798439076530917";
    let rad = "0.000000000000000000000000000000000000000000000000000000000000000000000000009356137090542567312010738489760848389925509341659408623429393745755264158939";
    let silu: &[Op<'_>] = &[("interval", &[], &ends), ("silu", &[0], &[])];
    let ball = |rad: &str| format!(r#"{{"mid":"{mid}","rad":"{rad}"}}"#);
    refused(silu, &[1], &[&ball(rad)], "enclosure.unproved", "");
    accepted(silu, &[1], &[&ball("1e-31")]);
}

/// exp 5000 = 2^7213.4752… by mpmath 1.3.0: too long to be shown in decimals.
#[test]
fn a_large_value_is_shown_as_a_power_of_two() {
    let ops: &[Op<'_>] = &[("rational", &[], &["5000"]), ("exp", &[0], &[])];
    let verdict = check(&certificate(ops, &[1], &[r#"{"mid":1,"rad":1}"#]));
    assert_eq!(verdict.line(), "s REJECTED enclosure.refuted");
    let text = Report::of(&verdict).text();
    let number =
        text.split(|c: char| c.is_whitespace() || c == ',').find_map(|word| word.split_once("*2^")).expect(&text);
    let (mantissa, exponent): (f64, f64) = (number.0.parse().unwrap(), number.1.trim_end_matches('.').parse().unwrap());
    assert!((mantissa.log2() + exponent - 7213.4752).abs() < 0.0001 && !text.contains('≈'), "{text}");
}
