//! `tan`, between two of its poles: `f″ = 2 tan (1 + tan²)`, so it is convex on `(0, π/2)` and concave on `(π/2, π)`.

use super::{Curvature, Cuts, Declaration, Domain, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "tan",
    shape: |_| {
        Some(Shape {
            domain: Domain::Branch,
            turns: Cuts::Few(&[]),
            bends: Cuts::Quarters { first: 0, step: 1 },
            curvatures: &[Curvature::Convex, Curvature::Concave],
        })
    },
    value: |x, _| value(x),
    slope: |x, _, _| value(x).power(2) + 1,
};

fn value(x: &Real) -> Real {
    let (sin, cos) = x.sin_cos();
    sin / cos
}
