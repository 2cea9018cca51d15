//! Numbers that do not depend on the input.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site};
use crate::attributes::{Attribute, Attributes, list};
use crate::lowering::Lowering;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("const", Arity::Exactly(0), value_shape, lower)
    .attributes(&[list("value_shape").or(|shapes, _| Attribute::List(shapes.declared.to_vec()))])
    .payload(&[PayloadField { name: "values", shape: value_shape }]);

fn value_shape(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    attributes.list("value_shape").map(<[usize]>::to_vec)
}

fn lower(site: &Site, _: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    program.constant(site.payload.first()?)
}
