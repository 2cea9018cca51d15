//! Dyadic rationals `mantissa · 2^exponent` of unbounded length.

use super::{Rational, Short};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// Bits that a sum keeps: binary64 numbers span 2098.
pub(super) const REACH: i64 = 8192;

/// The number `mantissa · 2^exponent`. The mantissa is odd, or it is zero with exponent zero, so equal numbers have equal parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dyadic {
    mantissa: BigInt,
    exponent: i64,
}

impl Dyadic {
    /// `mantissa · 2^exponent`.
    #[must_use]
    pub fn new(mantissa: impl Into<BigInt>, exponent: i64) -> Self {
        let mantissa = mantissa.into();
        match mantissa.trailing_zeros() {
            None => Self { mantissa, exponent: 0 },
            Some(0) => Self { mantissa, exponent },
            Some(zeros) => Self { mantissa: mantissa >> zeros, exponent: exponent.saturating_add_unsigned(zeros) },
        }
    }

    /// Zero.
    #[must_use]
    pub fn zero() -> Self {
        Self { mantissa: BigInt::zero(), exponent: 0 }
    }

    /// The odd mantissa (or zero).
    #[must_use]
    pub fn mantissa(&self) -> &BigInt {
        &self.mantissa
    }

    /// The exponent of two.
    #[must_use]
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Whether the number is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    /// Whether the number is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.mantissa.is_negative()
    }

    /// Whether the number is above zero.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.mantissa.is_positive()
    }

    /// The number that binary64 `bits` spell; `None` for NaN and infinities.
    #[must_use]
    pub fn from_f64_bits(bits: u64) -> Option<Self> {
        Short::from_f64_bits(bits).map(Self::from)
    }

    /// The number that binary32 `bits` spell; `None` for NaN and infinities.
    #[must_use]
    pub fn from_f32_bits(bits: u32) -> Option<Self> {
        Short::from_f32_bits(bits).map(Self::from)
    }

    /// The same number as a rational.
    #[must_use]
    pub fn to_rational(&self) -> Rational {
        let shift = self.exponent.unsigned_abs();
        if self.exponent >= 0 {
            Rational::from_integer(&self.mantissa << shift)
        } else {
            Rational::new_raw(self.mantissa.clone(), BigInt::one() << shift)
        }
    }

    /// The same number, if its denominator is a power of two.
    #[must_use]
    pub fn from_rational(value: &Rational) -> Option<Self> {
        let shift = value.denom().trailing_zeros()?;
        let odd = value.denom() >> shift;
        let exponent = i64::try_from(shift).ok()?.checked_neg()?;
        odd.is_one().then(|| Self::new(value.numer().clone(), exponent))
    }

    /// The largest multiple of `2^exponent` that is at most `value`.
    #[must_use]
    pub fn floor_rational(value: &Rational, exponent: i64) -> Self {
        let (mut numer, mut denom) = (value.numer().clone(), value.denom().clone());
        if exponent >= 0 {
            denom <<= exponent.unsigned_abs();
        } else {
            numer <<= exponent.unsigned_abs();
        }
        Self::new(numer.div_floor(&denom), exponent)
    }

    /// The smallest multiple of `2^exponent` that is at least `value`.
    #[must_use]
    pub fn ceil_rational(value: &Rational, exponent: i64) -> Self {
        -Self::floor_rational(&-value, exponent)
    }

    /// `⌊self / 2^exponent⌋`.
    #[must_use]
    pub fn floor_at(&self, exponent: i64) -> BigInt {
        let shift = self.exponent.saturating_sub(exponent);
        if shift >= 0 {
            &self.mantissa << shift.unsigned_abs()
        } else {
            // `>>` on BigInt rounds towards minus infinity.
            &self.mantissa >> shift.unsigned_abs()
        }
    }

    /// At most `self`, with at most `bits` significant bits; within one unit of the last of them.
    #[must_use]
    pub fn round_down(&self, bits: u64) -> Self {
        match self.mantissa.bits().checked_sub(bits) {
            None | Some(0) => self.clone(),
            Some(excess) => Self::new(&self.mantissa >> excess, self.exponent.saturating_add_unsigned(excess)),
        }
    }

    /// At least `self`, with at most `bits` significant bits; within one unit of the last of them.
    #[must_use]
    pub fn round_up(&self, bits: u64) -> Self {
        -(-self).round_down(bits)
    }

    /// At most the sum, and equal to it unless the larger number reaches more than `REACH` bits above the last bit of the smaller: then
    /// the bits beyond are rounded down, so that no exponent makes a sum long.
    #[must_use]
    pub fn sum_down(&self, other: &Self) -> Self {
        let (Some(a), Some(b)) = (self.magnitude(), other.magnitude()) else { return self + other };
        let least = a.max(b).saturating_sub(REACH);
        if self.exponent >= least && other.exponent >= least {
            return self + other;
        }
        Self::new(self.floor_at(least) + other.floor_at(least), least)
    }

    /// At least the sum; see [`Dyadic::sum_down`].
    #[must_use]
    pub fn sum_up(&self, other: &Self) -> Self {
        -(-self).sum_down(&-other)
    }

    /// One more than the exponent of the leading bit: `2^(n−1) ≤ |self| < 2^n`; `None` for zero.
    #[must_use]
    pub fn magnitude(&self) -> Option<i64> {
        (!self.is_zero()).then(|| self.exponent.saturating_add_unsigned(self.mantissa.bits()))
    }

    /// The smaller of two.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// The larger of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl From<Short> for Dyadic {
    fn from(short: Short) -> Self {
        Self { mantissa: BigInt::from(short.mantissa()), exponent: short.exponent() }
    }
}

impl Add<&Dyadic> for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: &Dyadic) -> Dyadic {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let low = self.exponent.min(other.exponent);
        Dyadic::new(self.floor_at(low) + other.floor_at(low), low)
    }
}

impl Sub<&Dyadic> for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: &Dyadic) -> Dyadic {
        self + &-other
    }
}

impl Mul<&Dyadic> for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: &Dyadic) -> Dyadic {
        // A product of odd numbers is odd.
        let mantissa = &self.mantissa * &other.mantissa;
        let exponent = if mantissa.is_zero() { 0 } else { self.exponent.saturating_add(other.exponent) };
        Dyadic { mantissa, exponent }
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic { mantissa: -&self.mantissa, exponent: self.exponent }
    }
}

impl Neg for Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic { mantissa: -self.mantissa, exponent: self.exponent }
    }
}

impl Add for Dyadic {
    type Output = Dyadic;
    fn add(self, other: Dyadic) -> Dyadic {
        &self + &other
    }
}

impl Sub for Dyadic {
    type Output = Dyadic;
    fn sub(self, other: Dyadic) -> Dyadic {
        &self - &other
    }
}

impl Mul for Dyadic {
    type Output = Dyadic;
    fn mul(self, other: Dyadic) -> Dyadic {
        &self * &other
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.mantissa.sign().cmp(&other.mantissa.sign());
        let magnitudes = self.magnitude().cmp(&other.magnitude());
        let magnitudes = if self.is_negative() { magnitudes.reverse() } else { magnitudes };
        // Numbers of one sign and one magnitude lie so close that they are cheap to bring to one exponent.
        signs.then(magnitudes).then_with(|| {
            let low = self.exponent.min(other.exponent);
            self.floor_at(low).cmp(&other.floor_at(low))
        })
    }
}

#[cfg(test)]
mod tests;
