//! The input of the network; its shape is what it declares.

use super::{Arity, Operator};
use crate::shape;
use certkern_core::program::Primitive;

pub(super) const OPERATOR: Operator = Operator::new(
    "input",
    Arity::Exactly(0),
    |shapes, _| Ok(shapes.declared.to_vec()),
    |site, _, program| Some(program.push(shape::elements(site.shapes.declared)?, Primitive::Input)),
);
