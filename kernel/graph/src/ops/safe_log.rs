//! `ln(softplus(x) + ε)` on every element; the second parent is `ε`, a scalar.

use super::{Arity, Operator, Refusal, Shapes, Site};
use crate::attributes::Attributes;
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("safe_log", Arity::Exactly(2), shape_rule, lower);

fn shape_rule(shapes: &Shapes, _: &Attributes) -> Result<Vec<usize>, Refusal> {
    let epsilon = shapes.parent(1)?;
    if epsilon.is_empty() {
        shapes.parent(0).map(<[usize]>::to_vec)
    } else {
        Err(Refusal::Shape(format!("the second parent's shape is {}, not that of a scalar", shape::text(epsilon))))
    }
}

fn lower(_: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [argument, epsilon] = parents else { return None };
    let soft = program.library("softplus", *argument)?;
    let epsilon = program.select(*epsilon, vec![Some(0); program.width(soft)?])?;
    let sum = program.sum(&[soft, epsilon])?;
    program.library("log", sum)
}
