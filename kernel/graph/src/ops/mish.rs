//! `x·tanh(ln(1 + exp(x)))` on every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("mish", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("mish", *parents.first()?)
})
.extension();
