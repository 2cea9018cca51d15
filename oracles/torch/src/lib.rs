//! Untrusted: a graph and its payload as the source of a PyTorch module and its state dictionary.
//!
//! One node is one statement of `forward`; numbers stand in the state dictionary, bit for bit, but for an ε and other single
//! numbers of binary64, which stand in the source in the shortest decimal that reads back as the same number. What PyTorch does not compute
//! as the graph means it is refused by name.

mod expression;
mod layer;
mod literal;
mod site;
mod source;
mod state;
mod window;

pub use site::Refusal;
pub use source::{Model, write};
