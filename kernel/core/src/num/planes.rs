//! Vectors of exact dyadic numbers as digit planes: machine words in the inner loops, no number is ever rounded unless asked.

use super::Dyadic;
use super::accumulators::{Accumulators, fits};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;

/// Bits of a digit.
pub(super) const DIGIT: u32 = 52;
const MASK: i128 = (1 << DIGIT) - 1;

/// A vector of dyadic numbers. Entry `j` is `Σ_k planes[k][j] · 2^(52·(low + k))`.
///
/// Invariant: every digit below the last plane lies in `[0, 2^52)`, every digit of the last plane in `[−2^52, 2^52)`. So an
/// entry is negative exactly if its last digit is, and dropping low planes rounds every entry down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planes {
    len: usize,
    low: i64,
    planes: Vec<Vec<i64>>,
}

/// The lowest 52 bits: a number in `[0, 2^52)`.
pub(super) fn low_digit(total: i128) -> i64 {
    (total & MASK) as i64
}

impl Planes {
    /// `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Self { len, low: 0, planes: vec![vec![0; len]] }
    }

    /// Exactly `values`.
    #[must_use]
    pub fn exact(values: &[Dyadic]) -> Self {
        let low = values.iter().filter(|v| !v.is_zero()).map(Dyadic::exponent).min().unwrap_or(0);
        Self::floor_at(values, low.div_euclid(i64::from(DIGIT)))
    }

    /// Each of `values` rounded down, keeping at least `52·(keep − 1)` bits of the largest.
    #[must_use]
    pub fn floor(values: &[Dyadic], keep: usize) -> Self {
        let mut planes = Self::exact_or_near(values, keep);
        planes.truncate(keep);
        planes
    }

    /// Each of `values` rounded up, keeping at least `52·(keep − 1)` bits of the largest.
    #[must_use]
    pub fn ceil(values: &[Dyadic], keep: usize) -> Self {
        let negated: Vec<Dyadic> = values.iter().map(|v| -v).collect();
        Self::floor(&negated, keep).negated()
    }

    /// Like [`Planes::exact`], but rounded down far below the digits that are kept, so that a tiny entry costs no memory.
    fn exact_or_near(values: &[Dyadic], keep: usize) -> Self {
        let digit = i64::from(DIGIT);
        let low = values.iter().filter(|v| !v.is_zero()).map(Dyadic::exponent).min().unwrap_or(0);
        let high = values.iter().filter_map(Dyadic::magnitude).max().unwrap_or(0);
        let kept = i64::try_from(keep).unwrap_or(i64::MAX).saturating_add(1);
        let near = high.div_euclid(digit).saturating_sub(kept);
        Self::floor_at(values, low.div_euclid(digit).max(near))
    }

    /// Each of `values` rounded down to a multiple of `2^(52·low)`.
    fn floor_at(values: &[Dyadic], low: i64) -> Self {
        let unit = low.saturating_mul(i64::from(DIGIT));
        let mut rest: Vec<BigInt> = values.iter().map(|v| v.floor_at(unit)).collect();
        let base = BigInt::from(1_i64 << DIGIT);
        let mut planes = Vec::new();
        let small = |v: &BigInt| v.to_i64().is_some_and(|v| (-(1_i64 << DIGIT)..1_i64 << DIGIT).contains(&v));
        while !rest.iter().all(small) {
            let mut digits = Vec::with_capacity(rest.len());
            for value in &mut rest {
                let (quotient, digit) = value.div_mod_floor(&base);
                digits.push(digit.to_i64().unwrap_or(0));
                *value = quotient;
            }
            planes.push(digits);
        }
        planes.push(rest.iter().map(|v| v.to_i64().unwrap_or(0)).collect());
        let mut result = Self { len: values.len(), low, planes };
        result.trim();
        result
    }

    /// Carried digits times `2^exponent`; the digits fulfil the invariant.
    pub(super) fn from_digits(len: usize, planes: Vec<Vec<i64>>, exponent: i64) -> Self {
        let mut result = Self { len, low: 0, planes };
        result.shift(exponent);
        result.trim();
        result
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of digits of an entry.
    #[must_use]
    pub fn digits(&self) -> usize {
        self.planes.len()
    }

    /// Whether every entry is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.planes.iter().all(|plane| plane.iter().all(|d| *d == 0))
    }

    /// For each entry, whether it is below zero.
    pub fn negative(&self) -> impl Iterator<Item = bool> + '_ {
        self.planes.last().into_iter().flatten().map(|digit| *digit < 0)
    }

    /// Entry `j`; `None` beyond the end.
    #[must_use]
    pub fn get(&self, j: usize) -> Option<Dyadic> {
        let mut value = BigInt::from(0);
        for plane in self.planes.iter().rev() {
            value = (value << DIGIT) + BigInt::from(*plane.get(j)?);
        }
        Some(Dyadic::new(value, self.low.saturating_mul(i64::from(DIGIT))))
    }

    /// The exponent of two that one unit of the lowest digit counts.
    pub(crate) fn unit(&self) -> i64 {
        self.low.saturating_mul(i64::from(DIGIT))
    }

    pub(crate) fn planes(&self) -> &[Vec<i64>] {
        &self.planes
    }

    /// Entries of `self` at `sources`, zero where `None`.
    #[must_use]
    pub fn select(&self, sources: &[Option<usize>]) -> Self {
        let pick =
            |plane: &Vec<i64>| sources.iter().map(|s| s.and_then(|s| plane.get(s)).copied().unwrap_or(0)).collect();
        Self { len: sources.len(), low: self.low, planes: self.planes.iter().map(pick).collect() }
    }

    /// The adjoint of [`Planes::select`]: adds entry `i` to entry `sources[i]` of a vector of `width`. `None` if it is too long to be summed safely.
    #[must_use]
    pub fn scatter(&self, sources: &[Option<usize>], width: usize) -> Option<Self> {
        if !fits(self.len, 1) {
            return None;
        }
        let mut sums = Accumulators::zeros(width, self.planes.len());
        for (k, plane) in self.planes.iter().enumerate() {
            for (digit, source) in plane.iter().zip(sources) {
                if let Some(source) = source {
                    sums.add_product(k, *source, 1, *digit);
                }
            }
        }
        Some(sums.into_planes(self.unit()))
    }

    /// The sum, entry by entry. Both must have the same length.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let low = self.low.min(other.low);
        let offset = |p: &Self| usize::try_from(p.low.saturating_sub(low)).unwrap_or(0);
        let height = |p: &Self| offset(p).saturating_add(p.planes.len());
        let mut sums = Accumulators::zeros(self.len, height(self).max(height(other)));
        for part in [self, other] {
            for (k, plane) in part.planes.iter().enumerate() {
                sums.add_scaled(offset(part).saturating_add(k), 0, 1, plane);
            }
        }
        sums.into_planes(low.saturating_mul(i64::from(DIGIT)))
    }

    /// The negative of each entry.
    #[must_use]
    pub fn negated(&self) -> Self {
        let mut sums = Accumulators::zeros(self.len, self.planes.len());
        for (k, plane) in self.planes.iter().enumerate() {
            sums.add_scaled(k, 0, -1, plane);
        }
        sums.into_planes(self.unit())
    }

    /// Entry `j` times `factors[j] · 2^exponent`; a factor lies within `±2^52`.
    #[must_use]
    pub fn times(&self, factors: &[i64], exponent: i64) -> Self {
        let mut sums = Accumulators::zeros(self.len, self.planes.len());
        for (k, plane) in self.planes.iter().enumerate() {
            for (j, (digit, factor)) in plane.iter().zip(factors).enumerate() {
                sums.add_product(k, j, *factor, *digit);
            }
        }
        sums.into_planes(self.unit().saturating_add(exponent))
    }

    /// The inner product with `other` over the entries where `keep` holds; `None` if it is too long to be summed safely.
    #[must_use]
    pub fn dot_where(&self, other: &Self, mut keep: impl FnMut(bool) -> bool) -> Option<Dyadic> {
        if !fits(self.len, self.planes.len().min(other.planes.len())) {
            return None;
        }
        let kept: Vec<bool> = self.negative().map(&mut keep).collect();
        let mut sums = vec![0_i128; self.planes.len().saturating_add(other.planes.len())];
        for (k, left) in self.planes.iter().enumerate() {
            for (right, sum) in other.planes.iter().zip(sums.iter_mut().skip(k)) {
                for ((a, b), kept) in left.iter().zip(right).zip(&kept) {
                    if *kept {
                        *sum = sum.wrapping_add(i128::from(*a).wrapping_mul(i128::from(*b)));
                    }
                }
            }
        }
        let total = sums.iter().rev().fold(BigInt::from(0), |total, sum| (total << DIGIT) + BigInt::from(*sum));
        Some(Dyadic::new(total, self.unit().saturating_add(other.unit())))
    }

    /// The inner product with `other`; `None` if it is too long to be summed safely.
    #[must_use]
    pub fn dot(&self, other: &Self) -> Option<Dyadic> {
        self.dot_where(other, |_| true)
    }

    /// Keeps the `keep` highest digits. Every entry is rounded down, by less than `2^e` where `Some(e)` is returned; `None`: nothing was lost.
    pub fn truncate(&mut self, keep: usize) -> Option<i64> {
        let excess = self.planes.len().saturating_sub(keep.max(1));
        if excess == 0 {
            return None;
        }
        self.raise(self.low.saturating_add(i64::try_from(excess).unwrap_or(i64::MAX)))
    }

    /// The place above the last digit: every entry lies within `±2^(52·top)`.
    pub(crate) fn top(&self) -> i64 {
        self.low.saturating_add(i64::try_from(self.planes.len()).unwrap_or(i64::MAX))
    }

    /// Drops the digits below place `low`; what is lost is stated as by [`Planes::truncate`]. Of entries that lie below altogether the signs are left.
    pub(crate) fn raise(&mut self, low: i64) -> Option<i64> {
        let excess = usize::try_from(low.saturating_sub(self.low)).ok().filter(|excess| *excess > 0)?;
        if excess >= self.planes.len() {
            let signs = self.negative().map(|negative| if negative { -1 } else { 0 }).collect();
            self.planes.push(signs);
        }
        let dropped = excess.min(self.planes.len().saturating_sub(1));
        let lost = self.planes.drain(..dropped).any(|plane| plane.iter().any(|d| *d != 0));
        self.low = low;
        lost.then(|| self.unit())
    }

    /// Multiplies by `2^exponent`: whole digits move the base, the rest is shifted through the digits.
    fn shift(&mut self, exponent: i64) {
        let digit = i64::from(DIGIT);
        self.low = self.low.saturating_add(exponent.div_euclid(digit));
        let bits = exponent.rem_euclid(digit);
        if bits == 0 {
            return;
        }
        let mut carry = vec![0_i128; self.len];
        let last = self.planes.len().saturating_sub(1);
        for (k, plane) in self.planes.iter_mut().enumerate() {
            for (d, c) in plane.iter_mut().zip(&mut carry) {
                let total = (i128::from(*d) << bits).wrapping_add(*c);
                // The last digit is signed: its excess goes to a new plane as it is.
                *d = low_digit(total);
                *c = total >> DIGIT;
            }
            if k == last && carry.iter().all(|c| *c == 0 || *c == -1) {
                for (d, c) in plane.iter_mut().zip(&mut carry) {
                    *d = if *c == -1 { d.wrapping_sub(1 << DIGIT) } else { *d };
                    *c = 0;
                }
                return;
            }
        }
        // |carry| < 2^52: the last digit was within ±2^52 and was shifted by fewer than 52 bits.
        self.planes.push(carry.iter().map(|c| i64::try_from(*c).unwrap_or(0)).collect());
    }

    /// Drops planes that say nothing: zeros below, mere signs above.
    fn trim(&mut self) {
        while self.planes.len() > 1 && self.planes.last().is_some_and(|top| top.iter().all(|d| *d == 0 || *d == -1)) {
            let signs = self.planes.pop().unwrap_or_default();
            if let Some(top) = self.planes.last_mut() {
                for (digit, sign) in top.iter_mut().zip(signs) {
                    *digit = if sign == -1 { digit.wrapping_sub(1 << DIGIT) } else { *digit };
                }
            }
        }
        let zeros = self.planes.iter().take_while(|plane| plane.iter().all(|d| *d == 0)).count();
        let excess = zeros.min(self.planes.len().saturating_sub(1));
        self.planes.drain(..excess);
        self.low = self.low.saturating_add(i64::try_from(excess).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests;
