//! Numbers of a fixed number of places: what the series compute with. Up to some hundred bits they lie in a few limbs, and cost no allocation.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{ToPrimitive, Zero};
use std::iter::once;

/// A number in `[0, 2)` in units of `2^-places`. Every operation rounds down by less than a unit; results must lie in the range too.
pub(super) trait Fixed: Clone {
    /// The places of this type where at least so many are wanted.
    fn places(wanted: u64) -> u64;

    /// `units · 2^shift` units.
    fn new(units: &BigUint, shift: u64) -> Self;

    /// So many units of `2^-63`.
    fn word(units: u64, places: u64) -> Self;

    /// In units that are `2^shift` of these, rounded down.
    fn units(&self, shift: u64) -> BigInt;

    /// In units of `2^-63`, rounded down.
    fn top(&self, places: u64) -> u64;

    fn is_zero(&self) -> bool;

    fn is_below(&self, other: &Self) -> bool;

    fn plus(&self, other: &Self) -> Self;

    /// A difference that is not below zero.
    fn minus(&self, other: &Self) -> Self;

    fn times(&self, other: &Self, places: u64) -> Self;

    /// Divided by a number that is not zero.
    fn over(&self, divisor: u32) -> Self;

    /// 1.
    fn whole(places: u64) -> Self {
        Self::word(1 << 63, places)
    }

    /// `|self − other|`, and whether the difference is below zero.
    fn apart(&self, other: &Self) -> (Self, bool) {
        let below = self.is_below(other);
        (if below { other.minus(self) } else { self.minus(other) }, below)
    }

    /// `self/divisor` within 12 units, for `divisor ≥ 1/2`.
    ///
    /// For `d = 2^63·divisor` rounded down, `i = ⌊2^126/(d + 1)⌋/2^63` is below `1/divisor`, and `i·divisor ≥ 1 − 2^-61`. So the rests `r` never fall below zero, and
    /// a step leaves `r·2^-61 + 3` units at most, at the end 4. The rounded products make the true rest smaller by a unit a step, of which
    /// there are at most 6: it is within 6 units, which `1/divisor` doubles.
    fn divided(&self, divisor: &Self, places: u64) -> Self {
        let inverse = (1_u128 << 126).checked_div(u128::from(divisor.top(places)).saturating_add(1));
        let inverse = Self::word(inverse.and_then(|units| u64::try_from(units).ok()).unwrap_or(0), places);
        let (mut quotient, mut rest) = (Self::word(0, places), self.clone());
        for _ in 0..=places.checked_div(60).unwrap_or(0) {
            let step = rest.times(&inverse, places);
            rest = rest.minus(&step.times(divisor, places));
            quotient = quotient.plus(&step);
        }
        quotient
    }
}

impl Fixed for BigInt {
    fn places(wanted: u64) -> u64 {
        wanted
    }

    fn new(units: &BigUint, shift: u64) -> Self {
        (units << shift).into()
    }

    fn word(units: u64, places: u64) -> Self {
        Self::from(units) << places.saturating_sub(63)
    }

    fn units(&self, shift: u64) -> BigInt {
        self >> shift
    }

    fn top(&self, places: u64) -> u64 {
        (self >> places.saturating_sub(63)).to_u64().unwrap_or(0)
    }

    fn is_zero(&self) -> bool {
        Zero::is_zero(self)
    }

    fn is_below(&self, other: &Self) -> bool {
        self < other
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self, places: u64) -> Self {
        (self * other) >> places
    }

    fn over(&self, divisor: u32) -> Self {
        self / divisor
    }

    fn divided(&self, divisor: &Self, places: u64) -> Self {
        (self << places) / divisor
    }
}

/// Limbs from the lowest on, the highest bit of the last being 1: `64·N − 1` places.
#[derive(Clone)]
pub(super) struct Limbs<const N: usize>([u64; N]);

/// The places of so many limbs.
pub(super) const fn room(limbs: u64) -> u64 {
    limbs.saturating_mul(64).saturating_sub(1)
}

/// The lower and the higher half.
#[allow(clippy::cast_possible_truncation, reason = "the halves are meant")]
fn halves(wide: u128) -> (u64, u64) {
    (wide as u64, (wide >> 64) as u64)
}

/// Whole limbs and bits.
fn split(shift: u64) -> (usize, u32) {
    (usize::try_from(shift >> 6).unwrap_or(usize::MAX), u32::try_from(shift & 63).unwrap_or(0))
}

impl<const N: usize> Fixed for Limbs<N> {
    fn places(_: u64) -> u64 {
        u64::try_from(N).map_or(0, room)
    }

    fn new(units: &BigUint, shift: u64) -> Self {
        let (skip, bits) = split(shift);
        let (mut limbs, mut carry) = ([0; N], 0);
        for (limb, digit) in limbs.iter_mut().skip(skip).zip(units.iter_u64_digits().chain(once(0))) {
            let (low, high) = halves(u128::from(digit).wrapping_shl(bits));
            (*limb, carry) = (low | carry, high);
        }
        Self(limbs)
    }

    fn word(units: u64, _: u64) -> Self {
        let mut limbs = [0; N];
        limbs.iter_mut().next_back().into_iter().for_each(|last| *last = units);
        Self(limbs)
    }

    fn units(&self, shift: u64) -> BigInt {
        let (skip, bits) = split(shift);
        let mut shifted = [0; N];
        let limbs = self.0.iter().skip(skip);
        for ((limb, low), high) in shifted.iter_mut().zip(limbs.clone()).zip(limbs.skip(1).chain(once(&0))) {
            (*limb, _) = halves((u128::from(*high) << 64 | u128::from(*low)).wrapping_shr(bits));
        }
        let digits = shifted.map(|limb| {
            let (low, high) = (limb & u64::from(u32::MAX), limb >> 32);
            [low, high].map(|half| u32::try_from(half).unwrap_or(0))
        });
        BigInt::from_slice(Sign::Plus, digits.as_flattened())
    }

    fn top(&self, _: u64) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|limb| *limb == 0)
    }

    fn is_below(&self, other: &Self) -> bool {
        self.0.iter().rev().lt(other.0.iter().rev())
    }

    fn plus(&self, other: &Self) -> Self {
        let (mut sum, mut carry) = (self.0, 0);
        for (a, b) in sum.iter_mut().zip(&other.0) {
            (*a, carry) = halves(u128::from(*a).wrapping_add(u128::from(*b)).wrapping_add(u128::from(carry)));
        }
        Self(sum)
    }

    fn minus(&self, other: &Self) -> Self {
        let (mut difference, mut borrow) = (self.0, 0);
        for (a, b) in difference.iter_mut().zip(&other.0) {
            let (low, high) = halves(u128::from(*a).wrapping_sub(u128::from(*b)).wrapping_sub(u128::from(borrow)));
            (*a, borrow) = (low, high & 1);
        }
        Self(difference)
    }

    /// All limbs of the product, and of them the upper half, one bit further down.
    fn times(&self, other: &Self, _: u64) -> Self {
        let mut product = [[0_u64; N]; 2];
        for (i, a) in self.0.iter().enumerate() {
            let mut carry = 0;
            let mut rest = product.as_flattened_mut().iter_mut().skip(i);
            for (b, place) in other.0.iter().zip(rest.by_ref()) {
                // (2^64 − 1)² + 2·(2^64 − 1) = 2^128 − 1.
                let sum = u128::from(*a).wrapping_mul(u128::from(*b));
                (*place, carry) = halves(sum.wrapping_add(u128::from(*place)).wrapping_add(u128::from(carry)));
            }
            rest.next().into_iter().for_each(|place| *place = carry);
        }
        let [low, mut high] = product;
        let mut below = low.last().map_or(0, |limb| limb >> 63);
        for limb in &mut high {
            (*limb, below) = (*limb << 1 | below, *limb >> 63);
        }
        Self(high)
    }

    fn over(&self, divisor: u32) -> Self {
        let (mut quotient, mut rest, divisor) = (self.0, 0_u64, u64::from(divisor));
        let mut step = |half: u64| {
            let part = rest << 32 | half;
            rest = part.checked_rem(divisor).unwrap_or(0);
            part.checked_div(divisor).unwrap_or(0)
        };
        for limb in quotient.iter_mut().rev() {
            let high = step(*limb >> 32);
            *limb = high << 32 | step(*limb & u64::from(u32::MAX));
        }
        Self(quotient)
    }
}

/// Calls a function with the least type that has so many places.
macro_rules! with_places {
    ($places:expr, $function:ident $arguments:tt) => {
        match $places {
            wanted if wanted <= room(2) => $function::<Limbs<2>> $arguments,
            wanted if wanted <= room(3) => $function::<Limbs<3>> $arguments,
            wanted if wanted <= room(4) => $function::<Limbs<4>> $arguments,
            wanted if wanted <= room(5) => $function::<Limbs<5>> $arguments,
            _ => $function::<BigInt> $arguments,
        }
    };
}
pub(super) use with_places;

#[cfg(test)]
mod tests {
    use super::*;

    /// The same sequence of operations on limbs and on integers of as many places.
    fn agree<const N: usize>() {
        let places = <Limbs<N> as Fixed>::places(0);
        assert_eq!(places, 64 * N as u64 - 1);
        let mut state = 1_u64;
        let mut units = || {
            let mut units = BigInt::zero();
            for place in 0..N {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Some limbs are full and some empty, so that carries run far.
                let limb = [state, u64::MAX, 0][(state >> 60) as usize % 3];
                units = (units << 64_u8) + if place == 0 { limb >> 1 } else { limb };
            }
            units
        };
        for n in 1..2000_u32 {
            let (a, b) = (units(), units());
            let (x, y) = (Limbs::<N>::new(a.magnitude(), 0), Limbs::<N>::new(b.magnitude(), 0));
            assert_eq!((x.units(0), x.is_zero()), (a.clone(), a == BigInt::zero()));
            assert_eq!(x.plus(&y).units(0), &a + &b);
            assert_eq!(x.times(&y, 0).units(0), (&a * &b) >> places);
            assert_eq!(x.over(n.wrapping_mul(0x9e37) | 1).units(0), &a / (n.wrapping_mul(0x9e37) | 1));
            let (distance, below) = x.apart(&y);
            assert_eq!((distance.units(0), below), ((&a - &b).magnitude().clone().into(), a < b));
            let shift = u64::from(n) % places;
            assert_eq!(x.units(shift), &a >> shift);
            assert_eq!(Limbs::<N>::new((&a >> shift).magnitude(), shift).units(0), (&a >> shift) << shift);
            assert_eq!(BigInt::from(x.top(0)), &a >> (places - 63));
            // A quotient of at most 1, by at least 1/2.
            let half = BigInt::from(1) << (places - 1);
            let (above, divisor) = (&a >> 1_u8, (&b >> 1_u8) | half);
            let above = above.min(divisor.clone());
            let limbs = |units: &BigInt| Limbs::<N>::new(units.magnitude(), 0);
            let off = limbs(&above).divided(&limbs(&divisor), places).units(0) - (&above << places) / &divisor;
            assert!(BigInt::from(-12) < off && off < BigInt::from(12), "{above} / {divisor}: {off}");
        }
        for units in [1, 1 << 63, u64::MAX] {
            assert_eq!(Limbs::<N>::word(units, 0).units(0), <BigInt as Fixed>::word(units, places));
        }
    }

    #[test]
    fn limbs_compute_as_integers_do() {
        agree::<2>();
        agree::<3>();
        agree::<4>();
        agree::<5>();
    }
}
