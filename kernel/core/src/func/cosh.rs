//! `cosh`.

use super::sinh::sinh;
use super::{CONVEX, Declaration, Shape, ZERO};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "cosh",
    shape: |_| Some(Shape { turns: ZERO, ..CONVEX }),
    value: |x, _| cosh(x),
    slope: |x, _, _| sinh(x),
};

/// `(e + 1/e)/2` with `e = exp(x)`.
pub(super) fn cosh(x: &Real) -> Real {
    let e = (-x.downward()).exp();
    (x.integer(1) / &e + e).shifted(-1)
}
