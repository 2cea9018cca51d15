//! `clip`, `min(max(x, low), high)`, with parameters `low ≤ high`.

use super::elu::parameter;
use super::{CONVEX, Curvature, Cut, Cuts, Declaration, Shape};
use crate::num::Rational;

/// Flat, rising, flat.
pub(super) const RAMP: &[Curvature] = &[Curvature::Linear, Curvature::Linear, Curvature::Linear];

const ENDS: Cuts = Cuts::Few(&[Cut::Given(|p| end(p, 0)), Cut::Given(|p| end(p, 1))]);

pub(super) const FUNCTION: Declaration = Declaration {
    name: "clip",
    shape: |parameters| match parameters {
        [low, high] if low <= high => Some(Shape { turns: ENDS, bends: ENDS, curvatures: RAMP, ..CONVEX }),
        _ => None,
    },
    value: |x, parameters| x.max(&parameter(x, parameters, 0)).min(&parameter(x, parameters, 1)),
    slope: |x, _, piece| x.integer(i64::from(piece == 1)),
};

fn end(parameters: &[Rational], place: usize) -> Rational {
    parameters.get(place).cloned().unwrap_or_default()
}
