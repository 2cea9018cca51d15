//! All elements on one axis, in row-major order.

use super::{Arity, Operator, Refusal, Shapes, identity, repeats_parent};
use crate::attributes::{Attribute, Attributes, list};
use crate::shape;

pub(super) const OPERATOR: Operator = Operator::new("flatten", Arity::Exactly(1), shape_rule, identity)
    .attributes(&[list("value_shape").or(|shapes, _| Attribute::List(shapes.first().to_vec()))]);

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    repeats_parent(shapes, attributes, "value_shape")?;
    let elements = shape::elements(shapes.parent(0)?);
    elements.map(|elements| vec![elements]).ok_or(Refusal::Internal("a parent that is too large"))
}
