//! Ranges of operations and functions against the tightest intervals of doubles around them, which the suite has.

use crate::itl::{Assertion, Decoration, Value};
use crate::operation::{Ends, dyadic, expression, function, is_exact, rational, refusal};
use crate::verdict::{Reason, Refused, Verdict};
use certkern_core::expr::Expressions;
use certkern_core::func::{Elementary, Refusal};
use certkern_core::interval::Interval;
use certkern_core::num::{Ball, Dyadic};
use certkern_core::rules::{ClaimedBall, Enclosure, Unenclosed};
use std::sync::Arc;

/// The bits that functions are computed to, and the most that ENCLOSE may use.
const BITS: u64 = 250;

/// The tightest interval of doubles around a range.
struct Hull {
    lower: f64,
    upper: f64,
}

/// The exponent of what stands for infinity where a claim must be finite.
const BEYOND: i64 = 20_000;

fn beyond() -> Dyadic {
    Dyadic::new(1, BEYOND)
}

impl Hull {
    /// As lower ends: one that surely holds, also for a range that touches it and is known to `BITS` only, and one that is too high.
    fn lower_ends(&self, exact: bool) -> (Option<Dyadic>, Option<Dyadic>) {
        let (upper, high) = Self { lower: -self.upper, upper: -self.lower }.upper_ends(exact);
        (upper.map(|upper| -upper), high.map(|high| -high))
    }

    /// As upper ends: one that surely holds, and one that is too low; none where the suite does not say how far the range reaches beyond the largest double.
    fn upper_ends(&self, exact: bool) -> (Option<Dyadic>, Option<Dyadic>) {
        if self.upper == f64::INFINITY {
            return (None, Some(dyadic(f64::MAX)));
        }
        let end = dyadic(self.upper);
        let below = self.upper.next_down();
        if below == f64::NEG_INFINITY {
            return (Some(end), None);
        }
        let step = &(&end - &dyadic(below)) * &Dyadic::new(1, -60);
        (Some(if exact { end } else { end + step }), Some(dyadic(below)))
    }

    /// Whether an interval reaches as far as this one, and no farther, up to what is not known at `BITS`.
    fn is_met(&self, found: &Interval, exact: bool) -> bool {
        let Interval { lower, upper } = found;
        let ((least, high), (most, low)) = (self.lower_ends(exact), self.upper_ends(exact));
        let inside = least.is_none_or(|least| *lower >= least) && most.is_none_or(|most| *upper <= most);
        inside && high.is_none_or(|high| *lower < high) && low.is_none_or(|low| *upper > low)
    }
}

fn claim(expressions: &Arc<Expressions>, lower: &Dyadic, upper: &Dyadic) -> Result<(), Unenclosed> {
    let ball = Ball::between(lower, upper).unwrap();
    let ball = ClaimedBall { midpoint: ball.midpoint().to_rational(), radius: ball.radius().to_rational() };
    Enclosure::prove(expressions.clone(), vec![ball], BITS).map(drop).map_err(|(_, why)| why)
}

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
    let expressions = match expression(operation, &arguments, n.clone()) {
        Some(Ok(expressions)) => Arc::new(expressions),
        Some(Err(reason)) => return Ok(Verdict::Apart(reason)),
        None => return Err("an operation that is not known".to_owned()),
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
    if let Some(refused) = refused {
        return undefined(operation, &expressions, &arguments).map(|()| Verdict::Refused(refused));
    }
    let hull = hull.ok_or("an empty range of an operation that is defined")?;
    enclosed(&expressions, &hull, is_exact(operation))?;
    if let (Some(name), [x]) = (function(operation), arguments.as_slice()) {
        image(name, x, &hull)?;
    }
    linear(operation, &assertion.arguments, &hull)?;
    Ok(Verdict::Holds)
}

/// ENCLOSE proves the suite's interval, and neither of the two that lack a last step at one end.
fn enclosed(expressions: &Arc<Expressions>, hull: &Hull, exact: bool) -> Result<(), String> {
    let ((least, high), (most, low)) = (hull.lower_ends(exact), hull.upper_ends(exact));
    let is_finite = least.is_some() && most.is_some();
    let (lower, upper) = (least.unwrap_or_else(|| -beyond()), most.unwrap_or_else(beyond));
    match claim(expressions, &lower, &upper) {
        Ok(()) => {}
        // `sinh` of 10^12.
        Err(Unenclosed::Refuted { lower: (_, exponent), .. }) if !is_finite && exponent > BEYOND => {}
        Err(why) => return Err(format!("the range is not proved: {why:?}")),
    }
    let wrong = |end: &str, lower: &Dyadic, upper: &Dyadic| match claim(expressions, lower, upper) {
        Ok(()) => Err(format!("a range without its {end} end is proved")),
        Err(Unenclosed::Refuted { .. } | Unenclosed::Unproved) => Ok(()),
        Err(why) => Err(format!("a range without its {end} end: {why:?}")),
    };
    if let Some(high) = high.filter(|high| *high <= upper) {
        wrong("lower", &high, &upper)?;
    }
    if let Some(low) = low.filter(|low| lower <= *low) {
        wrong("upper", &lower, &low)?;
    }
    Ok(())
}

fn interval(ends: &Ends) -> Interval {
    Interval::around(&ends.lower, &ends.upper)
}

/// The same of the enclosure that the library itself gives.
fn image(name: &str, x: &Ends, hull: &Hull) -> Result<(), String> {
    let function = Elementary::new(name, Vec::new()).ok_or("no such function")?;
    match function.image(&interval(x), BITS) {
        Ok(image) if function.is_defined_on(&interval(x)) && hull.is_met(&image, false) => Ok(()),
        other => Err(format!("the image is {other:?}")),
    }
}

/// ENCLOSE says that a node is not defined, and so does the function, whatever is claimed.
fn undefined(operation: &str, expressions: &Arc<Expressions>, arguments: &[Ends]) -> Result<(), String> {
    match claim(expressions, &-beyond(), &beyond()) {
        Err(Unenclosed::Undefined(_)) => {}
        other => return Err(format!("for a refusal {other:?}")),
    }
    if let (Some(name), [x]) = (function(operation), arguments) {
        let function = Elementary::new(name, Vec::new()).ok_or("no such function")?;
        if function.is_defined_on(&interval(x)) || function.image(&interval(x), BITS) != Err(Refusal::Undefined) {
            return Err(format!("{name} is defined"));
        }
    }
    Ok(())
}

/// Intervals and balls have sums, negatives and multiples of their own, which are exact.
fn linear(operation: &str, arguments: &[Value], hull: &Hull) -> Result<(), String> {
    let ends = |value: &Value| match value {
        Value::Interval(lower, upper, _) => Some((dyadic(*lower), dyadic(*upper))),
        _ => None,
    };
    let arguments: Vec<(Dyadic, Dyadic)> = arguments.iter().filter_map(ends).collect();
    let both = |(lower, upper): &(Dyadic, Dyadic)| {
        let interval = Interval { lower: lower.clone(), upper: upper.clone() };
        Ball::between(lower, upper).map(|ball| (interval, ball)).ok_or("no ball")
    };
    let minus = Dyadic::new(-1, 0);
    let (interval, ball) = match (operation, arguments.as_slice()) {
        ("pos", [x]) => both(x)?,
        ("neg", [x]) => {
            let (interval, ball) = both(x)?;
            (interval.times(&minus), ball.negated())
        }
        ("add", [x, y]) => {
            let ((a, b), (c, d)) = (both(x)?, both(y)?);
            (a.plus(&c), b.plus(&d))
        }
        ("sub", [x, y]) => {
            let ((a, b), (c, d)) = (both(x)?, both(y)?);
            (a.plus(&c.times(&minus)), b.plus(&d.negated()))
        }
        ("mul", [x, y]) if x.0 == x.1 || y.0 == y.1 => {
            let (factor, other) = if x.0 == x.1 { (&x.0, y) } else { (&y.0, x) };
            let (interval, ball) = both(other)?;
            (interval.times(factor), ball.times(factor))
        }
        _ => return Ok(()),
    };
    if (&interval.lower, &interval.upper) != (&ball.lower(), &ball.upper()) {
        return Err(format!("{interval:?} and {ball:?}"));
    }
    if hull.is_met(&interval, true) { Ok(()) } else { Err(format!("exactly {interval:?}")) }
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
