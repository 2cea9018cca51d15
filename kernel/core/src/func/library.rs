//! The library of functions: values, pieces and slopes at any precision, from what each declares.

use super::declaration::{Cuts, Declaration, Domain, Shape};
use super::{Piece, Refusal, refine};
use crate::interval::Interval;
use crate::num::{Ball, Dyadic, Rational, Real};
use num_bigint::BigInt;
use num_integer::Integer;
use std::fmt;

macro_rules! registry {
    ($($room:ident)*) => { &[$(&super::$room::FUNCTION),*] };
}

/// Every function of the library.
static REGISTRY: &[&Declaration] = registry! {
    acos acosh asin asinh atan atanh celu clip cos cosh elu erf erfc exp expm1 gelu gelu_tanh hard_sigmoid hard_swish inv leaky_relu log log1p log2
    mish power prelu rsqrt selu sigmoid silu sin sinh softplus softsign sqrt tan tanh
};

/// The names of the functions of the library.
pub fn names() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().map(|declaration| declaration.name)
}

/// The functions that take no parameters.
#[cfg(test)]
pub(super) fn shapes() -> impl Iterator<Item = (&'static str, Shape)> {
    REGISTRY.iter().filter_map(|declaration| Some((declaration.name, (declaration.shape)(&[])?)))
}

/// A function of the library, with its parameters.
#[derive(Clone)]
pub struct Elementary {
    declaration: &'static Declaration,
    parameters: Vec<Rational>,
    shape: Shape,
}

impl PartialEq for Elementary {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), &self.parameters) == (other.name(), &other.parameters)
    }
}

impl Eq for Elementary {}

impl fmt::Debug for Elementary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.name(), self.parameters)
    }
}

impl Elementary {
    /// The function of this name; `None` if there is none, or if these are no parameters of it.
    #[must_use]
    pub fn new(name: &str, parameters: Vec<Rational>) -> Option<Self> {
        let declaration = *REGISTRY.iter().find(|declaration| declaration.name == name)?;
        Some(Self { declaration, shape: (declaration.shape)(&parameters)?, parameters })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.declaration.name
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(&self) -> &[Rational] {
        &self.parameters
    }

    /// Whether it is defined on the whole line.
    #[must_use]
    pub fn is_total(&self) -> bool {
        matches!(self.shape.domain, Domain::Line)
    }

    /// Whether it is defined on all of an interval (DOMAIN).
    #[must_use]
    pub fn is_defined_on(&self, z: &Interval) -> bool {
        self.shape.domain.admits(&z.lower, &z.upper, false)
    }

    /// A ball around `f(x)`, of relative radius at most `2^-bits` unless `f(x)` is zero, or nearer to it than some thousand bits show.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn at(&self, x: &Dyadic, bits: u64) -> Result<Ball, Refusal> {
        if !self.shape.domain.admits(x, x, false) {
            return Err(Refusal::Undefined);
        }
        refine(bits, |precision| (self.declaration.value)(&Real::dyadic(x, precision), &self.parameters))
    }

    /// Contains `f(z)` for every `z` of an interval, and not much more: each end is an end, or lies where the function turns.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn image(&self, z: &Interval, bits: u64) -> Result<Interval, Refusal> {
        if !self.is_defined_on(z) {
            return Err(Refusal::Undefined);
        }
        let first = self.at(&z.lower, bits)?;
        if z.lower == z.upper {
            return Ok(Interval { lower: first.lower(), upper: first.upper() });
        }
        let mut found = vec![first, self.at(&z.upper, bits)?];
        for turn in self.turns(z, bits)? {
            found.push(refine(bits, |precision| {
                (self.declaration.value)(&Real::ball_of(&turn, precision), &self.parameters)
            })?);
        }
        hull(&found).ok_or(Refusal::Undefined)
    }

    /// Contains `f(z)` for every `z` of a ball.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn value(&self, z: &Ball, bits: u64) -> Result<Ball, Refusal> {
        let image = self.image(&Interval { lower: z.lower(), upper: z.upper() }, bits)?;
        Ball::around(&image.lower, &image.upper).ok_or(Refusal::Limit)
    }

    /// The places where the function turns that meet an interval: it is monotone between them. Two in a row of a periodic function say all.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn turns(&self, z: &Interval, bits: u64) -> Result<Vec<Ball>, Refusal> {
        let mut z = z.clone();
        if let Cuts::Quarters { .. } = self.shape.turns {
            // Two and a half periods of π.
            z.upper = z.upper.min(z.lower.sum_up(&Dyadic::new(8, 0)));
        }
        let cuts = self.shape.turns.on(&self.parameters, &z, precision(bits)?)?;
        Ok(cuts.into_iter().filter(|cut| cut.upper() >= z.lower && cut.lower() <= z.upper).collect())
    }

    /// Pieces in ascending order that cover an interval; those of a function with kinks are all its pieces.
    ///
    /// # Errors
    /// A [`Refusal`].
    pub fn pieces(&self, z: &Interval, bits: u64) -> Result<Vec<Piece>, Refusal> {
        let cuts = self.shape.bends.on(&self.parameters, z, precision(bits)?)?;
        let odd = match self.shape.bends {
            Cuts::Few(_) => None,
            Cuts::Quarters { first, step } => {
                let place = (Cuts::first_quarter(first, step, z)? - first).div_floor(&BigInt::from(step));
                Some(place.is_odd())
            }
        };
        let starts = odd.is_none().then_some(None).into_iter().chain(cuts.iter().cloned().map(Some));
        let ends = cuts.iter().cloned().map(Some).chain(odd.is_none().then_some(None)).skip(usize::from(odd.is_some()));
        let curvatures = self.shape.curvatures.iter().cycle().skip(usize::from(odd == Some(true)));
        let pieces = starts.zip(ends).zip(curvatures);
        Ok(pieces.map(|((start, end), curvature)| Piece { start, end, curvature: *curvature }).collect())
    }

    /// Contains `f′(z)` for every `z` of the interval that lies in the piece, which has this place among [`Elementary::pieces`]: `f′` is monotone there,
    /// so it is the hull of the two ends. At a kink it is the one-sided derivative of that piece.
    ///
    /// # Errors
    /// A [`Refusal`]; undefined too where nothing of the interval lies in the piece.
    pub fn derivative(&self, z: &Interval, place: usize, piece: &Piece, bits: u64) -> Result<Interval, Refusal> {
        let lower = piece.start.as_ref().map_or(z.lower.clone(), |start| start.upper().max(z.lower.clone()));
        let upper = piece.end.as_ref().map_or(z.upper.clone(), |end| end.lower().min(z.upper.clone()));
        let z = Interval { lower, upper };
        if z.is_empty() || !self.shape.domain.admits(&z.lower, &z.upper, true) {
            return Err(Refusal::Undefined);
        }
        let slope = |x: &Dyadic| {
            refine(bits, |precision| (self.declaration.slope)(&Real::dyadic(x, precision), &self.parameters, place))
        };
        let first = slope(&z.lower)?;
        let found = if z.lower == z.upper { vec![first] } else { vec![first, slope(&z.upper)?] };
        hull(&found).ok_or(Refusal::Undefined)
    }
}

/// The bits that boundaries are computed to.
fn precision(bits: u64) -> Result<i64, Refusal> {
    i64::try_from(bits).map_err(|_| Refusal::Limit).map(|bits| bits.saturating_add(16))
}

/// The least interval around balls.
fn hull(balls: &[Ball]) -> Option<Interval> {
    let lower = balls.iter().map(Ball::lower).reduce(Dyadic::min)?;
    let upper = balls.iter().map(Ball::upper).reduce(Dyadic::max)?;
    Some(Interval { lower, upper })
}
