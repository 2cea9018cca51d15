//! The graph and the payload under construction.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json, json};

use crate::constant::{Constant, Element, MAX_ELEMENTS, elements};
use crate::error::{ImportError, fault};
use crate::safetensors_file::{Dtype, write_safetensors};

/// An ONNX value, as far as the importer has come.
#[derive(Clone)]
pub(crate) enum Value {
    /// Known numbers, not yet part of the graph.
    Constant(Rc<Constant>),
    /// The value of a node of the graph.
    Node(NodeValue),
}

/// The value of a node of the graph.
#[derive(Clone)]
pub(crate) struct NodeValue {
    pub(crate) id: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
}

impl Value {
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Self::Constant(constant) => &constant.shape,
            Self::Node(node) => &node.shape,
        }
    }

    pub(crate) fn element(&self) -> Element {
        match self {
            Self::Constant(constant) => constant.element,
            Self::Node(node) => node.element,
        }
    }
}

/// Where a node of the graph comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Named in errors.
    pub(crate) place: &'a str,
    pub(crate) op_type: &'a str,
    /// The name of the ONNX node; the value's if that is empty.
    pub(crate) node_name: &'a str,
    pub(crate) value_name: &'a str,
}

/// A node of the graph without its place and origin.
pub(crate) struct NodeDraft<'a> {
    pub(crate) kind: &'static str,
    pub(crate) parents: &'a [usize],
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
    pub(crate) attributes: Vec<(&'static str, Json)>,
}

/// A node of the graph without its place.
struct GraphNode {
    kind: &'static str,
    parents: Vec<usize>,
    /// `shape` and the attributes, then the producer's strings.
    rest: Map<String, Json>,
    /// The ONNX value.
    name: String,
    extension: bool,
    fields: Vec<(&'static str, Dtype, Vec<usize>, Vec<u8>)>,
}

/// The operators made here that `torchlean.ir.v1` has: a list that is closed.
const TORCHLEAN: &[&str] = &[
    "abs",
    "add",
    "avg_pool",
    "batch_norm_eval",
    "broadcast_to",
    "concat",
    "const",
    "conv",
    "cos",
    "detach",
    "exp",
    "input",
    "inv",
    "layernorm",
    "linear",
    "log",
    "matmul",
    "max_elem",
    "max_pool",
    "min_elem",
    "mul_elem",
    "permute",
    "reduce_mean",
    "reduce_sum",
    "relu",
    "reshape",
    "sigmoid",
    "sin",
    "softmax",
    "softplus",
    "sqrt",
    "sub",
    "tanh",
];

/// The graph and the payload under construction.
#[derive(Default)]
pub(crate) struct Builder {
    nodes: Vec<GraphNode>,
    payload_elements: usize,
    constants: BTreeMap<(String, Vec<usize>), NodeValue>,
}

impl Builder {
    /// Adds a node and its payload fields.
    ///
    /// # Errors
    /// [`ImportError::Shape`] if the shape has a zero; [`ImportError::Operand`] if a payload field is not of floats;
    /// [`ImportError::Limit`].
    pub(crate) fn push(
        &mut self,
        origin: Origin<'_>,
        draft: NodeDraft<'_>,
        fields: &[(&'static str, &Constant)],
    ) -> Result<NodeValue, ImportError> {
        let NodeDraft { kind, parents, shape, element, attributes } = draft;
        if elements(origin.place, &shape)? == 0 {
            let detail = format!("the value `{}` of shape {shape:?} has no elements", origin.value_name);
            return Err(ImportError::Shape(fault(origin.place, detail, "empty tensors are not supported")));
        }
        let id = self.nodes.len();
        let mut payload = Vec::with_capacity(fields.len());
        for (field, constant) in fields {
            let Some(dtype) = constant.element.dtype() else {
                let detail =
                    format!("`{}` of {} stands where floats are wanted", constant.name, constant.element.name());
                return Err(ImportError::Operand(fault(origin.place, detail, "store it as float32 or float64")));
            };
            self.payload_elements += elements(origin.place, &constant.shape)?;
            if self.payload_elements > MAX_ELEMENTS {
                let detail = format!("the weights have more than {MAX_ELEMENTS} elements in all");
                return Err(ImportError::Limit(fault(origin.place, detail, "only smaller networks are supported")));
            }
            payload.push((*field, dtype, constant.shape.clone(), constant.bytes.clone()));
        }
        let pooling = ["avg_pool", "max_pool"].contains(&kind);
        let later = ["padding_after", "dilation", "count_include_pad"];
        let extension =
            !TORCHLEAN.contains(&kind) || (pooling && attributes.iter().any(|(name, _)| later.contains(name)));
        let mut rest = Map::new();
        rest.insert("shape".to_owned(), json!(shape));
        rest.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if !origin.op_type.is_empty() {
            rest.insert("onnx_op_type".to_owned(), json!(origin.op_type));
        }
        let name = if origin.node_name.is_empty() { origin.value_name } else { origin.node_name };
        rest.insert("onnx_name".to_owned(), json!(name));
        let (parents, name) = (parents.to_vec(), origin.value_name.to_owned());
        self.nodes.push(GraphNode { kind, parents, rest, name, extension, fields: payload });
        Ok(NodeValue { id, shape, element })
    }

    /// The node of a constant repeated to `shape`, which its shape broadcasts to; made where it is first wanted. A constant
    /// without a name is generated, and gets a node each time.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub(crate) fn constant(
        &mut self,
        constant: &Constant,
        shape: &[usize],
        origin: Origin<'_>,
    ) -> Result<NodeValue, ImportError> {
        let key = (constant.name.clone(), shape.to_vec());
        if let Some(node) = self.constants.get(&key) {
            return Ok(node.clone());
        }
        let repeated = constant.repeated(shape, origin.place)?;
        let generated = constant.name.is_empty();
        let value_name = if generated { origin.value_name } else { &constant.name };
        let origin = Origin { place: origin.place, op_type: "", node_name: "", value_name };
        let (shape, element) = (shape.to_vec(), constant.element);
        let draft = NodeDraft { kind: "const", parents: &[], shape, element, attributes: Vec::new() };
        let node = self.push(origin, draft, &[("values", &repeated)])?;
        if !generated {
            self.constants.insert(key, node.clone());
        }
        Ok(node)
    }

    /// The graph (JSON text, one node a line), the payload (a safetensors file), and the ONNX value of each node. Nodes that no
    /// output needs, the input aside, are left out.
    pub(crate) fn finish(self, outputs: &[usize]) -> (String, Vec<u8>, Vec<String>) {
        let mut needed = vec![false; self.nodes.len()];
        outputs.iter().chain([&0]).for_each(|id| needed[*id] = true);
        for (id, node) in self.nodes.iter().enumerate().rev() {
            if needed[id] {
                node.parents.iter().for_each(|parent| needed[*parent] = true);
            }
        }
        let places: Vec<usize> = needed
            .iter()
            .scan(0, |next, needed| {
                let place = *next;
                *next += usize::from(*needed);
                Some(place)
            })
            .collect();
        let place = |ids: &[usize]| ids.iter().map(|id| places[*id]).collect::<Vec<usize>>();
        let (mut lines, mut names, mut payload, mut extended) = (Vec::new(), Vec::new(), Vec::new(), false);
        for node in self.nodes.into_iter().zip(&needed).filter_map(|(node, needed)| needed.then_some(node)) {
            let id = lines.len();
            let mut object = Map::new();
            object.insert("id".to_owned(), json!(id));
            object.insert("kind".to_owned(), json!(node.kind));
            object.insert("parents".to_owned(), json!(place(&node.parents)));
            object.extend(node.rest);
            lines.push(Json::Object(object).to_string());
            names.push(node.name);
            extended |= node.extension;
            let fields = node.fields.into_iter();
            payload.extend(fields.map(|(field, dtype, shape, bytes)| (format!("{id}.{field}"), dtype, shape, bytes)));
        }
        let format = if extended { "certkern.ir.v1" } else { "torchlean.ir.v1" };
        let (outputs, nodes) = (json!(place(outputs)), lines.join(",\n"));
        let graph =
            format!("{{\"format\":\"{format}\",\"input_id\":0,\"output_ids\":{outputs},\"nodes\":[\n{nodes}\n]}}\n");
        (graph, write_safetensors(&payload), names)
    }
}
