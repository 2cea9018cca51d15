//! The square root of every element, defined where it is not below 0.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("sqrt", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("sqrt", *parents.first()?)
});
