//! `1/√x`.

use super::{CONVEX, Declaration, Domain, End, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "rsqrt",
    shape: |_| Some(Shape { domain: Domain::From(0, End::Open), ..CONVEX }),
    value: |x, _| x.integer(1) / x.sqrt(),
    slope: |x, _, _| x.integer(-1) / (x.sqrt() * x).shifted(1),
};
