//! One room for each certificate kind: it reads the certificate, calls the rules and combines their judgements. It can forge none, so a
//! wrong room can only fail.
//!
//! Bytes go in, a [`Verdict`] comes out:
//!
//! ```
//! use certkern_claims::check_document;
//! use certkern_report::Report;
//! use certkern_wire::limits::Limits;
//!
//! let graph = br#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [2], "nodes": [
//!     {"id": 0, "kind": "input", "parents": [], "shape": [1, 4]},
//!     {"id": 1, "kind": "relu", "parents": [0], "shape": [1, 4]},
//!     {"id": 2, "kind": "sum", "parents": [1], "shape": []}]}"#;
//! let verdict = check_document(graph, &Limits::default());
//! assert!(verdict.line().starts_with("s ACCEPTED well-shaped "));
//! assert!(Report::of(&verdict).text().starts_with("The graph is well-shaped: nodes=3, input=0, outputs=#[2]."));
//!
//! let wrong = String::from_utf8_lossy(graph).replace("\"shape\": []", "\"shape\": [4]");
//! let verdict = check_document(wrong.as_bytes(), &Limits::default());
//! assert_eq!((verdict.line().as_str(), verdict.exit_code()), ("s REJECTED graph.shape-mismatch", 2));
//! ```

#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_arithmetic,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::allow_attributes_without_reason
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        clippy::float_arithmetic,
        reason = "tests may compute as they like"
    )
)]

mod bound;
mod bundle;
mod enclosure;
mod graph;
mod leaves;
mod monotone;
mod opened;
mod witness;

pub use bundle::{Files, Sources, read_bounds, read_property, read_property_about};
pub use enclosure::enclosure_digests;
pub use opened::{Arith, Opened, Part};
pub use witness::unevaluated;

use certkern_seal::Verdict;
use certkern_wire::json::{self, Json, Value};
use certkern_wire::limits::Limits;

/// Watches a check go by.
pub trait Observer: Sync {
    /// So many more entries are closed.
    fn closed(&self, entries: usize);
}

impl Observer for () {
    fn closed(&self, _: usize) {}
}

/// Entries that are checked together where nobody else says.
const PART: usize = 1 << 12;

/// Checks a bundle, a folder of files by name, `bundle.json` among them: all parts, one after the other.
pub fn check_bundle(files: &Files<'_>, limits: &Limits, observer: &dyn Observer) -> Verdict {
    let sources = Sources::new();
    let opened = match Opened::new(files, &sources, limits, Arith::Auto) {
        Ok(opened) => opened,
        Err(rejection) => return Verdict::Rejected(rejection),
    };
    let entries = opened.entries();
    let parts = (0..entries).step_by(PART).map(|start| {
        let part = opened.check(start..start.saturating_add(PART).min(entries), observer);
        part.map_err(|(_, rejection)| rejection)
    });
    match parts.collect::<Result<Vec<Part>, _>>() {
        Ok(parts) => opened.join(parts),
        Err(rejection) => Verdict::Rejected(rejection),
    }
}

/// The member `format` of a document, if it is a string.
fn format<'a>(document: &'a Json<'_>) -> Option<&'a str> {
    let mut members = document.members("").unwrap_or_default().iter();
    members.find_map(|(key, json)| match &json.value {
        Value::String(format) if key == "format" => Some(&**format),
        _ => None,
    })
}

/// Checks a claim that is one JSON document: an enclosure or a claim of monotonicity by its format, else a graph with its numbers in the nodes.
pub fn check_document(document: &[u8], limits: &Limits) -> Verdict {
    let checked = json::parse(document, limits).and_then(|document| match format(&document) {
        Some(enclosure::FORMAT) => enclosure::check(&document, limits),
        Some(bound::FORMAT) => bound::alone(&document, limits),
        Some(monotone::FORMAT) => monotone::check(&document, limits),
        _ => graph::check(&document, limits),
    });
    checked.into()
}
