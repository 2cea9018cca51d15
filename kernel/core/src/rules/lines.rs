//! UNIVARIATE and LINES: a lower and an upper line of a univariate function over proved bounds.
//!
//! A certificate gives slopes, never intercepts: UNIVARIATE computes these from the slope that was stored, and they are rounded outward.

use super::RuleError;
use super::univariate::{lower_intercept, upper_intercept};
use crate::func::{Function, Piece, Univariate, default_lower_slope};
use crate::interval::Interval;
use crate::num::{Ball, Dyadic, Planes};
use num_integer::Integer;
use num_traits::ToPrimitive;

/// Slopes are multiples of `2^SLOPE_EXPONENT`: any slope is a legitimate slope, so rounding one costs no soundness.
pub(super) const SLOPE_EXPONENT: i64 = -40;

/// Digits that intercepts keep before they are rounded outward.
pub(super) const INTERCEPT_DIGITS: usize = 4;

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

/// Slopes that a certificate gives for one node: `(coordinate, slope)` by ascending coordinate.
pub(super) type Given<'a> = &'a [(usize, Dyadic)];

impl Lines {
    /// Lines of `function` over `bounds`; `lower` and `upper` are slopes of lower and of upper lines. A coordinate on which the function is
    /// linear ignores them.
    pub(super) fn new(
        function: &Function,
        bounds: &[Interval],
        lower: Given<'_>,
        upper: Given<'_>,
    ) -> Result<Self, RuleError> {
        let (mut lower, mut upper) = (lower.iter().peekable(), upper.iter().peekable());
        let mut lines = Vec::with_capacity(bounds.len());
        for (coordinate, interval) in bounds.iter().enumerate() {
            let low = lower.next_if(|(at, _)| *at == coordinate).map(|(_, slope)| slope);
            let high = upper.next_if(|(at, _)| *at == coordinate).map(|(_, slope)| slope);
            lines.push(pair(function, interval, low, high).ok_or(RuleError::Budget)?);
        }
        if lower.peek().is_some() || upper.peek().is_some() {
            return Err(RuleError::NoSuch("coordinate of a slope, or slopes out of order"));
        }
        let intercepts = |side: fn(&Pair) -> &Line| lines.iter().map(|pair| side(pair).1.clone()).collect::<Vec<_>>();
        Ok(Self {
            lower_slopes: lines.iter().map(|(low, _)| low.0).collect(),
            upper_slopes: lines.iter().map(|(_, high)| high.0).collect(),
            lower_intercepts: Planes::floor(&intercepts(|(low, _)| low), INTERCEPT_DIGITS),
            upper_intercepts: Planes::ceil(&intercepts(|(_, high)| high), INTERCEPT_DIGITS),
        })
    }
}

/// A slope in units of `2^SLOPE_EXPONENT` and an intercept.
pub(super) type Line = (i64, Dyadic);

/// A lower line, its intercept rounded down or exact, and an upper line.
pub(super) type Pair = (Line, Line);

/// A lower and an upper line of `function` on an interval, with the slopes that are given or default ones; `None` if that is beyond the budget.
pub(super) fn pair(
    function: &Function,
    interval: &Interval,
    low: Option<&Dyadic>,
    high: Option<&Dyadic>,
) -> Option<Pair> {
    if let Some(slope) = function.linear_slope(&interval.lower, &interval.upper) {
        let slope = quantized(&slope);
        let units = Dyadic::new(slope, SLOPE_EXPONENT);
        if function.linear_slope(&interval.lower, &interval.upper).as_ref() == Some(&units) {
            // The function is this line: f(z) = f(l) + s·(z − l).
            let intercept =
                &function.image(&Interval::point(interval.lower.clone()))?.lower - &(&units * &interval.lower);
            return Some(((slope, intercept.clone()), (slope, intercept)));
        }
    }
    let pieces = function.pieces(interval)?;
    let of = |slope: &Dyadic, below: bool| {
        let slope = quantized(slope);
        let units = Dyadic::new(slope, SLOPE_EXPONENT);
        let intercept = if below {
            lower_intercept(function, &pieces, &units, interval)
        } else {
            upper_intercept(function, &pieces, &units, interval)
        };
        Some((slope, intercept?))
    };
    let side = |given: Option<&Dyadic>, below| match given {
        Some(slope) => of(slope, below),
        None => best(
            interval,
            below,
            default_slopes(function, &pieces, interval, below)?.iter().map(|slope| of(slope, below)),
        ),
    };
    Some((side(low, true)?, side(high, false)?))
}

/// Slopes worth trying where a certificate gives none: for ReLU CROWN's choice, else that of the chord and those of tangents.
fn default_slopes(function: &Function, pieces: &[Piece], interval: &Interval, below: bool) -> Option<Vec<Dyadic>> {
    let Interval { lower, upper } = interval;
    if let (Function::Relu, true) = (function, below) {
        return Some(vec![default_lower_slope(lower, upper)]);
    }
    let at = |z: &Dyadic| function.value(&Ball::exact(z.clone()));
    // Any slope will do, so the sums may be shortened.
    let rise = at(upper)?.midpoint().sum_down(&-at(lower)?.midpoint());
    let mut slopes = vec![chord(&rise, &upper.sum_down(&-lower))];
    if *function != Function::Relu {
        let middle = &lower.sum_down(upper) * &Dyadic::new(1, -1);
        for z in [lower, &middle, upper] {
            let holds = |piece: &&(usize, &Piece)| {
                let (start, end) = (&piece.1.start, &piece.1.end);
                start.as_ref().is_none_or(|b| b.upper() <= *z) && end.as_ref().is_none_or(|b| *z <= b.lower())
            };
            let places: Vec<(usize, &Piece)> = pieces.iter().enumerate().collect();
            if let Some((place, piece)) = places.iter().find(holds) {
                slopes.push(function.derivative(&Ball::exact(z.clone()), *place, piece)?.midpoint().clone());
            }
        }
    }
    Some(slopes)
}

/// The line that is highest (or lowest, for upper lines) in the middle of the interval, which means the least area.
fn best(interval: &Interval, below: bool, lines: impl Iterator<Item = Option<Line>>) -> Option<Line> {
    let middle = &interval.lower.sum_down(&interval.upper) * &Dyadic::new(1, -1);
    let height = |line: &Line| (&Dyadic::new(line.0, SLOPE_EXPONENT) * &middle).sum_down(&line.1);
    let lines = lines.collect::<Option<Vec<_>>>()?.into_iter();
    if below { lines.max_by(|a, b| height(a).cmp(&height(b))) } else { lines.min_by(|a, b| height(a).cmp(&height(b))) }
}

/// `⌊rise / run⌋` in units of `2^SLOPE_EXPONENT`; zero without a run.
pub(super) fn chord(rise: &Dyadic, run: &Dyadic) -> Dyadic {
    if !run.is_positive() {
        return Dyadic::zero();
    }
    let low = rise.exponent().saturating_add(SLOPE_EXPONENT.saturating_neg()).min(run.exponent());
    let (rise, run) = (rise.floor_at(low.saturating_add(SLOPE_EXPONENT)), run.floor_at(low));
    Dyadic::new(rise.div_floor(&run), SLOPE_EXPONENT)
}

/// The slope as a multiple of `2^SLOPE_EXPONENT` within `±2^52`.
pub(super) fn quantized(slope: &Dyadic) -> i64 {
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
                let lines = Lines::new(&Function::Relu, &[interval], &given, &[]).unwrap();
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
        let lines = Lines::new(&Function::Relu, &[interval], &[(0, third)], &[]).unwrap();
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

    /// sigmoid(−2^40) is about 2^(−1.6·10^12), as are the slopes of tanh there: written out, a sum with one would fill the memory.
    #[test]
    fn values_next_to_zero_make_no_number_long() {
        let ends = [(-1, 1000), (-1, 40), (-1, 10), (-1, 0), (-1, -1000), (1, -1000), (1, 0), (1, 40), (1, 1000)];
        let ends = ends.map(|(m, e)| Dyadic::new(m, e));
        for name in ["sigmoid", "tanh", "softplus", "sin", "cos"] {
            let function = Function::library(name, Vec::new()).unwrap();
            for (place, lower) in ends.iter().enumerate() {
                for upper in ends.iter().skip(place) {
                    let interval = Interval { lower: lower.clone(), upper: upper.clone() };
                    let Some(((_, below), (_, above))) = pair(&function, &interval, None, None) else {
                        // Too many periods.
                        assert!(name == "sin" || name == "cos", "{name} on [{lower:?}, {upper:?}]");
                        continue;
                    };
                    let image = function.image(&interval).unwrap();
                    for number in [below, above, image.lower, image.upper] {
                        assert!(number.exponent() > -4096, "{name} on [{lower:?}, {upper:?}]: 2^{}", number.exponent());
                    }
                }
            }
        }
    }

    #[test]
    fn a_slope_without_its_coordinate_is_refused() {
        let unstable = || Interval { lower: Dyadic::new(-1, 0), upper: Dyadic::new(1, 0) };
        let half = Dyadic::new(1, -1);
        let bounds = [unstable(), unstable()];
        let lines = |given: &[(usize, Dyadic)]| Lines::new(&Function::Relu, &bounds, given, &[]).is_ok();
        assert!(lines(&[(1, half.clone())]));
        assert!(!lines(&[(2, half.clone())]));
        assert!(!lines(&[(1, half.clone()), (0, half.clone())]));
        assert!(!lines(&[(0, half.clone()), (0, half)]));
    }
}
