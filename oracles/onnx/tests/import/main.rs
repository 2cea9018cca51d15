//! Importing small models built here, and the shared networks.

mod cases;
mod evaluate;
mod meaning;
mod models;
mod more_operators;
mod operators;
mod refusals;
mod safetensors_file;
mod schema;
mod shared;
