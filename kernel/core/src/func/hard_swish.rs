//! `hard_swish`, `x·min(max(x + 3, 0), 6)/6`: zero up to −3, a parabola with its lowest point at −3/2, and `x` from 3 on.

use super::{CONVEX, Curvature, Cut, Cuts, Declaration, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "hard_swish",
    shape: |_| {
        Some(Shape {
            turns: Cuts::Few(&[Cut::Half(-3)]),
            bends: Cuts::Few(&[Cut::Half(-6), Cut::Half(6)]),
            curvatures: &[Curvature::Linear, Curvature::Convex, Curvature::Linear],
            ..CONVEX
        })
    },
    value: |x, _| (x + 3).max(&x.integer(0)).min(&x.integer(6)) * x / 6,
    slope: |x, _, piece| match piece {
        0 => x.integer(0),
        1 => (x.shifted(1) + 3) / 6,
        _ => x.integer(1),
    },
};
