//! `log`, the natural logarithm.

use super::constant::Constant;
use super::exp::exp_reduced;
use super::series::{hint, odd_series, quotient, small_odd_series};
use super::{CONCAVE, Declaration, Domain, End, Shape};
use crate::num::Real;
use crate::num::real::length;
use num_bigint::BigInt;
use num_traits::One;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "log",
    shape: |_| Some(Shape { domain: Domain::From(0, End::Open), ..CONCAVE }),
    value: |x, _| x.log(),
    slope: |x, _, _| x.integer(1) / x,
};

impl Real {
    /// `log x`; unknown where `x` may not be above zero.
    ///
    /// `log x = k·ln 2 + log y` with `3/4 ≤ y < 3/2`, so that with `k ≠ 0` the sum cannot cancel by more than two bits.
    #[must_use]
    pub(crate) fn log(&self) -> Self {
        let Some((mantissa, exponent)) = self.parts().filter(|_| self.is_positive()) else {
            return Self::unknown(self.precision());
        };
        let bits = length(mantissa);
        let high = mantissa.bit(bits.saturating_sub(2).unsigned_abs());
        let k = exponent.saturating_add(bits).saturating_sub(i64::from(!high || bits == 1));
        let rest = (self.shifted(k.saturating_neg()) - 1).log1p_near_zero();
        if k == 0 { rest } else { Constant::Ln2.real(self.precision()) * k + rest }
    }

    /// `log(1 + u)` for `|u| ≤ 1/2`, with a small relative error. Where `|u|` is below the precision, `|log(1 + u) − u| ≤ u²`.
    #[must_use]
    pub(super) fn log1p_near_zero(&self) -> Self {
        match self.magnitude() {
            None => self.clone(),
            Some(m) if m < self.precision().saturating_neg() => self + (self * self).around_zero(),
            Some(m) => self.log1p_by_exp(m).unwrap_or_else(|| Self::unknown(self.precision())),
        }
    }

    /// From the exponential: for any `h`, `log(1 + u) = h + 2 atanh z` with `z = (w − 1)/(w + 1)`, `w = (1 + u)·exp(−h)`. A good `h` makes `z` small; a bad one
    /// costs time only, as long as `|h|` and `|w − 1|` are at most `1/2`.
    ///
    /// In units of `2^-places`: an error `e` of `u`, of `exp(−h)` by 2 and rounding leave `w` within `2e + 5`, `z` within `2e + 6`, its series within
    /// `3e + 8` more than its own error.
    fn log1p_by_exp(&self, magnitude: i64) -> Option<Self> {
        let digits = self.useful(self.precision().saturating_add(8).saturating_sub(magnitude.min(0))).max(8);
        let (places, (u, error)) = (digits.unsigned_abs(), self.fixed(digits)?);
        // 2 atanh(u/(2 + u)), the quotient being at most 1/5.
        let small = |u: i64| small_odd_series(quotient(u, u.saturating_add(2 << 32)), false).saturating_mul(2);
        let h = hint(self, digits, small, Self::log1p_near_zero);
        if h.bits() >= places {
            return None;
        }
        let one = BigInt::one() << places;
        let above = (((&one + u) * exp_reduced(&-&h, places)) >> places) - &one;
        if above.bits() >= places {
            return None;
        }
        let (sum, lost) = odd_series(&((&above << places) / (above + (one << 1_u8))), places, false);
        let error = error.checked_mul(6)?.checked_add(16)?.checked_add(lost.checked_mul(2)?)?;
        Some(Self::within(h + (sum << 1_u8), digits.saturating_neg(), error, self.precision()))
    }
}
