//! `leaky_relu`, `αx` below 0 and `x` above, with one parameter `α`.

use super::elu::parameter;
use super::{CONVEX, Curvature, Declaration, Shape, ZERO};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "leaky_relu",
    shape: |parameters| {
        let linear = &[Curvature::Linear, Curvature::Linear];
        (parameters.len() == 1).then_some(Shape { turns: ZERO, bends: ZERO, curvatures: linear, ..CONVEX })
    },
    value: |x, parameters| x.sides(&(parameter(x, parameters, 0) * x), x),
    slope: |x, parameters, piece| if piece > 0 { x.integer(1) } else { parameter(x, parameters, 0) },
};
