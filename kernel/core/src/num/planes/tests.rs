use super::*;

/// The invariant that signs and rounding rest on, and that trimming leaves no plane that says nothing.
fn check(planes: &Planes, trimmed: bool) {
    let limit = 1_i64 << DIGIT;
    let (top, rest) = planes.planes.split_last().unwrap();
    assert!(planes.planes.iter().all(|plane| plane.len() == planes.len));
    assert!(top.iter().all(|digit| (-limit..limit).contains(digit)));
    assert!(rest.iter().flatten().all(|digit| (0..limit).contains(digit)));
    if trimmed && !rest.is_empty() {
        assert!(top.iter().any(|digit| *digit != 0 && *digit != -1), "a plane of mere signs");
        assert!(planes.planes[0].iter().any(|digit| *digit != 0), "a plane of zeros below");
    }
}

fn power(exponent: u32) -> BigInt {
    BigInt::from(1) << exponent
}

#[test]
fn every_operation_keeps_the_digits_in_their_ranges() {
    // Around every digit boundary: 2^(52k) and its neighbours, all ones, both signs.
    let boundary = (0..5_u32)
        .flat_map(|k| [-1, 0, 1].into_iter().flat_map(move |step| [power(52 * k) + step, -power(52 * k) + step]));
    let numbers: Vec<BigInt> = boundary.collect();
    for exponent in [-1000, -53, -52, -51, -1, 0, 1, 25, 51, 52, 53, 1000] {
        for first in &numbers {
            for second in &numbers {
                let values = [Dyadic::new(first.clone(), exponent), Dyadic::new(second.clone(), 0)];
                let planes = Planes::exact(&values);
                check(&planes, true);
                check(&planes.negated(), true);
                check(&planes.plus(&planes), true);
                check(&planes.plus(&planes.negated()), true);
                check(&planes.times(&[-(1 << 52), 1 << 52], exponent), true);
                check(&planes.select(&[Some(1), None, Some(0)]), false);
                check(&planes.scatter(&[Some(0), Some(0)], 1).unwrap(), true);
                let mut shifted = planes.clone();
                shifted.shift(exponent);
                check(&shifted, false);
                let scaled = |j| &values[j] * &Dyadic::new(1, exponent);
                assert_eq!((shifted.get(0), shifted.get(1)), (Some(scaled(0)), Some(scaled(1))));
            }
        }
    }
}

#[test]
fn raising_the_last_digit_rounds_down_also_beyond_the_first() {
    for low in -3..8 {
        for values in [[5_i64, -7], [0, 0], [1 << 60, -(1 << 60)], [-1, 1]] {
            let exact = values.map(|value| Dyadic::new(value, 0));
            let mut planes = Planes::exact(&exact);
            let before = planes.low;
            let lost = planes.raise(low);
            check(&planes, false);
            assert_eq!(planes.low, before.max(low));
            for (j, value) in exact.iter().enumerate() {
                let fall = value - &planes.get(j).unwrap();
                let unit = Dyadic::new(1, 52 * low);
                assert!(
                    !fall.is_negative() && (fall < unit && lost == Some(52 * low) || fall.is_zero()),
                    "{low} {values:?}"
                );
            }
        }
    }
}

#[test]
fn extreme_sums_do_not_wrap() {
    // 2^21 products at the ends of the digit range, the most that `fits` allows.
    let count = 1_usize << 21;
    for factor in [1_i64 << 52, -(1_i64 << 52)] {
        let mut sums = Accumulators::zeros(1, 1);
        for _ in 0..count {
            sums.add_product(0, 0, factor, -(1 << 52));
        }
        let planes = sums.into_planes(0);
        check(&planes, true);
        let expected = -BigInt::from(factor) * power(52) * BigInt::from(count);
        assert_eq!(planes.get(0), Some(Dyadic::new(expected, 0)));
    }
}

#[test]
fn a_vector_beyond_the_safe_length_has_no_inner_product() {
    let (most, beyond) = (Planes::zeros(1 << 21), Planes::zeros((1 << 21) + 1));
    assert_eq!(most.dot(&most), Some(Dyadic::zero()));
    assert_eq!(beyond.dot(&beyond), None);
}
