//! `x^r` on every element, with a constant exponent; defined where the library's `power` is.

use super::{Arity, Operator, keeps_shape, numbers};

pub(super) const OPERATOR: Operator = Operator::new("pow", Arity::Exactly(1), keeps_shape, |site, parents, program| {
    program.function("power", numbers::all(site)?, *parents.first()?)
})
.payload(&[numbers::number("exponent")])
.payload_rule(|site| {
    numbers::admitted(site, "power", "exponent", "numerator and denominator of at most 32 bits are computed with")
})
.extension();
