//! The seam between a layout and what runs it.

use crate::layout::Layout;
use crate::number::Number;
use std::fmt::{self, Display, Formatter};

/// What runs layouts. There is one for the CPU; another one has the same seam and gives nearly the same numbers: its sums may have another order.
pub trait Backend {
    /// The outputs at each of some points, which lie one after the other, as the outputs do.
    ///
    /// # Errors
    /// [`Failure::Width`] if the points are no multiple of the input's width.
    fn run<T: Number>(&self, layout: &Layout<T>, points: &[T]) -> Result<Vec<T>, Failure>;
}

/// Why there is no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The points are no multiple of the input's width.
    Width,
    /// A coefficient, a parameter or a coordinate of the point is beyond the largest number of the format.
    Range,
    /// A coordinate does not fit 32 bits.
    Size,
    /// A function that is not known here.
    Function(&'static str),
    /// The kernel has no enclosure of a value: it is not shown to be defined, or too large.
    Unenclosed,
    /// A program that its constructor would have refused.
    Program,
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Width => {
                f.write_str("the point has another width than the input, or the outputs another than the graph's")
            }
            Self::Range => f.write_str("a number is beyond the largest of the format"),
            Self::Size => f.write_str("the network is too large for places of 32 bits"),
            Self::Function(name) => write!(f, "the function `{name}` is not known to the evaluator in floats"),
            Self::Unenclosed => {
                f.write_str("a value at the point is not shown to be defined, or too large to be enclosed")
            }
            Self::Program => f.write_str("the program does not fit itself"),
        }
    }
}
