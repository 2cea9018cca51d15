//! `exp(x_i)/Σ_j exp(x_j)` along one axis, in the form `1/(1 + Σ_{j≠i} exp(x_j − x_i))`: no quotient of two bounds, and nothing changes when a number
//! is added to all of an axis.

use super::numbers::one;
use super::{Arity, Operator, Refusal, Shapes, axis_within};
use crate::attributes::{Attributes, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator =
    Operator::new("softmax", Arity::Exactly(1), shape_rule, |site, parents, program| {
        along(*parents.first()?, site.shapes.declared, site.attributes.number("axis").ok()?, None, program)
    })
    .attributes(&[number("axis")])
    .entries(|shapes, attributes| entries(shapes.declared, attributes.number("axis").ok()?));

/// The shape stays, and has the axis.
pub(super) fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let parent = shapes.parent(0)?;
    axis_within("axis", attributes.number("axis")?, parent.len())?;
    Ok(parent.to_vec())
}

/// What [`along`] holds: five numbers for each element and place of the axis.
pub(super) fn entries(shape: &[usize], axis: usize) -> Option<usize> {
    shape::elements(shape)?.checked_mul(shape.get(axis)?.checked_add(1)?)?.checked_mul(5)
}

/// Softmax along an axis, over the places that `mask` allows; 0 at the others.
pub(super) fn along(
    argument: NodeId,
    shape: &[usize],
    axis: usize,
    mask: Option<&[bool]>,
    program: &mut Lowering,
) -> Option<NodeId> {
    let extent = *shape.get(axis)?;
    let stride = shape::elements(shape.get(axis.checked_add(1)?..)?)?;
    let allowed = |place: usize| mask.is_none_or(|mask| mask.get(place).copied().unwrap_or(false));
    // Pairs `(j, i)` with `j ≠ i` on one line of the axis, and for each allowed `i` its pairs, filled up with nothing to one number.
    let (mut others, mut selves, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut values: Vec<Option<usize>> = Vec::new();
    let terms = extent.checked_sub(1)?;
    for place in 0..shape::elements(shape)? {
        if !allowed(place) {
            values.push(None);
            continue;
        }
        values.push(rows.len().checked_div(terms.max(1)));
        let own = place.checked_div(stride)?.checked_rem(extent)?;
        let start = place.checked_sub(own.checked_mul(stride)?)?;
        for index in (0..extent).filter(|index| *index != own) {
            let other = index.checked_mul(stride)?.checked_add(start)?;
            rows.push(allowed(other).then_some(others.len()));
            if allowed(other) {
                others.push(Some(other));
                selves.push(Some(place));
            }
        }
    }
    if others.is_empty() {
        // Each line has one place, which takes all.
        let values = values.iter().map(|value| u32::from(value.is_some())).map(|bit| bit.saturating_mul(ONE)).collect();
        return program.constant(&Tensor::new(vec![shape::elements(shape)?], Values::Binary32(values)).ok()?);
    }
    let (others, selves) = (program.select(argument, others)?, program.select(argument, selves)?);
    let differences = program.difference(others, selves)?;
    let powers = program.library("exp", differences)?;
    let powers = program.select(powers, rows)?;
    let sums = program.folded(powers, terms, &one(), &one())?;
    let values_of = program.library("inv", sums)?;
    if mask.is_none() { Some(values_of) } else { program.select(values_of, values) }
}

/// 1 in IEEE binary32.
const ONE: u32 = 0x3f80_0000;
