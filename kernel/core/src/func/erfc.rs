//! `erfc`, `1 − erf`, with a small relative error far out.

use super::erf::Bell;
use super::{CUBIC, Declaration};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "erfc",
    shape: |_| Some(CUBIC),
    value: |x, _| value(x),
    slope: |x, _, _| -Bell::erf(x).height(),
};

fn value(x: &Real) -> Real {
    if x.seems_negative() { Bell::inside(&-x, Bell::erf) + 1 } else { Bell::outside(x, Bell::erf) }
}
