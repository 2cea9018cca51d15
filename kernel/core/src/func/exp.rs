//! `exp`.

use super::constant::ln2;
use super::fixed::{Fixed, Limbs, room, with_places};
use super::series::{Halved, reduced, taylor};
use super::{CONVEX, Declaration};
use crate::num::Real;
use crate::num::real::error_length;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};

/// Arguments beyond `±2^40`: `exp` is out of reach above, and below `2^-(2^38)` below.
const LARGE: i64 = 40;

pub(super) const FUNCTION: Declaration =
    Declaration { name: "exp", shape: |_| Some(CONVEX), value: |x, _| x.exp(), slope: |x, _, _| x.exp() };

impl Real {
    /// `exp x`: `x = n·ln 2 + r` with `|r| ≤ 0.35`. An error `δ ≤ 1/2` of `r` costs at most `exp(0.36)·(exp δ − 1) < 2δ`.
    #[must_use]
    pub(crate) fn exp(&self) -> Self {
        match self.magnitude() {
            _ if self.is_zero() => self.integer(1),
            Some(m) if m > LARGE && self.seems_negative() && self.accuracy().is_some_and(|bits| bits > 2) => {
                Self::within(BigInt::zero(), -(1 << (LARGE - 2)), 1, self.precision())
            }
            Some(m) if m <= LARGE => self.small_exp().unwrap_or_else(|| Self::unknown(self.precision())),
            _ => Self::unknown(self.precision()),
        }
    }

    fn small_exp(&self) -> Option<Self> {
        let places = self.useful(self.precision().saturating_add(8)).max(8);
        let parts = reduced(self, ln2, places)?;
        if error_length(parts.error) >= places {
            return None;
        }
        let exponent = i64::try_from(&parts.periods).ok()?.saturating_sub(places);
        let error = parts.error.checked_mul(2)?.checked_add(2)?;
        Some(Self::within(exp_reduced(&parts.rest, places.unsigned_abs()), exponent, error, self.precision()))
    }
}

/// `exp r` for `|r| ≤ 1/2` in units of `2^-places`, within 2.
///
/// `exp |r/2^k|` is a Taylor sum, squared `k` times; its reciprocal has the odd terms subtracted. In units `η` of the sum, each of its two parts is within
/// `2N + 4`, so the relative error is at most `ρ = 6(N + 2)η`; a squaring makes `2ρ + ρ²` of it and its rounding adds `1.7η` at most. After `k` of them it
/// is below `2^k·(6N + 16)·η`, the error below 1.7 times that, which the guard makes less than one unit; the last shift costs another.
pub(super) fn exp_reduced(r: &BigInt, places: u64) -> BigInt {
    let halved = Halved::new(r, places);
    with_places!(halved.places, exp_halved(&halved, r.is_negative(), places))
}

fn exp_halved<F: Fixed>(halved: &Halved, negative: bool, places: u64) -> BigInt {
    let (small, deep) = halved.fixed::<F>();
    let (even, odd) = taylor(&small, deep, false);
    let mut value = if negative { even.minus(&odd) } else { even.plus(&odd) };
    for _ in 0..halved.times {
        value = value.times(&value, deep);
    }
    value.units(deep.saturating_sub(places))
}
