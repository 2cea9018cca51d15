//! `atan`.

use super::constant::Constant;
use super::series::{hint, odd_series, quotient, small_odd_series};
use super::sin::sin_cos_reduced;
use super::{Declaration, SIGMOID};
use crate::num::Real;
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "atan",
    shape: |_| Some(SIGMOID),
    value: |x, _| x.atan(),
    slope: |x, _, _| x.integer(1) / (x * x + 1),
};

impl Real {
    /// `atan x`, with a small relative error. It is odd, and above 1 it is `π/2 − atan(1/x)`.
    #[must_use]
    pub(crate) fn atan(&self) -> Self {
        self.odd(|x| match x.magnitude() {
            None => x.clone(),
            Some(m) if m < x.precision().saturating_neg() => x + (x * x * x).around_zero(),
            Some(m) if m > 0 && !(x.integer(1) - x).is_positive() => {
                let rest = (x.integer(1) / x).atan_to_one();
                Constant::Pi.real(x.precision()).shifted(-1) - rest
            }
            Some(_) => x.atan_to_one(),
        })
    }

    fn atan_to_one(&self) -> Self {
        self.atan_by_sin_cos().unwrap_or_else(|| Self::unknown(self.precision()))
    }

    /// `atan x` for `0 < x < 2`; best up to 1.
    ///
    /// From sine and cosine: for `0 ≤ h < 1`, `atan x = h + atan z` with `z = (x·cos h − sin h)/(cos h + x·sin h)`, since `|atan x − h| < π/2`. A good `h` makes
    /// `z` small; a bad one costs time only, as long as `|z| ≤ 1/2`.
    ///
    /// In units of `2^-places`: an error `e` of `x`, of `sin h` and `cos h` by 2 and rounding leave numerator and denominator within `e + 7`. As the
    /// latter is above `1/2`, `z` is within `3e + 22`.
    fn atan_by_sin_cos(&self) -> Option<Self> {
        let magnitude = self.magnitude().filter(|m| *m <= 1 && self.is_positive())?;
        let digits = self.useful(self.precision().saturating_add(8).saturating_sub(magnitude.min(0))).max(8);
        let (places, (x, error)) = (digits.unsigned_abs(), self.fixed(digits)?);
        // Above tan(π/8) it is π/4 − atan((1 − x)/(1 + x)).
        let small = |x: i64| match quotient((1_i64 << 32).saturating_sub(x), x.saturating_add(1 << 32)) {
            _ if x < 0x6a09_e667 => small_odd_series(x, true),
            z => 0xc90f_daa2_i64.saturating_sub(small_odd_series(z, true)),
        };
        let h = hint(self, digits, small, Self::atan_to_one);
        if h.is_negative() || h.bits() > places {
            return None;
        }
        let (sin, cos) = sin_cos_reduced(&h, places);
        let above = ((&x * &cos) >> places) - &sin;
        let below = ((x * sin) >> places) + cos;
        let z = (above << places).checked_div(&below).filter(|z| below.bits() >= places && z.bits() < places)?;
        let (sum, lost) = odd_series(&z, places, true);
        let error = error.checked_mul(3)?.checked_add(22)?.checked_add(lost)?;
        Some(Self::within(h + sum, digits.saturating_neg(), error, self.precision()))
    }
}
