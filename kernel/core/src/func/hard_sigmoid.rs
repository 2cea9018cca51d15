//! `hard_sigmoid`, `min(max(αx + β, 0), 1)`, with parameters `α > 0` and `β`.

use super::clip::RAMP;
use super::elu::parameter;
use super::{CONVEX, Cut, Cuts, Declaration, Shape};
use crate::num::{Rational, Real};
use num_traits::{One, Signed, Zero};

const ENDS: Cuts =
    Cuts::Few(&[Cut::Given(|p| preimage(p, Rational::zero())), Cut::Given(|p| preimage(p, Rational::one()))]);

pub(super) const FUNCTION: Declaration = Declaration {
    name: "hard_sigmoid",
    shape: |parameters| match parameters {
        [alpha, _] if alpha.is_positive() => Some(Shape { turns: ENDS, bends: ENDS, curvatures: RAMP, ..CONVEX }),
        _ => None,
    },
    value: |x, parameters| value(x, parameters).max(&x.integer(0)).min(&x.integer(1)),
    slope: |x, parameters, piece| if piece == 1 { parameter(x, parameters, 0) } else { x.integer(0) },
};

/// `αx + β` as one quotient of integers, exactly zero where it is zero.
fn value(x: &Real, parameters: &[Rational]) -> Real {
    let [alpha, beta] = parameters else { return Real::unknown(x.precision()) };
    let integer = |n| Real::ratio(&Rational::from_integer(n), x.precision());
    let numerator = integer(alpha.numer() * beta.denom()) * x + integer(beta.numer() * alpha.denom());
    numerator / integer(alpha.denom() * beta.denom())
}

fn preimage(parameters: &[Rational], value: Rational) -> Rational {
    match parameters {
        [alpha, beta] if !alpha.is_zero() => (value - beta) / alpha,
        _ => Rational::zero(),
    }
}
