//! The input of the network; its shape is what it declares.

use super::{Arity, Operator};
use certkern_core::program::Primitive;

pub(super) const OPERATOR: Operator =
    Operator::new("input", Arity::Exactly(0), |shapes, _| Ok(shapes.declared.to_vec()), |_, _| Some(Primitive::Input));
