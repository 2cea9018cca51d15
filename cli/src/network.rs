//! A network in the forms in which commands take one.

use crate::failure::Failure;
use crate::folder::{Folder, MANIFEST, named_in};
use crate::import::onnx;
use crate::input::{Input, Named};
use certkern_wire::Limits;
use std::path::Path;

/// A network as documents of the kernel.
pub(crate) struct Network {
    pub(crate) graph: Named,
    pub(crate) payload: Named,
    /// The file that they were imported from.
    pub(crate) onnx: Option<Named>,
}

impl Network {
    /// Reads an ONNX file, or a folder: a bundle, or what an importer wrote.
    pub(crate) fn read(path: &Path, limits: &Limits) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let bytes = match Input::read(path, &[], limits)? {
            Input::File(bytes) => bytes,
            Input::Folder(Folder { mut files, .. }) => {
                let manifest = files.remove(MANIFEST);
                let mut take = |role: &'static str, file: &str| {
                    let named = manifest.as_ref().and_then(|manifest| named_in(manifest, role, limits).ok());
                    let file = named.as_deref().unwrap_or(file);
                    Some((path.join(file).display().to_string(), files.remove(file)?))
                };
                let (graph, payload) = (take("graph", onnx::GRAPH), take("payload", onnx::PAYLOAD));
                return match (graph, payload) {
                    (Some(graph), Some(payload)) => Ok(Self { graph, payload, onnx: None }),
                    _ => Err(Failure::Usage(format!(
                        "{name} has not both {} and {}: give an ONNX file, or what `certkern import onnx` wrote",
                        onnx::GRAPH,
                        onnx::PAYLOAD
                    ))),
                };
            }
        };
        let imported = onnx::import(&name, &bytes, &[])?;
        let (graph, payload) = ((name.clone(), imported.graph.into_bytes()), (name.clone(), imported.payload));
        Ok(Self { graph, payload, onnx: Some((name, bytes)) })
    }
}
