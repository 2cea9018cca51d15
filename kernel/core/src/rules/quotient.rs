//! The result of a pass: a dyadic over a positive integer, without the common divisors that nobody asks for.

use crate::interval::PRECISION;
use crate::num::{Dyadic, Rational};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};

/// `numerator / denominator`, the denominator above zero.
#[derive(Debug)]
pub(super) struct Quotient {
    pub(super) numerator: Dyadic,
    pub(super) denominator: BigInt,
}

impl Quotient {
    /// `self / divisor + summand` for a positive `divisor`.
    pub(super) fn over_plus(self, divisor: BigInt, summand: &Rational) -> Self {
        let denominator = self.denominator * divisor;
        if summand.is_zero() {
            return Self { denominator, ..self };
        }
        // n/d + p/q = (n·q + p·d) / (d·q).
        let integer = |n: &BigInt| Dyadic::new(n.clone(), 0);
        let left = &self.numerator * &integer(summand.denom());
        let right = &integer(summand.numer()) * &integer(&denominator);
        Self { numerator: left + right, denominator: denominator * summand.denom() }
    }

    /// A dyadic at most the quotient, with [`PRECISION`] significant bits.
    pub(super) fn below(&self) -> Dyadic {
        if self.denominator.is_one() {
            return self.numerator.round_down(PRECISION);
        }
        let Some(magnitude) = self.numerator.magnitude() else { return Dyadic::zero() };
        let bits = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let unit = magnitude.saturating_sub(bits(self.denominator.bits())).saturating_sub(bits(PRECISION));
        Dyadic::new(self.numerator.floor_at(unit).div_floor(&self.denominator), unit)
    }

    /// The quotient in lowest terms; one of which a part is long is rounded down, since common divisors are sought in quadratic time.
    pub(super) fn to_rational(&self) -> Rational {
        const LONG: u64 = 1 << 16;
        let magnitude = self.numerator.magnitude().map_or(0, i64::unsigned_abs);
        if self.denominator.bits() > LONG || self.numerator.exponent().unsigned_abs() > LONG || magnitude > LONG {
            return self.below().to_rational();
        }
        self.numerator.to_rational() / Rational::from_integer(self.denominator.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_follows_the_rationals() {
        let q = |p: i64, d: i64| Rational::new(p.into(), d.into());
        for (n, d, divisor, summand) in
            [(7, 3, 5, q(0, 1)), (-7, 3, 5, q(2, 9)), (0, 1, 3, q(-1, 6)), (5, 1, 1, q(1, 2))]
        {
            let quotient = Quotient { numerator: Dyadic::new(n, -2), denominator: d.into() };
            let expected = q(n, 4 * d) / q(divisor, 1) + &summand;
            let found = quotient.over_plus(divisor.into(), &summand);
            assert_eq!(found.to_rational(), expected);
            let below = found.below().to_rational();
            assert!(
                below <= expected
                    && &expected - below <= num_traits::abs(expected.clone()) / q(1 << 62, 1) / q(1 << 62, 1)
            );
        }
    }

    /// A quotient of which one part is long is reported from below, and near; the others as they are.
    #[test]
    fn long_quotients_are_rounded_down() {
        let one = BigInt::one;
        // 1 + 2⁻⁷⁰⁰⁰⁰ and 2⁷⁰⁰⁰⁰ + 1, whose bits are many, over 1; 1 over 2⁷⁰⁰⁰⁰ + 1; 2⁷⁰⁰⁰⁰ over itself and 1.
        let long: BigInt = (one() << 70_000_u32) + BigInt::one();
        let small = Dyadic::new(long.clone(), -70_000);
        let cases = [
            (small, one()),
            (Dyadic::new(long.clone(), 0), one()),
            (Dyadic::new(1, 0), long.clone()),
            (Dyadic::new(1, 70_000), long.clone()),
            (Dyadic::new(-1, -70_000), one()),
        ];
        for (numerator, denominator) in cases {
            let exact = numerator.to_rational() / Rational::from_integer(denominator.clone());
            let found = Quotient { numerator, denominator }.to_rational();
            let room = num_traits::abs(exact.clone()) / Rational::from_integer(one() << 100_u32);
            assert!(found <= exact && found >= &exact - room);
            // PRECISION bits and not 70,000.
            assert!(found.numer().bits().min(found.denom().bits()) <= 200);
        }
        // At the border nothing is lost.
        let exact = Quotient { numerator: Dyadic::new(3, -60_000), denominator: (one() << 60_000_u32) + BigInt::one() };
        let expected = exact.numerator.to_rational() / Rational::from_integer(exact.denominator.clone());
        assert_eq!(exact.to_rational(), expected);
    }
}
