//! Matrices of exact dyadic numbers as planes of sign-magnitude digits.

use super::accumulators::{Accumulators, fits};
use super::planes::{DIGIT, Planes};
use super::{Dyadic, Short};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

/// The most accumulators of one sum: 256 MiB. A value of two million coordinates has room for eight digits of each.
const CELLS: usize = 1 << 24;

/// A matrix in row-major order. Entry `i` is `Σ_k planes[k].digits[i] · 2^(52·k + exponent)`; all digits of an entry have its sign and
/// lie within `±2^52`.
#[derive(Clone, Debug)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    exponent: i64,
    planes: Vec<DigitPlane>,
}

/// One digit of every entry. Low planes are mostly zero (only small entries reach down there), so whole rows are skipped.
#[derive(Clone, Debug)]
struct DigitPlane {
    digits: Vec<i64>,
    occupied: Vec<bool>,
}

impl Matrix {
    /// The matrix of `entries`, exactly; `None` if their number is not `rows · columns`.
    #[must_use]
    pub fn new<E: Entry>(rows: usize, columns: usize, entries: &[E]) -> Option<Self> {
        if rows.checked_mul(columns) != Some(entries.len()) {
            return None;
        }
        let digit = i64::from(DIGIT);
        let (low, high) = span(entries);
        // The highest plane is full, so that the usual spread of magnitudes needs one plane.
        let count = high.saturating_sub(low).saturating_add(digit.saturating_sub(1)).div_euclid(digit).max(1);
        let exponent = high.saturating_sub(count.saturating_mul(digit));
        let mut planes = Vec::new();
        for k in 0..count {
            let shift = u64::try_from(k.saturating_mul(digit)).ok()?;
            let digits: Vec<i64> = entries.iter().map(|value| value.digit(exponent, shift)).collect();
            let occupied = match columns {
                0 => vec![false; rows],
                _ => digits.chunks(columns).map(|row| row.iter().any(|d| *d != 0)).collect(),
            };
            planes.push(DigitPlane { digits, occupied });
        }
        Some(Self { rows, columns, exponent, planes })
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entry `index` in row-major order; `None` beyond the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Dyadic> {
        let mut value = BigInt::from(0);
        for plane in self.planes.iter().rev() {
            value = (value << DIGIT) + BigInt::from(*plane.digits.get(index)?);
        }
        Some(Dyadic::new(value, self.exponent))
    }

    /// Entry `index` as `(mantissa, exponent)`, for `mantissa · 2^exponent`; `None` if the mantissa is too long, or beyond the end.
    pub(crate) fn short(&self, index: usize) -> Option<(i128, i64)> {
        let (mut value, mut zeros) = (0_i128, 0);
        let digit = |plane: &DigitPlane| plane.digits.get(index).copied();
        while digit(self.planes.get(zeros)?)? == 0 && zeros.saturating_add(1) < self.planes.len() {
            zeros = zeros.saturating_add(1);
        }
        for plane in self.planes.get(zeros..)?.iter().rev() {
            value = value.checked_mul(1 << DIGIT)?.checked_add(i128::from(digit(plane)?))?;
        }
        let shift = i64::try_from(zeros).ok()?.checked_mul(i64::from(DIGIT))?;
        Some((value, self.exponent.checked_add(shift)?))
    }

    /// `rowᵀ · (I_batch ⊗ self)`: `row` has `batch · rows` entries, the result `batch · columns`. `None` if it is too long to be summed safely.
    #[must_use]
    pub(crate) fn adjoint(&self, row: &Planes, batch: usize) -> Option<Planes> {
        let mut sums = self.accumulators(row, batch.checked_mul(self.columns)?, self.rows)?;
        if self.columns > 0 && self.rows > 0 {
            for (p, digits) in row.planes().iter().enumerate() {
                for (copy, digits) in digits.chunks(self.rows).enumerate() {
                    let offset = copy.saturating_mul(self.columns);
                    self.add_rows(&mut sums, p, offset, digits);
                }
            }
        }
        Some(sums.into_planes(row.unit().saturating_add(self.exponent)))
    }

    fn add_rows(&self, sums: &mut Accumulators, p: usize, offset: usize, factors: &[i64]) {
        for (q, plane) in self.planes.iter().enumerate() {
            let rows = plane.digits.chunks(self.columns).zip(&plane.occupied);
            for ((row, occupied), factor) in rows.zip(factors) {
                if *occupied && *factor != 0 {
                    sums.add_scaled(p.saturating_add(q), offset, *factor, row);
                }
            }
        }
    }

    /// Starts a sum of `row` entries times single entries of this matrix; see [`Scatter`].
    pub(crate) fn scatter<'a>(&'a self, row: &'a Planes, width: usize, terms: usize) -> Option<Scatter<'a>> {
        Some(Scatter { matrix: self, row, sums: self.accumulators(row, width, terms)? })
    }

    /// Room for `width` sums of at most `terms` products of an entry of `row` and one of this matrix; `None` if it is too long to be summed safely, or
    /// takes too much memory.
    fn accumulators(&self, row: &Planes, width: usize, terms: usize) -> Option<Accumulators> {
        let height = row.digits().saturating_add(self.planes.len()).saturating_sub(1);
        let small = width.checked_mul(height).is_some_and(|cells| cells <= CELLS);
        (small && fits(terms, row.digits().min(self.planes.len()))).then(|| Accumulators::zeros(width, height))
    }

    /// Whether entry `index` is below zero.
    pub(crate) fn is_negative(&self, index: usize) -> bool {
        self.planes.iter().any(|plane| plane.digits.get(index).is_some_and(|digit| *digit < 0))
    }
}

/// A number that a matrix can hold.
pub trait Entry {
    /// The exponent of the last bit that is not zero, and one more than that of the first; `None` for zero.
    fn bits(&self) -> Option<(i64, i64)>;

    /// Bits `shift` to `shift + 52` of `|self| / 2^exponent`, which is an integer, with the sign of `self`.
    fn digit(&self, exponent: i64, shift: u64) -> i64;
}

/// The exponents between which all bits of `entries` lie.
pub(crate) fn span<E: Entry>(entries: &[E]) -> (i64, i64) {
    let bits = entries.iter().filter_map(Entry::bits);
    bits.reduce(|(low, high), (l, h)| (low.min(l), high.max(h))).unwrap_or((0, 0))
}

impl Entry for Short {
    fn bits(&self) -> Option<(i64, i64)> {
        let length = i64::from(u64::BITS.saturating_sub(self.mantissa().unsigned_abs().leading_zeros()));
        (length > 0).then(|| (self.exponent(), self.exponent().saturating_add(length)))
    }

    fn digit(&self, exponent: i64, shift: u64) -> i64 {
        short_digit(*self, exponent, shift).unwrap_or_else(|| Dyadic::from(*self).digit(exponent, shift))
    }
}

impl Entry for Dyadic {
    fn bits(&self) -> Option<(i64, i64)> {
        self.magnitude().map(|high| (self.exponent(), high))
    }

    fn digit(&self, exponent: i64, shift: u64) -> i64 {
        let mask = BigInt::from((1_i64 << DIGIT).saturating_sub(1));
        let magnitude = ((self.floor_at(exponent).abs() >> shift) & mask).to_i64().unwrap_or(0);
        if self.is_negative() { magnitude.wrapping_neg() } else { magnitude }
    }
}

/// [`Entry::digit`] where `value / 2^exponent` has at most 126 bits.
fn short_digit(value: Short, exponent: i64, shift: u64) -> Option<i64> {
    let up = u32::try_from(value.exponent().checked_sub(exponent)?).ok().filter(|up| *up < 63)?;
    let magnitude = u128::from(value.mantissa().unsigned_abs()).checked_shl(up)?;
    let digits = magnitude.checked_shr(u32::try_from(shift).ok()?).unwrap_or(0);
    let digit = i64::try_from(digits & ((1 << DIGIT) - 1)).ok()?;
    Some(if value.mantissa() < 0 { digit.wrapping_neg() } else { digit })
}

/// A sum under way: each step adds `row[i] · matrix[index]` to entry `j`.
pub(crate) struct Scatter<'a> {
    matrix: &'a Matrix,
    row: &'a Planes,
    sums: Accumulators,
}

impl Scatter<'_> {
    /// Adds `row[i] · matrix[index]` to entry `j`.
    pub(crate) fn add(&mut self, i: usize, index: usize, j: usize) {
        for (p, factors) in self.row.planes().iter().enumerate() {
            let factor = factors.get(i).copied().unwrap_or(0);
            if factor != 0 {
                for (q, plane) in self.matrix.planes.iter().enumerate() {
                    let digit = plane.digits.get(index).copied().unwrap_or(0);
                    self.sums.add_product(p.saturating_add(q), j, factor, digit);
                }
            }
        }
    }

    /// The sums.
    pub(crate) fn finish(self) -> Planes {
        self.sums.into_planes(self.row.unit().saturating_add(self.matrix.exponent))
    }
}
