//! `exp(x) − 1`.

use super::{CONVEX, Declaration};
use crate::num::Real;

pub(super) const FUNCTION: Declaration =
    Declaration { name: "expm1", shape: |_| Some(CONVEX), value: |x, _| x.expm1(), slope: |x, _, _| x.exp() };

impl Real {
    /// `exp(x) − 1`, with a small relative error: near 0 with as many more bits as the difference loses. Where `|x|` is below the precision,
    /// `|exp(x) − 1 − x| ≤ x²`.
    #[must_use]
    pub(super) fn expm1(&self) -> Self {
        match self.magnitude() {
            Some(m) if m < self.precision().saturating_neg() => self + (self * self).around_zero(),
            Some(m) => {
                let precision = self.precision().saturating_sub(m.min(0));
                (self.clone().with_precision(precision).exp() - 1).with_precision(self.precision())
            }
            None => self.clone(),
        }
    }
}
