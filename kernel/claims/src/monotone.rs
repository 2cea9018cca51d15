//! Kind `monotone`: every output of a network is nondecreasing in every input, over all of ℝⁿ.

use crate::bundle::finish;
use certkern_graph::Graph;
use certkern_seal::Theorem;
use certkern_wire::fields::member;
use certkern_wire::json::Json;
use certkern_wire::limits::Limits;
use certkern_wire::reason::Rejection;

pub(crate) const FORMAT: &str = "certkern.monotone.v1";

/// `{"format": "certkern.monotone.v1", "graph": {…}}`, the graph with its numbers in the nodes.
pub(crate) fn check(document: &Json, limits: &Limits) -> Result<Theorem, Rejection> {
    let mut fields = document.object("")?;
    fields.required("format")?;
    let graph = fields.required("graph")?;
    finish(fields)?;
    let inside = |rejection: Rejection| {
        rejection.map(|mut fault| {
            fault.place.path = member("graph", &fault.place.path).trim_end_matches('.').to_owned();
            fault
        })
    };
    Graph::of_json(graph, None, limits).and_then(|graph| Theorem::monotone(&graph)).map_err(inside)
}
