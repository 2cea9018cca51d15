//! `acos`.

use super::asin::cosine;
use super::{Constant, Declaration, Domain, End, SIGMOID, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "acos",
    shape: |_| Some(Shape { domain: Domain::Unit(End::Steep), ..SIGMOID }),
    value: |x, _| value(x),
    slope: |x, _, _| x.integer(-1) / cosine(x),
};

/// `acos x = 2 atan √((1 − x)/(1 + x))`, and π at −1.
fn value(x: &Real) -> Real {
    let above = x + 1;
    if above.is_zero() { Constant::Pi.real(x.precision()) } else { ((-x + 1) / above).sqrt().atan().shifted(1) }
}
