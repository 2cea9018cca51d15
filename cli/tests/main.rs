//! The command line from outside, and the kernel on cases whose truth is known. One binary, so that what the tests share is compiled once.

mod check;
mod corpus;
mod digest;
mod dumps;
mod import;
mod support;
mod truth;
