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
mod fixed;
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
#[cfg(test)]
mod tests;

pub use constant::Constant;
pub use library::{Elementary, names};
pub(crate) use relu::default_lower_slope;

use crate::interval::{FINEST, Interval};
use crate::num::{Ball, Dyadic, Rational, Real};
use declaration::{
    CONCAVE, CONVEX, CUBIC, Cut, Cuts, Declaration, Domain, End, SIGMOID, Shape, ZERO, parameter, reciprocal,
};
use num_bigint::BigInt;
use std::sync::Arc;

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
const GUARD: i64 = 24;
/// The last attempt computes with this many bits more than twice those asked for.
const MARGIN: i64 = 4096;

/// A ball of relative radius at most `2^-bits` around a number that `evaluate` computes at a given precision. What is lost to cancellation is made
/// up for by a higher precision; when that is used up, or does not help, the enclosure stands as it is.
fn refine(bits: u64, evaluate: impl Fn(i64) -> Real) -> Result<Ball, Refusal> {
    let bits = i64::try_from(bits).ok().filter(|bits| (1..=MOST_BITS).contains(bits)).ok_or(Refusal::Limit)?;
    let wanted = bits.saturating_add(3);
    let last = bits.saturating_mul(2).saturating_add(MARGIN);
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

/// What UNIVARIATE asks of a function that is continuous on the interval in question. `None` is no answer, where one is beyond the budget.
pub trait Univariate {
    /// Contains `f(z)` for every `z` of the ball.
    fn value(&self, z: &Ball) -> Option<Ball>;

    /// Contains `f′(z)` for every `z` of the ball that lies in the piece, which is number `place` of [`Univariate::pieces`]; at a kink the one-sided
    /// derivative of that piece.
    fn derivative(&self, z: &Ball, place: usize, piece: &Piece) -> Option<Ball>;

    /// Pieces in ascending order that, together with their boundaries, cover the interval.
    fn pieces(&self, interval: &Interval) -> Option<Vec<Piece>>;
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

/// A function of programs, continuous where it is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// `max(x, 0)`, exactly.
    Relu,
    /// A function of the library, in enclosures.
    Library(Arc<Elementary>),
}

/// Bits of enclosures of values, and of slopes, which need not be good.
const VALUE_BITS: u64 = 128;
const SLOPE_BITS: u64 = 48;

impl Univariate for Function {
    fn value(&self, z: &Ball) -> Option<Ball> {
        match self {
            Self::Relu => Some(relu::enclosure(z)),
            Self::Library(function) => {
                let value = function.value(z, VALUE_BITS).ok()?;
                let value = Interval { lower: value.lower(), upper: value.upper() }.bounded(FINEST)?;
                Ball::between(&value.lower, &value.upper)
            }
        }
    }

    fn derivative(&self, z: &Ball, place: usize, piece: &Piece) -> Option<Ball> {
        match self {
            Self::Relu => Some(relu::derivative(place)),
            Self::Library(function) => {
                let z = Interval { lower: z.lower(), upper: z.upper() };
                let slope = function.derivative(&z, place, piece, SLOPE_BITS).ok()?.bounded(FINEST)?;
                Ball::around(&slope.lower, &slope.upper)
            }
        }
    }

    fn pieces(&self, interval: &Interval) -> Option<Vec<Piece>> {
        match self {
            Self::Relu => Some(relu::pieces()),
            Self::Library(function) => function.pieces(interval, VALUE_BITS).ok(),
        }
    }
}

impl Function {
    /// The function of the library with this name and these parameters; `None` if there is none.
    #[must_use]
    pub fn library(name: &str, parameters: Vec<Rational>) -> Option<Self> {
        Elementary::new(name, parameters).map(|function| Self::Library(Arc::new(function)))
    }

    /// Whether it is defined on the whole line.
    #[must_use]
    pub fn is_total(&self) -> bool {
        match self {
            Self::Relu => true,
            Self::Library(function) => function.is_total(),
        }
    }

    /// Whether it is defined on all of an interval (DOMAIN).
    #[must_use]
    pub fn is_defined_on(&self, z: &Interval) -> bool {
        match self {
            Self::Relu => true,
            Self::Library(function) => function.is_defined_on(z),
        }
    }

    /// Contains the values on an interval (IBP); `None` if that is beyond the budget.
    #[must_use]
    pub fn image(&self, z: &Interval) -> Option<Interval> {
        let image = self.image_to(z, VALUE_BITS)?;
        if matches!(self, Self::Relu) { Some(image) } else { image.bounded(FINEST) }
    }

    /// As [`Function::image`], to about `bits` significant bits and with ends however close to zero.
    #[must_use]
    pub(crate) fn image_to(&self, z: &Interval, bits: u64) -> Option<Interval> {
        match self {
            Self::Relu => Some(Interval { lower: relu::value(&z.lower), upper: relu::value(&z.upper) }),
            Self::Library(function) => function.image(z, bits).ok(),
        }
    }

    /// `q·f(n/q)` for a positive `q`, exactly; `None` for functions whose values are not rational.
    #[must_use]
    pub fn scaled_value(&self, n: &Dyadic, _q: &BigInt) -> Option<Dyadic> {
        match self {
            // max(n/q, 0)·q = max(n, 0).
            Self::Relu => Some(relu::value(n)),
            Self::Library(_) => None,
        }
    }

    /// The slopes that a certificate may give for a lower line, ends included; `None`: any.
    #[must_use]
    pub fn slope_domain(&self) -> Option<(Dyadic, Dyadic)> {
        match self {
            Self::Relu => Some(relu::slope_domain()),
            Self::Library(_) => None,
        }
    }

    /// The slope of the line that `f` itself is on `[lower, upper]`, if it is known to be one.
    #[must_use]
    pub fn linear_slope(&self, lower: &Dyadic, upper: &Dyadic) -> Option<Dyadic> {
        match self {
            Self::Relu => relu::linear_slope(lower, upper),
            Self::Library(_) => None,
        }
    }
}
