//! From a decoded model to the graph: versions, what is live, the one input, the constants, the nodes, the outputs.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::attributes::Attributes;
use crate::builder::{Builder, NodeDraft, NodeValue, Origin, Value};
use crate::constant::{Constant, Element, data_type_name, elements};
use crate::error::{ImportError, fault};
use crate::frozen::Frozen;
use crate::live::Live;
use crate::ops::{Call, OPERATORS};
use crate::proto::{Dimension, GraphProto, ModelProto, NodeProto, TensorType, ValueInfoProto};

const ANEW: &str = "write the file anew with onnx";

/// A lowered model.
pub(crate) struct Lowered {
    pub(crate) builder: Builder,
    pub(crate) input_shape: Vec<usize>,
    pub(crate) outputs: Vec<NodeValue>,
}

/// Lowers a model of which these graph inputs are constants.
///
/// # Errors
/// Any [`ImportError`] but those of decoding.
pub(crate) fn lower(model: &ModelProto, frozen: &[Frozen<'_>]) -> Result<Lowered, ImportError> {
    let opset = versions(model)?;
    let Some(graph) = &model.graph else {
        return Err(ImportError::Malformed(fault("model", "it holds no graph", "check that the file is complete")));
    };
    let live = Live::new(graph)?;
    let mut values = Values::default();
    initializers(graph, &live, &mut values)?;
    let mut builder = Builder::default();
    let input_shape = inputs(graph, frozen, &mut builder, &mut values)?;
    let known = |name: &str| values.entries.contains_key(name);
    for index in live.order(graph, known)? {
        if let Some(node) = graph.node.get(index) {
            apply(node, &node_place(index, node), opset, &live, &mut builder, &mut values)?;
        }
    }
    if graph.output.is_empty() {
        return Err(ImportError::Interface(fault("graph", "it has no output", "export the model with an output")));
    }
    let outputs = graph.output.iter().map(|info| output(info, &mut builder, &values)).collect::<Result<_, _>>()?;
    Ok(Lowered { builder, input_shape, outputs })
}

/// How a node is named in errors.
pub(crate) fn node_place(index: usize, node: &NodeProto) -> String {
    match (node.name.as_deref().unwrap_or_default(), node.output.first()) {
        ("", None) => format!("node {index}"),
        ("", Some(output)) => format!("node {index} (that of value `{output}`)"),
        (name, _) => format!("node {index} `{name}`"),
    }
}

/// How an initializer is named in errors.
pub(crate) fn initializer_place(name: &str) -> String {
    format!("initializer `{name}`")
}

/// The version of the default operator set. Other operator sets may be named as long as no node is of them.
fn versions(model: &ModelProto) -> Result<i64, ImportError> {
    let ir_version = model.ir_version.unwrap_or(0);
    if !(3..=13).contains(&ir_version) {
        let detail = format!("the IR version is {ir_version}");
        return Err(ImportError::Version(fault("model", detail, "export the model with an IR version from 3 to 13")));
    }
    let mut sets = model.opset_import.iter().filter(|set| is_default(set.domain.as_deref()));
    let version = sets.next().and_then(|set| set.version);
    let way_out = "export the model with one default operator set, from 1 to 22";
    if sets.next().is_some() {
        return Err(ImportError::Version(fault("model", "the default operator set is named twice", way_out)));
    }
    version.filter(|version| (1..=22).contains(version)).ok_or_else(|| {
        let found = version.map_or("not named".to_owned(), |version| version.to_string());
        ImportError::Version(fault("model", format!("the default operator set is {found}"), way_out))
    })
}

fn is_default(domain: Option<&str>) -> bool {
    matches!(domain, None | Some("" | "ai.onnx"))
}

/// The values by name.
#[derive(Default)]
struct Values {
    entries: BTreeMap<String, Value>,
}

impl Values {
    fn define(&mut self, name: &str, value: Value) {
        self.entries.insert(name.to_owned(), value);
    }

    fn read(&self, name: &str, place: &str) -> Result<Value, ImportError> {
        self.entries.get(name).cloned().ok_or_else(|| {
            let detail = format!("nothing makes the value `{name}`, which it reads");
            ImportError::Interface(fault(place, detail, ANEW))
        })
    }
}

fn initializers(graph: &GraphProto, live: &Live<'_>, values: &mut Values) -> Result<(), ImportError> {
    for tensor in &graph.initializer {
        let name = tensor.name.as_deref().unwrap_or_default();
        if live.reads(name) {
            let constant = Constant::read(tensor, name, &initializer_place(name))?;
            values.define(name, Value::Constant(Rc::new(constant)));
        }
    }
    Ok(())
}

/// The graph inputs: those that have an initializer (in IR versions before 4 all have to be listed, later the initializer is the
/// default) or are frozen are constants, of the type and shape that they declare. One is left, whose shape it gives.
fn inputs(
    graph: &GraphProto,
    frozen: &[Frozen<'_>],
    builder: &mut Builder,
    values: &mut Values,
) -> Result<Vec<usize>, ImportError> {
    let mut real = Vec::new();
    let mut tensors: BTreeMap<&str, &Frozen<'_>> = BTreeMap::new();
    for tensor in frozen {
        if tensors.insert(tensor.name, tensor).is_some() {
            let detail = format!("the graph input `{}` is frozen twice", tensor.name);
            return Err(ImportError::Interface(fault("graph", detail, "freeze it once")));
        }
    }
    for info in &graph.input {
        let name = info.name.as_deref().unwrap_or_default();
        let place = format!("graph input `{name}`");
        if graph.initializer.iter().any(|tensor| tensor.name.as_deref().unwrap_or_default() == name) {
            if let Some(value) = values.entries.get(name) {
                agrees(info, value, &place)?;
            }
        } else if let Some(tensor) = tensors.remove(name) {
            let value = Value::Constant(Rc::new(tensor.constant()?));
            agrees(info, &value, &place)?;
            values.define(name, value);
        } else {
            real.push((name, info));
        }
    }
    if let Some(name) = tensors.keys().next() {
        let detail = format!("`{name}` is to be frozen, and is no graph input without an initializer");
        return Err(ImportError::Interface(fault("graph", detail, "freeze graph inputs only")));
    }
    let &[(name, info)] = real.as_slice() else {
        let names: Vec<&str> = real.iter().map(|(name, _)| *name).collect();
        let detail = format!("the inputs that are no constants are {names:?}");
        return Err(ImportError::Interface(fault("graph", detail, "exactly one is supported; freeze the others")));
    };
    let place = format!("graph input `{name}`");
    let declared = tensor_type(info, &place)?;
    let element = element_of(declared, &place)?;
    if element.dtype().is_none() {
        let detail = format!("it has elements of type {}", element.name());
        return Err(ImportError::Interface(fault(&place, detail, "export the model in float32 or float64")));
    }
    let Some(dims) = &declared.shape else {
        return Err(ImportError::Interface(fault(
            &place,
            "its shape is not declared",
            "export the model with the shape of its input",
        )));
    };
    let mut shape = Vec::with_capacity(dims.dim.len());
    for (axis, dimension) in dims.dim.iter().enumerate() {
        match extent(dimension, &place)? {
            Some(extent) => shape.push(extent),
            // The batch: the theorem is about one input.
            None if axis == 0 => shape.push(1),
            None => {
                let detail = format!("dimension {axis} has no fixed extent");
                return Err(ImportError::Interface(fault(&place, detail, "export the model with it fixed")));
            }
        }
    }
    elements(&place, &shape)?;
    let origin = Origin { place: &place, op_type: "", node_name: "", value_name: name };
    let draft = NodeDraft { kind: "input", parents: &[], shape: shape.clone(), element, attributes: Vec::new() };
    let node = builder.push(origin, draft, &[])?;
    values.define(name, Value::Node(node));
    Ok(shape)
}

fn apply(
    node: &NodeProto,
    place: &str,
    opset: i64,
    live: &Live<'_>,
    builder: &mut Builder,
    values: &mut Values,
) -> Result<(), ImportError> {
    let op_type = node.op_type.as_deref().unwrap_or_default();
    let domain = node.domain.as_deref();
    let operator = OPERATORS.iter().find(|operator| operator.name == op_type && is_default(domain));
    let Some(operator) = operator else {
        let of_domain =
            if is_default(domain) { String::new() } else { format!(" of domain {}", domain.unwrap_or_default()) };
        let names: Vec<&str> = OPERATORS.iter().map(|operator| operator.name).collect();
        let detail = format!("operator {op_type}{of_domain} is not supported");
        return Err(ImportError::Operator(fault(place, detail, format!("supported: {}", names.join(", ")))));
    };
    let mut inputs = Vec::with_capacity(node.input.len());
    for name in &node.input {
        let value = if name.is_empty() { None } else { Some(values.read(name, place)?) };
        inputs.push((name.as_str(), value));
    }
    let outputs: Vec<(&str, bool)> = node.output.iter().map(|name| (name.as_str(), live.reads(name))).collect();
    let name = outputs.iter().find(|(_, live)| *live).map_or("", |(name, _)| name);
    let origin = Origin { place, op_type, node_name: node.name.as_deref().unwrap_or_default(), value_name: name };
    let call = Call { opset, origin, inputs, outputs, attributes: Attributes::new(node, place)?, builder };
    for (name, value) in operator.apply(call)? {
        values.define(name, value);
    }
    Ok(())
}

fn output(info: &ValueInfoProto, builder: &mut Builder, values: &Values) -> Result<NodeValue, ImportError> {
    let name = info.name.as_deref().unwrap_or_default();
    let place = format!("graph output `{name}`");
    let value = values.read(name, &place)?;
    agrees(info, &value, &place)?;
    match &value {
        Value::Node(node) => Ok(node.clone()),
        Value::Constant(constant) => {
            let origin = Origin { place: &place, op_type: "", node_name: "", value_name: name };
            builder.constant(constant, &constant.shape, origin)
        }
    }
}

/// Checks a value against a declared type: the element type, and where a shape is given the rank and the fixed extents.
fn agrees(info: &ValueInfoProto, value: &Value, place: &str) -> Result<(), ImportError> {
    let declared = tensor_type(info, place)?;
    let element = element_of(declared, place)?;
    if element != value.element() {
        let detail = format!("it is declared as {} and is {}", element.name(), value.element().name());
        return Err(ImportError::Interface(fault(place, detail, ANEW)));
    }
    let Some(dims) = &declared.shape else {
        return Ok(());
    };
    let mut extents = Vec::with_capacity(dims.dim.len());
    for dimension in &dims.dim {
        extents.push(extent(dimension, place)?);
    }
    let fits = |(declared, found): (&Option<usize>, &usize)| declared.is_none_or(|declared| declared == *found);
    if extents.len() != value.shape().len() || !extents.iter().zip(value.shape()).all(fits) {
        let text = |extent: &Option<usize>| extent.map_or_else(|| "?".to_owned(), |extent| extent.to_string());
        let declared: Vec<String> = extents.iter().map(text).collect();
        let detail = format!("its shape is declared as [{}] and is {:?}", declared.join(", "), value.shape());
        return Err(ImportError::Shape(fault(
            place,
            detail,
            "export the model with batch size 1, or with correct shapes",
        )));
    }
    Ok(())
}

fn tensor_type<'a>(info: &'a ValueInfoProto, place: &str) -> Result<&'a TensorType, ImportError> {
    let declared = info.r#type.as_ref().and_then(|declared| declared.tensor_type.as_ref());
    declared.ok_or_else(|| ImportError::Interface(fault(place, "it is not declared as a tensor", ANEW)))
}

fn element_of(declared: &TensorType, place: &str) -> Result<Element, ImportError> {
    let data_type = declared.elem_type.unwrap_or(0);
    Element::from_onnx(data_type).ok_or_else(|| {
        let detail = format!("it has elements of type {}", data_type_name(data_type));
        ImportError::Interface(fault(place, detail, "export the model in float32 or float64"))
    })
}

/// The extent of a dimension; `None` if it is symbolic, left open, or 0 or −1 as some exporters write for that.
fn extent(dimension: &Dimension, place: &str) -> Result<Option<usize>, ImportError> {
    match (dimension.dim_value, dimension.dim_param.as_deref()) {
        (None, _) | (Some(-1 | 0), None) => Ok(None),
        (Some(extent), None) if extent > 0 => Ok(usize::try_from(extent).ok()),
        (Some(extent), _) => {
            let detail = format!("a dimension is declared as {extent}, or as that and a name");
            Err(ImportError::Interface(fault(place, detail, ANEW)))
        }
    }
}
