//! The natural logarithm of every element, defined where it is above 0.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("log", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("log", *parents.first()?)
});
