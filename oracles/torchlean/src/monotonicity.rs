//! `monotonicity_v1`: a network in the artifact, whose outputs are claimed to be nondecreasing in every input.

use crate::Certificate;
use crate::chain::Chain;
use crate::error::ImportError;
use crate::numbers::unfit;
use certkern_graph::Graph;
use certkern_wire::json::Json;
use certkern_wire::{Limits, Rejection, Role};
use serde_json::json;

/// A document of kind `monotone`.
///
/// # Errors
/// `json.*` with the place in the artifact.
pub(crate) fn convert(document: &Json, limits: &Limits) -> Result<Certificate, ImportError> {
    let mut fields = document.object("")?;
    fields.required("format")?;
    let (inputs, layers) = (fields.required("input_dim")?, fields.required("layers")?);
    fields.finish().map_err(Rejection::from)?;
    let dimension = inputs.index("input_dim")?;
    if dimension == 0 {
        return Err(unfit(inputs, "input_dim", "a coordinate at least", "none").into());
    }
    let graph = Chain::read(layers, dimension, false, limits)?.graph();
    let meaning = Graph::read(graph.to_string().as_bytes(), None, limits)?;
    let digests = vec![
        (Role::Graph.name(), meaning.digest().to_string()),
        (Role::Payload.name(), meaning.payload_digest().to_string()),
    ];
    let bytes = json!({"format": "certkern.monotone.v1", "graph": graph}).to_string().into_bytes();
    Ok(Certificate::Document { bytes, digests })
}
