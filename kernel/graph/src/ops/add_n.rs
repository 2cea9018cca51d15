//! Sum of any number of tensors of one shape.

use super::{Arity, Operator, equal_shapes};

pub(super) const OPERATOR: Operator =
    Operator::new("add_n", Arity::AtLeast(1), equal_shapes, |_, parents, program| program.sum(parents)).extension();
