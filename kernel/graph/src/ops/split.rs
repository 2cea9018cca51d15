//! One of the pieces that an axis is cut into.

use super::{Arity, Operator, Refusal, Shapes, axis_within, indexing};
use crate::attributes::{Attributes, list, number};

pub(super) const OPERATOR: Operator =
    Operator::new("split", Arity::Exactly(1), shape_rule, |site, parents, program| {
        let (axis, start, length) = piece(site.attributes).ok()?;
        let picks = (start..start.checked_add(length)?).map(Some).collect();
        let shape = site.shapes.first();
        program.select(*parents.first()?, indexing::sources(shape, &indexing::on_axis(shape, axis, &picks))?)
    })
    .attributes(&[number("axis"), list("sizes"), number("index")])
    .attribute_rule(|attributes| piece(attributes).map(|_| ()))
    .extension();

/// The axis, and where the piece starts on it and how long it is.
fn piece(attributes: &Attributes) -> Result<(usize, usize, usize), Refusal> {
    let (sizes, index) = (attributes.list("sizes")?, attributes.number("index")?);
    let Some(length) = sizes.get(index) else {
        return Err(Refusal::Attribute("index", format!("there are {} pieces, and no number {index}", sizes.len())));
    };
    let start = sizes.iter().take(index).fold(0_usize, |start, size| start.saturating_add(*size));
    Ok((attributes.number("axis")?, start, *length))
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let mut result = shapes.parent(0)?.to_vec();
    let (axis, _, length) = piece(attributes)?;
    axis_within("axis", axis, result.len())?;
    let sizes = attributes.list("sizes")?.iter();
    let together = sizes.fold(0_usize, |sum, size| sum.saturating_add(*size));
    for extent in result.iter_mut().skip(axis).take(1) {
        if *extent != together {
            return Err(Refusal::Shape(format!("`sizes` are {together} together, but the axis is {extent}")));
        }
        *extent = length;
    }
    Ok(result)
}
