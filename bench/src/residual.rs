//! Generated residual networks of convolutions: one leaf, and thousands of rows of bounds at its root.

use crate::dense::millionths;
use crate::random::Stream;
use crate::store::{self, Documents, Payload, Tensors};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// What is generated: a convolution, stages of residual blocks, a dense layer, and the output.
#[derive(Clone, Debug)]
pub(crate) struct Residual {
    /// The side of the input image, which has three channels.
    pub(crate) side: usize,
    /// Channels and residual blocks of each stage; from the second on the first block halves the side.
    pub(crate) stages: Vec<(usize, usize)>,
    /// Neurons of the dense layer.
    pub(crate) dense: usize,
    /// Half the width of the region in each coordinate, in millionths of a millionth.
    pub(crate) radius: i64,
    pub(crate) seed: u64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) neurons: usize,
    pub(crate) parameters: usize,
}

/// A network under construction.
struct Builder {
    nodes: Vec<Value>,
    /// Name, shape and numbers of each tensor.
    payload: Vec<(String, Vec<usize>, Vec<f32>)>,
    stream: Stream,
    neurons: usize,
}

/// A value of the network: channels and side.
#[derive(Clone, Copy)]
struct Image {
    id: usize,
    channels: usize,
    side: usize,
}

impl Residual {
    /// About 10⁵ neurons and 10⁶ parameters.
    pub(crate) fn large() -> Self {
        Self { side: 32, stages: vec![(16, 2), (32, 1), (64, 1)], dense: 224, radius: 1_000_000, seed: 2 }
    }

    /// A tenth of that.
    pub(crate) fn small() -> Self {
        Self { side: 16, stages: vec![(8, 2), (16, 1)], dense: 96, radius: 10_000_000, seed: 2 }
    }

    /// Writes the bundle as `folder`. The property says of the first output that it stays above a number far below its value at the centre.
    ///
    /// # Errors
    /// What the file system gives.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<Size> {
        let builder = self.build();
        let mut payload = Tensors::default();
        for (name, shape, values) in &builder.payload {
            payload.f32s(name.clone(), shape, values);
        }
        let output = builder.nodes.len() - 1;
        let graph = json!({"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [output], "nodes": builder.nodes});
        let mut stream = Stream::new(self.seed ^ 0xB0C5);
        let centre: Vec<i64> = (0..3 * self.side * self.side).map(|_| (stream.unit() * 1e6) as i64).collect();
        let ends =
            |sign: i64| centre.iter().map(|c| trillionths(c * 1_000_000 + sign * self.radius)).collect::<Vec<_>>();
        let property = store::property(&ends(-1), &ends(1), OUTPUTS, &millionths(-BELOW));
        let documents = Documents {
            graph: &graph.to_string(),
            payload: Payload::Tensors(&payload),
            property: &property,
            certificate: r#"{"format": "certkern.leaves.v1", "trees": [0], "bounds": ["plain"]}"#,
            hints: None,
        };
        store::bundle(folder, &documents)?;
        Ok(builder.size())
    }

    fn build(&self) -> Builder {
        let mut builder =
            Builder { nodes: Vec::new(), payload: Vec::new(), stream: Stream::new(self.seed), neurons: 0 };
        let input = json!({"id": 0, "kind": "input", "parents": [], "shape": [1, 3, self.side, self.side]});
        builder.nodes.push(input);
        let image = Image { id: 0, channels: 3, side: self.side };
        let image = builder.convolution(image, self.stages[0].0, 3, 1, 1.0);
        let mut image = builder.relu(image);
        for (stage, (channels, blocks)) in self.stages.iter().enumerate() {
            for block in 0..*blocks {
                image = builder.block(image, *channels, if stage > 0 && block == 0 { 2 } else { 1 });
            }
        }
        let features = image.channels * image.side * image.side;
        let flat = builder.node("flatten", &[image.id], &[features], &json!({}));
        let hidden = builder.linear(flat, features, self.dense);
        let hidden = builder.node("relu", &[hidden], &[self.dense], &json!({}));
        builder.neurons += self.dense;
        builder.linear(hidden, self.dense, OUTPUTS);
        builder
    }
}

/// Classes.
const OUTPUTS: usize = 10;

/// How far below zero the unsafe set begins, in millionths: far more than the outputs of such networks reach.
const BELOW: i64 = 1_000_000_000;

impl Builder {
    fn size(&self) -> Size {
        Size { neurons: self.neurons, parameters: self.payload.iter().map(|(.., values)| values.len()).sum() }
    }

    fn node(&mut self, kind: &str, parents: &[usize], shape: &[usize], attributes: &Value) -> usize {
        let id = self.nodes.len();
        let mut node = json!({"id": id, "kind": kind, "parents": parents, "shape": shape});
        if let (Some(node), Some(attributes)) = (node.as_object_mut(), attributes.as_object()) {
            node.extend(attributes.clone());
        }
        self.nodes.push(node);
        id
    }

    /// Normal numbers with the deviation that keeps the size of values through a ReLU, times `gain`.
    fn weights(&mut self, id: usize, shape: &[usize], gain: f64) {
        let terms: usize = shape[1..].iter().product();
        let scale = gain * (2.0 / terms as f64).sqrt();
        let values = (0..shape.iter().product()).map(|_| (self.stream.normal() * scale) as f32).collect();
        self.payload.push((format!("{id}.weight"), shape.to_vec(), values));
        let bias = (0..shape[0]).map(|_| (self.stream.normal() * 0.1) as f32).collect();
        self.payload.push((format!("{id}.bias"), vec![shape[0]], bias));
    }

    fn convolution(&mut self, from: Image, channels: usize, kernel: usize, stride: usize, gain: f64) -> Image {
        let (side, padding) = (from.side / stride, kernel / 2);
        // With stride 2 on an even side the far edge needs no padding.
        let after = if stride == 2 && kernel == 3 { 0 } else { padding };
        let attributes = json!({
            "spatial_rank": 2, "kernel": [kernel, kernel], "stride": [stride, stride], "dilation": [1, 1], "groups": 1,
            "padding": [padding, padding], "padding_after": [after, after],
            "channel_axis": 1, "in_channels": from.channels, "out_channels": channels,
        });
        let id = self.node("conv", &[from.id], &[1, channels, side, side], &attributes);
        self.weights(id, &[channels, from.channels, kernel, kernel], gain);
        Image { id, channels, side }
    }

    fn relu(&mut self, from: Image) -> Image {
        let Image { channels, side, .. } = from;
        let id = self.node("relu", &[from.id], &[1, channels, side, side], &json!({}));
        self.neurons += channels * side * side;
        Image { id, ..from }
    }

    /// Two convolutions beside a path that passes the value on, or shrinks it by a convolution.
    fn block(&mut self, from: Image, channels: usize, stride: usize) -> Image {
        let inner = self.convolution(from, channels, 3, stride, 1.0);
        let inner = self.relu(inner);
        let inner = self.convolution(inner, channels, 3, 1, 0.3);
        let passed = if stride == 1 { from } else { self.convolution(from, channels, 1, stride, 1.0) };
        let Image { channels, side, .. } = inner;
        let id = self.node("add", &[inner.id, passed.id], &[1, channels, side, side], &json!({}));
        self.relu(Image { id, ..inner })
    }

    fn linear(&mut self, from: usize, inputs: usize, outputs: usize) -> usize {
        let id = self.node("linear", &[from], &[outputs], &json!({}));
        self.weights(id, &[outputs, inputs], 1.0);
        id
    }
}

/// A decimal number of that many millionths of a millionth.
fn trillionths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let magnitude = number.unsigned_abs();
    format!("{sign}{}.{:012}", magnitude / 1_000_000_000_000, magnitude % 1_000_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_one_is_as_large_as_a_resnet() {
        let Size { neurons, parameters } = Residual::large().build().size();
        assert!((90_000..120_000).contains(&neurons), "{neurons}");
        assert!((900_000..1_100_000).contains(&parameters), "{parameters}");
    }
}
