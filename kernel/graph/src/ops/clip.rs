//! `min(max(x, low), high)` on every element.

use super::{Arity, Operator, keeps_shape, numbers};

pub(super) const OPERATOR: Operator =
    Operator::new("clip", Arity::Exactly(1), keeps_shape, |site, parents, program| {
        program.function("clip", numbers::all(site)?, *parents.first()?)
    })
    .payload(&[numbers::number("low"), numbers::number("high")])
    .payload_rule(|site| numbers::admitted(site, "clip", "high", "is below `low`"))
    .extension();
