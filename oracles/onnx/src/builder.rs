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

/// The graph and the payload under construction.
#[derive(Default)]
pub(crate) struct Builder {
    nodes: Vec<String>,
    names: Vec<String>,
    payload: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
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
        fields: &[(&str, &Constant)],
    ) -> Result<NodeValue, ImportError> {
        let NodeDraft { kind, parents, shape, element, attributes } = draft;
        if elements(origin.place, &shape)? == 0 {
            let detail = format!("the value `{}` of shape {shape:?} has no elements", origin.value_name);
            return Err(ImportError::Shape(fault(origin.place, detail, "empty tensors are not supported")));
        }
        let id = self.nodes.len();
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
            self.payload.push((format!("{id}.{field}"), dtype, constant.shape.clone(), constant.bytes.clone()));
        }
        let mut node = Map::new();
        node.insert("id".to_owned(), json!(id));
        node.insert("kind".to_owned(), json!(kind));
        node.insert("parents".to_owned(), json!(parents));
        node.insert("shape".to_owned(), json!(shape));
        node.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if !origin.op_type.is_empty() {
            node.insert("onnx_op_type".to_owned(), json!(origin.op_type));
        }
        let name = if origin.node_name.is_empty() { origin.value_name } else { origin.node_name };
        node.insert("onnx_name".to_owned(), json!(name));
        self.nodes.push(Json::Object(node).to_string());
        self.names.push(origin.value_name.to_owned());
        Ok(NodeValue { id, shape, element })
    }

    /// The node of a constant repeated to `shape`, which its shape broadcasts to; made where it is first wanted.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub(crate) fn constant(
        &mut self,
        constant: &Constant,
        shape: &[usize],
        place: &str,
    ) -> Result<NodeValue, ImportError> {
        let key = (constant.name.clone(), shape.to_vec());
        if let Some(node) = self.constants.get(&key) {
            return Ok(node.clone());
        }
        let repeated = constant.repeated(shape, place)?;
        let origin = Origin { place, op_type: "", node_name: "", value_name: &constant.name };
        let (shape, element) = (shape.to_vec(), constant.element);
        let draft = NodeDraft { kind: "const", parents: &[], shape, element, attributes: Vec::new() };
        let node = self.push(origin, draft, &[("values", &repeated)])?;
        self.constants.insert(key, node.clone());
        Ok(node)
    }

    /// The graph (JSON text, one node a line), the payload (a safetensors file), and the ONNX value of each node.
    pub(crate) fn finish(self, output: usize) -> (String, Vec<u8>, Vec<String>) {
        let graph = format!(
            "{{\"format\":\"torchlean.ir.v1\",\"input_id\":0,\"output_ids\":[{output}],\"nodes\":[\n{}\n]}}\n",
            self.nodes.join(",\n")
        );
        (graph, write_safetensors(&self.payload), self.names)
    }
}
