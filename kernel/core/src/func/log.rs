//! `log`, the natural logarithm.

use super::constant::Constant;
use super::series::{quotient, small_odd_series};
use super::{CONCAVE, Declaration, Domain, End, Shape};
use crate::num::Real;
use crate::num::real::length;

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

    /// `log(1 + u)` for `|u| ≤ 1/2`, with a small relative error.
    ///
    /// From the exponential: for any `h`, `log y = h + 2 atanh z` with `z = (w − 1)/(w + 1)`, `w = y·exp(−h)`. A good `h` makes `z` small; a bad one
    /// costs precision only. Where `|u|` is below the precision, `|log(1 + u) − u| ≤ u²`.
    #[must_use]
    pub(super) fn log1p_near_zero(&self) -> Self {
        let Some(m) = self.magnitude() else { return self.clone() };
        if m < self.precision().saturating_neg() {
            return self + (self * self).around_zero();
        }
        let precision = self.precision().saturating_add(8).saturating_sub(m.min(0));
        // 2 atanh(u/(2 + u)), the quotient being at most 1/5.
        let small = |u: i64| small_odd_series(quotient(u, u.saturating_add(2 << 32)), false).saturating_mul(2);
        let h = self.hint(precision, small, Self::log1p_near_zero);
        let w = (self.to_precision(precision) + 1) * (-&h).exp();
        let rest = ((&w - 1) / (w + 1)).odd_series(false).shifted(1);
        (h + rest).to_precision(self.precision())
    }
}
