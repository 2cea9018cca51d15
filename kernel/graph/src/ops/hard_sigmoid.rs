//! `min(max(αx + β, 0), 1)` on every element.

use super::{Arity, Operator, keeps_shape, numbers};

pub(super) const OPERATOR: Operator =
    Operator::new("hard_sigmoid", Arity::Exactly(1), keeps_shape, |site, parents, program| {
        program.function("hard_sigmoid", numbers::all(site)?, *parents.first()?)
    })
    .payload(&[numbers::number("alpha"), numbers::number("beta")])
    .payload_rule(|site| numbers::admitted(site, "hard_sigmoid", "alpha", "must be above zero"))
    .extension();
