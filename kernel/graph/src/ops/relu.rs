//! `max(x, 0)` on every element.

use super::{Arity, Operator, keeps_shape};
use certkern_core::func::Function;

pub(super) const OPERATOR: Operator = Operator::new("relu", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.univariate(Function::Relu, *parents.first()?)
});
