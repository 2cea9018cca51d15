//! `relu(z) = max(z, 0)`: linear on both sides of 0.

use crate::num::Dyadic;

pub(super) fn value(z: &Dyadic) -> Dyadic {
    z.clone().max(Dyadic::zero())
}

pub(super) fn breakpoints() -> Vec<Dyadic> {
    vec![Dyadic::zero()]
}

pub(super) fn slope_domain() -> (Dyadic, Dyadic) {
    (Dyadic::zero(), Dyadic::new(1, 0))
}

pub(super) fn linear_slope(lower: &Dyadic, upper: &Dyadic) -> Option<Dyadic> {
    if !lower.is_negative() {
        Some(Dyadic::new(1, 0))
    } else if !upper.is_positive() {
        Some(Dyadic::zero())
    } else {
        None
    }
}

/// The side with the larger area under the triangle: 1 if `u > −l`, else 0 (CROWN's adaptive choice).
pub(super) fn default_lower_slope(lower: &Dyadic, upper: &Dyadic) -> Dyadic {
    if *upper > -lower { Dyadic::new(1, 0) } else { Dyadic::zero() }
}
