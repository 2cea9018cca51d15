//! Closed intervals with dyadic ends.

use crate::num::{Dyadic, Rational};
use num_bigint::BigInt;
use num_traits::One;

/// Significant bits that ends keep when they are rounded outward.
pub(crate) const PRECISION: u64 = 160;

/// Ends that may be excessively close to zero are rounded outward to multiples of `2^FINEST`: a value such as `sigmoid(−10^12)` would make every sum
/// with it long.
pub(crate) const FINEST: i64 = -1024;

/// Products and values of functions beyond `2^MAGNITUDE` are beyond the budget: repeated squares double their exponents, and `exp(10^11)` would make a sum
/// with it as long as memory.
const MAGNITUDE: i64 = 4096;

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

    /// Contains `{a·b}`, with short ends; `None` if they are too large to be computed with.
    #[must_use]
    pub fn product(&self, other: &Self) -> Option<Self> {
        self.products(other).tamed(PRECISION, FINEST)
    }

    /// Contains `{a·a}`; see [`Interval::product`].
    #[must_use]
    pub fn square(&self) -> Option<Self> {
        self.squares().tamed(PRECISION, FINEST)
    }

    /// The interval `{a·b}`.
    pub(crate) fn products(&self, other: &Self) -> Self {
        let of = |a: &Dyadic| [a * &other.lower, a * &other.upper];
        let [[a, b], [c, d]] = [of(&self.lower), of(&self.upper)];
        let lower = a.clone().min(b.clone()).min(c.clone().min(d.clone()));
        Self { lower, upper: a.max(b).max(c.max(d)) }
    }

    /// The interval `{a·a}`.
    pub(crate) fn squares(&self) -> Self {
        let (a, b) = (&self.lower * &self.lower, &self.upper * &self.upper);
        let across = !self.lower.is_positive() && !self.upper.is_negative();
        let lower = if across { Dyadic::zero() } else { a.clone().min(b.clone()) };
        Self { lower, upper: a.max(b) }
    }

    /// Contains `{max(a, b)}`.
    pub(crate) fn larger(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// The same interval or slightly more, with ends of at most `bits` significant bits that are multiples of `2^finest`; `None` if one is excessively large.
    pub(crate) fn tamed(&self, bits: u64, finest: i64) -> Option<Self> {
        Some(self.bounded(finest)?.outward_to(bits))
    }

    /// The same interval or slightly more, with ends that are multiples of `2^finest`; `None` if one is excessively large.
    pub(crate) fn bounded(&self, finest: i64) -> Option<Self> {
        let large = |end: &Dyadic| end.magnitude().is_some_and(|magnitude| magnitude > MAGNITUDE);
        (!large(&self.lower) && !large(&self.upper)).then(|| self.coarse(finest))
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
    fn coarse(&self, finest: i64) -> Self {
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
