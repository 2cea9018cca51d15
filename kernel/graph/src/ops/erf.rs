//! The error function of every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("erf", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("erf", *parents.first()?)
})
.extension();
