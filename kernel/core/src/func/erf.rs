//! `erf`, and the sums that its relatives share.

use super::{Constant, Declaration, SIGMOID};
use crate::num::Real;
use crate::num::real::length;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "erf",
    shape: |_| Some(SIGMOID),
    value: |x, _| x.odd(|x| Bell::inside(x, Bell::erf)),
    slope: |x, _, _| Bell::erf(x).height(),
};

/// The normal distribution in some scale: its probability between `−x` and `x`, and outside, for `x ≥ 0`.
///
/// With `v = 2x²`, `c = 2/√π` (erf, DLMF 7.6.2) or `v = x²`, `c = √(2/π)` (normal), the first is `c·exp(−v/2)·x·S(v)`, `S(v) = Σ vⁿ/(2n+1)!!`, and the
/// second is `c·exp(−v/2)·x·A(v)/v`, `A(v) = ∫₀^∞ exp(−t)/√(1 + 2t/v) dt`, whose series `Σ (−1)ⁿ(2n−1)!!/vⁿ` leaves less than its next term (DLMF 7.12.1).
pub(super) struct Bell {
    v: Real,
    c: Real,
}

impl Bell {
    pub(super) fn erf(x: &Real) -> Self {
        Self { v: (x * x).shifted(1), c: x.integer(2) / Constant::Pi.real(x.precision()).sqrt() }
    }

    pub(super) fn normal(x: &Real) -> Self {
        Self { v: x * x, c: (x.integer(2) / Constant::Pi.real(x.precision())).sqrt() }
    }

    /// `c·exp(−v/2)`: of the probability inside, the derivative by `x`.
    pub(super) fn height(&self) -> Real {
        (-&self.v).shifted(-1).exp() * &self.c
    }

    /// The probability between `−x` and `x`.
    pub(super) fn inside(x: &Real, scale: fn(&Real) -> Self) -> Real {
        let bell = scale(x);
        match bell.near() {
            Some(v) => bell.height() * x * bell.rising(v).unwrap_or_else(|| Real::unknown(x.precision())),
            None => -bell.far_outside(x) + 1,
        }
    }

    /// The probability outside. Not far out it is what the one inside leaves, with as many more bits as it is small: it is about `exp(−v/2) > 2^(−3v/4)`.
    pub(super) fn outside(x: &Real, scale: fn(&Real) -> Self) -> Real {
        let bell = scale(x);
        match bell.near() {
            Some(v) => {
                let deep = x.clone().with_precision(x.precision().saturating_add(v).saturating_add(8));
                (-Self::inside(&deep, scale) + 1).with_precision(x.precision())
            }
            None => bell.far_outside(x),
        }
    }

    fn far_outside(&self, x: &Real) -> Real {
        self.height() * x * self.alternating().unwrap_or_else(|| Real::unknown(x.precision())) / &self.v
    }

    /// `v`, rounded up, unless the alternating series reaches the precision: its least term is about `exp(−v/2)`.
    fn near(&self) -> Option<i64> {
        let most = self.v.precision().saturating_add(32).saturating_mul(2);
        if self.v.magnitude().is_some_and(|m| m > length(&BigInt::from(most)).saturating_add(1)) {
            return None;
        }
        let (v, error) = self.v.fixed(0)?;
        let v = v.to_i64()?.checked_add(i64::try_from(error).ok()?)?.checked_add(1)?;
        (v <= most).then_some(v)
    }

    /// `S(v)`; `bound ≥ v`.
    ///
    /// In units `η = 2^-f` of the sum, `v` is rounded down by less than 1 and so is each term, which makes `d_j ≤ t_{j−1}/(2j+1) + 1 ≤ S + 1` at term `j`. It enters
    /// term `n` with `t_n/t_j ≤ t_{n−j}`, all of them with at most `S`. So the sum of `N` terms is within `N·S·(S + 1)` units, and what follows a term that is
    /// zero with `2n + 1 > 2v`, less than twice that. With `S ≤ exp(v/2) < 2^(3v/4)` the relative error is below `2^-(precision + 4)`. An error `δ ≤ 1` of `v`
    /// makes a factor within `1 ± δ`, since `S′ ≤ S/2`.
    fn rising(&self, bound: i64) -> Option<Real> {
        let precision = self.v.precision();
        let guard = length(&BigInt::from(precision)).saturating_add(16);
        let places = precision.saturating_add(bound).saturating_add(guard);
        let (v, shift) = (self.v.middle_at(places)?, places.unsigned_abs());
        let mut term = BigInt::one() << shift;
        let mut sum = term.clone();
        for n in 1_i64.. {
            term = (term * &v) >> shift;
            term /= n.saturating_mul(2).saturating_add(1);
            if term.is_zero() && n > bound {
                break;
            }
            sum += &term;
        }
        let near_one = precision.saturating_add(4);
        let near_one = Real::within(BigInt::one() << near_one.unsigned_abs(), near_one.saturating_neg(), 1, precision);
        Some(Real::within(sum, places.saturating_neg(), 0, precision) * near_one * (self.doubt()? + 1))
    }

    /// `A(v)`; unknown if `v` is too small for the precision.
    ///
    /// In units of `2^-f`, `1/v` and each term are rounded down by less than 1. While `2n − 1 ≤ v` a term is not larger than the one before and
    /// `t_{n−1}·(2n − 1) = v·t_n ≤ 1`, so term `n` is within `2n` units and the sum of `N` within `N² + N`. A term that is zero leaves less than its error
    /// and 1. An error `δ` of `v ≥ 1` costs at most `δ`, since `0 < A′ < 1/v²`.
    fn alternating(&self) -> Option<Real> {
        let precision = self.v.precision();
        let places = precision.saturating_add(length(&BigInt::from(precision)).saturating_mul(2)).saturating_add(4);
        let (doubt, (v, exponent)) = (self.doubt()?, self.v.parts().filter(|_| self.v.is_positive())?);
        let (shift, one) = (places.unsigned_abs(), BigInt::one() << places.unsigned_abs());
        let wide = u64::try_from(places.saturating_sub(exponent)).map_or(BigInt::zero(), |wide| BigInt::one() << wide);
        let inverse = wide.checked_div(v)?;
        let (mut term, mut sum) = (one.clone(), one.clone());
        for n in 1_u64.. {
            let factor = n.saturating_mul(2).saturating_sub(1);
            if (&inverse + 1_u8) * factor > one {
                return None;
            }
            term = (term * &inverse * factor) >> shift;
            if term.is_zero() {
                let error = n.saturating_add(2).saturating_mul(n.saturating_add(2));
                return Some(Real::within(sum, places.saturating_neg(), error, precision) + doubt);
            }
            if n & 1 == 1 { sum -= &term } else { sum += &term }
        }
        None
    }

    /// Zero within the error of `v`, if that is at most 1.
    fn doubt(&self) -> Option<Real> {
        let doubt = &self.v - self.v.middle();
        doubt.magnitude().is_none_or(|m| m <= 0).then_some(doubt)
    }
}
