//! Real numbers known within an error: what the elementary functions compute with.
//!
//! Every operation encloses: if the operands are within their errors, the result is within its own. An operation that cannot say anything (a
//! divisor that may be zero, an exponent out of reach) gives the unknown number, and so does everything computed from that.

use super::{Ball, Dyadic, Rational};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::borrow::Cow;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Exponents stay within `±2^48`: sums of a few of them are far from the ends of the type.
const REACH: i64 = 1 << 48;
/// Errors are kept below `2^40` units, so that products of two fit 128 bits and shifts by 20 fit 64.
const ERROR_BITS: i64 = 40;
/// Bits of a sum below the precision.
const SPARE: i64 = 4;

/// A real number that is known to about `precision` significant bits, or unknown.
#[derive(Clone, Debug)]
pub struct Real {
    known: Option<Known>,
    precision: i64,
}

/// A number within `error` units of `mantissa`, the unit being `2^exponent`.
#[derive(Clone, Debug)]
struct Known {
    mantissa: BigInt,
    exponent: i64,
    error: u64,
}

/// The number of bits of `|n|`.
pub(crate) fn length(n: &BigInt) -> i64 {
    i64::try_from(n.bits()).unwrap_or(i64::MAX)
}

/// The largest `s` with `s² ≤ n` for `n ≥ 0`, and `n − s²` (Zimmermann, "Karatsuba Square Root", 1999). The depth is the logarithm of the length.
///
/// With `b = 2^k`, `n = h·b² + m·b + l` and `h = s² + r`, Newton's step from `s·b` is `q = ⌊(r·b + m)/2s⌋`, and it never comes out too small:
/// `(s·b + q + 1)² > n`. It is too large by a few at most, since `h` has half of the bits.
fn root_and_rest(n: &BigInt) -> (BigInt, BigInt) {
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
fn short_root(m: u128, shift: u64) -> Option<(u128, bool)> {
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
fn scaled(error: impl Into<u128>, shift: i64) -> Option<u64> {
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
fn moved(mantissa: Cow<'_, BigInt>, error: u64, shift: i64) -> Option<(Cow<'_, BigInt>, u64)> {
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
    fn trimmed(self, precision: i64) -> Option<Self> {
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
    fn seen(&self, exponent: i64) -> Option<(Cow<'_, BigInt>, u64)> {
        moved(Cow::Borrowed(&self.mantissa), self.error, self.exponent.saturating_sub(exponent))
    }

    /// An `m` with `|x| < 2^m` for every number `x` meant.
    fn magnitude(&self) -> i64 {
        let bits = length(&self.mantissa);
        let bits = if self.error == 0 { bits } else { bits.max(error_length(self.error)).saturating_add(1) };
        self.exponent.saturating_add(bits)
    }

    fn is_exact_zero(&self) -> bool {
        self.error == 0 && self.mantissa.is_zero()
    }

    fn negated(&self) -> Self {
        Self { mantissa: -&self.mantissa, ..*self }
    }

    /// The sum, or the difference.
    fn sum(&self, other: &Self, minus: bool, precision: i64) -> Option<Self> {
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
    fn times(&self, other: &Self, precision: i64) -> Option<Self> {
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
    fn over(&self, other: &Self, precision: i64) -> Option<Self> {
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
    fn root(&self, precision: i64) -> Option<Self> {
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

impl Real {
    /// The number `mantissa · 2^exponent` up to `error` units of `2^exponent`.
    #[must_use]
    pub(crate) fn within(mantissa: BigInt, exponent: i64, error: u64, precision: i64) -> Self {
        Self { known: Known { mantissa, exponent, error }.trimmed(precision), precision }
    }

    /// A dyadic number, rounded if it is longer than `precision`.
    #[must_use]
    pub fn dyadic(value: &Dyadic, precision: i64) -> Self {
        Self::within(value.mantissa().clone(), value.exponent(), 0, precision)
    }

    /// A rational number.
    #[must_use]
    pub fn ratio(value: &Rational, precision: i64) -> Self {
        Self::within(BigInt::from(1), 0, 0, precision).by(value)
    }

    /// `x · factor`, exactly where that is dyadic and short.
    #[must_use]
    pub(crate) fn by(&self, factor: &Rational) -> Self {
        let integer = |n: &BigInt| Self::within(n.clone(), 0, 0, self.precision);
        self * integer(factor.numer()) / integer(factor.denom())
    }

    /// Any number of a ball.
    #[must_use]
    pub(crate) fn ball_of(ball: &Ball, precision: i64) -> Self {
        Self::dyadic(ball.midpoint(), precision) + Self::dyadic(ball.radius(), precision).around_zero()
    }

    /// Nothing is known.
    #[must_use]
    pub(crate) fn unknown(precision: i64) -> Self {
        Self { known: None, precision }
    }

    /// An integer, with the precision of `self`.
    #[must_use]
    pub(crate) fn integer(&self, n: i64) -> Self {
        Self::within(BigInt::from(n), 0, 0, self.precision)
    }

    /// The bits that results are computed to.
    #[must_use]
    pub(crate) fn precision(&self) -> i64 {
        self.precision
    }

    /// The same number, for results of another precision, and rounded if that is shorter.
    #[must_use]
    pub(crate) fn with_precision(self, precision: i64) -> Self {
        Self { known: self.known.and_then(|known| known.trimmed(precision)), precision }
    }

    /// An `m` with `|x| < 2^m`; `None` if the number is zero or unknown.
    #[must_use]
    pub(crate) fn magnitude(&self) -> Option<i64> {
        self.known.as_ref().filter(|known| !known.is_exact_zero()).map(Known::magnitude)
    }

    /// Whether the number is exactly zero.
    #[must_use]
    pub(crate) fn is_zero(&self) -> bool {
        self.known.as_ref().is_some_and(Known::is_exact_zero)
    }

    /// Whether the number is surely above zero.
    #[must_use]
    pub(crate) fn is_positive(&self) -> bool {
        self.is_apart() && !self.seems_negative()
    }

    /// Whether the number is surely above or surely below zero.
    fn is_apart(&self) -> bool {
        let apart = |known: &Known| known.mantissa.magnitude().to_u64().is_none_or(|units| units > known.error);
        self.known.as_ref().is_some_and(apart)
    }

    /// Whether the middle of the enclosure is below zero.
    #[must_use]
    pub(crate) fn seems_negative(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.mantissa.is_negative())
    }

    /// The middle of the enclosure, as an exact number.
    #[must_use]
    pub(crate) fn middle(&self) -> Self {
        let known = self.known.clone().map(|known| Known { error: 0, ..known });
        Self { known, precision: self.precision }
    }

    /// Mantissa and error in units of `2^-places`.
    #[must_use]
    pub(crate) fn fixed(&self, places: i64) -> Option<(BigInt, u64)> {
        let (mantissa, error) = self.known.as_ref()?.seen(places.saturating_neg())?;
        Some((mantissa.into_owned(), error))
    }

    /// The middle in units of `2^-places`, rounded down.
    #[must_use]
    pub(crate) fn middle_at(&self, places: i64) -> Option<BigInt> {
        let known = self.known.as_ref()?;
        let (mantissa, _) = moved(Cow::Borrowed(&known.mantissa), 0, known.exponent.saturating_add(places))?;
        Some(mantissa.into_owned())
    }

    /// `places`, or as many as leave an error of at most `2^20` units of `2^-places`.
    #[must_use]
    pub(crate) fn useful(&self, places: i64) -> i64 {
        let short = |known: &Known| 20_i64.saturating_sub(known.exponent).saturating_sub(error_length(known.error));
        self.known.as_ref().filter(|known| known.error > 0).map_or(places, |known| short(known).min(places))
    }

    /// The error in units of `2^-places`.
    #[must_use]
    pub(crate) fn error_at(&self, places: i64) -> Option<u64> {
        let known = self.known.as_ref()?;
        scaled(known.error, known.exponent.saturating_add(places))
    }

    /// The middle as `mantissa · 2^exponent`.
    #[must_use]
    pub(crate) fn parts(&self) -> Option<(&BigInt, i64)> {
        self.known.as_ref().map(|known| (&known.mantissa, known.exponent))
    }

    /// How many leading bits of the middle are above the error: the relative error is below `2^(1−accuracy)`. `None` if that is unknown.
    #[must_use]
    pub(crate) fn accuracy(&self) -> Option<i64> {
        let known = self.known.as_ref()?;
        let bits = length(&known.mantissa).saturating_sub(error_length(known.error));
        Some(if known.error == 0 { i64::MAX } else { bits })
    }

    /// A ball around the number, with a midpoint of at most `bits` bits; `None` if the number is unknown.
    #[must_use]
    pub fn ball(self, bits: i64) -> Option<Ball> {
        let Known { mantissa, exponent, error } = self.known?.trimmed(bits)?;
        Ball::new(Dyadic::new(mantissa, exponent), Dyadic::new(error, exponent))
    }

    /// A number between `−|x|` and `|x|`.
    #[must_use]
    pub(crate) fn around_zero(&self) -> Self {
        let around = |known: &Known| {
            if known.is_exact_zero() {
                return known.clone();
            }
            Known { mantissa: BigInt::zero(), exponent: known.magnitude(), error: 1 }
        };
        Self { known: self.known.as_ref().map(around), precision: self.precision }
    }

    /// `x · 2^shift`.
    #[must_use]
    pub(crate) fn shifted(&self, shift: i64) -> Self {
        let moved = |known: &Known| {
            let exponent = known.exponent.saturating_add(shift);
            Known { exponent, ..known.clone() }.trimmed(self.precision)
        };
        Self { known: self.known.as_ref().and_then(moved), precision: self.precision }
    }

    /// `√x`; unknown where `x` may be below zero.
    #[must_use]
    pub(crate) fn sqrt(&self) -> Self {
        Self { known: self.known.as_ref().and_then(|known| known.root(self.precision)), precision: self.precision }
    }

    /// `x^n`.
    #[must_use]
    pub(crate) fn power(&self, n: u64) -> Self {
        let (mut result, mut square, mut rest) = (self.integer(1), self.clone(), n);
        while rest > 0 {
            if rest & 1 == 1 {
                result = result * &square;
            }
            rest >>= 1;
            if rest > 0 {
                square = &square * &square;
            }
        }
        result
    }

    /// A number that is `self` or `other`.
    #[must_use]
    pub(crate) fn either(&self, other: &Self) -> Self {
        self + (other - self).around_zero()
    }

    /// `f(x)` for an odd function that is at hand where `x` is not below zero.
    #[must_use]
    pub(crate) fn odd(&self, f: impl Fn(&Self) -> Self) -> Self {
        if self.seems_negative() { -f(&-self) } else { f(self) }
    }

    /// `−|x|`, or near zero `x` or `−x`.
    #[must_use]
    pub(crate) fn downward(&self) -> Self {
        if self.seems_negative() { self.clone() } else { -self }
    }

    /// `below` where `self` is below 0 and `above` where it is not; one of them where that is not known.
    #[must_use]
    pub(crate) fn sides(&self, below: impl FnOnce() -> Self, above: impl FnOnce() -> Self) -> Self {
        if self.is_zero() || self.is_positive() {
            above()
        } else if self.is_apart() {
            below()
        } else {
            below().either(&above())
        }
    }

    /// The larger of two.
    #[must_use]
    pub(crate) fn max(&self, other: &Self) -> Self {
        (self - other).sides(|| other.clone(), || self.clone())
    }

    /// The smaller of two.
    #[must_use]
    pub(crate) fn min(&self, other: &Self) -> Self {
        -(-self).max(&-other)
    }

    fn combine(&self, other: &Self, rule: impl Fn(&Known, &Known, i64) -> Option<Known>) -> Self {
        let precision = self.precision.max(other.precision);
        let known = match (&self.known, &other.known) {
            (Some(a), Some(b)) => rule(a, b, precision),
            _ => None,
        };
        Self { known, precision }
    }
}

/// What stands on the right of an operator.
pub trait Operand {
    /// It, with the precision of the number on the left if it has none of its own.
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real;
}

impl Operand for &Real {
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real {
        rule(left, self)
    }
}

impl Operand for Real {
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real {
        rule(left, &self)
    }
}

impl Operand for i64 {
    fn combined(self, left: &Real, rule: impl Fn(&Real, &Real) -> Real) -> Real {
        rule(left, &left.integer(self))
    }
}

macro_rules! operators {
    ($($name:ident $method:ident $rule:expr;)*) => { $(
        impl<T: Operand> $name<T> for &Real {
            type Output = Real;
            fn $method(self, other: T) -> Real {
                other.combined(self, $rule)
            }
        }
        impl<T: Operand> $name<T> for Real {
            type Output = Real;
            fn $method(self, other: T) -> Real {
                other.combined(&self, $rule)
            }
        }
    )* };
}

operators! {
    Add add |a, b| a.combine(b, |a, b, precision| a.sum(b, false, precision));
    Sub sub |a, b| a.combine(b, |a, b, precision| a.sum(b, true, precision));
    Mul mul |a, b| a.combine(b, Known::times);
    Div div |a, b| a.combine(b, Known::over);
}

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real { known: self.known.as_ref().map(Known::negated), precision: self.precision }
    }
}

impl Neg for Real {
    type Output = Real;
    fn neg(self) -> Real {
        -&self
    }
}

#[cfg(test)]
mod tests;
