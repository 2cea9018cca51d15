//! Whether the floating-point unit computes as CHARGE counts on. A library in the same process can change its mode for a thread.

use super::product::{Packed, add_product};
use super::round::power_of_two;
use std::hint::black_box;

/// The spacing of doubles above one, and the two smallest kinds of numbers.
const ULP: f64 = power_of_two(-52);
const HALF: f64 = power_of_two(-53);
const NORMAL: f64 = f64::MIN_POSITIVE;
const SUBNORMAL: f64 = f64::from_bits(1);

/// `[x, y, z, x·y + z]` by IEEE 754-2019 in round to nearest, ties to even; the same with one rounding or two.
const SUMS: &[[f64; 4]] = &[
    // Ties, to the even one below and above.
    [1.0, HALF, 1.0, 1.0],
    [1.0, HALF, 1.0 + ULP, 1.0 + 2.0 * ULP],
    [-1.0, HALF, -1.0, -1.0],
    [-1.0, HALF, -1.0 - ULP, -1.0 - 2.0 * ULP],
    // Beside a tie.
    [1.0, HALF + HALF * ULP, 1.0, 1.0 + ULP],
    [-1.0, HALF + HALF * ULP, -1.0, -1.0 - ULP],
    [1.0, HALF / 2.0, 1.0, 1.0],
    [-1.0, HALF / 2.0, -1.0, -1.0],
    [1.0, -1.0, 1.0, 0.0],
    // Products that round down, and ties that round up.
    [1.0 + ULP, 1.0 + ULP, 0.0, 1.0 + 2.0 * ULP],
    [-1.0 - ULP, 1.0 + ULP, 0.0, -1.0 - 2.0 * ULP],
    [1.0 + ULP, 1.5, 0.0, 1.5 + 2.0 * ULP],
    [-1.0 - ULP, 1.5, 0.0, -1.5 - 2.0 * ULP],
    // Subnormal results of normal numbers, normal results of subnormal numbers, and both subnormal.
    [NORMAL, 0.5, 0.0, NORMAL / 2.0],
    [1.0, 1.5 * NORMAL, -NORMAL, NORMAL / 2.0],
    [SUBNORMAL, power_of_two(100), 0.0, power_of_two(-974)],
    [1.0, NORMAL / 2.0, NORMAL / 2.0, NORMAL],
    [3.0 * SUBNORMAL, 0.5, 0.0, 2.0 * SUBNORMAL],
    [SUBNORMAL, 0.5, 0.0, 0.0],
];

/// `[x, y, x/y]` likewise.
const QUOTIENTS: &[[f64; 3]] = &[
    [1.0, 3.0, f64::from_bits(0x3fd5_5555_5555_5555)],
    [-1.0, 3.0, f64::from_bits(0xbfd5_5555_5555_5555)],
    [1.0, 10.0, f64::from_bits(0x3fb9_9999_9999_999a)],
    [-1.0, 10.0, f64::from_bits(0xbfb9_9999_9999_999a)],
    [NORMAL, 2.0, NORMAL / 2.0],
    [NORMAL / 2.0, 0.25, 2.0 * NORMAL],
];

/// Whether, on this thread and now, the unit rounds to nearest, ties to even, and keeps subnormal numbers, alone and in
/// the product of the tier. Other processors than x86-64 and aarch64 are not known well enough: there the answer is no.
#[must_use]
pub fn rounds_to_nearest() -> bool {
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    known && SUMS.iter().all(sum_is_right) && QUOTIENTS.iter().all(quotient_is_right)
}

fn sum_is_right(case: &[f64; 4]) -> bool {
    let [x, y, z, expected] = black_box(*case);
    // Nine columns: full vectors and a rest.
    let mut sums = [z; 9];
    add_product(&[x], &Packed::new(1, 9, &[y; 9]), &mut sums);
    sums.iter().chain(&[x * y + z]).all(|sum| black_box(*sum).to_bits() == expected.to_bits())
}

fn quotient_is_right(case: &[f64; 3]) -> bool {
    let [x, y, expected] = black_box(*case);
    black_box(x / y).to_bits() == expected.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::round::{nearest, to_dyadic};
    use num_bigint::BigInt;

    #[test]
    fn the_table_is_right_in_exact_arithmetic() {
        let exact = |value: f64| to_dyadic(value).unwrap();
        for [x, y, z, expected] in SUMS {
            let sum = &(&exact(*x) * &exact(*y)) + &exact(*z);
            // Where the result is a rounded subnormal, `nearest` leaves it open.
            match nearest(&sum, &BigInt::from(1)) {
                Some(near) => assert_eq!(near.to_bits(), expected.to_bits(), "{x:e} {y:e} {z:e}"),
                None => assert!(sum.magnitude().unwrap() < -1072, "{x:e} {y:e} {z:e}"),
            }
        }
    }

    #[test]
    fn the_unit_of_this_machine_is_right() {
        assert!(rounds_to_nearest());
    }
}
