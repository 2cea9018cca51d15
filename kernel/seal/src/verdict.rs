//! The verdict: one value from which the line and the exit code are derived, and whatever is said of it.

use crate::theorem::Theorem;
use certkern_wire::reason::{Class, Reason, Rejection};

/// What the kernel says about a certificate.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// The kernel proved the proposition in this process.
    Accepted(Box<Theorem>),
    /// It did not, and why.
    Rejected(Rejection),
}

impl From<Result<Theorem, Rejection>> for Verdict {
    fn from(result: Result<Theorem, Rejection>) -> Self {
        result.map_or_else(Self::Rejected, |theorem| Self::Accepted(Box::new(theorem)))
    }
}

impl Verdict {
    /// The last line on standard output; empty for an internal error, which is no verdict.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Accepted(theorem) => format!("s ACCEPTED {} {}", theorem.proposition().name(), theorem.claim()),
            Self::Rejected(rejection) => match (&rejection.first().reason, rejection.first().reason.class()) {
                (Reason::Limit { name, .. }, _) => format!("s LIMIT {name}"),
                (_, Class::Internal) => String::new(),
                (reason, _) => format!("s REJECTED {}", reason.code()),
            },
        }
    }

    /// 0 accepted, 1 unproved or refuted, 2 malformed or unbound, 3 limit, 70 internal error.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Accepted(_) => 0,
            Self::Rejected(rejection) => match rejection.first().reason.class() {
                Class::Unproved | Class::Refuted => 1,
                Class::Malformed => 2,
                Class::Limit => 3,
                Class::Internal => 70,
            },
        }
    }

    /// One word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Rejected(rejection) => match rejection.first().reason.class() {
                Class::Unproved => "unproved",
                Class::Refuted => "refuted",
                Class::Malformed => "malformed",
                Class::Limit => "limit",
                Class::Internal => "internal",
            },
        }
    }
}
