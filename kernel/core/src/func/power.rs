//! `power`, `x^r` with a rational exponent `r`: anywhere for integers `r ≥ 0`, on one side of 0 for integers below, else for `x ≥ 0`, or `x > 0`
//! where `r < 0`.

use super::{CONCAVE, CONVEX, CUBIC, Curvature, Declaration, Domain, End, Shape, ZERO};
use crate::num::{Rational, Real};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "power",
    shape: |parameters| match parameters {
        [exponent] if exponent.numer().bits() <= 32 && exponent.denom().bits() <= 32 => Some(shape(exponent)),
        _ => None,
    },
    value: |x, parameters| parameters.first().map_or(x.integer(1), |exponent| value(x, exponent)),
    slope: |x, parameters, _| match parameters.first().filter(|exponent| !exponent.is_zero()) {
        Some(exponent) => value(x, &(exponent - Rational::one())).by(exponent),
        None => x.integer(0),
    },
};

fn shape(exponent: &Rational) -> Shape {
    let (above, one) = (exponent.is_positive(), Rational::one());
    let domain = match (exponent.is_integer(), above) {
        (true, _) if !exponent.is_negative() => Domain::Line,
        (true, _) => Domain::Nonzero,
        (false, true) => Domain::From(0, if *exponent > one { End::Closed } else { End::Steep }),
        (false, false) => Domain::From(0, End::Open),
    };
    let shape = match domain {
        _ if exponent.is_zero() || exponent.is_one() => Shape { curvatures: &[Curvature::Linear], ..CONVEX },
        Domain::Line | Domain::Nonzero if exponent.numer().is_odd() => CUBIC,
        Domain::Line | Domain::Nonzero => {
            Shape { turns: ZERO, bends: ZERO, curvatures: &[Curvature::Convex, Curvature::Convex], ..CONVEX }
        }
        _ if above && *exponent < one => CONCAVE,
        _ => CONVEX,
    };
    Shape { domain, ..shape }
}

/// A power by squaring, or `exp(r·log x)`.
fn value(x: &Real, exponent: &Rational) -> Real {
    if exponent.is_integer() {
        let power = x.power(exponent.numer().magnitude().to_u64().unwrap_or(0));
        if exponent.is_negative() { x.integer(1) / power } else { power }
    } else if x.is_zero() && exponent.is_positive() {
        x.clone()
    } else {
        x.log().by(exponent).exp()
    }
}
