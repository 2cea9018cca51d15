//! `cos`: convex on `(π/2, 3π/2)`.

use super::{Curvature, Cuts, Declaration, Domain, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "cos",
    shape: |_| {
        Some(Shape {
            domain: Domain::Line,
            turns: Cuts::Quarters { first: 0, step: 2 },
            bends: Cuts::Quarters { first: 1, step: 2 },
            curvatures: &[Curvature::Convex, Curvature::Concave],
        })
    },
    value: |x, _| x.sin_cos().1,
    slope: |x, _, _| -x.sin_cos().0,
};
