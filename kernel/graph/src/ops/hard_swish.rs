//! `x·min(max(x + 3, 0), 6)/6` on every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator =
    Operator::new("hard_swish", Arity::Exactly(1), keeps_shape, |_, parents, program| {
        program.library("hard_swish", *parents.first()?)
    })
    .extension();
