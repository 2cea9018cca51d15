//! `sinh`.

use super::cosh::cosh;
use super::{CUBIC, Declaration};
use crate::num::Real;

pub(super) const FUNCTION: Declaration =
    Declaration { name: "sinh", shape: |_| Some(CUBIC), value: |x, _| sinh(x), slope: |x, _, _| cosh(x) };

/// With `e = exp(|x|) − 1`: `(e + e/(e + 1))/2`, in which nothing cancels.
pub(super) fn sinh(x: &Real) -> Real {
    x.odd(|x| {
        let e = x.expm1();
        (&e / (&e + 1) + e).shifted(-1)
    })
}
