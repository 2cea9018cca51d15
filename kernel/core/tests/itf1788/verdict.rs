//! What can come of an assertion.

/// How an assertion was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The numbers are those of the suite.
    Holds,
    /// The operation was refused, as it must be.
    Refused(Refused),
    /// It says nothing about this library.
    Apart(Reason),
}

/// Why an operation must be refused here that has a result there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refused {
    Undefined,
    Power,
    NoInterval,
}

/// Why an assertion does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    Unbounded,
    Empty,
    Decoration,
    Text,
    Reverse,
    Integer,
    Angle,
}

impl Verdict {
    /// The row of the table in `docs/itf1788.md`.
    pub(crate) fn row(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Refused(Refused::Undefined) => {
                "refused: not defined on all of the arguments; the suite has the result for the rest of them"
            }
            Self::Refused(Refused::Power) => {
                "refused: `pow` with a base from 0; it is `exp(y·log x)` here, or `power` where `y` is one number above 0"
            }
            Self::Refused(Refused::NoInterval) => "refused: two numbers in descending order are no interval",
            Self::Apart(Reason::Unbounded) => {
                "an argument has an infinite end or is no number; ends are real numbers here"
            }
            Self::Apart(Reason::Empty) => "an argument is empty; no operation here takes the empty set",
            Self::Apart(Reason::Decoration) => "decorations and not-an-interval (`newDec`, `setDec`, `isNaI`, …)",
            Self::Apart(Reason::Text) => "intervals from text: numbers are read exactly here, and not rounded",
            Self::Apart(Reason::Reverse) => "an argument from a result (`absRevBin`, `cancelPlus`, `cancelMinus`)",
            Self::Apart(Reason::Integer) => "rounding to integers and `sign`, which the library does not have",
            Self::Apart(Reason::Angle) => {
                "`atan2` on both sides of its cut or at its centre; elsewhere it is written with `atan`"
            }
        }
    }
}
