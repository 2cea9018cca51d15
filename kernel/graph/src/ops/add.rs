//! Sum of two tensors of one shape.

use super::{Arity, Operator, equal_shapes};

pub(super) const OPERATOR: Operator =
    Operator::new("add", Arity::Exactly(2), equal_shapes, |_, parents, program| program.sum(parents));
