//! JSON documents as text. A certificate is made of the texts of query and answer, so that every number stays as it is spelled.

use certkern_wire::{Limits, Rejection, json};

/// The text of exactly one JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a>(&'a [u8]);

impl<'a> Document<'a> {
    /// The document that these bytes are.
    ///
    /// # Errors
    /// As the kernel's reader of JSON.
    pub fn read(bytes: &'a [u8], limits: &Limits) -> Result<Self, Rejection> {
        json::parse(bytes, limits).map(|_| Self(bytes))
    }
}

/// The certificate of kind `enclosure` that a query and an answer are, where the kernel computes with `precision` bits at most. Whether the answer
/// is one to this query is for the kernel to say.
#[must_use]
pub fn join(query: &Document<'_>, answer: &Document<'_>, precision: Option<u32>) -> Vec<u8> {
    let precision = precision.map(|bits| format!(" \"precision\": {bits},\n")).unwrap_or_default();
    let head = format!("{{\"format\": \"certkern.enclosure.v1\",\n{precision} \"query\": ");
    [head.as_bytes(), query.0.trim_ascii(), b",\n \"answer\": ", answer.0.trim_ascii(), b"}\n"].concat()
}
