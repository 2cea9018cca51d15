//! Untrusted: a counterexample that a verifier printed, as a bundle of kind `witness`, and how it compares with the exact values.
//!
//! Nothing here decides anything. The kernel evaluates the network at the point exactly and compares exactly; this crate reads the point
//! (VNN-COMP's text or JSON, every number as the exact rational that it spells), writes the bundle, and says what a verdict does not:
//! by how much the reported outputs differ from the exact ones, and whether the competition's tolerance would pass the point.
//!
//! The text form is `((X_0 0.5) (X_1 1e-3) … (Y_0 2.25) …)`, with a line `sat` before it or not; the Y may be left out, all or the last ones. The JSON form is
//! `{"format": "certkern.counterexample.v1", "x": [0.5, "1/3"], "y": ["0x1.2p+1"]}`; `y` may be left out.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod bundle;
mod compare;
mod document;
mod error;
mod point;
mod text;

pub use bundle::{Parts, Source, bundle};
pub use compare::{Comparison, Difference, RowSlack, Tolerance, compare};
pub use error::{Fault, Position, ReadError};
pub use point::{Counterexample, Entry};
