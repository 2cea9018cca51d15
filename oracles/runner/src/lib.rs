//! Untrusted: runs a producer of enclosures, a tool, as a subprocess and takes its answer.
//!
//! The contract: the tool reads the query, one JSON document, from standard input, writes the answer, one JSON document and nothing else, to standard
//! output, and ends with status 0. Standard error is for people. Whatever else happens is a [`Failure`], and then nothing of what the tool wrote is
//! read as an answer. Nothing here decides anything: [`join`] puts query and answer into one certificate, and the kernel computes its own balls.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod document;
mod error;
#[cfg(unix)]
mod pipes;
#[cfg(unix)]
mod process;
mod tail;
mod tool;

pub use document::{Document, join};
pub use error::{Failure, Fault};
pub use tail::Tail;
pub use tool::{Budget, Output, Tool};
