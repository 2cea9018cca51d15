//! `selu`, `γα(exp(x) − 1)` below 0 and `γx` above, with parameters `α` and `γ > 0`.

use super::Declaration;
use super::elu::{parameter, shape};
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "selu",
    shape: |parameters| match parameters {
        [alpha, gamma] if gamma.is_positive() => Some(shape(alpha)),
        _ => None,
    },
    value: |x, parameters| x.sides(&(parameter(x, parameters, 0) * x.expm1()), x) * parameter(x, parameters, 1),
    slope: |x, parameters, piece| {
        let steepness = if piece > 0 { x.integer(1) } else { parameter(x, parameters, 0) * x.exp() };
        steepness * parameter(x, parameters, 1)
    },
};
