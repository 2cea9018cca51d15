//! What the kernels of the elementary functions share: argument reduction and Taylor sums in integers.

use super::fixed::{Fixed, Limbs, room, with_places};
use crate::num::Real;
use crate::num::real::length;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use std::sync::OnceLock;

/// An argument without multiples of a period.
pub(super) struct Reduced {
    /// How many periods were taken away.
    pub(super) periods: BigInt,
    /// What is left, in units of `2^-places`; at most half a period, one unit and `2^-8`.
    pub(super) rest: BigInt,
    /// Units that the rest may be wrong by.
    pub(super) error: u64,
}

/// `x` minus the nearest multiple, or almost, of a period `P > 2/3`. `period(f)` is `P·2^f` within 2 units.
///
/// With `|x| < 2^m`, `m ≥ 0`, the multiple `n` is below `2^(m+1)`, so that at `f = places + m + 4` its error is `2|n| < 2^(m+2)` units, a quarter
/// of a unit of `2^-places`. Cutting off `x` costs at most a sixteenth,
/// and the last shift less than one.
pub(super) fn reduced(x: &Real, period: impl Fn(i64) -> BigInt, places: i64) -> Option<Reduced> {
    let spare = x.magnitude()?.max(0).saturating_add(4);
    let deep = places.saturating_add(spare);
    let (value, period) = (x.middle_at(deep)?, period(deep));
    // From 32 places of the number and of the period: for numbers below 2^20 the quotient is wrong by less than 2^-10.
    let short = x.middle_at(32).filter(|_| spare <= 24).and_then(|x| x.to_i64());
    let periods = match short.zip((&period >> deep.saturating_sub(32).unsigned_abs()).to_i64()) {
        Some((x, p)) if deep >= 32 => {
            x.saturating_mul(2).saturating_add(p).checked_div_euclid(p.saturating_mul(2))?.into()
        }
        _ => ((&value << 1_u8) + &period).div_floor(&(&period << 1_u8)),
    };
    let rest = (value - period * &periods) >> spare.unsigned_abs();
    Some(Reduced { periods, rest, error: x.error_at(places)?.checked_add(2)? })
}

/// The parts of even and of odd order of `Σ sⁿ/n!` for `0 ≤ s ≤ 1/4` in units of `2^-places`; with alternating signs, those of `cos s` and
/// `sin s`. Each is within `2N + 4` units, `N ≤ places` being the number of terms.
///
/// The computed term `n` is at most the true one, and `e_n ≤ (e_{n−1}·s + 1)/n + 1 ≤ 2` units below it. The sum stops at a term that is computed
/// as zero, hence at most 2 units; those after it fall by a factor of 4 each and are less together.
pub(super) fn taylor<F: Fixed>(s: &F, places: u64, alternate: bool) -> (F, F) {
    let mut term = s.clone();
    let (mut even, mut odd) = (F::whole(places), s.clone());
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
    small: BigInt,
    guard: u64,
}

impl Halved {
    /// `k` is about the square root of `places`, and at least 3, so that `|r| ≤ 1` becomes at most an eighth. The sign is left out.
    pub(super) fn new(r: &BigInt, places: u64) -> Self {
        let times = (places >> 1).max(4).isqrt().saturating_add(1);
        let guard = length(&BigInt::from(places)).unsigned_abs().saturating_add(4);
        let deep = places.saturating_add(times).saturating_add(guard);
        Self { times, places: deep, small: r.abs(), guard }
    }

    /// The small number, and its places in this type, which are at least as many.
    pub(super) fn fixed<F: Fixed>(&self) -> (F, u64) {
        let places = F::places(self.places);
        (F::new(self.small.magnitude(), self.guard.saturating_add(places.saturating_sub(self.places))), places)
    }
}

/// `atanh z = Σ z^k/k` over odd `k`, or with alternating signs `atan z`, for `|z| ≤ 1/2` in units of `2^-places`; and the units that it may be wrong by.
pub(super) fn odd_series(z: &BigInt, places: u64, alternate: bool) -> (BigInt, u64) {
    with_places!(places, odd_units(z, places, alternate))
}

/// With more places the units are smaller; the last shift rounds down by less than one.
fn odd_units<F: Fixed>(z: &BigInt, places: u64, alternate: bool) -> (BigInt, u64) {
    let deep = F::places(places);
    let more = deep.saturating_sub(places);
    let (sum, lost) = odd_sum(&F::new(z.magnitude(), more), deep, alternate);
    let sum = sum.units(more);
    (if z.is_negative() { -sum } else { sum }, lost.saturating_add(1))
}

/// For `z ≥ 0` a power is `e_k ≤ e_{k−2}/4 + 2 ≤ 3` units below the true one, its term at most 2; what follows a power that is zero is below 2 together.
fn odd_sum<F: Fixed>(z: &F, places: u64, alternate: bool) -> (F, u64) {
    let (mut power, square) = (z.clone(), z.times(z, places));
    let (mut sum, mut k) = (z.clone(), 1_u32);
    while !power.is_zero() {
        power = power.times(&square, places);
        k = k.saturating_add(2);
        let term = power.over(k);
        sum = if alternate && k & 2 == 2 { sum.minus(&term) } else { sum.plus(&term) };
    }
    (sum, u64::from(k).saturating_add(2))
}

/// Values of a function at `j/256` in units of `2^-TABLED`, with their errors, each computed when it is first needed.
pub(super) type Table<const N: usize> = [OnceLock<Option<(BigInt, u64)>>; N];

/// The places of the tables: those of the most limbs.
pub(super) const TABLED: i64 = 319;

/// `f(a) ± atanh z` or `f(a) ± atan z`, `doubled` with `2 atanh z`, for `a = j/256` and `z = above/below` with `|z| ≤ 1/2` and `below ≥ 1/2`, in units of `2^-digits`; and
/// the units that it may be wrong by.
///
/// In units of `F`, at most half as large: above and below are within a unit, `z` within `12 + 4`, the sum within 22 more than its own error.
pub(super) fn near_table<const N: usize, F: Fixed>(
    (table, j, f): (&Table<N>, u64, fn(&Real) -> Real),
    (above, negative): (F, bool),
    below: &F,
    (digits, doubled): (u64, bool),
) -> Option<(BigInt, u64)> {
    let deep = F::places(digits.saturating_add(1));
    let (sum, lost) = odd_sum(&above.divided(below, deep), deep, !doubled);
    let sum = sum.units(deep.saturating_sub(digits).saturating_sub(u64::from(doubled)));
    let exact = Real::within(j.into(), -8, 0, TABLED.saturating_add(16));
    let cell = table.get(usize::try_from(j).ok()?)?.get_or_init(|| f(&exact).fixed(TABLED));
    let (value, error) = cell.as_ref()?;
    let value = value >> TABLED.unsigned_abs().checked_sub(digits)?;
    Some((if negative { value - sum } else { value + sum }, lost.saturating_add(24).checked_add(*error)?))
}

/// A number near `f(x)` up to about a ninth of the places, all in units of `2^-places`, from `f` at fewer places or from a line through zero. It is for a search: nothing
/// may rest on it.
pub(super) fn hint(
    x: &BigInt,
    places: u64,
    sixteenths: i64,
    f: impl Fn(&BigInt, u64) -> Option<(BigInt, u64)>,
) -> BigInt {
    let wanted = places.checked_div(9).unwrap_or(0).saturating_add(4);
    if wanted <= 31 {
        return (x * sixteenths) >> 4_u8;
    }
    let lost = places.saturating_sub(wanted);
    f(&(x >> lost), wanted).map(|(found, _)| found << lost).unwrap_or_default()
}
