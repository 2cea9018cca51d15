//! What the kernels of the elementary functions share: argument reduction and Taylor sums in integers.

use crate::num::Real;
use crate::num::real::length;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

/// An argument without multiples of a period.
pub(super) struct Reduced {
    /// How many periods were taken away.
    pub(super) periods: BigInt,
    /// What is left, in units of `2^-places`; at most half a period and one unit.
    pub(super) rest: BigInt,
    /// Units that the rest may be wrong by.
    pub(super) error: u64,
}

/// `x` minus the nearest multiple of a period `P > 2/3`. `period(f)` is `P·2^f` within 2 units.
///
/// With `|x| < 2^m`, `m ≥ 0`, the multiple `n` is below `2^(m+1)`, so that at `f = places + m + 4` its error is `2|n| < 2^(m+2)` units, a quarter
/// of a unit of `2^-places`. The last shift costs at most one more, and so does shortening the error of `x`.
pub(super) fn reduced(x: &Real, period: impl Fn(i64) -> BigInt, places: i64) -> Option<Reduced> {
    let spare = x.magnitude()?.max(0).saturating_add(4);
    let deep = places.saturating_add(spare);
    let (value, error) = x.fixed(deep)?;
    let period = period(deep);
    let doubled = (&value << 1_u8) + &period;
    let periods = doubled.div_floor(&(&period << 1_u8));
    let rest = (value - &periods * period) >> spare.unsigned_abs();
    let error = error.checked_shr(u32::try_from(spare).ok()?).unwrap_or(0).checked_add(3)?;
    Some(Reduced { periods, rest, error })
}

/// The parts of even and of odd order of `Σ sⁿ/n!` for `0 ≤ s ≤ 1/4` in units of `2^-places`; with alternating signs, those of `cos s` and
/// `sin s`. Each is within `2N + 4` units, `N ≤ places` being the number of terms.
///
/// The computed term `n` is at most the true one, and `e_n ≤ (e_{n−1}·s + 1)/n + 1 ≤ 2` units below it. The sum stops at a term that is computed
/// as zero, hence at most 2 units; those after it fall by a factor of 4 each and are less together.
pub(super) fn taylor(s: &BigInt, places: u64, alternate: bool) -> (BigInt, BigInt) {
    let mut term = BigInt::one() << places;
    let (mut even, mut odd) = (term.clone(), BigInt::zero());
    for n in 1_u32.. {
        term = (term * s) >> places;
        term /= n;
        if term.is_zero() {
            break;
        }
        let sum = if n & 1 == 1 { &mut odd } else { &mut even };
        if alternate && n & 2 == 2 { *sum -= &term } else { *sum += &term }
    }
    (even, odd)
}

/// How an angle or exponent `r` of `places` bits is made small: `r/2^k`, in units of `2^-(places + k + guard)`.
///
/// `2^guard ≥ 16·places`: the errors of [`taylor`] and of the `k` steps back, which double, come to less than one unit of `2^-places`.
pub(super) struct Halved {
    pub(super) times: u64,
    pub(super) places: u64,
    pub(super) small: BigInt,
}

impl Halved {
    /// `k` is about the square root of `places`, and at least 2 so that `r < 1` becomes at most a quarter.
    pub(super) fn new(r: BigInt, places: u64) -> Self {
        let times = (places >> 1).max(4).isqrt().saturating_add(1);
        let guard = length(&BigInt::from(places)).unsigned_abs().saturating_add(4);
        let deep = places.saturating_add(times).saturating_add(guard);
        Self { times, places: deep, small: r << guard }
    }
}

impl Real {
    /// `atanh z = Σ z^k/k` over odd `k`, or with alternating signs `atan z`; unknown unless `|z| < 1/2`. It is meant for small `z`: what four terms, or
    /// fewer, leave is less than the next power.
    pub(super) fn odd_series(&self, alternate: bool) -> Self {
        let enough = self.magnitude().unwrap_or(0).saturating_sub(self.precision());
        let square = if alternate { -(self * self) } else { self * self };
        let (mut sum, mut power) = (self.clone(), self * &square);
        for k in [3, 5, 7] {
            if power.magnitude().is_none_or(|m| m < enough) {
                break;
            }
            sum = sum + &power / k;
            power = power * &square;
        }
        let small = self.is_zero() || self.magnitude().is_some_and(|m| m < 0);
        if small { sum + power.around_zero() } else { Self::unknown(self.precision()) }
    }

    /// A number near `f(x)`, up to about a ninth of `precision` places or `2^-30`, from `f` or from `small`, which computes in units of `2^-32`. It is
    /// for a search: nothing may rest on it.
    pub(super) fn hint(&self, precision: i64, small: impl Fn(i64) -> i64, f: impl Fn(&Self) -> Self) -> Self {
        let (wanted, x) = (precision.checked_div(9).unwrap_or(0).saturating_add(4), self.middle());
        let short = wanted.saturating_add(self.magnitude().unwrap_or(0).min(0));
        if wanted > 31 && short > 0 {
            return f(&x.to_precision(short.max(8))).middle().to_precision(precision);
        }
        let found = x.fixed(32).and_then(|(x, _)| x.to_i64()).map_or(0, small);
        Self::within(BigInt::from(found), -32, 0, precision)
    }
}

/// `a/b` in units of `2^-32`.
pub(super) fn quotient(a: i64, b: i64) -> i64 {
    (i128::from(a) << 32).checked_div(i128::from(b)).and_then(|q| q.to_i64()).unwrap_or(0)
}

/// `Σ z^k/k` over odd `k` up to 27, in units of `2^-32`; with alternating signs. For `|z| ≤ 0.42` that is `atanh z` or `atan z`.
pub(super) fn small_odd_series(z: i64, alternate: bool) -> i64 {
    let product = |a: i64, b: i64| (i128::from(a).wrapping_mul(i128::from(b)) >> 32).to_i64().unwrap_or(0);
    let square = if alternate { product(z, z).saturating_neg() } else { product(z, z) };
    let step = |sum: i64, k: i64| product(sum, square).saturating_add((1_i64 << 32).checked_div(k).unwrap_or(0));
    product((0..14).rev().map(|n: i64| n.saturating_mul(2).saturating_add(1)).fold(0, step), z)
}
