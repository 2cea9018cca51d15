//! The mean of the squared differences of two tensors of one shape, a scalar.

use super::{Arity, Operator, Refusal, Shapes, Site, equal_shapes};
use crate::attributes::Attributes;
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("mse_loss", Arity::Exactly(2), shape_rule, lower)
    .entries(|shapes, _| shape::elements(shapes.first())?.checked_mul(4));

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    equal_shapes(shapes, attributes).map(|_| Vec::new())
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [first, second] = parents else { return None };
    let difference = program.difference(*first, *second)?;
    let squares = program.product(difference, difference)?;
    let length = shape::elements(site.shapes.first())?;
    program.folded(squares, length, &Rational::new(1.into(), length.into()), &Rational::default())
}
