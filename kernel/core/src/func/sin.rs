//! `sin`.

use super::constant::pi;
use super::fixed::{Fixed, Limbs, room, with_places};
use super::series::{Halved, reduced, taylor};
use super::{Curvature, Cuts, Declaration, Domain, Shape};
use crate::num::Real;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

/// Arguments beyond `±2^65536` are not reduced.
const LARGE: i64 = 1 << 16;

/// Concave on `(0, π)`.
pub(super) const FUNCTION: Declaration = Declaration {
    name: "sin",
    shape: |_| {
        Some(Shape {
            domain: Domain::Line,
            turns: Cuts::Quarters { first: 1, step: 2 },
            bends: Cuts::Quarters { first: 0, step: 2 },
            curvatures: &[Curvature::Concave, Curvature::Convex],
        })
    },
    value: |x, _| x.sin_cos().0,
    slope: |x, _, _| x.sin_cos().1,
};

impl Real {
    /// `sin x` and `cos x`; `sin x` with a small relative error near 0.
    ///
    /// `x = n·π/2 + r` with `|r| ≤ π/4`. An error `δ` of `r` costs at most `δ`. Where `|x|` is below the precision, `|sin x − x| ≤ |x|³` and
    /// `|cos x − 1| ≤ x²`.
    #[must_use]
    pub(crate) fn sin_cos(&self) -> (Self, Self) {
        let unknown = || (Self::unknown(self.precision()), Self::unknown(self.precision()));
        match self.magnitude() {
            _ if self.is_zero() => (self.clone(), self.integer(1)),
            Some(m) if m < self.precision().saturating_neg() => {
                let square = self * self;
                (self + (&square * self).around_zero(), self.integer(1) + square.around_zero())
            }
            Some(m) if m <= LARGE => self.moderate_sin_cos(m).unwrap_or_else(unknown),
            _ => unknown(),
        }
    }

    fn moderate_sin_cos(&self, magnitude: i64) -> Option<(Self, Self)> {
        let places = self.useful(self.precision().saturating_add(8).saturating_sub(magnitude.min(0))).max(8);
        let parts = reduced(self, |f| pi(f.saturating_sub(1)), places)?;
        let (sin, cos) = sin_cos_reduced(&parts.rest, places.unsigned_abs());
        let error = parts.error.checked_add(2)?;
        let real = |value: BigInt| Self::within(value, places.saturating_neg(), error, self.precision());
        Some(match (parts.periods & BigInt::from(3)).to_u8()? {
            0 => (real(sin), real(cos)),
            1 => (real(cos), real(-sin)),
            2 => (real(-sin), real(-cos)),
            _ => (real(-cos), real(sin)),
        })
    }
}

/// `sin r` and `cos r` for `|r| ≤ 1` in units of `2^-places`, within 2.
///
/// `sin` and `cos` of `θ = |r/2^k|` are Taylor sums, taken back by `sin 2θ = 2 sin θ cos θ` and `cos 2θ = 1 − 2 sin²θ` `k` times. A step makes at most
/// `2(1 + sin θ)` times the larger error of the two, plus 2 units `η` of the sums; `θ` doubles up to `1/2`, so the product of the `1 + sin θ` is below `e`. The errors
/// end below `2^k·e·(2N + 4 + 2)·η`, which the guard makes less than one unit; the last shift costs another.
pub(super) fn sin_cos_reduced(r: &BigInt, places: u64) -> (BigInt, BigInt) {
    let halved = Halved::new(r, places);
    let (sin, cos) = with_places!(halved.places, sin_cos_halved(&halved, places));
    (if r.is_negative() { -sin } else { sin }, cos)
}

fn sin_cos_halved<F: Fixed>(halved: &Halved, places: u64) -> (BigInt, BigInt) {
    let (small, deep) = halved.fixed::<F>();
    let one = F::whole(deep);
    let (mut cos, mut sin) = taylor(&small, deep, true);
    for _ in 0..halved.times {
        let (square, half) = (sin.times(&sin, deep), sin.times(&cos, deep));
        cos = one.minus(&square.plus(&square));
        sin = half.plus(&half);
    }
    let lost = deep.saturating_sub(places);
    (sin.units(lost), cos.units(lost))
}
