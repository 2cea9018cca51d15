//! Numbers of a fixed number of places: what the series compute with. Up to some hundred bits they lie in a few limbs, and cost no allocation.

use num_bigint::{BigInt, Sign};
use num_traits::{One, Zero};

/// A number in `[0, 2)` in units of `2^-places`. Every operation rounds down by less than a unit; results must lie in the range too.
pub(super) trait Fixed: Clone {
    /// The places of this type where at least so many are wanted.
    fn places(wanted: u64) -> u64;

    /// So many units.
    fn new(units: BigInt) -> Self;

    /// 1.
    fn one(places: u64) -> Self;

    /// As units.
    fn units(&self) -> BigInt;

    fn is_zero(&self) -> bool;

    fn plus(&self, other: &Self) -> Self;

    /// A difference that is not below zero.
    fn minus(&self, other: &Self) -> Self;

    fn times(&self, other: &Self, places: u64) -> Self;

    /// Divided by a number that is not zero.
    fn over(&self, divisor: u32) -> Self;
}

impl Fixed for BigInt {
    fn places(wanted: u64) -> u64 {
        wanted
    }

    fn new(units: BigInt) -> Self {
        units
    }

    fn one(places: u64) -> Self {
        <Self as One>::one() << places
    }

    fn units(&self) -> BigInt {
        self.clone()
    }

    fn is_zero(&self) -> bool {
        Zero::is_zero(self)
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

impl<const N: usize> Fixed for Limbs<N> {
    fn places(_: u64) -> u64 {
        u64::try_from(N).map_or(0, room)
    }

    fn new(units: BigInt) -> Self {
        let mut limbs = [0; N];
        limbs.iter_mut().zip(units.iter_u64_digits()).for_each(|(limb, digit)| *limb = digit);
        Self(limbs)
    }

    fn one(_: u64) -> Self {
        let mut limbs = [0; N];
        limbs.iter_mut().next_back().into_iter().for_each(|last| *last = 1 << 63);
        Self(limbs)
    }

    fn units(&self) -> BigInt {
        let digits = self.0.map(|limb| {
            let (low, high) = (limb & u64::from(u32::MAX), limb >> 32);
            [low, high].map(|half| u32::try_from(half).unwrap_or(0))
        });
        BigInt::from_slice(Sign::Plus, digits.as_flattened())
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|limb| *limb == 0)
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
            let (x, y) = (Limbs::<N>::new(a.clone()), Limbs::<N>::new(b.clone()));
            assert_eq!((x.units(), x.is_zero()), (a.clone(), a == BigInt::zero()));
            assert_eq!(x.plus(&y).units(), &a + &b);
            assert_eq!(x.times(&y, 0).units(), (&a * &b) >> places);
            assert_eq!(x.over(n.wrapping_mul(0x9e37) | 1).units(), &a / (n.wrapping_mul(0x9e37) | 1));
            let (greater, less) = if a > b { (x, y) } else { (y, x) };
            assert_eq!(greater.minus(&less).units(), (&a - &b).magnitude().clone().into());
        }
        assert_eq!(Limbs::<N>::one(0).units(), <BigInt as Fixed>::one(places));
    }

    #[test]
    fn limbs_compute_as_integers_do() {
        agree::<2>();
        agree::<3>();
        agree::<4>();
        agree::<5>();
    }
}
