//! Generated networks of dense layers with a split tree: many leaves, each a cheap pass.

use crate::crown::{Box, Layer, backward, root};
use crate::random::{self, Stream};
use crate::store::{self, Documents, Payload, Tensors};
use crate::tree::{DEEPEST, Neuron, SplitTree};
use certkern_onnx::Dtype;
use serde_json::json;
use std::io;
use std::path::Path;

/// What is generated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dense {
    pub(crate) inputs: usize,
    pub(crate) hidden: usize,
    pub(crate) width: usize,
    pub(crate) outputs: usize,
    /// Half the width of the region in each coordinate, in millionths.
    pub(crate) radius: i64,
    pub(crate) leaves: usize,
    pub(crate) seed: u64,
}

/// Leaves whose bounds tell where the unsafe set may begin.
const SAMPLE: usize = 400;

impl Dense {
    /// Six layers of 256 neurons, of which about 300 are unstable.
    pub(crate) fn six_by_256(leaves: usize) -> Self {
        Self { inputs: 256, hidden: 6, width: 256, outputs: 10, radius: 10_000, leaves, seed: 1 }
    }

    /// Writes the bundle as `folder`; gives the number of neurons without a sign at the root.
    ///
    /// The property says of the first output that it stays above a number far below the bounds of some leaves, so every leaf can be closed.
    ///
    /// # Errors
    /// What the file system gives.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<usize> {
        let layers = self.layers();
        let mut stream = Stream::new(self.seed ^ 0xB0C5);
        let centre: Vec<i64> = (0..self.inputs).map(|_| (stream.normal() * 1e6) as i64).collect();
        let ends = |sign: i64| centre.iter().map(move |c| c + sign * self.radius);
        let floats = |sign| ends(sign).map(|end| end as f64 / 1e6).collect();
        let region = Box { lower: floats(-1), upper: floats(1) };
        let bounds = root(&layers, &region);
        let columns: Vec<Vec<u32>> = bounds.iter().map(|b| b.unstable().map(|at| at as u32).collect()).collect();
        let place = |layer: usize| 1 + 2 * layer as u32;
        let neurons: Vec<Neuron> =
            columns.iter().enumerate().flat_map(|(k, c)| c.iter().map(move |at| (place(k), *at))).collect();
        if neurons.len() < DEEPEST {
            return Err(io::Error::other("too few unstable neurons to split"));
        }
        let tree = SplitTree::random(self.leaves, &neurons, self.seed ^ 0x7EE);
        let bound = self.threshold(&layers, &region, &bounds, &tree, &columns);
        let decimals = |sign| ends(sign).map(millionths).collect::<Vec<_>>();
        let property = store::property(&decimals(-1), &decimals(1), self.outputs, &millionths((bound * 1e6) as i64));
        let names: Vec<String> = (0..layers.len()).map(|k| place(k).to_string()).collect();
        let mut payload = Tensors::default();
        for (layer, name) in layers.iter().zip(&names) {
            payload.f32s(format!("{name}.weight"), &[layer.bias.len(), layer.inputs], &layer.weight);
            payload.f32s(format!("{name}.bias"), &[layer.bias.len()], &layer.bias);
        }
        let mut offsets = vec![0_u32];
        tree.depths.iter().for_each(|depth| offsets.push(offsets[offsets.len() - 1] + depth));
        let hints = self.hints(&tree, &columns, &offsets);
        let documents = Documents {
            graph: &self.graph(),
            payload: Payload::Tensors(&payload),
            property: &property,
            certificate: r#"{"format": "certkern.leaves.v1", "trees": [0], "thresholds": [0], "bounds": ["plain"]}"#,
            hints: Some(&hints),
        };
        store::bundle(folder, &documents)?;
        Ok(neurons.len())
    }

    fn layers(&self) -> Vec<Layer> {
        let mut stream = Stream::new(self.seed);
        let widths = [vec![self.inputs], vec![self.width; self.hidden], vec![self.outputs]].concat();
        let layers = widths.windows(2).map(|pair| {
            let (inputs, outputs) = (pair[0], pair[1]);
            let scale = (2.0 / inputs as f64).sqrt();
            Layer {
                inputs,
                weight: (0..inputs * outputs).map(|_| (stream.normal() * scale) as f32).collect(),
                bias: (0..outputs).map(|_| (stream.normal() * 0.1) as f32).collect(),
            }
        });
        layers.collect()
    }

    fn graph(&self) -> String {
        let mut nodes = vec![json!({"id": 0, "kind": "input", "parents": [], "shape": [1, self.inputs]})];
        for k in 0..=self.hidden {
            let (id, outputs) = (1 + 2 * k, if k == self.hidden { self.outputs } else { self.width });
            nodes.push(json!({"id": id, "kind": "linear", "parents": [id - 1], "shape": [1, outputs]}));
            if k < self.hidden {
                nodes.push(json!({"id": id + 1, "kind": "relu", "parents": [id], "shape": [1, outputs]}));
            }
        }
        let output = 2 * self.hidden + 1;
        json!({"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [output], "nodes": nodes}).to_string()
    }

    /// A number below the bounds of all leaves: below the least of a sample by three times its spread.
    fn threshold(&self, layers: &[Layer], region: &Box, bounds: &[Box], tree: &SplitTree, columns: &[Vec<u32>]) -> f64 {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let every = tree.leaves().div_ceil(SAMPLE);
        let mut entry = 0;
        tree.paths(|leaf, path| {
            if leaf % every == 0 {
                let mut own = bounds.to_vec();
                let mut pulls: Vec<Vec<f64>> = own.iter().map(|bounds| vec![0.0; bounds.lower.len()]).collect();
                for (depth, ((node, at), above)) in path.iter().enumerate() {
                    let (k, at) = ((*node as usize - 1) / 2, *at as usize);
                    let multiplier = f64::from(self.multiplier(entry + depth));
                    pulls[k][at] = if *above { multiplier } else { -multiplier };
                    if *above { own[k].lower[at] = 0.0 } else { own[k].upper[at] = 0.0 }
                }
                let slope = |k: usize, at: usize| {
                    let column = columns[k].binary_search(&(at as u32)).unwrap_or_default();
                    f64::from(self.slope(k, leaf * columns[k].len() + column))
                };
                let mut row = vec![0.0; self.outputs];
                row[0] = 1.0;
                let bound = backward(layers, self.hidden, row, region, &own, slope, |k, at| pulls[k][at]);
                (least, most) = (least.min(bound), most.max(bound));
            }
            entry += path.len();
        });
        least - 3.0 * (most - least) - 1.0
    }

    /// Element `place` of the slopes behind layer `layer`.
    fn slope(&self, layer: usize, place: usize) -> f32 {
        random::unit(self.seed ^ (0x510 + layer as u64), place as u64)
    }

    /// Element `place` of the multipliers of splits.
    fn multiplier(&self, place: usize) -> f32 {
        random::unit(self.seed ^ 0xBE7A, place as u64) / 32.0
    }

    fn hints<'a>(&'a self, tree: &'a SplitTree, columns: &'a [Vec<u32>], offsets: &'a [u32]) -> Tensors<'a> {
        let (leaves, multipliers) = (tree.leaves(), offsets[offsets.len() - 1] as usize);
        let mut hints = Tensors::default();
        for (k, columns) in columns.iter().enumerate().filter(|(_, columns)| !columns.is_empty()) {
            let act = 2 + 2 * k;
            hints.u32s(format!("leaf.{act}.columns"), columns);
            let count = leaves * columns.len();
            hints.add(format!("leaf.{act}.slope"), Dtype::F32, &[leaves, columns.len()], move |out| {
                (0..count).try_for_each(|place| out.write_all(&self.slope(k, place).to_le_bytes()))
            });
        }
        hints.add("leaf.splits.depth", Dtype::U32, &[multipliers], move |out| {
            let mut depths = tree.depths.iter().flat_map(|depth| 0..*depth);
            depths.try_for_each(|depth| out.write_all(&depth.to_le_bytes()))
        });
        hints.add("leaf.splits.multiplier", Dtype::F32, &[multipliers], move |out| {
            (0..multipliers).try_for_each(|place| out.write_all(&self.multiplier(place).to_le_bytes()))
        });
        hints.u32s("leaf.splits.offset", offsets);
        hints.u32s("tree.coordinate", &tree.coordinate);
        hints.add("tree.kind", Dtype::U8, &[tree.kind.len()], |out| out.write_all(&tree.kind));
        hints.u32s("tree.node", &tree.node);
        let nodes = tree.kind.len() as u32;
        hints.add("tree.offset", Dtype::U32, &[2], move |out| {
            [0, nodes].iter().try_for_each(|end: &u32| out.write_all(&end.to_le_bytes()))
        });
        hints.add("tree.threshold", Dtype::U32, &[tree.kind.len()], |out| {
            (0..tree.kind.len()).try_for_each(|_| out.write_all(&[0; 4]))
        });
        hints
    }
}

/// A decimal number.
pub(crate) fn millionths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let magnitude = number.unsigned_abs();
    format!("{sign}{}.{:06}", magnitude / 1_000_000, magnitude % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use certkern_claims::{Files, check_bundle};
    use certkern_report::Report;
    use certkern_wire::Limits;
    use std::collections::BTreeMap;

    /// The checker accepts what is generated, and nothing with a bound that no leaf reaches.
    #[test]
    fn every_leaf_can_be_closed() {
        let folder = std::env::temp_dir().join(format!("certkern-bench-{}", std::process::id()));
        let small = Dense { inputs: 8, hidden: 3, width: 12, outputs: 3, radius: 300_000, leaves: 50, seed: 3 };
        let unstable = small.write(&folder).unwrap();
        let read = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let named = |path: std::path::PathBuf| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
        };
        let bytes: BTreeMap<String, Vec<u8>> = read.map(named).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        let files: Files<'_> = bytes.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        let verdict = check_bundle(&files, &Limits::default(), &());
        assert!(verdict.line().starts_with("s ACCEPTED unsat "), "{}", Report::of(&verdict).text());
        assert!(Report::of(&verdict).text().contains(" 50 leaves, 50 entries"));
        assert!((DEEPEST..=36).contains(&unstable));
    }

    #[test]
    fn decimals_are_spelled_exactly() {
        assert_eq!(millionths(-1_500), "-0.001500");
        assert_eq!(millionths(12_000_001), "12.000001");
    }
}
