//! Operators without parameters, as Python expressions.

use crate::site::{Float, Refusal, Site, tuple};

/// Operators whose expression has nothing but the parents: `{0}`, `{1}`.
const TEMPLATES: &[(&str, &str)] = &[
    ("abs", "torch.abs({0})"),
    ("add", "{0} + {1}"),
    ("cos", "torch.cos({0})"),
    ("detach", "{0}.detach()"),
    ("div", "{0} / {1}"),
    ("erf", "torch.erf({0})"),
    ("exp", "torch.exp({0})"),
    ("flatten", "torch.flatten({0})"),
    ("floor", "torch.floor({0})"),
    ("gelu", "F.gelu({0})"),
    ("gelu_tanh", "F.gelu({0}, approximate=\"tanh\")"),
    ("hard_swish", "F.hardswish({0})"),
    ("inv", "torch.reciprocal({0})"),
    ("log", "torch.log({0})"),
    ("matmul", "torch.matmul({0}, {1})"),
    ("mish", "F.mish({0})"),
    ("mse_loss", "F.mse_loss({0}, {1})"),
    ("mul_elem", "{0} * {1}"),
    ("neg", "torch.neg({0})"),
    ("relu", "torch.relu({0})"),
    ("sigmoid", "torch.sigmoid({0})"),
    ("sign", "torch.sign({0})"),
    ("silu", "F.silu({0})"),
    ("sin", "torch.sin({0})"),
    ("sqrt", "torch.sqrt({0})"),
    ("sub", "{0} - {1}"),
    ("sum", "torch.sum({0})"),
    ("tanh", "torch.tanh({0})"),
];

/// Reductions.
const REDUCTIONS: &[(&str, &str)] =
    &[("reduce_max", "amax"), ("reduce_mean", "mean"), ("reduce_min", "amin"), ("reduce_sum", "sum")];

/// PyTorch's numbers of SELU.
const SELU: (&str, &str) = ("1.6732632423543772", "1.0507009873554805");

/// The expression of a node without parameters; `None` if it is none.
pub(crate) fn expression(site: &Site) -> Result<Option<String>, Refusal> {
    let (kind, x) = (site.node.kind(), site.parent(0));
    if let Some((_, template)) = TEMPLATES.iter().find(|(name, _)| *name == kind) {
        return Ok(Some(template.replace("{0}", x).replace("{1}", site.parent(1))));
    }
    if let Some((_, name)) = REDUCTIONS.iter().find(|(name, _)| *name == kind) {
        return reduction(site, name).map(Some);
    }
    Ok(Some(match kind {
        "add_n" => site.parents.join(" + "),
        "max_n" => nested(site, "torch.maximum"),
        "min_n" => nested(site, "torch.minimum"),
        "max_elem" => extreme(site, "maximum", "min"),
        "min_elem" => extreme(site, "minimum", "max"),
        "softplus" => softplus(site),
        "safe_log" => format!("torch.log({} + {})", softplus(site), site.parent(1)),
        "pow" => format!("torch.pow({x}, {})", site.literal("exponent")?),
        "leaky_relu" => format!("F.leaky_relu({x}, {})", site.literal("alpha")?),
        "elu" => format!("F.elu({x}, {})", site.literal("alpha")?),
        "selu" => selu(site)?,
        "clip" => format!("torch.clamp({x}, {}, {})", site.literal("low")?, site.literal("high")?),
        "hard_sigmoid" => {
            format!("torch.clamp({x} * {} + {}, 0.0, 1.0)", site.literal("alpha")?, site.literal("beta")?)
        }
        "softmax" => format!("torch.softmax({x}, {})", site.number("axis")),
        "reshape" | "squeeze" | "unsqueeze" => format!("torch.reshape({x}, {})", tuple(site.node.shape())),
        "broadcast_to" | "expand" => format!("torch.broadcast_to({x}, {})", tuple(site.node.shape())),
        "permute" => format!("torch.permute({x}, {})", tuple(site.list("perm"))),
        "transpose" => format!("torch.transpose({x}, {}, {})", site.number("axis1"), site.number("axis2")),
        "concat" => format!("torch.cat(({}), {})", site.parents.join(", "), site.number("axis")),
        "slice" => format!("{x}[{}]", slices(site)),
        "split" => {
            format!("torch.split({x}, {:?}, {})[{}]", site.list("sizes"), site.number("axis"), site.number("index"))
        }
        "gather" => gather(site),
        "pad" => format!("F.pad({x}, {}, value={})", pads(site), site.literal("value")?),
        "upsample" => upsample(site)?,
        "max_pool" => max_pool(site)?,
        "avg_pool" => avg_pool(site)?,
        "global_avg_pool" => {
            let axes = site.source_shape().len();
            let spatial: Vec<usize> = (axes - site.number("spatial_rank")..axes).collect();
            format!("torch.mean({x}, dim={}, keepdim=True)", tuple(&spatial))
        }
        _ => return Ok(None),
    }))
}

fn reduction(site: &Site, name: &str) -> Result<String, Refusal> {
    let axes = site.list("axes");
    if axes.is_empty() {
        // PyTorch takes no axes for all of them.
        return Err(site.refuse("a reduction over no axes", "leave the node out"));
    }
    let keep = if site.number("keepdim") == 1 { ", keepdim=True" } else { "" };
    Ok(format!("torch.{name}({}, dim={}{keep})", site.parent(0), tuple(axes)))
}

/// Two by two, from the left.
fn nested(site: &Site, function: &str) -> String {
    let together = |one: String, next: &String| format!("{function}({one}, {next})");
    site.parents.iter().skip(1).fold(site.parent(0).to_owned(), together)
}

/// A maximum or minimum, which PyTorch spells otherwise with a number.
fn extreme(site: &Site, function: &str, bound: &str) -> String {
    let (first, second) = (site.parent(0), site.parent(1));
    if second.parse::<f64>().is_ok() {
        format!("torch.clamp({first}, {bound}={second})")
    } else {
        format!("torch.{function}({first}, {second})")
    }
}

/// PyTorch goes over to the identity above a threshold, by default 20, where in binary64 the difference shows.
fn softplus(site: &Site) -> String {
    match site.float {
        Float::Binary32 => format!("F.softplus({})", site.parent(0)),
        Float::Binary64 => format!("F.softplus({}, threshold=40.0)", site.parent(0)),
    }
}

fn selu(site: &Site) -> Result<String, Refusal> {
    let (alpha, gamma) = (site.literal("alpha")?, site.literal("gamma")?);
    if (alpha.as_str(), gamma.as_str()) == SELU {
        return Ok(format!("F.selu({})", site.parent(0)));
    }
    Err(site.refuse(format!("alpha {alpha} and gamma {gamma}"), "write it as an elu and a product"))
}

fn slices(site: &Site) -> String {
    let shape = site.source_shape();
    let axes = site.list("start").iter().zip(site.list("stop")).zip(site.list("step")).zip(shape);
    let axes = axes.map(|(((start, stop), step), extent)| match (start, stop, step) {
        (0, stop, 1) if stop == extent => ":".to_owned(),
        (start, stop, 1) => format!("{start}:{stop}"),
        (start, stop, step) => format!("{start}:{stop}:{step}"),
    });
    axes.collect::<Vec<_>>().join(", ")
}

fn gather(site: &Site) -> String {
    let (indices, shape) = (site.list("indices"), site.list("indices_shape"));
    let reshaped = if shape.len() == 1 { String::new() } else { format!(".reshape({})", tuple(shape)) };
    let lead = ":, ".repeat(site.number("axis"));
    format!("{}[{lead}torch.tensor({indices:?}, device={0}.device){reshaped}]", site.parent(0))
}

/// Before and after for each axis, the last one first.
fn pads(site: &Site) -> String {
    let pairs = site.list("padding").iter().zip(site.list("padding_after")).rev();
    tuple(&pairs.flat_map(|(before, after)| [*before, *after]).collect::<Vec<_>>())
}

fn upsample(site: &Site) -> Result<String, Refusal> {
    match site.list("scale") {
        [1, 1, spatial @ ..] if (1..=3).contains(&spatial.len()) => {
            Ok(format!("F.interpolate({}, scale_factor={})", site.parent(0), tuple(spatial)))
        }
        scale => Err(site.refuse(format!("scales {scale:?}"), "reshape to (batch, channel, 1 to 3 axes)")),
    }
}

fn max_pool(site: &Site) -> Result<String, Refusal> {
    let (rank, window, overhang) = (site.spatial_rank()?, site.pool()?, site.overhang(site.spatial_rank()?)?);
    let dilation = site.keyword("dilation", 1);
    Ok(format!("F.max_pool{rank}d({}, {window}{dilation}{overhang})", site.parent(0)))
}

fn avg_pool(site: &Site) -> Result<String, Refusal> {
    let (rank, window, _) = (site.spatial_rank()?, site.pool()?, site.even_padding()?);
    if site.list("dilation").iter().any(|dilation| *dilation != 1) {
        return Err(site.refuse("a dilated average", "write it as a convolution"));
    }
    let inside = if site.number("count_include_pad") == 1 { "" } else { ", count_include_pad=False" };
    Ok(format!("F.avg_pool{rank}d({}, {window}{inside})", site.parent(0)))
}
