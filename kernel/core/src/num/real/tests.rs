//! Operations enclose: whatever numbers within the errors of the operands are meant, the result lies within its own.

use super::Real;
use super::known::{root_and_rest, short_root};
use crate::num::{Dyadic, Rational};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};

struct Random(u64);

impl Random {
    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let z = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 32)) & ((1 << count) - 1)
    }

    /// A number with an error, and three numbers that it may mean: the middle and both ends.
    fn real(&mut self) -> (Real, [Dyadic; 3]) {
        let precision = [8, 20, 60, 130][self.bits(2) as usize];
        let mantissa = BigInt::from(self.bits(30)) * [1_i64, -1][self.bits(1) as usize];
        let mantissa = if self.bits(3) == 0 { mantissa << 100 } else { mantissa };
        let (exponent, error) = (self.bits(6) as i64 - 50, [0, 1, self.bits(3), self.bits(25)][self.bits(2) as usize]);
        let meant = |m: BigInt| Dyadic::new(m, exponent);
        let numbers = [meant(mantissa.clone()), meant(&mantissa - error), meant(&mantissa + error)];
        (Real::within(mantissa, exponent, error, precision), numbers)
    }
}

fn contains(real: &Real, value: &Rational) -> bool {
    real.clone()
        .ball(4000)
        .is_some_and(|ball| ball.lower().to_rational() <= *value && *value <= ball.upper().to_rational())
}

#[test]
fn arithmetic_encloses() {
    let mut random = Random(1);
    let mut unknown = 0;
    for _ in 0..20_000 {
        let ((a, some), (b, others)) = (random.real(), random.real());
        let (sum, difference, product, quotient) = (&a + &b, &a - &b, &a * &b, &a / &b);
        let (larger, cube) = (a.max(&b), a.power(3));
        unknown += usize::from(quotient.clone().ball(100).is_none());
        for x in some.map(|x| x.to_rational()) {
            assert!(contains(&cube, &(&x * &x * &x)), "{a:?}");
            for y in others.clone().map(|y| y.to_rational()) {
                assert!(contains(&sum, &(&x + &y)) && contains(&difference, &(&x - &y)), "{a:?} {b:?}");
                assert!(contains(&product, &(&x * &y)), "{a:?} {b:?} {product:?}");
                assert!(contains(&larger, &x.clone().max(y.clone())), "{a:?} {b:?} {larger:?}");
                let known = quotient.clone().ball(100).is_some();
                assert!(!known || !y.is_zero() && contains(&quotient, &(&x / &y)), "{a:?} {b:?} {quotient:?}");
            }
        }
    }
    assert!(unknown < 6000, "{unknown}");
}

/// `num-bigint` has another way to the root.
#[test]
fn integer_roots_are_those_of_another_implementation() {
    let (mut random, mut short) = (Random(5), 0);
    for length in 1..400_u32 {
        let digits = |random: &mut Random| (0..=length / 16).fold(BigInt::zero(), |n, _| (n << 16) + random.bits(16));
        let (n, s) = (digits(&mut random), digits(&mut random));
        let near = |offset: i64| (&s * &s + offset).max(BigInt::zero());
        let ones = (BigInt::from(1) << length) - 1;
        for n in [n, near(-1), near(0), near(1), (&s + 1) * (&s + 1) - 1, &ones + 1, &ones * &ones, ones] {
            let root = n.sqrt();
            assert_eq!(root_and_rest(&n), (root.clone(), &n - &root * &root), "{n}");
            for shift in 0..120 {
                let radicand = &n << shift;
                let Some((found, inexact)) = n.to_u128().filter(|n| *n > 0).and_then(|n| short_root(n, shift)) else {
                    continue;
                };
                short += 1;
                let root = radicand.sqrt();
                assert_eq!((BigInt::from(found), inexact), (root.clone(), &root * &root != radicand), "{n} {shift}");
            }
        }
    }
    assert!(short > 10_000, "{short}");
}

/// Where the error is nearly as large as the number, logarithms near it and near zero are far apart.
#[test]
fn a_logarithm_of_almost_anything_is_unknown() {
    let value = Real::within(BigInt::from(1 << 20), -20, (1 << 20) - 1, 60).log();
    // log(2^-20) = −13.86…
    assert!(value.ball(60).is_none_or(|ball| ball.lower() <= Dyadic::new(-13, 0)));
    assert!(Real::within(BigInt::from(1 << 20), -20, 1 << 15, 60).log().ball(60).is_some());
}

#[test]
fn square_roots_enclose() {
    let mut random = Random(2);
    let mut known = 0;
    for _ in 0..20_000 {
        let (a, numbers) = random.real();
        let Some(root) = a.sqrt().ball(4000) else { continue };
        known += 1;
        let (low, high) = (root.lower().to_rational(), root.upper().to_rational());
        for x in numbers.map(|x| x.to_rational()) {
            assert!(low <= Rational::zero() || &low * &low <= x, "{a:?} {root:?}");
            assert!(high >= Rational::zero() && &high * &high >= x, "{a:?} {root:?}");
        }
    }
    assert!(known > 5000, "{known}");
}

/// A function and its name.
type Named = (&'static str, fn(&Real) -> Real);

/// The value at a number that an inexact argument may mean, computed to many bits, meets the value at the argument.
#[test]
fn functions_of_inexact_arguments_enclose() {
    let mut random = Random(3);
    let functions: [Named; 6] = [
        ("exp", Real::exp),
        ("log", Real::log),
        ("sin", |x| x.sin_cos().0),
        ("cos", |x| x.sin_cos().1),
        ("atan", Real::atan),
        ("sqrt", Real::sqrt),
    ];
    let mut known = [0; 6];
    for _ in 0..4000 {
        let (a, numbers) = random.real();
        for (place, (name, function)) in functions.iter().enumerate() {
            let Some(ball) = function(&a).ball(4000) else { continue };
            known[place] += 1;
            for x in &numbers {
                let value = function(&Real::dyadic(x, 400)).ball(400).unwrap_or_else(|| panic!("{name} at {x:?}"));
                assert!(value.upper() >= ball.lower() && value.lower() <= ball.upper(), "{name} at {a:?}: {ball:?}");
            }
        }
    }
    assert!(known.iter().all(|count| *count > 900), "{known:?}");
}
