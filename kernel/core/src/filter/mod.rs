//! What the filter tier computes with: binary64 in round to nearest. Rounding is charged where the results are used (CHARGE in `rules`), so
//! nothing here decides anything; but what the charge counts on is here: a classical product, conversions that round the right way, and
//! a check that the unit rounds as IEEE 754-2019 says.
//!
//! Float types are named in this folder and in `rules/filter` alone.

#![allow(clippy::float_arithmetic, reason = "the filter tier computes in binary64 and charges the rounding")]

pub(crate) mod map;
pub(crate) mod product;
pub(crate) mod round;
pub(crate) mod rows;
pub mod unit;
