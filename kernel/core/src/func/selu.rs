//! `selu`, `γα(exp(x) − 1)` below 0 and `γx` above, with parameters `α` and `γ > 0`: `γ·elu`.

use super::elu::{FUNCTION as ELU, shape};
use super::{Declaration, parameter};
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "selu",
    shape: |parameters| match parameters {
        [alpha, gamma] if gamma.is_positive() => Some(shape(alpha)),
        _ => None,
    },
    value: |x, p| (ELU.value)(x, p).by(&parameter(p, 1)),
    slope: |x, p, piece| (ELU.slope)(x, p, piece).by(&parameter(p, 1)),
};
