//! Quotient of two tensors of one shape, defined where the second is not 0.

use super::{Arity, Operator, Site, equal_shapes};
use crate::lowering::Lowering;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator = Operator::new("div", Arity::Exactly(2), equal_shapes, lower).extension();

fn lower(_: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [first, second] = parents else { return None };
    // Reciprocals without a reasonable common denominator are enclosed instead.
    match program.known(*second).and_then(reciprocals).and_then(|factors| program.scaled(*first, &factors)) {
        Some(value) => Some(value),
        None => {
            let inverse = program.library("inv", *second)?;
            program.product(*first, inverse)
        }
    }
}

/// The reciprocal of every number; `None` if one is zero: then it is the domain of `inv` that speaks.
fn reciprocals(tensor: &Tensor) -> Option<Tensor> {
    let reciprocal =
        |place| tensor.get(place).filter(|value| *value != Rational::default()).map(|value: Rational| value.recip());
    let values: Vec<Rational> = (0..tensor.len()).map(reciprocal).collect::<Option<_>>()?;
    Tensor::new(vec![values.len()], Values::Exact(values)).ok()
}
