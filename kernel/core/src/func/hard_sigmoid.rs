//! `hard_sigmoid`, `min(max(αx + β, 0), 1)`, with parameters `α > 0` and `β`.

use super::clip::RAMP;
use super::{CONVEX, Cut, Cuts, Declaration, Shape, parameter, reciprocal};
use crate::num::Rational;
use num_traits::{One, Signed};

/// `−β/α` and `(1 − β)/α`.
const ENDS: Cuts = Cuts::Few(&[
    Cut::Given(|p| -parameter(p, 1) * reciprocal(p, 0)),
    Cut::Given(|p| (Rational::one() - parameter(p, 1)) * reciprocal(p, 0)),
]);

pub(super) const FUNCTION: Declaration = Declaration {
    name: "hard_sigmoid",
    shape: |parameters| match parameters {
        [alpha, _] if alpha.is_positive() => Some(Shape { turns: ENDS, bends: ENDS, curvatures: RAMP, ..CONVEX }),
        _ => None,
    },
    // α(x + β/α) with an integer for the sum, so that it is exactly zero where it is zero.
    value: |x, p| {
        let start = parameter(p, 1) * reciprocal(p, 0);
        let [numerator, denominator] = [start.numer(), start.denom()].map(|n| Rational::from_integer(n.clone()));
        let sum = x.by(&denominator) + x.integer(1).by(&numerator);
        sum.by(&(parameter(p, 0) / denominator)).max(&x.integer(0)).min(&x.integer(1))
    },
    slope: |x, p, piece| if piece == 1 { x.integer(1).by(&parameter(p, 0)) } else { x.integer(0) },
};
