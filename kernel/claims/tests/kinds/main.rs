//! Certificate kinds on problems that are solved by hand.

mod leaves;
mod support;
mod witness;
