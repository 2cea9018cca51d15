//! `celu`, `α(exp(x/α) − 1)` below 0 and `x` above, with one parameter `α > 0`.

use super::Declaration;
use super::elu::{parameter, shape};
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "celu",
    shape: |parameters| match parameters {
        [alpha] if alpha.is_positive() => Some(shape(alpha)),
        _ => None,
    },
    value: |x, parameters| {
        let alpha = parameter(x, parameters, 0);
        x.sides(&((x / &alpha).expm1() * alpha), x)
    },
    slope: |x, parameters, piece| if piece > 0 { x.integer(1) } else { (x / parameter(x, parameters, 0)).exp() },
};
