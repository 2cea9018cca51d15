//! A constant number around a tensor.

use super::{Arity, Operator, Refusal, Shapes, Site, indexing, numbers};
use crate::attributes::{Attributes, list};
use crate::lowering::Lowering;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator = Operator::new("pad", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[list("padding"), list("padding_after")])
    .payload(&[numbers::number("value")])
    .extension();

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let parent = shapes.parent(0)?;
    for name in ["padding", "padding_after"] {
        let (found, rank) = (attributes.list(name)?.len(), parent.len());
        if found != rank {
            return Err(Refusal::Shape(format!("`{name}` has {found} entries, but the parent's rank is {rank}")));
        }
    }
    let sides = attributes.list("padding")?.iter().zip(attributes.list("padding_after")?);
    let extents =
        parent.iter().zip(sides).map(|(extent, (before, after))| extent.checked_add(*before)?.checked_add(*after));
    extents.collect::<Option<_>>().ok_or_else(|| Refusal::Shape("a padded axis is too long".to_owned()))
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let value = site.payload.first()?.get(0)?;
    let shape = site.shapes.first();
    let sides = site.attributes.list("padding").ok()?.iter().zip(site.shapes.declared);
    let picks: Vec<indexing::Picks> = sides
        .zip(shape)
        .map(|((before, padded), extent)| {
            (0..*padded).map(|at| at.checked_sub(*before).filter(|at| at < extent)).collect()
        })
        .collect();
    let sources = indexing::sources(shape, &picks)?;
    let around = sources.iter().map(|source| if source.is_some() { Rational::default() } else { value.clone() });
    let around = Tensor::new(vec![sources.len()], Values::Exact(around.collect())).ok()?;
    let parent = *parents.first()?;
    let term = Term { parent, map: LinearMap::select(sources, program.width(parent)?)? };
    program.affine(around.len(), vec![term], Some(&around))
}
