//! Operators with parameters, as layers or buffers of the module.

use crate::site::{Float, Refusal, Site, tuple};
use crate::state::{Entry, blocks, counter, entry};

/// What a node adds to the module: statements of `__init__`, an expression in `forward`, and entries of the state dictionary.
pub(crate) struct Layer {
    pub(crate) made: String,
    pub(crate) call: String,
    pub(crate) state: Vec<Entry>,
}

/// The layer of a node with parameters; `None` if it has none, or is not known.
pub(crate) fn layer(site: &Site) -> Result<Option<Layer>, Refusal> {
    Ok(Some(match site.node.kind() {
        "const" => buffer(site, "const", "values", |name| name)?,
        "where" => buffer(site, "mask", "mask", |name| {
            format!("torch.where({name} != 0, {}, {})", site.parent(0), site.parent(1))
        })?,
        "hard_masked_softmax" => buffer(site, "mask", "mask", |name| {
            let scores = format!("{}.masked_fill({name} == 0, float(\"-inf\"))", site.parent(0));
            format!("torch.softmax({scores}, {})", site.number("axis"))
        })?,
        "linear" => {
            let arguments = format!("{}, {}", site.number("in_dim"), site.number("out_dim"));
            module(site, "linear", "Linear", &arguments, &[("weight", "weight"), ("bias", "bias")])?
        }
        "conv" => conv(site)?,
        "conv_transpose" => conv_transpose(site)?,
        "batch_norm_eval" => batch_norm(site)?,
        "layernorm" => {
            let axes = tuple(site.tensor("gamma")?.shape());
            let arguments = format!("{axes}, eps={}", site.literal("eps")?);
            module(site, "layer_norm", "LayerNorm", &arguments, &[("gamma", "weight"), ("beta", "bias")])?
        }
        "prelu" => prelu(site)?,
        _ => return Ok(None),
    }))
}

/// A tensor of the module that is no parameter.
fn buffer(site: &Site, what: &str, field: &str, call: impl FnOnce(String) -> String) -> Result<Layer, Refusal> {
    let (name, tensor) = (site.name(what), site.tensor(field)?);
    let made =
        format!("self.register_buffer({name:?}, torch.zeros({}{}))", tuple(tensor.shape()), site.float.argument());
    Ok(Layer { made, call: call(format!("self.{name}")), state: vec![entry(site, &name, tensor)?] })
}

/// A layer of `torch.nn` and its entries: pairs of payload field and name in the layer.
fn module(site: &Site, what: &str, class: &str, arguments: &str, fields: &[(&str, &str)]) -> Result<Layer, Refusal> {
    let name = site.name(what);
    let made = format!("self.{name} = nn.{class}({arguments}{})", site.float.argument());
    let call = format!("self.{name}({})", site.parent(0));
    let of = |(field, key): &(&str, &str)| entry(site, &format!("{name}.{key}"), site.tensor(field)?);
    Ok(Layer { made, call, state: fields.iter().map(of).collect::<Result<_, _>>()? })
}

/// The arguments that both kinds of convolution have, and the state with the weight's blocks alone.
fn convolution(site: &Site, class: &str, geometry: &str) -> Result<Layer, Refusal> {
    let groups = site.number("groups");
    let numbers = (site.number("in_channels"), site.number("out_channels"));
    let (kernel, stride, dilation) =
        (tuple(site.list("kernel")), site.keyword("stride", 1), site.keyword("dilation", 1));
    let grouped = if groups == 1 { String::new() } else { format!(", groups={groups}") };
    let arguments = format!("{}, {}, {kernel}{stride}{geometry}{dilation}{grouped}", numbers.0, numbers.1);
    let mut layer = module(site, site.node.kind(), class, &arguments, &[("bias", "bias")])?;
    let name = format!("{}.weight", site.name(site.node.kind()));
    layer.state.push(blocks(site, &name, site.tensor("weight")?, groups)?);
    Ok(layer)
}

fn conv(site: &Site) -> Result<Layer, Refusal> {
    let class = format!("Conv{}d", site.spatial_rank()?);
    convolution(site, &class, &site.convolution_padding()?)
}

fn conv_transpose(site: &Site) -> Result<Layer, Refusal> {
    let class = format!("ConvTranspose{}d", site.spatial_rank()?);
    convolution(site, &class, &(site.even_padding()? + &site.keyword("output_padding", 0)))
}

/// PyTorch has batch norm for a batch axis, channels and up to three axes more.
fn batch_norm(site: &Site) -> Result<Layer, Refusal> {
    let rank = match (site.number("channel_axis"), site.node.shape().len()) {
        (1, 2 | 3) => 1,
        (1, 4) => 2,
        (1, 5) => 3,
        (axis, axes) => {
            let detail = format!("channels on axis {axis} of {axes}");
            return Err(site.refuse(detail, "permute to (batch, channel, up to 3 axes)"));
        }
    };
    let arguments = format!("{}, eps={}", site.number("channels"), site.literal("eps")?);
    let fields = [("gamma", "weight"), ("beta", "bias"), ("mean", "running_mean"), ("var", "running_var")];
    let mut layer = module(site, "batch_norm", &format!("BatchNorm{rank}d"), &arguments, &fields)?;
    layer.state.push(counter(format!("{}.num_batches_tracked", site.name("batch_norm"))));
    Ok(layer)
}

/// PyTorch counts channels on axis 1; a vector has one.
fn prelu(site: &Site) -> Result<Layer, Refusal> {
    let (axis, axes, channels) = (site.number("channel_axis"), site.node.shape().len(), site.tensor("slope")?.len());
    if axis == 1 || (axes == 1 && channels == 1) {
        return module(site, "prelu", "PReLU", &channels.to_string(), &[("slope", "weight")]);
    }
    Err(site.refuse(format!("channels on axis {axis} of {axes}"), "permute to (batch, channel, …)"))
}

impl Layer {
    /// A constant of another type than the module's has no place in it.
    pub(crate) fn of_type(self, site: &Site, float: Float) -> Result<Self, Refusal> {
        let other = self.state.iter().find(|entry| entry.float.is_some_and(|found| found != float));
        match other {
            Some(entry) => {
                let detail =
                    format!("{} is of another type than {}, the other numbers' type", entry.name, float.name());
                Err(site.refuse(
                    detail,
                    "give all numbers one type; a single number of binary64 may stand in a sum or a product",
                ))
            }
            None => Ok(self),
        }
    }
}
