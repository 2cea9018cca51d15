//! Small models.

use certkern_onnx::proto::{
    AttributeProto, Dimension, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto,
    TensorType, TypeProto, ValueInfoProto,
};

pub(crate) const FLOAT: i32 = 1;
pub(crate) const DOUBLE: i32 = 11;

/// A model of operator set `opset` with the input `x` of shape `input`, the output `y`, and these nodes and initializers.
pub(crate) fn model(opset: i64, input: &[i64], nodes: Vec<NodeProto>, initializers: Vec<TensorProto>) -> ModelProto {
    let graph = GraphProto {
        node: nodes,
        initializer: initializers,
        input: vec![info("x", FLOAT, Some(input))],
        output: vec![info("y", FLOAT, None)],
        ..GraphProto::default()
    };
    let set = OperatorSetIdProto { domain: Some(String::new()), version: Some(opset) };
    ModelProto { ir_version: Some(8), graph: Some(graph), opset_import: vec![set], ..ModelProto::default() }
}

pub(crate) fn info(name: &str, elem_type: i32, shape: Option<&[i64]>) -> ValueInfoProto {
    let dimension = |extent: &i64| Dimension { dim_value: Some(*extent), ..Dimension::default() };
    let shape = shape.map(|shape| TensorShapeProto { dim: shape.iter().map(dimension).collect() });
    let tensor_type = TensorType { elem_type: Some(elem_type), shape };
    let r#type = TypeProto { tensor_type: Some(tensor_type), ..TypeProto::default() };
    ValueInfoProto { name: Some(name.to_owned()), r#type: Some(r#type), ..ValueInfoProto::default() }
}

/// A node with one output and no name.
pub(crate) fn node(op_type: &str, inputs: &[&str], output: &str, attributes: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![output.to_owned()],
        op_type: Some(op_type.to_owned()),
        attribute: attributes,
        ..NodeProto::default()
    }
}

fn attribute(name: &str, r#type: i32) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), r#type: Some(r#type), ..AttributeProto::default() }
}

pub(crate) fn float(name: &str, number: f32) -> AttributeProto {
    AttributeProto { f: Some(number), ..attribute(name, 1) }
}

pub(crate) fn int(name: &str, number: i64) -> AttributeProto {
    AttributeProto { i: Some(number), ..attribute(name, 2) }
}

pub(crate) fn string(name: &str, text: &str) -> AttributeProto {
    AttributeProto { s: Some(text.as_bytes().to_vec()), ..attribute(name, 3) }
}

pub(crate) fn tensor(name: &str, tensor: TensorProto) -> AttributeProto {
    AttributeProto { t: Some(tensor), ..attribute(name, 4) }
}

pub(crate) fn floats(name: &str, numbers: &[f32]) -> AttributeProto {
    AttributeProto { floats: numbers.to_vec(), ..attribute(name, 6) }
}

pub(crate) fn ints(name: &str, numbers: &[i64]) -> AttributeProto {
    AttributeProto { ints: numbers.to_vec(), ..attribute(name, 7) }
}

/// A tensor of float32 in `float_data`.
pub(crate) fn numbers(name: &str, shape: &[i64], numbers: &[f32]) -> TensorProto {
    let float_data = numbers.to_vec();
    TensorProto {
        name: Some(name.to_owned()),
        dims: shape.to_vec(),
        data_type: Some(FLOAT),
        float_data,
        ..TensorProto::default()
    }
}

/// A tensor of any type in `raw_data`.
pub(crate) fn raw(name: &str, shape: &[i64], data_type: i32, bytes: Vec<u8>) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        dims: shape.to_vec(),
        data_type: Some(data_type),
        raw_data: Some(bytes),
        ..TensorProto::default()
    }
}

/// A list of int64 in `int64_data`.
pub(crate) fn integers(name: &str, integers: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        dims: vec![integers.len() as i64],
        data_type: Some(7),
        int64_data: integers.to_vec(),
        ..TensorProto::default()
    }
}
