//! What a function of the library declares, in its own file: its values, its slopes, where it is defined and where its pieces end.

use super::constant::Constant;
use super::{Curvature, Refusal};
use crate::interval::Interval;
use crate::num::real::length;
use crate::num::{Ball, Dyadic, Rational, Real};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::Zero;

/// A function of the library.
pub(super) struct Declaration {
    /// Its name in every document.
    pub(super) name: &'static str,
    /// Its shape, if these are parameters of it.
    pub(super) shape: fn(&[Rational]) -> Option<Shape>,
    /// `f(x)`, to about the precision of `x`.
    pub(super) value: fn(&Real, &[Rational]) -> Real,
    /// `f′(x)` in the piece with this place among those of the shape; at a kink its one-sided derivative.
    pub(super) slope: fn(&Real, &[Rational], usize) -> Real,
}

/// Where a function is defined and how it goes.
#[derive(Clone)]
pub(super) struct Shape {
    /// Where it is defined and continuous.
    pub(super) domain: Domain,
    /// Between these, and up to the ends of the domain, it is monotone.
    pub(super) turns: Cuts,
    /// Between these it is twice differentiable and bends one way.
    pub(super) bends: Cuts,
    /// How it bends on the pieces in ascending order, one more than the bends; [`Cuts::Quarters`] repeat them.
    pub(super) curvatures: &'static [Curvature],
}

/// Total, rising or falling throughout, and bent up.
pub(super) const CONVEX: Shape =
    Shape { domain: Domain::Line, turns: Cuts::Few(&[]), bends: Cuts::Few(&[]), curvatures: &[Curvature::Convex] };

/// Total, rising or falling throughout, and bent down.
pub(super) const CONCAVE: Shape = Shape { curvatures: &[Curvature::Concave], ..CONVEX };

/// Convex below 0 and concave above.
pub(super) const SIGMOID: Shape = Shape { bends: ZERO, curvatures: &[Curvature::Convex, Curvature::Concave], ..CONVEX };

/// Concave below 0 and convex above.
pub(super) const CUBIC: Shape = Shape { bends: ZERO, curvatures: &[Curvature::Concave, Curvature::Convex], ..CONVEX };

/// Cut at 0.
pub(super) const ZERO: Cuts = Cuts::Few(&[Cut::Half(0)]);

/// The set where a function is defined.
#[derive(Clone, Copy)]
pub(super) enum Domain {
    /// The real line.
    Line,
    /// The numbers from this one on.
    From(i64, End),
    /// From −1 to 1.
    Unit(End),
    /// One side of 0.
    Nonzero,
    /// Between two neighbours of the odd multiples of π/2.
    Branch,
}

/// An end of a domain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Does not belong to it.
    Open,
    /// Belongs to it, without a derivative there.
    Steep,
    /// Belongs to it.
    Closed,
}

/// The places where pieces end, in ascending order.
#[derive(Clone, Copy)]
pub(super) enum Cuts {
    /// These.
    Few(&'static [Cut]),
    /// `(first + k·step)·π/2` for every integer `k`; the piece that starts there has the curvature `k mod 2`.
    Quarters { first: i64, step: i64 },
}

/// A place where a piece ends.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    /// A half of this.
    Half(i64),
    /// A root in `[m, m+1]·2^-120`.
    Root(i128),
    /// A function of the parameters.
    Given(fn(&[Rational]) -> Rational),
}

/// Exponent of the unit of [`Cut::Root`].
const ROOT: i64 = -120;
/// The parameter at this place; zero if there is none.
pub(super) fn parameter(parameters: &[Rational], place: usize) -> Rational {
    parameters.get(place).cloned().unwrap_or_default()
}

/// `1/p` for the parameter at this place; zero if that is zero or there is none.
pub(super) fn reciprocal(parameters: &[Rational], place: usize) -> Rational {
    let value = parameter(parameters, place);
    if value.is_zero() { value } else { value.recip() }
}

/// The most pieces of one interval.
const MOST_PIECES: usize = 1024;
/// Arguments beyond `±2^65536` are not compared with multiples of π.
const LARGE: i64 = 1 << 16;

impl Domain {
    /// Whether the function is defined from one number to the other, and differentiable there if `slope`.
    pub(super) fn admits(self, lower: &Dyadic, upper: &Dyadic, slope: bool) -> bool {
        let integer = |n: i64| Dyadic::new(n, 0);
        let beyond = |low: &Dyadic, high: &Dyadic, end: End| match end {
            End::Open => low < high,
            End::Steep => low < high || !slope && low == high,
            End::Closed => low <= high,
        };
        match self {
            Self::Line => true,
            Self::From(least, end) => beyond(&integer(least), lower, end),
            Self::Unit(end) => beyond(&integer(-1), lower, end) && beyond(upper, &integer(1), end),
            Self::Nonzero => lower.is_positive() || upper.is_negative(),
            Self::Branch => {
                let branch = |x: &Dyadic| Some((quarter(x)? + 1_i64).div_floor(&BigInt::from(2)));
                branch(lower).is_some_and(|low| branch(upper) == Some(low))
            }
        }
    }
}

/// The `j` with `j·π/2 ≤ x < (j+1)·π/2`; `None` if that needs too many digits.
fn quarter(x: &Dyadic) -> Option<BigInt> {
    let magnitude = x.magnitude().unwrap_or(0);
    if magnitude.abs() > LARGE {
        return None;
    }
    let places = length(x.mantissa()).saturating_add(magnitude.abs()).saturating_add(64);
    let precision = places.saturating_add(magnitude.max(0));
    let (value, error) = (Real::dyadic(x, precision).shifted(1) / Constant::Pi.real(precision)).fixed(places)?;
    let floor = |n: BigInt| n >> places.unsigned_abs();
    let low = floor(&value - error);
    (low == floor(value + error)).then_some(low)
}

impl Cuts {
    /// The cuts that matter on an interval, from one below it to one above; all of them if they are few.
    pub(super) fn on(self, parameters: &[Rational], z: &Interval, bits: i64) -> Result<Vec<Ball>, Refusal> {
        match self {
            Self::Few(cuts) => cuts.iter().map(|cut| cut.ball(parameters, bits)).collect(),
            Self::Quarters { first, step } => {
                let mut cuts = Vec::new();
                let mut place = Self::first_quarter(first, step, z)?;
                while cuts.len() <= MOST_PIECES {
                    let precision = bits.saturating_add(length(&place));
                    let cut = Real::within(place.clone(), -1, 0, precision) * Constant::Pi.real(precision);
                    let cut = cut.ball(precision).ok_or(Refusal::Limit)?;
                    let last = cut.lower() > z.upper;
                    cuts.push(cut);
                    if last {
                        return Ok(cuts);
                    }
                    place += step;
                }
                Err(Refusal::Limit)
            }
        }
    }

    /// One of `first + k·step` whose multiple of π/2 is surely below the interval, by more than the error of a ball.
    pub(super) fn first_quarter(first: i64, step: i64, z: &Interval) -> Result<BigInt, Refusal> {
        let quarters = quarter(&z.lower).ok_or(Refusal::Limit)? - first;
        Ok((quarters.div_floor(&BigInt::from(step)) - 1_i64) * step + first)
    }
}

impl Cut {
    fn ball(self, parameters: &[Rational], bits: i64) -> Result<Ball, Refusal> {
        match self {
            Self::Half(n) => Ok(Ball::exact(Dyadic::new(n, -1))),
            Self::Root(m) => {
                let end = |m: i128| Dyadic::new(m, ROOT);
                Ball::between(&end(m), &end(m.saturating_add(1))).ok_or(Refusal::Limit)
            }
            Self::Given(cut) => Real::ratio(&cut(parameters), bits).ball(bits).ok_or(Refusal::Limit),
        }
    }
}
