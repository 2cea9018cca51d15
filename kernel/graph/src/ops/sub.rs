//! Difference of two tensors of one shape: the first minus the second.

use super::{Arity, Operator, Site, equal_shapes};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("sub", Arity::Exactly(2), equal_shapes, lower);

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let width = shape::elements(site.shapes.declared)?;
    let first = Term { parent: *parents.first()?, map: LinearMap::identity(width) };
    let second = Term { parent: *parents.get(1)?, map: LinearMap::negation(width) };
    program.affine(width, vec![first, second], None)
}
