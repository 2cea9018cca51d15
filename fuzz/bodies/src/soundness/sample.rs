//! Points, and what is known of the values of a network there.

use crate::lowering::rounded;
use crate::meaning::{self, Array, Number};
use crate::net::Net;
use certkern_core::num::Rational;
use certkern_core::property::{Row, Variable};
use num_traits::Signed;

/// Between these two lies a value at a sample; they are the same where it is known exactly.
pub(super) type Range = (Rational, Rational);

/// One side of a split: node, coordinate, threshold, and whether the value is at least that.
pub(super) type Literal = (usize, usize, Rational, bool);

/// A point, and what is known of every node there.
pub(super) struct Sample {
    pub(super) x: Vec<Rational>,
    values: Vec<Vec<Range>>,
}

impl Sample {
    /// `None` where the values are not known.
    pub(super) fn new(net: &Net, x: Vec<Rational>) -> Option<Self> {
        let ranges = |values: &[Range]| values.to_vec();
        let values = if let Some(values) = meaning::values::<Rational>(net, &x) {
            let exact = |value: Array<Rational>| value.values.into_iter().map(|v| (v.clone(), v)).collect();
            values.into_iter().map(exact).collect()
        } else {
            let (values, tolerance) = rounded(net, &x)?;
            let range = |v: &f64| (Rational::of(v - tolerance), Rational::of(v + tolerance));
            values.iter().map(|value| ranges(&value.values.iter().map(range).collect::<Vec<_>>())).collect()
        };
        Some(Self { x, values })
    }

    pub(super) fn value(&self, node: usize, coordinate: usize) -> &Range {
        &self.values[node][coordinate]
    }

    /// Whether the point surely lies in this leaf.
    pub(super) fn satisfies(&self, leaf: &[Literal]) -> bool {
        leaf.iter().all(|(node, coordinate, threshold, at_least)| {
            let (low, high) = self.value(*node, *coordinate);
            if *at_least { low >= threshold } else { high <= threshold }
        })
    }

    /// The values of these nodes, one after the other.
    pub(super) fn of(&self, ids: &[usize]) -> Vec<Range> {
        ids.iter().flat_map(|id| self.values[*id].clone()).collect()
    }

    /// `Σ c·v − bound`, the output variables the values of these nodes.
    pub(super) fn excess(&self, ids: &[usize], row: &Row) -> Range {
        let y = self.of(ids);
        let mut sum = (-&row.bound, -&row.bound);
        for (variable, c) in &row.terms {
            let (low, high) = match variable {
                Variable::X(i) => (self.x[*i].clone(), self.x[*i].clone()),
                Variable::Y(i) => y[*i].clone(),
            };
            let (low, high) = if c.is_negative() { (high, low) } else { (low, high) };
            sum = (sum.0 + c * low, sum.1 + c * high);
        }
        sum
    }
}
