//! The transpose of a convolution: `out[b, o, y] = bias[o] + Σ weight[i, o, k]·in[b, i, x]` over `y = x·stride + k·dilation − padding`.
//!
//! It is a convolution of step 1 with the kernel turned round, over the input with zeros between and around its places: place `j` of that holds `in[x]`
//! where `x·stride = j + padding − (kernel − 1)·dilation`.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, blocks, conv, indexing, repeated, window};
use crate::attributes::{Attribute, Attributes, list, number};
use crate::lowering::{self, Lowering};
use crate::shape;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;
use certkern_core::tensor::Tensor;

pub(super) const OPERATOR: Operator = Operator::new("conv_transpose", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[
        number("spatial_rank"),
        list("kernel"),
        list("stride"),
        list("padding"),
        conv::AFTER,
        list("output_padding")
            .or(|_, attributes| Attribute::List(vec![0; attributes.list("kernel").unwrap_or_default().len()])),
        list("dilation"),
        number("groups"),
        number("channel_axis"),
        number("in_channels"),
        number("out_channels"),
        conv::INPUT_SPATIAL,
    ])
    .attribute_rule(conv::attribute_rule)
    .payload(&[
        PayloadField { name: "weight", shape: weight_shape },
        PayloadField { name: "bias", shape: |_, attributes| Ok(vec![attributes.number("out_channels")?]) },
    ])
    .entries(entries)
    .payload_rule(|site| blocks::zero_off(site.payload.first(), site.attributes, "in_channels", "out_channels"))
    .extension();

fn weight_shape(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let channels = [attributes.number("in_channels")?, attributes.number("out_channels")?];
    Ok(channels.iter().chain(attributes.list("kernel")?).copied().collect())
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (batch, spatial) = conv::axes(shapes, attributes)?;
    let mut result: Vec<usize> = batch.iter().copied().chain([attributes.number("out_channels")?]).collect();
    for (axis, input) in spatial.iter().enumerate() {
        let entry = |name| window::entry(attributes, name, axis);
        let effective = window::effective(entry("kernel")?, entry("dilation")?);
        let last = input.checked_sub(1).and_then(|last| last.checked_mul(entry("stride").ok()?));
        let whole = last.zip(effective).and_then(|(last, effective)| last.checked_add(effective));
        let (before, after, more) = (entry("padding")?, entry("padding_after")?, entry("output_padding")?);
        let extent = whole.and_then(|whole| whole.checked_add(more)?.checked_sub(before)?.checked_sub(after));
        result.push(extent.filter(|extent| *extent > 0).ok_or_else(|| {
            Refusal::Shape(format!("on spatial axis {axis} the padding {before} and {after} leaves nothing"))
        })?);
    }
    Ok(result)
}

/// The spatial axes of the input with zeros between and around.
fn spread(output: &[usize], attributes: &Attributes) -> Option<Vec<usize>> {
    let extent = |(axis, output): (usize, &usize)| {
        let entry = |name| window::entry(attributes, name, axis).ok();
        output.checked_add(window::effective(entry("kernel")?, entry("dilation")?)?)?.checked_sub(1)
    };
    output.iter().enumerate().map(extent).collect()
}

/// The value, the input with zeros, and an index for each output position and kernel tap.
fn entries(shapes: &Shapes, attributes: &Attributes) -> Option<usize> {
    let (batch, _) = conv::axes(shapes, attributes).ok()?;
    let output = shapes.declared.get(batch.len().checked_add(1)?..)?;
    let channels = shape::elements(batch)?.checked_mul(attributes.number("in_channels").ok()?)?;
    let spread = shape::elements(&spread(output, attributes)?)?.checked_mul(channels)?.checked_mul(2)?;
    shape::elements(shapes.declared)?.checked_add(spread)?.checked_add(window::taps(output, attributes)?)
}

/// The weight as that of the convolution: `[out, in, kernel…]`, the kernel turned round.
fn turned(weight: &Tensor) -> Option<Tensor> {
    let [inputs, outputs, kernel @ ..] = weight.shape() else { return None };
    let taps = shape::elements(kernel)?;
    let shape: Vec<usize> = [*outputs, *inputs].iter().chain(kernel).copied().collect();
    let mut sources = Vec::with_capacity(weight.len());
    for output in 0..*outputs {
        for input in 0..*inputs {
            let start = input.checked_mul(*outputs)?.checked_add(output)?.checked_mul(taps)?;
            sources.extend((0..taps).rev().map(|tap| start.checked_add(tap)));
        }
    }
    lowering::picked(weight, shape, &sources)
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [weight, bias] = site.payload else { return None };
    let (batch, spatial) = conv::axes(&site.shapes, site.attributes).ok()?;
    let output = site.shapes.declared.get(batch.len().checked_add(1)?..)?;
    let number = |name| site.attributes.number(name).ok();
    let spread = spread(output, site.attributes)?;
    let mut picks: Vec<indexing::Picks> = batch.iter().map(|extent| indexing::all(*extent)).collect();
    picks.push(indexing::all(number("in_channels")?));
    for (axis, (extent, input)) in spread.iter().zip(spatial).enumerate() {
        let entry = |name| window::entry(site.attributes, name, axis).ok();
        let (stride, padding) = (entry("stride")?, entry("padding")?);
        let reach = window::effective(entry("kernel")?, entry("dilation")?)?.checked_sub(1)?;
        let place = |j: usize| {
            let step = j.checked_add(padding)?.checked_sub(reach)?;
            step.is_multiple_of(stride).then(|| step.checked_div(stride))?.filter(|x| x < input)
        };
        picks.push((0..*extent).map(place).collect());
    }
    let zeros_between = program.select(*parents.first()?, indexing::sources(site.shapes.first(), &picks)?)?;
    let batch = shape::elements(batch)?;
    let channels = [number("in_channels")?, number("out_channels")?];
    let mut geometry = window::geometry(site.attributes, batch, channels, &spread, output)?;
    geometry.stride = vec![1; output.len()];
    geometry.padding = vec![0; output.len()];
    let term = Term { parent: zeros_between, map: LinearMap::convolution(&turned(weight)?, geometry)? };
    let bias = repeated(bias, shape::elements(output)?, batch)?;
    program.affine(shape::elements(site.shapes.declared)?, vec![term], Some(&bias))
}
