//! The mean of a window over the last axes: divided by the number of all its places, padding counting as zeros, or of those inside.

use super::{Arity, Operator, Site, numbers, pooling, window};
use crate::attributes::{Attribute, flag, list, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::LinearMap;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator = Operator::new("avg_pool", Arity::Exactly(1), pooling::shape_rule, lower)
    .attributes(&[
        number("spatial_rank"),
        list("kernel"),
        list("stride"),
        list("padding"),
        pooling::AFTER,
        pooling::DILATION,
        flag("count_include_pad").or(|_, _| Attribute::Number(1)).extension(),
    ])
    .attribute_rule(pooling::attribute_rule)
    .entries(pooling::entries);

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let (leading, spatial) = window::spatial(&site.shapes, site.attributes).ok()?;
    let output = site.shapes.declared.get(leading.len()..)?;
    let geometry = window::geometry(site.attributes, shape::elements(leading)?, [1, 1], spatial, output)?;
    let kernel: Vec<usize> = [1, 1].iter().chain(&geometry.kernel).copied().collect();
    let length = shape::elements(&kernel)?;
    let whole = site.attributes.flag("count_include_pad").ok()?;
    let weight = if whole { Rational::new(1.into(), length.into()) } else { numbers::one() };
    let weight = Tensor::new(kernel, Values::Exact(vec![weight; length])).ok()?;
    let sums = program.linear(*parents.first()?, LinearMap::convolution(&weight, geometry)?)?;
    if whole {
        return Some(sums);
    }
    let inside = pooling::groups(site)?.into_iter().map(|group| Rational::new(1.into(), group.len().max(1).into()));
    let factors: Vec<Rational> = inside.collect();
    program.scaled(sums, &Tensor::new(vec![factors.len()], Values::Exact(factors)).ok()?)
}
