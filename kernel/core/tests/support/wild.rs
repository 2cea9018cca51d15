//! Programs of every kind of map, with several consumers and numbers of every magnitude, made to be hard on rounding.

use super::{Map, Net, Op, Random, power, q};
use certkern_core::affine::Convolution;
use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::property::{Property, Row, Variable, disjunct};
use num_traits::Zero;

/// How the numbers of a tensor look.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    kind: usize,
    scale: i64,
}

impl Style {
    /// Numbers that keep a sum of some dozen of them times values below `2^height` below `2^97`.
    pub(crate) fn random(random: &mut Random, height: i64) -> Self {
        let scale = [0, 0, 0, 20, -20, 90, -90][random.below(7)];
        let scale = if height + scale > 90 { -90 } else { scale };
        Self { kind: random.below(7), scale }
    }

    /// The exponent that the numbers stay below.
    fn height(self) -> i64 {
        self.scale + if self.kind == 3 { 3 } else { 4 }
    }

    pub(crate) fn number(self, random: &mut Random) -> Rational {
        let sign = q([1, -1][random.below(2)], 1);
        let value = match self.kind {
            0 => random.rational(false),
            1 => random.rational(true),
            // Full mantissas.
            2 => sign * q((random.bits() >> 11) as i64, 1) * power(-53),
            // Huge and tiny in turn.
            3 => sign * power([0, 2, -40, -60, -300][random.below(5)]),
            // Pairs that cancel but for the last bit.
            4 => sign * (q(1, 1) + q(random.between(-2, 2), 1) * power(-52)),
            // Subnormal after the scale is taken out.
            5 => return sign * q(random.between(1, 1 << 20), 1) * power(-1074),
            _ if random.chance(70) => Rational::zero(),
            _ => q(random.between(-1000, 1000), 255),
        };
        value * power(self.scale)
    }

    fn numbers(self, random: &mut Random, count: usize) -> Vec<Rational> {
        (0..count).map(|_| self.number(random)).collect()
    }
}

struct Growing {
    ops: Vec<Op>,
    widths: Vec<usize>,
    /// Exponents that the values stay below.
    heights: Vec<i64>,
}

/// The logarithm of a number of terms, rounded up.
fn bits(count: usize) -> i64 {
    i64::from(usize::BITS - count.leading_zeros())
}

impl Growing {
    fn push(&mut self, op: Op, width: usize, height: i64) {
        self.ops.push(op);
        self.widths.push(width);
        self.heights.push(height);
    }

    fn any(&self, random: &mut Random) -> NodeId {
        // The later ones more often, so that the program gets deep.
        let n = self.ops.len();
        if random.chance(60) { n - 1 - random.below(n.min(2)) } else { random.below(n) }
    }

    fn dense(&self, random: &mut Random, parent: NodeId, rows: usize) -> (Map, i64) {
        let (width, height) = (self.widths[parent], self.heights[parent]);
        let batch = [1, 1, 2, 3][random.below(4)];
        let batch = if width.is_multiple_of(batch) && rows.is_multiple_of(batch) { batch } else { 1 };
        let (rows, columns) = (rows / batch, width / batch);
        let style = Style::random(random, height);
        let map = Map::Dense(batch, rows, columns, style.numbers(random, rows * columns));
        (map, height + style.height() + bits(columns))
    }

    fn convolution(&self, random: &mut Random, parent: NodeId) -> Option<(Map, i64)> {
        let (width, height) = (self.widths[parent], self.heights[parent]);
        let batch = 1 + random.below(2);
        let in_channels = 1 + random.below(3);
        let axis = 1 + random.below(2);
        if width == 0 || !width.is_multiple_of(batch * in_channels * axis) {
            return None;
        }
        let input = match width / (batch * in_channels * axis) {
            rest if axis == 1 && random.chance(50) => vec![rest],
            rest => vec![axis, rest],
        };
        let mut pick = |most: usize| input.iter().map(|_| 1 + random.below(most)).collect::<Vec<usize>>();
        let (kernel, stride, dilation) = (pick(3), pick(3), pick(2));
        let padding: Vec<usize> = pick(3).iter().map(|p| p - 1).collect();
        let length = |a: usize| {
            let room = (input[a] + 2 * padding[a] + 1).saturating_sub(dilation[a] * (kernel[a] - 1) + 1);
            room.div_ceil(stride[a])
        };
        let output: Vec<usize> = (0..input.len()).map(length).collect();
        let out_channels = 1 + random.below(3);
        let count = in_channels * kernel.iter().product::<usize>();
        let style = Style::random(random, height);
        let geometry =
            Convolution { batch, in_channels, out_channels, input, kernel, stride, padding, dilation, output };
        let map = Map::Convolution(Box::new(geometry), style.numbers(random, out_channels * count));
        (map.output_width() <= 40).then_some((map, height + style.height() + bits(count)))
    }

    /// Sums of maps of several nodes, the same one twice among them.
    fn sum(&self, random: &mut Random) -> (Vec<(NodeId, Map)>, usize, i64) {
        let first = self.any(random);
        let width = self.widths[first];
        let mut terms = Vec::new();
        let mut height = 0;
        for _ in 0..2 + random.below(3) {
            let parent = self.any(random);
            let parent = if self.widths[parent] == width && random.chance(70) { parent } else { first };
            let (map, own) = match random.below(4) {
                0 => self.dense(random, parent, width),
                1 => (Map::Negation(width), self.heights[parent]),
                2 => {
                    let style = Style::random(random, self.heights[parent]);
                    (Map::Diagonal(style.numbers(random, width)), self.heights[parent] + style.height())
                }
                _ => (Map::Identity(width), self.heights[parent]),
            };
            terms.push((parent, map));
            height = height.max(own) + 1;
        }
        (terms, width, height)
    }

    /// A product of nodes of one width: a square often, since few nodes have the same.
    fn product(&self, random: &mut Random) -> (Op, usize, i64) {
        let left = self.any(random);
        let like: Vec<NodeId> = (0..self.ops.len()).filter(|id| self.widths[*id] == self.widths[left]).collect();
        let right = if random.chance(30) { left } else { like[random.below(like.len())] };
        (Op::Product(left, right), self.widths[left], self.heights[left].max(0) + self.heights[right].max(0))
    }

    /// Maxima of groups that overlap, the same coordinate twice in a group among them.
    fn max(&self, random: &mut Random) -> Option<(Op, usize, i64)> {
        let argument = self.any(random);
        let (from, width) = (self.widths[argument], random.below(9));
        let group = |random: &mut Random| (0..1 + random.below(4)).map(|_| random.below(from)).collect();
        let groups = (0..width).map(|_| if from > 0 { group(random) } else { vec![] }).collect();
        (from > 0).then_some((Op::Max(argument, groups), width, self.heights[argument]))
    }

    /// A concatenation with coordinates left out and doubled.
    fn select(&self, random: &mut Random) -> (Vec<(NodeId, Map)>, usize, i64) {
        let width = random.below(9);
        let mut terms = Vec::new();
        let mut height = 0;
        for _ in 0..1 + random.below(3) {
            let parent = self.any(random);
            let from = self.widths[parent];
            let source = |random: &mut Random| (from > 0 && random.chance(70)).then(|| random.below(from));
            terms.push((parent, Map::Select((0..width).map(|_| source(random)).collect(), from)));
            height = height.max(self.heights[parent]) + 1;
        }
        (terms, width, height)
    }
}

/// A program of `size` nodes above the input. Every node is an output, so that rows speak of inner values too.
pub(crate) fn wild_net(random: &mut Random, size: usize) -> Net {
    let mut net = Growing { ops: vec![], widths: vec![], heights: vec![] };
    let inputs = 1 + random.below(6);
    net.push(Op::Input(inputs), inputs, 8);
    while net.ops.len() <= size {
        let parent = net.any(random);
        match random.below(13) {
            10 | 11 => {
                let (op, width, height) = net.product(random);
                if height < 97 {
                    net.push(op, width, height);
                }
            }
            12 => {
                if let Some((op, width, height)) = net.max(random) {
                    net.push(op, width, height);
                }
            }
            0..=2 => net.push(Op::Relu(parent), net.widths[parent], net.heights[parent]),
            3 => {
                let (terms, width, height) = net.sum(random);
                if height < 97 {
                    net.push(Op::Affine(terms, None), width, height);
                }
            }
            4 => {
                let (terms, width, height) = net.select(random);
                if height < 97 {
                    net.push(Op::Affine(terms, None), width, height);
                }
            }
            5 => {
                if let Some((map, height)) = net.convolution(random, parent) {
                    let style = Style::random(random, 0);
                    let width = map.output_width();
                    let bias = random.chance(50).then(|| style.numbers(random, width));
                    let height = height.max(style.height()) + 1;
                    if height < 97 {
                        net.push(Op::Affine(vec![(parent, map)], bias), width, height);
                    }
                }
            }
            6 if random.chance(20) => {
                let (style, width) = (Style::random(random, 0), random.below(4));
                net.push(Op::Affine(vec![], Some(style.numbers(random, width))), width, style.height());
            }
            _ => {
                let rows = if random.chance(5) { 0 } else { 1 + random.below(8) };
                let (map, height) = net.dense(random, parent, rows);
                let style = Style::random(random, 0);
                let bias = random.chance(60).then(|| style.numbers(random, rows));
                let height = height.max(style.height()) + 1;
                if height < 97 {
                    net.push(Op::Affine(vec![(parent, map)], bias), rows, height);
                }
            }
        }
    }
    Net { outputs: (0..net.ops.len()).collect(), ops: net.ops }
}

/// A box of values below `2^8`; fixed, tiny and wide coordinates.
pub(crate) fn wild_box(random: &mut Random, width: usize) -> (Vec<Rational>, Vec<Rational>) {
    let ends = (0..width).map(|_| {
        let lower = random.rational(true);
        let room = match random.below(5) {
            0 => Rational::zero(),
            1 => power(random.between(-1080, -40)),
            _ => q(random.between(1, 90), 7),
        };
        (lower.clone(), lower + room)
    });
    ends.unzip()
}

/// A property with the region and `count` closed rows over any values of the program, one value in the first.
pub(crate) fn wild_property(random: &mut Random, net: &Net, count: usize) -> Property {
    let (lower, upper) = wild_box(random, net.width(0));
    let outputs: usize = net.outputs.iter().map(|id| net.width(*id)).sum();
    let row = |random: &mut Random, most: usize| {
        let style = Style { kind: random.below(4), scale: [0, 0, 0, -90, 40][random.below(5)] };
        let mut at: Vec<usize> = (0..1 + random.below(most)).map(|_| random.below(outputs)).collect();
        at.sort_unstable();
        at.dedup();
        let terms = at.into_iter().map(|i| (Variable::Y(i), style.number(random))).filter(|(_, c)| !c.is_zero());
        Row { terms: terms.collect(), bound: random.rational(true), strict: false }
    };
    let rows = disjunct((0..count).map(|at| row(random, if at == 0 { 1 } else { 4 })));
    Property { lower, upper, outputs, disjuncts: vec![rows] }
}
