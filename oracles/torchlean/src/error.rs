//! Why an artifact did not become a certificate.

use crate::artifact::Artifact;
use certkern_abcrown::BoxFault;
use certkern_report::Words;
use certkern_wire::{Fault, Rejection};
use std::fmt;

/// What was found, and the way out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ImportError {
    /// Leaves that do not tile the region.
    Boxes(BoxFault),
    /// Something that the claim needs and the artifact does not hold.
    Lacks {
        /// The artifact.
        kind: Artifact,
        /// The options that would give it.
        missing: Vec<&'static str>,
    },
    /// Documents that do not belong together.
    Mismatch(String),
    /// Something that the artifact has no use for.
    Needless {
        /// The artifact.
        kind: Artifact,
        /// The option.
        option: &'static str,
    },
    /// An artifact about which there is no claim.
    NoClaim(Artifact),
    /// A document that the kernel's readers refuse.
    Rejected(Rejection),
    /// A document that is no artifact that is known here.
    Unknown,
}

impl From<Rejection> for ImportError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<Fault> for ImportError {
    fn from(fault: Fault) -> Self {
        Self::Rejected(fault.into())
    }
}

/// What an option gives, in words.
fn meaning(option: &str) -> &'static str {
    match option {
        "--graph" => "the network",
        "--property" => "the property, with the region",
        "--region" => "the region of inputs",
        "--weights" => "the weights of the classifier",
        "--dataset" => "the points of the examples",
        _ => "the id of one example",
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boxes(fault) => write!(f, "the leaves are not those of a tree of splits: {fault}"),
            Self::Lacks { kind, missing } => {
                let missing: Vec<String> =
                    missing.iter().map(|option| format!("{} ({option})", meaning(option))).collect();
                write!(f, "{} lacks {}", kind.name(), missing.join(", "))
            }
            Self::Mismatch(text) => f.write_str(text),
            Self::Needless { kind, option } => write!(f, "{} has no use for {option}", kind.name()),
            Self::NoClaim(kind) => {
                write!(f, "this is {}: {}", kind.name(), kind.without_claim().unwrap_or("it can be imported"))
            }
            Self::Rejected(rejection) => {
                let faults: Vec<String> = rejection.faults().map(|fault| Words(fault).to_string()).collect();
                f.write_str(&faults.join("\n"))
            }
            Self::Unknown => {
                f.write_str("this is no artifact of TorchLean that certkern knows (docs/torchlean.md lists them)")
            }
        }
    }
}

impl std::error::Error for ImportError {}
