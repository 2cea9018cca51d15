//! `selu`, `γα(exp(x) − 1)` below 0 and `γx` above, with parameters `α` and `γ > 0`: `γ·elu`.

use super::elu::{FUNCTION as ELU, shape};
use super::{Declaration, parameter};
use crate::num::Rational;
use num_traits::Signed;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "selu",
    shape: |parameters| match parameters {
        [alpha, gamma] if gamma.is_positive() => Some(shape(alpha)),
        _ => None,
    },
    value: |x, p| {
        let [alpha, gamma] = [0, 1].map(|place| parameter(p, place));
        // Not in lowest terms: a gcd takes as long as the rest.
        let product = || Rational::new_raw(alpha.numer() * gamma.numer(), alpha.denom() * gamma.denom());
        x.sides(|| x.expm1().by(&product()), || x.by(&gamma))
    },
    slope: |x, p, piece| (ELU.slope)(x, p, piece).by(&parameter(p, 1)),
};
