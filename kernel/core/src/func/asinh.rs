//! `asinh`.

use super::{Declaration, SIGMOID};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "asinh",
    shape: |_| Some(SIGMOID),
    value: |x, _| x.odd(value),
    slope: |x, _, _| x.integer(1) / (x * x + 1).sqrt(),
};

/// `log(x + √(1 + x²)) = log(1 + x + x²/(1 + √(1 + x²)))`, in which nothing cancels for `x ≥ 0`.
fn value(x: &Real) -> Real {
    let square = x * x;
    let root = (&square + 1).sqrt();
    (square / (root + 1) + x).log1p()
}
