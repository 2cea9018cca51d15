//! The greatest integer that is not above, for every element.

use super::{Arity, Operator, keeps_shape};

pub(super) const OPERATOR: Operator =
    Operator::opaque("floor", Arity::Exactly(1), keeps_shape, "it is not continuous, and has no relaxation")
        .extension();
