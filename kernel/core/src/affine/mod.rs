//! The affine primitive: `v = (Σ_t L_t p_t + b) / D` with exact dyadic maps `L_t`, an exact dyadic `b` and one positive integer `D`.

mod convolution;
mod map;

pub use convolution::Convolution;
pub(crate) use convolution::Span;
pub use map::{Kind, LinearMap};

use crate::interval::Interval;
use crate::num::denominator::{common_denominator, odd_part};
use crate::num::matrix::{Entry, span};
use crate::num::{Dyadic, Matrix, Planes, Rational, Short};
use crate::program::NodeId;
use crate::tensor::{Tensor, Values};
use num_bigint::BigInt;
use num_traits::One;

/// A linear map of one earlier node.
#[derive(Clone, Debug)]
pub struct Term {
    /// The node that it is applied to.
    pub parent: NodeId,
    /// The map.
    pub map: LinearMap,
}

/// A sum of linear maps of earlier nodes plus a constant, over one denominator.
#[derive(Clone, Debug)]
pub struct Affine {
    terms: Vec<Term>,
    bias: Option<Planes>,
    denominator: BigInt,
}

impl Affine {
    /// The sum of `terms` and `bias` with `width` coordinates; `None` if a map does not give `width` coordinates, the bias
    /// does not have `width` elements, or the common denominator or the spread of magnitudes is excessive. Decimal or rational coefficients are brought over one denominator, exactly.
    #[must_use]
    pub fn new(width: usize, terms: Vec<Term>, bias: Option<&Tensor>) -> Option<Self> {
        if bias.is_some_and(|bias| bias.len() != width) || terms.iter().any(|term| term.map.output_width() != width) {
            return None;
        }
        let bias = match bias {
            None => None,
            Some(bias) => Some(over_one_denominator(bias)?),
        };
        let own = bias.iter().map(|(denominator, _)| denominator);
        let denominator =
            common_denominator(terms.iter().map(|term| term.map.denominator()).chain(own), DENOMINATOR_BITS)?;
        let scaled = |term: Term| Some(Term { parent: term.parent, map: term.map.over(&denominator)? });
        let terms = terms.into_iter().map(scaled).collect::<Option<Vec<Term>>>()?;
        let bias = match bias {
            None => None,
            Some((own, values)) => {
                let factor = Dyadic::new(&denominator / own, 0);
                let values: Vec<Dyadic> = values.iter().map(|value| value * &factor).collect();
                Some(Planes::exact(&values))
            }
        };
        Some(Self { terms, bias, denominator })
    }

    /// The linear maps.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The constant times the denominator.
    #[must_use]
    pub fn bias(&self) -> Option<&Planes> {
        self.bias.as_ref()
    }

    /// The common denominator of all coefficients.
    #[must_use]
    pub fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// Interval extension (IBP): contains `v` whenever each parent lies in its `inputs` (one list for each term, in order). Ends are rounded outward.
    #[must_use]
    pub fn interval(&self, width: usize, inputs: &[&[Interval]]) -> Option<Vec<Interval>> {
        if inputs.len() != self.terms.len() {
            return None;
        }
        let mut sums = vec![Interval::point(Dyadic::zero()); width];
        for (term, input) in self.terms.iter().zip(inputs) {
            term.map.add_interval(input, &mut sums)?;
        }
        let bias = self.bias.as_ref();
        let finish = |(i, sum): (usize, Interval)| {
            let sum = match bias {
                Some(bias) => sum.plus(&Interval::point(bias.get(i)?)),
                None => sum,
            };
            Some(sum.over(&self.denominator).outward())
        };
        sums.into_iter().enumerate().map(finish).collect()
    }
}

/// The longest common denominator that is computed with. A program beyond it is refused: every number of a tensor becomes as long.
const DENOMINATOR_BITS: u64 = 1024;

/// The longest span of the bits of a tensor, from the last of any value to the first of any. Binary64 numbers span 2098.
const SPAN_BITS: i64 = 4096;

/// The least odd denominator of all elements of a tensor, and the elements times it. `None` if these are excessively long.
fn over_one_denominator(tensor: &Tensor) -> Option<(BigInt, Vec<Dyadic>)> {
    let Values::Exact(values) = tensor.values() else {
        return Some((BigInt::one(), shorts(tensor)?.into_iter().map(Dyadic::from).collect()));
    };
    let odd = values.iter().map(|value| odd_part(value.denom()));
    let denominator = common_denominator(odd, DENOMINATOR_BITS)?;
    let scale = Rational::from_integer(denominator.clone());
    let exact = values.iter().map(|value| Dyadic::from_rational(&(value * &scale)));
    within_span(exact.collect::<Option<Vec<_>>>()?).map(|values| (denominator, values))
}

/// The elements of a tensor of floats. `None` if it is none, or their bits lie excessively far apart.
fn shorts(tensor: &Tensor) -> Option<Vec<Short>> {
    let mut shorts = Vec::with_capacity(tensor.len());
    for index in 0..tensor.len() {
        shorts.push(tensor.short(index)?);
    }
    within_span(shorts)
}

/// The values, unless their bits lie excessively far apart: every digit plane between the last and the first bit is held for every value.
fn within_span<E: Entry>(values: Vec<E>) -> Option<Vec<E>> {
    let (low, high) = span(&values);
    (high.saturating_sub(low) <= SPAN_BITS).then_some(values)
}

/// The least odd denominator of all elements, and the elements times it as a matrix.
fn matrix(weight: &Tensor, rows: usize, columns: usize) -> Option<(BigInt, Matrix)> {
    if let Values::Exact(_) = weight.values() {
        let (denominator, entries) = over_one_denominator(weight)?;
        return Some((denominator, Matrix::new(rows, columns, &entries)?));
    }
    Some((BigInt::one(), Matrix::new(rows, columns, &shorts(weight)?)?))
}
