//! `1/x` on every element, defined where it is not 0.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("inv", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("inv", *parents.first()?)
});
