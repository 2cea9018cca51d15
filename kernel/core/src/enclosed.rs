//! Programs at a point, in balls: intervals around the values of a program whose functions need not have rational values.

use crate::affine::Affine;
use crate::interval::Interval;
use crate::num::{Dyadic, Rational};
use crate::program::{Primitive, Program};

/// Ends are multiples of `2^FINEST`: an exponential of an exponential needs no more letters than a small number, and would be as long as its exponent.
const FINEST: i64 = -4096;

impl Program {
    /// Intervals around the outputs at `x`, with ends of at most `bits` significant bits; they are the outputs where no number needs more. `None` if `x` has
    /// another width than the input, or a value is beyond the budget or not shown to be defined.
    #[must_use]
    pub fn enclose(&self, x: &[Rational], bits: u64) -> Option<Vec<Interval>> {
        let mut values: Vec<Vec<Interval>> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let value: Option<Vec<Interval>> = match &node.primitive {
                Primitive::Input if x.len() == node.width => {
                    x.iter().map(|x| Interval::around_to(x, x, bits).tamed(bits, FINEST)).collect()
                }
                Primitive::Input => None,
                Primitive::Affine(affine) => (0..node.width).map(|i| coordinate(affine, i, &values, bits)).collect(),
                Primitive::Univariate { function, argument } => {
                    values.get(*argument)?.iter().map(|z| function.image_to(z, bits)?.tamed(bits, FINEST)).collect()
                }
                Primitive::Product { left, right } if left == right => {
                    values.get(*left)?.iter().map(|z| z.squares().tamed(bits, FINEST)).collect()
                }
                Primitive::Product { left, right } => {
                    let pairs = values.get(*left)?.iter().zip(values.get(*right)?);
                    pairs.map(|(p, q)| p.products(q).tamed(bits, FINEST)).collect()
                }
                Primitive::Max { argument, groups } => {
                    let argument = values.get(*argument)?;
                    let members = |group: &[usize]| group.iter().map(|i| argument.get(*i).cloned()).collect();
                    let maximum =
                        |group| Option::<Vec<Interval>>::into_iter(members(group)).flatten().reduce(Interval::larger);
                    groups.iter().map(maximum).collect()
                }
            };
            values.push(value?);
        }
        let outputs = self.outputs().iter().map(|id| values.get(*id).cloned());
        outputs.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    }
}

/// One coordinate of an affine node: each coefficient takes the end that its sign asks for, and the sum is rounded once.
fn coordinate(affine: &Affine, index: usize, values: &[Vec<Interval>], bits: u64) -> Option<Interval> {
    let mut sum = Interval::point(match affine.bias() {
        Some(bias) => bias.get(index)?,
        None => Dyadic::zero(),
    });
    for term in affine.terms() {
        let parent = values.get(term.parent)?;
        term.map.each_coefficient(index, &mut |source, coefficient| {
            sum = sum.plus(&parent.get(source)?.times(&coefficient));
            Some(())
        })?;
    }
    sum.over_to(affine.denominator(), bits).tamed(bits, FINEST)
}
