//! `γ(x − mean)/√(var + ε) + β` on each channel, with the running mean and variance.
//!
//! The scale `s = γ/√(var + ε)` is irrational as a rule. It is `ŵ + d` with a dyadic `ŵ` near it and a remainder `d` that the program itself
//! computes from `var + ε`, so the value is `ŵx + dx − mean·d + β − mean·ŵ`: affine but for one product, whose bounds are as narrow as those of `d`.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, channels, numbers};
use crate::attributes::{Attribute, Attributes, number};
use crate::lowering::Lowering;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::func::Elementary;
use certkern_core::interval::Interval;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator = Operator::new("batch_norm_eval", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[
        number("channel_axis"),
        number("channels").or(|shapes, attributes| {
            let axis = attributes.number("channel_axis").unwrap_or(0);
            Attribute::Number(shapes.first().get(axis).copied().unwrap_or(0))
        }),
    ])
    .payload(&[
        numbers::number("eps"),
        PayloadField { name: "gamma", shape: per_channel },
        PayloadField { name: "beta", shape: per_channel },
        PayloadField { name: "mean", shape: per_channel },
        PayloadField { name: "var", shape: per_channel },
    ])
    .entries(|shapes, attributes| {
        crate::shape::elements(shapes.declared)?
            .checked_mul(6)?
            .checked_add(attributes.number("channels").ok()?.checked_mul(6)?)
    })
    .payload_rule(payload_rule);

/// Bits of `1/√(var + ε)` in `ŵ`.
const BITS: u64 = 64;

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let shape = channels::shape_rule(shapes, attributes)?;
    let (stated, actual) = (attributes.number("channels")?, channels::extent(shapes, attributes)?);
    if stated == actual {
        Ok(shape)
    } else {
        Err(Refusal::Shape(format!("`channels` is {stated}, but the parent's channel axis is {actual}")))
    }
}

fn per_channel(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    Ok(vec![attributes.number("channels")?])
}

fn payload_rule(site: &Site) -> Result<(), Refusal> {
    let [eps, _, _, _, var] = site.payload else { return Err(Refusal::Internal("a field is missing")) };
    numbers::positive_eps(eps)?;
    numbers::satisfied("var", var, |value| *value >= Rational::default(), "is below zero")
}

/// What is known about one channel.
struct Channel {
    /// `var + ε`.
    variance: Rational,
    /// Near `1/√(var + ε)`.
    inverse: Rational,
    exact: bool,
    gamma: Rational,
    beta: Rational,
    mean: Rational,
}

impl Channel {
    fn new(site: &Site, place: usize) -> Option<Self> {
        let [eps, gamma, beta, mean, var] = site.payload else { return None };
        let variance = var.get(place)? + eps.get(0)?;
        // One dyadic where it is one; else any near it gives a scale near enough.
        let near = Interval::around(&variance, &variance);
        let (inverse, exact) = inverse_root(&near.lower)?;
        Some(Self {
            variance,
            inverse,
            exact: exact && near.lower == near.upper,
            gamma: gamma.get(place)?,
            beta: beta.get(place)?,
            mean: mean.get(place)?,
        })
    }

    /// `ŵ`.
    fn scale(&self) -> Rational {
        &self.gamma * &self.inverse
    }
}

/// Near `1/√value`, and whether it is just that.
fn inverse_root(value: &Dyadic) -> Option<(Rational, bool)> {
    let near = |name| Some(Elementary::new(name, Vec::new())?.at(value, BITS).ok()?.lower());
    let root = near("sqrt")?;
    if &root * &root == *value {
        return Some((root.to_rational().recip(), true));
    }
    Some((near("rsqrt")?.to_rational(), false))
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let argument = *parents.first()?;
    let count = site.attributes.number("channels").ok()?;
    let channels: Vec<Channel> = (0..count).map(|place| Channel::new(site, place)).collect::<Option<_>>()?;
    let vector = |number: &dyn Fn(&Channel) -> Rational| {
        Tensor::new(vec![count], Values::Exact(channels.iter().map(number).collect())).ok()
    };
    let spread = |number: &dyn Fn(&Channel) -> Rational| channels::spread(site, &vector(number)?);
    let scale = spread(&|channel| channel.scale())?;
    let bias = spread(&|channel| &channel.beta - &channel.mean * channel.scale())?;
    let mut terms = vec![Term { parent: argument, map: LinearMap::diagonal(&scale)? }];
    if !channels.iter().all(|channel| channel.exact) {
        let variance = program.constant(&vector(&|channel| channel.variance.clone())?)?;
        let inverse = program.library("rsqrt", variance)?;
        let gamma = Term { parent: inverse, map: LinearMap::diagonal(&vector(&|channel| channel.gamma.clone())?)? };
        let remainder = program.affine(count, vec![gamma], Some(&vector(&|channel| -channel.scale())?))?;
        let remainder = program.select(remainder, places(site, count)?)?;
        let product = program.product(argument, remainder)?;
        terms.push(Term { parent: product, map: LinearMap::identity(scale.len()) });
        terms.push(Term { parent: remainder, map: LinearMap::diagonal(&spread(&|channel| -channel.mean.clone())?)? });
    }
    program.affine(scale.len(), terms, Some(&bias))
}

/// The channel of each element.
fn places(site: &Site, count: usize) -> Option<Vec<Option<usize>>> {
    let axis = site.attributes.number("channel_axis").ok()?;
    let own = |(place, extent): (usize, &usize)| (*extent, usize::from(place == axis));
    let places = crate::shape::offsets(site.shapes.declared.iter().enumerate().map(own))?;
    places.into_iter().map(|place| (place < count).then_some(Some(place))).collect()
}
