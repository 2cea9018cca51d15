//! Programs at a point: exact values of a program of piecewise linear functions with dyadic coefficients.

use crate::num::denominator::{common_denominator, odd_part};
use crate::num::{Dyadic, Rational};
use crate::program::{Primitive, Program};
use num_bigint::BigInt;
use num_traits::One;

/// The longest common denominator that is computed with.
const DENOMINATOR_BITS: u64 = 1 << 14;

/// The values of one node: numerators over one positive denominator.
struct Point {
    numerators: Vec<Dyadic>,
    denominator: BigInt,
}

impl Program {
    /// Whether every function has rational values at rational points, as [`Program::evaluate`] needs.
    #[must_use]
    pub fn is_rational(&self) -> bool {
        self.nodes().iter().all(|node| match &node.primitive {
            Primitive::Univariate { function, .. } => function.scaled_value(&Dyadic::zero(), &BigInt::one()).is_some(),
            Primitive::Input | Primitive::Affine(_) => true,
        })
    }

    /// The outputs at `x`, exactly; `None` if `x` has another width than the input, a common denominator is excessively long, or a function has no rational values.
    #[must_use]
    pub fn evaluate(&self, x: &[Rational]) -> Option<Vec<Rational>> {
        let mut points: Vec<Point> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let point = match &node.primitive {
                Primitive::Input if x.len() == node.width => Point::of(x)?,
                Primitive::Input => return None,
                Primitive::Affine(affine) => {
                    let parents = affine.terms().iter().map(|term| points.get(term.parent));
                    let parents = parents.collect::<Option<Vec<_>>>()?;
                    // Σ L (n/q) + b over D is (Σ L (Q/q)·n + Q·b) / (Q·D) for the common multiple Q of all q.
                    let common =
                        common_denominator(parents.iter().map(|parent| &parent.denominator), DENOMINATOR_BITS)?;
                    let mut sums = match affine.bias() {
                        Some(bias) => {
                            let scale = Dyadic::new(common.clone(), 0);
                            (0..node.width).map(|i| bias.get(i).map(|b| &b * &scale)).collect::<Option<Vec<_>>>()?
                        }
                        None => vec![Dyadic::zero(); node.width],
                    };
                    for (term, parent) in affine.terms().iter().zip(parents) {
                        term.map.add_image(&parent.times(&(&common / &parent.denominator)), &mut sums)?;
                    }
                    Point { numerators: sums, denominator: common * affine.denominator() }
                }
                Primitive::Univariate { function, argument } => {
                    let Point { numerators, denominator } = points.get(*argument)?;
                    let numerators = numerators.iter().map(|n| function.scaled_value(n, denominator));
                    Point { numerators: numerators.collect::<Option<_>>()?, denominator: denominator.clone() }
                }
            };
            points.push(point);
        }
        let outputs = self.outputs().iter().map(|id| points.get(*id).map(Point::values));
        outputs.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    }
}

impl Point {
    /// `x` over the least odd common denominator of its coordinates.
    fn of(x: &[Rational]) -> Option<Self> {
        let denominator = common_denominator(x.iter().map(|value| odd_part(value.denom())), DENOMINATOR_BITS)?;
        let scale = Rational::from_integer(denominator.clone());
        let numerators = x.iter().map(|value| Dyadic::from_rational(&(value * &scale)));
        Some(Self { numerators: numerators.collect::<Option<Vec<_>>>()?, denominator })
    }

    fn times(&self, factor: &BigInt) -> Vec<Dyadic> {
        let factor = Dyadic::new(factor.clone(), 0);
        self.numerators.iter().map(|n| n * &factor).collect()
    }

    fn values(&self) -> Vec<Rational> {
        let denominator = Rational::from_integer(self.denominator.clone());
        self.numerators.iter().map(|n| n.to_rational() / &denominator).collect()
    }
}
