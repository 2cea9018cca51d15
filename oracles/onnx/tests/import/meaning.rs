//! What each kind of node means, in binary64, from the table of SPEC.md.

use serde_json::Value;

use super::evaluate::{Tensor, list};

/// The elements of a node with these parents.
pub(crate) fn elements(
    node: &Value,
    parents: &[&Tensor],
    shape: &[usize],
    field: &mut dyn FnMut(&str) -> Tensor,
) -> Vec<f64> {
    let first = || parents[0];
    let number = |name: &str| node[name].as_u64().expect("number") as usize;
    let kind = node["kind"].as_str().expect("kind");
    if let Some(function) = function(kind, field) {
        return first().1.iter().map(|x| function(*x)).collect();
    }
    match kind {
        "const" => {
            let (stored, elements) = field("values");
            assert_eq!(stored, shape);
            elements
        }
        "add" | "add_n" => fold(parents, |a, b| a + b),
        "sub" => fold(parents, |a, b| a - b),
        "mul_elem" => fold(parents, |a, b| a * b),
        "div" => fold(parents, |a, b| a / b),
        "max_elem" | "max_n" => fold(parents, f64::max),
        "min_elem" | "min_n" => fold(parents, f64::min),
        "prelu" => {
            let (axis, slope) = (number("channel_axis"), field("slope").1);
            let element = |index: &Vec<usize>| {
                let x = at(first(), index);
                if x >= 0.0 { x } else { slope[index[axis]] * x }
            };
            indices(shape).iter().map(element).collect()
        }
        "where" => {
            let mask = field("mask");
            assert_eq!(mask.0, shape);
            let pick = |(place, bit): (usize, &f64)| parents[usize::from(*bit == 0.0)].1[place];
            mask.1.iter().enumerate().map(pick).collect()
        }
        "linear" => {
            let (weight, bias) = (field("weight"), field("bias"));
            let [out, inner] = weight.0[..] else { panic!("weight {:?}", weight.0) };
            assert_eq!((bias.0, first().0.last()), (vec![out], Some(&inner)));
            let row =
                |x: &[f64], o: usize| x.iter().zip(&weight.1[o * inner..]).map(|(x, w)| x * w).sum::<f64>() + bias.1[o];
            first().1.chunks(inner).flat_map(|x| (0..out).map(|o| row(x, o)).collect::<Vec<_>>()).collect()
        }
        "matmul" => matmul(parents[0], parents[1], shape),
        "conv" => {
            let (weight, bias) = (field("weight"), field("bias"));
            convolution(node, first(), &weight, &bias, shape)
        }
        "conv_transpose" => {
            let (weight, bias) = (field("weight"), field("bias"));
            transposed_convolution(node, first(), &weight, &bias, shape)
        }
        "max_pool" => windows(node, first(), shape).iter().map(|window| greatest(window)).collect(),
        "avg_pool" => {
            let whole = node.get("count_include_pad").is_none_or(|flag| flag == true);
            let taps: usize = list(&node["kernel"]).iter().product();
            let count = |window: &Vec<f64>| if whole { taps } else { window.len() } as f64;
            windows(node, first(), shape).iter().map(|window| window.iter().sum::<f64>() / count(window)).collect()
        }
        "batch_norm_eval" => {
            let axis = number("channel_axis");
            let eps = field("eps").1[0];
            let [gamma, beta, mean, var] = ["gamma", "beta", "mean", "var"].map(|name| field(name).1);
            let element = |index: &Vec<usize>| {
                let c = index[axis];
                gamma[c] * (at(first(), index) - mean[c]) / (var[c] + eps).sqrt() + beta[c]
            };
            indices(shape).iter().map(element).collect()
        }
        "layernorm" => {
            let (eps, gamma, beta) = (field("eps").1[0], field("gamma"), field("beta").1);
            assert_eq!(gamma.0, shape[number("axis")..]);
            let group = |group: &[f64]| {
                let mean = average(group);
                let variance = average(&group.iter().map(|x| (x - mean).powi(2)).collect::<Vec<_>>());
                let normal = group.iter().map(move |x| (x - mean) / (variance + eps).sqrt());
                normal.zip(&gamma.1).zip(&beta).map(|((x, gamma), beta)| gamma * x + beta).collect::<Vec<_>>()
            };
            first().1.chunks(gamma.1.len()).flat_map(group).collect()
        }
        "softmax" => {
            let axis = number("axis");
            let element = |index: &Vec<usize>| {
                let along = (0..shape[axis]).map(|place| at(first(), &replaced(index, axis, place)).exp());
                at(first(), index).exp() / along.sum::<f64>()
            };
            indices(shape).iter().map(element).collect()
        }
        "reduce_sum" | "reduce_mean" | "reduce_max" | "reduce_min" => reduction(node, first(), &list(&node["axes"])),
        "global_avg_pool" => {
            let rank = first().0.len();
            reduction(node, first(), &(rank - number("spatial_rank")..rank).collect::<Vec<_>>())
        }
        _ => moved(node, kind, parents, shape, field),
    }
}

/// The function of a kind of one parent.
fn function(kind: &str, field: &mut dyn FnMut(&str) -> Tensor) -> Option<Box<dyn Fn(f64) -> f64>> {
    let mut number = |name: &str| {
        let (shape, numbers) = field(name);
        assert_eq!(shape, [] as [usize; 0]);
        numbers[0]
    };
    Some(match kind {
        "detach" | "reshape" => Box::new(|x| x),
        "relu" => Box::new(|x| x.max(0.0)),
        "abs" => Box::new(f64::abs),
        "neg" => Box::new(|x| -x),
        "sigmoid" => Box::new(|x| 1.0 / (1.0 + (-x).exp())),
        "tanh" => Box::new(f64::tanh),
        "softplus" => Box::new(|x| x.exp().ln_1p()),
        "exp" => Box::new(f64::exp),
        "sin" => Box::new(f64::sin),
        "cos" => Box::new(f64::cos),
        "erf" => Box::new(erf),
        "sqrt" => Box::new(f64::sqrt),
        "log" => Box::new(f64::ln),
        "inv" => Box::new(f64::recip),
        "hard_swish" => Box::new(|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
        "mish" => Box::new(|x| x * x.exp().ln_1p().tanh()),
        "gelu" => Box::new(|x| x * (1.0 + erf(x / 2.0_f64.sqrt())) / 2.0),
        "gelu_tanh" => Box::new(|x| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            x * (1.0 + inner.tanh()) / 2.0
        }),
        "pow" => {
            let exponent = number("exponent");
            Box::new(move |x| x.powf(exponent))
        }
        "leaky_relu" => {
            let alpha = number("alpha");
            Box::new(move |x| if x >= 0.0 { x } else { alpha * x })
        }
        "elu" => {
            let alpha = number("alpha");
            Box::new(move |x| if x >= 0.0 { x } else { alpha * x.exp_m1() })
        }
        "selu" => {
            let (alpha, gamma) = (number("alpha"), number("gamma"));
            Box::new(move |x| gamma * if x >= 0.0 { x } else { alpha * x.exp_m1() })
        }
        "clip" => {
            let (low, high) = (number("low"), number("high"));
            Box::new(move |x| x.max(low).min(high))
        }
        "hard_sigmoid" => {
            let (alpha, beta) = (number("alpha"), number("beta"));
            Box::new(move |x| (alpha * x + beta).clamp(0.0, 1.0))
        }
        _ => return None,
    })
}

/// Its power series, good for the arguments of the tests.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// Kinds that move elements.
fn moved(
    node: &Value,
    kind: &str,
    parents: &[&Tensor],
    shape: &[usize],
    field: &mut dyn FnMut(&str) -> Tensor,
) -> Vec<f64> {
    let number = |name: &str| node[name].as_u64().expect("number") as usize;
    let lists = |name: &str| list(&node[name]);
    let first = parents[0];
    let pick = |source: &dyn Fn(&Vec<usize>) -> Vec<usize>| {
        indices(shape).iter().map(|index| at(first, &source(index))).collect::<Vec<f64>>()
    };
    match kind {
        "permute" => {
            let perm = lists("perm");
            pick(&|index| {
                let mut source = vec![0; index.len()];
                index.iter().zip(&perm).for_each(|(index, axis)| source[*axis] = *index);
                source
            })
        }
        "broadcast_to" => {
            assert_eq!((&lists("from_shape"), &lists("to_shape")), (&first.0, &shape.to_vec()));
            let missing = shape.len() - first.0.len();
            pick(&|index| index[missing..].iter().zip(&first.0).map(|(index, extent)| index % extent).collect())
        }
        "slice" => {
            let (start, step) = (lists("start"), node.get("step").map(list));
            let step = step.unwrap_or_else(|| vec![1; start.len()]);
            pick(&|index| index.iter().enumerate().map(|(axis, place)| start[axis] + place * step[axis]).collect())
        }
        "split" => {
            let (axis, sizes) = (number("axis"), lists("sizes"));
            let start: usize = sizes[..number("index")].iter().sum();
            pick(&|index| replaced(index, axis, index[axis] + start))
        }
        "gather" => {
            let (axis, picks, inner) = (number("axis"), lists("indices"), lists("indices_shape"));
            pick(&|index| {
                let middle = index[axis..axis + inner.len()].iter().zip(&inner);
                let place = middle.fold(0, |place, (index, extent)| place * extent + index);
                [&index[..axis], &[picks[place]], &index[axis + inner.len()..]].concat()
            })
        }
        "upsample" => {
            let scale = lists("scale");
            pick(&|index| index.iter().zip(&scale).map(|(index, scale)| index / scale).collect())
        }
        "pad" => {
            let (padding, value) = (lists("padding"), field("value").1[0]);
            let element = |index: &Vec<usize>| {
                let source: Option<Vec<usize>> =
                    index.iter().zip(&padding).map(|(index, pad)| index.checked_sub(*pad)).collect();
                let inside = source.filter(|source| source.iter().zip(&first.0).all(|(place, extent)| place < extent));
                inside.map_or(value, |source| at(first, &source))
            };
            indices(shape).iter().map(element).collect()
        }
        "concat" => {
            let axis = number("axis");
            let source = |index: &Vec<usize>| {
                let mut index = index.clone();
                let part = parents.iter().find(|part| {
                    let here = index[axis] < part.0[axis];
                    index[axis] -= if here { 0 } else { part.0[axis] };
                    here
                });
                at(part.expect("inside"), &index)
            };
            indices(shape).iter().map(source).collect()
        }
        kind => panic!("kind {kind}"),
    }
}

/// All indices of a shape, the last running fastest.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |done, extent| {
        done.iter().flat_map(|index| (0..*extent).map(move |last| [index.as_slice(), &[last]].concat())).collect()
    })
}

fn at(tensor: &Tensor, index: &[usize]) -> f64 {
    let place = index.iter().zip(&tensor.0).fold(0, |place, (index, extent)| {
        assert!(index < extent);
        place * extent + index
    });
    tensor.1[place]
}

fn replaced(index: &[usize], axis: usize, place: usize) -> Vec<usize> {
    let mut index = index.to_vec();
    index[axis] = place;
    index
}

fn fold(parents: &[&Tensor], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    assert!(parents.iter().all(|parent| parent.0 == parents[0].0));
    let combined = |place| parents.iter().map(|parent: &&Tensor| parent.1[place]).reduce(&combine).expect("parents");
    (0..parents[0].1.len()).map(combined).collect()
}

fn greatest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn average(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// A reduction over these axes, in the order of the elements that are left.
fn reduction(node: &Value, tensor: &Tensor, axes: &[usize]) -> Vec<f64> {
    let kept: Vec<usize> =
        tensor.0.iter().enumerate().map(|(axis, extent)| if axes.contains(&axis) { 1 } else { *extent }).collect();
    let over: Vec<usize> =
        tensor.0.iter().enumerate().map(|(axis, extent)| if axes.contains(&axis) { *extent } else { 1 }).collect();
    let group = |index: &Vec<usize>| -> Vec<f64> {
        let sum = |inner: &Vec<usize>| index.iter().zip(inner).map(|(a, b)| a + b).collect::<Vec<_>>();
        indices(&over).iter().map(|inner| at(tensor, &sum(inner))).collect()
    };
    let reduce = |group: Vec<f64>| match node["kind"].as_str().expect("kind") {
        "reduce_sum" => group.iter().sum(),
        "reduce_max" => greatest(&group),
        "reduce_min" => -greatest(&group.iter().map(|x| -x).collect::<Vec<_>>()),
        _ => average(&group),
    };
    indices(&kept).iter().map(|index| reduce(group(index))).collect()
}

fn matmul(first: &Tensor, second: &Tensor, shape: &[usize]) -> Vec<f64> {
    assert!(first.0.len() >= 2 && second.0.len() >= 2, "vectors are made by no test");
    // The index of a factor: its own axes of the batch, right-aligned, an extent of 1 repeated; then its two.
    let own = |tensor: &Tensor, index: &[usize], last: [usize; 2]| {
        let batch = tensor.0.len() - 2;
        let skipped = index.len() - 2 - batch;
        let leading = index[skipped..skipped + batch].iter().zip(&tensor.0).map(|(index, extent)| index % extent);
        at(tensor, &leading.chain(last).collect::<Vec<_>>())
    };
    let element = |index: &Vec<usize>| {
        let [row, column] = [index[index.len() - 2], index[index.len() - 1]];
        let inner = first.0[first.0.len() - 1];
        (0..inner).map(|k| own(first, index, [row, k]) * own(second, index, [k, column])).sum()
    };
    indices(shape).iter().map(element).collect()
}

/// For each element of a pooling the elements in its window.
fn windows(node: &Value, input: &Tensor, shape: &[usize]) -> Vec<Vec<f64>> {
    let [kernel, stride, padding] = ["kernel", "stride", "padding"].map(|name| list(&node[name]));
    let dilation = node.get("dilation").map_or_else(|| vec![1; kernel.len()], list);
    let leading = shape.len() - kernel.len();
    let window = |index: &Vec<usize>| {
        let source = |tap: &Vec<usize>| {
            let spatial = tap.iter().enumerate().map(|(axis, tap)| {
                (index[leading + axis] * stride[axis] + tap * dilation[axis]).checked_sub(padding[axis])
            });
            let source = index[..leading].iter().copied().map(Some).chain(spatial).collect::<Option<Vec<_>>>()?;
            source.iter().zip(&input.0).all(|(place, extent)| place < extent).then(|| at(input, &source))
        };
        indices(&kernel).iter().filter_map(source).collect()
    };
    indices(shape).iter().map(window).collect()
}

/// Zero-padded cross-correlation with dense weights, from the definition.
fn convolution(node: &Value, input: &Tensor, weight: &Tensor, bias: &Tensor, shape: &[usize]) -> Vec<f64> {
    let [kernel, stride, dilation, padding] = ["kernel", "stride", "dilation", "padding"].map(|name| list(&node[name]));
    assert_eq!(node["channel_axis"], 1);
    assert_eq!(list(&node["padding_after"]).len(), kernel.len());
    let mut expected = vec![shape[1], input.0[1]];
    expected.extend(&kernel);
    assert_eq!(weight.0, expected);
    let element = |index: &Vec<usize>| {
        let mut sum = bias.1[index[1]];
        for (channel, tap) in
            (0..input.0[1]).flat_map(|channel| indices(&kernel).into_iter().map(move |tap| (channel, tap)))
        {
            let mut source = vec![index[0], channel];
            for (axis, tap) in tap.iter().enumerate() {
                let place = index[axis + 2] * stride[axis] + tap * dilation[axis];
                source.push(place.wrapping_sub(padding[axis]));
            }
            if source.iter().zip(&input.0).all(|(index, extent)| index < extent) {
                let mut place = vec![index[1], channel];
                place.extend(tap);
                sum += at(weight, &place) * at(input, &source);
            }
        }
        sum
    };
    indices(shape).iter().map(element).collect()
}

/// `out[y] = bias + Σ weight[i, o, k]·in[i, x]` over `y = x·stride + k·dilation − padding`, scattered from the input.
fn transposed_convolution(node: &Value, input: &Tensor, weight: &Tensor, bias: &Tensor, shape: &[usize]) -> Vec<f64> {
    let [kernel, stride, dilation, padding] = ["kernel", "stride", "dilation", "padding"].map(|name| list(&node[name]));
    let places = indices(shape);
    let mut out: Vec<f64> = places.iter().map(|index| bias.1[index[1]]).collect();
    for index in indices(&input.0) {
        for (channel, tap) in (0..shape[1]).flat_map(|o| indices(&kernel).into_iter().map(move |tap| (o, tap))) {
            let mut target = vec![index[0], channel];
            for (axis, tap) in tap.iter().enumerate() {
                target.push((index[axis + 2] * stride[axis] + tap * dilation[axis]).wrapping_sub(padding[axis]));
            }
            if let Some(place) = places.iter().position(|place| *place == target) {
                out[place] += at(weight, &[&[index[1], channel], tap.as_slice()].concat()) * at(input, &index);
            }
        }
    }
    out
}
