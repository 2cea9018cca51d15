//! The sum of all elements, a scalar.

use super::{Arity, Operator, Site};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

/// 1 in IEEE binary32.
const ONE: u32 = 0x3f80_0000;

pub(super) const OPERATOR: Operator = Operator::new("sum", Arity::Exactly(1), |_, _| Ok(Vec::new()), lower)
    .entries(|shapes, _| shape::elements(shapes.first()));

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let elements = shape::elements(site.shapes.first())?;
    let ones = Tensor::new(vec![1, elements], Values::Binary32(vec![ONE; elements])).ok()?;
    program.affine(1, vec![Term { parent: *parents.first()?, map: LinearMap::dense(&ones, 1)? }], None)
}
