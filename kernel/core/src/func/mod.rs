//! Univariate functions, one file each. Each declares what the rules ask: where it is defined, where its pieces end and what it is there.

mod relu;

use crate::num::Dyadic;
use num_bigint::BigInt;

/// A univariate function of the real line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `max(x, 0)`.
    Relu,
}

impl Function {
    /// `f(z)`, exactly. Every function here is defined on the whole line (DOMAIN), continuous, and linear between its breakpoints.
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

    /// The points where the slope changes, in ascending order.
    #[must_use]
    pub fn breakpoints(self) -> Vec<Dyadic> {
        match self {
            Self::Relu => relu::breakpoints(),
        }
    }

    /// Whether `f` is nondecreasing, so that it maps ends to ends.
    #[must_use]
    pub fn is_monotone(self) -> bool {
        match self {
            Self::Relu => true,
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
