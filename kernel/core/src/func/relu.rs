//! `relu(z) = max(z, 0)`: linear on both sides of 0.

use super::{Curvature, Piece};
use crate::num::{Ball, Dyadic};

pub(super) fn value(z: &Dyadic) -> Dyadic {
    z.clone().max(Dyadic::zero())
}

/// The values at the ends, since it does not fall.
pub(super) fn enclosure(z: &Ball) -> Ball {
    let (lower, upper) = (value(&z.lower()), value(&z.upper()));
    Ball::between(&lower, &upper).unwrap_or_else(|| Ball::exact(lower))
}

pub(super) fn pieces() -> Vec<Piece> {
    let zero = || Some(Ball::exact(Dyadic::zero()));
    vec![
        Piece { start: None, end: zero(), curvature: Curvature::Linear },
        Piece { start: zero(), end: None, curvature: Curvature::Linear },
    ]
}

/// 0 on the first piece, 1 on the second.
pub(super) fn derivative(piece: usize) -> Ball {
    Ball::exact(Dyadic::new(i64::from(piece > 0), 0))
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
pub(crate) fn default_lower_slope(lower: &Dyadic, upper: &Dyadic) -> Dyadic {
    if *upper > -lower { Dyadic::new(1, 0) } else { Dyadic::zero() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_flat_on_the_first_piece_and_rises_on_the_second() {
        assert_eq!(pieces().len(), 2);
        assert_eq!([derivative(0), derivative(1)].map(|slope| slope.lower()), [Dyadic::zero(), Dyadic::new(1, 0)]);
        assert_eq!([derivative(0), derivative(1)].map(|slope| slope.upper()), [Dyadic::zero(), Dyadic::new(1, 0)]);
    }
}
