//! `W x + b` on the last axis; the axes before it are a batch.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, repeated};
use crate::attributes::{Attribute, Attributes, number};
use crate::lowering::Lowering;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;
use certkern_core::tensor::Tensor;

pub(super) const OPERATOR: Operator = Operator::new("linear", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[
        number("in_dim").or(|shapes, _| last_axis(shapes.first())),
        number("out_dim").or(|shapes, _| last_axis(shapes.declared)),
    ])
    .payload(&[
        PayloadField {
            name: "weight",
            shape: |_, attributes| Ok(vec![attributes.number("out_dim")?, attributes.number("in_dim")?]),
        },
        PayloadField { name: "bias", shape: |_, attributes| Ok(vec![attributes.number("out_dim")?]) },
    ]);

/// The extent of the last axis; 0, which no tensor here has, for a scalar.
fn last_axis(shape: &[usize]) -> Attribute {
    Attribute::Number(shape.last().copied().unwrap_or(0))
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let parent = shapes.parent(0)?;
    let Some((last, batch)) = parent.split_last() else {
        return Err(Refusal::Shape("the parent is a scalar and has no last axis".to_owned()));
    };
    let (inputs, outputs) = (attributes.number("in_dim")?, attributes.number("out_dim")?);
    if inputs != *last {
        return Err(Refusal::Shape(format!("`in_dim` is {inputs}, but the parent's last axis is {last}")));
    }
    Ok(batch.iter().copied().chain([outputs]).collect())
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [weight, bias] = site.payload else { return None };
    apply(weight, bias, *parents.first()?, program)
}

/// `W x + b` on each `in` coordinates in a row.
pub(super) fn apply(weight: &Tensor, bias: &Tensor, argument: NodeId, program: &mut Lowering) -> Option<NodeId> {
    let [outputs, inputs] = weight.shape() else { return None };
    let batch = program.width(argument)?.checked_div(*inputs)?;
    let term = Term { parent: argument, map: LinearMap::dense(weight, batch)? };
    program.affine(batch.checked_mul(*outputs)?, vec![term], Some(&repeated(bias, 1, batch)?))
}
