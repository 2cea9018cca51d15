//! Constant places of one axis, in the order and shape of the indices: `out[a, i, b] = in[a, indices[i], b]`.

use super::{Arity, Operator, Refusal, Shapes, axis_within, indexing};
use crate::attributes::{Attribute, Attributes, list, number};
use crate::shape;

pub(super) const OPERATOR: Operator =
    Operator::new("gather", Arity::Exactly(1), shape_rule, |site, parents, program| {
        let picks = site.attributes.list("indices").ok()?.iter().copied().map(Some).collect();
        let (shape, axis) = (site.shapes.first(), site.attributes.number("axis").ok()?);
        program.select(*parents.first()?, indexing::sources(shape, &indexing::on_axis(shape, axis, &picks))?)
    })
    .attributes(&[
        number("axis"),
        list("indices"),
        list("indices_shape")
            .or(|_, attributes| Attribute::List(vec![attributes.list("indices").unwrap_or_default().len()])),
    ])
    .extension();

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, axis) = (shapes.parent(0)?, attributes.number("axis")?);
    axis_within("axis", axis, parent.len())?;
    let (indices, inner) = (attributes.list("indices")?, attributes.list("indices_shape")?);
    if shape::elements(inner) != Some(indices.len()) {
        let (count, inner) = (indices.len(), shape::text(inner));
        return Err(Refusal::Shape(format!("`indices_shape` is {inner}, but there are {count} indices")));
    }
    if let Some(index) = indices.iter().find(|index| Some(*index) >= parent.get(axis)) {
        return Err(Refusal::Shape(format!("index {index} is beyond the parent's axis {axis}")));
    }
    let (before, after) = (parent.iter().take(axis), parent.iter().skip(axis).skip(1));
    Ok(before.chain(inner).chain(after).copied().collect())
}
