//! `x` where `x ≥ 0`, else `α(exp(x) − 1)`, on every element.

use super::{Arity, Operator, keeps_shape, numbers};

pub(super) const OPERATOR: Operator = Operator::new("elu", Arity::Exactly(1), keeps_shape, |site, parents, program| {
    program.function("elu", numbers::all(site)?, *parents.first()?)
})
.payload(&[numbers::number("alpha")])
.extension();
