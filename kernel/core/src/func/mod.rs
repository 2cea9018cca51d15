//! Univariate functions, one file each. Each declares what the rules ask: where it is defined, where its pieces end and what it is there.

mod relu;

use crate::num::{Ball, Dyadic};
use num_bigint::BigInt;

/// A univariate function of the real line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `max(x, 0)`.
    Relu,
}

/// How a function bends on a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// Not at all.
    Linear,
    /// `f″ ≥ 0`.
    Convex,
    /// `f″ ≤ 0`.
    Concave,
}

/// A piece of the real line on which a function is twice differentiable and bends one way. Boundaries are enclosures; the piece goes from the
/// upper end of `start` to the lower end of `end`, and to infinity where there is none.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Where it starts.
    pub start: Option<Ball>,
    /// Where it ends, which is where the next piece starts.
    pub end: Option<Ball>,
    /// How the function bends on it.
    pub curvature: Curvature,
}

/// What UNIVARIATE asks of a continuous function.
pub trait Univariate {
    /// Contains `f(z)` for every `z` of the ball.
    fn value(&self, z: &Ball) -> Ball;

    /// Contains `f′(z)` for every `z` of the ball that lies in piece `piece`; at a kink the one-sided derivative of that piece.
    fn derivative(&self, z: &Ball, piece: usize) -> Ball;

    /// The pieces in ascending order; together with their boundaries they cover the real line.
    fn pieces(&self) -> Vec<Piece>;
}

impl Piece {
    /// The piece of `−f`.
    #[must_use]
    pub fn turned(&self) -> Self {
        let curvature = match self.curvature {
            Curvature::Linear => Curvature::Linear,
            Curvature::Convex => Curvature::Concave,
            Curvature::Concave => Curvature::Convex,
        };
        Self { curvature, ..self.clone() }
    }
}

impl Univariate for Function {
    fn value(&self, z: &Ball) -> Ball {
        match self {
            Self::Relu => relu::enclosure(z),
        }
    }

    fn derivative(&self, _z: &Ball, piece: usize) -> Ball {
        match self {
            Self::Relu => relu::derivative(piece),
        }
    }

    fn pieces(&self) -> Vec<Piece> {
        match self {
            Self::Relu => relu::pieces(),
        }
    }
}

impl Function {
    /// `f(z)`, exactly. Every function here is defined on the whole line (DOMAIN), continuous, nondecreasing, and linear on its pieces.
    #[must_use]
    pub fn value(self, z: &Dyadic) -> Dyadic {
        match self {
            Self::Relu => relu::value(z),
        }
    }

    /// `q·f(n/q)` for a positive `q`, exactly.
    #[must_use]
    pub fn scaled_value(self, n: &Dyadic, _q: &BigInt) -> Dyadic {
        match self {
            // max(n/q, 0)·q = max(n, 0).
            Self::Relu => relu::value(n),
        }
    }

    /// The slopes that a certificate may give for a lower line, ends included.
    #[must_use]
    pub fn slope_domain(self) -> (Dyadic, Dyadic) {
        match self {
            Self::Relu => relu::slope_domain(),
        }
    }

    /// The slope of the line that `f` itself is on `[lower, upper]`, if it has no breakpoint inside.
    #[must_use]
    pub fn linear_slope(self, lower: &Dyadic, upper: &Dyadic) -> Option<Dyadic> {
        match self {
            Self::Relu => relu::linear_slope(lower, upper),
        }
    }

    /// The slope of the lower line where a certificate gives none.
    #[must_use]
    pub fn default_lower_slope(self, lower: &Dyadic, upper: &Dyadic) -> Dyadic {
        match self {
            Self::Relu => relu::default_lower_slope(lower, upper),
        }
    }
}
