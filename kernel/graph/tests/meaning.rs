//! The meaning of every operator, against an evaluator that works with multi-indices and shares nothing with the lowering.

use certkern_core::interval::Interval;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{Primitive, Program};
use certkern_graph::Graph;
use certkern_wire::Limits;

/// A tensor of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Naive {
    shape: Vec<usize>,
    values: Vec<i64>,
}

impl Naive {
    /// The tensor whose element at each multi-index is `value(index)`.
    fn from_fn(shape: &[usize], mut value: impl FnMut(&[usize]) -> i64) -> Self {
        let mut values = Vec::new();
        let mut index = vec![0; shape.len()];
        for _ in 0..shape.iter().product() {
            values.push(value(&index));
            // The last axis runs fastest.
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Self { shape: shape.to_vec(), values }
    }

    /// Numbers that tell all places apart, of both signs.
    fn sample(shape: &[usize], seed: i64) -> Self {
        let mut state = seed;
        Self::from_fn(shape, |_| {
            state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
            state / 65_536 % 201 - 100
        })
    }

    fn at(&self, index: &[usize]) -> i64 {
        let mut place = 0;
        for (extent, i) in self.shape.iter().zip(index) {
            assert!(i < extent);
            place = place * extent + i;
        }
        self.values[place]
    }
}

/// Evaluates the lowered program at an integer point, exactly, by interval arithmetic on points.
fn evaluate(program: &Program, input: &[i64]) -> Vec<Vec<i64>> {
    let mut values: Vec<Vec<Interval>> = Vec::new();
    for node in program.nodes() {
        let value = match &node.primitive {
            Primitive::Input => input.iter().map(|x| Interval::point(Dyadic::new(*x, 0))).collect(),
            Primitive::Affine(affine) => {
                let inputs: Vec<&[Interval]> =
                    affine.terms().iter().map(|term| values[term.parent].as_slice()).collect();
                affine.interval(node.width, &inputs).unwrap()
            }
            Primitive::Univariate { function, argument } => {
                values[*argument].iter().map(|z| function.image(&Interval::point(z.lower.clone())).unwrap()).collect()
            }
            Primitive::Product { left, right } => {
                let factors = values[*left].iter().zip(&values[*right]);
                factors.map(|(a, b)| Interval::point(&a.lower * &b.lower)).collect()
            }
            Primitive::Max { argument, groups } => {
                let greatest = |group: &[usize]| group.iter().map(|m| values[*argument][*m].lower.clone()).max();
                groups.iter().map(|group| Interval::point(greatest(group).unwrap())).collect()
            }
        };
        values.push(value);
    }
    let integer = |value: &Interval| {
        assert_eq!(value.lower, value.upper);
        i64::try_from(value.lower.floor_at(0)).unwrap()
    };
    values.iter().map(|value| value.iter().map(integer).collect()).collect()
}

/// The value of the last node of the graph whose input is `parents[0]` and whose other parents are constants.
fn run(parents: &[&Naive], kind: &str, shape: &[usize], fields: &str) -> Naive {
    let mut nodes = vec![format!(r#"{{"id":0,"kind":"input","parents":[],"shape":{:?}}}"#, parents[0].shape)];
    for parent in &parents[1..] {
        let (id, shape, values) = (nodes.len(), &parent.shape, &parent.values);
        nodes.push(format!(r#"{{"id":{id},"kind":"const","parents":[],"shape":{shape:?},"values":{values:?}}}"#));
    }
    let (id, ids) = (nodes.len(), (0..parents.len()).collect::<Vec<_>>());
    nodes.push(format!(r#"{{"id":{id},"kind":"{kind}","parents":{ids:?},"shape":{shape:?}{fields}}}"#));
    let text =
        format!(r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[{id}],"nodes":[{}]}}"#, nodes.join(","));
    let graph =
        Graph::read(text.as_bytes(), None, &Limits::default()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    let lowered = graph.lower().unwrap();
    assert_eq!(lowered.program.outputs(), [lowered.values[id]]);
    let values = evaluate(&lowered.program, &parents[0].values);
    Naive { shape: graph.nodes()[id].shape().to_vec(), values: values[lowered.values[id]].clone() }
}

#[test]
fn elementwise() {
    let (a, b) = (Naive::sample(&[2, 3], 1), Naive::sample(&[2, 3], 2));
    assert_eq!(run(&[&a, &b], "add", &[2, 3], ""), Naive::from_fn(&[2, 3], |i| a.at(i) + b.at(i)));
    assert_eq!(run(&[&a, &b], "sub", &[2, 3], ""), Naive::from_fn(&[2, 3], |i| a.at(i) - b.at(i)));
    assert_eq!(run(&[&a], "relu", &[2, 3], ""), Naive::from_fn(&[2, 3], |i| a.at(i).max(0)));
    assert_eq!(run(&[&a], "detach", &[2, 3], ""), a);
    assert_eq!(run(&[&a], "sum", &[], ""), Naive { shape: vec![], values: vec![a.values.iter().sum()] });
    let scalar = Naive::sample(&[], 3);
    assert_eq!(run(&[&scalar], "sum", &[], ""), scalar);
}

#[test]
fn the_same_parent_twice() {
    let text = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[2,1,2],"nodes":[
        {"id":0,"kind":"input","parents":[],"shape":[2]},
        {"id":1,"kind":"add","parents":[0,0],"shape":[2]},
        {"id":2,"kind":"sub","parents":[1,0],"shape":[2]}]}"#;
    let graph = Graph::read(text.as_bytes(), None, &Limits::default()).unwrap();
    let lowered = graph.lower().unwrap();
    assert_eq!(lowered.program.outputs(), [2, 1, 2]);
    assert_eq!(evaluate(&lowered.program, &[5, -7]), [[5, -7], [10, -14], [5, -7]]);
}

#[test]
fn moves_of_elements() {
    let x = Naive::sample(&[2, 3, 4], 5);
    let flat = Naive { shape: vec![24], values: x.values.clone() };
    assert_eq!(run(&[&x], "flatten", &[24], ""), flat);
    let reshaped = Naive { shape: vec![4, 1, 6], values: x.values.clone() };
    assert_eq!(run(&[&x], "reshape", &[4, 1, 6], ""), reshaped);

    for perm in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let shape = perm.map(|axis| x.shape[axis]);
        let expected = Naive::from_fn(&shape, |i| {
            let mut from = [0; 3];
            (0..3).for_each(|axis| from[perm[axis]] = i[axis]);
            x.at(&from)
        });
        assert_eq!(run(&[&x], "permute", &shape, &format!(r#","perm":{perm:?}"#)), expected);
    }
    for (first, second) in [(0, 1), (0, 2), (2, 1), (1, 1)] {
        let mut shape = x.shape.clone();
        shape.swap(first, second);
        let expected = Naive::from_fn(&shape, |i| {
            let mut from = i.to_vec();
            from.swap(first, second);
            x.at(&from)
        });
        let fields = format!(r#","axis1":{first},"axis2":{second}"#);
        assert_eq!(run(&[&x], "transpose", &shape, &fields), expected);
    }
    let scalar = Naive::sample(&[], 9);
    assert_eq!(run(&[&scalar], "permute", &[], r#","perm":[]"#), scalar);
}

#[test]
fn broadcasts() {
    for (from, to) in [
        (&[3, 1][..], &[2, 3, 4][..]),
        (&[1, 3, 1], &[2, 3, 2]),
        (&[], &[2, 2]),
        (&[2, 3], &[2, 3]),
        (&[1], &[1, 1]),
        (&[4], &[3, 4]),
    ] {
        let x = Naive::sample(from, 7);
        let expected = Naive::from_fn(to, |i| {
            let aligned = &i[to.len() - from.len()..];
            x.at(&aligned.iter().zip(from).map(|(i, extent)| if *extent == 1 { 0 } else { *i }).collect::<Vec<_>>())
        });
        let fields = format!(r#","from_shape":{from:?},"to_shape":{to:?}"#);
        assert_eq!(run(&[&x], "broadcast_to", to, &fields), expected);
    }
}

#[test]
fn concatenations() {
    for axis in 0..3 {
        let parents: Vec<Naive> = [2, 1, 3]
            .iter()
            .enumerate()
            .map(|(seed, extent)| {
                let mut shape = vec![2, 3, 2];
                shape[axis] = *extent;
                Naive::sample(&shape, i64::try_from(seed).unwrap())
            })
            .collect();
        let mut shape = vec![2, 3, 2];
        shape[axis] = 6;
        let expected = Naive::from_fn(&shape, |i| {
            let mut inner = i.to_vec();
            let mut which = 0;
            while inner[axis] >= parents[which].shape[axis] {
                inner[axis] -= parents[which].shape[axis];
                which += 1;
            }
            parents[which].at(&inner)
        });
        let refs: Vec<&Naive> = parents.iter().collect();
        assert_eq!(run(&refs, "concat", &shape, &format!(r#","axis":{axis}"#)), expected);
    }
}

#[test]
fn linear_layers() {
    let (weight, bias) = (Naive::sample(&[3, 4], 11), Naive::sample(&[3], 12));
    for batch in [&[][..], &[1], &[2], &[2, 3]] {
        let (inputs, shape) = ([batch, &[4]].concat(), [batch, &[3]].concat());
        let x = Naive::sample(&inputs, 13);
        let expected = Naive::from_fn(&shape, |i| {
            let (out, batch) = i.split_last().unwrap();
            let product: i64 = (0..4).map(|j| weight.at(&[*out, j]) * x.at(&[batch, &[j]].concat())).sum();
            product + bias.at(&[*out])
        });
        let fields = format!(r#","weight":{:?},"bias":{:?}"#, weight.values, bias.values);
        assert_eq!(run(&[&x], "linear", &shape, &fields), expected, "{batch:?}");
    }
}

/// A convolution in one, two or three spatial dimensions.
struct Case {
    batch: Vec<usize>,
    channels: (usize, usize),
    groups: usize,
    input: Vec<usize>,
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: (Vec<usize>, Vec<usize>),
    dilation: Vec<usize>,
    /// Computed by hand.
    output: Vec<usize>,
}

impl Case {
    fn check(&self) {
        let (ins, outs) = self.channels;
        let rank = self.input.len();
        let x = Naive::sample(&[&self.batch, &[ins][..], &self.input].concat(), 21);
        let grouped = Naive::sample(&[&[outs, ins][..], &self.kernel].concat(), 22);
        let weight = Naive::from_fn(&grouped.shape, |i| {
            let same = i[0] / (outs / self.groups) == i[1] / (ins / self.groups);
            if same { grouped.at(i) } else { 0 }
        });
        let bias = Naive::sample(&[outs], 23);
        let shape = [&self.batch, &[outs][..], &self.output].concat();
        let expected = Naive::from_fn(&shape, |index| {
            let (batch, rest) = index.split_at(self.batch.len());
            let (out, place) = (rest[0], &rest[1..]);
            let mut sum = bias.at(&[out]);
            let _ = Naive::from_fn(&[&[ins][..], &self.kernel].concat(), |tap| {
                let (channel, tap) = (tap[0], &tap[1..]);
                let at: Option<Vec<usize>> = (0..rank)
                    .map(|a| {
                        let position = place[a] * self.stride[a] + tap[a] * self.dilation[a];
                        position.checked_sub(self.padding.0[a]).filter(|position| *position < self.input[a])
                    })
                    .collect();
                if let Some(at) = at {
                    let w = weight.at(&[&[out, channel][..], tap].concat());
                    sum += w * x.at(&[batch, &[channel], &at].concat());
                }
                0
            });
            sum
        });
        let fields = format!(
            r#","spatial_rank":{rank},"kernel":{:?},"stride":{:?},"padding":{:?},"padding_after":{:?},"dilation":{:?},
               "groups":{},"channel_axis":{},"in_channels":{ins},"out_channels":{outs},"weight":{:?},"bias":{:?}"#,
            self.kernel,
            self.stride,
            self.padding.0,
            self.padding.1,
            self.dilation,
            self.groups,
            self.batch.len(),
            weight.values,
            bias.values
        );
        assert_eq!(run(&[&x], "conv", &shape, &fields), expected);
    }
}

#[test]
fn convolutions() {
    let cases = [
        Case {
            batch: vec![],
            channels: (1, 1),
            groups: 1,
            input: vec![5],
            kernel: vec![2],
            stride: vec![1],
            padding: (vec![0], vec![0]),
            dilation: vec![1],
            output: vec![4],
        },
        Case {
            batch: vec![1],
            channels: (2, 3),
            groups: 1,
            input: vec![4, 5],
            kernel: vec![3, 2],
            stride: vec![2, 1],
            padding: (vec![1, 0], vec![1, 0]),
            dilation: vec![1, 2],
            output: vec![2, 3],
        },
        Case {
            batch: vec![2, 2],
            channels: (4, 2),
            groups: 2,
            input: vec![3, 3],
            kernel: vec![2, 2],
            stride: vec![1, 1],
            padding: (vec![1, 0], vec![0, 2]),
            dilation: vec![1, 1],
            output: vec![3, 4],
        },
        Case {
            batch: vec![1],
            channels: (3, 3),
            groups: 3,
            input: vec![2, 3, 2],
            kernel: vec![1, 2, 2],
            stride: vec![1, 2, 1],
            padding: (vec![0, 1, 1], vec![0, 1, 0]),
            dilation: vec![3, 1, 1],
            output: vec![2, 2, 2],
        },
        // The kernel covers padding only at some places.
        Case {
            batch: vec![],
            channels: (1, 2),
            groups: 1,
            input: vec![1],
            kernel: vec![1],
            stride: vec![2],
            padding: (vec![2], vec![3]),
            dilation: vec![1],
            output: vec![3],
        },
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn a_convolution_computed_by_hand() {
    // [1 2 3] with [1 10], padded by one on the left: 0·1+1·10, 1·1+2·10, 2·1+3·10, and 100 added. Not flipped.
    let x = Naive { shape: vec![1, 3], values: vec![1, 2, 3] };
    let fields = r#","spatial_rank":1,"kernel":[2],"stride":[1],"padding":[1],"padding_after":[0],"dilation":[1],
        "groups":1,"channel_axis":0,"in_channels":1,"out_channels":1,"weight":[[[1,10]]],"bias":[100]"#;
    assert_eq!(run(&[&x], "conv", &[1, 3], fields).values, [110, 121, 132]);
}

#[test]
fn numbers_are_rounded_once_to_binary64_and_then_exact() {
    let text = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
        {"id":0,"kind":"input","parents":[],"shape":[1]},
        {"id":1,"kind":"const","parents":[],"shape":[2],"values":[0.1, 1e-400]}]}"#;
    let graph = Graph::read(text.as_bytes(), None, &Limits::default()).unwrap();
    let lowered = graph.lower().unwrap();
    let Primitive::Affine(affine) = &lowered.program.nodes()[1].primitive else { panic!() };
    let value = affine.interval(2, &[]).unwrap();
    // 0.1 in binary64 is 3602879701896397 / 2^55.
    assert_eq!(value[0], Interval::point(Dyadic::new(3_602_879_701_896_397_i64, -55)));
    assert_eq!(value[1], Interval::point(Dyadic::zero()));
}

/// The functions of the library at 1/2 and at −2. The decimals, cut off below 10⁻²⁵ towards −∞, were computed from the exponential (in decimals of 60
/// digits) and from the power series (in fractions).
#[test]
fn functions_at_two_points() {
    let values: [(&str, [i128; 2]); 5] = [
        ("sigmoid", [6_224_593_312_018_545_646_389_005, 1_192_029_220_221_175_559_402_708]),
        ("tanh", [4_621_171_572_600_097_585_023_184, -9_640_275_800_758_168_839_464_138]),
        ("softplus", [9_740_769_841_801_066_808_729_973, 1_269_280_110_429_724_964_437_268]),
        ("sin", [4_794_255_386_042_030_002_732_879, -9_092_974_268_256_816_953_960_199]),
        ("cos", [8_775_825_618_903_727_161_162_815, -4_161_468_365_471_423_869_975_683]),
    ];
    for (kind, decimals) in values {
        let text = format!(
            r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
            {{"id":0,"kind":"input","parents":[],"shape":[2,1]}},{{"id":1,"kind":"{kind}","parents":[0],"shape":[2,1]}}]}}"#
        );
        let graph = Graph::read(text.as_bytes(), None, &Limits::default()).unwrap();
        let lowered = graph.lower().unwrap();
        let Primitive::Univariate { function, argument: 0 } = &lowered.program.nodes()[1].primitive else { panic!() };
        for (point, decimal) in [Dyadic::new(1, -1), Dyadic::new(-2, 0)].into_iter().zip(decimals) {
            let value = function.image(&Interval::point(point)).unwrap();
            let end = |decimal: i128| Rational::new(decimal.into(), 10_i128.pow(25).into());
            let (lower, upper) = (value.lower.to_rational(), value.upper.to_rational());
            assert!(lower <= upper && end(decimal) < lower && upper < end(decimal + 1), "{kind}: {lower} {upper}");
        }
        // The values between two points are among those of the interval; wrong shapes and arities are refused as for relu.
        let image = function.image(&Interval { lower: Dyadic::new(-2, 0), upper: Dyadic::new(1, -1) }).unwrap();
        let inner = function.image(&Interval::point(Dyadic::new(-1, -2))).unwrap();
        assert!(image.lower <= inner.lower && inner.upper <= image.upper, "{kind}");
        for (of, to) in [("[2,1]}]}", "[1,2]}]}"), ("[0]", "[0,0]"), ("[0]", "[]")] {
            let broken = text.replacen(of, to, 1);
            assert!(broken != text && Graph::read(broken.as_bytes(), None, &Limits::default()).is_err(), "{broken}");
        }
    }
}
