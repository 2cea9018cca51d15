//! Kind `graph`: a document in `torchlean.ir.v1` denotes a well-shaped graph.

use certkern_graph::Graph;
use certkern_seal::Theorem;
use certkern_wire::json::Json;
use certkern_wire::limits::Limits;
use certkern_wire::reason::Rejection;

pub(crate) fn check(document: &Json, limits: &Limits) -> Result<Theorem, Rejection> {
    Ok(Theorem::well_shaped(&Graph::of_json(document, None, limits)?))
}
