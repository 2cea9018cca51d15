//! The greater of two elements, in the form `b + max(a − b, 0)`: its one activation is a relu, which can be split.

use super::{Arity, Operator, equal_shapes};
use crate::lowering::Lowering;
use certkern_core::func::Function;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator =
    Operator::new("max_elem", Arity::Exactly(2), equal_shapes, |_, parents, program| {
        let excess = excess(parents, program)?;
        program.sum(&[*parents.get(1)?, excess])
    });

/// `max(a − b, 0)`.
pub(super) fn excess(parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let difference = program.difference(*parents.first()?, *parents.get(1)?)?;
    program.univariate(Function::Relu, difference)
}
