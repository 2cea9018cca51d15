//! Graphs grown by chance, each node with the shape that its meaning gives it.

use crate::meaning::{self, Array, Number};
use crate::net::{Net, Node, Numbers};
use crate::source::Choices;
use certkern_core::num::Rational;
use certkern_graph::Attribute;

/// Elements of a value, and their size, at most.
const ELEMENTS: usize = 64;
const SIZE: f64 = 1e6;

/// A graph under way, and its values where the input is `values[0]`.
pub(crate) struct World {
    pub(crate) net: Net,
    pub(crate) values: Vec<Array<f64>>,
}

/// Functions of one parent without parameters.
pub(crate) const PLAIN: [&str; 19] = [
    "relu",
    "abs",
    "neg",
    "detach",
    "sigmoid",
    "tanh",
    "softplus",
    "exp",
    "sin",
    "cos",
    "erf",
    "sqrt",
    "log",
    "inv",
    "hard_swish",
    "gelu",
    "gelu_tanh",
    "silu",
    "mish",
];
/// Functions of one parent with parameters.
const PARAMETRIC: [&str; 7] = ["pow", "leaky_relu", "elu", "selu", "clip", "hard_sigmoid", "prelu"];
const PAIRS: [&str; 7] = ["add", "sub", "mul_elem", "div", "max_elem", "min_elem", "mse_loss"];
const SEVERAL: [&str; 3] = ["add_n", "max_n", "min_n"];
const MOVES: [&str; 15] = [
    "flatten",
    "reshape",
    "squeeze",
    "unsqueeze",
    "permute",
    "transpose",
    "concat",
    "broadcast_to",
    "expand",
    "slice",
    "split",
    "gather",
    "pad",
    "upsample",
    "const",
];
const REDUCTIONS: [&str; 5] = ["sum", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min"];
const LAYERS: [&str; 13] = [
    "linear",
    "matmul",
    "conv",
    "conv_transpose",
    "max_pool",
    "avg_pool",
    "global_avg_pool",
    "batch_norm_eval",
    "layernorm",
    "softmax",
    "hard_masked_softmax",
    "multihead_attention",
    "safe_log",
];

fn number(name: &'static str, value: usize) -> (&'static str, Attribute) {
    (name, Attribute::Number(value))
}

fn list(name: &'static str, value: Vec<usize>) -> (&'static str, Attribute) {
    (name, Attribute::List(value))
}

fn scalar(value: f64) -> Numbers {
    Numbers { shape: vec![], values: vec![value], single: false, exact: None }
}

/// Any numbers of this shape, of one type.
fn some(u: &mut Choices<'_>, shape: &[usize]) -> Numbers {
    let count = shape.iter().product();
    if u.one_in(6) {
        let exact: Vec<Rational> = (0..count).map(|_| u.ratio()).collect();
        let values = exact.iter().map(f64::ratio).collect();
        return Numbers { shape: shape.to_vec(), values, single: false, exact: Some(exact) };
    }
    let mut values: Vec<f64> = (0..count).map(|_| u.number()).collect();
    let single = u.below(2) == 0 && values.iter().all(|value| (*value as f32).is_finite());
    if single {
        values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
    }
    Numbers { shape: shape.to_vec(), values, single, exact: None }
}

fn mask(u: &mut Choices<'_>, shape: &[usize]) -> Numbers {
    let values = (0..shape.iter().product()).map(|_| u.below(2) as f64).collect();
    Numbers { shape: shape.to_vec(), values, single: false, exact: None }
}

impl Node {
    fn new(kind: &'static str, parents: Vec<usize>) -> Self {
        Self { kind, parents, shape: vec![], attributes: vec![], payload: vec![] }
    }

    fn with(mut self, attributes: Vec<(&'static str, Attribute)>, payload: Vec<(&'static str, Numbers)>) -> Self {
        self.attributes.extend(attributes);
        self.payload.extend(payload);
        self
    }
}

impl World {
    /// A graph of its input alone.
    pub(crate) fn new(input: Array<f64>) -> Self {
        let node = Node { shape: input.shape.clone(), ..Node::new("input", vec![]) };
        Self { net: Net { nodes: vec![node], input: 0, outputs: vec![0] }, values: vec![input] }
    }

    pub(crate) fn last(&self) -> usize {
        self.values.len() - 1
    }

    pub(crate) fn shape(&self, id: usize) -> &[usize] {
        &self.values[id].shape
    }

    /// Adds a node with the shape that its meaning has; `None` if it has none, or one that is too large.
    pub(crate) fn push(&mut self, mut node: Node) -> Option<usize> {
        let parents: Vec<&Array<f64>> = node.parents.iter().map(|id| &self.values[*id]).collect();
        let value = meaning::of(&node, &parents)?;
        let small = value.values.len() <= ELEMENTS && value.values.iter().all(|x| x.abs() < SIZE);
        if !small || value.shape.contains(&0) {
            return None;
        }
        node.shape = value.shape.clone();
        self.net.nodes.push(node);
        self.values.push(value);
        Some(self.last())
    }

    /// A value, of the later ones more often.
    fn any(&self, u: &mut Choices<'_>) -> usize {
        let count = self.values.len();
        let id = if u.below(3) == 0 { u.below(count) } else { count - 1 - u.below(count.min(2)) };
        // Only the one node that takes tuples apart may have one for a parent.
        if self.net.nodes[id].kind == "multihead_attention" { id + 1 } else { id }
    }

    fn is_tensor(&self, id: usize) -> bool {
        self.net.nodes[id].kind != "multihead_attention"
    }

    /// A value of the same shape, or the same.
    fn like(&self, u: &mut Choices<'_>, id: usize) -> usize {
        let like: Vec<usize> = (0..self.values.len())
            .filter(|other| self.shape(*other) == self.shape(id) && self.is_tensor(*other))
            .collect();
        u.pick(&like)
    }

    /// Numbers that do not depend on the input.
    fn constant(&mut self, u: &mut Choices<'_>, shape: &[usize]) -> Option<usize> {
        let node = Node::new("const", vec![]);
        let values = some(u, shape);
        self.push(node.with(vec![list("value_shape", shape.to_vec())], vec![("values", values)]))
    }

    /// The elements of a value in `rank` axes.
    fn ranked(&mut self, u: &mut Choices<'_>, id: usize, rank: usize) -> Option<usize> {
        if self.shape(id).len() == rank {
            return Some(id);
        }
        let mut left = self.values[id].values.len();
        let mut shape = Vec::new();
        for _ in 1..rank {
            let divisors: Vec<usize> = (1..=left).filter(|d| left.is_multiple_of(*d)).collect();
            let extent = u.pick(&divisors);
            shape.push(extent);
            left /= extent;
        }
        shape.push(left);
        shape.reverse();
        let attributes = vec![list("in_shape", self.shape(id).to_vec()), list("out_shape", shape)];
        self.push(Node::new("reshape", vec![id]).with(attributes, vec![]))
    }

    /// A node of any operator that has a meaning here; `None` if what was chosen does not fit.
    pub(crate) fn operator(&mut self, u: &mut Choices<'_>) -> Option<usize> {
        let kind = match u.below(7) {
            0 => u.pick(&PLAIN),
            1 => u.pick(&PARAMETRIC),
            2 => u.pick(&PAIRS),
            3 => u.pick(&[
                "add_n",
                "max_n",
                "min_n",
                "where",
                "sum",
                "reduce_sum",
                "reduce_mean",
                "reduce_max",
                "reduce_min",
            ]),
            4 => u.pick(&MOVES),
            _ => u.pick(&LAYERS),
        };
        self.of_kind(u, kind)
    }

    /// A node of this kind.
    pub(crate) fn of_kind(&mut self, u: &mut Choices<'_>, kind: &'static str) -> Option<usize> {
        let parent = self.any(u);
        if PLAIN.contains(&kind) {
            return self.push(Node::new(kind, vec![parent]));
        }
        if PAIRS.contains(&kind) || SEVERAL.contains(&kind) {
            let more = if SEVERAL.contains(&kind) { u.below(3) } else { 1 };
            let parents = std::iter::once(parent).chain((0..more).map(|_| self.like(u, parent))).collect();
            return self.push(Node::new(kind, parents));
        }
        if PARAMETRIC.contains(&kind) {
            let node = self.parametric(u, kind, parent)?;
            return self.push(node);
        }
        if REDUCTIONS.contains(&kind) {
            let node = Node::new(kind, vec![parent]);
            if kind == "sum" {
                return self.push(node);
            }
            let axes = (0..self.shape(parent).len()).filter(|_| u.below(2) == 0).collect();
            return self.push(node.with(vec![list("axes", axes), number("keepdim", u.below(2))], vec![]));
        }
        if MOVES.contains(&kind) || kind == "where" {
            return self.moved(u, kind, parent);
        }
        self.layer(u, kind, parent)
    }

    fn parametric(&self, u: &mut Choices<'_>, kind: &'static str, parent: usize) -> Option<Node> {
        let node = Node::new(kind, vec![parent]);
        let positive = |u: &mut Choices<'_>| u.between(1, 20) as f64 / 8.0;
        let (mut attributes, payload) = (
            vec![],
            match kind {
                "pow" => vec![(
                    "exponent",
                    scalar(u.pick(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -1.0, -2.0, -3.0, 0.5, 1.5, -0.5])),
                )],
                "leaky_relu" | "elu" => vec![("alpha", scalar(u.number()))],
                "selu" => vec![("alpha", scalar(u.number())), ("gamma", scalar(positive(u)))],
                "clip" => {
                    let low = u.number();
                    vec![("low", scalar(low)), ("high", scalar(low + positive(u)))]
                }
                "hard_sigmoid" => vec![("alpha", scalar(positive(u))), ("beta", scalar(u.number()))],
                _ => {
                    let shape = self.shape(parent);
                    let axis = u.below(shape.len());
                    vec![("slope", some(u, &[*shape.get(axis)?]))]
                }
            },
        );
        if kind == "prelu" {
            let slopes = payload[0].1.shape[0];
            let axis = self.shape(parent).iter().position(|extent| *extent == slopes)?;
            attributes.push(number("channel_axis", axis));
        }
        Some(node.with(attributes, payload))
    }

    fn moved(&mut self, u: &mut Choices<'_>, kind: &'static str, parent: usize) -> Option<usize> {
        let shape = self.shape(parent).to_vec();
        let (rank, count) = (shape.len(), self.values[parent].values.len());
        let axis = u.below(rank);
        let mut node = Node::new(kind, vec![parent]);
        let mut payload = vec![];
        let attributes = match kind {
            "const" => {
                let shape: Vec<usize> = (0..u.below(3)).map(|_| 1 + u.below(3)).collect();
                return self.constant(u, &shape);
            }
            "where" => {
                node.parents.push(self.like(u, parent));
                payload.push(("mask", mask(u, &shape)));
                vec![]
            }
            "flatten" => vec![list("value_shape", shape)],
            "reshape" => {
                let rank = 1 + u.below(4);
                return self.ranked(u, parent, rank).filter(|id| *id != parent);
            }
            "squeeze" => vec![list("axes", (0..rank).filter(|axis| shape[*axis] == 1 && u.below(2) == 0).collect())],
            "unsqueeze" => vec![list("axes", (0..=rank).filter(|_| u.below(3) == 0).take(1).collect())],
            "permute" => {
                let mut rest: Vec<usize> = (0..rank).collect();
                vec![list("perm", (0..rank).map(|_| rest.remove(u.below(rest.len()))).collect())]
            }
            "transpose" if rank > 0 => vec![number("axis1", axis), number("axis2", u.below(rank))],
            "concat" => {
                for _ in 0..1 + u.below(2) {
                    node.parents.push(self.like(u, parent));
                }
                vec![number("axis", axis)]
            }
            "broadcast_to" => {
                let to = self.wider(u, &shape);
                vec![list("from_shape", shape), list("to_shape", to)]
            }
            "expand" => vec![list("to_shape", self.wider(u, &shape))],
            "slice" => {
                let start: Vec<usize> = shape.iter().map(|extent| u.below(*extent)).collect();
                let stop =
                    shape.iter().zip(&start).map(|(extent, start)| start + 1 + u.below(extent - start)).collect();
                let step = shape.iter().map(|_| 1 + u.below(3)).collect();
                vec![list("start", start), list("stop", stop), list("step", step)]
            }
            "split" if rank > 0 => {
                let first = 1 + u.below(shape[axis]);
                let sizes = if first == shape[axis] { vec![first] } else { vec![first, shape[axis] - first] };
                let index = u.below(sizes.len());
                vec![number("axis", axis), list("sizes", sizes), number("index", index)]
            }
            "gather" if rank > 0 => {
                let to: Vec<usize> = (0..u.below(3)).map(|_| 1 + u.below(2)).collect();
                let indices = (0..to.iter().product()).map(|_| u.below(shape[axis])).collect();
                vec![number("axis", axis), list("indices", indices), list("indices_shape", to)]
            }
            "pad" => {
                payload.push(("value", scalar(u.number())));
                let side = |u: &mut Choices<'_>| shape.iter().map(|_| u.below(3)).collect();
                vec![list("padding", side(u)), list("padding_after", side(u))]
            }
            "upsample" if count < 16 => vec![list("scale", shape.iter().map(|_| 1 + u.below(2)).collect())],
            _ => return None,
        };
        self.push(node.with(attributes, payload))
    }

    /// A shape that this one broadcasts to.
    fn wider(&self, u: &mut Choices<'_>, shape: &[usize]) -> Vec<usize> {
        let more: Vec<usize> = (0..u.below(2)).map(|_| 1 + u.below(2)).collect();
        let own = shape.iter().map(|extent| if *extent == 1 { 1 + u.below(3) } else { *extent });
        more.into_iter().chain(own).collect()
    }

    fn layer(&mut self, u: &mut Choices<'_>, kind: &'static str, parent: usize) -> Option<usize> {
        let node = |parent| Node::new(kind, vec![parent]);
        match kind {
            "linear" => {
                let rank = 1 + u.below(2);
                let parent = if self.shape(parent).is_empty() { self.ranked(u, parent, rank)? } else { parent };
                let (inner, outer) = (*self.shape(parent).last()?, 1 + u.below(3));
                let payload = vec![("weight", some(u, &[outer, inner])), ("bias", some(u, &[outer]))];
                self.push(node(parent).with(vec![number("in_dim", inner), number("out_dim", outer)], payload))
            }
            "matmul" => {
                let other = if u.below(3) == 0 {
                    self.any(u)
                } else {
                    let (inner, columns) = (*self.shape(parent).last()?, 1 + u.below(3));
                    let shape = u.pick(&[vec![inner, columns], vec![inner], vec![1, inner, columns]]);
                    self.constant(u, &shape)?
                };
                let parents = if u.below(4) == 0 { vec![other, parent] } else { vec![parent, other] };
                self.push(Node::new(kind, parents))
            }
            "conv" | "conv_transpose" => self.convolution(u, kind, parent),
            "max_pool" | "avg_pool" | "global_avg_pool" => {
                let rank = 1 + u.below(2);
                let leading = u.below(2);
                let parent = self.ranked(u, parent, rank + leading)?;
                let mut attributes = vec![number("spatial_rank", rank)];
                if kind != "global_avg_pool" {
                    let kernel: Vec<usize> = (0..rank).map(|_| 1 + u.below(3)).collect();
                    let mut each =
                        |low: usize, count: usize| (0..rank).map(|_| low + u.below(count)).collect::<Vec<_>>();
                    attributes.extend([
                        list("stride", each(1, 2)),
                        list("padding", each(0, 2)),
                        list("padding_after", each(0, 2)),
                    ]);
                    attributes.extend([list("dilation", each(1, 2)), list("kernel", kernel)]);
                }
                if kind == "avg_pool" {
                    attributes.push(number("count_include_pad", u.below(2)));
                }
                self.push(node(parent).with(attributes, vec![]))
            }
            "batch_norm_eval" => {
                let axis = u.below(self.shape(parent).len());
                let channels = *self.shape(parent).get(axis)?;
                let mut field = |name| (name, some(u, &[channels]));
                let mut payload = vec![field("gamma"), field("beta"), field("mean"), field("var")];
                payload[3].1.values.iter_mut().for_each(|value| *value = value.abs());
                payload.push(("eps", scalar(u.pick(&[1e-5, 0.125, 1.0]))));
                self.push(node(parent).with(vec![number("channel_axis", axis), number("channels", channels)], payload))
            }
            "layernorm" => {
                let axis = u.below(self.shape(parent).len());
                let own = self.shape(parent).get(axis..).filter(|own| !own.is_empty())?.to_vec();
                let eps = scalar(u.pick(&[1e-5, 0.125, 1.0]));
                let payload = vec![("eps", eps), ("gamma", some(u, &own)), ("beta", some(u, &own))];
                self.push(node(parent).with(vec![number("axis", axis)], payload))
            }
            "softmax" | "hard_masked_softmax" => {
                let shape = self.shape(parent).to_vec();
                let axis = u.below(shape.len());
                let payload = if kind == "softmax" { vec![] } else { vec![("mask", mask(u, &shape))] };
                self.push(node(parent).with(vec![number("axis", axis)], payload))
            }
            "multihead_attention" => self.attention(u, parent),
            _ => {
                let epsilon = self.constant(u, &[])?;
                self.push(Node::new(kind, vec![parent, epsilon]))
            }
        }
    }

    fn convolution(&mut self, u: &mut Choices<'_>, kind: &'static str, parent: usize) -> Option<usize> {
        let rank = 1 + u.below(2);
        let batch = u.below(2);
        let parent = self.ranked(u, parent, rank + 1 + batch)?;
        let shape = self.shape(parent).to_vec();
        let axis = shape.len() - rank - 1;
        let (ins, outs) = (shape[axis], 1 + u.below(3));
        let groups = if ins == outs && u.below(3) == 0 { ins } else { 1 };
        let kernel: Vec<usize> = (0..rank).map(|_| 1 + u.below(3)).collect();
        let transposed = kind == "conv_transpose";
        let channels = if transposed { [ins, outs] } else { [outs, ins] };
        let mut weight = some(u, &[&channels[..], &kernel].concat());
        if groups > 1 {
            let places: usize = kernel.iter().product();
            for (place, value) in weight.values.iter_mut().enumerate() {
                let pair = place / places;
                if pair / ins != pair % ins {
                    *value = 0.0;
                }
            }
        }
        let mut each = |low: usize, count: usize| (0..rank).map(|_| low + u.below(count)).collect::<Vec<_>>();
        let mut attributes = vec![
            list("stride", each(1, 2)),
            list("padding", each(0, 3)),
            list("padding_after", each(0, 3)),
            list("dilation", each(1, 2)),
            list("input_spatial", shape[axis + 1..].to_vec()),
        ];
        if transposed {
            attributes.push(list("output_padding", each(0, 2)));
        }
        attributes.extend([number("spatial_rank", rank), list("kernel", kernel), number("groups", groups)]);
        attributes.extend([number("channel_axis", axis), number("in_channels", ins), number("out_channels", outs)]);
        let bias = some(u, &[outs]);
        self.push(Node::new(kind, vec![parent]).with(attributes, vec![("weight", weight), ("bias", bias)]))
    }

    fn attention(&mut self, u: &mut Choices<'_>, parent: usize) -> Option<usize> {
        let parent = self.ranked(u, parent, 3)?;
        let embed = self.shape(parent)[2];
        let divisors: Vec<usize> = (1..=embed).filter(|d| embed.is_multiple_of(*d)).collect();
        let flags = ["batch_first", "dropout_zero", "bias"].map(|name| number(name, 1));
        let mut attributes = vec![number("embed_dim", embed), number("num_heads", u.pick(&divisors))];
        attributes.extend(flags);
        let mut payload = vec![("scale", scalar(u.number()))];
        for name in ["q_weight", "k_weight", "v_weight", "out_weight"] {
            payload.push((name, some(u, &[embed, embed])));
        }
        for name in ["q_bias", "k_bias", "v_bias", "out_bias"] {
            payload.push((name, some(u, &[embed])));
        }
        // Now and then queries come from one node, and keys and values from others.
        let query = self.shape(parent).to_vec();
        let ids = (0..self.values.len()).filter(|id| self.is_tensor(*id));
        let long = |id: &usize| matches!(self.shape(*id), [batch, _, width] if [*batch, *width] == [query[0], embed]);
        let keys: Vec<usize> = ids.filter(long).collect();
        let key = if u.one_in(2) { u.pick(&keys) } else { parent };
        let value = if u.one_in(2) { self.like(u, key) } else { key };
        let tuple = self.push(Node::new("multihead_attention", vec![parent, key, value]).with(attributes, payload))?;
        self.push(Node::new("tuple_getitem", vec![tuple]).with(vec![number("index", 0)], vec![]))
    }
}
