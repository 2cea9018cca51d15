//! `celu`, `α(exp(x/α) − 1)` below 0 and `x` above, with one parameter `α > 0`.

use super::elu::shape;
use super::{Declaration, parameter, reciprocal};
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "celu",
    shape: |parameters| match parameters {
        [alpha] if alpha.is_positive() => Some(shape(alpha)),
        _ => None,
    },
    value: |x, p| x.sides(|| x.by(&reciprocal(p, 0)).expm1().by(&parameter(p, 0)), || x.clone()),
    slope: |x, p, piece| if piece > 0 { x.integer(1) } else { x.by(&reciprocal(p, 0)).exp() },
};
