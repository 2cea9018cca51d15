//! `1/x`, on one side of 0.

use super::{CUBIC, Declaration, Domain, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "inv",
    shape: |_| Some(Shape { domain: Domain::Nonzero, ..CUBIC }),
    value: |x, _| x.integer(1) / x,
    slope: |x, _, _| x.integer(-1) / (x * x),
};
