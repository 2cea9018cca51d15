//! Certificate kinds on problems that are solved by hand.

mod enclosure;
mod leaves;
mod monotone;
mod parts;
mod support;
mod witness;
