//! Difference of two tensors of one shape: the first minus the second.

use super::{Arity, Operator, equal_shapes};

pub(super) const OPERATOR: Operator =
    Operator::new("sub", Arity::Exactly(2), equal_shapes, |_, parents, program| match parents {
        [first, second] => program.difference(*first, *second),
        _ => None,
    });
