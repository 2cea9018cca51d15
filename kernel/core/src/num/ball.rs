//! Balls: midpoint-radius enclosures with dyadic midpoint and radius, kept exactly.

use super::Dyadic;
use super::dyadic::REACH;

/// The real numbers within `radius` of `midpoint`, both ends included. The radius is not negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ball {
    midpoint: Dyadic,
    radius: Dyadic,
}

impl Ball {
    /// One number.
    #[must_use]
    pub fn exact(value: Dyadic) -> Self {
        Self { midpoint: value, radius: Dyadic::zero() }
    }

    /// The ball around `midpoint`; `None` if `radius` is below zero.
    #[must_use]
    pub fn new(midpoint: Dyadic, radius: Dyadic) -> Option<Self> {
        (!radius.is_negative()).then_some(Self { midpoint, radius })
    }

    /// The ball from `lower` to `upper`, exactly, since halves of dyadics are dyadic; `None` if `lower > upper`.
    #[must_use]
    pub fn between(lower: &Dyadic, upper: &Dyadic) -> Option<Self> {
        let half = Dyadic::new(1, -1);
        Self::new(&(lower + upper) * &half, &(upper - lower) * &half)
    }

    /// A ball around everything from `lower` to `upper`; `None` if `lower > upper`. An end that is small beside the other is rounded outward, so
    /// that no exponent makes the midpoint long.
    #[must_use]
    pub fn around(lower: &Dyadic, upper: &Dyadic) -> Option<Self> {
        let top = lower.magnitude().max(upper.magnitude()).unwrap_or(0);
        let least = top.saturating_sub(REACH);
        let floor = |x: &Dyadic| if x.exponent() < least { Dyadic::new(x.floor_at(least), least) } else { x.clone() };
        Self::between(&floor(lower), &-floor(&-upper))
    }

    /// The midpoint.
    #[must_use]
    pub fn midpoint(&self) -> &Dyadic {
        &self.midpoint
    }

    /// The radius.
    #[must_use]
    pub fn radius(&self) -> &Dyadic {
        &self.radius
    }

    /// The least number in it.
    #[must_use]
    pub fn lower(&self) -> Dyadic {
        &self.midpoint - &self.radius
    }

    /// The greatest number in it.
    #[must_use]
    pub fn upper(&self) -> Dyadic {
        &self.midpoint + &self.radius
    }

    /// `{a + b}`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { midpoint: &self.midpoint + &other.midpoint, radius: &self.radius + &other.radius }
    }

    /// `{factor · a}`.
    #[must_use]
    pub fn times(&self, factor: &Dyadic) -> Self {
        let radius = &self.radius * factor;
        let radius = if radius.is_negative() { -radius } else { radius };
        Self { midpoint: &self.midpoint * factor, radius }
    }

    /// `{−a}`.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self { midpoint: -&self.midpoint, radius: self.radius.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(m: i64, e: i64) -> Dyadic {
        Dyadic::new(m, e)
    }

    #[test]
    fn ends_midpoint_and_radius_are_exact() {
        let ball = Ball::between(&d(-3, 0), &d(4, 0)).unwrap();
        assert_eq!((ball.midpoint(), ball.radius()), (&d(1, -1), &d(7, -1)));
        assert_eq!((ball.lower(), ball.upper()), (d(-3, 0), d(4, 0)));
        assert_eq!(Ball::between(&d(4, 0), &d(-3, 0)), None);
        assert_eq!(Ball::new(d(0, 0), d(-1, -200)), None);
    }

    #[test]
    fn arithmetic_is_that_of_the_ends() {
        let (a, b) = (Ball::between(&d(-3, 0), &d(4, 0)).unwrap(), Ball::between(&d(1, -2), &d(1, 0)).unwrap());
        let sum = a.plus(&b);
        assert_eq!((sum.lower(), sum.upper()), (d(-11, -2), d(5, 0)));
        let scaled = a.times(&d(-1, -1));
        assert_eq!((scaled.lower(), scaled.upper()), (d(-2, 0), d(3, -1)));
        assert_eq!((a.negated().lower(), a.negated().upper()), (d(-4, 0), d(3, 0)));
    }
}
