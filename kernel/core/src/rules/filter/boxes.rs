//! Proved bounds of one node in binary64.

use crate::filter::round::{LIMIT, around};
use crate::func::Function;
use crate::interval::Interval;
use crate::num::Dyadic;
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
                let images = self.lower.iter().zip(&self.upper).map(|ends| image(ends).unwrap_or((f64::NAN, f64::NAN)));
                let (lower, upper) = images.unzip();
                Self::new(lower, upper)
            }
        }
    }
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

/// The larger of two numbers; NaN if the second is.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
