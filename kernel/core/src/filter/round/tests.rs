use super::*;
use num_traits::Zero;

fn fraction(numerator: i64, denominator: i64) -> Rational {
    Rational::new(BigInt::from(numerator), BigInt::from(denominator))
}

fn power(exponent: i64) -> Rational {
    Dyadic::new(1, exponent).to_rational()
}

fn value_of(double: f64) -> Rational {
    to_dyadic(double).unwrap().to_rational()
}

/// Rationals of all magnitudes that matter, both signs: beside doubles, between them, beyond them.
fn rationals() -> Vec<Rational> {
    let mut found = vec![Rational::zero()];
    for exponent in
        [-3000, -1076, -1075, -1074, -1073, -1024, -1023, -1022, -1021, -60, -1, 0, 1, 52, 99, 100, 1023, 1024, 3000]
    {
        for factor in [
            (1, 1),
            (3, 2),
            (1, 3),
            (2, 3),
            (7, 5),
            (1_000_001, 1_000_000),
            ((1 << 54) - 1, 1 << 54),
            ((1 << 53) + 1, 1 << 53),
        ] {
            let value = fraction(factor.0, factor.1) * power(exponent);
            found.extend([-&value, value]);
        }
    }
    found
}

#[test]
fn ends_are_the_next_doubles() {
    for value in rationals() {
        let (below, above) = (down(&value), up(&value));
        // The definition, in exact arithmetic; infinities end the line.
        assert!(below == f64::NEG_INFINITY || value_of(below) <= value, "{value}: {below:e}");
        assert!(below.next_up() == f64::INFINITY || value_of(below.next_up()) > value, "{value}: {below:e}");
        assert!(above == f64::INFINITY || value_of(above) >= value, "{value}: {above:e}");
        assert!(above.next_down() == f64::NEG_INFINITY || value_of(above.next_down()) < value, "{value}: {above:e}");
        if let Some(dyadic) = Dyadic::from_rational(&value) {
            assert_eq!(around(&dyadic, &BigInt::one()), (below, above), "{value}");
            assert_eq!(exact(&dyadic).is_some(), below == above, "{value}");
            assert!(exact(&dyadic).is_none_or(|found| value_of(found) == value), "{value}");
        }
    }
}

#[test]
fn ends_beyond_the_range() {
    let huge = power(1024);
    assert_eq!((down(&huge), up(&huge)), (f64::MAX, f64::INFINITY));
    assert_eq!((down(&-&huge), up(&-&huge)), (f64::NEG_INFINITY, f64::MIN));
    assert_eq!(around(&Dyadic::new(1, i64::MAX - 2), &BigInt::one()).1, f64::INFINITY);
    assert_eq!(around(&Dyadic::new(1, i64::MIN), &BigInt::one()).1.to_bits(), 1);
    assert_eq!(around(&Dyadic::new(1, i64::MIN), &BigInt::one()).0.to_bits(), 0);
    assert_eq!(around(&Dyadic::new(-1, i64::MIN), &BigInt::one()).1.to_bits(), 0);
}

#[test]
fn the_nearest_double_is_that_of_the_standard_library() {
    // The reader of decimals in the standard library is another implementation of the same rounding.
    let mut state = 7_u64;
    for round in 0_u32..2000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let digits = (state >> 1) as i64 * if round % 2 == 0 { 1 } else { -1 };
        let places = round % 40;
        let expected: f64 = format!("{digits}e-{places}").parse().unwrap();
        let found = nearest(&Dyadic::new(digits, 0), &BigInt::from(10).pow(places));
        assert_eq!(found.map(f64::to_bits), Some(expected.to_bits()), "{digits}e-{places}");
    }
}

#[test]
fn ties_go_to_the_even_number() {
    let tie = |odd: i64| nearest(&Dyadic::new(odd, -1), &BigInt::one());
    assert_eq!(tie((1 << 54) + 1), Some(9_007_199_254_740_992.0));
    assert_eq!(tie((1 << 54) + 3), Some(9_007_199_254_740_994.0));
    assert_eq!(tie((1 << 55) - 1), Some(18_014_398_509_481_984.0));
    assert_eq!(tie(-(1 << 54) - 3), Some(-9_007_199_254_740_994.0));
}

#[test]
fn numbers_for_the_exact_tier_are_refused() {
    let near = |mantissa: i64, exponent: i64, denominator: i64| {
        nearest(&Dyadic::new(mantissa, exponent), &BigInt::from(denominator))
    };
    assert_eq!(near(1, 100, 1), Some(LIMIT));
    assert_eq!(near(-1, 100, 1), Some(-LIMIT));
    assert_eq!(near((1 << 52) + 1, 48, 1), None);
    // Above 2^100, but nearest to it.
    assert_eq!(near((1 << 62) + 1, 38, 1), Some(LIMIT));
    assert_eq!(near(1, 5000, 1), None);
    assert_eq!(near(3, -1074, 1), Some(f64::from_bits(3)));
    assert_eq!(near(1, -1074, 2), None);
    assert_eq!(near(1, -1022, 3), None);
    assert_eq!(near(1, -1020, 3), Some(f64::MIN_POSITIVE * (4.0 / 3.0)));
    assert_eq!(near(0, 0, 3), Some(0.0));
    assert_eq!(near(1, i64::MIN, 1), None);
    assert_eq!(near(1, 0, 0), None);
    assert_eq!(near(1, 0, -1), None);
}

#[test]
fn entries_of_a_matrix_are_rounded_one_by_one() {
    let entry = |mantissa: i64, exponent: i64| Dyadic::new(mantissa, exponent);
    let wide = |bits: u64| Dyadic::new((BigInt::one() << bits) + 1, -40);
    let sets = [
        vec![entry(3, -2), entry(-5, 7), entry(0, 0), entry(1, -3)],
        vec![entry(1, 90), entry(-1, -90), entry(7, -30), entry((1 << 60) + 129, -60)],
        vec![entry(1, 0), entry(1, -1074), entry(-3, -1070), entry((1 << 53) + 1, -1022)],
        vec![entry(1, -1074), entry(0, 0), entry(-3, -1070), entry(0, 0)],
        vec![wide(53), wide(54), wide(105), wide(130)],
    ];
    for entries in sets {
        let matrix = Matrix::new(2, 2, &entries).unwrap();
        for denominator in [1, 3] {
            let denominator = BigInt::from(denominator);
            let one_by_one: Option<Vec<u64>> =
                entries.iter().map(|entry| nearest(entry, &denominator).map(f64::to_bits)).collect();
            let together = nearest_entries(&matrix, &denominator);
            assert_eq!(together.map(|found| found.into_iter().map(f64::to_bits).collect()), one_by_one, "{entries:?}");
        }
    }
    let large = Matrix::new(1, 2, &[entry(1, 0), entry(1, 101)]).unwrap();
    assert_eq!(nearest_entries(&large, &BigInt::one()), None);
}

#[test]
fn powers_of_two() {
    assert_eq!(power_of_two(-1022), f64::MIN_POSITIVE);
    assert_eq!(power_of_two(1023), 2_f64.powi(1023));
    assert_eq!(LIMIT, 2_f64.powi(100));
    assert!(power_of_two(-1023).is_nan() && power_of_two(1024).is_nan());
}
