//! `log`, the natural logarithm.

use super::constant::Constant;
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
    /// From the exponential: for any `h`, `log y = h + log(1 + δ)` with `δ = y·exp(−h) − 1`, and for `|δ| ≤ 1/2` the first four terms of the series leave
    /// less than `|δ|⁵`. A good `h` makes `δ` small; a bad one costs precision only. Where `|u|` is below the precision, `|log(1 + u) − u| ≤ u²`.
    #[must_use]
    pub(super) fn log1p_near_zero(&self) -> Self {
        let Some(m) = self.magnitude() else { return self.clone() };
        if m < self.precision().saturating_neg() {
            return self + (self * self).around_zero();
        }
        let precision = self.precision().saturating_add(8).saturating_sub(m.min(0));
        let h = self.log1p_hint(precision);
        let y = self.to_precision(precision) + 1;
        let delta = y * (-&h).exp() - 1;
        if delta.magnitude().is_some_and(|m| m >= 0) {
            return Self::unknown(self.precision());
        }
        let square = &delta * &delta;
        let rest = (&square * &square * &delta).around_zero();
        let series = &delta - square.shifted(-1) + &square * &delta / 3 - (&square * &square).shifted(-2);
        (h + (series + rest)).to_precision(self.precision())
    }

    /// A number near `log(1 + u)`, to a fifth of the precision. Nothing rests on it.
    fn log1p_hint(&self, precision: i64) -> Self {
        let (fifth, u) = (precision.checked_div(5).unwrap_or(0).saturating_add(4), self.middle());
        let hint = match fifth.saturating_add(self.magnitude().unwrap_or(0).min(0)) {
            // 2 atanh(u/(2+u)), of which two terms are left out.
            ..=8 => (u.shifted(1) / (u + 2)).middle(),
            short => u.to_precision(short).log1p_near_zero().middle(),
        };
        hint.to_precision(precision)
    }
}
