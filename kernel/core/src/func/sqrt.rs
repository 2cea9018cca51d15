//! `sqrt`, the square root.

use super::{CONCAVE, Declaration, Domain, End, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "sqrt",
    shape: |_| Some(Shape { domain: Domain::From(0, End::Steep), ..CONCAVE }),
    value: |x, _| x.sqrt(),
    slope: |x, _, _| x.integer(1) / x.sqrt().shifted(1),
};
