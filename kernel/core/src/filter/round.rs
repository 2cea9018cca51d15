//! Conversions between exact numbers and binary64.

use crate::num::ieee::{BINARY64, Rounding};
use crate::num::{Dyadic, Matrix, Rational};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, ToPrimitive};

/// The largest magnitude that may enter (CHARGE).
pub(crate) const LIMIT: f64 = power_of_two(100);

/// `2^exponent`; NaN outside the range of the normal numbers.
pub(crate) const fn power_of_two(exponent: i64) -> f64 {
    if -1022 <= exponent && exponent <= 1023 {
        f64::from_bits(exponent.saturating_add(1023).unsigned_abs() << 52)
    } else {
        f64::NAN
    }
}

/// The double nearest to `numerator / denominator`, ties to even. `None` where CHARGE leaves the number to the exact tier: its magnitude
/// is above [`LIMIT`], or it is inexact and not above the least normal number. `None` also if `denominator ≤ 0`.
pub(crate) fn nearest(numerator: &Dyadic, denominator: &BigInt) -> Option<f64> {
    if !denominator.is_positive() {
        return None;
    }
    let (mantissa, exponent) = (numerator.mantissa().magnitude(), numerator.exponent());
    let found = BINARY64.round(mantissa, denominator.magnitude(), exponent, Rounding::Nearest);
    let magnitude = f64::from_bits(found.bits);
    let usable = magnitude <= LIMIT && (found.exact || magnitude > f64::MIN_POSITIVE);
    usable.then(|| signed(found.bits, numerator.is_negative()))
}

/// [`nearest`] of every entry of `matrix` divided by `denominator`.
pub(crate) fn nearest_entries(matrix: &Matrix, denominator: &BigInt) -> Option<Vec<f64>> {
    let count = matrix.rows().checked_mul(matrix.columns())?;
    let mut entries = Vec::with_capacity(count);
    let quick = |index| if denominator.is_one() { nearest_short(matrix.short(index)?) } else { None };
    for index in 0..count {
        entries.push(quick(index).or_else(|| nearest(&matrix.get(index)?, denominator))?);
    }
    Some(entries)
}

/// [`nearest`] of `mantissa · 2^exponent` where that takes one rounding of the mantissa and an exact product.
#[allow(clippy::cast_precision_loss, reason = "rounds to nearest, ties to even")]
fn nearest_short((mantissa, exponent): (i128, i64)) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    // Conversions of machine words are faster, and round in the same way.
    let rounded = i64::try_from(mantissa).map_or(mantissa as f64, |mantissa| mantissa as f64);
    let value = rounded * power_of_two(exponent);
    let magnitude = value.abs();
    (magnitude > f64::MIN_POSITIVE && magnitude <= LIMIT).then_some(value)
}

/// The greatest double that is at most `value`; `−∞` below them all.
pub(crate) fn down(value: &Rational) -> f64 {
    directed(value.numer(), 0, value.denom().magnitude(), false)
}

/// The least double that is at least `value`; `+∞` above them all.
pub(crate) fn up(value: &Rational) -> f64 {
    directed(value.numer(), 0, value.denom().magnitude(), true)
}

/// [`down`] and [`up`] of `numerator / denominator`, for a positive denominator.
pub(crate) fn around(numerator: &Dyadic, denominator: &BigInt) -> (f64, f64) {
    let end = |upward| directed(numerator.mantissa(), numerator.exponent(), denominator.magnitude(), upward);
    (end(false), end(true))
}

/// The next double above or below `mantissa · 2^exponent / denominator`, or that number itself.
fn directed(mantissa: &BigInt, exponent: i64, denominator: &BigUint, upward: bool) -> f64 {
    let negative = mantissa.is_negative();
    let rounding = if negative == upward { Rounding::TowardsZero } else { Rounding::AwayFromZero };
    signed(BINARY64.round(mantissa.magnitude(), denominator, exponent, rounding).bits, negative)
}

/// The double that is `value`, if there is one.
pub(crate) fn exact(value: &Dyadic) -> Option<f64> {
    if let (Some(mantissa), -960..=960) = (value.mantissa().to_i64(), value.exponent())
        && mantissa.unsigned_abs() <= 1 << 53
    {
        #[allow(clippy::cast_precision_loss, reason = "at most 53 bits")]
        return Some(mantissa as f64 * power_of_two(value.exponent()));
    }
    let magnitude = value.mantissa().magnitude();
    let found = BINARY64.round(magnitude, &BigUint::one(), value.exponent(), Rounding::TowardsZero);
    found.exact.then(|| signed(found.bits, value.is_negative()))
}

/// The number that a double is; `None` for NaN and infinities.
#[cfg(test)]
pub(crate) fn to_dyadic(value: f64) -> Option<Dyadic> {
    Dyadic::from_f64_bits(value.to_bits())
}

/// A magnitude with its sign; there is one zero.
fn signed(bits: u64, negative: bool) -> f64 {
    f64::from_bits(bits | (u64::from(negative && bits != 0) << 63))
}

#[cfg(test)]
mod tests;
