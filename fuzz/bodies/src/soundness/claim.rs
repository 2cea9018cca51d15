//! Claims about small networks, with points where the values are known.

use crate::grow::World;
use crate::limits;
use crate::lowering::rounded;
use crate::meaning::{self, Array, Number};
use crate::net::Net;
use crate::source::Choices;
use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable};
use certkern_graph::Graph;
use certkern_seal::Digests;
use num_traits::{Signed, Zero};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How the claim is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An unsafe set.
    Rows,
    /// Bounds of the outputs.
    Bounds,
}

/// Between these two lies a value at a sample; they are the same where it is known exactly.
type Range = (Rational, Rational);

/// A point of the region, and what is known of every node there.
pub(super) struct Sample {
    pub(super) x: Vec<Rational>,
    values: Vec<Vec<Range>>,
}

/// One side of a split: node, coordinate, threshold, and whether the value is at least that.
pub(super) type Literal = (usize, usize, Rational, bool);

pub(super) struct Claim {
    pub(super) net: Net,
    pub(super) property: Property,
    pub(super) samples: Vec<Sample>,
    /// For each sample whether it surely lies in each disjunct.
    violated: Vec<Vec<bool>>,
    form: Form,
}

impl Sample {
    /// `None` where the values are not known.
    fn new(net: &Net, x: Vec<Rational>) -> Option<Self> {
        let ranges = |values: &[Range]| values.to_vec();
        let values = if let Some(values) = meaning::values::<Rational>(net, &x) {
            let exact = |value: Array<Rational>| value.values.into_iter().map(|v| (v.clone(), v)).collect();
            values.into_iter().map(exact).collect()
        } else {
            let (values, tolerance) = rounded(net, &x)?;
            let range = |v: &f64| (Rational::of(v - tolerance), Rational::of(v + tolerance));
            values.iter().map(|value| ranges(&value.values.iter().map(range).collect::<Vec<_>>())).collect()
        };
        Some(Self { x, values })
    }

    pub(super) fn value(&self, node: usize, coordinate: usize) -> &Range {
        &self.values[node][coordinate]
    }

    /// Whether the point surely lies in this leaf.
    pub(super) fn satisfies(&self, leaf: &[Literal]) -> bool {
        leaf.iter().all(|(node, coordinate, threshold, at_least)| {
            let (low, high) = self.value(*node, *coordinate);
            if *at_least { low >= threshold } else { high <= threshold }
        })
    }

    fn outputs(&self, net: &Net) -> Vec<Range> {
        net.outputs.iter().flat_map(|id| self.values[*id].clone()).collect()
    }

    /// `Σ c·v − bound`.
    fn excess(&self, net: &Net, row: &Row) -> Range {
        let y = self.outputs(net);
        let mut sum = (-&row.bound, -&row.bound);
        for (variable, c) in &row.terms {
            let (low, high) = match variable {
                Variable::X(i) => (self.x[*i].clone(), self.x[*i].clone()),
                Variable::Y(i) => y[*i].clone(),
            };
            let (low, high) = if c.is_negative() { (high, low) } else { (low, high) };
            sum = (sum.0 + c * low, sum.1 + c * high);
        }
        sum
    }
}

impl Claim {
    /// A claim that fails at a sample as a rule; `None` if the values are not known there.
    pub(super) fn new(u: &mut Choices<'_>, form: Form) -> Option<Self> {
        let width = 1 + u.below(3);
        let x: Vec<Rational> = (0..width).map(|_| u.ratio()).collect();
        let ends = x.iter().map(|x| (x - u.room(), x + u.room()));
        let (lower, upper): (Vec<Rational>, Vec<Rational>) = ends.unzip();
        let net = network(u, &x);
        let mut samples = vec![Sample::new(&net, x)?];
        let mut more = |point: Vec<Rational>| samples.extend(Sample::new(&net, point));
        more((0..width).map(|i| if u.below(2) == 0 { lower[i].clone() } else { upper[i].clone() }).collect());
        if u.below(2) == 0 {
            let part = Rational::new(u.between(0, 8).into(), 8.into());
            more((0..width).map(|i| &lower[i] + (&upper[i] - &lower[i]) * &part).collect());
        }
        let outputs = samples[0].outputs(&net);
        let mut property = Property { lower, upper, outputs: outputs.len(), disjuncts: vec![] };
        // Now and then the claim has room, and may be true: that the harness can see something accepted.
        let honest = u.below(3) == 0;
        property.disjuncts = match form {
            Form::Rows => (0..1 + u.below(2))
                .map(|_| (0..1 + u.below(2)).map(|_| row(u, &net, &samples, honest)).collect())
                .collect(),
            Form::Bounds => bounds(u, &outputs, honest),
        };
        let holds = |sample: &Sample, row: &Row| {
            let (_, high) = sample.excess(&net, row);
            if row.strict { high.is_negative() } else { !high.is_positive() }
        };
        let inside = |sample: &Sample, rows: &Vec<Row>| rows.iter().all(|row| holds(sample, row));
        let all = |sample: &Sample| property.disjuncts.iter().map(|rows| inside(sample, rows)).collect();
        let violated = samples.iter().map(all).collect();
        Some(Self { net, property, samples, violated, form })
    }

    /// Whether the sample of this number surely lies in this disjunct.
    pub(super) fn violates(&self, sample: usize, disjunct: usize) -> bool {
        self.violated[sample][disjunct]
    }

    /// Whether the sample surely lies outside this disjunct.
    pub(super) fn misses(&self, sample: &Sample, disjunct: usize) -> bool {
        self.property.disjuncts[disjunct].iter().any(|row| {
            let (low, _) = sample.excess(&self.net, row);
            if row.strict { !low.is_negative() } else { low.is_positive() }
        })
    }

    pub(super) fn is_false(&self) -> bool {
        self.violated.iter().flatten().any(|violated| *violated)
    }

    /// The files of the bundle with this certificate: a witness if it has no hints.
    pub(super) fn bundle(&self, certificate: String, hints: Option<Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
        let graph = self.net.document(true);
        let read = Graph::read(&graph, None, &limits());
        let read = read.unwrap_or_else(|rejection| panic!("{rejection}: {}", String::from_utf8_lossy(&graph)));
        let digests = Digests::of(&read, &self.property.clone().into()).by_role();
        let digests: Vec<String> = digests.iter().map(|(role, hex)| format!("\"{}\":\"{hex}\"", role.name())).collect();
        let mut files = BTreeMap::from([
            ("graph.json".to_owned(), graph),
            ("payload.safetensors".to_owned(), certkern_onnx::write_safetensors(&[])),
            ("cert.json".to_owned(), certificate.into_bytes()),
        ]);
        let kind = match (&hints, self.form) {
            (None, _) => "witness",
            (Some(_), Form::Rows) => "leaves",
            (Some(_), Form::Bounds) => "bound",
        };
        let mut named = r#""graph":"graph.json","payload":"payload.safetensors","certificate":"cert.json""#.to_owned();
        if let Some(hints) = hints {
            named.push_str(r#","hints":"cert.safetensors""#);
            files.insert("cert.safetensors".to_owned(), hints);
        }
        match self.form {
            Form::Rows => {
                named.push_str(r#","property":"property.json""#);
                files.insert("property.json".to_owned(), document(&self.property).into_bytes());
            }
            Form::Bounds => {
                named.push_str(r#","region":"region.json","bound":"bound.json""#);
                let Property { lower, upper, .. } = &self.property;
                let region = format!(r#"{{"lo":{},"hi":{}}}"#, list(lower.iter()), list(upper.iter()));
                files.insert("region.json".to_owned(), region.into_bytes());
                files.insert("bound.json".to_owned(), self.bound().into_bytes());
            }
        }
        let manifest = format!(
            r#"{{"format":"certkern.bundle.v1","kind":"{kind}","files":{{{named}}},"digests":{{{}}}}}"#,
            digests.join(",")
        );
        files.insert("bundle.json".to_owned(), manifest.into_bytes());
        files
    }

    fn bound(&self) -> String {
        let ends = |side: usize| -> Vec<Rational> {
            let rows = self.property.disjuncts.iter().skip(side).step_by(2);
            rows.map(|rows| &rows[0].bound * &rows[0].terms[0].1).collect()
        };
        let (lower, upper) = (list(ends(0).iter()), list(ends(1).iter()));
        format!(r#"{{"format":"torchlean.bound.v1","lower":{lower},"upper":{upper}}}"#)
    }
}

/// A network of a few nodes, mostly of relu, products and maxima; the library's functions cost the kernel a hundred times as much.
fn network(u: &mut Choices<'_>, x: &[Rational]) -> Net {
    const PLAIN: [&str; 14] = [
        "linear", "linear", "linear", "linear", "relu", "relu", "relu", "relu", "relu", "add", "sub", "max_elem",
        "min_elem", "mul_elem",
    ];
    const LINEAR: [&str; 10] =
        ["linear", "abs", "leaky_relu", "clip", "hard_sigmoid", "neg", "concat", "max_n", "prelu", "relu"];
    const CURVED: [&str; 15] = [
        "tanh",
        "sigmoid",
        "exp",
        "sin",
        "cos",
        "erf",
        "softplus",
        "gelu",
        "silu",
        "elu",
        "softmax",
        "hard_swish",
        "inv",
        "pow",
        "selu",
    ];
    let values = x.iter().map(f64::ratio).collect();
    let mut world = World::new(Array { shape: vec![x.len()], values });
    let palette = match u.below(192) {
        0 => &CURVED[..],
        1..=12 => &LINEAR,
        _ => &PLAIN,
    };
    world.of_kind(u, "linear");
    for _ in 0..1 + u.below(4) {
        let kind = if u.below(2) == 0 { u.pick(palette) } else { u.pick(&PLAIN) };
        world.of_kind(u, kind);
    }
    if u.below(2) == 0 {
        world.of_kind(u, "linear");
    }
    let last = world.last();
    world.net.outputs = if u.one_in(5) { vec![u.below(last + 1), last] } else { vec![last] };
    world.net
}

/// A row that holds at a sample, closed ones with equality more often than not; with `room` it fails there by some.
fn row(u: &mut Choices<'_>, net: &Net, samples: &[Sample], room: bool) -> Row {
    let sample = if u.one_in(4) { &samples[u.below(samples.len())] } else { &samples[0] };
    let outputs = sample.outputs(net).len();
    let y = (0..outputs).filter(|_| u.below(3) > 0).map(Variable::Y).collect::<Vec<_>>();
    let x = (0..sample.x.len()).filter(|_| u.one_in(5)).map(Variable::X).collect::<Vec<_>>();
    let terms = x.into_iter().chain(y).map(|variable| (variable, u.ratio())).filter(|(_, c)| !c.is_zero()).collect();
    let mut row = Row { terms, bound: Rational::default(), strict: u.one_in(3) };
    let (low, high) = sample.excess(net, &row);
    let apart = low != high || row.strict;
    row.bound = match room {
        true => low - u.room() - Rational::new(u.between(0, 40).into(), 4.into()),
        false if apart => high + u.room() + Rational::new(1.into(), (1_u64 << 40).into()),
        false => high + if u.below(2) == 0 { Rational::default() } else { u.room() },
    };
    row
}

/// The rows outside bounds around these outputs, one of which is wrong unless there is `room`.
fn bounds(u: &mut Choices<'_>, outputs: &[Range], room: bool) -> Vec<Vec<Row>> {
    let wrong = u.below(2 * outputs.len());
    let tiny = Rational::new(1.into(), (1_u64 << 40).into());
    let mut rows = Vec::new();
    for (output, (low, high)) in outputs.iter().enumerate() {
        let wide = Rational::from_integer(u.between(0, 20).into());
        let (mut lower, mut upper) = (low - u.room() - &wide, high + u.room() + &wide);
        match wrong {
            w if room || w / 2 != output => {}
            w if w % 2 == 0 => {
                lower = high + &tiny + u.room();
                upper = upper.max(lower.clone());
            }
            _ => {
                upper = low - &tiny - u.room();
                lower = lower.min(upper.clone());
            }
        }
        for (sign, bound) in [(1, lower), (-1, upper)] {
            let sign = Rational::from_integer(sign.into());
            rows.push(vec![Row { bound: bound * &sign, terms: vec![(Variable::Y(output), sign)], strict: true }]);
        }
    }
    rows
}

/// A list of exact numbers.
pub(super) fn list<'r>(numbers: impl Iterator<Item = &'r Rational>) -> String {
    format!("[{}]", numbers.map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(","))
}

/// A property in JSON.
pub(crate) fn document(property: &Property) -> String {
    let side = |row: &Row, x: bool| {
        let mut text = String::new();
        for (variable, c) in &row.terms {
            let (own, index) = match variable {
                Variable::X(index) => (true, index),
                Variable::Y(index) => (false, index),
            };
            if own == x {
                let _ = write!(text, "{}\"{index}\":\"{c}\"", if text.is_empty() { "" } else { "," });
            }
        }
        text
    };
    let row = |row: &Row| {
        let (x, y) = (side(row, true), side(row, false));
        format!(r#"{{"x":{{{x}}},"y":{{{y}}},"bound":"{}","strict":{}}}"#, row.bound, row.strict)
    };
    let disjunct = |rows: &Vec<Row>| format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(","));
    let disjuncts: Vec<String> = property.disjuncts.iter().map(disjunct).collect();
    format!(
        r#"{{"format":"certkern.property.v1","outputs":{},"lower":{},"upper":{},"unsafe":[{}]}}"#,
        property.outputs,
        list(property.lower.iter()),
        list(property.upper.iter()),
        disjuncts.join(",")
    )
}

/// `cert.json` of a witness.
pub(super) fn witness(x: &[Rational]) -> String {
    format!(r#"{{"format":"certkern.witness.v1","x":{}}}"#, list(x.iter()))
}
