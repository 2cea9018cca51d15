//! UNIVARIATE and LINES: a lower and an upper line of a univariate function over proved bounds.
//!
//! A certificate gives slopes, never intercepts: UNIVARIATE computes these from the slope that was stored, and they are rounded outward.

use super::RuleError;
use super::univariate::{lower_intercept, upper_intercept};
use crate::func::{Function, Piece, Univariate};
use crate::interval::Interval;
use crate::num::{Dyadic, Planes};
use num_integer::Integer;
use num_traits::ToPrimitive;

/// Slopes are multiples of `2^SLOPE_EXPONENT`: any slope is a legitimate slope, so rounding one costs no soundness.
pub(super) const SLOPE_EXPONENT: i64 = -40;

/// Digits that intercepts keep before they are rounded outward.
const INTERCEPT_DIGITS: usize = 4;

/// A lower and an upper line for each coordinate.
#[derive(Debug)]
pub(super) struct Lines {
    /// Multiples of `2^SLOPE_EXPONENT`.
    pub(super) lower_slopes: Vec<i64>,
    /// Multiples of `2^SLOPE_EXPONENT`.
    pub(super) upper_slopes: Vec<i64>,
    /// Rounded down.
    pub(super) lower_intercepts: Planes,
    /// Rounded up.
    pub(super) upper_intercepts: Planes,
}

impl Lines {
    /// Lines of `function` over `bounds`; `given` are slopes of lower lines by ascending coordinate. A coordinate on which the function
    /// is linear ignores its slope.
    pub(super) fn new(function: Function, bounds: &[Interval], given: &[(usize, Dyadic)]) -> Result<Self, RuleError> {
        let pieces = function.pieces();
        let mut given = given.iter().peekable();
        let mut lower_slopes = Vec::with_capacity(bounds.len());
        let mut upper_slopes = Vec::with_capacity(bounds.len());
        let mut lower = Vec::with_capacity(bounds.len());
        let mut upper = Vec::with_capacity(bounds.len());
        for (coordinate, interval) in bounds.iter().enumerate() {
            let slope = given.next_if(|(at, _)| *at == coordinate).map(|(_, slope)| slope);
            let (low, high) = slopes(function, interval, slope);
            let (below, above) = intercepts(function, &pieces, (low, high), interval)
                .ok_or(RuleError::Internal("pieces that do not cover the line"))?;
            lower.push(below);
            upper.push(above);
            lower_slopes.push(low);
            upper_slopes.push(high);
        }
        if given.peek().is_some() {
            return Err(RuleError::NoSuch("coordinate of a slope, or slopes out of order"));
        }
        let lower_intercepts = Planes::floor(&lower, INTERCEPT_DIGITS);
        let upper_intercepts = Planes::ceil(&upper, INTERCEPT_DIGITS);
        Ok(Self { lower_slopes, upper_slopes, lower_intercepts, upper_intercepts })
    }
}

/// The slopes of the lower and of the upper line.
fn slopes(function: Function, interval: &Interval, given: Option<&Dyadic>) -> (i64, i64) {
    let Interval { lower, upper } = interval;
    if let Some(slope) = function.linear_slope(lower, upper) {
        return (quantized(&slope), quantized(&slope));
    }
    let low = given.cloned().unwrap_or_else(|| function.default_lower_slope(lower, upper));
    // Any slope will do, so the sums may be shortened.
    let rise = function.value(upper).sum_down(&-function.value(lower));
    (quantized(&low), quantized(&chord(&rise, &upper.sum_down(&-lower))))
}

/// The intercepts of the lower and of the upper line with these slopes.
fn intercepts(
    function: Function,
    pieces: &[Piece],
    (low, high): (i64, i64),
    interval: &Interval,
) -> Option<(Dyadic, Dyadic)> {
    let (low, high) = (Dyadic::new(low, SLOPE_EXPONENT), Dyadic::new(high, SLOPE_EXPONENT));
    let Interval { lower, upper } = interval;
    if low == high && function.linear_slope(lower, upper).as_ref() == Some(&low) {
        // The function is this line: f(z) = f(l) + s·(z − l).
        let intercept = &function.value(lower) - &(&low * lower);
        return Some((intercept.clone(), intercept));
    }
    let below = lower_intercept(&function, pieces, &low, interval)?;
    Some((below, upper_intercept(&function, pieces, &high, interval)?))
}

/// `⌊rise / run⌋` in units of `2^SLOPE_EXPONENT`; zero without a run.
fn chord(rise: &Dyadic, run: &Dyadic) -> Dyadic {
    if !run.is_positive() {
        return Dyadic::zero();
    }
    let low = rise.exponent().saturating_add(SLOPE_EXPONENT.saturating_neg()).min(run.exponent());
    let (rise, run) = (rise.floor_at(low.saturating_add(SLOPE_EXPONENT)), run.floor_at(low));
    Dyadic::new(rise.div_floor(&run), SLOPE_EXPONENT)
}

/// The slope as a multiple of `2^SLOPE_EXPONENT` within `±2^52`.
fn quantized(slope: &Dyadic) -> i64 {
    const LIMIT: i64 = 1 << 52;
    const LEAST: i64 = -LIMIT;
    let floor = slope.floor_at(SLOPE_EXPONENT);
    floor.to_i64().map_or(if slope.is_negative() { LEAST } else { LIMIT }, |m| m.clamp(LEAST, LIMIT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::Rational;
    use num_traits::{Signed, Zero};

    /// Seeded dyadics of magnitudes from 2^-300 to 2^300.
    fn numbers(count: usize) -> Vec<Dyadic> {
        let mut state = 1_u64;
        let mut bits = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        (0..count).map(|_| Dyadic::new(bits().max(1), (bits() % 600) as i64 - 353)).collect()
    }

    fn relu(z: &Rational) -> Rational {
        z.clone().max(Rational::zero())
    }

    /// A line lies on its side at the ends and at the kink, and the intercept is the optimum up to 2^-100 of it.
    fn check(slope: i64, intercept: &Dyadic, points: &[Rational], upper: bool) {
        let slope = Dyadic::new(slope, SLOPE_EXPONENT).to_rational();
        let intercept = intercept.to_rational();
        let gaps: Vec<Rational> = points.iter().map(|p| &intercept + &slope * p - relu(p)).collect();
        let best = points.iter().map(|p| relu(p) - &slope * p);
        let best = if upper { best.max() } else { best.min() }.unwrap();
        assert!(gaps.iter().all(|gap| if upper { !gap.is_negative() } else { !gap.is_positive() }));
        // Moved inward by this much, the line would cross the function at the point where it touches.
        let unit = best.abs() * Dyadic::new(1, -100).to_rational();
        assert!((&intercept - &best).abs() <= unit);
    }

    #[test]
    fn relu_lines_hold_and_touch() {
        let numbers = numbers(1200);
        for (place, pair) in numbers.chunks(2).enumerate() {
            for (l, u) in [(-&pair[0], pair[1].clone()), (-&pair[0], Dyadic::zero()), (Dyadic::zero(), pair[1].clone())]
            {
                let given = [(0, Dyadic::new((place % 17) as i64, -4))];
                let interval = Interval { lower: l.clone(), upper: u.clone() };
                let lines = Lines::new(Function::Relu, &[interval], &given).unwrap();
                let points = [l.to_rational(), Rational::zero(), u.to_rational()];
                check(lines.lower_slopes[0], &lines.lower_intercepts.get(0).unwrap(), &points, false);
                check(lines.upper_slopes[0], &lines.upper_intercepts.get(0).unwrap(), &points, true);
            }
        }
    }

    #[test]
    fn slopes_are_rounded_to_multiples_and_the_intercept_follows() {
        // 1/3 rounded down to 40 bits; the chord of [−1, 2] is 2/3, rounded down, and its line touches at 2.
        let third = Dyadic::floor_rational(&Rational::new(1.into(), 3.into()), -90);
        let interval = Interval { lower: Dyadic::new(-1, 0), upper: Dyadic::new(2, 0) };
        let lines = Lines::new(Function::Relu, &[interval], &[(0, third)]).unwrap();
        assert_eq!(lines.lower_slopes, [((1_i64 << 40) - 1) / 3]);
        assert_eq!(lines.upper_slopes, [((1_i64 << 41) - 2) / 3]);
        assert_eq!(lines.lower_intercepts.get(0), Some(Dyadic::zero()));
        let touch = &Dyadic::new(2, 0) - &Dyadic::new(((1_i64 << 41) - 2) / 3, -39);
        assert_eq!(lines.upper_intercepts.get(0), Some(touch));
    }

    #[test]
    fn slopes_beyond_the_ends_of_the_domain_do_not_wrap() {
        assert_eq!(quantized(&Dyadic::new(1, 100)), 1 << 52);
        assert_eq!(quantized(&Dyadic::new(-1, 100)), -(1 << 52));
        assert_eq!(quantized(&Dyadic::new(-1, -100)), -1);
        assert_eq!(chord(&Dyadic::new(1, 0), &Dyadic::zero()), Dyadic::zero());
        assert_eq!(chord(&Dyadic::new(3, -700), &Dyadic::new(1, -699)), Dyadic::new(3, -1));
    }

    #[test]
    fn a_slope_without_its_coordinate_is_refused() {
        let unstable = || Interval { lower: Dyadic::new(-1, 0), upper: Dyadic::new(1, 0) };
        let half = Dyadic::new(1, -1);
        let bounds = [unstable(), unstable()];
        let lines = |given: &[(usize, Dyadic)]| Lines::new(Function::Relu, &bounds, given).is_ok();
        assert!(lines(&[(1, half.clone())]));
        assert!(!lines(&[(2, half.clone())]));
        assert!(!lines(&[(1, half.clone()), (0, half.clone())]));
        assert!(!lines(&[(0, half.clone()), (0, half)]));
    }
}
