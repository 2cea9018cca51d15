//! `x/(1 + exp(−x))` on every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("silu", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("silu", *parents.first()?)
})
.extension();
