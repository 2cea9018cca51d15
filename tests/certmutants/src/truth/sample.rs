//! Points that make a claim false. Where values are rational they are exact; else a point counts only by a wide margin.

use super::kinds::{Abstract, values};
use crate::number::{Rational, near, whole};
use crate::random::Random;
use crate::statement::{Problem, Region, Row};
use certkern_fuzz::meaning::Number;
use certkern_fuzz::net::Net;

impl Abstract for Rational {
    fn rising(&self, _: &str) -> Option<Self> {
        None
    }
}

impl Abstract for f64 {
    fn rising(&self, name: &str) -> Option<Self> {
        match name {
            "sigmoid" => Some(1.0 / (1.0 + (-self).exp())),
            "softplus" => Some(self.max(0.0) + (-self.abs()).exp().ln_1p()),
            _ => None,
        }
    }
}

/// What binary64 may lose, by far.
const MARGIN: f64 = 1e-6;

impl Region {
    /// Whether a point of the right length lies in it.
    pub(crate) fn has(&self, point: &[Rational]) -> bool {
        let inside = self.ends.iter().zip(point).all(|((low, high), x)| low <= x && x <= high);
        let in_ball = self.ball.as_ref().is_none_or(|ball| {
            let apart = point.iter().zip(&ball.center).map(|(x, center)| x - center);
            if ball.euclid {
                apart.map(|apart| &apart * &apart).sum::<Rational>() <= &ball.radius * &ball.radius
            } else {
                apart.map(|apart| if apart < whole(0) { -apart } else { apart }).sum::<Rational>() <= ball.radius
            }
        });
        inside && in_ball && self.constraints.iter().all(|row| row.side(point, &[]) <= row.bound)
    }
}

impl Row {
    /// The left side at a point.
    fn side<N: Number>(&self, x: &[N], y: &[N]) -> N {
        let term = |((output, index), c): &((bool, usize), Rational)| {
            N::ratio(c).times(if *output { &y[*index] } else { &x[*index] })
        };
        self.terms.iter().fold(N::zero(), |sum, each| sum.plus(&term(each)))
    }
}

/// A point of the region that lies in the set, if one is met among `tries`.
pub(super) fn violation(problem: &Problem, tries: usize, random: &mut Random) -> Option<Vec<Rational>> {
    let exact = problem.net.nodes.iter().map(|node| node.shape.iter().product::<usize>()).sum::<usize>() <= 60;
    (0..tries).map(|_| point(&problem.region, random)).find(|x| problem.region.has(x) && violates(problem, x, exact))
}

/// A corner, or a point with coordinates at ends, in the middle and between.
fn point(region: &Region, random: &mut Random) -> Vec<Rational> {
    let steps = [1, 2, 3, 64][random.below(4)];
    let between = |(low, high): &(Rational, Rational), place: usize| {
        low + (high - low) * Rational::new(place.into(), steps.into())
    };
    let x: Vec<Rational> = region.ends.iter().map(|ends| between(ends, random.below(steps + 1))).collect();
    match &region.ball {
        // Drawn to the centre until it is inside.
        Some(ball) if !region.has(&x) => {
            let half = Rational::new(1.into(), 2.into());
            x.iter().zip(&ball.center).map(|(x, center)| (x + center) * &half).collect()
        }
        _ => x,
    }
}

fn outputs<N: Abstract>(net: &Net, about: &[usize], x: &[N]) -> Option<Vec<N>> {
    let values = values(net, x.to_vec())?;
    Some(about.iter().flat_map(|id| values[*id].values.clone()).collect())
}

fn violates(problem: &Problem, x: &[Rational], exact: bool) -> bool {
    if exact && let Some(y) = outputs(&problem.net, &problem.about, x) {
        let inside = |row: &Row| {
            let side = row.side(x, &y);
            side < row.bound || (!row.strict && side == row.bound)
        };
        return problem.disjuncts.iter().any(|rows| rows.iter().all(inside));
    }
    let floats: Vec<f64> = x.iter().map(near).collect();
    let Some(y) = outputs(&problem.net, &problem.about, &floats) else { return false };
    let inside = |row: &Row| match row.speaks_of_output() {
        true => row.side(&floats, &y) <= near(&row.bound) - MARGIN * (1.0 + near(&row.bound).abs()),
        false => row.side(x, &[]) <= row.bound && (!row.strict || row.side(x, &[]) < row.bound),
    };
    problem.disjuncts.iter().any(|rows| rows.iter().all(inside))
}
