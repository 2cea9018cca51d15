//! The command line from outside, and the kernel on cases whose truth is known. One binary, so that what the tests share is compiled once.

mod assumptions;
mod bombs;
mod bundle;
mod capabilities;
mod check;
mod corpus;
mod digest;
mod dumps;
mod edits;
mod eval;
mod export;
mod import;
#[cfg(target_os = "linux")]
mod memory;
mod misread;
mod oracle;
mod parts;
mod readme;
mod remake;
mod statements;
mod support;
mod truth;
mod witness;
