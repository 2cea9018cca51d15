//! UNIVARIATE: the greatest intercept with which a line of given slope stays below a function on an interval.
//!
//! `[l, u]` is cut at the boundaries of the declared pieces. On a piece where the function is linear or concave, `f − line` is concave, so its two
//! ends decide. On a convex piece the tangent at any point `t` of the piece lies below `f`, and a line that lies below the tangent at both
//! ends lies below it between. A boundary that is known as an enclosure is covered by `sup line ≤ inf f` over all of it.

use crate::func::{Curvature, Piece, Univariate};
use crate::interval::Interval;
use crate::num::{Ball, Dyadic};

/// Halvings in the search for a good tangent point. Any point of the piece is sound.
const HALVINGS: usize = 40;

/// Bits of the points that are tried.
const MIDDLE_BITS: u64 = 64;

/// An `i` such that `slope·z + i ≤ f(z)` for all `z` of `interval`; the greatest one where `f` is piecewise linear with exact values.
/// `pieces` are those of `f` on the interval. `None` if they do not cover it, or an enclosure is beyond the budget.
pub(super) fn lower_intercept<F: Univariate>(
    f: &F,
    pieces: &[Piece],
    slope: &Dyadic,
    interval: &Interval,
) -> Option<Dyadic> {
    let mut least: Option<Dyadic> = None;
    let mut take = |candidate: Dyadic| {
        least = Some(match least.take() {
            Some(known) => known.min(candidate),
            None => candidate,
        });
    };
    for (index, piece) in pieces.iter().enumerate() {
        let start = piece.start.as_ref().map_or(interval.lower.clone(), |b| b.upper().max(interval.lower.clone()));
        let end = piece.end.as_ref().map_or(interval.upper.clone(), |b| b.lower().min(interval.upper.clone()));
        if start <= end {
            on_piece(f, (index, piece), slope, (&start, &end))?.into_iter().for_each(&mut take);
        }
        if let Some(boundary) = &piece.end {
            let (from, to) =
                (boundary.lower().max(interval.lower.clone()), boundary.upper().min(interval.upper.clone()));
            if let Some(part) = Ball::between(&from, &to) {
                let line = (slope * &from).max(slope * &to);
                take(&f.value(&part)?.lower() - &line);
            }
        }
    }
    least
}

/// An `i` such that `slope·z + i ≥ f(z)` for all `z` of `interval`: the lower line of `−f`, turned over.
pub(super) fn upper_intercept<F: Univariate>(
    f: &F,
    pieces: &[Piece],
    slope: &Dyadic,
    interval: &Interval,
) -> Option<Dyadic> {
    let pieces: Vec<Piece> = pieces.iter().map(Piece::turned).collect();
    lower_intercept(&Negated(f), &pieces, &-slope, interval).map(|intercept| -intercept)
}

/// Candidates for the intercept on one piece between two of its points: the least of them is sound.
fn on_piece<F: Univariate>(
    f: &F,
    (place, piece): (usize, &Piece),
    slope: &Dyadic,
    (start, end): (&Dyadic, &Dyadic),
) -> Option<[Dyadic; 2]> {
    let at_ends = || {
        let at = |z: &Dyadic| Some(&f.value(&Ball::exact(z.clone()))?.lower() - &(slope * z));
        Some([at(start)?, at(end)?])
    };
    match piece.curvature {
        // Of one point its value decides, however the function bends there.
        _ if start == end => at_ends(),
        Curvature::Linear | Curvature::Concave => at_ends(),
        Curvature::Convex => {
            let t = tangent_point(f, (place, piece), slope, (start, end))?;
            let (value, steepness) =
                (f.value(&Ball::exact(t.clone()))?, f.derivative(&Ball::exact(t.clone()), place, piece)?);
            let at = |z: &Dyadic| &value.plus(&steepness.times(&(z - &t))).lower() - &(slope * z);
            Some([at(start), at(end)])
        }
    }
}

/// A point of a convex piece where the derivative is near `slope`: it does not fall along the piece, so halving finds it.
fn tangent_point<F: Univariate>(
    f: &F,
    (place, piece): (usize, &Piece),
    slope: &Dyadic,
    (start, end): (&Dyadic, &Dyadic),
) -> Option<Dyadic> {
    let steepness = |z: &Dyadic| f.derivative(&Ball::exact(z.clone()), place, piece);
    // Near an end the end itself is the better point, unless the function is too steep there to have a tangent.
    if steepness(end).is_some_and(|steepness| steepness.midpoint() <= slope) {
        return Some(end.clone());
    }
    let at_start = steepness(start);
    if at_start.as_ref().is_some_and(|steepness| steepness.midpoint() >= slope) {
        return Some(start.clone());
    }
    let (mut low, mut high) = (start.clone(), end.clone());
    let half = Dyadic::new(1, -1);
    for _ in 0..HALVINGS {
        // Any point will do, so a short one.
        let middle = (&low.sum_down(&high) * &half).round_down(MIDDLE_BITS).max(low.clone());
        if steepness(&middle)?.midpoint() < slope {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(if at_start.is_none() && low == *start { high } else { low })
}

/// `−f`.
struct Negated<'a, F>(&'a F);

impl<F: Univariate> Univariate for Negated<'_, F> {
    fn value(&self, z: &Ball) -> Option<Ball> {
        Some(self.0.value(z)?.negated())
    }

    fn derivative(&self, z: &Ball, place: usize, piece: &Piece) -> Option<Ball> {
        Some(self.0.derivative(z, place, piece)?.negated())
    }

    fn pieces(&self, interval: &Interval) -> Option<Vec<Piece>> {
        Some(self.0.pieces(interval)?.iter().map(Piece::turned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func::Function;

    fn d(m: i64, e: i64) -> Dyadic {
        Dyadic::new(m, e)
    }

    fn between(lower: i64, upper: i64) -> Interval {
        Interval { lower: d(lower, 0), upper: d(upper, 0) }
    }

    /// `x³`: concave below 0, convex above, with the boundary known as a ball of radius `slack`.
    struct Cube {
        slack: Dyadic,
    }

    impl Univariate for Cube {
        fn value(&self, z: &Ball) -> Option<Ball> {
            let cube = |z: Dyadic| &(&z * &z) * &z;
            Ball::between(&cube(z.lower()), &cube(z.upper()))
        }

        fn derivative(&self, z: &Ball, _: usize, _: &Piece) -> Option<Ball> {
            let z = z.midpoint();
            Some(Ball::exact(&(z * z) * &d(3, 0)))
        }

        fn pieces(&self, _: &Interval) -> Option<Vec<Piece>> {
            let zero = Ball::new(Dyadic::zero(), self.slack.clone());
            Some(vec![
                Piece { start: None, end: zero.clone(), curvature: Curvature::Concave },
                Piece { start: zero, end: None, curvature: Curvature::Convex },
            ])
        }
    }

    #[test]
    fn the_lines_of_a_cube_touch_where_they_should() {
        let cube = Cube { slack: Dyadic::zero() };
        let pieces = cube.pieces(&between(-3, 3)).unwrap();
        // On [−2, 2] with slope 3: x³ − 3x is least at −2 (−2) and at 1 (−2); greatest at −1 and 2 (2).
        // The tangent point is found up to the last halving.
        let close = |found: Dyadic, best: Dyadic| found <= best && &best - &found < d(1, -30);
        let lower = |slope, interval| lower_intercept(&cube, &pieces, &slope, &interval).unwrap();
        assert!(close(lower(d(3, 0), between(-2, 2)), d(-2, 0)));
        assert!(close(-upper_intercept(&cube, &pieces, &d(3, 0), &between(-2, 2)).unwrap(), d(-2, 0)));
        // On [0, 2] with slope 3/4 it is 1/2: 1/8 − 3/8 = −1/4.
        assert!(close(lower(d(3, -2), between(0, 2)), d(-1, -2)));
        // On [−2, 0] the function is concave: the ends decide, −8 + 2·s and 0.
        assert_eq!(lower(d(1, 0), between(-2, 0)), d(-6, 0));
    }

    #[test]
    fn every_line_stays_on_its_side() {
        for slack in [Dyadic::zero(), d(1, -3)] {
            let cube = Cube { slack };
            let pieces = cube.pieces(&between(-3, 3)).unwrap();
            for (lower, upper) in [(-3, 2), (-1, 3), (-2, -1), (1, 3), (0, 1), (-1, 0)] {
                for slope in -8..=16 {
                    let slope = d(slope, -1);
                    let interval = between(lower, upper);
                    let below = lower_intercept(&cube, &pieces, &slope, &interval).unwrap();
                    let above = upper_intercept(&cube, &pieces, &slope, &interval).unwrap();
                    for step in 0..=64 {
                        let z = &interval.lower + &(&(&interval.upper - &interval.lower) * &d(step, -6));
                        let (value, line) = (&(&z * &z) * &z, &slope * &z);
                        assert!(&line + &below <= value && value <= &line + &above, "{slope:?} at {z:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_lines_of_a_relu_are_decided_at_the_ends_and_the_kink() {
        let pieces = Function::Relu.pieces(&between(-1, 3)).unwrap();
        let lower = |slope, l, u| lower_intercept(&Function::Relu, &pieces, &slope, &between(l, u)).unwrap();
        let upper = |slope, l, u| upper_intercept(&Function::Relu, &pieces, &slope, &between(l, u)).unwrap();
        assert_eq!(lower(d(1, -1), -1, 3), Dyadic::zero());
        assert_eq!(lower(d(2, 0), -1, 3), d(-3, 0));
        assert_eq!(upper(d(3, -2), -1, 3), d(3, -2));
        assert_eq!(upper(d(1, 0), 1, 3), Dyadic::zero());
    }
}
