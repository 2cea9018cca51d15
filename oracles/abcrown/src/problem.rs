//! What a dump is about: the graph and the exact property, and where the nodes of the dump stand in them.

use crate::activation::Activation;
use crate::dump::Tensors;
use crate::error::ConvertError;
use crate::manifest::{Manifest, Node};
use certkern_core::property::Property;
use certkern_graph::Graph;
use num_traits::ToPrimitive;

/// The graph, as far as it matters here, and the property.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The input node.
    pub(crate) input: usize,
    /// The output nodes.
    pub(crate) outputs: Vec<usize>,
    /// The sizes of all nodes.
    pub(crate) widths: Vec<usize>,
    /// The activations in order, each with its node and its argument.
    pub(crate) activations: Vec<(Activation, usize, usize)>,
    /// The property.
    pub(crate) property: Property,
}

/// An activation of the dump and of the graph.
#[derive(Clone, Debug)]
pub(crate) struct Neurons {
    /// What it computes.
    pub(crate) activation: Activation,
    /// The activation, as the dump names it.
    pub(crate) act_name: String,
    /// Its argument, as the dump names it.
    pub(crate) pre_name: String,
    /// The node of the graph.
    pub(crate) act: usize,
    /// Its argument in the graph.
    pub(crate) pre: usize,
    /// The number of neurons.
    pub(crate) width: usize,
}

impl Problem {
    /// The problem of a graph and a property.
    pub(crate) fn new(graph: &Graph, property: Property) -> Self {
        let nodes = graph.nodes();
        let activations = nodes
            .iter()
            .enumerate()
            .filter_map(|(act, node)| Some((Activation::of_graph(node.kind())?, act, *node.parents().first()?)));
        Self {
            input: graph.input_id(),
            outputs: graph.output_ids().to_vec(),
            widths: nodes.iter().map(certkern_graph::Node::width).collect(),
            activations: activations.collect(),
            property,
        }
    }

    fn width(&self, node: usize) -> usize {
        self.widths.get(node).copied().unwrap_or(0)
    }

    /// The activations of the dump, in order, at their places in the graph.
    ///
    /// # Errors
    /// A [`ConvertError`] naming the nodes that do not fit.
    pub(crate) fn map_nodes(&self, manifest: &Manifest) -> Result<Vec<Neurons>, ConvertError> {
        check_order(&manifest.nodes)?;
        if let Some(other) = manifest.root_alpha.iter().find(|alpha| Activation::of_dump(&alpha.kind).is_none()) {
            return Err(ConvertError::Activation { node: other.act.clone(), kind: other.kind.clone() });
        }
        self.map_ends(manifest)?;
        let perturbed = manifest.nodes.iter().filter(|node| node.perturbed);
        let found: Vec<(Activation, &Node)> =
            perturbed.filter_map(|node| Some((Activation::of_dump(&node.kind)?, node))).collect();
        if !found.iter().map(|(kind, _)| kind).eq(self.activations.iter().map(|(kind, ..)| kind)) {
            return Err(ConvertError::Activations {
                dump: found.iter().map(|(_, node)| format!("{} ({})", node.name, node.kind)).collect(),
                graph: self.activations.iter().map(|(kind, act, _)| format!("{act} ({kind:?})")).collect(),
            });
        }
        let mut neurons = Vec::with_capacity(found.len());
        for ((activation, node), &(_, act, pre)) in found.into_iter().zip(&self.activations) {
            let argument = node.inputs.first().and_then(|name| find(&manifest.nodes, name)).ok_or_else(|| {
                ConvertError::UnknownNode {
                    place: format!("the argument of {}", node.name),
                    name: node.inputs.join(", "),
                }
            })?;
            self.same_size(node, act)?;
            self.same_size(argument, pre)?;
            neurons.push(Neurons {
                activation,
                act_name: node.name.clone(),
                pre_name: argument.name.clone(),
                act,
                pre,
                width: self.width(act),
            });
        }
        Ok(neurons)
    }

    /// Checks that the input and the output of the dump are those of the graph.
    fn map_ends(&self, manifest: &Manifest) -> Result<(), ConvertError> {
        let mut inputs = manifest.nodes.iter().filter(|node| node.kind == "BoundInput" && node.perturbed);
        match (inputs.next(), inputs.next()) {
            (Some(input), None) => self.same_size(input, self.input)?,
            (first, _) => {
                let name = first.map_or_else(String::new, |node| node.name.clone());
                return Err(ConvertError::UnknownNode { place: "the one perturbed input".to_owned(), name });
            }
        }
        let output = find(&manifest.nodes, &manifest.final_name).ok_or_else(|| ConvertError::UnknownNode {
            place: "final_name".to_owned(),
            name: manifest.final_name.clone(),
        })?;
        match self.outputs.as_slice() {
            [node] => self.same_size(output, *node),
            _ => Err(ConvertError::Graph("a dump has one output, the graph has not".to_owned())),
        }
    }

    fn same_size(&self, node: &Node, graph: usize) -> Result<(), ConvertError> {
        let (size, width) = (size(&node.shape), self.width(graph));
        if size == width {
            return Ok(());
        }
        Err(ConvertError::NodeSize { dump: node.name.clone(), size, graph, width })
    }

    /// The corners of the region of the dump, checked against the region of the property up to the rounding of its decimals.
    ///
    /// # Errors
    /// [`ConvertError::Region`] at the first coordinate that differs, and what reading the tensors can give.
    pub(crate) fn region(&self, tensors: &Tensors) -> Result<[Vec<f32>; 2], ConvertError> {
        let mut corners = [Vec::new(), Vec::new()];
        let sides = [("spec/x_L", "lower", &self.property.lower), ("spec/x_U", "upper", &self.property.upper)];
        for ((name, side, exact), corner) in sides.into_iter().zip(&mut corners) {
            *corner = tensors.needed(name)?.with_len(self.property.inputs())?.values;
            for (coordinate, (&dump, exact)) in corner.iter().zip(exact).enumerate() {
                let property = exact.to_f64().unwrap_or(f64::NAN);
                if !rounds_to(property, dump) {
                    return Err(ConvertError::Region { coordinate, side, dump, property });
                }
            }
        }
        Ok(corners)
    }
}

/// Whether `rounded` is `exact` after rounding to binary32, by way of whatever other format: within one unit in the last place.
#[must_use]
pub fn rounds_to(exact: f64, rounded: f32) -> bool {
    if rounded.is_infinite() {
        return exact.abs() > f64::from(f32::MAX) && (exact > 0.0) == (rounded > 0.0);
    }
    let rounded = f64::from(rounded);
    let unit = f64::from(f32::EPSILON) * exact.abs().max(rounded.abs()) + f64::from(f32::MIN_POSITIVE);
    (exact - rounded).abs() <= unit
}

fn size(shape: &[usize]) -> usize {
    shape.iter().fold(1, |product, axis| product.saturating_mul(*axis))
}

fn find<'a>(nodes: &'a [Node], name: &str) -> Option<&'a Node> {
    nodes.iter().find(|node| node.name == name)
}

/// Checks that every node stands after the nodes that it reads.
fn check_order(nodes: &[Node]) -> Result<(), ConvertError> {
    let mut places = std::collections::BTreeMap::new();
    for (place, node) in nodes.iter().enumerate() {
        places.insert(node.name.as_str(), place);
    }
    let late = |node: &&(usize, &Node)| {
        node.1.inputs.iter().any(|input| places.get(input.as_str()).is_some_and(|place| *place >= node.0))
    };
    let numbered: Vec<(usize, &Node)> = nodes.iter().enumerate().collect();
    match numbered.iter().find(late) {
        Some((_, node)) => Err(ConvertError::NodeOrder(node.name.clone())),
        None => Ok(()),
    }
}
