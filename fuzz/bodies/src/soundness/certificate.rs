//! Certificates of kind `leaves` by chance: trees, bound sets, slopes, multipliers. They fit the claim in shape, and mean nothing.

use super::claim::Claim;
use super::sample::Literal;
use super::statement::list;
use crate::meaning::Number;
use crate::source::Choices;
use certkern_core::num::Rational;
use certkern_onnx::{Dtype, write_safetensors};

/// Operators whose slopes a certificate may give.
const ACTIVATIONS: [&str; 18] = [
    "relu",
    "abs",
    "sigmoid",
    "tanh",
    "softplus",
    "exp",
    "sin",
    "cos",
    "erf",
    "inv",
    "pow",
    "leaky_relu",
    "elu",
    "clip",
    "hard_sigmoid",
    "gelu",
    "silu",
    "sqrt",
];

type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

pub(super) struct Certificate {
    /// For each disjunct its tree.
    trees: Vec<usize>,
    /// For each tree its leaves, each a list of literals.
    leaves: Vec<Vec<Vec<Literal>>>,
    thresholds: Vec<Rational>,
    sets: Vec<&'static str>,
    precision: usize,
    tensors: Vec<Tensor>,
}

/// The nodes of all trees in preorder.
#[derive(Default)]
struct Preorder {
    kind: Vec<u8>,
    node: Vec<u32>,
    coordinate: Vec<u32>,
    threshold: Vec<u32>,
    bounds: Vec<u32>,
    offset: Vec<u32>,
}

fn u32s(name: String, values: &[u32]) -> Tensor {
    (name, Dtype::U32, vec![values.len()], values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn floats(name: String, shape: &[usize], values: &[f64]) -> Tensor {
    (name, Dtype::F64, shape.to_vec(), values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl Certificate {
    pub(super) fn new(u: &mut Choices<'_>, claim: &Claim) -> Self {
        let disjuncts = claim.property.disjuncts.len();
        let trees: Vec<usize> = if u.below(2) == 0 { vec![0; disjuncts] } else { (0..disjuncts).collect() };
        let sets: Vec<&'static str> = (0..u.below(3)).map(|_| u.pick(&["plain", "slopes"])).collect();
        let count = trees.last().map_or(1, |last| last + 1);
        let mut own = Self {
            trees,
            leaves: vec![],
            thresholds: vec![],
            sets,
            precision: u.pick(&[2, 3, 3, 5, 16]),
            tensors: vec![],
        };
        let mut nodes = Preorder { offset: vec![0], ..Preorder::default() };
        for _ in 0..count {
            let (mut leaves, depth) = (Vec::new(), u.below(4));
            own.grow(u, claim, depth, &mut Vec::new(), &mut leaves, &mut nodes);
            nodes.offset.push(small(nodes.kind.len()));
            own.leaves.push(leaves);
        }
        own.tensors.push(u32s("tree.offset".to_owned(), &nodes.offset));
        own.tensors.push(("tree.kind".to_owned(), Dtype::U8, vec![nodes.kind.len()], nodes.kind));
        for (name, column) in [("node", nodes.node), ("coordinate", nodes.coordinate), ("threshold", nodes.threshold)] {
            own.tensors.push(u32s(format!("tree.{name}"), &column));
        }
        if u.below(2) == 0 {
            own.tensors.push(u32s("tree.bounds".to_owned(), &nodes.bounds));
        }
        own.bound_sets(u, claim);
        own.leaf_hints(u, claim);
        own
    }

    /// A subtree. It recurses as deep as `depth`.
    fn grow(
        &mut self,
        u: &mut Choices<'_>,
        claim: &Claim,
        depth: usize,
        path: &mut Vec<Literal>,
        leaves: &mut Vec<Vec<Literal>>,
        nodes: &mut Preorder,
    ) {
        nodes.bounds.push(if u.one_in(3) { small(u.below(self.sets.len() + 1)) } else { 0 });
        if depth == 0 || u.one_in(4) {
            nodes.kind.push(0);
            for column in [&mut nodes.node, &mut nodes.coordinate, &mut nodes.threshold] {
                column.push(0);
            }
            leaves.push(path.clone());
            return;
        }
        let node = u.below(claim.net.nodes.len());
        let coordinate = u.below(claim.net.nodes[node].shape.iter().product());
        let threshold = match u.below(6) {
            0 | 1 => Rational::of(0.0),
            2 => u.ratio(),
            // A sample lies on the threshold: it belongs to both halves.
            _ => claim.samples[u.below(claim.samples.len())].value(node, coordinate).0.clone(),
        };
        let place = self.thresholds.iter().position(|known| *known == threshold).unwrap_or_else(|| {
            self.thresholds.push(threshold.clone());
            self.thresholds.len() - 1
        });
        nodes.kind.push(1);
        nodes.node.push(small(node));
        nodes.coordinate.push(small(coordinate));
        nodes.threshold.push(small(place));
        for at_least in [true, false] {
            path.push((node, coordinate, threshold.clone(), at_least));
            self.grow(u, claim, depth - 1, path, leaves, nodes);
            path.pop();
        }
    }

    /// Activations that depend on the input, with the widths.
    fn activations(claim: &Claim) -> Vec<(usize, usize)> {
        let nodes = claim.net.nodes.iter().enumerate();
        let own = nodes.filter(|(_, node)| ACTIVATIONS.contains(&node.kind));
        own.map(|(id, node)| (id, node.shape.iter().product())).collect()
    }

    fn slope(u: &mut Choices<'_>, claim: &Claim, activation: usize) -> f64 {
        match claim.net.nodes[activation].kind {
            "relu" => u.between(0, 16) as f64 / 16.0,
            _ => u.number(),
        }
    }

    fn table(u: &mut Choices<'_>, claim: &Claim, activation: usize, name: String, shape: [usize; 2]) -> Tensor {
        let values: Vec<f64> = (0..shape[0] * shape[1]).map(|_| Self::slope(u, claim, activation)).collect();
        floats(name, &shape, &values)
    }

    fn columns(u: &mut Choices<'_>, width: usize) -> Vec<u32> {
        (0..width).filter(|_| u.below(4) > 0).map(small).collect()
    }

    fn bound_sets(&mut self, u: &mut Choices<'_>, claim: &Claim) {
        for set in (0..self.sets.len()).filter(|set| self.sets[*set] == "slopes").collect::<Vec<_>>() {
            let mut starts: Vec<usize> =
                Self::activations(claim).into_iter().map(|(id, _)| claim.net.nodes[id].parents[0]).collect();
            starts.dedup();
            for start in starts {
                let seen = format!("bounds.{set}.{start}.");
                if u.below(3) == 0 || self.tensors.iter().any(|(name, ..)| name.starts_with(&seen)) {
                    continue;
                }
                let rows = Self::columns(u, claim.net.nodes[start].shape.iter().product());
                self.tensors.push(u32s(format!("{seen}rows"), &rows));
                for (act, width) in Self::activations(claim).into_iter().filter(|(act, _)| *act < start) {
                    let columns = Self::columns(u, width);
                    let shape = [rows.len(), columns.len()];
                    self.tensors.push(u32s(format!("{seen}{act}.columns"), &columns));
                    for side in ["lower", "upper"] {
                        let name = format!("{seen}{act}.{side}");
                        self.tensors.push(Self::table(u, claim, act, name.clone(), shape));
                        if u.one_in(4) {
                            self.tensors.push(Self::table(u, claim, act, format!("{name}.high"), shape));
                        }
                    }
                }
            }
        }
    }

    fn leaf_hints(&mut self, u: &mut Choices<'_>, claim: &Claim) {
        let entries = self.entries().into_iter().map(|(leaf, disjunct)| (leaf.len(), disjunct)).collect::<Vec<_>>();
        for (act, width) in Self::activations(claim) {
            if u.below(3) == 0 {
                continue;
            }
            let columns = Self::columns(u, width);
            let shape = [entries.len(), columns.len()];
            self.tensors.push(u32s(format!("leaf.{act}.columns"), &columns));
            self.tensors.push(Self::table(u, claim, act, format!("leaf.{act}.slope"), shape));
            if u.one_in(4) {
                self.tensors.push(Self::table(u, claim, act, format!("leaf.{act}.high"), shape));
            }
        }
        // The rows of the disjunct, then the constraints of the region.
        let all = |disjunct: usize| claim.property.disjuncts[disjunct].len() + claim.region.constraints();
        let rows = entries.iter().map(|(_, disjunct)| all(*disjunct)).collect::<Vec<_>>();
        let depths = entries.iter().map(|(depth, _)| *depth).collect::<Vec<_>>();
        for (prefix, places, counts) in [("leaf.rows", "index", rows), ("leaf.splits", "depth", depths)] {
            if u.below(3) > 0 {
                self.ragged(u, prefix, places, &counts);
            }
        }
    }

    /// Some of the first `counts[e]` places for each entry `e`, with multipliers.
    fn ragged(&mut self, u: &mut Choices<'_>, prefix: &str, places: &str, counts: &[usize]) {
        let (mut offsets, mut indices, mut multipliers) = (vec![0], Vec::new(), Vec::new());
        for count in counts {
            for place in (0..*count).filter(|_| u.below(3) > 0).collect::<Vec<_>>() {
                indices.push(small(place));
                multipliers.push(match u.below(6) {
                    0 => 0.0,
                    1 => f64::powi(2.0, u.between(-60, 60) as i32),
                    _ => u.between(1, 64) as f64 / 16.0,
                });
            }
            offsets.push(small(indices.len()));
        }
        self.tensors.push(u32s(format!("{prefix}.offset"), &offsets));
        self.tensors.push(u32s(format!("{prefix}.{places}"), &indices));
        self.tensors.push(floats(format!("{prefix}.multiplier"), &[multipliers.len()], &multipliers));
    }

    /// Pairs of a leaf and a disjunct, in order.
    pub(super) fn entries(&self) -> Vec<(&[Literal], usize)> {
        let mut entries = Vec::new();
        for (tree, leaves) in self.leaves.iter().enumerate() {
            for leaf in leaves {
                let served = self.trees.iter().enumerate().filter(|(_, own)| **own == tree);
                entries.extend(served.map(|(disjunct, _)| (leaf.as_slice(), disjunct)));
            }
        }
        entries
    }

    /// `cert.json`.
    pub(super) fn header(&self) -> String {
        format!(
            r#"{{"format":"certkern.leaves.v1","trees":{:?},"thresholds":{},"bounds":{:?},"precision":{}}}"#,
            self.trees,
            list(self.thresholds.iter()),
            self.sets,
            self.precision
        )
    }

    /// `cert.safetensors`.
    pub(super) fn hints(&self) -> Option<Vec<u8>> {
        Some(write_safetensors(&self.tensors))
    }
}
