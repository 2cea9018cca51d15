//! `max(x, 0)` on every element.

use super::{Arity, Operator, keeps_shape};
use certkern_core::func::Function;
use certkern_core::program::Primitive;

pub(super) const OPERATOR: Operator = Operator::new("relu", Arity::Exactly(1), keeps_shape, |_, parents| {
    Some(Primitive::Univariate { function: Function::Relu, argument: *parents.first()? })
});
