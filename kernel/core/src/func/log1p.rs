//! `log(1 + x)`.

use super::{CONCAVE, Declaration, Domain, End, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "log1p",
    shape: |_| Some(Shape { domain: Domain::From(-1, End::Open), ..CONCAVE }),
    value: |x, _| x.log1p(),
    slope: |x, _, _| x.integer(1) / (x + 1),
};

impl Real {
    /// `log(1 + x)`, with a small relative error near 0.
    #[must_use]
    pub(super) fn log1p(&self) -> Self {
        if self.magnitude().is_some_and(|m| m >= 0) { (self + 1).log() } else { self.log1p_near_zero() }
    }
}
