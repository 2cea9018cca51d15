//! Programs at a point: exact values of a program of functions with rational values.

use crate::affine::Affine;
use crate::interval::Interval;
use crate::num::denominator::{common_denominator, odd_part};
use crate::num::{Dyadic, Rational};
use crate::program::{NodeId, Primitive, Program};
use num_bigint::BigInt;

/// The longest common denominator that is computed with.
const DENOMINATOR_BITS: u64 = 1 << 14;

/// The longest product: repeated squares double their lengths.
const PRODUCT_BITS: u64 = 1 << 16;

/// Why a program has no exact outputs at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// The point has another width than the input.
    Width,
    /// A common denominator, or a product, is excessively long.
    Length,
    /// The function of this node has values that are not rational.
    Irrational(NodeId),
    /// The function of a node is not shown to be defined there.
    Undefined {
        /// The node.
        node: NodeId,
        /// The coordinate in it.
        coordinate: usize,
    },
}

/// The values of one node: numerators over one positive denominator.
struct Point {
    numerators: Vec<Dyadic>,
    denominator: BigInt,
}

impl Program {
    /// The outputs at `x`, exactly.
    ///
    /// # Errors
    /// [`NoValue`].
    pub fn evaluate(&self, x: &[Rational]) -> Result<Vec<Rational>, NoValue> {
        let mut points: Vec<Point> = Vec::with_capacity(self.nodes().len());
        for (id, node) in self.nodes().iter().enumerate() {
            let of = |parent: NodeId| points.get(parent).ok_or(NoValue::Width);
            let point = match &node.primitive {
                Primitive::Input if x.len() == node.width => Point::of(x).ok_or(NoValue::Length)?,
                Primitive::Input => return Err(NoValue::Width),
                Primitive::Affine(affine) => affine_at(affine, node.width, &points).ok_or(NoValue::Length)?,
                Primitive::Univariate { function, argument } => {
                    let Point { numerators, denominator } = of(*argument)?;
                    let value = |(coordinate, n): (usize, &Dyadic)| {
                        function.scaled_value(n, denominator).ok_or_else(|| {
                            let at = n.to_rational() / Rational::from_integer(denominator.clone());
                            match function.is_defined_on(&Interval::around(&at, &at)) {
                                true => NoValue::Irrational(id),
                                false => NoValue::Undefined { node: id, coordinate },
                            }
                        })
                    };
                    let numerators = numerators.iter().enumerate().map(value).collect::<Result<_, _>>()?;
                    Point { numerators, denominator: denominator.clone() }
                }
                Primitive::Product { left, right } => of(*left)?.product(of(*right)?).ok_or(NoValue::Length)?,
                Primitive::Max { argument, groups } => {
                    let Point { numerators, denominator } = of(*argument)?;
                    let member = |member: &usize| numerators.get(*member).cloned();
                    let maximum = |group: &[usize]| {
                        group.iter().map(member).collect::<Option<Vec<_>>>()?.into_iter().reduce(Dyadic::max)
                    };
                    let numerators = groups.iter().map(maximum).collect::<Option<_>>().ok_or(NoValue::Width)?;
                    Point { numerators, denominator: denominator.clone() }
                }
            };
            points.push(point);
        }
        let outputs = self.outputs().iter().map(|id| points.get(*id).map(Point::values));
        outputs.collect::<Option<Vec<_>>>().map(|parts| parts.concat()).ok_or(NoValue::Width)
    }
}

/// The value of an affine node; `None` if that is excessively long.
fn affine_at(affine: &Affine, width: usize, points: &[Point]) -> Option<Point> {
    let parents = affine.terms().iter().map(|term| points.get(term.parent));
    let parents = parents.collect::<Option<Vec<_>>>()?;
    // Σ L (n/q) + b over D is (Σ L (Q/q)·n + Q·b) / (Q·D) for the common multiple Q of all q.
    let common = common_denominator(parents.iter().map(|parent| &parent.denominator), DENOMINATOR_BITS)?;
    let mut sums = match affine.bias() {
        Some(bias) => {
            let scale = Dyadic::new(common.clone(), 0);
            (0..width).map(|i| bias.get(i).map(|b| &b * &scale)).collect::<Option<Vec<_>>>()?
        }
        None => vec![Dyadic::zero(); width],
    };
    for (term, parent) in affine.terms().iter().zip(parents) {
        term.map.add_image(&parent.times(&(&common / &parent.denominator)), &mut sums)?;
    }
    Some(Point { numerators: sums, denominator: common * affine.denominator() })
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

    /// The products of the coordinates; `None` if one is excessively long.
    fn product(&self, other: &Self) -> Option<Self> {
        let short = |n: &Dyadic| n.mantissa().bits().max(n.exponent().unsigned_abs()) <= PRODUCT_BITS;
        let numerators = self.numerators.iter().zip(&other.numerators).map(|(a, b)| Some(a * b).filter(short));
        let denominator = Some(&self.denominator * &other.denominator).filter(|d| d.bits() <= DENOMINATOR_BITS)?;
        Some(Self { numerators: numerators.collect::<Option<_>>()?, denominator })
    }

    fn values(&self) -> Vec<Rational> {
        let denominator = Rational::from_integer(self.denominator.clone());
        self.numerators.iter().map(|n| n.to_rational() / &denominator).collect()
    }
}
