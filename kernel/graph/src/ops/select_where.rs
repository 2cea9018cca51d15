//! The first of two tensors of one shape where a constant mask is 1, the second where it is 0.

use super::{Arity, Operator, PayloadField, Site, equal_shapes, numbers};
use crate::lowering::Lowering;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("where", Arity::Exactly(2), equal_shapes, lower)
    .payload(&[PayloadField { name: "mask", shape: equal_shapes }])
    .payload_rule(|site| site.payload.first().map_or(Ok(()), numbers::is_mask))
    .extension();

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let mask = numbers::bits(site.payload.first()?);
    let mut terms = Vec::with_capacity(parents.len());
    for (parent, wanted) in parents.iter().zip([true, false]) {
        let sources = mask.iter().enumerate().map(|(place, bit)| (*bit == wanted).then_some(place)).collect();
        terms.push(Term { parent: *parent, map: LinearMap::select(sources, mask.len())? });
    }
    program.affine(mask.len(), terms, None)
}
