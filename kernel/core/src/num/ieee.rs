//! Rounding into the binary formats of IEEE 754-2019, on bits.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;

/// A binary interchange format (IEEE 754-2019 section 3.4).
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the fraction.
    pub width: u32,
    /// The exponent of the least subnormal number.
    pub least: i64,
    /// The biased exponent of the infinities.
    pub top: u64,
}

/// binary32.
pub const BINARY32: Format = Format { width: 23, least: -149, top: 0xff };
/// binary64.
pub const BINARY64: Format = Format { width: 52, least: -1074, top: 0x7ff };

/// How to round a magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even; to infinity where a format with unbounded exponents would round beyond the largest number.
    Nearest,
    /// To the next one that is not larger.
    TowardsZero,
    /// To the next one that is not smaller.
    AwayFromZero,
}

/// A magnitude in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounded {
    /// Its bits, without sign.
    pub bits: u64,
    /// Whether nothing was rounded.
    pub exact: bool,
}

impl Format {
    /// The bits of the positive infinity.
    #[must_use]
    pub fn infinity(self) -> u64 {
        self.top << self.width
    }

    /// `numerator / denominator · 2^exponent` in this format. The denominator must not be zero.
    ///
    /// With `2^e ≤ v < 2^(e+1)` the spacing around `v` is `2^s`, `s = max(e − width, least)`. Let `m` be `v/2^s` rounded to an
    /// integer. The bits are `(s − least)·2^width + m`: for `s = least` a subnormal or the first normals, otherwise the hidden bit of `m`
    /// adds the missing one to the exponent, and a carry to `m = 2^(width+1)` moves on to the next exponent.
    #[must_use]
    pub fn round(self, numerator: &BigUint, denominator: &BigUint, exponent: i64, rounding: Rounding) -> Rounded {
        if numerator.is_zero() {
            return Rounded { bits: 0, exact: true };
        }
        let bits = |n: &BigUint| i64::try_from(n.bits()).unwrap_or(i64::MAX);
        // 2^(estimate−1) < v < 2^(estimate+1)
        let estimate = bits(numerator).saturating_sub(bits(denominator)).saturating_add(exponent);
        // Far outside the range only the rounding counts, and an exponent costs no memory.
        if estimate < self.least.saturating_sub(2) {
            return Rounded { bits: u64::from(rounding == Rounding::AwayFromZero), exact: false };
        }
        if estimate > self.least.saturating_neg() {
            return self.beyond(rounding);
        }
        let (left, right) = scaled(numerator, denominator, exponent.saturating_sub(estimate));
        let leading = if left < right { estimate.saturating_sub(1) } else { estimate };
        let spacing = leading.saturating_sub(i64::from(self.width)).max(self.least);
        let (left, right) = scaled(numerator, denominator, exponent.saturating_sub(spacing));
        let (quotient, remainder) = left.div_rem(&right);
        let exact = remainder.is_zero();
        let up = match rounding {
            Rounding::TowardsZero => false,
            Rounding::AwayFromZero => !exact,
            Rounding::Nearest => match (remainder << 1_u32).cmp(&right) {
                Ordering::Less => false,
                Ordering::Equal => quotient.is_odd(),
                Ordering::Greater => true,
            },
        };
        let steps = u64::try_from(spacing.saturating_sub(self.least)).unwrap_or(u64::MAX);
        let bits = steps.saturating_mul(1 << self.width);
        let bits = bits.saturating_add(quotient.to_u64().unwrap_or(u64::MAX)).saturating_add(u64::from(up));
        if bits < self.infinity() { Rounded { bits, exact } } else { self.beyond(rounding) }
    }

    fn beyond(self, rounding: Rounding) -> Rounded {
        let inside = u64::from(rounding == Rounding::TowardsZero);
        Rounded { bits: self.infinity().saturating_sub(inside), exact: false }
    }
}

/// `(n, d)` with `n/d = numerator/denominator · 2^exponent`.
fn scaled(numerator: &BigUint, denominator: &BigUint, exponent: i64) -> (BigUint, BigUint) {
    let shift = exponent.unsigned_abs();
    if exponent < 0 { (numerator.clone(), denominator << shift) } else { (numerator << shift, denominator.clone()) }
}
