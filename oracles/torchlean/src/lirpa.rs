//! IBP certificates of the scripts for LiRPA: a box, and bounds of the value of one node on it. The network is given beside it.

use crate::bundle::{Network, Source, Specification, single_leaf};
use crate::error::ImportError;
use crate::numbers::ends;
use crate::{Certificate, Given};
use certkern_wire::json::Json;
use certkern_wire::{Limits, Rejection};
use serde_json::{Value, json};

/// A node, and ends for its coordinates as they were spelled.
struct Ends {
    node: usize,
    lower: Vec<String>,
    upper: Vec<String>,
}

/// A bundle of kind `bound`.
///
/// # Errors
/// `json.*` with the place in the artifact; [`ImportError::Mismatch`] if its nodes are not input and output of the graph.
pub(crate) fn convert(
    document: &Json,
    source: &Source<'_>,
    given: &Given<'_>,
    limits: &Limits,
) -> Result<Certificate, ImportError> {
    let mut fields = document.object("")?;
    fields.required("graph")?.string("graph")?;
    let (region, result) = (fields.required("input_box")?, fields.required("result")?);
    fields.finish().map_err(Rejection::from)?;
    let region = read(region, ("input_box", "id"), limits)?;
    let result = read(result, ("result", "node_id"), limits)?;
    let network = Network::given(given, source.kind, limits)?;
    let (input, outputs) = (network.meaning.input_id(), network.meaning.output_ids());
    if input != region.node {
        let text = format!("the box is of node {}, the input of the graph is node {input}", region.node);
        return Err(ImportError::Mismatch(text));
    }
    if outputs != [result.node] {
        let text = format!("the result is of node {}, the outputs of the graph are {outputs:?}", result.node);
        return Err(ImportError::Mismatch(text));
    }
    let count = result.lower.len();
    let bytes = |document: Value| document.to_string().into_bytes();
    let region = bytes(json!({"lo": region.lower, "hi": region.upper}));
    let bounds = bytes(json!({"format": "torchlean.bound.v1", "lower": result.lower, "upper": result.upper}));
    network.claim(Specification::Bounds { region, bounds }, single_leaf(2 * count, "plain"), None, source, limits)
}

/// `{"id": n, "dim": n, "lo": […], "hi": […]}`, where the node has another key for the result.
fn read(json: &Json, (path, node): (&str, &str), limits: &Limits) -> Result<Ends, Rejection> {
    let mut fields = json.object(path)?;
    let [id, dim, lo, hi] =
        [fields.required(node)?, fields.required("dim")?, fields.required("lo")?, fields.required("hi")?];
    let [id_path, dim_path, low, high] = [node, "dim", "lo", "hi"].map(|key| fields.path(key));
    fields.finish()?;
    let [lower, upper] = ends((lo, &low), (hi, &high), dim.index(&dim_path)?, limits)?;
    Ok(Ends { node: id.index(&id_path)?, lower, upper })
}
