//! A component of a tuple: of attention the output.

use super::{Arity, Operator, Refusal, identity, keeps_shape};
use crate::attributes::number;

/// The spelling, which the reader knows as that of the one operator whose parent is a tuple.
pub(crate) const KIND: &str = "tuple_getitem";

pub(super) const OPERATOR: Operator = Operator::new(KIND, Arity::Exactly(1), keeps_shape, identity)
    .attributes(&[number("index")])
    .attribute_rule(|attributes| match attributes.number("index")? {
        0 => Ok(()),
        other => Err(Refusal::Attribute("index", format!("only component 0 is read, found {other}"))),
    });
