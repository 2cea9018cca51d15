//! `x·(1 + erf(x/√2))/2` on every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("gelu", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    program.library("gelu", *parents.first()?)
})
.extension();
