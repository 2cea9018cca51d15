//! Sums of products of digits: 128-bit accumulators, carried into digits once at the end.

use super::planes::{DIGIT, Planes, low_digit};

/// The most products of two digits that are summed into one accumulator: `2^21 · 2^52 · 2^52 < 2^127`.
const TERMS: usize = 1 << 21;

/// Sums of products of digits on their way to [`Planes`]. Accumulator `k` of entry `j` counts `2^(52·(low + k))`.
pub(crate) struct Accumulators {
    len: usize,
    planes: Vec<Vec<i128>>,
}

/// Whether `terms` products for each of `overlaps` pairs of planes fit an accumulator.
#[must_use]
pub(crate) fn fits(terms: usize, overlaps: usize) -> bool {
    terms.checked_mul(overlaps).is_some_and(|n| n <= TERMS)
}

impl Accumulators {
    pub(crate) fn zeros(len: usize, planes: usize) -> Self {
        Self { len, planes: vec![vec![0; len]; planes] }
    }

    /// Adds `factor · digits` to the entries of plane `k` that start at `offset`.
    pub(crate) fn add_scaled(&mut self, k: usize, offset: usize, factor: i64, digits: &[i64]) {
        let end = offset.saturating_add(digits.len());
        if let Some(target) = self.planes.get_mut(k).and_then(|plane| plane.get_mut(offset..end)) {
            let factor = i128::from(factor);
            for (sum, digit) in target.iter_mut().zip(digits) {
                *sum = sum.wrapping_add(factor.wrapping_mul(i128::from(*digit)));
            }
        }
    }

    /// Adds `factor · digit` to entry `j` of plane `k`.
    pub(crate) fn add_product(&mut self, k: usize, j: usize, factor: i64, digit: i64) {
        if let Some(sum) = self.planes.get_mut(k).and_then(|plane| plane.get_mut(j)) {
            *sum = sum.wrapping_add(i128::from(factor).wrapping_mul(i128::from(digit)));
        }
    }

    /// The sums times `2^exponent`. Carries run from the lowest plane up: `acc = digit + 2^52·carry` with `0 ≤ digit < 2^52`.
    pub(crate) fn into_planes(self, exponent: i64) -> Planes {
        let mut carry = vec![0_i128; self.len];
        let mut planes = Vec::with_capacity(self.planes.len().saturating_add(3));
        for sums in &self.planes {
            planes.push(carry_plane(&mut carry, Some(sums)));
        }
        if planes.is_empty() {
            planes.push(carry_plane(&mut carry, None));
        }
        // Each round shortens every carry by 52 bits until it is 0 or −1.
        while carry.iter().any(|c| *c != 0 && *c != -1) {
            planes.push(carry_plane(&mut carry, None));
        }
        if let Some(top) = planes.last_mut() {
            for (digit, c) in top.iter_mut().zip(&carry) {
                if *c == -1 {
                    *digit = digit.wrapping_sub(1 << DIGIT);
                }
            }
        }
        Planes::from_digits(self.len, planes, exponent)
    }
}

/// One plane of digits from the carries and the sums of this plane; the carries become those of the next plane.
fn carry_plane(carry: &mut [i128], sums: Option<&Vec<i128>>) -> Vec<i64> {
    let mut digits = Vec::with_capacity(carry.len());
    let mut sums = sums.map(|sums| sums.iter());
    for c in carry {
        let sum = sums.as_mut().and_then(Iterator::next).copied().unwrap_or(0);
        // |sum| < 2^126 and |carry| < 2^75.
        let total = sum.wrapping_add(*c);
        digits.push(low_digit(total));
        *c = total >> DIGIT;
    }
    digits
}
