//! The filter tier of the rules: IBP, BACK, INTERMEDIATE and EMPTY in binary64, with what rounding can do charged to the constant (CHARGE).
//!
//! A pass rounds as it likes: any row is a legitimate row as long as what it leaves is charged (ABSORB). So a bound from here is a bound, only
//! a hair weaker than the exact one; what it does not prove is for the exact tier to decide. The derivations are in `docs/numbers.md`.

#![allow(clippy::float_arithmetic, reason = "the filter tier computes in binary64 and charges the rounding")]

mod boxes;
mod lines;
mod pass;
mod planes;
mod refute;
mod scope;
#[cfg(test)]
mod tests;

pub use refute::{Attempt, NodeSlopes};
pub use scope::FilterScope;

use super::Problem;
use crate::affine::Affine;
use crate::filter::map::{FloatMap, most_uses};
use crate::filter::round::{LIMIT, around, down, nearest, up};
use crate::filter::unit::rounds_to_nearest;
use crate::func::Function;
use crate::num::{Dyadic, Rational};
use crate::program::{Groups, NodeId, Primitive};
use crate::property::{Row, Variable};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most terms of a sum that the charges are derived for.
const TERMS: usize = 1 << 25;

/// A problem in binary64: every coefficient rounded once to nearest, every constant enclosed. It exists only if all are in the range of CHARGE
/// and the floating-point unit rounds as IEEE 754 says.
#[derive(Debug)]
pub struct Filter {
    problem: Arc<Problem>,
    nodes: Vec<FloatNode>,
    /// For each node the affine terms and the univariate nodes that take it.
    uses: Vec<Uses>,
    edges: usize,
    /// The most terms of the constant of a row, those of its start aside: one for each coordinate, and a charge for each node.
    constants: usize,
    thresholds: Vec<Threshold>,
    /// The rows of each disjunct.
    disjuncts: Vec<Vec<Arc<FloatRow>>>,
    /// Those of the region. Of a ball the filter knows its box alone.
    restriction: Vec<FloatRow>,
}

#[derive(Debug)]
struct FloatNode {
    width: usize,
    /// The most terms that its consumers, all of them, can add to an entry of its row.
    terms: usize,
    primitive: FloatPrimitive,
}

#[derive(Debug)]
enum FloatPrimitive {
    Input,
    Affine { terms: Vec<Edge>, bias: Ends },
    Univariate { function: Function, argument: NodeId },
    Product { left: NodeId, right: NodeId },
    Max { argument: NodeId, groups: Groups },
}

/// A linear map of one parent; `number` counts the edges of the program.
#[derive(Debug)]
struct Edge {
    parent: NodeId,
    map: FloatMap,
    number: usize,
}

#[derive(Clone, Debug, Default)]
struct Uses {
    /// Affine nodes and places among their terms.
    terms: Vec<(NodeId, usize)>,
    univariate: Vec<NodeId>,
    /// Products and maxima, a square twice, with the most terms that each adds to an entry.
    planes: Vec<(NodeId, usize)>,
}

/// Numbers rounded down and up.
#[derive(Clone, Debug)]
struct Ends {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

#[derive(Debug)]
struct Threshold {
    exact: Rational,
    below: f64,
    above: f64,
}

/// `Σ c·z ≤ bound`: coefficients rounded once, the bound rounded up.
#[derive(Debug)]
struct FloatRow {
    terms: Vec<(NodeId, usize, f64)>,
    bound: f64,
}

impl Filter {
    /// The problem in binary64, with the thresholds that splits will name by their places. `None` if a number is out of the range of CHARGE, a sum
    /// has more terms than it is derived for, or the unit does not round as it must: then the exact tier has to decide.
    #[must_use]
    pub fn new(problem: &Arc<Problem>, thresholds: &[Rational]) -> Option<Arc<Self>> {
        if !rounds_to_nearest() {
            return None;
        }
        let program = problem.program();
        let (mut edges, mut constants) = (0_usize, 0_usize);
        let mut uses = vec![Uses::default(); program.nodes().len()];
        let mut nodes = Vec::with_capacity(program.nodes().len());
        for (id, node) in program.nodes().iter().enumerate() {
            let primitive = match &node.primitive {
                Primitive::Input => FloatPrimitive::Input,
                Primitive::Affine(affine) => {
                    let (terms, bias) = floats(affine, node.width, edges)?;
                    edges = edges.checked_add(terms.len())?;
                    for (place, term) in terms.iter().enumerate() {
                        uses.get_mut(term.parent)?.terms.push((id, place));
                    }
                    FloatPrimitive::Affine { terms, bias }
                }
                Primitive::Univariate { function, argument } => {
                    uses.get_mut(*argument)?.univariate.push(id);
                    FloatPrimitive::Univariate { function: function.clone(), argument: *argument }
                }
                Primitive::Product { left, right } => {
                    uses.get_mut(*left)?.planes.push((id, 1));
                    uses.get_mut(*right)?.planes.push((id, 1));
                    FloatPrimitive::Product { left: *left, right: *right }
                }
                Primitive::Max { argument, groups } => {
                    let most = most_uses(groups.iter().flatten(), program.width(*argument))?;
                    uses.get_mut(*argument)?.planes.push((id, most));
                    FloatPrimitive::Max { argument: *argument, groups: groups.clone() }
                }
            };
            constants = constants.checked_add(node.width)?.checked_add(1)?;
            nodes.push(FloatNode { width: node.width, terms: 0, primitive });
        }
        for (id, uses) in uses.iter().enumerate() {
            let planes = uses.planes.iter().try_fold(0_usize, |sum, (_, terms)| sum.checked_add(*terms))?;
            let elementwise = uses.univariate.len().checked_add(planes)?;
            let terms = uses.terms.iter().try_fold(elementwise, |sum, (user, place)| {
                let FloatPrimitive::Affine { terms, .. } = &nodes.get(*user)?.primitive else { return None };
                sum.checked_add(terms.get(*place)?.map.adjoint_terms)
            })?;
            nodes.get_mut(id)?.terms = terms;
        }
        let thresholds = thresholds.iter().map(|exact| {
            let (below, above) = enclosed(exact)?;
            Some(Threshold { exact: exact.clone(), below, above })
        });
        let thresholds = thresholds.collect::<Option<Vec<_>>>()?;
        let disjuncts = float_disjuncts(problem)?;
        let restriction =
            problem.restriction().rows.iter().map(|row| float_row(problem, row)).collect::<Option<_>>()?;
        let problem = Arc::clone(problem);
        let filter = Self { problem, nodes, uses, edges, constants, thresholds, disjuncts, restriction };
        rounds_to_nearest().then(|| Arc::new(filter))
    }

    fn width(&self, node: NodeId) -> usize {
        self.nodes.get(node).map_or(0, |node| node.width)
    }

    /// The function of a univariate node.
    fn function(&self, node: NodeId) -> Option<&Function> {
        match &self.nodes.get(node)?.primitive {
            FloatPrimitive::Univariate { function, .. } => Some(function),
            _ => None,
        }
    }
}

fn floats(affine: &Affine, width: usize, edges: usize) -> Option<(Vec<Edge>, Ends)> {
    let mut terms = Vec::with_capacity(affine.terms().len());
    for (place, term) in affine.terms().iter().enumerate() {
        let map = FloatMap::new(&term.map, affine.denominator())?;
        if map.image_terms > TERMS || map.adjoint_terms > TERMS {
            return None;
        }
        terms.push(Edge { parent: term.parent, map, number: edges.checked_add(place)? });
    }
    let mut bias = Ends { lower: vec![0.0; width], upper: vec![0.0; width] };
    if let Some(values) = affine.bias() {
        for ((j, lower), upper) in bias.lower.iter_mut().enumerate().zip(&mut bias.upper) {
            (*lower, *upper) = in_range(around(&values.get(j)?, affine.denominator()))?;
        }
    }
    Some((terms, bias))
}

/// The doubles around a number, if it is in the range of CHARGE.
fn enclosed(value: &Rational) -> Option<(f64, f64)> {
    in_range((down(value), up(value)))
}

fn in_range((below, above): (f64, f64)) -> Option<(f64, f64)> {
    (below.abs() <= LIMIT && above.abs() <= LIMIT).then_some((below, above))
}

/// The rows of all disjuncts. One that several share is rounded once.
fn float_disjuncts(problem: &Problem) -> Option<Vec<Vec<Arc<FloatRow>>>> {
    let mut rounded: BTreeMap<*const Row, Arc<FloatRow>> = BTreeMap::new();
    let mut shared = |row: &Arc<Row>| {
        if let Some(known) = rounded.get(&Arc::as_ptr(row)) {
            return Some(Arc::clone(known));
        }
        let own = Arc::new(float_row(problem, row)?);
        rounded.insert(Arc::as_ptr(row), Arc::clone(&own));
        Some(own)
    };
    problem.property().disjuncts.iter().map(|rows| rows.iter().map(&mut shared).collect()).collect()
}

fn float_row(problem: &Problem, row: &Row) -> Option<FloatRow> {
    let term = |(variable, coefficient): &(Variable, Rational)| {
        let (node, coordinate) = problem.place_of(variable)?;
        let numerator = Dyadic::new(coefficient.numer().clone(), 0);
        Some((node, coordinate, nearest(&numerator, coefficient.denom())?))
    };
    let terms = row.terms.iter().map(term).collect::<Option<Vec<_>>>()?;
    let (_, bound) = enclosed(&row.bound)?;
    Some(FloatRow { terms, bound })
}
