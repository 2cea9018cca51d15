//! `tanh`.

use super::{Declaration, SIGMOID};
use crate::num::Real;

pub(super) const FUNCTION: Declaration =
    Declaration { name: "tanh", shape: |_| Some(SIGMOID), value: |x, _| value(x), slope: |x, _, _| slope(x) };

/// With `e = exp(−2|x|) − 1`: `−e/(e + 2)`, which does not overflow.
fn value(x: &Real) -> Real {
    x.odd(|x| {
        let e = (-x).shifted(1).expm1();
        -&e / (e + 2)
    })
}

/// `1 − tanh² = 4q/(1 + q)²` with `q = exp(−2|x|)`.
fn slope(x: &Real) -> Real {
    let q = x.downward().shifted(1).exp();
    q.shifted(2) / (q + 1).power(2)
}
