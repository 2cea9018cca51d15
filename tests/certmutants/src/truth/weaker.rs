//! Claims that follow from another by comparing what they state.

use crate::number::Rational;
use crate::statement::{Body, Enclosure, Problem, Region, Row, same_meaning};
use num_traits::{One, Signed, Zero};

/// Whether a claim follows from one that is true.
pub(super) fn follows(claim: &Body, from: &Body) -> bool {
    match (claim, from) {
        (Body::Shaped(claim), Body::Shaped(from)) | (Body::Monotone(claim), Body::Monotone(from)) => {
            same_meaning(claim, from)
        }
        (Body::Problem(claim), Body::Problem(from)) => problem(claim, from),
        (Body::Enclosure(claim), Body::Enclosure(from)) => enclosure(claim, from),
        _ => false,
    }
}

fn problem(claim: &Problem, from: &Problem) -> bool {
    same_meaning(&claim.net, &from.net)
        && claim.point.is_none()
        && from.point.is_none()
        && region(&claim.region, &from.region)
        && rows_of_same_nodes(claim, from)
}

/// Every disjunct is within one of the true claim, node by node.
fn rows_of_same_nodes(claim: &Problem, from: &Problem) -> bool {
    let own = coordinates(claim);
    let other = coordinates(from);
    let renamed =
        |rows: &[Row], names: &[(usize, usize)]| -> Vec<Named> { rows.iter().map(|row| named(row, names)).collect() };
    let known: Vec<Vec<Named>> = from.disjuncts.iter().map(|rows| renamed(rows, &other)).collect();
    claim.disjuncts.iter().all(|rows| {
        let rows = renamed(rows, &own);
        known.iter().any(|known| known.iter().all(|wanted| rows.iter().any(|row| row.implies(wanted))))
    })
}

/// The node and the coordinate of each output.
fn coordinates(problem: &Problem) -> Vec<(usize, usize)> {
    let of = |id: &usize| {
        let width: usize = problem.net.nodes[*id].shape.iter().product();
        (0..width).map(|place| (*id, place)).collect::<Vec<_>>()
    };
    problem.about.iter().flat_map(of).collect()
}

/// A row whose first coefficient is ±1, with outputs by node and coordinate; a row without terms is as it is.
struct Named {
    terms: Vec<((Option<usize>, usize), Rational)>,
    bound: Rational,
    strict: bool,
}

fn named(row: &Row, outputs: &[(usize, usize)]) -> Named {
    let name = |((output, index), c): &((bool, usize), Rational)| {
        let variable = if *output { (Some(outputs[*index].0), outputs[*index].1) } else { (None, *index) };
        (variable, c.clone())
    };
    let mut terms: Vec<_> = row.terms.iter().map(name).collect();
    terms.sort_by_key(|(variable, _)| *variable);
    let scale = terms.first().map_or_else(Rational::one, |(_, c)| c.abs());
    terms.iter_mut().for_each(|(_, c)| *c = &*c / &scale);
    Named { terms, bound: &row.bound / scale, strict: row.strict }
}

impl Named {
    /// What satisfies this row satisfies the other.
    fn implies(&self, other: &Self) -> bool {
        let bounded = self.bound < other.bound || (self.bound == other.bound && (self.strict || !other.strict));
        let never = self.terms.is_empty() && (self.bound < Rational::zero() || (self.strict && self.bound.is_zero()));
        never || (self.terms == other.terms && bounded)
    }
}

/// Whether a region lies within another, by its own ends and constraints.
fn region(inner: &Region, outer: &Region) -> bool {
    let boxes = inner.ends.len() == outer.ends.len()
        && inner.ends.iter().zip(&outer.ends).all(|((low, high), (least, most))| least <= low && high <= most);
    let balls = match (&inner.ball, &outer.ball) {
        (_, None) => true,
        (None, Some(_)) => false,
        // The 1-norm is the greater one.
        (Some(a), Some(b)) => a.center == b.center && a.radius <= b.radius && (a.euclid == b.euclid || b.euclid),
    };
    let held = |wanted: &Row| {
        let wanted = named(wanted, &[]);
        let always = wanted.terms.is_empty() && wanted.bound >= Rational::zero();
        always || inner.constraints.iter().any(|row| named(row, &[]).implies(&wanted))
    };
    boxes && balls && outer.constraints.iter().all(held)
}

fn enclosure(claim: &Enclosure, from: &Enclosure) -> bool {
    let node = |(a, b): (&crate::statement::Operation, &crate::statement::Operation)| {
        let numbers = match a.name.as_str() {
            "interval" => {
                a.numbers.len() == 2
                    && b.numbers.len() == 2
                    && b.numbers[0] <= a.numbers[0]
                    && a.numbers[1] <= b.numbers[1]
            }
            _ => a.numbers == b.numbers,
        };
        a.name == b.name && a.arguments == b.arguments && numbers
    };
    let within = |(output, (mid, rad)): (&usize, &(Rational, Rational))| {
        let known = from.outputs.iter().zip(&from.balls).filter(|(own, _)| *own == output);
        known.into_iter().any(|(_, (m, r))| mid - rad <= m - r && m + r <= mid + rad)
    };
    claim.nodes.len() == from.nodes.len()
        && claim.nodes.iter().zip(&from.nodes).all(node)
        && claim.outputs.iter().zip(&claim.balls).all(within)
}
