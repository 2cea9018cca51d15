//! `sigmoid`, the logistic function `1/(1 + exp(−x))`.

use super::{Declaration, SIGMOID};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "sigmoid",
    shape: |_| Some(SIGMOID),
    value: |x, _| x.sigmoid(),
    slope: |x, _, _| x.sigmoid() * (-x).sigmoid(),
};

impl Real {
    /// `1/(1 + q)` or `q/(1 + q)` with `q = exp(−|x|)`.
    #[must_use]
    pub(super) fn sigmoid(&self) -> Self {
        let q = self.downward().exp();
        if self.seems_negative() { &q / (&q + 1) } else { self.integer(1) / (q + 1) }
    }
}
