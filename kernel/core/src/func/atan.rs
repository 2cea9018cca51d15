//! `atan`.

use super::constant::pi;
use super::fixed::{Fixed, Limbs, room, with_places};
use super::series::{TABLED, Table, hint, near_table, odd_series};
use super::sin::sin_cos_reduced;
use super::{Declaration, SIGMOID};
use crate::num::Real;
use crate::num::real::length;
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::sync::OnceLock;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "atan",
    shape: |_| Some(SIGMOID),
    value: |x, _| x.atan(),
    slope: |x, _, _| x.integer(1) / (x * x + 1),
};

impl Real {
    /// `atan x`, with a small relative error. It is odd.
    #[must_use]
    pub(crate) fn atan(&self) -> Self {
        self.odd(|x| match x.magnitude() {
            None => x.clone(),
            Some(m) if m < x.precision().saturating_neg() => x + (x * x * x).around_zero(),
            Some(m) => x.moderate_atan(m).unwrap_or_else(|| Self::unknown(x.precision())),
        })
    }

    /// For `0 < x < 1`, or where `2^(k−1) ≤ x < 2^(k+2)` is known, `k ≥ 0`: then it is `π/2 − atan(2^-(k+1) / (x·2^-(k+1)))`, and an error of `x` counts `4·2^-2k` times
    /// at most.
    ///
    /// In units of `2^-digits`: what is cut off costs at most one, and `π/2` is within 2.
    fn moderate_atan(&self, magnitude: i64) -> Option<Self> {
        let (mantissa, exponent) = self.parts().filter(|_| self.is_positive())?;
        let top = exponent.saturating_add(length(mantissa));
        let (beyond, k) = (top > 0, top.saturating_sub(1).max(0));
        if beyond && self.accuracy()? < 2 {
            return None;
        }
        let wanted = self.precision().saturating_add(8).saturating_sub(magnitude.min(0));
        let twice = k.saturating_mul(2);
        let digits = self.useful(wanted.saturating_sub(twice)).saturating_add(twice).max(8);
        let x = self.middle_at(digits.saturating_sub(k))?;
        let half = BigInt::one() << digits.unsigned_abs();
        let (value, lost) = if beyond {
            let (rest, lost) = atan_ratio(&(half >> k.unsigned_abs()), &x, digits.unsigned_abs())?;
            (pi(digits.saturating_sub(1)) - rest, lost)
        } else {
            atan_ratio(&x, &half, digits.unsigned_abs())?
        };
        let error = self.error_at(digits.saturating_sub(twice).saturating_add(if beyond { 2 } else { 0 }))?;
        let error = error.checked_add(lost)?.checked_add(3)?;
        Some(Self::within(value, digits.saturating_neg(), error, self.precision()))
    }
}

/// `atan(n/d)` for `0 ≤ n ≤ d` and `1/2 ≤ d ≤ 1` in units of `2^-(digits+1)`; and the units of `2^-digits` that it may be wrong by.
fn atan_ratio(n: &BigInt, d: &BigInt, digits: u64) -> Option<(BigInt, u64)> {
    if digits < TABLED.unsigned_abs() {
        with_places!(digits.saturating_add(1), atan_by_table(n, d, digits))
    } else {
        atan_by_sin_cos(&(n << digits).checked_div(d)?, digits)
    }
}

/// `atan(n/d) = atan a + atan z` with `z = (n − a·d)/(d + a·n)`, `a = j/256` being nearest to `n/d`.
fn atan_by_table<F: Fixed>(n: &BigInt, d: &BigInt, digits: u64) -> Option<(BigInt, u64)> {
    static ATANS: Table<257> = [const { OnceLock::new() }; 257];
    let deep = F::places(digits.saturating_add(1));
    let [n, d] = [n, d].map(|units| F::new(units.magnitude(), deep.saturating_sub(digits).saturating_sub(1)));
    let [above, below] = [&n, &d].map(|units| units.top(deep) >> 1);
    let j = (above >> 1).saturating_add(below >> 10).checked_div(below >> 9)?;
    let near = F::word(j << 55, deep);
    let (above, below) = (n.apart(&near.times(&d, deep)), d.plus(&near.times(&n, deep)));
    near_table((&ATANS, j, Real::atan), above, &below, (digits, false))
}

/// From sine and cosine: for `0 ≤ h < 1`, `atan x = h + atan z` with `z = (x·cos h − sin h)/(cos h + x·sin h)`, since `|atan x − h| < π/2`. A good `h` makes
/// `z` small; a bad one costs time only, as long as `|z| ≤ 1/2`.
///
/// In units of `2^-digits`: `sin h` and `cos h` by 2 and rounding leave numerator and denominator within 7. As the latter is above `1/2`, `z` is
/// within 22.
fn atan_by_sin_cos(x: &BigInt, digits: u64) -> Option<(BigInt, u64)> {
    let h = hint(x, digits, 13, atan_by_sin_cos);
    if h.is_negative() || h.bits() > digits {
        return None;
    }
    let (sin, cos) = sin_cos_reduced(&h, digits);
    let above = ((x * &cos) >> digits) - &sin;
    let below = ((x * sin) >> digits) + cos;
    let z = (above << digits).checked_div(&below).filter(|z| below.bits() >= digits && z.bits() < digits)?;
    let (sum, lost) = odd_series(&z, digits, true);
    Some((h + sum, lost.checked_add(22)?))
}
