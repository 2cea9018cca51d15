//! Univariate functions, one file each. Each declares what the rules ask: where it is defined, where its pieces end and what it is there.

mod acos;
mod acosh;
mod asin;
mod asinh;
mod atan;
mod atanh;
mod celu;
mod clip;
mod constant;
mod cos;
mod cosh;
mod declaration;
mod elu;
mod erf;
mod erfc;
mod exp;
mod expm1;
mod gelu;
mod gelu_tanh;
mod hard_sigmoid;
mod hard_swish;
mod inv;
mod leaky_relu;
mod library;
mod log;
mod log1p;
mod log2;
mod mish;
mod power;
mod prelu;
mod relu;
mod rsqrt;
mod selu;
mod series;
mod sigmoid;
mod silu;
mod sin;
mod sinh;
mod softplus;
mod softsign;
mod sqrt;
mod tan;
mod tanh;

pub use constant::Constant;
pub use library::{Elementary, names};

use crate::num::{Ball, Dyadic, Real};
use declaration::{
    CONCAVE, CONVEX, CUBIC, Cut, Cuts, Declaration, Domain, End, SIGMOID, Shape, ZERO, parameter, reciprocal,
};
use num_bigint::BigInt;

/// Why there is no enclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The function, or its derivative, is not defined on all of the argument.
    Undefined,
    /// An exponent or a precision beyond the budget.
    Limit,
}

/// The most bits that a result may be asked for.
const MOST_BITS: i64 = 1 << 15;
/// Bits beyond those asked for that the first attempt computes with.
const GUARD: i64 = 16;
/// The last attempt computes with this many times the bits asked for and 512.
const FOLD: i64 = 8;

/// A ball of relative radius at most `2^-bits` around a number that `evaluate` computes at a given precision. What is lost to cancellation is made
/// up for by a higher precision; when that is used up, or does not help, the enclosure stands as it is.
fn refine(bits: u64, evaluate: impl Fn(i64) -> Real) -> Result<Ball, Refusal> {
    let bits = i64::try_from(bits).ok().filter(|bits| (1..=MOST_BITS).contains(bits)).ok_or(Refusal::Limit)?;
    let wanted = bits.saturating_add(3);
    let last = bits.saturating_add(512).saturating_mul(FOLD);
    let (mut precision, mut best) = (bits.saturating_add(GUARD), 8);
    loop {
        let value = evaluate(precision);
        let accuracy = value.accuracy().unwrap_or(i64::MIN);
        // Too small to be told from zero in any later sum.
        let vanishing = value.magnitude().is_some_and(|m| m < -(1 << 32));
        let stuck = accuracy > 8 && accuracy <= best;
        if accuracy >= wanted || vanishing || stuck || precision >= last {
            return value.ball(bits.saturating_add(GUARD)).ok_or(Refusal::Limit);
        }
        best = best.max(accuracy);
        let missing = if accuracy > 8 { wanted.saturating_sub(accuracy).saturating_add(8) } else { precision };
        precision = precision.saturating_add(missing).min(last);
    }
}

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
