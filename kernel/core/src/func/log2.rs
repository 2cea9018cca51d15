//! `log2`, the logarithm to base 2.

use super::{CONCAVE, Constant, Declaration, Domain, End, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "log2",
    shape: |_| Some(Shape { domain: Domain::From(0, End::Open), ..CONCAVE }),
    value: |x, _| x.log() / Constant::Ln2.real(x.precision()),
    slope: |x, _, _| x.integer(1) / (Constant::Ln2.real(x.precision()) * x),
};
