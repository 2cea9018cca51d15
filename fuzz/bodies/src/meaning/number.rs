//! Numbers to evaluate with: exact ones, as far as values are rational, and binary64.

use certkern_core::num::Rational;
use num_traits::{Signed, ToPrimitive, Zero};

/// A number. `None` is no answer: a value that is not rational, not defined, or (binary64) too near to where it is not.
pub trait Number: Clone + PartialOrd {
    /// A number of binary64.
    fn of(value: f64) -> Self;
    /// An exact number.
    fn ratio(value: &Rational) -> Self;
    /// A sum.
    fn plus(&self, other: &Self) -> Self;
    /// A difference.
    fn minus(&self, other: &Self) -> Self;
    /// A product.
    fn times(&self, other: &Self) -> Self;
    /// A quotient.
    fn over(&self, other: &Self) -> Option<Self>;
    /// `exp`, `log`, `sqrt`, `sin`, `cos`, `tanh`, `erf`.
    fn apply(&self, name: &str) -> Option<Self>;
    /// A power.
    fn power(&self, exponent: &Self) -> Option<Self>;

    /// 0.
    fn zero() -> Self {
        Self::of(0.0)
    }

    /// 1.
    fn one() -> Self {
        Self::of(1.0)
    }

    /// The maximum.
    fn greater(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// The minimum.
    fn lesser(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// A natural number.
    fn natural(value: usize) -> Self {
        Self::of(value as f64)
    }
}

impl Number for Rational {
    fn of(value: f64) -> Self {
        Self::from_float(value).unwrap_or_else(Zero::zero)
    }

    fn ratio(value: &Rational) -> Self {
        value.clone()
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Option<Self> {
        (!other.is_zero()).then(|| self / other)
    }

    /// Where the value is known to be rational.
    fn apply(&self, name: &str) -> Option<Self> {
        let one = <Self as Number>::one();
        match name {
            "exp" | "cos" if self.is_zero() => Some(one),
            "sin" | "tanh" | "erf" if self.is_zero() => Some(<Self as Number>::zero()),
            "log" if *self == one => Some(<Self as Number>::zero()),
            "sqrt" if !self.is_negative() => {
                let root = Self::new(self.numer().sqrt(), self.denom().sqrt());
                (&root * &root == *self).then_some(root)
            }
            _ => None,
        }
    }

    fn power(&self, exponent: &Self) -> Option<Self> {
        let whole = exponent.to_integer().to_i32().filter(|whole| exponent.is_integer() && whole.abs() <= 8)?;
        if whole < 0 && self.is_zero() {
            return None;
        }
        Some(if self.is_zero() && whole == 0 { <Self as Number>::one() } else { self.pow(whole) })
    }
}

/// Nearer to zero than this, a divisor or an argument of `log` makes rounding errors large.
const NEAR: f64 = 0.05;

impl Number for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn ratio(value: &Rational) -> Self {
        value.to_f64().unwrap_or(f64::NAN)
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Option<Self> {
        (other.abs() > NEAR).then(|| self / other)
    }

    fn apply(&self, name: &str) -> Option<Self> {
        Some(match name {
            "exp" => self.exp(),
            "sin" => self.sin(),
            "cos" => self.cos(),
            "tanh" => self.tanh(),
            "erf" => erf(*self),
            "log" if *self > NEAR => self.ln(),
            "sqrt" if *self > NEAR => self.sqrt(),
            _ => return None,
        })
    }

    fn power(&self, exponent: &Self) -> Option<Self> {
        let exponent = *exponent;
        let whole = exponent.fract() == 0.0;
        (exponent == 0.0 || (whole && exponent > 0.0) || *self > NEAR || (whole && *self < -NEAR))
            .then(|| self.powf(exponent))
    }
}

/// `2/√π e^(−x²) Σ 2ⁿ x^(2n+1)/(1·3·…·(2n+1))`, a sum of terms of one sign (DLMF 7.6.2).
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-18 * sum.abs() {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from Abramowitz and Stegun, table 7.1.
    #[test]
    fn the_error_function() {
        for (x, value) in
            [(0.5, 0.520_499_877_8), (1.0, 0.842_700_792_9), (2.0, 0.995_322_265_0), (-1.5, -0.966_105_146_5)]
        {
            assert!((erf(x) - value).abs() < 1e-10, "erf({x}) = {}", erf(x));
        }
    }
}
