//! `x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2` on every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator =
    Operator::new("gelu_tanh", Arity::Exactly(1), keeps_shape, |_, parents, program| {
        program.library("gelu_tanh", *parents.first()?)
    })
    .extension();
