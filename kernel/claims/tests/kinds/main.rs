//! Certificate kinds on problems that are solved by hand.

mod balls;
mod enclosure;
mod leaves;
mod monotone;
mod nodes;
mod parts;
mod support;
mod witness;
