//! PRODUCT and MAX in binary64: planes with slopes that are ends of bounds, or between them, taken as they are, and constants rounded outward.
//!
//! The neighbour of a result that was rounded to nearest lies beyond the number itself, underflow included: so every rounding here is made outward.

use super::boxes::FloatBox;
use super::pass::{Pass, Rows};
use super::scope::FilterScope;
use crate::filter::round::LIMIT;
use crate::filter::rows::{signed, spread};
use crate::program::{Groups, NodeId};
use crate::rules::planes::Leaders;
use std::rc::Rc;

/// Planes of products.
#[derive(Debug, Default)]
pub(super) struct ProductPlanes {
    pub(super) left: Slopes,
    pub(super) right: Slopes,
    pub(super) below: Vec<f64>,
    pub(super) above: Vec<f64>,
}

/// Slopes of lower and of upper planes at one factor.
#[derive(Debug, Default)]
pub(super) struct Slopes {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl ProductPlanes {
    /// The choices of the exact tier, whose slopes need no rounding here: `(p − l_p)(q − l_q) ≥ 0` and `(p − l_p)(u_q − q) ≥ 0`; of a square `(p − m)² ≥ 0`, which holds for any `m`, and
    /// `(p − l)(u − p) ≥ 0`.
    pub(super) fn new(left: &FloatBox, right: &FloatBox, square: bool) -> Self {
        let mut planes = Self::default();
        let factors = left.lower.iter().zip(&left.upper).zip(right.lower.iter().zip(&right.upper));
        for ((pl, pu), (ql, qu)) in factors {
            let middle = (pl + pu) * 0.5;
            // Slopes at the left and at the right factor; the constant is minus their product.
            let (low, high) = if square { ((middle, middle), (*pl, *pu)) } else { ((*ql, *pl), (*qu, *pl)) };
            planes.left.low.push(low.0);
            planes.right.low.push(low.1);
            planes.left.high.push(high.0);
            planes.right.high.push(high.1);
            planes.below.push(in_range(-(low.0 * low.1).next_up()));
            planes.above.push(in_range(-(high.0 * high.1).next_down()));
        }
        planes
    }
}

/// Planes of maxima: one member each, below with slope 1 and constant 0.
#[derive(Debug, Default)]
pub(super) struct MaxPlanes {
    pub(super) low: Vec<usize>,
    pub(super) high: Vec<usize>,
    /// Of the upper planes.
    pub(super) slopes: Vec<f64>,
    pub(super) above: Vec<f64>,
}

impl MaxPlanes {
    /// As in the exact tier: any slope `a` from 0 to 1 and a constant that is at least `m − a·l` and `u − a·u`. Since `l ≤ m ≤ u`, the quotient lies there, however it is rounded.
    pub(super) fn new(bounds: &FloatBox, groups: &Groups) -> Option<Self> {
        let mut planes = Self::default();
        let ends = |member: usize| Some((*bounds.lower.get(member)?, *bounds.upper.get(member)?));
        for group in groups.iter() {
            let leaders = Leaders::of(group, ends)?;
            let (slope, constant) = match leaders.second {
                Some(second) => {
                    let (lower, upper) = ends(leaders.high)?;
                    let slope = (upper - second) / (upper - lower);
                    let slope = if slope > 0.0 && slope <= 1.0 { slope } else { 0.0 };
                    let at = |value: f64, z: f64| (value - (slope * z).next_down()).next_up();
                    let (first, last) = (at(second, lower), at(upper, upper));
                    (slope, in_range(if first > last { first } else { last }))
                }
                None => (1.0, 0.0),
            };
            planes.low.push(leaders.low);
            planes.high.push(leaders.high);
            planes.slopes.push(slope);
            planes.above.push(constant);
        }
        Some(planes)
    }
}

/// NaN for what is beyond the range of CHARGE.
fn in_range(constant: f64) -> f64 {
    if constant.abs() <= LIMIT { constant } else { f64::NAN }
}

impl<const CHARGED: bool> Pass<'_, CHARGED> {
    /// What is made of the scope of each row; rows in a row with one scope share it.
    fn of_scopes<P>(&self, make: impl Fn(&FilterScope) -> Option<P>) -> Option<Vec<Rc<P>>> {
        let mut all: Vec<Rc<P>> = Vec::with_capacity(self.starts.len());
        let mut last: Option<&FilterScope> = None;
        for start in self.starts {
            let known = all.last().filter(|_| last.is_some_and(|last| std::ptr::eq(last, start.scope)));
            let own = match known {
                Some(known) => Rc::clone(known),
                None => Rc::new(make(start.scope)?),
            };
            all.push(own);
            last = Some(start.scope);
        }
        Some(all)
    }

    /// A lower plane where the stored entry is not negative, an upper plane where it is.
    pub(super) fn product(&mut self, left: NodeId, right: NodeId, rows: &Rows) -> Option<()> {
        let width = self.filter.width(left).max(1);
        let make =
            |scope: &FilterScope| Some(ProductPlanes::new(scope.bounds(left)?, scope.bounds(right)?, left == right));
        let planes = self.of_scopes(make)?;
        for ((constant, planes), row) in self.constants.iter_mut().zip(&planes).zip(rows.entries.chunks(width)) {
            constant.add(signed::<CHARGED>(row, &planes.below, &planes.above));
        }
        let starts = self.starts;
        for (parent, at_left) in [(left, true), (right, false)] {
            let sums = self.rows(parent)?;
            let per_row = rows.entries.chunks(width).zip(sums.entries.chunks_mut(width)).zip(&mut sums.reach);
            for (((row, sums), reach), (start, planes)) in per_row.zip(starts.iter().zip(&planes)) {
                let Slopes { low, high } = if at_left { &planes.left } else { &planes.right };
                *reach += spread::<CHARGED>(row, [low, high], &start.scope.bounds(parent)?.magnitude, sums);
            }
        }
        Some(())
    }

    /// Likewise for maxima.
    pub(super) fn max(&mut self, argument: NodeId, groups: &Groups, width: usize, rows: &Rows) -> Option<()> {
        let planes = self.of_scopes(|scope| MaxPlanes::new(scope.bounds(argument)?, groups))?;
        let (starts, taken) = (self.starts, self.filter.width(argument).max(1));
        let mut constants = std::mem::take(&mut self.constants);
        let sums = self.rows(argument)?;
        let per_row = rows.entries.chunks(width.max(1)).zip(sums.entries.chunks_mut(taken)).zip(&mut sums.reach);
        let per_row = per_row.zip(starts.iter().zip(&planes)).zip(&mut constants);
        for ((((row, sums), reach), (start, planes)), constant) in per_row {
            let magnitudes = &start.scope.bounds(argument)?.magnitude;
            let uppers = planes.high.iter().zip(&planes.slopes).zip(&planes.above);
            for ((a, low), ((high, slope), above)) in row.iter().zip(&planes.low).zip(uppers) {
                let (member, slope, offset) = if *a >= 0.0 { (*low, 1.0, 0.0) } else { (*high, *slope, *above) };
                let (entry, term) = (a * slope, a * offset);
                *sums.get_mut(member)? += entry;
                constant.add([term, term.abs(), a.abs()]);
                *reach += entry.abs() * magnitudes.get(member)?;
            }
        }
        self.constants = constants;
        Some(())
    }
}
