//! Zero-padded cross-correlation over the last `spatial_rank` axes; the axis before them holds channels, those before
//! that a batch. `out[b, o, p] = bias[o] + Σ_{i,k} weight[o, i, k] · in[b, i, p·stride + k·dilation − padding]`.

use super::{Arity, Operator, PayloadField, Refusal, Shapes, Site, repeated};
use crate::attributes::{Attribute, Attributes, list, number};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::affine::{Convolution, LinearMap, Term};
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

pub(super) const OPERATOR: Operator = Operator::new("conv", Arity::Exactly(1), shape_rule, lower)
    .attributes(&[
        number("spatial_rank"),
        list("kernel"),
        list("stride"),
        list("padding"),
        list("padding_after")
            .or(|_, attributes| Attribute::List(attributes.list("padding").unwrap_or_default().to_vec())),
        list("dilation"),
        number("groups"),
        number("channel_axis"),
        number("in_channels"),
        number("out_channels"),
        list("input_spatial").or(|shapes, attributes| {
            let channel_axis = attributes.number("channel_axis").unwrap_or(0);
            Attribute::List(shapes.first().iter().skip(channel_axis).skip(1).copied().collect())
        }),
    ])
    .attribute_rule(attribute_rule)
    .payload(&[
        PayloadField { name: "weight", shape: weight_shape },
        PayloadField { name: "bias", shape: |_, attributes| Ok(vec![attributes.number("out_channels")?]) },
    ])
    .entries(entries)
    .payload_rule(payload_rule);

/// The longest step of a stride or dilation, so that no place of a tap overflows. Longer ones reach no second place of any input.
const STEP: usize = 1 << 31;

fn attribute_rule(attributes: &Attributes) -> Result<(), Refusal> {
    for name in ["spatial_rank", "groups", "in_channels", "out_channels"] {
        if attributes.number(name)? == 0 {
            return Err(Refusal::Attribute(name, "must be above zero".to_owned()));
        }
    }
    let spatial_rank = attributes.number("spatial_rank")?;
    for name in ["kernel", "stride", "padding", "padding_after", "dilation", "input_spatial"] {
        let found = if attributes.has(name) { attributes.list(name)?.len() } else { spatial_rank };
        if found != spatial_rank {
            return Err(Refusal::Attribute(name, format!("expected {spatial_rank} entries, found {found}")));
        }
    }
    for name in ["kernel", "stride", "dilation"] {
        if attributes.list(name)?.contains(&0) {
            return Err(Refusal::Attribute(name, "every entry must be above zero".to_owned()));
        }
    }
    for name in ["stride", "dilation"] {
        if attributes.list(name)?.iter().any(|step| *step > STEP) {
            return Err(Refusal::Attribute(name, format!("an entry is above {STEP}")));
        }
    }
    let groups = attributes.number("groups")?;
    for name in ["in_channels", "out_channels"] {
        let channels = attributes.number(name)?;
        if !channels.is_multiple_of(groups) {
            let detail = format!("`{name}` is {channels}, which {groups} groups do not divide");
            return Err(Refusal::Attribute("groups", detail));
        }
    }
    Ok(())
}

fn shape_rule(shapes: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
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
    let mut result: Vec<usize> = parent.iter().take(channel_axis).copied().collect();
    result.push(attributes.number("out_channels")?);
    for axis in 0..spatial_rank {
        result.push(output_extent(axis, spatial, attributes)?);
    }
    Ok(result)
}

/// `⌊(in + before + after − ((k − 1)·dilation + 1)) / stride⌋ + 1`.
fn output_extent(axis: usize, spatial: &[usize], attributes: &Attributes) -> Result<usize, Refusal> {
    let entry =
        |list: &[usize]| list.get(axis).copied().ok_or(Refusal::Internal("a list shorter than the spatial rank"));
    let input = entry(spatial)?;
    let (before, after) = (entry(attributes.list("padding")?)?, entry(attributes.list("padding_after")?)?);
    let (kernel, dilation) = (entry(attributes.list("kernel")?)?, entry(attributes.list("dilation")?)?);
    let stride = entry(attributes.list("stride")?)?;
    let padded = input.checked_add(before).and_then(|sum| sum.checked_add(after));
    let effective = kernel.checked_sub(1).and_then(|steps| steps.checked_mul(dilation)).and_then(|n| n.checked_add(1));
    let room = padded.zip(effective).and_then(|(padded, effective)| padded.checked_sub(effective));
    let extent = room.and_then(|room| room.checked_div(stride)).and_then(|steps| steps.checked_add(1));
    extent.ok_or_else(|| {
        let detail = format!(
            "on spatial axis {axis} a kernel of {kernel} with dilation {dilation} does not fit {input} with padding {before} and {after}"
        );
        Refusal::Shape(detail)
    })
}

/// The value, and an index for each output position and kernel tap.
fn entries(shapes: &Shapes, attributes: &Attributes) -> Option<usize> {
    let spatial_start = attributes.number("channel_axis").ok()?.checked_add(1)?;
    let positions = shape::elements(shapes.declared.get(spatial_start..)?)?;
    let taps = shape::elements(attributes.list("kernel").ok()?)?;
    shape::elements(shapes.declared)?.checked_add(positions.checked_mul(taps)?)
}

fn weight_shape(_: &Shapes, attributes: &Attributes) -> Result<Vec<usize>, Refusal> {
    let channels = [attributes.number("out_channels")?, attributes.number("in_channels")?];
    Ok(channels.iter().chain(attributes.list("kernel")?).copied().collect())
}

/// The weight is dense: off the blocks of its groups it must be zero.
fn payload_rule(site: &Site) -> Result<(), Refusal> {
    let groups = site.attributes.number("groups")?;
    if groups == 1 {
        return Ok(());
    }
    let in_channels = site.attributes.number("in_channels")?;
    let (block_in, block_out) =
        (in_channels.checked_div(groups), site.attributes.number("out_channels")?.checked_div(groups));
    let taps = shape::elements(site.attributes.list("kernel")?);
    let (Some(weight), Some(block_in), Some(block_out), Some(taps)) = (site.payload.first(), block_in, block_out, taps)
    else {
        return Err(Refusal::Internal("groups without blocks"));
    };
    let stray = nonzero_places(weight).find(|place| {
        let channel = place.checked_div(taps).unwrap_or(0);
        let (out, within) = (channel.checked_div(in_channels), channel.checked_rem(in_channels));
        out.and_then(|out| out.checked_div(block_out)) != within.and_then(|within| within.checked_div(block_in))
    });
    match stray {
        None => Ok(()),
        Some(place) => {
            let detail = format!("element {place} joins channels of two of the {groups} groups and is not zero");
            Err(Refusal::Payload("weight", detail))
        }
    }
}

fn nonzero_places(tensor: &Tensor) -> Box<dyn Iterator<Item = usize> + '_> {
    fn places<T>(values: &[T], nonzero: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
        values.iter().enumerate().filter_map(move |(place, value)| nonzero(value).then_some(place))
    }
    // A float is zero exactly if all bits but its sign are.
    match tensor.values() {
        Values::Binary32(values) => Box::new(places(values, |bits| bits << 1 != 0)),
        Values::Binary64(values) => Box::new(places(values, |bits| bits << 1 != 0)),
        Values::Exact(values) => Box::new(places(values, |value| *value.numer() != 0.into())),
    }
}

fn lower(site: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    let [weight, bias] = site.payload else { return None };
    let number = |name| site.attributes.number(name).ok();
    let list = |name| site.attributes.list(name).ok().map(<[usize]>::to_vec);
    let channel_axis = number("channel_axis")?;
    let batch = shape::elements(site.shapes.declared.get(..channel_axis)?)?;
    let output = site.shapes.declared.get(channel_axis.checked_add(1)?..)?.to_vec();
    let positions = shape::elements(&output)?;
    let geometry = Convolution {
        batch,
        in_channels: number("in_channels")?,
        out_channels: number("out_channels")?,
        input: list("input_spatial")?,
        kernel: list("kernel")?,
        stride: list("stride")?,
        padding: list("padding")?,
        output,
        dilation: list("dilation")?,
    };
    let term = Term { parent: *parents.first()?, map: LinearMap::convolution(weight, geometry)? };
    program.affine(shape::elements(site.shapes.declared)?, vec![term], Some(&repeated(bias, positions, batch)?))
}
