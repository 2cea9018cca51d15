//! `softplus`, `log(1 + exp(x))`.

use super::{CONVEX, Declaration};
use crate::num::Real;

pub(super) const FUNCTION: Declaration =
    Declaration { name: "softplus", shape: |_| Some(CONVEX), value: |x, _| value(x), slope: |x, _, _| x.sigmoid() };

/// `log(1 + exp(−|x|))`, plus `x` above 0.
fn value(x: &Real) -> Real {
    let rest = x.downward().exp().log1p();
    if x.seems_negative() { rest } else { rest + x }
}
