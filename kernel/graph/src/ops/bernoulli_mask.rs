//! A seeded random mask; the parent is the probability to keep, a scalar.

use super::{Arity, Operator, Refusal, Shapes};
use crate::attributes::{Attributes, number};
use crate::shape;

pub(super) const OPERATOR: Operator =
    Operator::opaque("bernoulli_mask", Arity::Exactly(1), shape_rule, "its value is a seeded random mask")
        .attributes(&[number("seed")]);

fn shape_rule(shapes: &Shapes, _: &Attributes) -> Result<Vec<usize>, Refusal> {
    let probability = shapes.parent(0)?;
    if probability.is_empty() {
        Ok(shapes.declared.to_vec())
    } else {
        Err(Refusal::Shape(format!("the parent's shape is {}, not that of a scalar", shape::text(probability))))
    }
}
