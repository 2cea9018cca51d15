//! certkern-core

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

#[cfg(test)]
extern crate self as certkern_core;

pub mod affine;
mod enclosed;
pub mod expr;
pub mod filter;
pub mod func;
pub mod interval;
pub mod num;
mod point;
pub mod program;
pub mod property;
pub mod region;
pub mod rules;
pub mod tensor;

pub use point::NoValue;
