//! The same elements in row-major order under another shape.

use super::{Arity, Operator, Refusal, Shapes, identity, repeats_parent};
use crate::attributes::{Attribute, Attributes, list};
use crate::shape;

pub(super) const OPERATOR: Operator = Operator::new("reshape", Arity::Exactly(1), shape_rule, identity).attributes(&[
    list("in_shape").or(|shapes, _| Attribute::List(shapes.first().to_vec())),
    list("out_shape").or(|shapes, _| Attribute::List(shapes.declared.to_vec())),
]);

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    repeats_parent(shapes, attributes, "in_shape")?;
    let (parent, result) = (shapes.parent(0)?, attributes.list("out_shape")?);
    if shape::elements(parent) == shape::elements(result) {
        Ok(result.to_vec())
    } else {
        let (parent, result) = (shape::text(parent), shape::text(result));
        Err(Refusal::Shape(format!("{parent} and {result} do not have the same number of elements")))
    }
}
