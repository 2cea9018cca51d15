//! Untrusted: a leaf dump of α,β-CROWN (format `abdump-0`) as a bundle that the kernel can check.
//!
//! Nothing here decides anything. The converter finds the trees again whose leaves the dump holds, and copies splits, slopes and multipliers
//! as hints; the kernel recomputes every bound. A leaf set that covers nothing as a tree is refused here with the place of the gap,
//! so that the user learns what is wrong with the dump; a bad multiplier is passed on for the kernel to refuse.
//!
//! What a dump must hold: one box region; ReLU, sigmoid and tanh as the only activations with hints; for splits of neurons the leaves with
//! their splits, for input splits the boxes, without clipping. Leaves that used tighter bounds than those of the root (`own_interm`) are converted with the root bounds.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod activation;
mod box_tree;
mod bundle;
mod certificate;
mod disjuncts;
mod dump;
mod error;
mod hints;
mod manifest;
mod problem;
mod relu_tree;
mod tree;

pub use box_tree::{BoxFault, BoxRegion};
pub use bundle::{Bundle, write};
pub use error::{ConvertError, Path, SplitLiteral};
pub use problem::rounds_to;

use certkern_graph::Graph;
use certkern_onnx::write_safetensors;
use certkern_report::Words;
use certkern_wire::{Limits, digest, vnnlib};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The names of the files that a bundle is made from, for its provenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNames {
    /// The network.
    pub onnx: String,
    /// The property.
    pub property: String,
    /// The manifest of the dump.
    pub manifest: String,
    /// The tensors of the dump.
    pub tensors: String,
}

/// Converts a dump: its manifest and tensors, the ONNX file and the VNN-LIB file of the run.
///
/// # Errors
/// A [`ConvertError`] that names the place in the dump (the leaf, the literals, the box) and the way out.
pub fn convert(
    manifest: &[u8],
    tensors: &[u8],
    onnx: &[u8],
    property: &[u8],
    names: &SourceNames,
) -> Result<Bundle, ConvertError> {
    let document = manifest::Manifest::read(manifest)?;
    document.check_tensors(tensors)?;
    let dump = dump::Tensors::read(tensors)?;
    let imported = certkern_onnx::import(onnx).map_err(|error| ConvertError::Onnx(error.to_string()))?;
    let limits = Limits::default();
    let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), &limits)
        .map_err(|rejection| ConvertError::Graph(Words(&rejection).to_string()))?;
    let exact = vnnlib::parse_about(property, Some(&graph.interface()), &limits)
        .map_err(|rejection| ConvertError::Property(Words(&rejection).to_string()))?;
    let digests = json!({
        "graph": graph.digest().to_string(),
        "payload": graph.payload_digest().to_string(),
        "input": digest::input_digest(&exact).to_string(),
        "output": digest::output_digest(graph.output_ids(), &exact).to_string(),
    });
    let certificate = certificate::assemble(&document, &dump, &problem::Problem::new(&graph, exact))?;
    let source =
        |role: &str, name: &str, bytes: &[u8]| json!({"role": role, "name": name, "sha256": hex_sha256(bytes)});
    let manifest_of_bundle = json!({
        "format": "certkern.bundle.v1",
        "kind": "leaves",
        "files": {
            "graph": "graph.json",
            "payload": "payload.safetensors",
            "property": "property.vnnlib",
            "certificate": "cert.json",
            "hints": "cert.safetensors",
        },
        "digests": digests,
        "provenance": {
            "producer": "alpha,beta-CROWN via abdump-0",
            "sources": [
                source("onnx", &names.onnx, onnx),
                source("property", &names.property, property),
                source("manifest", &names.manifest, manifest),
                source("tensors", &names.tensors, tensors),
            ],
        },
    });
    let files = [
        ("bundle.json", manifest_of_bundle.to_string().into_bytes()),
        ("graph.json", imported.graph.into_bytes()),
        ("payload.safetensors", imported.payload),
        ("property.vnnlib", property.to_vec()),
        ("cert.json", certificate.document),
        ("cert.safetensors", write_safetensors(&certificate.tensors)),
    ];
    let files: BTreeMap<String, Vec<u8>> = files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    Ok(Bundle { files })
}

/// `cert.json` and `cert.safetensors` for leaves that are boxes, of which nothing else is known: one tree, whose leaves get bounds of their own, for all of a number of disjuncts. `boxes` are
/// lower and upper corners, one after the other, which are to tile the box `root` of the input node `input`.
///
/// # Errors
/// Why the boxes are not the leaves of a tree.
pub fn certificate_of_boxes(
    boxes: (&[f64], &[f64]),
    root: (&[f64], &[f64]),
    input: usize,
    disjuncts: usize,
) -> Result<(Vec<u8>, Vec<u8>), BoxFault> {
    let certificate = certificate::of_boxes(boxes, root, input, disjuncts)?;
    Ok((certificate.document, write_safetensors(&certificate.tensors)))
}

/// The SHA-256 of some bytes in hexadecimal digits.
#[must_use]
pub fn hex_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
