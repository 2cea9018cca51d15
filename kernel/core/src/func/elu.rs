//! `elu`, `α(exp(x) − 1)` below 0 and `x` above, with one parameter `α`.

use super::{CONVEX, Curvature, Declaration, Shape, ZERO};
use crate::num::{Rational, Real};
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "elu",
    shape: |parameters| match parameters {
        [alpha] => Some(shape(alpha)),
        _ => None,
    },
    value: |x, parameters| x.sides(&(scale(x, parameters) * x.expm1()), x),
    slope: |x, parameters, piece| if piece > 0 { x.integer(1) } else { scale(x, parameters) * x.exp() },
};

/// The sign of `α` says how it bends below 0, and whether it turns at 0.
pub(super) fn shape(alpha: &Rational) -> Shape {
    let curvatures: &[Curvature] = if alpha.is_negative() {
        &[Curvature::Concave, Curvature::Linear]
    } else {
        &[Curvature::Convex, Curvature::Linear]
    };
    Shape { turns: ZERO, bends: ZERO, curvatures, ..CONVEX }
}

/// The parameter at this place as a number of the precision of `x`; zero if there is none.
pub(super) fn parameter(x: &Real, parameters: &[Rational], place: usize) -> Real {
    parameters.get(place).map_or(x.integer(0), |value| Real::ratio(value, x.precision()))
}

fn scale(x: &Real, parameters: &[Rational]) -> Real {
    parameter(x, parameters, 0)
}
