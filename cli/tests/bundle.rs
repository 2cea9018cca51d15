//! Bundles in memory: read, changed, bound again, checked by the binary.

use crate::support::{Run, Tensor, certkern, entries, text};
use certkern_graph::Graph;
use certkern_onnx::Dtype;
use certkern_seal::Digests;
use certkern_wire::Limits;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files of a bundle by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) const MANIFEST: &str = "bundle.json";
pub(crate) const HINTS: &str = "cert.safetensors";

/// The files of a folder.
pub(crate) fn read(folder: &Path) -> Files {
    let file =
        |path: &std::path::PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
    entries(folder).iter().map(file).collect()
}

/// A bundle of these documents, bound, with the trivial certificate: for all disjuncts one tree of one leaf.
pub(crate) fn trivial(graph: &[u8], payload: &[u8], property: &[u8]) -> Files {
    let manifest = json!({"format": "certkern.bundle.v1", "kind": "leaves", "digests": {}, "files": {
        "graph": "graph.json", "payload": "payload.safetensors", "property": "property.vnnlib",
        "certificate": "cert.json"}});
    let disjuncts = certkern_wire::vnnlib::parse(property, &Limits::default()).unwrap().disjuncts.len();
    let certificate = json!({"format": "certkern.leaves.v1", "trees": vec![0; disjuncts]});
    let files = [
        (MANIFEST, manifest.to_string().into_bytes()),
        ("graph.json", graph.to_vec()),
        ("payload.safetensors", payload.to_vec()),
        ("property.vnnlib", property.to_vec()),
        ("cert.json", certificate.to_string().into_bytes()),
    ];
    bound(&files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect())
}

/// The same files with the digests of the documents in the manifest.
pub(crate) fn bound(files: &Files) -> Files {
    let limits = Limits::default();
    let mut manifest = json_of(files, MANIFEST);
    let named = |role: &str| manifest["files"][role].as_str().unwrap();
    let graph = Graph::read(&files[named("graph")], Some(&files[named("payload")]), &limits).unwrap();
    let property = certkern_claims::read_property(named("property"), &files[named("property")], &limits).unwrap();
    let digests = Digests::of(&graph, &property.clone().into()).by_role();
    manifest["digests"] = digests.into_iter().map(|(role, hex)| (role.name().to_owned(), json!(hex))).collect();
    with(files, MANIFEST, manifest.to_string().into_bytes())
}

/// The same files with one file in other bytes.
pub(crate) fn with(files: &Files, name: &str, bytes: Vec<u8>) -> Files {
    let mut files = files.clone();
    files.insert(name.to_owned(), bytes);
    files
}

/// A JSON file.
pub(crate) fn json_of(files: &Files, name: &str) -> Value {
    serde_json::from_slice(&files[name]).unwrap()
}

/// Checks a bundle with the binary.
pub(crate) fn check(files: &Files, arguments: &[&str]) -> Run {
    let scratch = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(scratch.path().join(name), bytes).unwrap();
    }
    certkern(["check", text(scratch.path())].iter().chain(arguments))
}

/// The tensors of a safetensors file in the order of their names.
pub(crate) fn tensors(file: &[u8]) -> Vec<Tensor> {
    let (length, rest) = file.split_at(8);
    let length = usize::try_from(u64::from_le_bytes(length.try_into().unwrap())).unwrap();
    let (header, data) = rest.split_at(length);
    let header: BTreeMap<String, Value> = serde_json::from_slice(header).unwrap();
    let numbers = |value: &Value| -> Vec<usize> { serde_json::from_value(value.clone()).unwrap() };
    let tensor = |(name, entry): (String, Value)| {
        let known = [Dtype::F32, Dtype::F64, Dtype::U32, Dtype::U8];
        let dtype = known.into_iter().find(|dtype| entry["dtype"] == dtype.name()).unwrap();
        let range = numbers(&entry["data_offsets"]);
        (name, dtype, numbers(&entry["shape"]), data[range[0]..range[1]].to_vec())
    };
    header.into_iter().map(tensor).collect()
}
