//! PRODUCT and MAX in binary64: planes with slopes that are ends of bounds, or between them, taken as they are, and constants rounded outward.
//!
//! The neighbour of a result that was rounded to nearest lies beyond the number itself, underflow included: so every rounding here is made outward.

use super::boxes::{FloatBox, columns, larger};
use super::pass::{Pass, Rows};
use super::scope::FilterScope;
use crate::filter::round::LIMIT;
use crate::filter::rows::{signed, spread};
use crate::program::{Groups, NodeId};
use crate::rules::planes::Leaders;
use std::rc::Rc;

/// Planes of products: lower ones first, then upper ones.
#[derive(Debug)]
pub(super) struct ProductPlanes {
    /// Slopes at the left factor.
    pub(super) left: [Vec<f64>; 2],
    /// Slopes at the right factor.
    pub(super) right: [Vec<f64>; 2],
    pub(super) constants: [Vec<f64>; 2],
}

impl ProductPlanes {
    /// The choices of the exact tier, whose slopes need no rounding here: `(p − l_p)(q − l_q) ≥ 0` and `(p − l_p)(u_q − q) ≥ 0`; of a square `(p − m)² ≥ 0`, which holds for any `m`, and
    /// `(p − l)(u − p) ≥ 0`.
    pub(super) fn new(left: &FloatBox, right: &FloatBox, square: bool) -> Self {
        let planes = |((pl, pu), (ql, qu)): ((&f64, &f64), (&f64, &f64))| {
            let middle = (pl + pu) * 0.5;
            // Slopes at the left and at the right factor; the constant is minus their product.
            let (low, high) = if square { ([middle; 2], [*pl, *pu]) } else { ([*ql, *pl], [*qu, *pl]) };
            let ([a, c], [b, d]) = (low, high);
            [a, b, c, d, in_range(-(a * c).next_up()), in_range(-(b * d).next_down())]
        };
        let [a, b, c, d, below, above] = columns(left.ends().zip(right.ends()).map(planes));
        Self { left: [a, b], right: [c, d], constants: [below, above] }
    }
}

/// A plane of a maximum: the member that it is over, its slope there and its constant.
pub(super) type MaxPlane = (usize, f64, f64);

/// The lower plane of each maximum, a member, and the upper one; as in the exact tier: any slope `a` from 0 to 1 and a constant that is at least `m − a·l` and `u − a·u`. `None` if a group is empty or
/// names a coordinate that is not there.
pub(super) fn max_planes(bounds: &FloatBox, groups: &Groups) -> Option<Vec<[MaxPlane; 2]>> {
    let ends = |member: usize| Some((*bounds.lower.get(member)?, *bounds.upper.get(member)?));
    let planes = |group: &[usize]| {
        let Leaders { low, high, second } = Leaders::of(group, ends)?;
        let lower = (low, 1.0, 0.0);
        let Some(second) = second else { return Some([lower; 2]) };
        let (l, u) = ends(high)?;
        let slope = (u - second) / (u - l);
        let slope = if slope > 0.0 && slope <= 1.0 { slope } else { 0.0 };
        let at = |value: f64, z: f64| (value - (slope * z).next_down()).next_up();
        Some([lower, (high, slope, in_range(larger(at(second, l), at(u, u))))])
    };
    groups.iter().map(planes).collect()
}

/// NaN for what is beyond the range of CHARGE.
fn in_range(constant: f64) -> f64 {
    if constant.abs() <= LIMIT { constant } else { f64::NAN }
}

impl<const CHARGED: bool> Pass<'_, CHARGED> {
    /// What is made of the scope of each row; rows in a row with one scope share it.
    fn of_scopes<P>(&self, make: impl Fn(&FilterScope) -> Option<P>) -> Option<Vec<Rc<P>>> {
        let mut last: Option<(&FilterScope, Rc<P>)> = None;
        let made = self.starts.iter().map(|start| match &last {
            Some((scope, known)) if std::ptr::eq(*scope, start.scope) => Some(Rc::clone(known)),
            _ => {
                let own = Rc::new(make(start.scope)?);
                last = Some((start.scope, Rc::clone(&own)));
                Some(own)
            }
        });
        made.collect()
    }

    /// A lower plane where the stored entry is not negative, an upper plane where it is.
    pub(super) fn product(&mut self, (left, right): (NodeId, NodeId), rows: &Rows) -> Option<()> {
        let (starts, width) = (self.starts, self.filter.width(left).max(1));
        let make =
            |scope: &FilterScope| Some(ProductPlanes::new(scope.bounds(left)?, scope.bounds(right)?, left == right));
        let planes = self.of_scopes(make)?;
        for ((constant, planes), row) in self.constants.iter_mut().zip(&planes).zip(rows.entries.chunks(width)) {
            let [below, above] = &planes.constants;
            constant.add(signed::<CHARGED>(row, below, above));
        }
        for (parent, at_left) in [(left, true), (right, false)] {
            let sums = self.rows(parent)?;
            let per_row = rows.entries.chunks(width).zip(sums.entries.chunks_mut(width)).zip(&mut sums.reach);
            for (((row, sums), reach), (start, planes)) in per_row.zip(starts.iter().zip(&planes)) {
                let [low, high] = if at_left { &planes.left } else { &planes.right };
                *reach += spread::<CHARGED>(row, [low, high], &start.scope.bounds(parent)?.magnitude, sums);
            }
        }
        Some(())
    }

    /// Likewise for maxima.
    pub(super) fn max(&mut self, argument: NodeId, groups: &Groups, width: usize, rows: &Rows) -> Option<()> {
        let planes = self.of_scopes(|scope| max_planes(scope.bounds(argument)?, groups))?;
        let (starts, taken) = (self.starts, self.filter.width(argument).max(1));
        let mut constants = std::mem::take(&mut self.constants);
        let sums = self.rows(argument)?;
        let per_row = rows.entries.chunks(width.max(1)).zip(sums.entries.chunks_mut(taken)).zip(&mut sums.reach);
        let per_row = per_row.zip(starts.iter().zip(&planes)).zip(&mut constants);
        for ((((row, sums), reach), (start, planes)), constant) in per_row {
            let magnitudes = &start.scope.bounds(argument)?.magnitude;
            for (a, [lower, upper]) in row.iter().zip(planes.iter()) {
                let (member, slope, offset) = if *a >= 0.0 { *lower } else { *upper };
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
