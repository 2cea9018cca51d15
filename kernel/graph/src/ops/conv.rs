//! Zero-padded cross-correlation over the last `spatial_rank` axes; the axis before them holds channels, those before
//! that a batch. `out[b, o, p] = bias[o] + Σ_{i,k} weight[o, i, k] · in[b, i, p·stride + k·dilation − padding]`.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, blocks, repeated, window};
use crate::attributes::{Attribute, AttributeSpec, Attributes, list, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::{LinearMap, Term};
use certkern_core::program::NodeId;

pub(super) const OPERATOR: Operator = Operator::new("conv", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[
        number("spatial_rank"),
        list("kernel"),
        list("stride"),
        list("padding"),
        AFTER,
        list("dilation"),
        number("groups"),
        number("channel_axis"),
        number("in_channels"),
        number("out_channels"),
        INPUT_SPATIAL,
    ])
    .attribute_rule(attribute_rule)
    .payload(&[
        PayloadField { name: "weight", shape: weight_shape },
        PayloadField { name: "bias", shape: |_, attributes| Ok(vec![attributes.number("out_channels")?]) },
    ])
    .entries(entries)
    .payload_rule(|site| blocks::zero_off(site.payload.first(), site.attributes, "out_channels", "in_channels"));

/// `padding_after`, which is `padding` if absent.
pub(super) const AFTER: AttributeSpec =
    list("padding_after").or(|_, attributes| Attribute::List(attributes.list("padding").unwrap_or_default().to_vec()));

/// `input_spatial`, the parent's axes after the channel axis.
pub(super) const INPUT_SPATIAL: AttributeSpec = list("input_spatial").or(|shapes, attributes| {
    let channel_axis = attributes.number("channel_axis").unwrap_or(0);
    Attribute::List(shapes.first().iter().skip(channel_axis).skip(1).copied().collect())
});

pub(super) fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    window::above_zero(attributes, &["spatial_rank", "groups", "in_channels", "out_channels"])?;
    window::lists_hold(
        attributes,
        &["kernel", "stride", "padding", "padding_after", "dilation", "input_spatial", "output_padding"],
    )?;
    blocks::divide(attributes)
}

/// The axes before the channel axis, which has `in_channels`, and the spatial axes after it.
pub(super) fn axes<'a>(shapes: &'a Shapes, attributes: &Attributes) -> Result<(&'a [usize], &'a [usize]), Refusal> {
    let parent = shapes.parent(0)?;
    let (channel_axis, spatial_rank) = (attributes.number("channel_axis")?, attributes.number("spatial_rank")?);
    let spatial_start = channel_axis.checked_add(1);
    let fits = spatial_start.and_then(|start| start.checked_add(spatial_rank)) == Some(parent.len());
    let (Some(spatial), Some(channels), true) =
        (spatial_start.and_then(|start| parent.get(start..)), parent.get(channel_axis), fits)
    else {
        let rank = parent.len();
        let detail =
            format!("`channel_axis` is {channel_axis}: not the parent's rank {rank} less `spatial_rank` less 1");
        return Err(Refusal::Shape(detail));
    };
    let in_channels = attributes.number("in_channels")?;
    if *channels != in_channels {
        let detail = format!("`in_channels` is {in_channels}, but the parent's channel axis is {channels}");
        return Err(Refusal::Shape(detail));
    }
    let stated = attributes.list("input_spatial")?;
    if stated != spatial {
        let (stated, actual) = (shape::text(stated), shape::text(spatial));
        return Err(Refusal::Shape(format!("`input_spatial` is {stated}, but the parent's spatial axes are {actual}")));
    }
    Ok((parent.get(..channel_axis).unwrap_or_default(), spatial))
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let (batch, spatial) = axes(shapes, attributes)?;
    let output = window::output(spatial, attributes)?;
    Ok(batch.iter().copied().chain([attributes.number("out_channels")?]).chain(output).collect())
}

/// The value, and an index for each output position and kernel tap.
fn entries(shapes: &Shapes, attributes: &Attributes) -> Option<usize> {
    let spatial_start = attributes.number("channel_axis").ok()?.checked_add(1)?;
    let taps = window::taps(shapes.declared.get(spatial_start..)?, attributes)?;
    shape::elements(shapes.declared)?.checked_add(taps)
}

fn weight_shape(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let channels = [attributes.number("out_channels")?, attributes.number("in_channels")?];
    Ok(channels.iter().chain(attributes.list("kernel")?).copied().collect())
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [weight, bias] = site.payload else { return None };
    let (batch, spatial) = axes(&site.shapes, site.attributes).ok()?;
    let output = site.shapes.declared.get(batch.len().checked_add(1)?..)?;
    let batch = shape::elements(batch)?;
    let number = |name| site.attributes.number(name).ok();
    let channels = [number("in_channels")?, number("out_channels")?];
    let geometry = window::geometry(site.attributes, batch, channels, spatial, output)?;
    let term = Term { parent: *parents.first()?, map: LinearMap::convolution(weight, geometry)? };
    let bias = repeated(bias, shape::elements(output)?, batch)?;
    program.affine(shape::elements(site.shapes.declared)?, vec![term], Some(&bias))
}
