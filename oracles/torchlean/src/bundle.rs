//! Bundles: documents, their digests, and where they came from.

use crate::artifact::Artifact;
use crate::error::ImportError;
use crate::{Certificate, Given, Named};
use certkern_abcrown::{Bundle, hex_sha256};
use certkern_graph::Graph;
use certkern_onnx::write_safetensors;
use certkern_seal::Documents;
use certkern_wire::{Limits, Rejection};
use serde_json::{Map, Value, json};

/// The artifact that is converted.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) artifact: Named<'a>,
    pub(crate) kind: Artifact,
}

/// A network: the bytes of its two documents, and what they denote.
pub(crate) struct Network {
    graph: Vec<u8>,
    payload: Vec<u8>,
    pub(crate) meaning: Graph,
}

/// What is claimed of a network.
pub(crate) enum Specification {
    /// A region and an unsafe set: the name of the file, by whose ending it is JSON or VNN-LIB, and its bytes.
    Property(&'static str, Vec<u8>),
    /// A region, and bounds of the outputs.
    Bounds { region: Vec<u8>, bounds: Vec<u8> },
}

impl Network {
    /// A graph with its numbers in the nodes.
    ///
    /// # Errors
    /// What the kernel's reader refuses.
    pub(crate) fn alone(graph: String, limits: &Limits) -> Result<Self, Rejection> {
        let payload = write_safetensors(&[]);
        let meaning = Graph::read(graph.as_bytes(), Some(&payload), limits)?;
        Ok(Self { graph: graph.into_bytes(), payload, meaning })
    }

    /// The graph that is given, with its payload or without.
    ///
    /// # Errors
    /// What the kernel's reader refuses, with the name of the graph.
    pub(crate) fn given(given: &Given<'_>, kind: Artifact, limits: &Limits) -> Result<Self, ImportError> {
        let (name, graph) = given.graph.ok_or_else(|| ImportError::Lacks { kind, missing: vec!["--graph"] })?;
        let payload = given.payload.map_or_else(|| write_safetensors(&[]), |(_, bytes)| bytes.to_vec());
        let meaning = Graph::read(graph, Some(&payload), limits).map_err(|rejection| rejection.in_file(name))?;
        Ok(Self { graph: graph.to_vec(), payload, meaning })
    }

    /// The bundle of a claim about this network. `certificate` is `cert.json`, `hints` are the tensors of `cert.safetensors`.
    ///
    /// # Errors
    /// What the kernel's readers refuse: a property of another number of coordinates, crossed bounds, ….
    pub(crate) fn claim(
        self,
        specification: Specification,
        certificate: Vec<u8>,
        hints: Option<Vec<u8>>,
        source: &Source<'_>,
        limits: &Limits,
    ) -> Result<Certificate, ImportError> {
        let (documents, kind, said) = match specification {
            Specification::Property(name, bytes) => {
                let interface = self.meaning.interface();
                let property = certkern_claims::read_property_about(name, &bytes, Some(&interface), limits)?;
                (Documents::new(self.meaning, property)?, "leaves", vec![("property", name, bytes)])
            }
            Specification::Bounds { region: bytes, bounds } => {
                let stated =
                    certkern_claims::read_bounds(("region.json", &bytes), ("bound.json", &bounds), false, limits)?;
                let files = vec![("region", "region.json", bytes), ("bound", "bound.json", bounds)];
                (Documents::new(self.meaning, stated)?, "bound", files)
            }
        };
        let digests = documents.digests().by_role();
        let digests: Map<String, Value> =
            digests.into_iter().map(|(role, digest)| (role.name().to_owned(), json!(digest))).collect();
        let mut files = vec![
            ("graph", "graph.json", self.graph),
            ("payload", "payload.safetensors", self.payload),
            ("certificate", "cert.json", certificate),
        ];
        files.extend(said);
        files.extend(hints.map(|bytes| ("hints", "cert.safetensors", bytes)));
        let names: Map<String, Value> = files.iter().map(|(role, name, _)| ((*role).to_owned(), json!(name))).collect();
        let (name, bytes) = source.artifact;
        let manifest = json!({
            "format": "certkern.bundle.v1",
            "kind": kind,
            "files": names,
            "digests": digests,
            "provenance": {
                "producer": format!("TorchLean: {}", source.kind.name()),
                "sources": [{"role": "artifact", "name": name, "sha256": hex_sha256(bytes)}],
            },
        });
        let manifest = ("bundle.json".to_owned(), manifest.to_string().into_bytes());
        let files = files.into_iter().map(|(_, name, bytes)| (name.to_owned(), bytes)).chain([manifest]).collect();
        Ok(Certificate::Bundle(Bundle { files }))
    }
}

/// `cert.json` with one tree, a single leaf, for all of these disjuncts; the bound set is of this kind.
pub(crate) fn single_leaf(disjuncts: usize, bounds: &str) -> Vec<u8> {
    json!({"format": "certkern.leaves.v1", "trees": vec![0; disjuncts], "bounds": [bounds]}).to_string().into_bytes()
}
