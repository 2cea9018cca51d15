//! The payload file and the digests.

use certkern_graph::Graph;
use certkern_wire::tensors::Source;
use certkern_wire::{Limits, Rejection};

const NODES: &str = r#"{"id":0,"kind":"input","parents":[],"shape":[2]},
    {"id":1,"kind":"linear","parents":[0],"shape":[1]}"#;

fn document(nodes: &str) -> String {
    format!(r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[{nodes}]}}"#)
}

/// A safetensors file of (name, type, shape, bytes).
fn file(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let mut header = Vec::new();
    let mut data = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        let end = data.len();
        header.push(format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#));
    }
    let mut header = format!("{{{}}}", header.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let length = u64::try_from(header.len()).unwrap().to_le_bytes();
    [&length[..], header.as_bytes(), &data].concat()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read(nodes: &str, payload: Option<&[u8]>) -> Result<Graph, Rejection> {
    let payload = payload.as_ref().map(|bytes| bytes as &dyn Source);
    Graph::read(document(nodes).as_bytes(), payload, &Limits::default())
}

#[track_caller]
fn refused(nodes: &str, payload: &[u8], code: &str, in_payload: bool) {
    let rejection = read(nodes, Some(payload)).unwrap_err();
    let first = rejection.first();
    assert_eq!((first.reason.code().as_str(), first.place.file.as_deref()), (code, in_payload.then_some("payload")));
}

#[test]
fn numbers_from_a_file() {
    let weight = ("1.weight", "F32", &[1, 2][..], f32s(&[0.5, -2.0]));
    let bias = ("1.bias", "F64", &[1][..], f64s(&[0.25]));
    let good = file(&[weight.clone(), bias.clone()]);
    let graph = read(NODES, Some(&good)).unwrap();
    let fields: Vec<&str> = graph.nodes()[1].payload().map(|(field, _)| field).collect();
    assert_eq!(fields, ["weight", "bias"]);
    // Independent of the layout of the file.
    let other = read(NODES, Some(&file(&[bias.clone(), weight.clone()]))).unwrap();
    assert_eq!(graph.payload_digest(), other.payload_digest());

    assert_eq!(read(NODES, None).unwrap_err().faults().count(), 2);
    refused(NODES, &file(std::slice::from_ref(&weight)), "graph.payload", false);
    let narrow = ("1.weight", "F32", &[2][..], f32s(&[0.5, -2.0]));
    refused(NODES, &file(&[narrow, bias.clone()]), "graph.payload", false);
    let integers = ("1.weight", "U32", &[1, 2][..], f32s(&[0.5, -2.0]));
    refused(NODES, &file(&[integers, bias.clone()]), "tensors.dtype", true);
    let infinite = ("1.weight", "F32", &[1, 2][..], f32s(&[0.5, f32::INFINITY]));
    refused(NODES, &file(&[infinite, bias.clone()]), "tensors.not-finite", true);
    for name in ["0.weight", "1.values", "2.bias", "01.bias", "bias"] {
        let unused = (name, "F64", &[1][..], f64s(&[0.25]));
        refused(NODES, &file(&[weight.clone(), bias.clone(), unused]), "tensors.unused", true);
    }
    refused(NODES, b"{}", "tensors.header", true);
    let twice = NODES.replace(r#""shape":[1]"#, r#""shape":[1],"bias":[0.25]"#);
    refused(&twice, &good, "graph.payload", false);
    // Half in the node and half in the file is one payload.
    let halves = read(&twice, Some(&file(&[weight]))).unwrap();
    assert_eq!(halves.payload_digest(), graph.payload_digest());
}

const IN_NODES: &str = r#"{"id":0,"kind":"input","parents":[],"shape":[1,2,5]},
    {"id":1,"kind":"conv","parents":[0],"shape":[1,2,3],"spatial_rank":1,"kernel":[2],"stride":[2],"padding":[1],
     "dilation":[2],"groups":1,"channel_axis":1,"in_channels":2,"out_channels":2,
     "weight":[[[1,2],[0.1,-0.0]],[[0,0],[3,4]]],"bias":[0.5,-1]},
    {"id":2,"kind":"linear","parents":[1],"shape":[1,2,1],"weight":[[1,2,3]],"bias":[0]},
    {"id":3,"kind":"const","parents":[],"shape":[],"values":[7]}"#;

/// The digests, computed apart from this program with Python's `struct` and `hashlib` from section 6 of SPEC.md.
#[test]
fn digests_are_those_of_the_specification() {
    let graph = read(IN_NODES, None).unwrap();
    assert_eq!(graph.digest().to_string(), "ca1ef1d2016411bb3e1599da1ba4c75d6736e7d13362f4665527e4246cf787a3");
    assert_eq!(graph.payload_digest().to_string(), "66cf648fcab17eef87ae16d96cff139904ec67e846fb8265335ce119ddf456f0");
}

#[test]
fn digests_see_what_has_meaning_and_nothing_else() {
    let graph = read(IN_NODES, None).unwrap();
    let same = [
        ("\"groups\":1,", " \"groups\" : 1e0 , \"debug_target\":\"x\","),
        ("\"stride\":[2],\"padding\":[1]", "\"padding\":[1],\"stride\":[2]"),
        ("\"padding\":[1]", "\"padding\":[1],\"padding_after\":[1]"),
        ("\"weight\":[[1,2,3]]", "\"weight\":[1,2,3]"),
        ("\"values\":[7]", "\"values\":7.0"),
    ];
    for (from, to) in same {
        assert_eq!(IN_NODES.matches(from).count(), 1, "{from}");
        let other = read(&IN_NODES.replace(from, to), None).unwrap();
        assert_eq!(other.digest(), graph.digest(), "{to}");
        assert_eq!(other.payload_digest(), graph.payload_digest(), "{to}");
    }
    let other_numbers = read(&IN_NODES.replace("0.1", "0.2"), None).unwrap();
    assert_eq!(other_numbers.digest(), graph.digest());
    assert_ne!(other_numbers.payload_digest(), graph.payload_digest());
    // An output of length 3 from 5 either way, by another padding.
    let other_padding = IN_NODES.replace("\"padding\":[1]", "\"padding\":[2],\"padding_after\":[0]");
    let other_padding = read(&other_padding, None).unwrap();
    assert_ne!(other_padding.digest(), graph.digest());
    assert_eq!(other_padding.payload_digest(), graph.payload_digest());
}

/// A graph of `certkern.ir.v1`, or of `torchlean.ir.v1`, with one linear node of these numbers.
fn written(format: &str, weight: &str, bias: &str, limits: &Limits) -> Result<Graph, Rejection> {
    let nodes = format!(
        r#"{{"id":0,"kind":"input","parents":[],"shape":[2]}},
        {{"id":1,"kind":"linear","parents":[0],"shape":[1],"weight":{weight},"bias":{bias}}}"#
    );
    let document = document(&nodes).replace("torchlean.ir.v1", format);
    Graph::read(document.as_bytes(), None, limits)
}

#[test]
fn strings_are_exact_numbers() {
    let limits = Limits::default();
    let extended = |weight: &str, bias: &str| written("certkern.ir.v1", weight, bias, &limits);
    let graph = extended(r#"[["1/3","-0x1.8p-3"]]"#, r#"["0.1"]"#).unwrap();
    let number = |field: usize, place| graph.nodes()[1].payload().nth(field).unwrap().1.get(place).unwrap().to_string();
    assert_eq!((number(0, 0), number(0, 1), number(1, 0)), ("1/3".to_owned(), "-3/16".to_owned(), "1/10".to_owned()));
    // Of SPEC.md, section 6, by the Python reference: `exact` is no `binary64`, even where the numbers are the same.
    let digests = [
        (r#"["0.1"]"#, "e663cd28d8ade5be729772badfa60602fa5a09d10a718e7590942f8a67294ef3"),
        ("[0.1]", "c171f7c1855017f7f9a37a07e87026b1f8eee204a0505a7b4e1f935307a23d83"),
    ];
    for (bias, digest) in digests {
        let graph = extended(r#"[["1/3","-0x1.8p-3"]]"#, bias).unwrap();
        assert_eq!(graph.payload_digest().to_string(), digest, "{bias}");
    }
    let refused = |result: Result<Graph, Rejection>, code: &str, path: &str| {
        let rejection = result.unwrap_err();
        let first = rejection.first();
        assert_eq!((first.reason.code().as_str(), first.place.path.as_str()), (code, path));
    };
    // All numbers of a field, or none.
    refused(extended(r#"[["1/3",1]]"#, "[0]"), "json.type", "nodes[1].weight[0][0]");
    refused(extended(r#"[["1/0","1"]]"#, "[0]"), "json.number", "nodes[1].weight[0][0]");
    refused(extended(r#"[["1","NaN"]]"#, "[0]"), "json.number", "nodes[1].weight[0][1]");
    refused(extended(r#"[["1"]]"#, "[0]"), "graph.payload", "nodes[1].weight");
    // The smaller language has no such numbers.
    refused(written("torchlean.ir.v1", r#"[["1/3","1"]]"#, "[0]", &limits), "json.type", "nodes[1].weight[0][0]");
    // 1e-1100 takes 3655 bits: seven times 512 and more, so it counts 200·7² and one.
    let few = |graph_elements| Limits { graph_elements, ..Limits::default() };
    let long = r#"[["1e-1100","1e-1100"]]"#;
    assert_eq!(written("certkern.ir.v1", long, "[0]", &few(19_602)).map(|_| ()), Ok(()));
    refused(written("certkern.ir.v1", long, "[0]", &few(19_601)), "limit.graph-elements", "nodes[1].weight");
    // The budget is one for all fields.
    refused(
        written("certkern.ir.v1", r#"[["1","1"]]"#, r#"["1e-1100"]"#, &few(9802)),
        "limit.graph-elements",
        "nodes[1].bias",
    );
}
