//! What ends a command without a verdict.

use certkern_report::Words;
use certkern_seal::Verdict;
use certkern_wire::Rejection;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

/// The exit code of a usage error.
pub(crate) const USAGE: u8 = 64;
/// The exit code of an internal error.
pub(crate) const INTERNAL: u8 = 70;
/// The exit code of what another program left that is of no use.
const UNREADABLE: u8 = 2;

/// What ends a command without a verdict.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong arguments, or a file that cannot be read or written.
    Usage(String),
    /// A file of another program that cannot be imported, or a tool that gave no answer.
    Import(String),
    /// A document that the kernel's readers refuse.
    Rejected(Rejection),
}

impl Failure {
    /// A file that cannot be read or written.
    pub(crate) fn io(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::Usage(format!("cannot {what} {}: {error}", path.display()))
    }

    /// The rejection, where a verdict can be made of it; else the failure.
    pub(crate) fn rejection(self) -> Result<Rejection, Self> {
        match self {
            Self::Rejected(rejection) => Ok(rejection),
            failure => Err(failure),
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::Import(_) => UNREADABLE,
            Self::Rejected(rejection) => Verdict::Rejected(rejection.clone()).exit_code(),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Import(text) => f.write_str(text),
            Self::Rejected(rejection) => write!(f, "{}", Words(rejection)),
        }
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}
