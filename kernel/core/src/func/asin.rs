//! `asin`.

use super::{CUBIC, Constant, Declaration, Domain, End, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "asin",
    shape: |_| Some(Shape { domain: Domain::Unit(End::Steep), ..CUBIC }),
    value: |x, _| x.odd(value),
    slope: |x, _, _| x.integer(1) / cosine(x),
};

/// `asin x = atan(x / √(1 − x²))`.
fn value(x: &Real) -> Real {
    let cosine = cosine(x);
    if cosine.is_zero() { Constant::Pi.real(x.precision()).shifted(-1) } else { (x / cosine).atan() }
}

/// `√(1 − x²)`, the cosine of `asin x`, from factors of which neither cancels unless `x` is near its end.
pub(super) fn cosine(x: &Real) -> Real {
    ((-x + 1) * (x + 1)).sqrt()
}
