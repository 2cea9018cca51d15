//! The mean over the last `spatial_rank` axes, which stay with the extent 1.

use super::{Arity, Operator, Refusal, Shapes, reduction};
use crate::attributes::{Attributes, number};

pub(super) const OPERATOR: Operator =
    Operator::new("global_avg_pool", Arity::Exactly(1), shape_rule, |site, parents, program| {
        let shape = site.shapes.first();
        let first = shape.len().checked_sub(site.attributes.number("spatial_rank").ok()?)?;
        let axes: Vec<usize> = (first..shape.len()).collect();
        reduction::total(*parents.first()?, shape, &axes, true, program)
    })
    .attributes(&[number("spatial_rank")])
    .entries(reduction::entries)
    .extension();

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, rank) = (shapes.parent(0)?, attributes.number("spatial_rank")?);
    let Some(kept) = parent.len().checked_sub(rank) else {
        let detail = format!("`spatial_rank` is {rank}, but the parent's rank is {}", parent.len());
        return Err(Refusal::Shape(detail));
    };
    Ok(parent.iter().take(kept).copied().chain(std::iter::repeat_n(1, rank)).collect())
}
