//! Without some axes of extent 1.

use super::{Arity, Operator, Refusal, Shapes, axis_within, identity, reduction};
use crate::attributes::{Attributes, list};

pub(super) const OPERATOR: Operator = Operator::new("squeeze", Arity::Exactly(1), shape_rule, identity)
    .attributes(&[list("axes")])
    .attribute_rule(reduction::attribute_rule)
    .extension();

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, axes) = (shapes.parent(0)?, attributes.list("axes")?);
    for axis in axes {
        axis_within("axes", *axis, parent.len())?;
        if parent.get(*axis) != Some(&1) {
            return Err(Refusal::Shape(format!("axis {axis} of the parent has not the extent 1")));
        }
    }
    Ok(parent.iter().enumerate().filter(|(axis, _)| !axes.contains(axis)).map(|(_, extent)| *extent).collect())
}
