//! Seeded random numbers: bits of a generator, which no real function describes.

use super::{Arity, Operator};
use crate::attributes::number;

pub(super) const OPERATOR: Operator = Operator::opaque(
    "rand_uniform",
    Arity::Exactly(0),
    |shapes, _| Ok(shapes.declared.to_vec()),
    "its value is seeded random numbers",
)
.attributes(&[number("seed")]);
