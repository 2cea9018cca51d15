//! Proved bounds of one node in binary64.

use crate::filter::round::{LIMIT, around};
use crate::func::Function;
use crate::interval::Interval;
use crate::num::Dyadic;
use crate::program::Groups;
use crate::rules::planes::Leaders;
use num_bigint::BigInt;
use num_traits::One;

/// Lower and upper bounds of every coordinate, and the larger of their magnitudes.
#[derive(Clone, Debug)]
pub(super) struct FloatBox {
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) magnitude: Vec<f64>,
}

/// What came of changing bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// There is a number between them everywhere.
    Nonempty,
    /// A lower bound is above the upper one: no input satisfies the assumptions.
    Empty,
}

impl FloatBox {
    pub(super) fn new(lower: Vec<f64>, upper: Vec<f64>) -> Self {
        let magnitude = lower.iter().zip(&upper).map(|(l, u)| larger(l.abs(), u.abs())).collect();
        Self { lower, upper, magnitude }
    }

    /// The doubles around intervals.
    pub(super) fn around(intervals: &[Interval]) -> Self {
        boxed(intervals.iter().map(|z| Some(outward(z))))
    }

    /// Whether every end is in the range of CHARGE, with one bit to spare for intercepts: NaN is not.
    pub(super) fn in_range(&self) -> bool {
        self.lower.iter().chain(&self.upper).all(|end| end.abs() <= LIMIT * 0.5)
    }

    /// Intersects coordinate `coordinate` with `[lower, upper]`; an end that is NaN says nothing.
    pub(super) fn meet(&mut self, coordinate: usize, lower: f64, upper: f64) -> Option<Met> {
        let (l, u) = (self.lower.get_mut(coordinate)?, self.upper.get_mut(coordinate)?);
        if lower > *l {
            *l = lower;
        }
        if upper < *u {
            *u = upper;
        }
        let met = if *l > *u { Met::Empty } else { Met::Nonempty };
        *self.magnitude.get_mut(coordinate)? = larger(l.abs(), u.abs());
        Some(met)
    }

    /// Intersects all coordinates.
    pub(super) fn meet_all(&mut self, other: &Self) -> Option<Met> {
        let mut all = Met::Nonempty;
        for (coordinate, (lower, upper)) in other.lower.iter().zip(&other.upper).enumerate() {
            if self.meet(coordinate, *lower, *upper)? == Met::Empty {
                all = Met::Empty;
            }
        }
        Some(all)
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = (&f64, &f64)> {
        self.lower.iter().zip(&self.upper)
    }

    /// Contains the products with the coordinates of a box of the same width.
    pub(super) fn product(&self, other: &Self) -> Self {
        let product = |((a, b), (c, d)): ((&f64, &f64), (&f64, &f64))| hull([a * c, a * d, b * c, b * d]);
        boxed(self.ends().zip(other.ends()).map(product))
    }

    /// Contains the squares.
    pub(super) fn square(&self) -> Self {
        let square = |(l, u): (&f64, &f64)| {
            let (below, above) = hull([l * l, u * u])?;
            // A square is not below zero, and the least one of both signs is that of zero.
            let across = *l <= 0.0 && *u >= 0.0;
            Some((if across || below < 0.0 { 0.0 } else { below }, above))
        };
        boxed(self.ends().map(square))
    }

    /// The maxima of groups.
    pub(super) fn maxima(&self, groups: &Groups) -> Self {
        let ends = |member: usize| Some((*self.lower.get(member)?, *self.upper.get(member)?));
        let greatest = |group: &[usize]| {
            let Leaders { low, high, .. } = Leaders::of(group, ends)?;
            Some((ends(low)?.0, ends(high)?.1))
        };
        boxed(groups.iter().map(greatest))
    }

    /// Contains the image under a function; NaN where that is beyond the budget.
    pub(super) fn image(&self, function: &Function) -> Self {
        let positive = |end: &f64| if *end > 0.0 { *end } else { 0.0 };
        match function {
            Function::Relu => {
                Self::new(self.lower.iter().map(positive).collect(), self.upper.iter().map(positive).collect())
            }
            Function::Library(_) => {
                let image =
                    |(lower, upper): (&f64, &f64)| function.image(&interval(*lower, *upper)?).map(|z| outward(&z));
                boxed(self.ends().map(image))
            }
        }
    }
}

/// The columns of a table.
pub(super) fn columns<const N: usize>(rows: impl Iterator<Item = [f64; N]>) -> [Vec<f64>; N] {
    let mut columns = [const { Vec::new() }; N];
    for row in rows {
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    columns
}

/// The box of some pairs of ends; NaN where there is none.
fn boxed(ends: impl Iterator<Item = Option<(f64, f64)>>) -> FloatBox {
    let (lower, upper) = ends.map(|ends| ends.unwrap_or((f64::NAN, f64::NAN))).unzip();
    FloatBox::new(lower, upper)
}

/// The interval between two doubles.
pub(super) fn interval(lower: f64, upper: f64) -> Option<Interval> {
    let end = |end: f64| Dyadic::from_f64_bits(end.to_bits());
    Some(Interval { lower: end(lower)?, upper: end(upper)? })
}

/// The doubles around an interval.
fn outward(z: &Interval) -> (f64, f64) {
    let one = BigInt::one();
    (around(&z.lower, &one).0, around(&z.upper, &one).1)
}

/// The doubles around numbers of which these are rounded to nearest.
fn hull<const N: usize>(rounded: [f64; N]) -> Option<(f64, f64)> {
    let below = rounded.into_iter().reduce(|a, b| if a < b { a } else { b })?;
    Some((below.next_down(), rounded.into_iter().reduce(larger)?.next_up()))
}

/// The larger of two numbers; NaN if the second is.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
