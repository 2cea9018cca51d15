//! What the kernels of the elementary functions share: argument reduction and Taylor sums in integers.

use super::fixed::{Fixed, Limbs, room, with_places};
use crate::num::Real;
use crate::num::real::length;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

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
/// of a unit of `2^-places`. Cutting off `x` costs at most a sixteenth,
/// and the last shift less than one.
pub(super) fn reduced(x: &Real, period: impl Fn(i64) -> BigInt, places: i64) -> Option<Reduced> {
    let spare = x.magnitude()?.max(0).saturating_add(4);
    let deep = places.saturating_add(spare);
    let (value, _) = x.middle().fixed(deep)?;
    let period = period(deep);
    let doubled = (&value << 1_u8) + &period;
    let periods = doubled.div_floor(&(&period << 1_u8));
    let rest = (value - &periods * period) >> spare.unsigned_abs();
    Some(Reduced { periods, rest, error: x.error_at(places)?.checked_add(2)? })
}

/// The parts of even and of odd order of `Σ sⁿ/n!` for `0 ≤ s ≤ 1/4` in units of `2^-places`; with alternating signs, those of `cos s` and
/// `sin s`. Each is within `2N + 4` units, `N ≤ places` being the number of terms.
///
/// The computed term `n` is at most the true one, and `e_n ≤ (e_{n−1}·s + 1)/n + 1 ≤ 2` units below it. The sum stops at a term that is computed
/// as zero, hence at most 2 units; those after it fall by a factor of 4 each and are less together.
pub(super) fn taylor<F: Fixed>(s: &F, places: u64, alternate: bool) -> (F, F) {
    let mut term = s.clone();
    let (mut even, mut odd) = (F::one(places), s.clone());
    for n in 2_u32.. {
        term = term.times(s, places).over(n);
        if term.is_zero() {
            break;
        }
        let sum = if n & 1 == 1 { &mut odd } else { &mut even };
        *sum = if alternate && n & 2 == 2 { sum.minus(&term) } else { sum.plus(&term) };
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
    /// `k` is about the square root of `places`, and at least 3, so that `|r| ≤ 1` becomes at most an eighth. The sign is left out.
    pub(super) fn new(r: &BigInt, places: u64) -> Self {
        let times = (places >> 1).max(4).isqrt().saturating_add(1);
        let guard = length(&BigInt::from(places)).unsigned_abs().saturating_add(4);
        let deep = places.saturating_add(times).saturating_add(guard);
        Self { times, places: deep, small: r.abs() << guard }
    }

    /// The small number, and its places in this type, which are at least as many.
    pub(super) fn fixed<F: Fixed>(&self) -> (F, u64) {
        let places = F::places(self.places);
        (F::new(&self.small << places.saturating_sub(self.places)), places)
    }
}

/// `atanh z = Σ z^k/k` over odd `k`, or with alternating signs `atan z`, for `|z| ≤ 1/2` in units of `2^-places`; and the units that it may be wrong by.
///
/// For `z ≥ 0` a power is `e_k ≤ e_{k−2}/4 + 2 ≤ 3` units below the true one, its term at most 2; what follows a power that is zero is below 2 together.
pub(super) fn odd_series(z: &BigInt, places: u64, alternate: bool) -> (BigInt, u64) {
    with_places!(places, odd_sum(z, places, alternate))
}

/// With more places the units are smaller; the last shift rounds down by less than one.
fn odd_sum<F: Fixed>(z: &BigInt, places: u64, alternate: bool) -> (BigInt, u64) {
    let deep = F::places(places);
    let more = deep.saturating_sub(places);
    let mut power = F::new(z.abs() << more);
    let square = power.times(&power, deep);
    let (mut sum, mut k) = (power.clone(), 1_u32);
    while !power.is_zero() {
        power = power.times(&square, deep);
        k = k.saturating_add(2);
        let term = power.over(k);
        sum = if alternate && k & 2 == 2 { sum.minus(&term) } else { sum.plus(&term) };
    }
    let sum = sum.units() >> more;
    (if z.is_negative() { -sum } else { sum }, u64::from(k).saturating_add(3))
}

/// A number near `f(x)` in units of `2^-places`, up to about a ninth of the places or `2^-30`, from `f` or from `small`, which computes in units of
/// `2^-32`. It is for a search: nothing may rest on it.
pub(super) fn hint(x: &Real, places: i64, small: impl Fn(i64) -> i64, f: impl Fn(&Real) -> Real) -> BigInt {
    let (wanted, x) = (places.checked_div(9).unwrap_or(0).saturating_add(4), x.middle());
    let short = wanted.saturating_add(x.magnitude().unwrap_or(0).min(0));
    let found = if wanted > 31 && short > 0 {
        f(&x.to_precision(short.max(8))).middle()
    } else {
        let found = x.fixed(32).and_then(|(x, _)| x.to_i64()).map_or(0, small);
        Real::within(BigInt::from(found), -32, 0, 64)
    };
    found.fixed(places).map_or(BigInt::zero(), |(found, _)| found)
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
