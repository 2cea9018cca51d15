//! `log`, the natural logarithm.

use super::constant::ln2;
use super::exp::exp_reduced;
use super::fixed::{Fixed, Limbs, room, with_places};
use super::series::{TABLED, Table, hint, near_table, odd_series};
use super::{CONCAVE, Declaration, Domain, End, Shape};
use crate::num::Real;
use crate::num::real::{error_length, length};
use num_bigint::BigInt;
use num_traits::One;
use std::sync::OnceLock;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "log",
    shape: |_| Some(Shape { domain: Domain::From(0, End::Open), ..CONCAVE }),
    value: |x, _| x.log(),
    slope: |x, _, _| x.integer(1) / x,
};

impl Real {
    /// `log x`; unknown where `x` may not be above zero, or may be any of too many numbers.
    ///
    /// `log x = k·ln 2 + log y` with `3/4 ≤ y < 3/2`, so that with `k ≠ 0` the sum cannot cancel by more than two bits.
    #[must_use]
    pub(crate) fn log(&self) -> Self {
        let Some((mantissa, exponent)) = self.parts().filter(|_| self.is_positive()) else {
            return Self::unknown(self.precision());
        };
        let bits = length(mantissa);
        let high = mantissa.bit(bits.saturating_sub(2).unsigned_abs());
        match exponent.saturating_add(bits).saturating_sub(i64::from(!high || bits == 1)) {
            0 => (self - 1).log1p_near_zero(),
            k => self.log_beyond(k).unwrap_or_else(|| Self::unknown(self.precision())),
        }
    }

    fn log_beyond(&self, k: i64) -> Option<Self> {
        let wanted = self.precision().saturating_add(8).saturating_sub(k);
        let digits = self.useful(wanted).saturating_add(k).max(8);
        let (y, error) = self.fixed(digits.saturating_sub(k))?;
        let (value, error) = log_units(&y, error, digits.unsigned_abs())?;
        let error = error.checked_add(k.unsigned_abs().checked_mul(2)?)?;
        Some(Self::within(value + ln2(digits) * k, digits.saturating_neg(), error, self.precision()))
    }

    /// `log(1 + u)` for `|u| ≤ 1/2`, with a small relative error. Where `|u|` is below the precision, `|log(1 + u) − u| ≤ u²`.
    #[must_use]
    pub(super) fn log1p_near_zero(&self) -> Self {
        match self.magnitude() {
            None => self.clone(),
            Some(m) if m < self.precision().saturating_neg() => self + (self * self).around_zero(),
            Some(m) => self.log1p_to(m).unwrap_or_else(|| Self::unknown(self.precision())),
        }
    }

    fn log1p_to(&self, magnitude: i64) -> Option<Self> {
        let digits = self.useful(self.precision().saturating_add(8).saturating_sub(magnitude.min(0))).max(8);
        let (u, error) = self.fixed(digits)?;
        let (value, error) = log_units(&(u + (BigInt::one() << digits.unsigned_abs())), error, digits.unsigned_abs())?;
        Some(Self::within(value, digits.saturating_neg(), error, self.precision()))
    }
}

/// `log y` for `1/2 ≤ y ≤ 3/2` up to `error`, in units of `2^-digits`, and the units that it may be wrong by. With `error ≤ 1/16` every `y` meant is above `7/16`, so
/// that it counts 16/7 times.
fn log_units(y: &BigInt, error: u64, digits: u64) -> Option<(BigInt, u64)> {
    let narrow = error == 0 || error_length(error).unsigned_abs() <= digits.saturating_sub(4);
    let tabled = digits < TABLED.unsigned_abs();
    let (value, lost) = match narrow {
        false => None,
        true if tabled => with_places!(digits.saturating_add(1), log_by_table(y, digits)),
        true => log_by_exp(y, digits),
    }?;
    Some((value, lost.checked_add(error.checked_mul(3)?)?))
}

/// `log y = log a + 2 atanh z` with `z = (y/2 − a/2)/(y/2 + a/2)`, `a = j/256` being the nearest to `y`.
fn log_by_table<F: Fixed>(y: &BigInt, digits: u64) -> Option<(BigInt, u64)> {
    static LOGS: Table<385> = [const { OnceLock::new() }; 385];
    let deep = F::places(digits.saturating_add(1));
    let half = F::new(y.magnitude(), deep.saturating_sub(digits).saturating_sub(1));
    let j = (half.top(deep) >> 53).saturating_add(1) >> 1;
    let near = F::word(j << 54, deep);
    near_table((&LOGS, j, Real::log), half.apart(&near), &half.plus(&near), (digits, true))
}

/// From the exponential: for any `h`, `log y = h + 2 atanh z` with `z = (w − 1)/(w + 1)`, `w = y·exp(−h)`. A good `h` makes `z` small; a bad one
/// costs time only, as long as `|h|` and `|w − 1|` are at most `1/2`.
///
/// In units of `2^-digits`: an error of `exp(−h)` by 2 and rounding leave `w` within 5, `z` within 6, its series within 8 more than its own error.
fn log_by_exp(y: &BigInt, digits: u64) -> Option<(BigInt, u64)> {
    let one = BigInt::one() << digits;
    let h = hint(&(y - &one), digits, 16, |u, places| log_by_exp(&(u + (BigInt::one() << places)), places));
    if h.bits() >= digits {
        return None;
    }
    let above = ((y * exp_reduced(&-&h, digits)) >> digits) - &one;
    if above.bits() >= digits {
        return None;
    }
    let (sum, lost) = odd_series(&((&above << digits) / (above + (one << 1_u8))), digits, false);
    Some((h + (sum << 1_u8), lost.checked_mul(2)?.checked_add(16)?))
}
