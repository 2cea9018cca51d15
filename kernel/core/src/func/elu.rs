//! `elu`, `α(exp(x) − 1)` below 0 and `x` above, with one parameter `α`.

use super::{CONVEX, Curvature, Declaration, Shape, ZERO, parameter};
use crate::num::Rational;
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "elu",
    shape: |parameters| match parameters {
        [alpha] => Some(shape(alpha)),
        _ => None,
    },
    value: |x, p| x.sides(|| x.expm1().by(&parameter(p, 0)), || x.clone()),
    slope: |x, p, piece| if piece > 0 { x.integer(1) } else { x.exp().by(&parameter(p, 0)) },
};

/// The sign of `α` says how it bends below 0, and whether it turns at 0.
pub(super) fn shape(alpha: &Rational) -> Shape {
    let curvatures = if alpha.is_negative() {
        &[Curvature::Concave, Curvature::Linear]
    } else {
        &[Curvature::Convex, Curvature::Linear]
    };
    Shape { turns: ZERO, bends: ZERO, curvatures, ..CONVEX }
}
