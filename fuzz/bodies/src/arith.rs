//! Target `arith`: the kernel's numbers against `num-bigint` and `num-rational`, and roundings against the hardware's.

use crate::source::{Choices, extended};
use certkern_core::interval::Interval;
use certkern_core::num::ieee::{BINARY32, BINARY64, Rounding};
use certkern_core::num::{Ball, Dyadic, Planes, Rational, Short};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Signed, Zero};

/// One round of every kind of number.
pub(crate) fn body(data: &[u8]) {
    let bytes = extended(data);
    let mut u = Choices::new(&bytes);
    dyadics(&mut u);
    roundings(&mut u);
    intervals(&mut u);
    planes(&mut u);
}

fn integer(u: &mut Choices<'_>, bytes: usize) -> BigInt {
    let length = u.below(bytes);
    let byte = |u: &mut Choices<'_>| if u.below(2) == 0 { u.pick(&[0, 0xff]) } else { u.below(256) as u8 };
    let magnitude: Vec<u8> = (0..length).map(|_| byte(u)).collect();
    BigInt::from_bytes_le(if u.below(2) == 0 { Sign::Plus } else { Sign::Minus }, &magnitude)
}

fn power(exponent: i64) -> Rational {
    let power = BigInt::one() << exponent.unsigned_abs();
    if exponent < 0 { Rational::new(BigInt::one(), power) } else { Rational::from_integer(power) }
}

/// A dyadic, and the same number as it was made.
fn dyadic(u: &mut Choices<'_>) -> (Dyadic, Rational) {
    let (mantissa, exponent) = (integer(u, 20), u.between(-300, 300));
    (Dyadic::new(mantissa.clone(), exponent), Rational::from_integer(mantissa) * power(exponent))
}

fn rational(u: &mut Choices<'_>) -> Rational {
    let denominator = integer(u, 16).abs();
    Rational::new(integer(u, 16), if denominator.is_zero() { BigInt::one() } else { denominator })
}

fn dyadics(u: &mut Choices<'_>) {
    let ((a, p), (b, q)) = (dyadic(u), dyadic(u));
    assert_eq!(a.to_rational(), p);
    assert_eq!(Dyadic::from_rational(&p).as_ref(), Some(&a));
    assert_eq!((&a + &b).to_rational(), &p + &q);
    assert_eq!((&a - &b).to_rational(), &p - &q);
    assert_eq!((&a * &b).to_rational(), &p * &q);
    assert_eq!((-&a).to_rational(), -&p);
    assert_eq!(a.cmp(&b), p.cmp(&q));
    assert_eq!(a.is_negative(), p.is_negative());
    assert_eq!(a.clone().max(b.clone()).to_rational(), p.clone().max(q.clone()));
    assert_eq!(a.clone().min(b.clone()).to_rational(), p.clone().min(q.clone()));
    if let Some(magnitude) = a.magnitude() {
        assert!(power(magnitude - 1) <= p.abs() && p.abs() < power(magnitude));
    } else {
        assert!(p.is_zero());
    }
    let (exponent, bits) = (u.between(-320, 320), 1 + u.below(100) as u64);
    let unit = power(exponent);
    assert_eq!(a.floor_at(exponent), (&p / &unit).floor().to_integer());
    let r = rational(u);
    let (floor, ceil) = (Dyadic::floor_rational(&r, exponent), Dyadic::ceil_rational(&r, exponent));
    assert_eq!(floor.to_rational(), (&r / &unit).floor() * &unit);
    assert_eq!(ceil.to_rational(), (&r / &unit).ceil() * &unit);
    let (down, up) = (a.round_down(bits), a.round_up(bits));
    assert!(down <= a && a <= up && down.mantissa().bits() <= bits && up.mantissa().bits() <= bits);
    let last = a.magnitude().map_or_else(Rational::zero, |magnitude| power(magnitude - bits as i64));
    assert!((&up - &down).to_rational() <= last);
    let (down, up) = (a.sum_down(&b), a.sum_up(&b));
    assert!(down.to_rational() <= &p + &q && &p + &q <= up.to_rational());
    let far = Dyadic::new(1, u.between(-1 << 40, 1 << 40));
    let (down, up) = (a.sum_down(&far), a.sum_up(&far));
    assert!(down <= up && up.mantissa().bits() < 1 << 14);
    let radius = Dyadic::new(b.mantissa().abs(), b.exponent());
    let ball = Ball::new(a.clone(), radius.clone());
    let ball = ball.unwrap_or_else(|| panic!("a radius that is not below zero is refused"));
    assert_eq!((ball.lower(), ball.upper()), (&a - &radius, &a + &radius));
    assert_eq!((ball.negated().lower(), ball.negated().upper()), (-ball.upper(), -ball.lower()));
    assert!(Ball::new(a.clone(), -&radius).is_none_or(|_| radius.is_zero()));
    assert_eq!(Ball::between(&a, &b).is_some(), p <= q);
    if let Some(ball) = Ball::around(&a, &b) {
        assert!(ball.lower() <= a && b <= ball.upper());
    }
}

/// Floats of both formats by bits; nearest, towards zero and away from it.
fn roundings(u: &mut Choices<'_>) {
    let bits = u.bits();
    let float = f64::from_bits(bits);
    assert_eq!(Dyadic::from_f64_bits(bits).map(|d| d.to_rational()), Rational::from_float(float));
    assert_eq!(Short::from_f64_bits(bits).map(|s| Dyadic::from(s).to_rational()), Rational::from_float(float));
    let single = f32::from_bits(bits as u32);
    assert_eq!(Dyadic::from_f32_bits(bits as u32).map(|d| d.to_rational()), Rational::from_float(single));
    assert_eq!(Short::from_f32_bits(bits as u32).map(|s| Dyadic::from(s).to_rational()), Rational::from_float(single));
    // Halfway between two neighbours, and next to it.
    if let (true, Some(value)) = (float.is_finite() && float.next_up().is_finite(), Rational::from_float(float)) {
        let next = Rational::from_float(float.next_up()).unwrap_or_else(|| value.clone());
        let half = (&value + next) / Rational::from_integer(2.into());
        let even = if bits.is_multiple_of(2) { float } else { float.next_up() };
        let tiny = power(-1200);
        for (value, expected) in
            [(half.clone(), even), (&half - &tiny, float), (&half + &tiny, float.next_up()), (value.clone(), float)]
        {
            let found = certkern_wire::number::nearest_binary64(&value);
            // A zero has the sign of the rational, which has none.
            assert_eq!(found.map(f64::from_bits), Some(expected), "{value}");
        }
    }
    let value = rational(u).abs();
    for format in [BINARY32, BINARY64] {
        let round = |rounding| format.round(value.numer().magnitude(), value.denom().magnitude(), 0, rounding);
        let spelled = |bits: u64| {
            let of = if format.width == 23 { Dyadic::from_f32_bits(bits as u32) } else { Dyadic::from_f64_bits(bits) };
            of.map(|dyadic| dyadic.to_rational())
        };
        let (down, up, near) = (round(Rounding::TowardsZero), round(Rounding::AwayFromZero), round(Rounding::Nearest));
        assert!(near.bits == down.bits || near.bits == up.bits);
        assert_eq!(down.exact, down.bits == up.bits && spelled(down.bits).as_ref() == Some(&value));
        let (Some(low), Some(high)) = (spelled(down.bits), spelled(up.bits)) else {
            assert!(up.bits == format.infinity() && spelled(down.bits).is_some_and(|low| low <= value));
            continue;
        };
        assert!(low <= value && value <= high && up.bits - down.bits <= 1);
        let near = spelled(near.bits).unwrap_or_else(Rational::zero);
        assert!((&near - &value).abs() <= (&value - low).min(high - &value));
    }
    // A product of integers and powers of two scales out.
    let exponent = u.between(-400, 400);
    let scaled = BINARY64.round(value.numer().magnitude(), value.denom().magnitude(), exponent, Rounding::Nearest);
    let moved = &value * power(exponent);
    let (numerator, denominator): (&BigUint, &BigUint) = (moved.numer().magnitude(), moved.denom().magnitude());
    assert_eq!(scaled, BINARY64.round(numerator, denominator, 0, Rounding::Nearest));
}

fn intervals(u: &mut Choices<'_>) {
    let interval = |u: &mut Choices<'_>| {
        let ((a, _), (b, _)) = (dyadic(u), dyadic(u));
        Interval { lower: a.clone().min(b.clone()), upper: a.max(b) }
    };
    let (a, b) = (interval(u), interval(u));
    let inside = |z: &Interval, part: u64| {
        let (lower, upper) = (z.lower.to_rational(), z.upper.to_rational());
        &lower + (&upper - &lower) * Rational::new(part.into(), 4.into())
    };
    let holds = |z: &Interval, x: &Rational| z.lower.to_rational() <= *x && *x <= z.upper.to_rational();
    let (i, j) = (u.below(5) as u64, u.below(5) as u64);
    let (x, y) = (inside(&a, i), inside(&b, j));
    let divisor = integer(u, 12).abs() + 1_u8;
    assert!(holds(&a.plus(&b), &(&x + &y)));
    assert!(holds(&a.times(&b.lower), &(&x * b.lower.to_rational())));
    assert!(holds(&a.over(&divisor), &(&x / Rational::from_integer(divisor.clone()))));
    assert!(a.product(&b).is_none_or(|z| holds(&z, &(&x * &y))));
    assert!(a.square().is_none_or(|z| holds(&z, &(&x * &x))));
    assert!(holds(&a.outward(), &x));
    let both = a.clone().meet(b.clone());
    assert_eq!(holds(&both, &x), holds(&b, &x));
    assert_eq!(both.is_empty(), both.lower > both.upper);
    let (p, q) = (rational(u), rational(u));
    let (low, high) = (p.clone().min(q.clone()), p.max(q));
    let around = Interval::around(&low, &high);
    assert!(holds(&around, &low) && holds(&around, &high));
}

fn planes(u: &mut Choices<'_>) {
    let length = 1 + u.below(4);
    let vector = |u: &mut Choices<'_>| -> Vec<Dyadic> { (0..length).map(|_| dyadic(u).0).collect() };
    let (a, b) = (vector(u), vector(u));
    let (left, right) = (Planes::exact(&a), Planes::exact(&b));
    let entries = |planes: &Planes| -> Vec<Dyadic> { (0..planes.len()).filter_map(|j| planes.get(j)).collect() };
    assert_eq!(entries(&left), a);
    assert!(left.negative().zip(&a).all(|(negative, value)| negative == value.is_negative()));
    assert_eq!(entries(&left.plus(&right)), a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<_>>());
    assert_eq!(entries(&left.negated()), a.iter().map(|a| -a).collect::<Vec<_>>());
    let product = a.iter().zip(&b).fold(Dyadic::zero(), |sum, (a, b)| sum + a * b);
    assert_eq!(left.dot(&right), Some(product));
    let above = a.iter().zip(&b).filter(|(a, _)| a.is_negative());
    assert_eq!(
        left.dot_where(&right, |negative| negative),
        Some(above.fold(Dyadic::zero(), |sum, (a, b)| sum + a * b))
    );
    let factors: Vec<i64> = (0..length).map(|_| u.bits() as i64 >> 12).collect();
    let exponent = u.between(-200, 200);
    let scaled = a.iter().zip(&factors).map(|(a, factor)| a * &Dyadic::new(*factor, exponent));
    assert_eq!(entries(&left.times(&factors, exponent)), scaled.collect::<Vec<_>>());
    let sources: Vec<Option<usize>> = (0..length + 1).map(|_| (u.below(4) > 0).then(|| u.below(length))).collect();
    let picked = sources.iter().map(|source| source.map_or_else(Dyadic::zero, |source| a[source].clone()));
    let picked: Vec<Dyadic> = picked.collect();
    assert_eq!(entries(&left.select(&sources)), picked);
    let mut sums = vec![Dyadic::zero(); length];
    for (value, source) in picked.iter().zip(&sources) {
        if let Some(source) = source {
            sums[*source] = &sums[*source] + value;
        }
    }
    assert_eq!(left.select(&sources).scatter(&sources, length).map(|sums| entries(&sums)), Some(sums));
    let keep = 1 + u.below(8);
    let mut short = left.clone();
    let lost = short.truncate(keep);
    let (floor, ceil) = (Planes::floor(&a, keep), Planes::ceil(&a, keep));
    for (j, value) in a.iter().enumerate() {
        let get = |planes: &Planes| planes.get(j).unwrap_or_else(Dyadic::zero);
        assert!(get(&floor) <= *value && *value <= get(&ceil));
        let fallen = value - &get(&short);
        assert!(!fallen.is_negative() && lost.map_or(fallen.is_zero(), |lost| fallen < Dyadic::new(1, lost)));
    }
}
