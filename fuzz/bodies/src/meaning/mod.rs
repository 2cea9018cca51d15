//! What graphs mean, by section 1 of `schemas/SPEC.md` and nothing else: each operator with multi-indices, one element after the other.

mod array;
mod elementwise;
mod number;
mod windows;

pub use array::Array;
pub use number::Number;

use crate::net::{Net, Node, Numbers};

/// The value of every node where the input is `x`; `None` where it cannot be told.
pub fn values<N: Number>(net: &Net, x: &[N]) -> Option<Vec<Array<N>>> {
    let mut values = Vec::with_capacity(net.nodes.len());
    for (id, node) in net.nodes.iter().enumerate() {
        let value = if id == net.input {
            Array { shape: node.shape.clone(), values: x.to_vec() }
        } else {
            let parents: Vec<&Array<N>> =
                node.parents.iter().map(|parent| values.get(*parent)).collect::<Option<_>>()?;
            of(node, &parents)?
        };
        values.push(value);
    }
    Some(values)
}

/// The outputs, one after the other.
pub fn outputs<N: Number>(net: &Net, values: &[Array<N>]) -> Vec<N> {
    net.outputs.iter().flat_map(|id| values[*id].values.clone()).collect()
}

/// The value of a node, shape included; `None` where it has none, or none that can be told.
pub fn of<N: Number>(node: &Node, parents: &[&Array<N>]) -> Option<Array<N>> {
    let all = |fold: &dyn Fn(N, N) -> N| {
        let (first, rest) = parents.split_first()?;
        rest.iter().try_fold((*first).clone(), |sum, next| sum.zip(next, |a, b| Some(fold(a.clone(), b.clone()))))
    };
    let first = parents.first().copied();
    match node.kind {
        "const" => Some(numbers(node.field("values")?)),
        "add" | "add_n" => all(&|a, b| a.plus(&b)),
        "sub" => all(&|a, b| a.minus(&b)),
        "mul_elem" => all(&|a, b| a.times(&b)),
        "max_elem" | "max_n" => all(&N::greater),
        "min_elem" | "min_n" => all(&N::lesser),
        "div" => first?.zip(parents.get(1)?, N::over),
        "where" => {
            let (mask, other) = (numbers::<N>(node.field("mask")?), parents.get(1)?);
            Array::from_fn(&first?.shape, |at| {
                Some(if *mask.at(at) == N::one() { first?.at(at) } else { other.at(at) }.clone())
            })
        }
        "mse_loss" => {
            let squares = first?.zip(parents.get(1)?, |a, b| Some(a.minus(b).times(&a.minus(b))))?;
            Some(Array { shape: vec![], values: vec![mean(&squares.values)?] })
        }
        "safe_log" => {
            let epsilon = parents.get(1)?.values.first()?;
            first?.map(|x| elementwise::softplus(x)?.plus(epsilon).apply("log"))
        }
        "prelu" => {
            let (axis, slope) = (node.number("channel_axis")?, numbers::<N>(node.field("slope")?));
            Array::from_fn(&first?.shape, |at| Some(elementwise::leaky(first?.at(at), slope.at(&at[axis..=axis]))))
        }
        "linear" => linear(first?, &numbers(node.field("weight")?), &numbers(node.field("bias")?)),
        "matmul" => first?.matmul(parents.get(1)?),
        "conv" => windows::convolution(node, first?),
        "conv_transpose" => windows::transposed(node, first?),
        "max_pool" | "avg_pool" => windows::pool(node, first?),
        "global_avg_pool" => {
            let rank = first?.shape.len();
            first?.reduce(&(rank.checked_sub(node.number("spatial_rank")?)?..rank).collect::<Vec<_>>(), true, mean)
        }
        "batch_norm_eval" => batch_norm(node, first?),
        "layernorm" => layer_norm(node, first?),
        "softmax" => softmax(first?, node.number("axis")?, None),
        "hard_masked_softmax" => softmax(first?, node.number("axis")?, Some(&numbers(node.field("mask")?))),
        "multihead_attention" => attention(node, [first?, parents.get(1)?, parents.get(2)?]),
        "sum" => Some(Array { shape: vec![], values: vec![sum(&first?.values)] }),
        "reduce_sum" | "reduce_mean" | "reduce_max" | "reduce_min" => {
            let fold = |values: &[N]| match node.kind {
                "reduce_sum" => Some(sum(values)),
                "reduce_mean" => mean(values),
                "reduce_max" => values.iter().cloned().reduce(N::greater),
                _ => values.iter().cloned().reduce(N::lesser),
            };
            first?.reduce(node.list("axes")?, node.number("keepdim")? == 1, fold)
        }
        "concat" | "slice" | "split" | "gather" | "pad" | "upsample" | "permute" | "transpose" | "broadcast_to"
        | "expand" | "flatten" | "reshape" | "squeeze" | "unsqueeze" | "detach" | "tuple_getitem" => {
            array::moved(node, parents)
        }
        _ => first?.map(|x| elementwise::value(node, x)),
    }
}

/// Numbers as an array.
pub fn numbers<N: Number>(numbers: &Numbers) -> Array<N> {
    let values = match &numbers.exact {
        Some(exact) => exact.iter().map(N::ratio).collect(),
        None => numbers.values.iter().map(|value| N::of(*value)).collect(),
    };
    Array { shape: numbers.shape.clone(), values }
}

/// The single number of a field.
fn parameter<N: Number>(node: &Node, name: &str) -> Option<N> {
    numbers(node.field(name)?).values.first().cloned()
}

pub(crate) fn sum<N: Number>(values: &[N]) -> N {
    values.iter().fold(N::zero(), |sum, value| sum.plus(value))
}

fn mean<N: Number>(values: &[N]) -> Option<N> {
    sum(values).over(&N::natural(values.len()))
}

/// `W x + b` on the last axis.
fn linear<N: Number>(x: &Array<N>, weight: &Array<N>, bias: &Array<N>) -> Option<Array<N>> {
    let (inner, before) = x.shape.split_last()?;
    if weight.shape.get(1) != Some(inner) {
        return None;
    }
    Array::from_fn(&[before, &bias.shape].concat(), |at| {
        let (row, before) = at.split_last()?;
        let terms = (0..*inner).map(|j| weight.at(&[*row, j]).times(x.at(&[before, &[j]].concat())));
        Some(terms.fold(bias.at(&[*row]).clone(), |sum, term| sum.plus(&term)))
    })
}

fn batch_norm<N: Number>(node: &Node, x: &Array<N>) -> Option<Array<N>> {
    let axis = node.number("channel_axis")?;
    let field = |name| node.field(name).map(numbers::<N>);
    let [gamma, beta, mean, var] = [field("gamma")?, field("beta")?, field("mean")?, field("var")?];
    let eps = parameter(node, "eps")?;
    Array::from_fn(&x.shape, |at| {
        let channel = &at[axis..=axis];
        let root = var.at(channel).plus(&eps).apply("sqrt")?;
        let scaled = gamma.at(channel).times(&x.at(at).minus(mean.at(channel))).over(&root)?;
        Some(scaled.plus(beta.at(channel)))
    })
}

fn layer_norm<N: Number>(node: &Node, x: &Array<N>) -> Option<Array<N>> {
    let (axis, eps) = (node.number("axis")?, parameter(node, "eps")?);
    let (gamma, beta) = (numbers::<N>(node.field("gamma")?), numbers::<N>(node.field("beta")?));
    let axes: Vec<usize> = (axis..x.shape.len()).collect();
    let centre = x.reduce(&axes, true, mean)?;
    let one = |at: &[usize]| -> Vec<usize> {
        at.iter().enumerate().map(|(own, i)| if own < axis { *i } else { 0 }).collect()
    };
    let square = |at: &[usize]| {
        let apart = x.at(at).minus(centre.at(&one(at)));
        Some(apart.times(&apart))
    };
    let variance = Array::from_fn(&x.shape, square)?.reduce(&axes, true, mean)?;
    Array::from_fn(&x.shape, |at| {
        let root = variance.at(&one(at)).plus(&eps).apply("sqrt")?;
        let scaled = gamma.at(&at[axis..]).times(&x.at(at).minus(centre.at(&one(at)))).over(&root)?;
        Some(scaled.plus(beta.at(&at[axis..])))
    })
}

/// `e^x / Σ e^x` along an axis, over what the mask leaves.
fn softmax<N: Number>(x: &Array<N>, axis: usize, mask: Option<&Array<N>>) -> Option<Array<N>> {
    if axis >= x.shape.len() {
        return None;
    }
    let open = |at: &[usize]| mask.is_none_or(|mask| *mask.at(at) == N::one());
    let power = |at: &[usize]| if open(at) { x.at(at).apply("exp") } else { Some(N::zero()) };
    let powers = Array::from_fn(&x.shape, power)?;
    let sums = powers.reduce(&[axis], true, |values| Some(sum(values)))?;
    Array::from_fn(&x.shape, |at| {
        let mut whole = at.to_vec();
        whole[axis] = 0;
        let sum = sums.at(&whole);
        if open(at) { powers.at(at).over(sum) } else { Some(N::zero()) }
    })
}

/// Self-attention: `softmax(scale·q kᵀ) v` for each head, then the output projection.
/// Of queries, keys and values.
fn attention<N: Number>(node: &Node, [asked, keys, values]: [&Array<N>; 3]) -> Option<Array<N>> {
    let field = |name| node.field(name).map(numbers::<N>);
    let project = |x: &Array<N>, weight, bias| linear(x, &field(weight)?, &field(bias)?);
    let q = project(asked, "q_weight", "q_bias")?;
    let (k, v) = (project(keys, "k_weight", "k_bias")?, project(values, "v_weight", "v_bias")?);
    let (heads, scale) = (node.number("num_heads")?, parameter::<N>(node, "scale")?);
    let ([batch, queries, embed], [_, count, _]) = (asked.shape.as_slice(), keys.shape.as_slice()) else { return None };
    let width = embed / heads;
    let scores = Array::from_fn(&[*batch, heads, *queries, *count], |at| {
        let [b, h, i, j] = [at[0], at[1], at[2], at[3]];
        let terms = (0..width).map(|w| q.at(&[b, i, h * width + w]).times(k.at(&[b, j, h * width + w])));
        Some(sum(&terms.collect::<Vec<_>>()).times(&scale))
    })?;
    let weights = softmax(&scores, 3, None)?;
    let mixed = Array::from_fn(&asked.shape, |at| {
        let [b, i, e] = [at[0], at[1], at[2]];
        let terms = (0..*count).map(|j| weights.at(&[b, e / width, i, j]).times(v.at(&[b, j, e])));
        Some(sum(&terms.collect::<Vec<_>>()))
    })?;
    project(&mixed, "out_weight", "out_bias")
}
