//! The written source, beside what PyTorch's documentation says of the layers, and the bytes of the state dictionary. That PyTorch runs it and that
//! the digests come back is tested in Python (`oracles/python/tests/torch_export`).

use certkern_graph::Graph;
use certkern_torch::{Model, write};
use certkern_wire::Limits;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A graph whose input has this shape, of further nodes without their ids; the last one is the output.
fn graph(input: Value, nodes: &[Value], payload: Option<Vec<u8>>) -> Graph {
    let first = json!({"kind": "input", "parents": [], "shape": input});
    let mut nodes: Vec<Value> = [&[first], nodes].concat();
    nodes.iter_mut().enumerate().for_each(|(id, node)| node["id"] = json!(id));
    let last = nodes.len() - 1;
    let document = json!({"format": "certkern.ir.v1", "input_id": 0, "output_ids": [last], "nodes": nodes});
    let payload = payload.as_ref().map(|bytes| bytes as &dyn certkern_wire::tensors::Source);
    Graph::read(document.to_string().as_bytes(), payload, &Limits::default()).unwrap()
}

fn written(input: Value, nodes: &[Value]) -> Model {
    write(&graph(input, nodes, None)).unwrap()
}

/// The statements of `__init__` and `forward` that a node adds.
fn statements(model: &Model) -> Vec<&str> {
    let inside = model.source.lines().filter_map(|line| line.strip_prefix("        "));
    inside
        .filter(|line| !line.starts_with("super()") && !line.starts_with("self.eval") && !line.starts_with("return"))
        .collect()
}

fn refused(input: Value, nodes: &[Value], words: &[&str]) {
    let text = write(&graph(input, nodes, None)).unwrap_err().to_string();
    for word in words {
        assert!(text.contains(word), "{text}");
    }
}

/// Type, shape and bytes of each tensor of a safetensors file.
fn tensors(file: &[u8]) -> BTreeMap<String, (String, Vec<u64>, Vec<u8>)> {
    let size = usize::try_from(u64::from_le_bytes(file[..8].try_into().unwrap())).unwrap();
    let header: BTreeMap<String, Value> = serde_json::from_slice(&file[8..8 + size]).unwrap();
    let of = |entry: &Value| {
        let number = |value: &Value| value.as_u64().unwrap();
        let [start, end] = [0, 1].map(|i| 8 + size + usize::try_from(number(&entry["data_offsets"][i])).unwrap());
        let shape = entry["shape"].as_array().unwrap().iter().map(number).collect();
        (entry["dtype"].as_str().unwrap().to_owned(), shape, file[start..end].to_vec())
    };
    header.iter().map(|(name, entry)| (name.clone(), of(entry))).collect()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn a_whole_source() {
    let nodes = [
        json!({"kind": "linear", "parents": [0], "shape": [1, 2], "weight": [[1, -0.0, 5e-324], [0.1, 2, 3]], "bias": [0.5, -1]}),
        json!({"kind": "relu", "parents": [1], "shape": [1, 2]}),
    ];
    let model = written(json!([1, 3]), &nodes);
    let expected = "\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_1 = nn.Linear(3, 2, dtype=torch.float64)
        self.eval()

    def forward(self, x):
        v1 = self.linear_1(x)
        v2 = torch.relu(v1)
        return v2
";
    assert!(model.source.ends_with(expected), "{}", model.source);
    assert!(model.source.contains("of type torch.float64 and shape (1, 3)"));
    let state = tensors(&model.state);
    assert_eq!(state["linear_1.weight"], ("F64".to_owned(), vec![2, 3], doubles(&[1.0, -0.0, 5e-324, 0.1, 2.0, 3.0])));
    assert_eq!(state["linear_1.bias"], ("F64".to_owned(), vec![2], doubles(&[0.5, -1.0])));
    assert_eq!(state.len(), 2);
}

#[test]
fn an_epsilon_is_written_in_digits_that_read_back() {
    for eps in [1e-12, 5e-324, f64::from_bits(1e-5_f64.to_bits() + 1)] {
        let numbers = json!({"kind": "batch_norm_eval", "parents": [0], "shape": [2, 1], "channel_axis": 1, "eps": eps, "gamma": [1], "beta": [0], "mean": [0], "var": [1]});
        let model = written(json!([2, 1]), &[numbers]);
        // By value, since a number has several shortest spellings of an exponent.
        let line = statements(&model)[0].to_owned();
        let found = line
            .strip_prefix("self.batch_norm_1 = nn.BatchNorm1d(1, eps=")
            .and_then(|rest| rest.strip_suffix(", dtype=torch.float64)"));
        assert_eq!(found.unwrap().parse::<f64>().unwrap().to_bits(), eps.to_bits(), "{line}");
        let state = tensors(&model.state);
        assert_eq!(state["batch_norm_1.num_batches_tracked"], ("I64".to_owned(), vec![], vec![0; 8]));
        assert_eq!(state["batch_norm_1.running_var"], ("F64".to_owned(), vec![1], doubles(&[1.0])));
    }
}

#[test]
fn a_grouped_convolution_has_its_blocks_alone() {
    let conv = json!({"kind": "conv", "parents": [0], "shape": [1, 4, 1], "spatial_rank": 1, "kernel": [1], "stride": [2], "padding": [0],
        "dilation": [1], "groups": 2, "channel_axis": 1, "in_channels": 4, "out_channels": 4, "bias": [0, 0, 0, 0],
        "weight": [[[1], [2], [0], [0]], [[3], [4], [0], [0]], [[0], [0], [5], [6]], [[0], [0], [7], [8]]]});
    let model = written(json!([1, 4, 1]), &[conv]);
    assert_eq!(
        statements(&model),
        ["self.conv_1 = nn.Conv1d(4, 4, (1,), stride=(2,), groups=2, dtype=torch.float64)", "v1 = self.conv_1(x)"]
    );
    let weight = &tensors(&model.state)["conv_1.weight"];
    assert_eq!((&weight.1, &weight.2), (&vec![4, 2, 1], &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])));
}

#[test]
fn a_single_number_stands_in_the_source_where_python_takes_one() {
    let number = json!({"kind": "const", "parents": [], "shape": [], "values": 0.1});
    let broadcast = json!({"kind": "broadcast_to", "parents": [1], "shape": [2], "from_shape": [], "to_shape": [2]});
    let sum = |parents: Value| json!({"kind": "sub", "parents": parents, "shape": [2]});
    let model = written(json!([2]), &[number.clone(), broadcast.clone(), sum(json!([2, 0]))]);
    assert_eq!(statements(&model), ["v3 = 0.1 - x"]);
    let extreme = json!({"kind": "max_elem", "parents": [0, 2], "shape": [2]});
    let model = written(json!([2]), &[number.clone(), broadcast.clone(), extreme]);
    assert_eq!(statements(&model), ["v3 = torch.clamp(x, min=0.1)"]);
    // Two numbers, or an operator that takes tensors alone.
    for last in [sum(json!([2, 2])), json!({"kind": "tanh", "parents": [2], "shape": [2]})] {
        let model = written(json!([2]), &[number.clone(), broadcast.clone(), last]);
        assert_eq!(
            statements(&model)[..2],
            ["self.register_buffer(\"const_1\", torch.zeros((), dtype=torch.float64))", "v1 = self.const_1"]
        );
    }
}

#[test]
fn windows_are_written_as_pytorch_takes_them() {
    let pool = |kind: &str, shape: Value, attributes: Value| {
        let mut node = json!({"kind": kind, "parents": [0], "shape": shape, "spatial_rank": 1});
        attributes.as_object().unwrap().iter().for_each(|(name, value)| node[name] = value.clone());
        node
    };
    let after = json!({"kernel": [2], "stride": [2], "padding": [0], "padding_after": [1]});
    let call = |length: usize, node: Value| statements(&written(json!([1, 1, length]), &[node]))[0].to_owned();
    assert_eq!(
        call(5, pool("max_pool", json!([1, 1, 3]), after.clone())),
        "v1 = F.max_pool1d(x, (2,), ceil_mode=True)"
    );
    let uneven = json!({"kernel": [3], "stride": [1], "padding": [0], "padding_after": [1]});
    refused(
        json!([1, 1, 5]),
        &[pool("max_pool", json!([1, 1, 4]), uneven)],
        &["node 1 (max_pool)", "[0] before and [1] after"],
    );
    refused(
        json!([1, 1, 5]),
        &[pool("avg_pool", json!([1, 1, 3]), after)],
        &["node 1 (avg_pool)", "[0] before and [1] after"],
    );
    let wide = json!({"kernel": [3], "stride": [1], "padding": [2]});
    refused(json!([1, 1, 5]), &[pool("max_pool", json!([1, 1, 7]), wide)], &["padding [2] of a kernel [3]"]);
    let inside = json!({"kernel": [2], "stride": [1], "padding": [1], "count_include_pad": false});
    assert_eq!(
        call(3, pool("avg_pool", json!([1, 1, 4]), inside)),
        "v1 = F.avg_pool1d(x, (2,), stride=(1,), padding=(1,), count_include_pad=False)"
    );
}

#[test]
fn layout_is_written_in_python() {
    let one = |input: Value, node: Value| statements(&written(input, &[node]))[0].to_owned();
    let slice = json!({"kind": "slice", "parents": [0], "shape": [1, 2, 3], "start": [0, 1, 0], "stop": [1, 4, 3], "step": [1, 2, 1]});
    assert_eq!(one(json!([1, 4, 3]), slice), "v1 = x[:, 1:4:2, :]");
    let gather = json!({"kind": "gather", "parents": [0], "shape": [2, 1, 2], "axis": 1, "indices": [3, 0], "indices_shape": [1, 2]});
    assert_eq!(one(json!([2, 4]), gather), "v1 = x[:, torch.tensor([3, 0], device=x.device).reshape((1, 2))]");
    let pad = json!({"kind": "pad", "parents": [0], "shape": [4, 6], "padding": [1, 3], "padding_after": [2, 0], "value": 0.5});
    assert_eq!(one(json!([1, 3]), pad), "v1 = F.pad(x, (3, 0, 1, 2), value=0.5)");
    let split = json!({"kind": "split", "parents": [0], "shape": [3], "axis": 0, "sizes": [1, 3], "index": 1});
    assert_eq!(one(json!([4]), split), "v1 = torch.split(x, [1, 3], 0)[1]");
}

#[test]
fn what_pytorch_does_not_compute_so_is_refused_by_name() {
    let seeded = json!({"kind": "rand_uniform", "parents": [], "shape": [2], "seed": 1});
    refused(json!([2]), &[seeded], &["node 1 (rand_uniform)", "not written"]);
    let norm = json!({"kind": "batch_norm_eval", "parents": [0], "shape": [2, 3], "channel_axis": 0, "eps": 0.1, "gamma": [1, 1], "beta": [0, 0], "mean": [0, 0], "var": [1, 1]});
    refused(json!([2, 3]), &[norm], &["channels on axis 0 of 2", "permute"]);
    let slope = json!({"kind": "prelu", "parents": [0], "shape": [2], "channel_axis": 0, "slope": [1, 2]});
    refused(json!([2]), &[slope], &["node 1 (prelu)", "channels on axis 0 of 1"]);
    let selu = json!({"kind": "selu", "parents": [0], "shape": [2], "alpha": 1.5, "gamma": 1});
    refused(json!([2]), &[selu], &["alpha 1.5 and gamma 1.0"]);
    let none = json!({"kind": "reduce_sum", "parents": [0], "shape": [2], "axes": [], "keepdim": false});
    refused(json!([2]), &[none], &["no axes"]);
    let scale = json!({"kind": "upsample", "parents": [0], "shape": [2, 2, 2], "scale": [2, 1, 1]});
    refused(json!([1, 2, 2]), &[scale], &["scales [2, 1, 1]"]);
}

#[test]
fn numbers_of_two_types_are_refused() {
    // 1.0 in binary32 as the bias of a linear layer whose weight stands in the node, in binary64.
    let header = br#"{"2.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"1.bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"1.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]}}"#;
    let size = u64::try_from(header.len()).unwrap();
    let file = [&size.to_le_bytes()[..], header, &1_f32.to_le_bytes().repeat(3)].concat();
    let linear = json!({"kind": "linear", "parents": [0], "shape": [1, 1]});
    let mixed = json!({"kind": "linear", "parents": [1], "shape": [1, 1], "weight": [[1]]});
    let refusal = write(&graph(json!([1, 1]), &[linear, mixed], Some(file))).unwrap_err();
    assert_eq!(refusal.place, "node 2 (linear)");
    assert_eq!(refusal.detail, "linear_2.weight is of another type than torch.float32, the other numbers' type");
}
