//! Digit planes and dyadics against plain rationals.

mod support;

use certkern_core::num::{Dyadic, Planes, Rational};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use support::{Random, d, power};

fn two_to(exponent: usize) -> BigInt {
    BigInt::from(1) << exponent
}

/// Numbers that are hard for digits of 52 bits: carries through all ones, both ends of a digit, tiny, huge, zero.
fn entry(random: &mut Random, reach: i64) -> Dyadic {
    let exponent = random.between(-reach, reach);
    let word = random.bits() as i64;
    let mantissa = match random.below(8) {
        0 => BigInt::zero(),
        1 => two_to(52) - 1,
        2 => -two_to(52),
        3 => two_to(random.below(260)) - 1,
        4 => -two_to(random.below(260)) + 1,
        5 => BigInt::from(word) * BigInt::from(random.bits()) * BigInt::from(random.bits()),
        6 => BigInt::from(random.between(-1, 1)),
        _ => BigInt::from(word >> random.below(60)),
    };
    Dyadic::new(mantissa, exponent)
}

fn entries(random: &mut Random, len: usize, reach: i64) -> Vec<Dyadic> {
    if random.chance(5) { vec![Dyadic::zero(); len] } else { (0..len).map(|_| entry(random, reach)).collect() }
}

fn rationals(values: &[Dyadic]) -> Vec<Rational> {
    values.iter().map(Dyadic::to_rational).collect()
}

fn read(planes: &Planes) -> Vec<Rational> {
    (0..planes.len()).map(|j| planes.get(j).unwrap().to_rational()).collect()
}

/// The sign that the last digit states is the sign of the number, and `get` is the number.
fn agrees(planes: &Planes, expected: &[Rational]) {
    assert_eq!(read(planes), expected);
    assert_eq!(planes.negative().collect::<Vec<_>>(), expected.iter().map(Signed::is_negative).collect::<Vec<_>>());
    assert_eq!(planes.is_zero(), expected.iter().all(Zero::is_zero));
    assert_eq!(planes.get(planes.len()), None);
}

fn trials(each: impl Fn(&mut Random, i64)) {
    for (reach, count) in [(3, 200), (120, 200), (1000, 60)] {
        for seed in 0..count {
            each(&mut Random::new(seed * 7919 + reach as u64), reach);
        }
    }
}

#[test]
fn exact_vectors_hold_their_numbers() {
    trials(|random, reach| {
        let len = 1 + random.below(6);
        let values = entries(random, len, reach);
        agrees(&Planes::exact(&values), &rationals(&values));
    });
    agrees(&Planes::exact(&[]), &[]);
    agrees(&Planes::zeros(3), &rationals(&[d(0, 0), d(0, 0), d(0, 0)]));
}

#[test]
fn linear_operations_agree_with_rationals() {
    trials(|random, reach| {
        let len = 1 + random.below(6);
        let (a, b) = (entries(random, len, reach), entries(random, len, reach));
        let (x, y) = (rationals(&a), rationals(&b));
        let (p, r) = (Planes::exact(&a), Planes::exact(&b));
        agrees(&p.plus(&r), &x.iter().zip(&y).map(|(x, y)| x + y).collect::<Vec<_>>());
        agrees(&p.negated(), &x.iter().map(|x| -x).collect::<Vec<_>>());
        // x + (−x) runs carries through every plane.
        agrees(&p.plus(&p.negated()), &vec![Rational::zero(); len]);
        let factor = |random: &mut Random| [0, 1, -1, 1 << 52, -(1 << 52), random.bits() as i64 >> 12][random.below(6)];
        let factors: Vec<i64> = (0..len).map(|_| factor(random)).collect();
        let exponent = random.between(-150, 150);
        let scaled = x.iter().zip(&factors).map(|(x, f)| x * Rational::from_integer((*f).into()) * power(exponent));
        agrees(&p.times(&factors, exponent), &scaled.collect::<Vec<_>>());
    });
}

#[test]
fn inner_products_agree_with_rationals() {
    trials(|random, reach| {
        let len = 1 + random.below(6);
        let (a, b) = (entries(random, len, reach), entries(random, len, reach));
        let (p, r) = (Planes::exact(&a), Planes::exact(&b));
        let pairs: Vec<(Rational, Rational)> = rationals(&a).into_iter().zip(rationals(&b)).collect();
        let sum = |keep: &dyn Fn(&Rational) -> bool| -> Rational {
            pairs.iter().filter(|(x, _)| keep(x)).map(|(x, y)| x * y).sum()
        };
        assert_eq!(p.dot(&r).unwrap().to_rational(), sum(&|_| true));
        assert_eq!(p.dot_where(&r, |negative| negative).unwrap().to_rational(), sum(&|x| x.is_negative()));
        assert_eq!(p.dot_where(&r, |negative| !negative).unwrap().to_rational(), sum(&|x| !x.is_negative()));
    });
}

#[test]
fn selection_and_its_adjoint_agree_with_rationals() {
    trials(|random, reach| {
        let len = 1 + random.below(5);
        let values = entries(random, len, reach);
        let x = rationals(&values);
        let p = Planes::exact(&values);
        let sources: Vec<Option<usize>> =
            (0..7).map(|_| if random.chance(20) { None } else { Some(random.below(len)) }).collect();
        let picked = sources.iter().map(|s| s.map_or_else(Rational::zero, |s| x[s].clone())).collect::<Vec<_>>();
        let selected = p.select(&sources);
        agrees(&selected, &picked);
        let mut back = vec![Rational::zero(); len];
        for (value, source) in picked.iter().zip(&sources) {
            if let Some(source) = source {
                back[*source] += value;
            }
        }
        agrees(&selected.scatter(&sources, len).unwrap(), &back);
    });
}

#[test]
fn truncation_rounds_each_entry_down_by_less_than_it_states() {
    trials(|random, reach| {
        let len = 1 + random.below(6);
        let values = entries(random, len, reach);
        let keep = random.below(4);
        let mut planes = Planes::exact(&values);
        let digits = planes.digits();
        let lost = planes.truncate(keep);
        assert!(planes.digits() <= keep.max(1));
        let unit = lost.map_or_else(Rational::zero, power);
        for (before, after) in rationals(&values).iter().zip(read(&planes)) {
            let fall = before - &after;
            assert!(!fall.is_negative() && (fall < unit || lost.is_none() && fall.is_zero()), "{fall} {unit}");
        }
        assert_eq!(lost.is_some(), rationals(&values) != read(&planes), "a loss is stated exactly where there is one");
        assert!(lost.is_none() || digits > keep.max(1));
        // Later steps keep the invariant of a truncated vector.
        agrees(&planes.plus(&Planes::zeros(len)), &read(&planes));
    });
}

#[test]
fn floor_and_ceil_round_outward_and_keep_the_bits_that_they_promise() {
    trials(|random, reach| {
        let len = 1 + random.below(6);
        let values = entries(random, len, reach);
        let keep = 2 + random.below(4);
        let (floor, ceil) = (Planes::floor(&values, keep), Planes::ceil(&values, keep));
        assert!(floor.digits() <= keep);
        let largest = values.iter().filter_map(Dyadic::magnitude).max();
        let slack = largest.map_or_else(Rational::zero, |m| power(m - 52 * (keep as i64 - 1)));
        for ((exact, below), above) in rationals(&values).iter().zip(read(&floor)).zip(read(&ceil)) {
            assert!(below <= *exact && *exact <= above);
            assert!(exact - below <= slack && above - exact <= slack);
        }
    });
}

#[test]
fn one_tiny_entry_costs_no_planes_when_it_is_rounded() {
    let values = [d(1, 0), d(1, -1_000_000_000), d(-1, -1_000_000_000)];
    let floor = Planes::floor(&values, 4);
    assert!(floor.digits() <= 4);
    assert_eq!(floor.get(0), Some(d(1, 0)));
    assert_eq!(floor.get(1), Some(d(0, 0)));
    assert!(floor.get(2).unwrap().is_negative());
}

#[test]
fn sums_beyond_what_an_accumulator_holds_are_refused() {
    // 2^21 products of two digits within ±2^52 stay below 2^127; one more is refused, also where overlapping planes make it so.
    let ones = |len: usize| Planes::exact(&vec![d(1, 0); len]);
    assert!(ones(1 << 21).dot(&ones(1 << 21)).is_some());
    assert!(ones((1 << 21) + 1).dot(&ones((1 << 21) + 1)).is_none());
    let extreme = Planes::exact(&vec![d(-(1 << 52), 0); 1 << 21]);
    assert_eq!(extreme.dot(&extreme), Some(d(1, 125)));
    let wide = |len: usize| Planes::exact(&(0..len).map(|_| Dyadic::new(two_to(103) + 1, 0)).collect::<Vec<_>>());
    assert_eq!(wide(3).digits(), 2);
    assert!(wide((1 << 20) + 1).dot(&wide((1 << 20) + 1)).is_none());
    assert!(ones((1 << 21) + 1).scatter(&vec![Some(0); (1 << 21) + 1], 1).is_none());
}

#[test]
fn dyadic_rounding_is_the_nearest_multiple_on_its_side() {
    trials(|random, reach| {
        let value = entry(random, reach);
        let bits = 1 + random.below(80) as u64;
        let (down, up) = (value.round_down(bits), value.round_up(bits));
        assert!(down.mantissa().bits() <= bits && up.mantissa().bits() <= bits);
        assert!(down <= value && value <= up);
        if let Some(magnitude) = value.magnitude() {
            let unit = power(magnitude - bits as i64);
            assert!((&up - &down).to_rational() <= unit);
            let size = value.to_rational().abs();
            assert!(power(magnitude - 1) <= size && size < power(magnitude));
        }
        assert_eq!(down.clone().min(up.clone()), down);
        assert_eq!(down.clone().max(up.clone()), up);
    });
}

#[test]
fn rationals_are_rounded_to_the_neighbouring_multiples() {
    let mut random = Random::new(5);
    for _ in 0..500 {
        let value = Rational::new((random.bits() as i64).into(), BigInt::from(1 + random.below(1 << 20)));
        let exponent = random.between(-90, 90);
        let unit = power(exponent);
        let (floor, ceil) = (Dyadic::floor_rational(&value, exponent), Dyadic::ceil_rational(&value, exponent));
        let (floor, ceil) = (floor.to_rational(), ceil.to_rational());
        assert!((&floor / &unit).is_integer() && (&ceil / &unit).is_integer());
        assert!(floor <= value && value <= ceil && &value - floor < unit && ceil - &value < unit);
    }
}

#[test]
fn order_and_sums_of_dyadics_agree_with_rationals() {
    trials(|random, reach| {
        let (a, b) = (entry(random, reach), entry(random, reach));
        let near = &a + &d(random.between(-1, 1), random.between(-reach, reach));
        for (a, b) in [(&a, &b), (&a, &near), (&near, &b), (&a, &a)] {
            let (x, y) = (a.to_rational(), b.to_rational());
            assert_eq!(a.cmp(b), x.cmp(&y));
            assert_eq!((a + b).to_rational(), &x + &y);
            assert_eq!((a - b).to_rational(), &x - &y);
            assert_eq!((a * b).to_rational(), &x * &y);
            // Nothing here spans thousands of bits, so nothing is shortened.
            assert_eq!(a.sum_down(b), a + b);
            assert_eq!(a.sum_up(b), a + b);
        }
    });
}

#[test]
fn sums_of_numbers_that_lie_far_apart_stay_short_and_outward() {
    let (large, tiny) = (d(3, 0), d(1, -1_000_000_000));
    for sign in [1, -1] {
        let tiny = if sign == 1 { tiny.clone() } else { -&tiny };
        let (down, up) = (large.sum_down(&tiny), large.sum_up(&tiny));
        assert!(down.mantissa().bits() < 10_000 && up.mantissa().bits() < 10_000);
        // Compared with 3 alone: 3 + tiny lies between 3 and the next short number.
        assert!(if sign == 1 { down == large && up > large } else { down < large && up == large });
        assert!((&up - &down).to_rational() <= power(-8000));
    }
    assert!(tiny < large && -&large < tiny && -&tiny > -&large);
}
