//! `atan`.

use super::constant::Constant;
use super::{Declaration, SIGMOID};
use crate::num::Real;

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

    /// `atan x` for `0 < x < 2`; best up to 1.
    ///
    /// From sine and cosine: for `0 ≤ h ≤ 1`, `atan x = h + atan δ` with `δ = (x·cos h − sin h)/(cos h + x·sin h)`, since `|atan x − h| < π/2`, and the
    /// first two terms of the series leave less than `|δ|⁵`. A good `h` makes `δ` small; a bad one costs precision only.
    fn atan_to_one(&self) -> Self {
        let Some(m) = self.magnitude() else { return self.clone() };
        if m > 1 || !self.is_positive() {
            return Self::unknown(self.precision());
        }
        let precision = self.precision().saturating_add(8).saturating_sub(m.min(0));
        let h = self.atan_hint(precision);
        if h.magnitude().is_some_and(|m| m > 0) || h.seems_negative() {
            return Self::unknown(self.precision());
        }
        let (x, (sin, cos)) = (self.to_precision(precision), h.sin_cos());
        let delta = (&x * &cos - &sin) / (&x * &sin + &cos);
        let square = &delta * &delta;
        let cube = &square * &delta;
        let series = delta - &cube / 3 + (cube * square).around_zero();
        (h + series).to_precision(self.precision())
    }

    /// A number near `atan x`, to a fifth of the precision. Nothing rests on it.
    fn atan_hint(&self, precision: i64) -> Self {
        let (fifth, x) = (precision.checked_div(5).unwrap_or(0).saturating_add(4), self.middle());
        let hint = match fifth.saturating_add(self.magnitude().unwrap_or(0).min(0)) {
            ..=8 => (&x / ((&x * &x * 9).shifted(-5) + 1)).middle(),
            short => x.to_precision(short).atan_to_one().middle(),
        };
        hint.to_precision(precision)
    }
}
