//! `leaky_relu`, `αx` below 0 and `x` above, with one parameter `α`.

use super::{CONVEX, Curvature, Declaration, Shape, ZERO, parameter};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "leaky_relu",
    shape: |parameters| {
        let curvatures = &[Curvature::Linear, Curvature::Linear];
        (parameters.len() == 1).then_some(Shape { turns: ZERO, bends: ZERO, curvatures, ..CONVEX })
    },
    value: |x, p| x.sides(|| x.by(&parameter(p, 0)), || x.clone()),
    slope: |x, p, piece| if piece > 0 { x.integer(1) } else { x.integer(1).by(&parameter(p, 0)) },
};
