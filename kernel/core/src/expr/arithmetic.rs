//! Two arithmetics that enclose: balls at a precision, and rationals for what is made of them alone.

use super::Binary;
use crate::func::{Constant, Elementary, Refusal};
use crate::interval::Interval;
use crate::num::{Dyadic, Rational, Real};
use num_traits::{Signed, ToPrimitive, Zero};
use std::cell::Cell;
use std::cmp::Ordering;

/// The numbers from the first to the second, both included.
pub(crate) type Range<N> = (N, N);

/// How numbers are computed with.
pub(crate) trait Arithmetic {
    /// An end of a range.
    type Number: Clone + Ord;

    /// Contains a rational.
    fn rational(&self, value: &Rational) -> Result<Range<Self::Number>, Refusal>;

    /// Contains a constant.
    fn constant(&self, constant: Constant) -> Result<Range<Self::Number>, Refusal>;

    /// Contains the result for two numbers; a divisor is not zero.
    fn combine(&self, binary: Binary, a: &Self::Number, b: &Self::Number) -> Result<Range<Self::Number>, Refusal>;

    /// Contains all values of a function on a range.
    fn apply(&self, function: &Elementary, z: &Range<Self::Number>) -> Result<Range<Self::Number>, Refusal>;

    /// How a number compares with a rational.
    fn compare(&self, number: &Self::Number, value: &Rational) -> Ordering;

    /// A number as `r · 2^e`.
    fn parts(&self, number: &Self::Number) -> (Rational, i64);
}

/// Contains the results for all pairs of numbers of two ranges: the hull of those for their ends.
pub(super) fn corners<A: Arithmetic>(
    arithmetic: &A,
    binary: Binary,
    y: &Range<A::Number>,
    z: &Range<A::Number>,
) -> Result<Range<A::Number>, Refusal> {
    let sign = |number: &A::Number| arithmetic.compare(number, &Rational::zero());
    if binary == Binary::Div && sign(&z.0) != Ordering::Greater && sign(&z.1) != Ordering::Less {
        return Err(Refusal::Undefined);
    }
    let (mut lower, mut upper) = arithmetic.combine(binary, &y.0, &z.0)?;
    for (a, b) in [(&y.0, &z.1), (&y.1, &z.0), (&y.1, &z.1)] {
        if (a, b) == (&y.0, &z.0) {
            continue;
        }
        let corner = arithmetic.combine(binary, a, b)?;
        (lower, upper) = (Ord::min(lower, corner.0), Ord::max(upper, corner.1));
    }
    Ok((lower, upper))
}

/// Balls of relative radius about `2^-bits`, whose ends are kept.
pub(crate) struct Balls(pub(crate) u64);

impl Balls {
    /// Bits beyond those asked for that absorb the roundings of a few operations.
    const GUARD: u64 = 16;

    fn bits(&self) -> u64 {
        self.0.saturating_add(Self::GUARD)
    }

    fn places(&self) -> i64 {
        i64::try_from(self.bits()).unwrap_or(i64::MAX)
    }

    /// The ends of a number that is known; unknown is one whose exponent is out of reach.
    fn ends(&self, number: Real) -> Result<Range<Dyadic>, Refusal> {
        let ball = number.ball(self.places()).ok_or(Refusal::Limit)?;
        Ok((ball.lower(), ball.upper()))
    }
}

impl Arithmetic for Balls {
    type Number = Dyadic;

    fn rational(&self, value: &Rational) -> Result<Range<Dyadic>, Refusal> {
        self.ends(Real::ratio(value, self.places()))
    }

    fn constant(&self, constant: Constant) -> Result<Range<Dyadic>, Refusal> {
        let ball = constant.enclosure(self.bits())?;
        Ok((ball.lower(), ball.upper()))
    }

    fn combine(&self, binary: Binary, a: &Dyadic, b: &Dyadic) -> Result<Range<Dyadic>, Refusal> {
        let [a, b] = [a, b].map(|number| Real::dyadic(number, self.places()));
        self.ends(match binary {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
        })
    }

    fn apply(&self, function: &Elementary, (lower, upper): &Range<Dyadic>) -> Result<Range<Dyadic>, Refusal> {
        let image = function.image(&Interval { lower: lower.clone(), upper: upper.clone() }, self.bits())?;
        Ok((image.lower.round_down(self.bits()), image.upper.round_up(self.bits())))
    }

    fn compare(&self, number: &Dyadic, value: &Rational) -> Ordering {
        let left = Dyadic::new(number.mantissa() * value.denom(), number.exponent());
        left.cmp(&Dyadic::new(value.numer().clone(), 0))
    }

    fn parts(&self, number: &Dyadic) -> (Rational, i64) {
        (Rational::from_integer(number.mantissa().clone()), number.exponent())
    }
}

/// Rationals, exactly, as long as they are cheap; no constants, and of the functions those that keep to rationals.
#[derive(Default)]
pub(crate) struct Exact {
    /// The sum of the squares of the lengths of all numbers computed: about what they cost.
    spent: Cell<u64>,
}

impl Exact {
    /// The most that may be spent: a second, or a few megabytes.
    const MOST: u64 = 1 << 35;

    fn power(&self, x: &Rational, exponent: &Rational) -> Result<Rational, Refusal> {
        let exponent = exponent.to_i32().ok_or(Refusal::Limit)?;
        if exponent < 0 && x.is_zero() {
            return Err(Refusal::Undefined);
        }
        self.spend(length(x).saturating_mul(exponent.unsigned_abs().into()))?;
        Ok(x.pow(exponent))
    }

    fn spend(&self, bits: u64) -> Result<(), Refusal> {
        self.spent.set(self.spent.get().saturating_add(bits.saturating_mul(bits)));
        if self.spent.get() <= Self::MOST { Ok(()) } else { Err(Refusal::Limit) }
    }
}

/// The bits of numerator and denominator.
fn length(value: &Rational) -> u64 {
    value.numer().bits().saturating_add(value.denom().bits())
}

impl Arithmetic for Exact {
    type Number = Rational;

    fn rational(&self, value: &Rational) -> Result<Range<Rational>, Refusal> {
        self.spend(length(value))?;
        Ok((value.clone(), value.clone()))
    }

    fn constant(&self, _: Constant) -> Result<Range<Rational>, Refusal> {
        Err(Refusal::Limit)
    }

    fn combine(&self, binary: Binary, a: &Rational, b: &Rational) -> Result<Range<Rational>, Refusal> {
        self.spend(length(a).saturating_add(length(b)))?;
        let value = match binary {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div if b.is_zero() => return Err(Refusal::Undefined),
            Binary::Div => a / b,
        };
        Ok((value.clone(), value))
    }

    /// On each side of 0 these functions are monotone.
    fn apply(&self, function: &Elementary, z: &Range<Rational>) -> Result<Range<Rational>, Refusal> {
        let zero = Rational::zero();
        let straddles = z.0 <= zero && zero <= z.1;
        let mut found = Vec::new();
        for x in [&z.0, &z.1].into_iter().chain(straddles.then_some(&zero)) {
            found.push(match (function.name(), function.parameters()) {
                ("leaky_relu" | "prelu", [slope]) if x.is_negative() => self.combine(Binary::Mul, slope, x)?.0,
                ("leaky_relu" | "prelu", _) => x.clone(),
                ("clip", [lower, upper]) => x.max(lower).min(upper).clone(),
                ("power", [exponent]) if exponent.is_integer() => self.power(x, exponent)?,
                _ => return Err(Refusal::Limit),
            });
        }
        let (lower, upper) = (found.iter().min().cloned(), found.iter().max().cloned());
        lower.zip(upper).ok_or(Refusal::Undefined)
    }

    fn compare(&self, number: &Rational, value: &Rational) -> Ordering {
        number.cmp(value)
    }

    fn parts(&self, number: &Rational) -> (Rational, i64) {
        (number.clone(), 0)
    }
}
