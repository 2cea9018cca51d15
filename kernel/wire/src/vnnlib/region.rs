//! The region of a VNN-LIB property: a box that contains every input of every disjunct.

use crate::reason::Reason;
use certkern_core::num::Rational;
use certkern_core::property::{Disjunct, Row};
use num_traits::{One, Signed};
use std::sync::Arc;

/// A bound that may still be absent.
type End = Option<Rational>;

/// For each coordinate, the hull over the disjuncts of the bounds that their rows on it alone give: `c·x ≤ b` bounds `x` by `b/c`, from
/// above if `c > 0` and from below if `c < 0`; open rows by their closure.
///
/// An input of a disjunct obeys all its rows, so it lies between the greatest lower and the least upper bound of that disjunct, and so in
/// the hull. A disjunct whose bounds cross has no inputs; its bounds count as they stand, which can only widen the hull.
///
/// # Errors
/// `property.unbounded` at the first coordinate that some disjunct leaves without a bound on one side, `property.empty-region` at the
/// first whose lower end is above its upper end.
pub(super) fn hull(inputs: usize, disjuncts: &[Disjunct]) -> Result<(Vec<Rational>, Vec<Rational>), Reason> {
    let mut hull: Option<Vec<(Rational, Rational)>> = None;
    for rows in disjuncts {
        let bounds = bounds(inputs, rows)?;
        match &mut hull {
            None => hull = Some(bounds),
            Some(hull) => {
                for ((low, high), (other_low, other_high)) in hull.iter_mut().zip(bounds) {
                    if other_low < *low {
                        *low = other_low;
                    }
                    if other_high > *high {
                        *high = other_high;
                    }
                }
            }
        }
    }
    let hull = hull.ok_or(Reason::PropertyNoDisjunct)?;
    match hull.iter().position(|(low, high)| low > high) {
        Some(empty) => Err(Reason::PropertyEmptyRegion(empty)),
        None => Ok(hull.into_iter().unzip()),
    }
}

/// The bounds that one disjunct gives.
fn bounds(inputs: usize, rows: &[Arc<Row>]) -> Result<Vec<(Rational, Rational)>, Reason> {
    let mut ends: Vec<(End, End)> = vec![(None, None); inputs];
    for (coordinate, coefficient, bound) in
        rows.iter().filter_map(|row| row.single_input().map(|(coordinate, c)| (coordinate, c, &row.bound)))
    {
        // Most rows have the coefficient 1 or −1, and a quotient of fractions seeks common divisors.
        let value = match coefficient {
            one if one.is_one() => bound.clone(),
            minus_one if (-minus_one).is_one() => -bound,
            _ => bound / coefficient,
        };
        let Some((low, high)) = ends.get_mut(coordinate) else { continue };
        if coefficient.is_positive() {
            if high.as_ref().is_none_or(|high| value < *high) {
                *high = Some(value);
            }
        } else if low.as_ref().is_none_or(|low| value > *low) {
            *low = Some(value);
        }
    }
    let both =
        |(coordinate, (low, high)): (usize, (End, End))| low.zip(high).ok_or(Reason::PropertyUnbounded(coordinate));
    ends.into_iter().enumerate().map(both).collect()
}
