//! Graphs with their numbers, section 1 of the specification.

use crate::json::Json;
use crate::number::{self, exact};
use crate::tensors::Tensor;
use certkern_fuzz::net::{Net, Node, Numbers};
use certkern_graph::Attribute;
use num_traits::One;
use std::sync::LazyLock;

/// The attributes of each operator in alphabetical order, and its payload fields.
type Operators = Vec<(&'static str, Vec<&'static str>, Vec<&'static str>)>;

static OPERATORS: LazyLock<Operators> = LazyLock::new(|| {
    let words = |text: &'static str| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>();
    let conv = "channel_axis dilation groups in_channels input_spatial kernel out_channels padding padding_after spatial_rank stride";
    let transposed = "channel_axis dilation groups in_channels input_spatial kernel out_channels output_padding padding padding_after spatial_rank stride";
    let pool = "dilation kernel padding padding_after spatial_rank stride";
    let table: Vec<(&'static str, &'static str, &'static str)> = vec![
        (
            "input add sub mul_elem div max_elem min_elem add_n max_n min_n detach relu abs neg sigmoid tanh softplus exp sin cos erf",
            "",
            "",
        ),
        ("sqrt log inv safe_log hard_swish gelu gelu_tanh silu mish sign floor matmul sum mse_loss", "", ""),
        ("const", "value_shape", "values"),
        ("rand_uniform bernoulli_mask", "seed", ""),
        ("pow", "", "exponent"),
        ("leaky_relu elu", "", "alpha"),
        ("prelu", "channel_axis", "slope"),
        ("selu", "", "alpha gamma"),
        ("clip", "", "low high"),
        ("hard_sigmoid", "", "alpha beta"),
        ("where", "", "mask"),
        ("linear", "in_dim out_dim", "weight bias"),
        ("conv", conv, "weight bias"),
        ("conv_transpose", transposed, "weight bias"),
        ("max_pool", pool, ""),
        ("avg_pool", "count_include_pad dilation kernel padding padding_after spatial_rank stride", ""),
        ("global_avg_pool", "spatial_rank", ""),
        ("batch_norm_eval", "channel_axis channels", "eps gamma beta mean var"),
        ("layernorm", "axis", "eps gamma beta"),
        ("softmax", "axis", ""),
        ("hard_masked_softmax", "axis", "mask"),
        ("reduce_sum reduce_mean reduce_max reduce_min", "axes keepdim", ""),
        ("flatten", "value_shape", ""),
        ("reshape", "in_shape out_shape", ""),
        ("squeeze unsqueeze", "axes", ""),
        ("permute", "perm", ""),
        ("transpose", "axis1 axis2", ""),
        ("concat", "axis", ""),
        ("broadcast_to", "from_shape to_shape", ""),
        ("expand", "to_shape", ""),
        ("slice", "start step stop", ""),
        ("split", "axis index sizes", ""),
        ("gather", "axis indices indices_shape", ""),
        ("pad", "padding padding_after", "value"),
        ("upsample", "scale", ""),
        (
            "multihead_attention",
            "batch_first bias dropout_zero embed_dim num_heads",
            "q_weight k_weight v_weight out_weight q_bias k_bias v_bias out_bias scale",
        ),
        ("tuple_getitem", "index", ""),
    ];
    let rows = table
        .into_iter()
        .flat_map(|(kinds, attributes, fields)| words(kinds).into_iter().map(move |kind| (kind, attributes, fields)));
    rows.map(|(kind, attributes, fields)| (kind, words(attributes), words(fields))).collect()
});

/// Members that every node may have.
const COMMON: [&str; 9] =
    ["id", "kind", "parents", "shape", "value_kind", "tuple_shapes", "debug_target", "onnx_op_type", "onnx_name"];

/// Reads a graph with its numbers in the nodes or in `payload`, of which every tensor is used.
pub(super) fn read(document: &Json, payload: &[Tensor]) -> Option<Net> {
    super::only(document, &["format", "input_id", "output_ids", "output_id", "nodes"])?;
    document.get("format")?.text().filter(|format| ["torchlean.ir.v1", "certkern.ir.v1"].contains(format))?;
    let outputs = match (document.get("output_ids"), document.get("output_id")) {
        (Some(list), None) => list.naturals()?,
        (None, Some(one)) => vec![one.natural()?],
        _ => return None,
    };
    let mut nodes: Vec<Node> = Vec::new();
    let mut used = 0;
    for json in document.get("nodes")?.list()? {
        let (node, taken) = node(json, &nodes, payload)?;
        used += taken;
        nodes.push(node);
    }
    let input = document.get("input_id")?.natural()?;
    let inputs = nodes.iter().filter(|node| node.kind == "input").count();
    let good = used == payload.len() && inputs == 1 && nodes.get(input)?.kind == "input";
    (good && !outputs.is_empty() && outputs.iter().all(|output| *output < nodes.len())).then_some(Net {
        nodes,
        input,
        outputs,
    })
}

/// A node, and the number of tensors of the payload that it uses.
fn node(json: &Json, before: &[Node], payload: &[Tensor]) -> Option<(Node, usize)> {
    let id = json.get("id")?.natural().filter(|id| *id == before.len())?;
    let kind = json.get("kind")?.text()?;
    let (kind, names, fields) = OPERATORS.iter().find(|(own, ..)| *own == kind)?;
    let known = |key: &str| COMMON.contains(&key) || names.contains(&key) || fields.contains(&key);
    json.members()?.iter().all(|(key, _)| known(key)).then_some(())?;
    let parents = json.get("parents")?.naturals()?;
    parents.iter().all(|parent| *parent < id).then_some(())?;
    let tuple = *kind == "multihead_attention";
    let shape =
        if tuple { json.get("tuple_shapes")?.list()?.first()?.naturals()? } else { json.get("shape")?.naturals()? };
    let own = json.get("value_kind").map_or(Some("tensor"), Json::text)?;
    (own == if tuple { "tuple" } else { "tensor" }).then_some(())?;
    let first: &[usize] = parents.first().map_or(&[], |parent| &before[*parent].shape);
    let mut attributes: Vec<(&'static str, Attribute)> = Vec::new();
    for name in names {
        if let Some(value) = json.get(name) {
            attributes.push((name, attribute(value)?));
        }
    }
    let mut node = Node { kind, parents, shape, attributes, payload: Vec::new() };
    for name in names {
        if node.attribute(name).is_none() {
            let value = default(kind, name, &node, first)?;
            node.attributes.push((name, value));
        }
    }
    let mut taken = 0;
    for field in fields {
        let shape = field_shape(kind, field, &node, first)?;
        let tensor = payload.iter().find(|tensor| tensor.name == format!("{id}.{field}"));
        let numbers = match (json.get(field), tensor) {
            (Some(value), None) => inside(value, shape)?,
            (None, Some(tensor)) => {
                taken += 1;
                stored(tensor).filter(|numbers| numbers.shape == shape)?
            }
            _ => return None,
        };
        node.payload.push((field, numbers));
    }
    Some((node, taken))
}

fn attribute(value: &Json) -> Option<Attribute> {
    match value {
        Json::Bool(flag) => Some(Attribute::Number(usize::from(*flag))),
        Json::List(_) => value.naturals().map(Attribute::List),
        _ => value.natural().map(Attribute::Number),
    }
}

/// What an attribute means that is not there.
fn default(kind: &str, name: &str, node: &Node, first: &[usize]) -> Option<Attribute> {
    let list = |name| node.list(name).map(<[usize]>::to_vec);
    let value = match (kind, name) {
        ("const", "value_shape") | (_, "out_shape") => Attribute::List(node.shape.clone()),
        ("flatten", "value_shape") | (_, "in_shape") => Attribute::List(first.to_vec()),
        (_, "in_dim") => Attribute::Number(*first.last()?),
        (_, "out_dim") => Attribute::Number(*node.shape.last()?),
        (_, "channels") => Attribute::Number(*first.get(node.number("channel_axis")?)?),
        ("pad", "padding_after") => return None,
        (_, "padding_after") => Attribute::List(list("padding")?),
        ("conv" | "conv_transpose", "dilation") => return None,
        (_, "dilation") => Attribute::List(vec![1; node.number("spatial_rank")?]),
        (_, "step") => Attribute::List(vec![1; first.len()]),
        (_, "output_padding") => Attribute::List(vec![0; node.number("spatial_rank")?]),
        (_, "count_include_pad") => Attribute::Number(1),
        (_, "indices_shape") => Attribute::List(vec![list("indices")?.len()]),
        (_, "input_spatial") => Attribute::List(first.get(node.number("channel_axis")? + 1..)?.to_vec()),
        _ => return None,
    };
    Some(value)
}

/// The shape of a payload field.
fn field_shape(kind: &str, field: &str, node: &Node, first: &[usize]) -> Option<Vec<usize>> {
    let number = |name| node.number(name);
    Some(match (kind, field) {
        ("const", _) => node.list("value_shape")?.to_vec(),
        ("prelu", _) => vec![*first.get(number("channel_axis")?)?],
        (_, "mask") => node.shape.clone(),
        ("linear", "weight") => vec![number("out_dim")?, number("in_dim")?],
        ("linear", _) => vec![number("out_dim")?],
        ("conv", "weight") => [&[number("out_channels")?, number("in_channels")?], node.list("kernel")?].concat(),
        ("conv_transpose", "weight") => {
            [&[number("in_channels")?, number("out_channels")?], node.list("kernel")?].concat()
        }
        ("conv" | "conv_transpose", _) => vec![number("out_channels")?],
        ("batch_norm_eval", "gamma" | "beta" | "mean" | "var") => vec![number("channels")?],
        ("layernorm", "gamma" | "beta") => first.get(number("axis")?..)?.to_vec(),
        ("multihead_attention", field) if field.ends_with("weight") => vec![number("embed_dim")?; 2],
        ("multihead_attention", field) if field.ends_with("bias") => vec![number("embed_dim")?],
        _ => Vec::new(),
    })
}

/// Numbers in the node: nested like the shape, or one flat list.
fn inside(value: &Json, shape: Vec<usize>) -> Option<Numbers> {
    let mut items = Vec::new();
    if value.list().is_some_and(|list| list.iter().all(|item| item.list().is_none())) || shape.is_empty() {
        // One number may stand in a list.
        items = value.list().map_or_else(|| vec![value], |list| list.iter().collect());
        (value.list().is_some() || shape.is_empty()).then_some(())?;
    } else {
        flattened(value, &shape, &mut items)?;
    }
    (items.len() == shape.iter().product::<usize>()).then_some(())?;
    let texts = items.iter().filter(|item| matches!(item, Json::Text(_))).count();
    if texts == items.len() {
        let exact: Vec<_> = items.into_iter().map(exact).collect::<Option<_>>()?;
        return Some(Numbers {
            shape,
            values: exact.iter().map(number::near).collect(),
            single: false,
            exact: Some(exact),
        });
    }
    let binary64 = |item: &Json| match item {
        Json::Number(text) => text.parse::<f64>().ok().filter(|value| value.is_finite()),
        _ => None,
    };
    let values = items.into_iter().map(binary64).collect::<Option<_>>()?;
    Some(Numbers { shape, values, single: false, exact: None })
}

fn flattened<'a>(value: &'a Json, shape: &[usize], items: &mut Vec<&'a Json>) -> Option<()> {
    let Some((extent, rest)) = shape.split_first() else {
        items.push(value);
        return value.list().is_none().then_some(());
    };
    let list = value.list().filter(|list| list.len() == *extent)?;
    list.iter().try_for_each(|item| flattened(item, rest, items).ok_or(())).ok()
}

fn stored(tensor: &Tensor) -> Option<Numbers> {
    let single = tensor.dtype == "F32";
    (single || tensor.dtype == "F64").then_some(())?;
    let values: Vec<f64> = (0..tensor.elements())
        .map(|place| tensor.number(place).filter(|value| value.is_finite()))
        .collect::<Option<_>>()?;
    Some(Numbers { shape: tensor.shape.clone(), values, single, exact: None })
}

/// Whether two graphs mean the same, apart from how their numbers are stored: operators, edges, shapes, attributes and numbers are equal.
pub(crate) fn same_meaning(a: &Net, b: &Net) -> bool {
    let numbers = |numbers: &Numbers| -> Vec<number::Rational> {
        let values = numbers
            .values
            .iter()
            .map(|value| number::Rational::from_float(*value).unwrap_or_else(number::Rational::one));
        numbers.exact.clone().unwrap_or_else(|| values.collect())
    };
    let node = |a: &Node, b: &Node| {
        let fields = a.payload.len() == b.payload.len()
            && a.payload
                .iter()
                .zip(&b.payload)
                .all(|((n, a), (m, b))| n == m && a.shape == b.shape && numbers(a) == numbers(b));
        a.kind == b.kind && a.parents == b.parents && a.shape == b.shape && a.attributes == b.attributes && fields
    };
    a.input == b.input
        && a.outputs == b.outputs
        && a.nodes.len() == b.nodes.len()
        && a.nodes.iter().zip(&b.nodes).all(|(a, b)| node(a, b))
}
