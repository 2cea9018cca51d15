//! Bytes in, documents out: strict readers, limits, canonical bytes and digests, and rejections as data.
//!
//! Every reader takes bytes and [`Limits`] and returns a value or a [`Rejection`]. It
//! never panics, never recurses over the input, and uses memory in proportion to the bytes and the limits.
//! Numbers are exact: a number in a document is the rational that its text or its bits spell.
//!
//! ```
//! use certkern_wire::{Limits, digest, vnnlib};
//!
//! let text = b"(declare-const X_0 Real) (declare-const Y_0 Real)
//!     (assert (<= X_0 1)) (assert (>= X_0 -1)) (assert (>= Y_0 0.5))";
//! let property = vnnlib::parse(text, &Limits::default()).unwrap();
//! assert_eq!((property.inputs(), property.outputs, property.disjuncts.len()), (1, 1, 1));
//! assert_eq!(digest::input_digest(&property).to_string().len(), 64);
//!
//! let fault = vnnlib::parse(b"(declare-const X_0 Int)", &Limits::default()).unwrap_err();
//! assert_eq!(fault.first().reason.code(), "property.unsupported");
//! assert_eq!(fault.first().place.offset, Some(19));
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

pub mod bound;
pub mod digest;
pub mod fields;
pub mod json;
pub mod limits;
pub mod nodes;
pub mod number;
pub mod property;
pub mod reason;
pub mod region;
mod rejection;
pub mod tensors;
pub mod vnnlib;

pub use limits::Limits;
pub use reason::{Class, Fault, Place, Reason, Rejection, Role};
