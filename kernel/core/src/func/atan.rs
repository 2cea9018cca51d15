//! `atan`.

use super::constant::Constant;
use super::series::{quotient, small_odd_series};
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
    /// From sine and cosine: for `0 ≤ h ≤ 1`, `atan x = h + atan z` with `z = (x·cos h − sin h)/(cos h + x·sin h)`, since `|atan x − h| < π/2`. A good `h`
    /// makes `z` small; a bad one costs precision only.
    fn atan_to_one(&self) -> Self {
        let Some(m) = self.magnitude() else { return self.clone() };
        let precision = self.precision().saturating_add(8).saturating_sub(m.min(0));
        // Above tan(π/8) it is π/4 − atan((1 − x)/(1 + x)).
        let small = |x: i64| match quotient((1_i64 << 32).saturating_sub(x), x.saturating_add(1 << 32)) {
            _ if x < 0x6a09_e667 => small_odd_series(x, true),
            z => 0xc90f_daa2_i64.saturating_sub(small_odd_series(z, true)),
        };
        let h = self.hint(precision, small, Self::atan_to_one);
        if m > 1 || !self.is_positive() || h.magnitude().is_some_and(|m| m > 0) || h.seems_negative() {
            return Self::unknown(self.precision());
        }
        let (x, (sin, cos)) = (self.to_precision(precision), h.sin_cos());
        let z = (&x * &cos - &sin) / (x * sin + cos);
        (h + z.odd_series(true)).to_precision(self.precision())
    }
}
