//! Assertions about ranges of operations and functions.

use crate::hull::{Hull, enclosed, image, linear, undefined};
use crate::itl::{Assertion, Decoration, Value};
use crate::operation::{Ends, dyadic, expression, function, is_exact, is_parameter, rational};
use crate::verdict::{Reason, Refused, Verdict};
use certkern_core::interval::Interval;
use certkern_core::num::Rational;
use num_traits::{One, Signed, Zero};

/// An assertion whose arguments are intervals and whose result is one.
///
/// # Errors
/// How it fails.
pub(crate) fn check(assertion: &Assertion) -> Result<Verdict, String> {
    let (mut arguments, mut worst, mut n) = (Vec::new(), Some(Decoration::Com), None);
    for argument in &assertion.arguments {
        match argument {
            Value::Nai => return Ok(Verdict::Apart(Reason::Decoration)),
            Value::Empty(_) => return Ok(Verdict::Apart(Reason::Empty)),
            Value::Interval(lower, upper, _) if lower.is_infinite() || upper.is_infinite() => {
                return Ok(Verdict::Apart(Reason::Unbounded));
            }
            Value::Interval(lower, upper, decoration) => {
                arguments.push(Ends::new(*lower, *upper));
                worst = worst.min(*decoration);
            }
            Value::Number(number) => n = Some(rational(*number)),
            other => return Err(format!("{other:?} for an interval")),
        }
    }
    let operation = assertion.operation.as_str();
    let [result] = assertion.results.as_slice() else { return Err("more than one result".to_owned()) };
    let (hull, decoration) = match result {
        Value::Interval(lower, upper, decoration) => (Some(Hull { lower: *lower, upper: *upper }), *decoration),
        Value::Empty(decoration) => (None, *decoration),
        other => return Err(format!("{other:?} for a range")),
    };
    if matches!(operation, "min" | "max") {
        return extremes(operation, &assertion.arguments, hull.ok_or("an empty range")?);
    }
    let Some(expressions) = expression(operation, &arguments, n.as_ref()) else {
        let known = operation == "atan2";
        return if known { Ok(Verdict::Apart(Reason::Angle)) } else { Err("it is not known".to_owned()) };
    };
    let unbounded = hull.as_ref().is_some_and(|hull| hull.lower.is_infinite() && hull.upper.is_infinite());
    let refused = refusal(operation, &arguments, n.as_ref(), unbounded);
    // From arguments on which nothing is amiss, the result says whether the operation is defined on all of them.
    let told = (worst.is_some_and(|worst| worst > Decoration::Trv)).then_some(decoration).flatten();
    if told.is_some_and(|told| (told == Decoration::Trv) != (refused == Some(Refused::Undefined)))
        && refused != Some(Refused::Power)
    {
        return Err(format!("{told:?}, but the refusal is {refused:?}"));
    }
    let [x, ..] = arguments.as_slice() else { return Err("no argument".to_owned()) };
    let function = function(operation, n.as_ref());
    if let Some(refused) = refused {
        return undefined(&expressions, function.as_ref(), x).map(|()| Verdict::Refused(refused));
    }
    let hull = hull.ok_or("an empty range of an operation that is defined")?;
    enclosed(&expressions, &hull, is_exact(operation))?;
    if let Some(function) = function {
        image(&function, x, &hull)?;
    }
    linear(operation, &arguments, &hull)?;
    Ok(Verdict::Holds)
}

/// Why the operation must be refused on these arguments: the domains of IEEE 1788-2015, table 9.1, and what is narrower here. That of `tan` is
/// told by the suite: an unbounded range.
pub(crate) fn refusal(operation: &str, arguments: &[Ends], n: Option<&Rational>, unbounded: bool) -> Option<Refused> {
    let one = Rational::one();
    let defined = match (operation, arguments) {
        ("recip", [x]) => !x.has_zero(),
        ("div", [_, y]) => !y.has_zero(),
        ("pown", [x]) => !n.is_some_and(Signed::is_negative) || !x.has_zero(),
        ("sqrt", [x]) => !x.lower.is_negative(),
        ("log" | "log2" | "log10", [x]) => x.lower.is_positive(),
        ("asin" | "acos", [x]) => x.lower >= -&one && x.upper <= one,
        ("atanh", [x]) => x.lower > -&one && x.upper < one,
        ("acosh", [x]) => x.lower >= one,
        ("tan", [_]) => !unbounded,
        ("pow", [x, y]) => {
            if x.lower.is_zero() && y.lower.is_positive() && !is_parameter(y) {
                return Some(Refused::Power);
            }
            x.lower.is_positive() || x.lower.is_zero() && y.lower.is_positive()
        }
        _ => true,
    };
    (!defined).then_some(Refused::Undefined)
}

/// `min` and `max` of intervals are those of their ends.
fn extremes(operation: &str, arguments: &[Value], hull: Hull) -> Result<Verdict, String> {
    let [Value::Interval(a, b, _), Value::Interval(c, d, _)] = arguments else {
        return Err("two intervals".to_owned());
    };
    let pick = |x: f64, y: f64| {
        let (x, y) = (dyadic(x), dyadic(y));
        if operation == "min" { x.min(y) } else { x.max(y) }
    };
    let exact = Interval { lower: pick(*a, *c), upper: pick(*b, *d) };
    if exact != (Interval { lower: dyadic(hull.lower), upper: dyadic(hull.upper) }) {
        return Err(format!("{operation} is {exact:?}"));
    }
    Ok(Verdict::Holds)
}
