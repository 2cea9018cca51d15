//! The module as text.

use crate::expression::expression;
use crate::layer::layer;
use crate::literal::literals;
use crate::site::{Float, Refusal, Site, tuple};
use crate::state::{Entry, file};
use certkern_graph::Graph;
use std::fmt::Write;

/// A module: its source, and the bytes of its state dictionary as safetensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `model.py`: a class `Model`.
    pub source: String,
    /// `model.safetensors`: its state dictionary.
    pub state: Vec<u8>,
}

/// Payload fields of one number that stand in the source.
const IN_SOURCE: &[(&str, &[&str])] = &[
    ("batch_norm_eval", &["eps"]),
    ("layernorm", &["eps"]),
    ("clip", &["low", "high"]),
    ("elu", &["alpha"]),
    ("hard_sigmoid", &["alpha", "beta"]),
    ("leaky_relu", &["alpha"]),
    ("pad", &["value"]),
    ("pow", &["exponent"]),
    ("selu", &["alpha", "gamma"]),
];

/// Writes a graph as a module: one statement for each node.
///
/// # Errors
/// [`Refusal`] at the first node that PyTorch does not compute as the graph means it, or whose numbers are of another type than those before it.
pub fn write(graph: &Graph) -> Result<Model, Refusal> {
    let literals = literals(graph);
    let float = number_type(graph, &literals);
    let mut text = Text::default();
    for (id, node) in graph.nodes().iter().enumerate() {
        if let Some(literal) = &literals[id] {
            text.names.push(literal.clone());
            continue;
        }
        let parents = node.parents().iter().map(|parent| text.names[*parent].clone()).collect();
        text.add(&Site { id, node, graph, parents, float })?;
    }
    Ok(text.finish(graph, float))
}

/// The type of the first numbers that do not stand in the source; binary32 if there are none.
fn number_type(graph: &Graph, literals: &[Option<String>]) -> Float {
    let mut nodes = graph.nodes().iter().zip(literals).filter(|(_, literal)| literal.is_none());
    let of_node = |(node, _): (&certkern_graph::Node, _)| {
        let single = IN_SOURCE.iter().find(|(kind, _)| *kind == node.kind()).map_or(&[][..], |(_, fields)| fields);
        node.payload().filter(|(field, _)| !single.contains(field)).find_map(|(_, tensor)| Float::of(tensor))
    };
    nodes.find_map(of_node).unwrap_or(Float::Binary32)
}

/// The parts of the source while nodes are added.
#[derive(Default)]
struct Text {
    /// What each node is called.
    names: Vec<String>,
    made: Vec<String>,
    forward: Vec<String>,
    state: Vec<Entry>,
}

impl Text {
    fn add(&mut self, site: &Site) -> Result<(), Refusal> {
        if site.node.kind() == "input" {
            self.names.push("x".to_owned());
            return Ok(());
        }
        let call = match layer(site)? {
            Some(layer) => {
                let layer = layer.of_type(site, site.float)?;
                self.made.push(layer.made);
                self.state.extend(layer.state);
                layer.call
            }
            None => expression(site)?.ok_or_else(|| {
                site.refuse("is not written as PyTorch", "write the node as others, such as linear, matmul and softmax")
            })?,
        };
        let name = format!("v{}", site.id);
        self.forward.push(format!("{name} = {call}"));
        self.names.push(name);
        Ok(())
    }

    fn finish(self, graph: &Graph, float: Float) -> Model {
        let input = graph.nodes().get(graph.input_id()).map_or(&[][..], |node| node.shape());
        let outputs: Vec<&str> = graph.output_ids().iter().map(|id| self.names[*id].as_str()).collect();
        let functional =
            if self.forward.iter().any(|line| line.contains("F.")) { "import torch.nn.functional as F\n" } else { "" };
        let mut source = format!(
            "\"\"\"A network that certkern wrote from a graph. Its numbers are in model.safetensors:\n\n    \
             from safetensors.torch import load_file\n    net = Model()\n    net.load_state_dict(load_file(\"model.safetensors\"))\n\n\
             The input is of type {} and shape {}.\n\"\"\"\n\nimport torch\n{functional}from torch import nn\n\n\n\
             class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n",
            float.name(),
            tuple(input),
        );
        for line in &self.made {
            let _ = writeln!(source, "        {line}");
        }
        source.push_str("        self.eval()\n\n    def forward(self, x):\n");
        for line in &self.forward {
            let _ = writeln!(source, "        {line}");
        }
        let _ = writeln!(source, "        return {}", outputs.join(", "));
        Model { source, state: file(self.state) }
    }
}
