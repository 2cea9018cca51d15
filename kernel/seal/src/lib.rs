//! From a judgement and the documents to a theorem: what was proved, how each part of it is known, and what is left to believe.
//!
//! [`Theorem`] has three makers, [`Theorem::of`], [`Theorem::enclosed`] and [`Theorem::well_shaped`]; all compute the digests themselves. [`Verdict`] is the one value
//! from which the verdict line and the exit code are derived. Reports are worded outside the kernel, from the same value.

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

mod documents;
mod evidence;
mod theorem;
mod verdict;

pub use documents::{Claimed, Digests, Documents, Stated};
pub use evidence::{Count, Evidence, Part, Premise};
pub use theorem::{Proposition, Subject, Theorem};
pub use verdict::Verdict;
