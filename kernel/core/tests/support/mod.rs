//! What the tests share: a seeded generator, rationals, and programs with an evaluator of their own, written from the definitions.

#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod back;
pub(crate) mod case;
pub(crate) mod wild;

use certkern_core::affine::{Affine, Convolution, LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{Groups, Node, NodeId, Primitive, Program};
use certkern_core::tensor::{Tensor, Values};
use num_bigint::BigInt;
use num_traits::Zero;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// From `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// A small rational; with odd denominators among them if `odd`.
    pub(crate) fn rational(&mut self, odd: bool) -> Rational {
        let denominator = if odd { [1, 2, 3, 4, 10][self.below(5)] } else { [1, 2, 4, 8][self.below(4)] };
        q(self.between(-12, 12), denominator)
    }
}

pub(crate) fn q(numer: i64, denom: i64) -> Rational {
    Rational::new(numer.into(), denom.into())
}

pub(crate) fn d(mantissa: i64, exponent: i64) -> Dyadic {
    Dyadic::new(mantissa, exponent)
}

/// `2^exponent`.
pub(crate) fn power(exponent: i64) -> Rational {
    let two = Rational::from_integer(BigInt::from(2));
    num_traits::Pow::pow(&two, exponent as i32)
}

pub(crate) fn exact(shape: &[usize], values: &[Rational]) -> Tensor {
    Tensor::new(shape.to_vec(), Values::Exact(values.to_vec())).unwrap()
}

/// A linear map as a test describes it.
#[derive(Clone, Debug)]
pub(crate) enum Map {
    Identity(usize),
    Negation(usize),
    Diagonal(Vec<Rational>),
    Select(Vec<Option<usize>>, usize),
    /// Copies, rows, columns, coefficients.
    Dense(usize, usize, usize, Vec<Rational>),
    Convolution(Box<Convolution>, Vec<Rational>),
}

impl Map {
    /// `L x` from the definition.
    pub(crate) fn apply(&self, x: &[Rational]) -> Vec<Rational> {
        match self {
            Self::Identity(_) => x.to_vec(),
            Self::Negation(_) => x.iter().map(|v| -v).collect(),
            Self::Diagonal(factors) => x.iter().zip(factors).map(|(v, factor)| v * factor).collect(),
            Self::Select(sources, _) => {
                sources.iter().map(|s| s.map_or_else(Rational::zero, |s| x[s].clone())).collect()
            }
            Self::Dense(batch, rows, columns, w) => {
                let entry = |copy: usize, row: usize| {
                    (0..*columns).map(|c| &w[row * columns + c] * &x[copy * columns + c]).sum::<Rational>()
                };
                (0..*batch).flat_map(|copy| (0..*rows).map(move |row| (copy, row))).map(|(c, r)| entry(c, r)).collect()
            }
            Self::Convolution(g, w) => convolve(g, w, x),
        }
    }

    pub(crate) fn build(&self) -> LinearMap {
        self.build_with(&exact).unwrap()
    }

    pub(crate) fn build_with(&self, tensor: &dyn Fn(&[usize], &[Rational]) -> Tensor) -> Option<LinearMap> {
        match self {
            Self::Identity(width) => Some(LinearMap::identity(*width)),
            Self::Negation(width) => Some(LinearMap::negation(*width)),
            Self::Diagonal(factors) => LinearMap::diagonal(&tensor(&[factors.len()], factors)),
            Self::Select(sources, width) => LinearMap::select(sources.clone(), *width),
            Self::Dense(batch, rows, columns, w) => LinearMap::dense(&tensor(&[*rows, *columns], w), *batch),
            Self::Convolution(g, w) => {
                let shape: Vec<usize> = [g.out_channels, g.in_channels].into_iter().chain(g.kernel.clone()).collect();
                LinearMap::convolution(&tensor(&shape, w), (**g).clone())
            }
        }
    }

    pub(crate) fn input_width(&self) -> usize {
        match self {
            Self::Identity(width) | Self::Negation(width) | Self::Select(_, width) => *width,
            Self::Diagonal(factors) => factors.len(),
            Self::Dense(batch, _, columns, _) => batch * columns,
            Self::Convolution(g, _) => g.batch * g.in_channels * g.input.iter().product::<usize>(),
        }
    }

    pub(crate) fn output_width(&self) -> usize {
        match self {
            Self::Identity(width) | Self::Negation(width) => *width,
            Self::Diagonal(factors) => factors.len(),
            Self::Select(sources, _) => sources.len(),
            Self::Dense(batch, rows, _, _) => batch * rows,
            Self::Convolution(g, _) => g.batch * g.out_channels * g.output.iter().product::<usize>(),
        }
    }
}

/// All index vectors of a shape in row-major order.
fn places(shape: &[usize]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![vec![]], |prefixes, axis| {
        let extend = |p: &Vec<i64>, i: usize| p.iter().copied().chain([i as i64]).collect::<Vec<i64>>();
        prefixes.iter().flat_map(|p| (0..*axis).map(|i| extend(p, i)).collect::<Vec<_>>()).collect()
    })
}

fn flat(shape: &[usize], place: &[i64]) -> Option<usize> {
    let mut index = 0;
    for (axis, at) in shape.iter().zip(place) {
        if *at < 0 || *at >= *axis as i64 {
            return None;
        }
        index = index * axis + *at as usize;
    }
    Some(index)
}

/// `out[b,o,y] = Σ_{i,k} w[o,i,k] · x[b,i, y·stride − padding + k·dilation]` with zeros outside.
fn convolve(g: &Convolution, w: &[Rational], x: &[Rational]) -> Vec<Rational> {
    let (inputs, kernels) = (g.input.iter().product::<usize>(), g.kernel.iter().product::<usize>());
    let mut out = Vec::new();
    for b in 0..g.batch {
        for o in 0..g.out_channels {
            for y in places(&g.output) {
                let mut sum = Rational::zero();
                for i in 0..g.in_channels {
                    for (k, at) in places(&g.kernel).iter().enumerate() {
                        let axis =
                            |a: usize| y[a] * g.stride[a] as i64 - g.padding[a] as i64 + at[a] * g.dilation[a] as i64;
                        let place: Vec<i64> = (0..y.len()).map(axis).collect();
                        if let Some(place) = flat(&g.input, &place) {
                            sum += &w[(o * g.in_channels + i) * kernels + k]
                                * &x[(b * g.in_channels + i) * inputs + place];
                        }
                    }
                }
                out.push(sum);
            }
        }
    }
    out
}

/// A node as a test describes it.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Input(usize),
    Affine(Vec<(NodeId, Map)>, Option<Vec<Rational>>),
    Relu(NodeId),
    Product(NodeId, NodeId),
    Max(NodeId, Vec<Vec<usize>>),
}

/// A ReLU, as a consumer of any node.
pub(crate) const RELU: Primitive = Primitive::Univariate { function: Function::Relu, argument: 0 };

/// A program as a test describes it.
#[derive(Clone, Debug)]
pub(crate) struct Net {
    pub(crate) ops: Vec<Op>,
    pub(crate) outputs: Vec<NodeId>,
}

impl Net {
    pub(crate) fn width(&self, node: NodeId) -> usize {
        match &self.ops[node] {
            Op::Input(width) => *width,
            Op::Affine(terms, bias) => {
                terms.first().map_or_else(|| bias.as_ref().unwrap().len(), |t| t.1.output_width())
            }
            Op::Relu(argument) | Op::Product(argument, _) => self.width(*argument),
            Op::Max(_, groups) => groups.len(),
        }
    }

    /// Every node's value at `x`, exactly.
    pub(crate) fn values(&self, x: &[Rational]) -> Vec<Vec<Rational>> {
        let mut values: Vec<Vec<Rational>> = Vec::new();
        for (id, op) in self.ops.iter().enumerate() {
            values.push(match op {
                Op::Input(_) => x.to_vec(),
                Op::Affine(terms, bias) => {
                    let mut sum = bias.clone().unwrap_or_else(|| vec![Rational::zero(); self.width(id)]);
                    for (parent, map) in terms {
                        sum.iter_mut().zip(map.apply(&values[*parent])).for_each(|(s, v)| *s += v);
                    }
                    sum
                }
                Op::Relu(argument) => values[*argument].iter().map(|z| z.clone().max(Rational::zero())).collect(),
                Op::Product(left, right) => values[*left].iter().zip(&values[*right]).map(|(a, b)| a * b).collect(),
                Op::Max(argument, groups) => {
                    let greatest = |group: &Vec<usize>| group.iter().map(|m| values[*argument][*m].clone()).max();
                    groups.iter().map(|group| greatest(group).unwrap()).collect()
                }
            });
        }
        values
    }

    /// The output coordinates among the values.
    pub(crate) fn output(&self, values: &[Vec<Rational>]) -> Vec<Rational> {
        self.outputs.iter().flat_map(|id| values[*id].clone()).collect()
    }

    pub(crate) fn build(&self) -> Program {
        let node = |(id, op): (usize, &Op)| {
            let primitive = match op {
                Op::Input(_) => Primitive::Input,
                Op::Affine(terms, bias) => {
                    let terms = terms.iter().map(|(parent, map)| Term { parent: *parent, map: map.build() }).collect();
                    let bias = bias.as_ref().map(|b| exact(&[b.len()], b));
                    Primitive::Affine(Affine::new(self.width(id), terms, bias.as_ref()).unwrap())
                }
                Op::Relu(argument) => Primitive::Univariate { function: Function::Relu, argument: *argument },
                Op::Product(left, right) => Primitive::Product { left: *left, right: *right },
                Op::Max(argument, groups) => {
                    Primitive::Max { argument: *argument, groups: Groups::new(groups.iter().cloned()) }
                }
            };
            Node { width: self.width(id), primitive }
        };
        Program::new(self.ops.iter().enumerate().map(node).collect(), self.outputs.clone()).unwrap()
    }
}

/// A dense layer from integers over one denominator.
pub(crate) fn dense(rows: usize, columns: usize, numerators: &[i64], denominator: i64) -> Map {
    Map::Dense(1, rows, columns, numerators.iter().map(|n| q(*n, denominator)).collect())
}

/// A random small ReLU network: two hidden layers, a residual sum, several consumers of one node, a difference, a concatenation and a convolution.
pub(crate) fn random_net(random: &mut Random, odd: bool) -> Net {
    let inputs = 2 + random.below(2);
    let hidden = 2 + random.below(2);
    let numbers = |n: usize, random: &mut Random| (0..n).map(|_| random.rational(odd)).collect::<Vec<_>>();
    let mut ops = vec![Op::Input(inputs)];
    let first = Map::Dense(1, hidden, inputs, numbers(hidden * inputs, random));
    ops.push(Op::Affine(vec![(0, first)], Some(numbers(hidden, random))));
    ops.push(Op::Relu(1));
    let second = if random.chance(40) {
        // One channel, kernel of two places, zero before the input, so that the width stays.
        let geometry = Convolution {
            batch: 1,
            in_channels: 1,
            out_channels: 1,
            input: vec![hidden],
            kernel: vec![2],
            stride: vec![1],
            padding: vec![1],
            dilation: vec![1],
            output: vec![hidden],
        };
        Map::Convolution(Box::new(geometry), numbers(2, random))
    } else {
        Map::Dense(1, hidden, hidden, numbers(hidden * hidden, random))
    };
    ops.push(Op::Affine(vec![(2, second)], Some(numbers(hidden, random))));
    ops.push(Op::Relu(3));
    // Residual sum: the first hidden value has two consumers, the second layer's too.
    let sign = if random.chance(50) { Map::Identity(hidden) } else { Map::Negation(hidden) };
    ops.push(Op::Affine(vec![(4, Map::Identity(hidden)), (2, sign)], None));
    // Concatenation of the sum and of some pre-activations.
    let width = hidden + 2;
    let left = (0..width).map(|i| (i < hidden).then_some(i)).collect();
    let right = (0..width).map(|i| (i >= hidden).then(|| (i - hidden) % hidden)).collect();
    ops.push(Op::Affine(vec![(5, Map::Select(left, hidden)), (3, Map::Select(right, hidden))], None));
    let last = Map::Dense(1, 2, width, numbers(2 * width, random));
    ops.push(Op::Affine(vec![(6, last)], Some(numbers(2, random))));
    let mut outputs = vec![7];
    if random.chance(50) {
        outputs.push(4);
    }
    Net { ops, outputs }
}

/// A random small network with products, squares among them, and with maxima over groups that overlap; values have several consumers.
pub(crate) fn mixed_net(random: &mut Random, odd: bool) -> Net {
    let (inputs, hidden) = (2 + random.below(2), 2 + random.below(2));
    let numbers = |n: usize, random: &mut Random| (0..n).map(|_| random.rational(odd)).collect::<Vec<_>>();
    let layer = |rows: usize, columns: usize, random: &mut Random| {
        Map::Dense(1, rows, columns, numbers(rows * columns, random))
    };
    let mut ops = vec![Op::Input(inputs)];
    ops.push(Op::Affine(vec![(0, layer(hidden, inputs, random))], Some(numbers(hidden, random))));
    ops.push(Op::Relu(1));
    ops.push(Op::Product(1 + random.below(2), 1 + random.below(2)));
    ops.push(Op::Affine(
        vec![(3, layer(hidden, hidden, random)), (1, Map::Diagonal(numbers(hidden, random)))],
        Some(numbers(hidden, random)),
    ));
    ops.push(Op::Relu(4));
    let argument = [1, 2, 3, 4, 5][random.below(5)];
    let group = |random: &mut Random| (0..1 + random.below(3)).map(|_| random.below(hidden)).collect();
    ops.push(Op::Max(argument, (0..hidden).map(|_| group(random)).collect()));
    ops.push(Op::Product([6, 6, 5, 3][random.below(4)], 6));
    let terms = [7, 6, 5].map(|parent| (parent, layer(2, hidden, random)));
    ops.push(Op::Affine(terms.to_vec(), Some(numbers(2, random))));
    let mut outputs = vec![8];
    if random.chance(50) {
        outputs.push(3 + random.below(5));
    }
    Net { ops, outputs }
}

/// A random point of a box; on a face at times.
pub(crate) fn random_point(random: &mut Random, lower: &[Rational], upper: &[Rational]) -> Vec<Rational> {
    let mut coordinate = |(l, u): (&Rational, &Rational)| l + (u - l) * q(random.between(0, 6), 6);
    lower.iter().zip(upper).map(&mut coordinate).collect()
}

/// A random box with rational ends, some coordinates fixed.
pub(crate) fn random_box(random: &mut Random, width: usize, odd: bool) -> (Vec<Rational>, Vec<Rational>) {
    let lower: Vec<Rational> = (0..width).map(|_| random.rational(odd)).collect();
    let mut end =
        |l: &Rational| if random.chance(10) { l.clone() } else { l + q(random.between(1, 9), if odd { 3 } else { 4 }) };
    let upper = lower.iter().map(&mut end).collect();
    (lower, upper)
}
