//! On each axis the places `start`, `start + step`, … below `stop`.

use super::{Arity, Operator, Refusal, Shapes, indexing};
use crate::attributes::{Attribute, Attributes, list};

pub(super) const OPERATOR: Operator =
    Operator::new("slice", Arity::Exactly(1), shape_rule, |site, parents, program| {
        let picks: Option<Vec<indexing::Picks>> = ranges(site.attributes).ok()?.map(picks).collect();
        program.select(*parents.first()?, indexing::sources(site.shapes.first(), &picks?)?)
    })
    .attributes(&[
        list("start"),
        list("stop"),
        list("step").or(|shapes, _| Attribute::List(vec![1; shapes.first().len()])),
    ])
    .attribute_rule(attribute_rule)
    .extension();

type Range = ((usize, usize), usize);

fn ranges(attributes: &Attributes) -> Result<impl Iterator<Item = Range> + '_, Refusal> {
    let (start, stop) = (attributes.list("start")?.iter().copied(), attributes.list("stop")?.iter().copied());
    Ok(start.zip(stop).zip(attributes.list("step")?.iter().copied()))
}

fn picks(((start, stop), step): Range) -> Option<indexing::Picks> {
    (step > 0).then(|| (start..stop).step_by(step).map(Some).collect())
}

fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    let axes = attributes.list("start")?.len();
    for name in ["stop", "step"] {
        let found = if attributes.has(name) { attributes.list(name)?.len() } else { axes };
        if found != axes {
            return Err(Refusal::Attribute(name, format!("expected {axes} entries, found {found}")));
        }
    }
    if attributes.has("step") && attributes.list("step")?.contains(&0) {
        return Err(Refusal::Attribute("step", "every entry must be above zero".to_owned()));
    }
    if attributes.list("start")?.iter().zip(attributes.list("stop")?).any(|(start, stop)| start >= stop) {
        return Err(Refusal::Attribute("stop", "an entry is not above that of `start`".to_owned()));
    }
    Ok(())
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, stops) = (shapes.parent(0)?, attributes.list("stop")?);
    if stops.len() != parent.len() {
        let (found, rank) = (stops.len(), parent.len());
        return Err(Refusal::Shape(format!("`stop` has {found} entries, but the parent's rank is {rank}")));
    }
    if let Some(axis) = (0..parent.len()).find(|axis| stops.get(*axis) > parent.get(*axis)) {
        return Err(Refusal::Shape(format!("`stop` is beyond the parent's axis {axis}")));
    }
    let length = |((start, stop), step): Range| stop.checked_sub(start).map(|length| length.div_ceil(step.max(1)));
    ranges(attributes)?
        .map(length)
        .collect::<Option<_>>()
        .ok_or(Refusal::Internal("a range that ends before its start"))
}
