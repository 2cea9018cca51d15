//! With more axes of extent 1, at these places of the result.

use super::{Arity, Operator, Refusal, Shapes, identity, reduction};
use crate::attributes::{Attributes, list};

pub(super) const OPERATOR: Operator = Operator::new("unsqueeze", Arity::Exactly(1), shape_rule, identity)
    .attributes(&[list("axes")])
    .attribute_rule(reduction::attribute_rule)
    .extension();

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (parent, axes) = (shapes.parent(0)?, attributes.list("axes")?);
    let rank = parent.len().saturating_add(axes.len());
    if let Some(axis) = axes.iter().find(|axis| **axis >= rank) {
        return Err(Refusal::Shape(format!("`axes` has {axis}, but the result's rank is {rank}")));
    }
    // A longer list is not walked: the rank of the declared shape is bounded.
    if axes.len() > shapes.declared.len() {
        return Err(Refusal::Shape(format!("`axes` has {} entries, more than the declared shape", axes.len())));
    }
    let mut kept = parent.iter().copied();
    Ok((0..rank).filter_map(|axis| if axes.contains(&axis) { Some(1) } else { kept.next() }).collect())
}
