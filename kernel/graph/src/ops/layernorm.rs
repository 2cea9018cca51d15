//! `γ(x − m)/√(v + ε) + β`, where `m` and `v` are mean and variance (divided by their number) over the axes from `axis` on.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, axis_within, numbers, repeated};
use crate::attributes::{Attributes, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::num::Rational;
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("layernorm", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[number("axis")])
    .payload(&[
        numbers::number("eps"),
        PayloadField { name: "gamma", shape: suffix },
        PayloadField { name: "beta", shape: suffix },
    ])
    .entries(|shapes, _| shape::elements(shapes.declared)?.checked_mul(10))
    .payload_rule(|site| site.payload.first().map_or(Ok(()), numbers::positive_eps));

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let parent = shapes.parent(0)?;
    axis_within("axis", attributes.number("axis")?, parent.len())?;
    Ok(parent.to_vec())
}

fn suffix(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let axes = shapes.first().get(attributes.number("axis")?..);
    axes.map(<[usize]>::to_vec).ok_or(Refusal::Internal("an axis beyond the rank"))
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [eps, gamma, beta] = site.payload else { return None };
    let argument = *parents.first()?;
    let (width, length) = (program.width(argument)?, gamma.len());
    let groups = width.checked_div(length)?;
    let weight = Rational::new(1.into(), length.into());
    // For each element the group that it is normalised in.
    let group = || (0..width).map(|place| place.checked_div(length)).collect();
    let mean = program.folded(argument, length, &weight, &Rational::default())?;
    let mean = program.select(mean, group())?;
    let centred = program.difference(argument, mean)?;
    let squares = program.product(centred, centred)?;
    let variance = program.folded(squares, length, &weight, &eps.get(0)?)?;
    let inverse = program.library("rsqrt", variance)?;
    let inverse = program.select(inverse, group())?;
    let normal = program.product(centred, inverse)?;
    let term = Term { parent: normal, map: LinearMap::diagonal(&repeated(gamma, 1, groups)?)? };
    program.affine(width, vec![term], Some(&repeated(beta, 1, groups)?))
}
