//! Numbers with counted errors: a mantissa, a unit, and how many units it may be off. Every operation counts what it loses.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::borrow::Cow;

/// Exponents stay within `±2^48`: sums of a few of them are far from the ends of the type.
const REACH: i64 = 1 << 48;
/// Errors are kept below `2^40` units, so that products of two fit 128 bits and shifts by 20 fit 64.
const ERROR_BITS: i64 = 40;
/// Bits of a sum below the precision.
const SPARE: i64 = 4;
/// A number within `error` units of `mantissa`, the unit being `2^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) mantissa: BigInt,
    pub(super) exponent: i64,
    pub(super) error: u64,
}

/// The number of bits of `|n|`.
pub(crate) fn length(n: &BigInt) -> i64 {
    i64::try_from(n.bits()).unwrap_or(i64::MAX)
}

/// The largest `s` with `s² ≤ n` for `n ≥ 0`, and `n − s²` (Zimmermann, "Karatsuba Square Root", 1999). The depth is the logarithm of the length.
///
/// With `b = 2^k`, `n = h·b² + m·b + l` and `h = s² + r`, Newton's step from `s·b` is `q = ⌊(r·b + m)/2s⌋`, and it never comes out too small:
/// `(s·b + q + 1)² > n`. It is too large by a few at most, since `h` has half of the bits.
pub(super) fn root_and_rest(n: &BigInt) -> (BigInt, BigInt) {
    if let Some(n) = n.to_u128() {
        let root = n.isqrt();
        return (root.into(), n.saturating_sub(root.saturating_mul(root)).into());
    }
    let k = n.bits().saturating_sub(1) >> 2;
    let low = |x: &BigInt| x & &((BigInt::one() << k) - 1_u8);
    let above = n >> k;
    let (root, rest) = root_and_rest(&(&above >> k));
    let (q, rest) = ((rest << k) + low(&above)).div_rem(&(&root << 1_u8));
    let mut rest = (rest << k) + low(n) - &q * &q;
    let mut root = (root << k) + q;
    while rest.is_negative() {
        rest += (&root << 1_u8) - 1_u8;
        root -= 1_u8;
    }
    (root, rest)
}

/// `⌊√(m·2^shift)⌋` for `m > 0`, and whether that is not the root itself, if it takes few words: one step of [`root_and_rest`] from `h = m·2^up` with `m = l = 0`.
///
/// For `k > 0` there are `h ≥ 2^126` and `s ≥ 2^63`, and `q ≤ 2^k`: with `k ≤ 60` nothing overflows, and as `q²` is below `2(s·b + q) − 1`, what comes out is
/// too large by one at most.
pub(super) fn short_root(m: u128, shift: u64) -> Option<(u128, bool)> {
    let room = u64::from(m.leading_zeros());
    let up = if shift <= room { shift } else { room.checked_sub((room ^ shift) & 1)? };
    let k = u32::try_from(shift.saturating_sub(up) >> 1).ok().filter(|k| *k <= 60)?;
    let h = m.checked_shl(u32::try_from(up).ok()?)?;
    let s = h.isqrt();
    let r = h.wrapping_sub(s.wrapping_mul(s));
    let (q, rest) = match k.checked_sub(1).map(|below| r.wrapping_shl(below)) {
        None => (0, r),
        // Halves of r·b and of 2s.
        Some(half) => (half.checked_div(s)?, half.checked_rem(s)?.wrapping_shl(k.saturating_add(1))),
    };
    let (root, square) = (s.wrapping_shl(k).wrapping_add(q), q.wrapping_mul(q));
    Some(if rest < square { (root.wrapping_sub(1), true) } else { (root, rest != square) })
}

/// At least `error · 2^shift`; `None` if that is too large.
pub(super) fn scaled(error: impl Into<u128>, shift: i64) -> Option<u64> {
    let (error, distance) = (error.into(), u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX));
    let scaled = if error == 0 {
        0
    } else if shift >= 0 {
        if distance > error.leading_zeros() {
            return None;
        }
        error.wrapping_shl(distance)
    } else {
        error.checked_shr(distance).unwrap_or(0).checked_add(1)?
    };
    u64::try_from(scaled).ok()
}

/// Mantissa and error for a unit that is `2^-shift` of theirs.
pub(super) fn moved(mantissa: Cow<'_, BigInt>, error: u64, shift: i64) -> Option<(Cow<'_, BigInt>, u64)> {
    let (error, distance) = (scaled(error, shift)?, shift.unsigned_abs());
    if shift >= 0 {
        return Some((if shift == 0 { mantissa } else { Cow::Owned(&*mantissa << distance) }, error));
    }
    let lost = mantissa.trailing_zeros().is_some_and(|zeros| zeros < distance);
    let mantissa = match mantissa {
        Cow::Owned(mantissa) => mantissa >> distance,
        Cow::Borrowed(mantissa) => mantissa >> distance,
    };
    Some((Cow::Owned(mantissa), error.checked_add(u64::from(lost))?))
}

impl Known {
    /// With the mantissa and the error short enough; `None` if the exponent is out of reach.
    pub(super) fn trimmed(self, precision: i64) -> Option<Self> {
        let bits = length(&self.mantissa).saturating_sub(precision);
        let excess = bits.max(error_length(self.error).saturating_sub(ERROR_BITS));
        let exponent = self.exponent.saturating_add(excess.max(0));
        let (mantissa, error) = if excess > 0 { self.at(exponent)? } else { (self.mantissa, self.error) };
        (exponent.abs() <= REACH).then_some(Self { mantissa, exponent, error })
    }

    /// Mantissa and error for the unit `2^exponent`.
    fn at(self, exponent: i64) -> Option<(BigInt, u64)> {
        let (mantissa, error) = moved(Cow::Owned(self.mantissa), self.error, self.exponent.saturating_sub(exponent))?;
        Some((mantissa.into_owned(), error))
    }

    /// The same of a number that is still needed.
    pub(super) fn seen(&self, exponent: i64) -> Option<(Cow<'_, BigInt>, u64)> {
        moved(Cow::Borrowed(&self.mantissa), self.error, self.exponent.saturating_sub(exponent))
    }

    /// An `m` with `|x| < 2^m` for every number `x` meant.
    pub(super) fn magnitude(&self) -> i64 {
        let bits = length(&self.mantissa);
        let bits = if self.error == 0 { bits } else { bits.max(error_length(self.error)).saturating_add(1) };
        self.exponent.saturating_add(bits)
    }

    pub(super) fn is_exact_zero(&self) -> bool {
        self.error == 0 && self.mantissa.is_zero()
    }

    pub(super) fn negated(&self) -> Self {
        Self { mantissa: -&self.mantissa, ..*self }
    }

    /// The sum, or the difference.
    pub(super) fn sum(&self, other: &Self, minus: bool, precision: i64) -> Option<Self> {
        if other.is_exact_zero() {
            return self.clone().trimmed(precision);
        }
        if self.is_exact_zero() {
            return if minus { other.negated() } else { other.clone() }.trimmed(precision);
        }
        let top = self.magnitude().max(other.magnitude());
        // Below this unit either the mantissas say nothing more, or an error would be too long.
        let short = |x: &Self| match x.error {
            0 => -REACH,
            error => x.exponent.saturating_add(error_length(error)).saturating_sub(ERROR_BITS),
        };
        let least = top.saturating_sub(precision.saturating_add(SPARE)).max(short(self)).max(short(other));
        let exponent = self.exponent.min(other.exponent).max(least);
        let ((a, e), (b, f)) = (self.seen(exponent)?, other.seen(exponent)?);
        let mantissa = if minus { &*a - &*b } else { &*a + &*b };
        Self { mantissa, exponent, error: e.checked_add(f)? }.trimmed(precision)
    }

    /// `|AB − ab| ≤ |a||B − b| + |b||A − a| + |A − a||B − b|`, with `|a| < 2^bits(a)`.
    pub(super) fn times(&self, other: &Self, precision: i64) -> Option<Self> {
        if self.is_exact_zero() || other.is_exact_zero() {
            return Some(Self { mantissa: BigInt::zero(), exponent: 0, error: 0 });
        }
        let (a, b) = (length(&self.mantissa), length(&other.mantissa));
        let exponent = self.exponent.saturating_add(other.exponent);
        let exact = Self { mantissa: &self.mantissa * &other.mantissa, exponent, error: 0 };
        if self.error == 0 && other.error == 0 {
            return exact.trimmed(precision);
        }
        let widest = |error: u64, bits: i64| if error == 0 { 0 } else { error_length(error).saturating_add(bits) };
        let errors = widest(self.error, b.max(error_length(other.error))).max(widest(other.error, a));
        let product = length(&exact.mantissa);
        let shift = product.saturating_sub(precision).max(errors.saturating_sub(ERROR_BITS)).max(0);
        let (mantissa, lost) = exact.at(exponent.saturating_add(shift))?;
        let cross = u128::from(self.error).checked_mul(u128::from(other.error))?;
        let error = scaled(self.error, b.saturating_sub(shift))?
            .checked_add(scaled(other.error, a.saturating_sub(shift))?)?
            .checked_add(scaled(cross, shift.saturating_neg())?)?;
        let exponent = exponent.saturating_add(shift);
        Self { mantissa, exponent, error: error.checked_add(lost)? }.trimmed(precision)
    }

    /// `|A/B − a/b| ≤ (|A − a| + |a/b||B − b|) / |B|`, with `|B| ≥ 2^(bits(b)−2)` since the error is below that.
    pub(super) fn over(&self, other: &Self, precision: i64) -> Option<Self> {
        let (a, b) = (length(&self.mantissa), length(&other.mantissa));
        if other.mantissa.is_zero() || error_length(other.error) > b.saturating_sub(2) && other.error > 0 {
            return None;
        }
        if self.is_exact_zero() {
            return Some(self.clone());
        }
        let full = precision.saturating_add(b).saturating_sub(a).saturating_add(1);
        let roomy = ERROR_BITS.saturating_add(b).saturating_sub(error_length(self.error));
        let shift = if self.error == 0 { full } else { full.min(roomy) }.max(0);
        let numerator = &self.mantissa << shift.unsigned_abs();
        let (quotient, rest) = numerator.div_rem(&other.mantissa);
        let inexact = !rest.is_zero();
        let below = 2_i64.saturating_sub(b);
        let own = scaled(self.error, shift.saturating_add(below))?;
        let its = scaled(other.error, length(&quotient).saturating_add(below))?;
        let error = own.checked_add(its)?.checked_add(u64::from(inexact))?;
        let exponent = self.exponent.saturating_sub(other.exponent).saturating_sub(shift);
        Self { mantissa: quotient, exponent, error }.trimmed(precision)
    }

    /// `|√A − √a| ≤ |A − a| / √a`, and `√a` has `bits(root)` bits.
    pub(super) fn root(&self, precision: i64) -> Option<Self> {
        if self.is_exact_zero() {
            return Some(self.clone());
        }
        let bits = length(&self.mantissa);
        if !self.mantissa.is_positive() || self.error > 0 && error_length(self.error) >= bits {
            return None;
        }
        let full = precision.saturating_mul(2).saturating_sub(bits).saturating_add(2);
        let shift = if self.error == 0 { full } else { full.min(bits.saturating_add(SPARE)) }.max(0);
        let shift = shift.saturating_add(self.exponent.saturating_sub(shift) & 1);
        let short = self.mantissa.to_u128().and_then(|mantissa| short_root(mantissa, shift.unsigned_abs()));
        let (root, inexact) = short.map(|(root, inexact)| (root.into(), inexact)).unwrap_or_else(|| {
            let (root, rest) = root_and_rest(&(&self.mantissa << shift.unsigned_abs()));
            (root, !rest.is_zero())
        });
        let error = scaled(self.error, shift.saturating_sub(length(&root)).saturating_add(1))?;
        let exponent = self.exponent.saturating_sub(shift) >> 1;
        Self { mantissa: root, exponent, error: error.checked_add(u64::from(inexact))? }.trimmed(precision)
    }
}

/// The number of bits of an error.
pub(crate) fn error_length(error: u64) -> i64 {
    i64::from(u64::BITS.saturating_sub(error.leading_zeros()))
}
