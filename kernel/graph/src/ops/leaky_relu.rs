//! `x` where `x ≥ 0`, else `αx`, on every element.

use super::{Arity, Operator, keeps_shape, numbers};

pub(super) const OPERATOR: Operator =
    Operator::new("leaky_relu", Arity::Exactly(1), keeps_shape, |site, parents, program| {
        program.function("leaky_relu", numbers::all(site)?, *parents.first()?)
    })
    .payload(&[numbers::number("alpha")])
    .extension();
