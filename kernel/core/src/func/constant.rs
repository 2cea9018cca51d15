//! The constants π, e, ln 2 and γ.

use super::{Refusal, refine};
use crate::num::real::length;
use crate::num::{Ball, Real};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use std::sync::OnceLock;

/// A constant that has enclosures at any precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// The circumference of a circle of diameter 1.
    Pi,
    /// `exp(1)`.
    E,
    /// The natural logarithm of 2.
    Ln2,
    /// Euler's constant, `lim Σ 1/k − ln n`.
    Gamma,
}

impl Constant {
    /// A ball around the constant, of relative radius at most `2^-bits`.
    ///
    /// # Errors
    /// [`Refusal::Limit`] if that is beyond the budget.
    pub fn enclosure(self, bits: u64) -> Result<Ball, Refusal> {
        refine(bits, |precision| self.real(precision))
    }

    pub(super) fn real(self, precision: i64) -> Real {
        let places = precision.saturating_add(4);
        match self {
            Self::Pi => Real::within(pi(places), places.saturating_neg(), 2, precision),
            Self::Ln2 => Real::within(ln2(places), places.saturating_neg(), 2, precision),
            Self::E => Real::within(BigInt::one(), 0, 0, precision).exp(),
            Self::Gamma => gamma(precision),
        }
    }
}

/// Places to which π and ln 2 are kept once they were needed.
const KEPT: i64 = 1280;

/// `π·2^places` within 2 units: Machin's `π = 16 atan(1/5) − 4 atan(1/239)`.
pub(super) fn pi(places: i64) -> BigInt {
    static PI: OnceLock<BigInt> = OnceLock::new();
    kept(&PI, &[(16, 5), (-4, 239)], true, places)
}

/// `ln 2·2^places` within 2 units: `ln 2 = 18 atanh(1/26) − 2 atanh(1/4801) + 8 atanh(1/8749)`, which says that
/// `(27/25)⁹ · (4800/4802) · (8750/8748)⁴ = 2`.
pub(super) fn ln2(places: i64) -> BigInt {
    static LN2: OnceLock<BigInt> = OnceLock::new();
    kept(&LN2, &[(18, 26), (-2, 4801), (8, 8749)], false, places)
}

/// The last shift rounds down by less than a unit, and so does the one to fewer places, which makes the first half as large at least.
fn kept(cell: &OnceLock<BigInt>, terms: &[(i64, u64)], alternate: bool, places: i64) -> BigInt {
    if places > KEPT {
        return combination(terms, alternate, places.unsigned_abs());
    }
    let whole = cell.get_or_init(|| combination(terms, alternate, KEPT.unsigned_abs()));
    whole >> KEPT.saturating_sub(places).unsigned_abs()
}

/// `Σ c·atanh(1/q)`, or with atan, within 2 units of `2^-places`.
///
/// `atanh(1/q) = Σ 1/((2k+1)q^(2k+1))`, for atan with alternating signs. Each power is within 1 unit from below and each term within 2; the
/// rest after a power that is zero is below 2. There are at most `places + 64` terms, so the combination is within `28·(2·places + 130)` units, far below `2^64`.
fn combination(terms: &[(i64, u64)], alternate: bool, places: u64) -> BigInt {
    let guard = u64::from(u64::BITS);
    let mut total = BigInt::zero();
    for (factor, q) in terms {
        let mut power = (BigInt::one() << places.saturating_add(guard)) / *q;
        let (mut sum, square) = (BigInt::zero(), q.saturating_mul(*q));
        for k in 0_u64.. {
            if power.is_zero() {
                break;
            }
            let term = &power / k.saturating_mul(2).saturating_add(1);
            if alternate && k & 1 == 1 {
                sum -= term
            } else {
                sum += term
            }
            power /= square;
        }
        total += sum * *factor;
    }
    total >> guard
}

/// Brent and McMillan (1980): with `t_k = (n^k/k!)²`, `A = Σ t_k·H_k` and `B = Σ t_k`, `0 < A/B − ln n − γ < π·e^(−4n)`.
///
/// In units of `2^-f`, `t_k` is rounded down from `t_{k−1}·n²/k²` and `t_k·H_k` from `(t_{k−1}·H_{k−1}·n²/k + t_k)/k`. A rounding at `k = j` enters
/// all later terms with `t_k/t_j`, in all at most `B` units if `t_j ≥ 1`, and at most 2 if not. So `K` terms leave `B` within `K·B` units and `A`
/// within `K²·B`; terms after one that is zero with `k > 2n` fall by a factor of 4 each and cost no more. With `A/B < 32` the quotient
/// is within `64·K²` units.
fn gamma(precision: i64) -> Real {
    let n = precision.unsigned_abs().checked_div(5).unwrap_or(0).saturating_add(2);
    let square = n.saturating_mul(n);
    let places = precision.saturating_add(length(&BigInt::from(precision)).saturating_mul(2)).saturating_add(16);
    let mut t = BigInt::one() << places.unsigned_abs();
    let (mut harmonic, mut a, mut b, mut count) = (BigInt::zero(), BigInt::zero(), t.clone(), 0_u64);
    for k in 1_u64.. {
        t = t * square / k.saturating_mul(k);
        harmonic = (harmonic * square / k + &t) / k;
        if t.is_zero() && k > n.saturating_mul(2) {
            count = k;
            break;
        }
        a += &harmonic;
        b += &t;
    }
    let error = count.saturating_mul(count).saturating_mul(64);
    let quotient = Real::within((a << places.unsigned_abs()) / b, places.saturating_neg(), error, precision);
    let rest = Real::within(BigInt::zero(), precision.saturating_neg(), 4, precision);
    quotient + rest - Real::within(BigInt::from(n), 0, 0, precision).log()
}
