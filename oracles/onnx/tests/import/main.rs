//! Importing small models built here, and the shared networks.

mod evaluate;
mod models;
mod operators;
mod refusals;
mod safetensors_file;
mod schema;
mod shared;
