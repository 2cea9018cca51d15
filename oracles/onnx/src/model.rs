//! From a decoded model to the graph: versions, the one input, the constants, the nodes in order, the one output.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::attributes::Attributes;
use crate::builder::{Builder, NodeDraft, NodeValue, Origin, Value};
use crate::constant::{Constant, Element, data_type_name, elements};
use crate::error::{ImportError, fault};
use crate::ops::{Call, OPERATORS};
use crate::proto::{Dimension, GraphProto, ModelProto, NodeProto, TensorType, ValueInfoProto};

const ANEW: &str = "write the file anew with onnx";

/// A lowered model.
pub(crate) struct Lowered {
    pub(crate) builder: Builder,
    pub(crate) input_shape: Vec<usize>,
    pub(crate) output: NodeValue,
}

/// Lowers a model.
///
/// # Errors
/// Any [`ImportError`] but those of decoding.
pub(crate) fn lower(model: &ModelProto) -> Result<Lowered, ImportError> {
    let opset = versions(model)?;
    let Some(graph) = &model.graph else {
        return Err(ImportError::Malformed(fault("model", "it holds no graph", "check that the file is complete")));
    };
    let mut values = Values::default();
    initializers(graph, &mut values)?;
    let mut builder = Builder::default();
    let input_shape = input(graph, &mut builder, &mut values)?;
    for (index, node) in graph.node.iter().enumerate() {
        apply(node, &node_place(index, node), opset, &mut builder, &mut values)?;
    }
    let output = output(graph, &mut builder, &mut values)?;
    values.all_read()?;
    Ok(Lowered { builder, input_shape, output })
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
    let way_out = "export the model with one default operator set, from 7 to 22";
    if sets.next().is_some() {
        return Err(ImportError::Version(fault("model", "the default operator set is named twice", way_out)));
    }
    version.filter(|version| (7..=22).contains(version)).ok_or_else(|| {
        let found = version.map_or("not named".to_owned(), |version| version.to_string());
        ImportError::Version(fault("model", format!("the default operator set is {found}"), way_out))
    })
}

fn is_default(domain: Option<&str>) -> bool {
    matches!(domain, None | Some("" | "ai.onnx"))
}

/// The values by name, and whether something has read them.
#[derive(Default)]
struct Values {
    entries: BTreeMap<String, (Value, bool)>,
    /// Outputs that no operator makes here (the mask of `Dropout`): nothing may read them.
    absent: BTreeSet<String>,
}

impl Values {
    fn define(&mut self, name: &str, value: Value, place: &str) -> Result<(), ImportError> {
        if name.is_empty() || self.absent.contains(name) || self.entries.contains_key(name) {
            let detail = format!("the name `{name}` is empty or taken");
            return Err(ImportError::Interface(fault(place, detail, ANEW)));
        }
        self.entries.insert(name.to_owned(), (value, false));
        Ok(())
    }

    fn read(&mut self, name: &str, place: &str) -> Result<Value, ImportError> {
        if self.absent.contains(name) {
            let detail = format!("the value `{name}`, which it reads, is not made in inference");
            return Err(ImportError::Interface(fault(place, detail, "export the model for inference")));
        }
        let Some((value, read)) = self.entries.get_mut(name) else {
            let detail = format!("nothing before it makes the value `{name}`, which it reads");
            return Err(ImportError::Interface(fault(place, detail, ANEW)));
        };
        *read = true;
        Ok(value.clone())
    }

    fn all_read(&self) -> Result<(), ImportError> {
        match self.entries.iter().find(|(_, (_, read))| !read) {
            None => Ok(()),
            Some((name, _)) => {
                let place = format!("value `{name}`");
                Err(ImportError::Unused(fault(&place, "nothing reads it", "remove it from the model")))
            }
        }
    }
}

fn initializers(graph: &GraphProto, values: &mut Values) -> Result<(), ImportError> {
    for tensor in &graph.initializer {
        let name = tensor.name.as_deref().unwrap_or_default();
        let place = initializer_place(name);
        let constant = Constant::read(tensor, name, &place)?;
        values.define(name, Value::Constant(Rc::new(constant)), &place)?;
    }
    Ok(())
}

/// The one graph input that has no initializer. One that has (in IR versions before 4 all have to be listed, later the
/// initializer is the default) is the constant, of the type and shape that the input declares.
fn input(graph: &GraphProto, builder: &mut Builder, values: &mut Values) -> Result<Vec<usize>, ImportError> {
    let mut real = Vec::new();
    for info in &graph.input {
        let name = info.name.as_deref().unwrap_or_default();
        match values.entries.get(name) {
            None => real.push((name, info)),
            Some((value, _)) => agrees(info, value, &format!("graph input `{name}`"))?,
        }
    }
    let &[(name, info)] = real.as_slice() else {
        let names: Vec<&str> = real.iter().map(|(name, _)| *name).collect();
        let detail = format!("the inputs that are no constants are {names:?}");
        return Err(ImportError::Interface(fault("graph", detail, "exactly one is supported")));
    };
    let place = format!("graph input `{name}`");
    let declared = tensor_type(info, &place)?;
    let element = element_of(declared, &place)?;
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
    values.define(name, Value::Node(node), &place)?;
    Ok(shape)
}

fn apply(
    node: &NodeProto,
    place: &str,
    opset: i64,
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
        let detail = format!("operator {op_type}{of_domain} is not supported yet");
        return Err(ImportError::Operator(fault(place, detail, format!("supported: {}", names.join(", ")))));
    };
    let mut inputs = Vec::with_capacity(node.input.len());
    for name in &node.input {
        let value = if name.is_empty() { None } else { Some(values.read(name, place)?) };
        inputs.push((name.as_str(), value));
    }
    let name = node.output.first().map_or("", String::as_str);
    let origin = Origin { place, op_type, node_name: node.name.as_deref().unwrap_or_default(), value_name: name };
    let call = Call { opset, origin, inputs, attributes: Attributes::new(node, place)?, builder };
    let value = operator.apply(call, node.output.len())?;
    values.define(name, value, place)?;
    values.absent.extend(node.output.iter().skip(1).filter(|name| !name.is_empty()).cloned());
    Ok(())
}

fn output(graph: &GraphProto, builder: &mut Builder, values: &mut Values) -> Result<NodeValue, ImportError> {
    let [info] = graph.output.as_slice() else {
        let names: Vec<&str> = graph.output.iter().map(|info| info.name.as_deref().unwrap_or_default()).collect();
        let detail = format!("the outputs are {names:?}");
        return Err(ImportError::Interface(fault("graph", detail, "exactly one is supported")));
    };
    let name = info.name.as_deref().unwrap_or_default();
    let place = format!("graph output `{name}`");
    let value = values.read(name, &place)?;
    agrees(info, &value, &place)?;
    match &value {
        Value::Node(node) => Ok(node.clone()),
        Value::Constant(constant) => builder.constant(constant, &constant.shape, &place),
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
        let detail = format!("its shape is declared as {extents:?} and is {:?}", value.shape());
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
