//! Tensors joined along one axis.

use super::{Arity, Operator, Refusal, Shapes, Site, axis_within};
use crate::attributes::{Attributes, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator =
    Operator::new("concat", Arity::AtLeast(2), shape_rule, lower).attributes(&[number("axis")]);

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (first, axis) = (shapes.parent(0)?, attributes.number("axis")?);
    axis_within("axis", axis, first.len())?;
    let mut joined = 0_usize;
    for shape in shapes.parents {
        let extent = shape.get(axis).filter(|_| agree_off_axis(first, shape, axis)).ok_or_else(|| {
            let (first, other) = (shape::text(first), shape::text(shape));
            Refusal::Shape(format!("the parents' shapes {first} and {other} differ off axis {axis}"))
        })?;
        joined = joined.checked_add(*extent).ok_or_else(|| Refusal::Shape("the joined axis is too long".to_owned()))?;
    }
    Ok(first.iter().enumerate().map(|(place, extent)| if place == axis { joined } else { *extent }).collect())
}

fn agree_off_axis(first: &[usize], other: &[usize], axis: usize) -> bool {
    first.len() == other.len() && first.iter().zip(other).enumerate().all(|(place, (a, b))| place == axis || a == b)
}

/// Each parent is placed by a map of its own: its elements appear in the result in their own order, in slabs of the axis.
fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let axis = site.attributes.number("axis").ok()?;
    let width = shape::elements(site.shapes.declared)?;
    let total = *site.shapes.declared.get(axis)?;
    let inner = shape::elements(site.shapes.declared.get(axis.checked_add(1)?..)?)?;
    let mut start = 0_usize;
    let mut terms = Vec::with_capacity(parents.len());
    for (parent, shape) in parents.iter().zip(site.shapes.parents) {
        let end = start.checked_add(*shape.get(axis)?)?;
        let input_width = shape::elements(shape)?;
        let mut own = 0..input_width;
        let mut sources = Vec::with_capacity(width);
        while sources.len() < width {
            for place in 0..total {
                let inside = (start..end).contains(&place);
                sources.extend((0..inner).map(|_| if inside { own.next() } else { None }));
            }
        }
        terms.push(Term { parent: *parent, map: LinearMap::select(sources, input_width)? });
        start = end;
    }
    program.affine(width, terms, None)
}
