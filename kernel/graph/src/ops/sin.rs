//! `sin(x)` on every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("sin", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("sin", *parents.first()?)
});
