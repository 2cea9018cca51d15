//! Bundles of kind `witness`.

use crate::point::Counterexample;
use certkern_seal::Digests;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A file that a bundle was made from, for its provenance.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What it is: `onnx`, `graph`, `payload`, `property` or `counterexample`.
    pub role: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The documents that a point is a witness for.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The graph, `torchlean.ir.v1`.
    pub graph: &'a [u8],
    /// The payload, safetensors.
    pub payload: &'a [u8],
    /// The property with its name, by whose ending it is JSON or VNN-LIB.
    pub property: (&'a str, &'a [u8]),
    /// The digests of these documents.
    pub digests: &'a Digests,
    /// What they were made from.
    pub sources: &'a [Source<'a>],
}

/// The files of a bundle that claims the point as a witness. Its numbers stand in the certificate as they were spelled.
#[must_use]
pub fn bundle(parts: &Parts<'_>, counterexample: &Counterexample<'_>) -> BTreeMap<String, Vec<u8>> {
    let (name, property) = parts.property;
    let property_name = if name.ends_with(".json") { "property.json" } else { "property.vnnlib" };
    let point: Vec<&str> = counterexample.x().iter().map(|entry| entry.spelling.as_str()).collect();
    let certificate = json!({"format": "certkern.witness.v1", "x": point});
    let digests = parts.digests.by_role();
    let digests: Map<String, Value> =
        digests.into_iter().map(|(role, digest)| (role.name().to_owned(), json!(digest))).collect();
    let sources: Vec<Value> = parts.sources.iter().map(Source::provenance).collect();
    let manifest = json!({
        "format": "certkern.bundle.v1",
        "kind": "witness",
        "files": {
            "graph": "graph.json",
            "payload": "payload.safetensors",
            "property": property_name,
            "certificate": "cert.json",
        },
        "digests": digests,
        "provenance": {"producer": "certkern witness", "sources": sources},
    });
    let files = [
        ("bundle.json", manifest.to_string().into_bytes()),
        ("graph.json", parts.graph.to_vec()),
        ("payload.safetensors", parts.payload.to_vec()),
        (property_name, property.to_vec()),
        ("cert.json", certificate.to_string().into_bytes()),
    ];
    files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

impl Source<'_> {
    fn provenance(&self) -> Value {
        let sha256: String = Sha256::digest(self.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        json!({"role": self.role, "name": self.name, "sha256": sha256})
    }
}
