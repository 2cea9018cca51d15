//! Real numbers known within an error: what the elementary functions compute with.
//!
//! Every operation encloses: if the operands are within their errors, the result is within its own. An operation that cannot say anything (a
//! divisor that may be zero, an exponent out of reach) gives the unknown number, and so does everything computed from that.

mod known;

use super::{Ball, Dyadic, Rational};
use known::{Known, moved, scaled};
pub(crate) use known::{error_length, length};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::borrow::Cow;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number that is known to about `precision` significant bits, or unknown.
#[derive(Clone, Debug)]
pub struct Real {
    known: Option<Known>,
    precision: i64,
}

impl Real {
    /// The number `mantissa · 2^exponent` up to `error` units of `2^exponent`.
    #[must_use]
    pub(crate) fn within(mantissa: BigInt, exponent: i64, error: u64, precision: i64) -> Self {
        Self { known: Known { mantissa, exponent, error }.trimmed(precision), precision }
    }

    /// A dyadic number, rounded if it is longer than `precision`.
    #[must_use]
    pub fn dyadic(value: &Dyadic, precision: i64) -> Self {
        Self::within(value.mantissa().clone(), value.exponent(), 0, precision)
    }

    /// A rational number.
    #[must_use]
    pub fn ratio(value: &Rational, precision: i64) -> Self {
        Self::within(BigInt::from(1), 0, 0, precision).by(value)
    }

    /// `x · factor`, exactly where that is dyadic and short.
    #[must_use]
    pub(crate) fn by(&self, factor: &Rational) -> Self {
        let integer = |n: &BigInt| Self::within(n.clone(), 0, 0, self.precision);
        self * integer(factor.numer()) / integer(factor.denom())
    }

    /// Any number of a ball.
    #[must_use]
    pub(crate) fn ball_of(ball: &Ball, precision: i64) -> Self {
        Self::dyadic(ball.midpoint(), precision) + Self::dyadic(ball.radius(), precision).around_zero()
    }

    /// Nothing is known.
    #[must_use]
    pub(crate) fn unknown(precision: i64) -> Self {
        Self { known: None, precision }
    }

    /// An integer, with the precision of `self`.
    #[must_use]
    pub(crate) fn integer(&self, n: i64) -> Self {
        Self::within(BigInt::from(n), 0, 0, self.precision)
    }

    /// The bits that results are computed to.
    #[must_use]
    pub(crate) fn precision(&self) -> i64 {
        self.precision
    }

    /// The same number, for results of another precision, and rounded if that is shorter.
    #[must_use]
    pub(crate) fn with_precision(self, precision: i64) -> Self {
        Self { known: self.known.and_then(|known| known.trimmed(precision)), precision }
    }

    /// An `m` with `|x| < 2^m`; `None` if the number is zero or unknown.
    #[must_use]
    pub(crate) fn magnitude(&self) -> Option<i64> {
        self.known.as_ref().filter(|known| !known.is_exact_zero()).map(Known::magnitude)
    }

    /// Whether the number is exactly zero.
    #[must_use]
    pub(crate) fn is_zero(&self) -> bool {
        self.known.as_ref().is_some_and(Known::is_exact_zero)
    }

    /// Whether the number is surely above zero.
    #[must_use]
    pub(crate) fn is_positive(&self) -> bool {
        self.is_apart() && !self.seems_negative()
    }

    /// Whether the number is surely above or surely below zero.
    fn is_apart(&self) -> bool {
        let apart = |known: &Known| known.mantissa.magnitude().to_u64().is_none_or(|units| units > known.error);
        self.known.as_ref().is_some_and(apart)
    }

    /// Whether the middle of the enclosure is below zero.
    #[must_use]
    pub(crate) fn seems_negative(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.mantissa.is_negative())
    }

    /// The middle of the enclosure, as an exact number.
    #[must_use]
    pub(crate) fn middle(&self) -> Self {
        let known = self.known.clone().map(|known| Known { error: 0, ..known });
        Self { known, precision: self.precision }
    }

    /// Mantissa and error in units of `2^-places`.
    #[must_use]
    pub(crate) fn fixed(&self, places: i64) -> Option<(BigInt, u64)> {
        let (mantissa, error) = self.known.as_ref()?.seen(places.saturating_neg())?;
        Some((mantissa.into_owned(), error))
    }

    /// The middle in units of `2^-places`, rounded down.
    #[must_use]
    pub(crate) fn middle_at(&self, places: i64) -> Option<BigInt> {
        let known = self.known.as_ref()?;
        let (mantissa, _) = moved(Cow::Borrowed(&known.mantissa), 0, known.exponent.saturating_add(places))?;
        Some(mantissa.into_owned())
    }

    /// `places`, or as many as leave an error of at most `2^20` units of `2^-places`.
    #[must_use]
    pub(crate) fn useful(&self, places: i64) -> i64 {
        let short = |known: &Known| 20_i64.saturating_sub(known.exponent).saturating_sub(error_length(known.error));
        self.known.as_ref().filter(|known| known.error > 0).map_or(places, |known| short(known).min(places))
    }

    /// The error in units of `2^-places`.
    #[must_use]
    pub(crate) fn error_at(&self, places: i64) -> Option<u64> {
        let known = self.known.as_ref()?;
        scaled(known.error, known.exponent.saturating_add(places))
    }

    /// The middle as `mantissa · 2^exponent`.
    #[must_use]
    pub(crate) fn parts(&self) -> Option<(&BigInt, i64)> {
        self.known.as_ref().map(|known| (&known.mantissa, known.exponent))
    }

    /// How many leading bits of the middle are above the error: the relative error is below `2^(1−accuracy)`. `None` if that is unknown.
    #[must_use]
    pub(crate) fn accuracy(&self) -> Option<i64> {
        let known = self.known.as_ref()?;
        let bits = length(&known.mantissa).saturating_sub(error_length(known.error));
        Some(if known.error == 0 { i64::MAX } else { bits })
    }

    /// A ball around the number, with a midpoint of at most `bits` bits; `None` if the number is unknown.
    #[must_use]
    pub fn ball(self, bits: i64) -> Option<Ball> {
        let Known { mantissa, exponent, error } = self.known?.trimmed(bits)?;
        Ball::new(Dyadic::new(mantissa, exponent), Dyadic::new(error, exponent))
    }

    /// A number between `−|x|` and `|x|`.
    #[must_use]
    pub(crate) fn around_zero(&self) -> Self {
        let around = |known: &Known| {
            if known.is_exact_zero() {
                return known.clone();
            }
            Known { mantissa: BigInt::zero(), exponent: known.magnitude(), error: 1 }
        };
        Self { known: self.known.as_ref().map(around), precision: self.precision }
    }

    /// `x · 2^shift`.
    #[must_use]
    pub(crate) fn shifted(&self, shift: i64) -> Self {
        let moved = |known: &Known| {
            let exponent = known.exponent.saturating_add(shift);
            Known { exponent, ..known.clone() }.trimmed(self.precision)
        };
        Self { known: self.known.as_ref().and_then(moved), precision: self.precision }
    }

    /// `√x`; unknown where `x` may be below zero.
    #[must_use]
    pub(crate) fn sqrt(&self) -> Self {
        Self { known: self.known.as_ref().and_then(|known| known.root(self.precision)), precision: self.precision }
    }

    /// `x^n`.
    #[must_use]
    pub(crate) fn power(&self, n: u64) -> Self {
        let (mut result, mut square, mut rest) = (self.integer(1), self.clone(), n);
        while rest > 0 {
            if rest & 1 == 1 {
                result = result * &square;
            }
            rest >>= 1;
            if rest > 0 {
                square = &square * &square;
            }
        }
        result
    }

    /// A number that is `self` or `other`.
    #[must_use]
    pub(crate) fn either(&self, other: &Self) -> Self {
        self + (other - self).around_zero()
    }

    /// `f(x)` for an odd function that is at hand where `x` is not below zero.
    #[must_use]
    pub(crate) fn odd(&self, f: impl Fn(&Self) -> Self) -> Self {
        if self.seems_negative() { -f(&-self) } else { f(self) }
    }

    /// `−|x|`, or near zero `x` or `−x`.
    #[must_use]
    pub(crate) fn downward(&self) -> Self {
        if self.seems_negative() { self.clone() } else { -self }
    }

    /// `below` where `self` is below 0 and `above` where it is not; one of them where that is not known.
    #[must_use]
    pub(crate) fn sides(&self, below: impl FnOnce() -> Self, above: impl FnOnce() -> Self) -> Self {
        if self.is_zero() || self.is_positive() {
            above()
        } else if self.is_apart() {
            below()
        } else {
            below().either(&above())
        }
    }

    /// The larger of two.
    #[must_use]
    pub(crate) fn max(&self, other: &Self) -> Self {
        (self - other).sides(|| other.clone(), || self.clone())
    }

    /// The smaller of two.
    #[must_use]
    pub(crate) fn min(&self, other: &Self) -> Self {
        -(-self).max(&-other)
    }

    fn combine(&self, other: &Self, rule: impl Fn(&Known, &Known, i64) -> Option<Known>) -> Self {
        let precision = self.precision.max(other.precision);
        let known = match (&self.known, &other.known) {
            (Some(a), Some(b)) => rule(a, b, precision),
            _ => None,
        };
        Self { known, precision }
    }
}

/// What stands on the right of an operator.
pub trait Operand {
    /// It, with the precision of the number on the left if it has none of its own.
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real;
}

impl Operand for &Real {
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real {
        rule(left, self)
    }
}

impl Operand for Real {
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real {
        rule(left, &self)
    }
}

impl Operand for i64 {
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real {
        rule(left, &left.integer(self))
    }
}

macro_rules! operators {
    ($($name:ident $method:ident $rule:expr;)*) => { $(
        impl<T: Operand> $name<T> for &Real {
            type Output = Real;
            fn $method(self, other: T) -> Real {
                other.combined(self, $rule)
            }
        }
        impl<T: Operand> $name<T> for Real {
            type Output = Real;
            fn $method(self, other: T) -> Real {
                other.combined(&self, $rule)
            }
        }
    )* };
}

operators! {
    Add add |a, b| a.combine(b, |a, b, precision| a.sum(b, false, precision));
    Sub sub |a, b| a.combine(b, |a, b, precision| a.sum(b, true, precision));
    Mul mul |a, b| a.combine(b, Known::times);
    Div div |a, b| a.combine(b, Known::over);
}

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real { known: self.known.as_ref().map(Known::negated), precision: self.precision }
    }
}

impl Neg for Real {
    type Output = Real;
    fn neg(self) -> Real {
        -&self
    }
}

#[cfg(test)]
mod tests;
