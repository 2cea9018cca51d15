//! `atanh`.

use super::{CUBIC, Declaration, Domain, End, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "atanh",
    shape: |_| Some(Shape { domain: Domain::Unit(End::Open), ..CUBIC }),
    // log((1 + x)/(1 − x))/2.
    value: |x, _| x.odd(|x| (x.shifted(1) / (-x + 1)).log1p().shifted(-1)),
    slope: |x, _, _| x.integer(1) / ((-x + 1) * (x + 1)),
};
