//! Certificate kinds on problems that are solved by hand.

mod leaves;
mod parts;
mod support;
mod witness;
