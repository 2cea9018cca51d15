//! Sums of products of two nodes, as in matrix products and attention.

use crate::lowering::Lowering;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;

/// One factor of each term: a node and the coordinate of it in every term, in order.
pub(super) struct Factor {
    pub(super) node: NodeId,
    pub(super) places: Vec<usize>,
}

/// `weight` times the sum of each `length` terms in a row, a term being the product of its two factors.
pub(super) fn contract(
    left: Factor,
    right: Factor,
    length: usize,
    weight: &Rational,
    program: &mut Lowering,
) -> Option<NodeId> {
    program.reserve(left.places.len().checked_mul(4)?)?;
    let mut expanded = |factor: Factor| program.arranged(factor.node, factor.places);
    let (left, right) = (expanded(left)?, expanded(right)?);
    let terms = program.product(left, right)?;
    program.folded(terms, length, weight, &Rational::default())
}
