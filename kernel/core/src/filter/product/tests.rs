use super::*;
use crate::filter::round::to_dyadic;
use crate::num::{Dyadic, Rational};
use num_bigint::BigInt;
use num_traits::Signed;

/// Numbers of both signs and of magnitudes from 2^-20 to 2^20, by a linear congruence.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..count)
        .map(|_| {
            let fraction = next() as f64 / 2_f64.powi(31) - 0.5;
            fraction * 2_f64.powi((next() % 40) as i32 - 20)
        })
        .collect()
}

/// `|found − exact| ≤ γ·Σ|terms|` with `γ = n·ε/(1 − n·ε)` and `n` terms, ε = 2⁻⁵³ (Higham, Accuracy and Stability, section 3.1), in exact
/// arithmetic.
fn within_bound(found: f64, start: f64, row: &[f64], column: impl Iterator<Item = f64>) -> bool {
    let exact = |value: f64| to_dyadic(value).unwrap();
    let absolute = |value: &Dyadic| if value.is_negative() { -value } else { value.clone() };
    let (mut sum, mut size, mut n) = (exact(start), absolute(&exact(start)), 1_i64);
    for (x, y) in row.iter().zip(column) {
        let term = &exact(*x) * &exact(y);
        (sum, size, n) = (&sum + &term, &size + &absolute(&term), n + 1);
    }
    let error = (exact(found) - sum).to_rational().abs();
    let share = Rational::new(BigInt::from(n), BigInt::from(1_i64 << 53));
    let one = Rational::from_integer(BigInt::from(1));
    error * (one - &share) <= share * size.to_rational()
}

#[test]
fn sums_lie_within_the_classical_bound_of_the_exact_ones() {
    for (m, rows, columns) in [(1, 1, 1), (4, 7, 8), (5, 50, 50), (3, 256, 9), (9, 33, 17), (2, 300, 7), (6, 16, 1100)]
    {
        let (left, right) = (numbers(m * rows, 1), numbers(rows * columns, 2));
        let start = numbers(m * columns, 3);
        let packed = Packed::new(rows, columns, &right);
        let (mut out, mut plain) = (start.clone(), start.clone());
        add_product(&left, &packed, &mut out);
        blocks::<false>(&left, &packed, &mut plain);
        for (i, row) in left.chunks(rows).enumerate() {
            for j in 0..columns {
                let column = || (0..rows).map(|k| right[k * columns + j]);
                let at = i * columns + j;
                assert!(within_bound(out[at], start[at], row, column()), "{m} {rows} {columns}: {i} {j}");
                assert!(within_bound(plain[at], start[at], row, column()), "{m} {rows} {columns}: {i} {j}, not fused");
            }
        }
    }
}

#[test]
fn small_integers_are_multiplied_exactly() {
    let packed = Packed::new(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut out = [100.0; 6];
    add_product(&[1.0, -1.0, 2.0, 10.0], &packed, &mut out);
    assert_eq!(out, [97.0, 97.0, 97.0, 142.0, 154.0, 166.0]);
}

#[test]
fn terms_are_added_in_order() {
    // 2^53 + 1 rounds to 2^53: from the front the sum is 1, from the back it is 0 or 2.
    let large = 2_f64.powi(53);
    let packed = Packed::new(4, 1, &[large, 1.0, -large, 1.0]);
    let mut out = [0.0];
    add_product(&[1.0; 4], &packed, &mut out);
    assert_eq!(out, [1.0]);
}

#[test]
fn a_row_does_not_depend_on_the_others() {
    let (rows, columns) = (40, 43);
    let (left, right) = (numbers(11 * rows, 4), numbers(rows * columns, 5));
    let packed = Packed::new(rows, columns, &right);
    let start = numbers(11 * columns, 6);
    let mut together = start.clone();
    add_product(&left, &packed, &mut together);
    for (i, row) in left.chunks(rows).enumerate() {
        let mut alone = start[i * columns..][..columns].to_vec();
        add_product(row, &packed, &mut alone);
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&alone), bits(&together[i * columns..][..columns]), "row {i}");
    }
}

#[test]
fn nan_and_infinities_are_not_lost_to_zeros() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (m, rows, columns) in [(1, 3, 1), (4, 9, 8), (6, 5, 13)] {
            for column in [0, columns - 1] {
                let mut right = vec![1.0; rows * columns];
                right[(rows - 1) * columns + column] = bad;
                let mut out = vec![0.0; m * columns];
                add_product(&vec![0.0; m * rows], &Packed::new(rows, columns, &right), &mut out);
                let found: Vec<bool> = out.iter().map(|value| value.is_nan()).collect();
                let expected: Vec<bool> = (0..m * columns).map(|at| at % columns == column).collect();
                assert_eq!(found, expected, "{bad} in column {column} of {columns}");
            }
            let mut left = vec![0.0; m * rows];
            left[(m - 1) * rows] = bad;
            let mut out = vec![0.0; m * columns];
            add_product(&left, &Packed::new(rows, columns, &vec![0.0; rows * columns]), &mut out);
            let found: Vec<bool> = out.iter().map(|value| value.is_nan()).collect();
            let expected: Vec<bool> = (0..m * columns).map(|at| at / columns == m - 1).collect();
            assert_eq!(found, expected, "{bad} in the last row of {m}");
        }
    }
}

#[test]
fn lengths_that_do_not_fit_give_nan() {
    let packed = Packed::new(2, 4, &[1.0; 8]);
    for (left, out) in [(3, 4), (2, 8), (4, 4), (1, 2), (0, 1)] {
        let mut found = vec![0.0; out];
        add_product(&vec![1.0; left], &packed, &mut found);
        assert!(found.iter().all(|value| value.is_nan()), "{left} {out}");
    }
    let mut found = [0.0; 4];
    add_product(&[1.0, 1.0], &Packed::new(2, 4, &[1.0; 7]), &mut found);
    assert!(found.iter().all(|value| value.is_nan()));
}

#[test]
fn an_empty_product_adds_nothing() {
    let mut out = [1.0, 2.0];
    add_product(&[], &Packed::new(0, 2, &[]), &mut out);
    assert_eq!(out, [1.0, 2.0]);
    add_product(&[1.0], &Packed::new(1, 0, &[]), &mut []);
}

#[test]
fn memory_of_another_matrix_leaves_no_trace() {
    let mut packed = Packed::new(9, 20, &numbers(180, 7));
    packed.pack_into(1, 3, &[1.0, 2.0, 3.0]);
    let mut out = [0.0; 3];
    add_product(&[2.0], &packed, &mut out);
    assert_eq!(out, [2.0, 4.0, 6.0]);
}
