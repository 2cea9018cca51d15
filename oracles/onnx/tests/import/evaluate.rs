//! A graph and its payload evaluated in binary64, from their definition in the document formats alone: reading, and the walk.

use std::collections::BTreeMap;

use certkern_onnx::Imported;
use serde_json::Value;

use super::meaning;

/// A tensor: shape and elements.
pub(crate) type Tensor = (Vec<usize>, Vec<f64>);

/// The nodes of the graph.
pub(crate) fn nodes(imported: &Imported) -> Vec<Value> {
    let graph: Value = serde_json::from_str(&imported.graph).expect("JSON");
    assert!(["torchlean.ir.v1", "certkern.ir.v1"].contains(&graph["format"].as_str().expect("format")));
    assert_eq!(graph["input_id"], 0);
    graph["nodes"].as_array().expect("nodes").clone()
}

/// The kinds of the nodes, in order.
pub(crate) fn kinds(imported: &Imported) -> Vec<String> {
    nodes(imported).iter().map(|node| node["kind"].as_str().expect("kind").to_owned()).collect()
}

/// The type, the shape and the bytes of each tensor of the payload. The file has no holes, no padding and no leftovers.
pub(crate) fn payload(imported: &Imported) -> BTreeMap<String, (String, Vec<usize>, Vec<u8>)> {
    let (length, rest) = imported.payload.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
    let (header, data) = rest.split_at(length);
    assert_eq!(header.last(), Some(&b'}'));
    let header: Value = serde_json::from_slice(header).expect("JSON");
    let mut tensors = BTreeMap::new();
    let mut end = 0;
    for (name, entry) in header.as_object().expect("object") {
        let offsets = list(&entry["data_offsets"]);
        assert_eq!(offsets[0], end);
        end = offsets[1];
        let dtype = entry["dtype"].as_str().expect("string").to_owned();
        tensors.insert(name.clone(), (dtype, list(&entry["shape"]), data[offsets[0]..end].to_vec()));
    }
    assert_eq!(end, data.len());
    tensors
}

pub(crate) fn list(value: &Value) -> Vec<usize> {
    value.as_array().expect("array").iter().map(|item| item.as_u64().expect("number") as usize).collect()
}

fn numbers(dtype: &str, bytes: &[u8]) -> Vec<f64> {
    match dtype {
        "F32" => bytes.chunks(4).map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().expect("4")))).collect(),
        "F64" => bytes.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8"))).collect(),
        _ => panic!("type {dtype}"),
    }
}

/// The outputs for an input; checks that every node has as many elements as its shape says and every payload tensor is used.
pub(crate) fn evaluate(imported: &Imported, input: &[f64]) -> Vec<Tensor> {
    let graph: Value = serde_json::from_str(&imported.graph).expect("JSON");
    let mut payload = payload(imported);
    let mut values: Vec<Tensor> = Vec::new();
    for (id, node) in nodes(imported).iter().enumerate() {
        assert_eq!(node["id"], id);
        let shape = list(&node["shape"]);
        let parents: Vec<&Tensor> = list(&node["parents"]).iter().map(|parent| &values[*parent]).collect();
        let mut field = |name: &str| {
            let (dtype, shape, bytes) = payload.remove(&format!("{id}.{name}")).expect("payload field");
            (shape, numbers(&dtype, &bytes))
        };
        let elements = match node["kind"].as_str() {
            Some("input") => input.to_vec(),
            _ => meaning::elements(node, &parents, &shape, &mut field),
        };
        assert_eq!(elements.len(), shape.iter().product::<usize>(), "node {id}");
        values.push((shape, elements));
    }
    assert!(payload.is_empty(), "unused: {:?}", payload.keys());
    assert_eq!(values[0].0, imported.input_shape);
    let outputs: Vec<Tensor> = list(&graph["output_ids"]).into_iter().map(|id| values[id].clone()).collect();
    assert_eq!(outputs.iter().map(|(shape, _)| shape.clone()).collect::<Vec<_>>(), imported.output_shapes);
    outputs
}
