//! `acosh`.

use super::{CONCAVE, Declaration, Domain, End, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "acosh",
    shape: |_| Some(Shape { domain: Domain::From(1, End::Steep), ..CONCAVE }),
    value: |x, _| (sine(x) + x - 1).log1p(),
    slope: |x, _, _| x.integer(1) / sine(x),
};

/// `√(x² − 1)`; `acosh x = log(x + √(x² − 1))`.
fn sine(x: &Real) -> Real {
    ((x - 1) * (x + 1)).sqrt()
}
