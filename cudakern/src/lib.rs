//! Untrusted: a program of the kernel in binary32 or binary64, and a bound on how far such a run can be from the real numbers.
//!
//! No verdict rests on anything here. A run is compared with the kernel's own value at the point, and a report calls that `compared`, never `proved`.
//!
//! - [`Layout`] is a program in flat buffers of one type: what any back end needs, in memory of its own or not.
//! - [`Backend`] runs a layout; [`Cpu`] is the one that is always there: plain loops, sums in the order of the coordinates.
//! - [`Bounds`] says how far any run in a format can be off, whatever the order of its sums.
//! - [`Probe`] is a point with the outputs that another program gave there.

mod backend;
mod bounds;
mod composite;
mod cpu;
mod functions;
mod layout;
mod number;
mod probe;

pub use backend::{Backend, Failure};
pub use bounds::Bounds;
pub use cpu::Cpu;
pub use layout::{Layout, Map, NONE, Operation, Step, Term};
pub use number::{Format, Number, to_binary64};
pub use probe::{Difference, Probe, point};
