//! The two formats of IEEE 754-2019 that programs run in.

use certkern_core::num::{Dyadic, Rational};
use certkern_wire::number::{nearest_binary32, nearest_binary64};
use num_bigint::BigInt;
use num_traits::{Float, One, ToPrimitive};
use std::fmt::{self, Display, Formatter};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// binary32.
    Float32,
    /// binary64.
    Float64,
}

impl Format {
    /// The unit roundoff, half the distance from 1 to the next number.
    #[must_use]
    pub fn unit(self) -> f64 {
        match self {
            Self::Float32 => 2_f64.powi(-24),
            Self::Float64 => 2_f64.powi(-53),
        }
    }

    /// The least positive normal number: a result below it may be rounded to a multiple of something, or flushed to zero.
    #[must_use]
    pub fn least(self) -> f64 {
        match self {
            Self::Float32 => f64::from(f32::MIN_POSITIVE),
            Self::Float64 => f64::MIN_POSITIVE,
        }
    }

    /// The largest finite number.
    #[must_use]
    pub fn largest(self) -> f64 {
        match self {
            Self::Float32 => f64::from(f32::MAX),
            Self::Float64 => f64::MAX,
        }
    }

    /// The number of the format nearest to a number, ties to even; `None` if that is infinite.
    #[must_use]
    pub fn nearest(self, value: &Rational) -> Option<Rational> {
        let number = match self {
            Self::Float32 => f64::from(f32::nearest(value)?),
            Self::Float64 => f64::nearest(value)?,
        };
        Dyadic::from_f64_bits(number.to_bits()).map(|number| number.to_rational())
    }

    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Float32, Self::Float64].into_iter().find(|format| format.to_string() == name)
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        })
    }
}

/// A number of one of the formats.
pub trait Number: Float + Send + Sync {
    /// Its format.
    const FORMAT: Format;

    /// The number nearest to a rational, ties to even; `None` if that is infinite.
    fn nearest(value: &Rational) -> Option<Self>;

    /// The number nearest to one of binary64.
    fn rounded(value: f64) -> Self;

    /// The same number in binary64.
    fn wide(self) -> f64;

    /// The error function.
    fn erf(self) -> Self;

    /// `value / denominator`, rounded once; `None` if that is infinite.
    fn quotient(value: &Dyadic, denominator: &BigInt) -> Option<Self> {
        let fits = value.mantissa().bits() <= 53 && value.exponent().abs() <= 900;
        match value.mantissa().to_i64().filter(|_| fits && denominator.is_one()) {
            // Exact in binary64, so it is rounded once.
            Some(mantissa) => {
                let exponent = i32::try_from(value.exponent()).unwrap_or(0);
                #[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
                let exact = mantissa as f64 * 2_f64.powi(exponent);
                Some(Self::rounded(exact)).filter(|number| number.is_finite())
            }
            None => Self::nearest(&(value.to_rational() / Rational::from_integer(denominator.clone()))),
        }
    }
}

impl Number for f32 {
    const FORMAT: Format = Format::Float32;

    fn nearest(value: &Rational) -> Option<Self> {
        nearest_binary32(value).map(f32::from_bits)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
    fn rounded(value: f64) -> Self {
        value as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn erf(self) -> Self {
        libm::erff(self)
    }
}

impl Number for f64 {
    const FORMAT: Format = Format::Float64;

    fn nearest(value: &Rational) -> Option<Self> {
        nearest_binary64(value).map(f64::from_bits)
    }

    fn rounded(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    fn erf(self) -> Self {
        libm::erf(self)
    }
}

/// The binary64 number nearest to a dyadic; infinite where it is larger than all.
#[must_use]
pub fn to_binary64(value: &Dyadic) -> f64 {
    let infinity = if value.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY };
    f64::quotient(value, &BigInt::one()).unwrap_or(infinity)
}
