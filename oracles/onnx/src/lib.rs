//! Untrusted: an ONNX file as a graph (`torchlean.ir.v1`, or `certkern.ir.v1` where it needs more operators) and a payload
//! (safetensors). `docs/onnx.md` says which node becomes what.
//!
//! The kernel believes nothing of this crate. A mistake here makes a theorem about another network than the user meant, so the
//! importer is as strict as it can be: every field and attribute is used or refused by name, numbers are copied bit for bit, and
//! nothing is computed in floats (no factor multiplied in, no normalisation folded).

mod attributes;
mod builder;
mod constant;
mod error;
mod fields;
mod fold;
mod frozen;
mod live;
mod model;
mod ops;
pub mod proto;
mod safetensors_file;

use prost::Message;
use sha2::{Digest, Sha256};

pub use error::{Fault, ImportError};
pub use frozen::Frozen;
pub use safetensors_file::{Dtype, write_safetensors};

/// An imported network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The graph: JSON text, one node a line.
    pub graph: String,
    /// The payload: a safetensors file.
    pub payload: Vec<u8>,
    /// The shape of the input.
    pub input_shape: Vec<usize>,
    /// The shapes of the outputs.
    pub output_shapes: Vec<Vec<usize>>,
    /// SHA-256 of the ONNX file, in lower-case hexadecimal digits.
    pub sha256: String,
    /// For each node of the graph the ONNX value that it comes from. Where several nodes come from one value, the last of them is
    /// that value.
    pub names: Vec<String>,
}

/// Imports an ONNX file.
///
/// # Errors
/// An [`ImportError`] that names the place and the way out, if the file is malformed or holds anything that the graph cannot
/// express exactly.
pub fn import(bytes: &[u8]) -> Result<Imported, ImportError> {
    import_frozen(bytes, &[])
}

/// Imports an ONNX file of which these graph inputs are constants.
///
/// # Errors
/// As [`import`].
pub fn import_frozen(bytes: &[u8], frozen: &[Frozen<'_>]) -> Result<Imported, ImportError> {
    let malformed = |detail: String| {
        ImportError::Malformed(error::fault("model", detail, "check that the file is a complete ONNX file"))
    };
    let model = proto::ModelProto::decode(bytes).map_err(|error| malformed(error.to_string()))?;
    let label = |path: &str, index: usize| {
        let graph = model.graph.as_ref()?;
        if path.starts_with("model.graph.node[") {
            return graph.node.get(index).map(|node| model::node_place(index, node));
        }
        if path.starts_with("model.graph.initializer[") {
            let name = graph.initializer.get(index)?.name.as_deref()?;
            return Some(model::initializer_place(name));
        }
        None
    };
    fields::check(bytes, &label)?;
    let model::Lowered { builder, input_shape, outputs } = model::lower(&model, frozen)?;
    let ids: Vec<usize> = outputs.iter().map(|output| output.id).collect();
    let (graph, payload, names) = builder.finish(&ids);
    let output_shapes = outputs.into_iter().map(|output| output.shape).collect();
    let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Imported { graph, payload, input_shape, output_shapes, sha256, names })
}
