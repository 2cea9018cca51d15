//! The least of any number of tensors of one shape, element by element.

use super::extremum::Extremum;
use super::{Arity, Operator, equal_shapes};
use crate::shape;

pub(super) const OPERATOR: Operator = Operator::new("min_n", Arity::AtLeast(1), equal_shapes, |_, parents, program| {
    Extremum::Min.of_all(parents, program)
})
.entries(|shapes, _| Extremum::entries(shape::elements(shapes.declared)?, shapes.parents.len()))
.extension();
