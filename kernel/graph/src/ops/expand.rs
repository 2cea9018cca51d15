//! Repetition along axes until the shape is the one that the parent's and `to_shape` broadcast to.

use super::{Arity, Operator, Refusal, Shapes, broadcast_to};
use crate::attributes::{Attributes, list};

pub(super) const OPERATOR: Operator = Operator::new("expand", Arity::Exactly(1), shape_rule, broadcast_to::lower)
    .attributes(&[list("to_shape")])
    .extension();

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    broadcast_to::common(shapes.parent(0)?, attributes.list("to_shape")?)
}
