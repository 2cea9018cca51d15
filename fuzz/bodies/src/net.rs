//! Graphs with their numbers: from the kernel's reader or grown by chance, and back to documents.

use crate::meaning::Number;
use certkern_core::num::Rational;
use certkern_core::tensor::Values;
use certkern_graph::{Attribute, Graph};
use certkern_onnx::{Dtype, write_safetensors};
use serde_json::{Map, Value, json};

/// Numbers of a node.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Their shape.
    pub shape: Vec<usize>,
    /// In row-major order.
    pub values: Vec<f64>,
    /// Whether they are binary32.
    pub single: bool,
    /// The numbers themselves, where they are spelled as exact ones; `values` are then near them.
    pub exact: Option<Vec<Rational>>,
}

/// A node. Of attention the shape is that of the output.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operator.
    pub kind: &'static str,
    /// The places of its parents.
    pub parents: Vec<usize>,
    /// The shape that it declares.
    pub shape: Vec<usize>,
    /// Attributes, defaults written out.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Its numbers by field.
    pub payload: Vec<(&'static str, Numbers)>,
}

/// A graph.
#[derive(Clone, Debug)]
pub struct Net {
    /// All nodes, parents before children.
    pub nodes: Vec<Node>,
    /// The place of the input.
    pub input: usize,
    /// The places of the outputs.
    pub outputs: Vec<usize>,
}

/// Attributes that are written as Booleans.
const FLAGS: [&str; 5] = ["keepdim", "count_include_pad", "batch_first", "dropout_zero", "bias"];

impl Numbers {
    fn document(&self) -> Value {
        let texts = self.exact.as_ref().map(|exact| exact.iter().map(|number| json!(number.to_string())).collect());
        let mut values: Vec<Value> = texts.unwrap_or_else(|| self.values.iter().map(|value| json!(value)).collect());
        if self.shape.is_empty() { values.remove(0) } else { Value::Array(values) }
    }
}

impl Node {
    /// An attribute that is one number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<usize> {
        match self.attribute(name)? {
            Attribute::Number(number) => Some(*number),
            Attribute::List(_) => None,
        }
    }

    /// An attribute that is a list.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<&[usize]> {
        match self.attribute(name)? {
            Attribute::List(list) => Some(list),
            Attribute::Number(_) => None,
        }
    }

    /// An attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// A field of the payload.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Numbers> {
        self.payload.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    fn document(&self, id: usize, inside: bool) -> Value {
        let mut node = Map::new();
        node.insert("id".to_owned(), json!(id));
        node.insert("kind".to_owned(), json!(self.kind));
        node.insert("parents".to_owned(), json!(self.parents));
        if self.kind == "multihead_attention" {
            node.insert("value_kind".to_owned(), json!("tuple"));
            node.insert("tuple_shapes".to_owned(), json!([self.shape]));
        } else {
            node.insert("shape".to_owned(), json!(self.shape));
        }
        for (name, value) in &self.attributes {
            let value = match value {
                Attribute::Number(number) if FLAGS.contains(name) => json!(*number == 1),
                Attribute::Number(number) => json!(number),
                Attribute::List(list) => json!(list),
            };
            node.insert((*name).to_owned(), value);
        }
        for (name, numbers) in self.payload.iter().filter(|(_, numbers)| inside || numbers.exact.is_some()) {
            node.insert((*name).to_owned(), numbers.document());
        }
        Value::Object(node)
    }
}

impl Net {
    /// What the kernel has read.
    pub fn of(graph: &Graph) -> Self {
        let node = |node: &certkern_graph::Node| Node {
            kind: node.kind(),
            parents: node.parents().to_vec(),
            shape: node.shape().to_vec(),
            attributes: node.attributes().to_vec(),
            payload: node.payload().map(|(name, tensor)| (name, numbers(tensor))).collect(),
        };
        let nodes = graph.nodes().iter().map(node).collect();
        Self { nodes, input: graph.input_id(), outputs: graph.output_ids().to_vec() }
    }

    /// The graph's document, its numbers in the nodes (`inside`) or left to [`Net::payload`].
    pub fn document(&self, inside: bool) -> Vec<u8> {
        let nodes = self.nodes.iter().enumerate().map(|(id, node)| node.document(id, inside));
        let document = json!({"format": "certkern.ir.v1", "input_id": self.input, "output_ids": self.outputs,
            "nodes": nodes.collect::<Vec<_>>()});
        document.to_string().into_bytes()
    }

    /// The payload file.
    pub fn payload(&self) -> Vec<u8> {
        let nodes = self.nodes.iter().enumerate();
        let tensors = nodes.flat_map(|(id, node)| node.payload.iter().map(move |(name, own)| (id, *name, own)));
        let tensors = tensors.filter(|(_, _, own)| own.exact.is_none());
        let tensors: Vec<_> = tensors
            .map(|(id, name, Numbers { shape, values, single, .. })| {
                let (dtype, bytes) = if *single {
                    (Dtype::F32, values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect())
                } else {
                    (Dtype::F64, values.iter().flat_map(|value| value.to_le_bytes()).collect())
                };
                (format!("{id}.{name}"), dtype, shape.clone(), bytes)
            })
            .collect();
        write_safetensors(&tensors)
    }
}

fn numbers(tensor: &certkern_core::tensor::Tensor) -> Numbers {
    let (values, single, exact) = match tensor.values() {
        Values::Binary32(bits) => (bits.iter().map(|bits| f64::from(f32::from_bits(*bits))).collect(), true, None),
        Values::Binary64(bits) => (bits.iter().map(|bits| f64::from_bits(*bits)).collect(), false, None),
        Values::Exact(exact) => (exact.iter().map(f64::ratio).collect(), false, Some(exact.clone())),
    };
    Numbers { shape: tensor.shape().to_vec(), values, single, exact }
}
