//! A graph and its payload evaluated in binary64, from their definition in the document formats alone.

use std::collections::BTreeMap;

use certkern_onnx::Imported;
use serde_json::Value;

/// A tensor: shape and elements.
pub(crate) type Tensor = (Vec<usize>, Vec<f64>);

/// The nodes of the graph.
pub(crate) fn nodes(imported: &Imported) -> Vec<Value> {
    let graph: Value = serde_json::from_str(&imported.graph).expect("JSON");
    assert_eq!(graph["format"], "torchlean.ir.v1");
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

fn list(value: &Value) -> Vec<usize> {
    value.as_array().expect("array").iter().map(|item| item.as_u64().expect("number") as usize).collect()
}

fn numbers(dtype: &str, bytes: &[u8]) -> Vec<f64> {
    match dtype {
        "F32" => bytes.chunks(4).map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().expect("4")))).collect(),
        "F64" => bytes.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8"))).collect(),
        _ => panic!("type {dtype}"),
    }
}

/// All indices of a shape, the last running fastest.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |done, extent| {
        done.iter().flat_map(|index| (0..*extent).map(move |last| [index.as_slice(), &[last]].concat())).collect()
    })
}

fn at(tensor: &Tensor, index: &[usize]) -> f64 {
    let place = index.iter().zip(&tensor.0).fold(0, |place, (index, extent)| {
        assert!(index < extent);
        place * extent + index
    });
    tensor.1[place]
}

/// The output for an input; checks that every node has its declared shape and every payload tensor is used.
pub(crate) fn evaluate(imported: &Imported, input: &[f64]) -> Tensor {
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
        let elements = match node["kind"].as_str().expect("kind") {
            "input" => input.to_vec(),
            "const" => {
                let (stored, elements) = field("values");
                assert_eq!(stored, shape);
                elements
            }
            "add" => zip(parents[0], parents[1], |a, b| a + b),
            "sub" => zip(parents[0], parents[1], |a, b| a - b),
            "relu" => parents[0].1.iter().map(|x| x.max(0.0)).collect(),
            "detach" => parents[0].1.clone(),
            "reshape" => {
                assert_eq!((&list(&node["in_shape"]), &list(&node["out_shape"])), (&parents[0].0, &shape));
                parents[0].1.clone()
            }
            "permute" => {
                let perm = list(&node["perm"]);
                let source = |index: &Vec<usize>| {
                    let mut source = vec![0; index.len()];
                    index.iter().zip(&perm).for_each(|(index, axis)| source[*axis] = *index);
                    at(parents[0], &source)
                };
                indices(&shape).iter().map(source).collect()
            }
            "broadcast_to" => {
                assert_eq!((&list(&node["from_shape"]), &list(&node["to_shape"])), (&parents[0].0, &shape));
                let missing = shape.len() - parents[0].0.len();
                let source = |index: &Vec<usize>| {
                    let kept = index[missing..].iter().zip(&parents[0].0);
                    at(parents[0], &kept.map(|(index, extent)| index % extent).collect::<Vec<_>>())
                };
                indices(&shape).iter().map(source).collect()
            }
            "concat" => {
                let axis = node["axis"].as_u64().expect("axis") as usize;
                let source = |index: &Vec<usize>| {
                    let mut index = index.clone();
                    let part = parents.iter().find(|part| {
                        let here = index[axis] < part.0[axis];
                        index[axis] -= if here { 0 } else { part.0[axis] };
                        here
                    });
                    at(part.expect("inside"), &index)
                };
                indices(&shape).iter().map(source).collect()
            }
            "linear" => {
                let (weight, bias) = (field("weight"), field("bias"));
                let [out, inner] = weight.0[..] else { panic!("weight {:?}", weight.0) };
                assert_eq!((bias.0, parents[0].0.last()), (vec![out], Some(&inner)));
                let row = |x: &[f64], o: usize| {
                    x.iter().zip(&weight.1[o * inner..]).map(|(x, w)| x * w).sum::<f64>() + bias.1[o]
                };
                parents[0].1.chunks(inner).flat_map(|x| (0..out).map(|o| row(x, o)).collect::<Vec<_>>()).collect()
            }
            "conv" => {
                let (weight, bias) = (field("weight"), field("bias"));
                convolution(node, parents[0], &weight, &bias, &shape)
            }
            kind => panic!("kind {kind}"),
        };
        assert_eq!(elements.len(), shape.iter().product::<usize>(), "node {id}");
        values.push((shape, elements));
    }
    assert!(payload.is_empty(), "unused: {:?}", payload.keys());
    let output = list(&graph["output_ids"])[0];
    assert_eq!(values[output].0, imported.output_shape);
    assert_eq!(values[0].0, imported.input_shape);
    values.swap_remove(output)
}

fn zip(first: &Tensor, second: &Tensor, combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    assert_eq!(first.0, second.0);
    first.1.iter().zip(&second.1).map(|(a, b)| combine(*a, *b)).collect()
}

/// Zero-padded cross-correlation with dense weights, from the definition.
fn convolution(node: &Value, input: &Tensor, weight: &Tensor, bias: &Tensor, shape: &[usize]) -> Vec<f64> {
    let [kernel, stride, dilation, padding] = ["kernel", "stride", "dilation", "padding"].map(|name| list(&node[name]));
    assert_eq!(node["channel_axis"], 1);
    assert_eq!(list(&node["padding_after"]).len(), kernel.len());
    let mut expected = vec![shape[1], input.0[1]];
    expected.extend(&kernel);
    assert_eq!(weight.0, expected);
    let element = |index: &Vec<usize>| {
        let mut sum = bias.1[index[1]];
        for (channel, tap) in
            (0..input.0[1]).flat_map(|channel| indices(&kernel).into_iter().map(move |tap| (channel, tap)))
        {
            let mut source = vec![index[0], channel];
            for (axis, tap) in tap.iter().enumerate() {
                let place = index[axis + 2] * stride[axis] + tap * dilation[axis];
                source.push(place.wrapping_sub(padding[axis]));
            }
            if source.iter().zip(&input.0).all(|(index, extent)| index < extent) {
                let mut place = vec![index[1], channel];
                place.extend(tap);
                sum += at(weight, &place) * at(input, &source);
            }
        }
        sum
    };
    indices(shape).iter().map(element).collect()
}
