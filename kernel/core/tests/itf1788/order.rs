//! Comparisons, set operations, and numbers of intervals: exactly, on ends.

use crate::itl::{Assertion, Value};
use crate::operation::{dyadic, rational};
use crate::verdict::{Reason, Refused, Verdict};
use certkern_core::expr::Node;
use certkern_core::interval::Interval;
use certkern_core::num::ieee::{BINARY64, Rounding};
use certkern_core::num::{Ball, Dyadic};
use num_bigint::BigUint;
use num_traits::One;
use std::cmp::Ordering;

/// The interval of a value; `None` if it has an infinite end or is none.
fn interval(value: &Value) -> Option<Interval> {
    match value {
        Value::Interval(lower, upper, _) if lower.is_finite() && upper.is_finite() => {
            Some(Interval { lower: dyadic(*lower), upper: dyadic(*upper) })
        }
        Value::Empty(_) => Some(Interval { lower: Dyadic::new(1, 0), upper: Dyadic::zero() }),
        _ => None,
    }
}

/// Why an argument has no place here.
fn apart(value: &Value, empty: bool) -> Option<Reason> {
    match value {
        Value::Nai => Some(Reason::Decoration),
        Value::Empty(_) if !empty => Some(Reason::Empty),
        Value::Interval(lower, upper, _) if lower.is_infinite() || upper.is_infinite() => Some(Reason::Unbounded),
        Value::Number(number) if !number.is_finite() => Some(Reason::Unbounded),
        Value::Numbers(numbers) if numbers.iter().any(|number| !number.is_finite()) => Some(Reason::Unbounded),
        _ => None,
    }
}

fn must(holds: bool) -> Result<Verdict, String> {
    if holds { Ok(Verdict::Holds) } else { Err("it does not hold".to_owned()) }
}

/// An exact number as a double, with the bits of a magnitude.
fn rounded(exact: &Dyadic, rounding: Rounding) -> f64 {
    let size = BINARY64.round(exact.mantissa().magnitude(), &BigUint::one(), exact.exponent(), rounding);
    let size = f64::from_bits(size.bits);
    if exact.is_negative() { -size } else { size }
}

/// An assertion about comparisons, sets or numbers; `None` for another operation.
pub(crate) fn check(assertion: &Assertion) -> Option<Result<Verdict, String>> {
    let operation = assertion.operation.as_str();
    let check = match operation {
        "isEmpty" | "isSingleton" | "isCommonInterval" | "isEntire" | "isMember" | "equal" | "subset" | "interior"
        | "disjoint" | "less" | "precedes" | "strictLess" | "strictPrecedes" => truth,
        "overlap" => overlap,
        "intersection" | "convexHull" => set,
        "inf" | "sup" | "mid" | "rad" | "midRad" | "mag" | "mig" | "wid" => numbers,
        "sum_nearest" | "sum_abs_nearest" | "sum_sqr_nearest" | "dot_nearest" => reduction,
        "b-numsToInterval" | "d-numsToInterval" => constructor,
        _ => return None,
    };
    let empty = matches!(operation, "isEmpty" | "intersection");
    let apart = assertion.arguments.iter().find_map(|argument| apart(argument, empty));
    Some(apart.map_or_else(|| check(assertion), |reason| Ok(Verdict::Apart(reason))))
}

/// IEEE 1788-2015, table 10.3 and section 10.6.3: the seven comparisons are those of ends.
fn truth(assertion: &Assertion) -> Result<Verdict, String> {
    let intervals: Vec<Interval> = assertion.arguments.iter().filter_map(interval).collect();
    let found = match (assertion.operation.as_str(), intervals.as_slice()) {
        ("isEmpty", [a]) => a.is_empty(),
        ("isSingleton", [a]) => *a == Interval::point(a.lower.clone()),
        // Every interval that has a place here is common and has two ends.
        ("isCommonInterval", [a]) => !a.is_empty(),
        ("isEntire", [_]) => false,
        ("isMember", [a]) => {
            let [Value::Number(number), _] = assertion.arguments.as_slice() else { return Err("no number".to_owned()) };
            !a.clone().meet(Interval::point(dyadic(*number))).is_empty()
        }
        ("equal", [a, b]) => a == b,
        ("subset", [a, b]) => {
            let met = a.clone().meet(b.clone()) == *a;
            if met != (b.lower <= a.lower && a.upper <= b.upper) {
                return Err("the meet is not that of the ends".to_owned());
            }
            met
        }
        ("interior", [a, b]) => b.lower < a.lower && a.upper < b.upper,
        ("disjoint", [a, b]) => a.clone().meet(b.clone()).is_empty(),
        ("less", [a, b]) => a.lower <= b.lower && a.upper <= b.upper,
        ("precedes", [a, b]) => a.upper <= b.lower,
        ("strictLess", [a, b]) => a.lower < b.lower && a.upper < b.upper,
        ("strictPrecedes", [a, b]) => a.upper < b.lower,
        _ => return Err("other arguments".to_owned()),
    };
    must(assertion.results == [Value::Word(found.to_string())])
}

/// IEEE 1788-2015, table 10.5: thirteen ways in which two intervals lie.
fn overlap(assertion: &Assertion) -> Result<Verdict, String> {
    let intervals: Vec<Interval> = assertion.arguments.iter().filter_map(interval).collect();
    let [a, b] = intervals.as_slice() else { return Err("two intervals".to_owned()) };
    let touch = |first: &Interval, second: &Interval, names: [&'static str; 3]| match first.upper.cmp(&second.lower) {
        Ordering::Less => names[0],
        Ordering::Equal => names[1],
        Ordering::Greater => names[2],
    };
    let found = match (a.lower.cmp(&b.lower), a.upper.cmp(&b.upper)) {
        (Ordering::Less, Ordering::Less) => touch(a, b, ["before", "meets", "overlaps"]),
        (Ordering::Greater, Ordering::Greater) => touch(b, a, ["after", "metBy", "overlappedBy"]),
        (Ordering::Equal, Ordering::Less) => "starts",
        (Ordering::Greater, Ordering::Less) => "containedBy",
        (Ordering::Greater, Ordering::Equal) => "finishes",
        (Ordering::Equal, Ordering::Equal) => "equals",
        (Ordering::Less, Ordering::Equal) => "finishedBy",
        (Ordering::Less, Ordering::Greater) => "contains",
        (Ordering::Equal, Ordering::Greater) => "startedBy",
    };
    must(assertion.results == [Value::Word(found.to_owned())])
}

fn set(assertion: &Assertion) -> Result<Verdict, String> {
    let intervals: Vec<Interval> = assertion.arguments.iter().filter_map(interval).collect();
    let ([a, b], [result]) = (intervals.as_slice(), assertion.results.as_slice()) else {
        return Err("two intervals".to_owned());
    };
    let (a, b) = (a.clone(), b.clone());
    let found = if assertion.operation == "intersection" {
        a.meet(b)
    } else {
        Interval { lower: a.lower.min(b.lower), upper: a.upper.max(b.upper) }
    };
    must(match result {
        Value::Empty(_) => found.is_empty(),
        result => interval(result) == Some(found),
    })
}

/// Ends, midpoint, radius and sizes, exact here and rounded there. The radius there is that of the rounded midpoint, so that it may be larger.
fn numbers(assertion: &Assertion) -> Result<Verdict, String> {
    let [argument] = assertion.arguments.as_slice() else { return Err("one interval".to_owned()) };
    let Interval { lower, upper } = interval(argument).ok_or("no interval")?;
    let ball = Ball::between(&lower, &upper).ok_or("no ball")?;
    let size = |x: &Dyadic| x.clone().max(-x);
    let middle = rounded(ball.midpoint(), Rounding::Nearest);
    let radius = rounded(ball.radius(), Rounding::AwayFromZero);
    let is_radius = |found: f64| {
        let exact = dyadic(middle) == *ball.midpoint();
        if exact { found == radius } else { found >= radius && rational(found) <= (&upper - &lower).to_rational() }
    };
    let results: Vec<f64> = assertion
        .results
        .iter()
        .filter_map(|value| if let Value::Number(n) = value { Some(*n) } else { None })
        .collect();
    must(match (assertion.operation.as_str(), results.as_slice()) {
        ("inf", [found]) => dyadic(*found) == lower,
        ("sup", [found]) => dyadic(*found) == upper,
        ("mid", [found]) => *found == middle,
        ("rad", [found]) => is_radius(*found),
        ("midRad", [found, radius]) => *found == middle && is_radius(*radius),
        ("mag", [found]) => dyadic(*found) == size(&lower).max(size(&upper)),
        ("mig", [found]) => {
            let straddles = !lower.is_positive() && !upper.is_negative();
            let least = if straddles { Dyadic::zero() } else { size(&lower).min(size(&upper)) };
            dyadic(*found) == least
        }
        ("wid", [found]) => *found == rounded(&(&upper - &lower), Rounding::AwayFromZero),
        _ => false,
    })
}

/// Sums are exact here, and rounded once at the end.
fn reduction(assertion: &Assertion) -> Result<Verdict, String> {
    let vectors: Vec<Vec<Dyadic>> = assertion
        .arguments
        .iter()
        .filter_map(|value| if let Value::Numbers(numbers) = value { Some(numbers) } else { None })
        .map(|numbers| numbers.iter().map(|number| dyadic(*number)).collect())
        .collect();
    let term = |x: &Dyadic, y: &Dyadic| match assertion.operation.as_str() {
        "sum_nearest" => x.clone(),
        "sum_abs_nearest" => x.clone().max(-x),
        _ => x * y,
    };
    let (first, last) = (vectors.first().ok_or("no vector")?, vectors.last().ok_or("no vector")?);
    let sum = first.iter().zip(last).fold(Dyadic::zero(), |sum, (x, y)| sum + term(x, y));
    must(assertion.results == [Value::Number(rounded(&sum, Rounding::Nearest))])
}

fn constructor(assertion: &Assertion) -> Result<Verdict, String> {
    let [Value::Number(lower), Value::Number(upper)] = assertion.arguments.as_slice() else {
        return Err("two numbers".to_owned());
    };
    let node = Node::new("interval", Vec::new(), vec![rational(*lower), rational(*upper)]);
    let ball = Ball::between(&dyadic(*lower), &dyadic(*upper));
    match (assertion.results.as_slice(), node, ball) {
        ([Value::Interval(a, b, _)], Ok(node), Some(ball)) => {
            let ends = (dyadic(*a), dyadic(*b));
            must(node.numbers() == [rational(*a), rational(*b)] && (ball.lower(), ball.upper()) == ends)
        }
        ([Value::Empty(_) | Value::Nai], Err(_), None) => Ok(Verdict::Refused(Refused::NoInterval)),
        _ => Err("it is not refused where it must be".to_owned()),
    }
}
