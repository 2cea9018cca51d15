//! `x` where `x ≥ 0`, else `αx` with one `α` for each channel, in the form `αx + (1 − α)·max(x, 0)`.

use super::numbers::one;
use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, channels};
use crate::attributes::Attributes;
use crate::attributes::number;
use crate::lowering::Lowering;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator = Operator::new("prelu", Arity::Exactly(1), channels::shape_rule, lower)
    .attributes(&[number("channel_axis")])
    .payload(&[PayloadField { name: "slope", shape: slope_shape }])
    .extension();

fn slope_shape(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    channels::extent(shapes, attributes).map(|extent| vec![extent])
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let argument = *parents.first()?;
    let slopes = channels::spread(site, site.payload.first()?)?;
    let rests: Vec<Rational> =
        (0..slopes.len()).map(|place| Some(one() - slopes.get(place)?)).collect::<Option<_>>()?;
    let rests = Tensor::new(vec![rests.len()], Values::Exact(rests)).ok()?;
    let positive = program.univariate(Function::Relu, argument)?;
    let terms = vec![
        Term { parent: argument, map: LinearMap::diagonal(&slopes)? },
        Term { parent: positive, map: LinearMap::diagonal(&rests)? },
    ];
    program.affine(slopes.len(), terms, None)
}
