//! `γx` where `x ≥ 0`, else `γα(exp(x) − 1)`, on every element.

use super::{Arity, Operator, keeps_shape, numbers};

pub(super) const OPERATOR: Operator =
    Operator::new("selu", Arity::Exactly(1), keeps_shape, |site, parents, program| {
        program.function("selu", numbers::all(site)?, *parents.first()?)
    })
    .payload(&[numbers::number("alpha"), numbers::number("gamma")])
    .payload_rule(|site| numbers::admitted(site, "selu", "gamma", "must be above zero"))
    .extension();
