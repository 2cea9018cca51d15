//! `|x|` on every element.

use super::{Arity, Operator, keeps_shape};
use certkern_core::num::Rational;

pub(super) const OPERATOR: Operator = Operator::new("abs", Arity::Exactly(1), keeps_shape, |_, parents, program| {
    // A slope of −1 below 0.
    program.function("leaky_relu", vec![Rational::from_integer((-1).into())], *parents.first()?)
});
