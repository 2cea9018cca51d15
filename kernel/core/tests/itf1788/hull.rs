//! Ranges of operations and functions against the tightest intervals of doubles around them, which others have computed.

use crate::operation::{Ends, dyadic};
use certkern_core::expr::Expressions;
use certkern_core::func::{Elementary, Refusal};
use certkern_core::interval::Interval;
use certkern_core::num::{Ball, Dyadic};
use certkern_core::rules::{ClaimedBall, Enclosure, Unenclosed};
use std::sync::Arc;

/// The bits that functions are computed to, and the most that ENCLOSE may use for what it must not prove.
const BITS: u64 = 250;
/// The most that it may use for what it must prove: `π/2 − atan(x/y)` near 0 loses as many as the quotient has before the point.
const MOST_BITS: u64 = 1 << 12;

/// The tightest interval of doubles around a range.
pub(crate) struct Hull {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
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

    /// As upper ends: one that surely holds, and one that is too low; none where nothing says how far the range reaches beyond the largest double.
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
        let (least, most) = (self.lower_ends(exact).0, self.upper_ends(exact).0);
        let inside = least.is_none_or(|least| found.lower >= least) && most.is_none_or(|most| found.upper <= most);
        inside && self.is_reached(found)
    }

    /// Whether an interval reaches as far as this one, into its last steps.
    fn is_reached(&self, found: &Interval) -> bool {
        let (high, low) = (self.lower_ends(true).1, self.upper_ends(true).1);
        high.is_none_or(|high| found.lower < high) && low.is_none_or(|low| found.upper > low)
    }
}

/// Why ENCLOSE does not prove that the range lies from `lower` to `upper`; `None` if it does.
fn fault(expressions: &Arc<Expressions>, lower: &Dyadic, upper: &Dyadic, budget: u64) -> Option<Unenclosed> {
    let ball = Ball::between(lower, upper).unwrap();
    let ball = ClaimedBall { midpoint: ball.midpoint().to_rational(), radius: ball.radius().to_rational() };
    Enclosure::prove(expressions.clone(), vec![ball], budget).err().map(|(_, why)| why)
}

/// ENCLOSE proves the interval, and neither of the two that lack a last step at one end.
pub(crate) fn enclosed(expressions: &Arc<Expressions>, hull: &Hull, exact: bool) -> Result<(), String> {
    let ((least, high), (most, low)) = (hull.lower_ends(exact), hull.upper_ends(exact));
    let is_finite = least.is_some() && most.is_some();
    let (lower, upper) = (least.unwrap_or_else(|| -beyond()), most.unwrap_or_else(beyond));
    match fault(expressions, &lower, &upper, MOST_BITS) {
        None => {}
        // `sinh` of 10^12.
        Some(Unenclosed::Refuted { lower: (_, exponent), .. }) if !is_finite && exponent > BEYOND => {}
        Some(why) => return Err(format!("the range is not proved: {why:?}")),
    }
    let wrong = |end: &str, lower: &Dyadic, upper: &Dyadic| match fault(expressions, lower, upper, BITS) {
        None => Err(format!("a range without its {end} end is proved")),
        Some(Unenclosed::Refuted { .. } | Unenclosed::Unproved) => Ok(()),
        Some(why) => Err(format!("a range without its {end} end: {why:?}")),
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

/// The same of the enclosure that a function of the library itself gives; where it has few bits, it may be wider.
pub(crate) fn image(function: &Elementary, x: &Ends, hull: &Hull) -> Result<(), String> {
    let z = interval(x);
    if !function.is_defined_on(&z) {
        return Err("it is not defined".to_owned());
    }
    for bits in [20, 53, BITS] {
        match function.image(&z, bits) {
            Ok(image) if hull.is_met(&image, false) || bits < BITS && hull.is_reached(&image) => {}
            other => return Err(format!("the image at {bits} bits is {other:?}")),
        }
    }
    Ok(())
}

/// ENCLOSE says that a node is not defined, whatever is claimed, and so does the function.
pub(crate) fn undefined(expressions: &Arc<Expressions>, function: Option<&Elementary>, x: &Ends) -> Result<(), String> {
    match fault(expressions, &-beyond(), &beyond(), BITS) {
        Some(Unenclosed::Undefined(_)) => {}
        other => return Err(format!("for a refusal {other:?}")),
    }
    let z = interval(x);
    let defined = |function: &Elementary| {
        function.is_defined_on(&z) || [20, BITS].iter().any(|bits| function.image(&z, *bits) != Err(Refusal::Undefined))
    };
    if function.is_some_and(defined) { Err("the function is defined".to_owned()) } else { Ok(()) }
}

/// Intervals and balls have sums, negatives and multiples of their own, which are exact.
pub(crate) fn linear(operation: &str, arguments: &[Ends], hull: &Hull) -> Result<(), String> {
    let minus = Dyadic::new(-1, 0);
    let ball = |x: &Interval| Ball::between(&x.lower, &x.upper).ok_or("no ball");
    let arguments: Vec<Interval> = arguments.iter().map(interval).collect();
    let (interval, ball) = match (operation, arguments.as_slice()) {
        ("pos", [x]) => (x.clone(), ball(x)?),
        ("neg", [x]) => (x.times(&minus), ball(x)?.negated()),
        ("add", [x, y]) => (x.plus(y), ball(x)?.plus(&ball(y)?)),
        ("sub", [x, y]) => (x.plus(&y.times(&minus)), ball(x)?.plus(&ball(y)?.negated())),
        ("mul", [x, y]) if x.lower == x.upper => (y.times(&x.lower), ball(y)?.times(&x.lower)),
        ("mul", [x, y]) if y.lower == y.upper => (x.times(&y.lower), ball(x)?.times(&y.lower)),
        _ => return Ok(()),
    };
    if (&interval.lower, &interval.upper) != (&ball.lower(), &ball.upper()) {
        return Err(format!("{interval:?} and {ball:?}"));
    }
    if hull.is_met(&interval, true) { Ok(()) } else { Err(format!("exactly {interval:?}")) }
}
