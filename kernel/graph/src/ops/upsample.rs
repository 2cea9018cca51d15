//! Every place of an axis so many times in a row, by nearest neighbour: `out[i] = in[⌊i/scale⌋]`.

use super::{Arity, Operator, Refusal, Shapes, indexing};
use crate::attributes::{Attributes, list};

pub(super) const OPERATOR: Operator =
    Operator::new("upsample", Arity::Exactly(1), shape_rule, |site, parents, program| {
        let shape = site.shapes.first();
        let scales = site.attributes.list("scale").ok()?.iter().copied();
        let picks = scales
            .zip(shape)
            .map(|(scale, extent)| (0..*extent).flat_map(move |i| std::iter::repeat_n(Some(i), scale)));
        let picks: Vec<indexing::Picks> = picks.map(Iterator::collect).collect();
        program.select(*parents.first()?, indexing::sources(shape, &picks)?)
    })
    .attributes(&[list("scale")])
    .attribute_rule(attribute_rule)
    .extension();

fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    if attributes.list("scale")?.contains(&0) {
        return Err(Refusal::Attribute("scale", "every entry must be above zero".to_owned()));
    }
    Ok(())
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, scale) = (shapes.parent(0)?, attributes.list("scale")?);
    if scale.len() != parent.len() {
        let (found, rank) = (scale.len(), parent.len());
        return Err(Refusal::Shape(format!("`scale` has {found} entries, but the parent's rank is {rank}")));
    }
    let extents = parent.iter().zip(scale).map(|(extent, scale)| extent.checked_mul(*scale));
    extents.collect::<Option<_>>().ok_or_else(|| Refusal::Shape("an axis is too long".to_owned()))
}
