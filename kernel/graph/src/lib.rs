//! The graph language `torchlean.ir.v1` and its superset `certkern.ir.v1`: a [`Graph`] is well-shaped because its only constructor runs the whole check.
//!
//! One operator is one file in `ops/`: its spelling, attributes, payload, shape rule and meaning. The meaning of a
//! graph is a program of primitives ([`Graph::lower`]), in real arithmetic on the exact numbers of the payload.
//!
//! Tensors without elements are refused everywhere: no bound speaks about them, and no network that computes needs them.

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

mod attributes;
mod graph;
mod lowering;
mod ops;
mod read;
mod shape;

pub use attributes::Attribute;
pub use graph::{Graph, Lowered, Node};
