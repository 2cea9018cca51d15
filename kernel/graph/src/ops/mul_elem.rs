//! Product of two tensors of one shape, element by element.

use super::{Arity, Operator, equal_shapes};

pub(super) const OPERATOR: Operator =
    Operator::new("mul_elem", Arity::Exactly(2), equal_shapes, |_, parents, program| match parents {
        [first, second] => program.product(*first, *second),
        _ => None,
    });
