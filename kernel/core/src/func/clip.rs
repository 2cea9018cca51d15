//! `clip`, `min(max(x, low), high)`, with parameters `low ≤ high`.

use super::{CONVEX, Curvature, Cut, Cuts, Declaration, Shape, parameter};

/// Flat, rising, flat.
pub(super) const RAMP: &[Curvature] = &[Curvature::Linear, Curvature::Linear, Curvature::Linear];

const ENDS: Cuts = Cuts::Few(&[Cut::Given(|p| parameter(p, 0)), Cut::Given(|p| parameter(p, 1))]);

pub(super) const FUNCTION: Declaration = Declaration {
    name: "clip",
    shape: |parameters| match parameters {
        [low, high] if low <= high => Some(Shape { turns: ENDS, bends: ENDS, curvatures: RAMP, ..CONVEX }),
        _ => None,
    },
    value: |x, p| x.max(&x.integer(1).by(&parameter(p, 0))).min(&x.integer(1).by(&parameter(p, 1))),
    slope: |x, _, piece| x.integer(i64::from(piece == 1)),
};
