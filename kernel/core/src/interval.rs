//! Closed intervals with dyadic ends.

use crate::num::{Dyadic, Rational};
use num_bigint::BigInt;
use num_traits::One;

/// Significant bits that ends keep when they are rounded outward.
pub(crate) const PRECISION: u64 = 160;

/// The numbers from `lower` to `upper`, both included. Empty if `lower > upper`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The lower end.
    pub lower: Dyadic,
    /// The upper end.
    pub upper: Dyadic,
}

impl Interval {
    /// One number.
    #[must_use]
    pub fn point(value: Dyadic) -> Self {
        Self { lower: value.clone(), upper: value }
    }

    /// A dyadic interval around the rationals from `lower` to `upper`; exact where they are dyadic.
    #[must_use]
    pub fn around(lower: &Rational, upper: &Rational) -> Self {
        Self::around_to(lower, upper, PRECISION)
    }

    /// As [`Interval::around`], with `bits` significant bits where an end is not dyadic.
    #[must_use]
    pub(crate) fn around_to(lower: &Rational, upper: &Rational, bits: u64) -> Self {
        Self { lower: below_to(lower, bits), upper: -below_to(&-upper, bits) }
    }

    /// Contains `{a + b}`; equal to it where no sum is excessively long ([`Dyadic::sum_down`]).
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { lower: self.lower.sum_down(&other.lower), upper: self.upper.sum_up(&other.upper) }
    }

    /// `{factor · a}`.
    #[must_use]
    pub fn times(&self, factor: &Dyadic) -> Self {
        let (a, b) = (&self.lower * factor, &self.upper * factor);
        if factor.is_negative() { Self { lower: b, upper: a } } else { Self { lower: a, upper: b } }
    }

    /// Contains `{a / divisor}` for a positive `divisor`.
    #[must_use]
    pub fn over(&self, divisor: &BigInt) -> Self {
        self.over_to(divisor, PRECISION)
    }

    /// As [`Interval::over`], with `bits` significant bits where a quotient is not dyadic.
    #[must_use]
    pub(crate) fn over_to(&self, divisor: &BigInt, bits: u64) -> Self {
        if divisor.is_one() {
            return self.clone();
        }
        let divide = |value: &Dyadic| value.to_rational() / Rational::from_integer(divisor.clone());
        Self::around_to(&divide(&self.lower), &divide(&self.upper), bits)
    }

    /// The same interval or slightly more, with short ends.
    #[must_use]
    pub fn outward(&self) -> Self {
        self.outward_to(PRECISION)
    }

    /// The same interval or slightly more, with ends of at most `bits` significant bits.
    #[must_use]
    pub(crate) fn outward_to(&self, bits: u64) -> Self {
        Self { lower: self.lower.round_down(bits), upper: self.upper.round_up(bits) }
    }

    /// The same interval or slightly more, with ends that are multiples of `2^finest`: one that is excessively close to zero would make every sum with it
    /// long.
    #[must_use]
    pub(crate) fn coarse(&self, finest: i64) -> Self {
        let floor =
            |x: &Dyadic| if x.exponent() < finest { Dyadic::new(x.floor_at(finest), finest) } else { x.clone() };
        Self { lower: floor(&self.lower), upper: -floor(&-&self.upper) }
    }

    /// The numbers in both.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }

    /// Whether there is no number in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lower > self.upper
    }
}

/// A dyadic at most `value`, with [`PRECISION`] significant bits; `value` itself where it is dyadic.
#[must_use]
pub(crate) fn below(value: &Rational) -> Dyadic {
    below_to(value, PRECISION)
}

fn below_to(value: &Rational, bits: u64) -> Dyadic {
    Dyadic::from_rational(value).unwrap_or_else(|| Dyadic::floor_rational(value, last_bit(value, bits)))
}

/// A dyadic at least `value`; see [`below`].
#[must_use]
pub(crate) fn above(value: &Rational) -> Dyadic {
    -below(&-value)
}

/// The exponent of the last of `bits` bits of `value = p/q`: `|value| < 2^(length(p) − length(q) + 1)`.
fn last_bit(value: &Rational, bits: u64) -> i64 {
    let length = |n: &BigInt| i64::try_from(n.bits()).unwrap_or(i64::MAX);
    let magnitude = length(value.numer()).saturating_sub(length(value.denom()));
    magnitude.saturating_sub(i64::try_from(bits).unwrap_or(0))
}
