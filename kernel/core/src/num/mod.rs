//! Exact numbers: rationals for scalars, dyadics for everything that grows, digit planes for vectors and matrices.

mod accumulators;
pub mod ball;
pub(crate) mod denominator;
pub mod dyadic;
pub mod ieee;
pub mod matrix;
pub mod planes;
pub mod real;
pub mod short;

pub use ball::Ball;
pub use dyadic::Dyadic;
pub use matrix::Matrix;
pub use planes::Planes;
pub use real::Real;
pub use short::Short;

/// A rational number of unbounded size in lowest terms.
pub type Rational = num_rational::BigRational;
