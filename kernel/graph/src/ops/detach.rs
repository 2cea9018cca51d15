//! The same value; where it comes from matters to training only.

use super::{Arity, Operator, identity, keeps_shape};

pub(super) const OPERATOR: Operator = Operator::new("detach", Arity::Exactly(1), keeps_shape, identity);
