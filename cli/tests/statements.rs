//! What a report says in decimals follows from what was proved: its sentences round outward, exactly compared.

use crate::support::{certkern, text};
use certkern_core::num::Rational;
use certkern_wire::Limits;
use certkern_wire::number::rational_text;
use num_traits::{Signed, Zero};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn number(text: &str) -> Rational {
    rational_text(text, &Limits { exponent: 10_000, ..Limits::default() }).unwrap_or_else(|_| panic!("{text}"))
}

/// The report of an accepted case.
fn report(case: &Path) -> Value {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("report.json");
    let run = certkern(["check", text(case), "--quiet", "--report", text(&path)]);
    assert_eq!(run.code, 0, "{}: {}", case.display(), run.stderr);
    // The second line is the verdict.
    let said: Value = serde_json::from_str(fs::read_to_string(path).unwrap().lines().next().unwrap()).unwrap();
    said["report"].clone()
}

/// The accepted cases of a kind.
fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../certs/accept").join(kind);
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// What stands between two marks, and what comes after the second.
fn between<'a>(text: &'a str, first: &str, second: &str) -> (&'a str, &'a str) {
    let (_, rest) = text.split_once(first).unwrap_or_else(|| panic!("{first} in {text}"));
    rest.split_once(second).unwrap_or_else(|| panic!("{second} in {rest}"))
}

/// Whether every number of the ball of the claim satisfies what the statement says of value `place`.
fn balls_hold(statement: &str, balls: &[(Rational, Rational)]) -> usize {
    for (place, (mid, rad)) in balls.iter().take(4).enumerate() {
        let exact = format!("value {place} = {mid}");
        if statement.contains(&format!("{exact},")) || statement.contains(&format!("{exact}.")) {
            assert!(rad.is_zero(), "{statement}");
            continue;
        }
        let (middle, rest) = between(statement, &format!("|value {place} − ("), ")| ≤ ");
        let radius = rest.split(", ").next().unwrap().trim_end_matches('.');
        let (middle, radius) = (number(middle), number(radius));
        assert!((mid - middle).abs() + rad <= radius, "{statement}");
        // Not wider than a reader would take for rounding.
        assert!(radius <= rad * Rational::new(12.into(), 10.into()) + mid.abs() * number("1e-20"), "{statement}");
    }
    balls.len().min(4)
}

#[test]
fn balls_in_words_hold_the_balls_of_the_claim() {
    let mut seen = 0;
    for case in cases("enclosure") {
        let report = report(&case);
        let exact = |value: &Value, name: &str| number(value[name].as_str().unwrap());
        let balls: Vec<_> =
            report["values"].as_array().unwrap().iter().map(|v| (exact(v, "mid"), exact(v, "rad"))).collect();
        seen += balls_hold(report["statement"].as_str().unwrap(), &balls);
    }
    assert!(seen > 8, "{seen}");
}

#[test]
fn a_statement_that_rounds_inward_is_seen() {
    let (third, zero) = (Rational::new(1.into(), 3.into()), Rational::zero());
    let holds = |text: &str, ball: (&Rational, &Rational)| {
        std::panic::catch_unwind(|| balls_hold(text, &[(ball.0.clone(), ball.1.clone())])).is_ok()
    };
    assert!(holds("ball: |value 0 − (0.333333333333333333333)| ≤ 3.4e-22.", (&third, &zero)));
    assert!(!holds("ball: |value 0 − (3.333333333333333e-1)| ≤ 0e0.", (&third, &zero)));
    assert!(!holds("ball: |value 0 − (3.333333333333333e-1)| ≤ 1e-17.", (&third, &zero)));
}

#[test]
fn bounds_in_words_are_no_tighter_than_those_of_the_claim() {
    let mut seen = 0;
    for case in cases("bound") {
        let report = report(&case);
        let mut statement = report["statement"].as_str().unwrap();
        for (place, bound) in report["bounds"].as_array().unwrap().iter().take(4).enumerate() {
            let mark = format!(" ≤ F(x)[{place}] ≤ ");
            let (before, after) = statement.split_once(&mark).unwrap_or_else(|| panic!("{mark} in {statement}"));
            let low = before.rsplit([' ', ',', ':']).next().unwrap();
            let high = after.split(", ").next().unwrap().trim_end_matches('.');
            let exact = |name: &str| number(bound[name].as_str().unwrap());
            assert!(number(low) <= exact("lower") && exact("upper") <= number(high), "{statement}");
            assert!(exact("lower") - number(low) <= exact("lower").abs() * number("1e-16"), "{statement}");
            statement = after;
            seen += 1;
        }
    }
    assert!(seen > 6, "{seen}");
}
