//! Untrusted: artifacts in the formats of TorchLean as certificates that the kernel can check.
//!
//! Nothing here decides anything. What an artifact states about a result is a claim: it becomes the proposition of the certificate, or is dropped where the kernel computes its own (lower
//! bounds of leaves, margins, counters). Splits and slopes are hints. What an artifact does not hold and its claim needs (graph, numbers, property, points) is given beside it, and its absence
//! is told by name; an artifact about which there is no claim is refused by name. Documents are read by the kernel's strict reader: no duplicate keys, no unknown keys, no NaN, and numbers
//! are the exact numbers that they spell.
//!
//! `docs/torchlean.md` has the table of artifacts and what becomes of each.

#![allow(clippy::result_large_err, reason = "the faults of the kernel's readers, handed on as they are")]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod artifact;
mod bound;
mod bundle;
mod chain;
mod crown_query;
mod error;
mod leaves;
mod lirpa;
mod margin;
mod monotonicity;
mod numbers;

pub use artifact::Artifact;
pub use certkern_abcrown::{Bundle, write};
pub use error::ImportError;
pub use margin::MarginClaim;

use certkern_wire::{Limits, json};

/// A file by the name under which it was given.
pub type Named<'a> = (&'a str, &'a [u8]);

/// What is given beside an artifact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// A graph, `torchlean.ir.v1` or `certkern.ir.v1`.
    pub graph: Option<Named<'a>>,
    /// Its payload, safetensors; may be absent where the numbers stand in the nodes.
    pub payload: Option<Named<'a>>,
    /// A property: JSON by the ending .json of its name, else VNN-LIB.
    pub property: Option<Named<'a>>,
    /// A region, a box.
    pub region: Option<Named<'a>>,
    /// Weights of a linear classifier.
    pub weights: Option<Named<'a>>,
    /// The points of the examples.
    pub dataset: Option<Named<'a>>,
    /// The example, by its id.
    pub example: Option<usize>,
    /// What is to be claimed of the example.
    pub claim: Option<MarginClaim>,
}

/// A certificate.
#[derive(Clone, Debug)]
pub enum Certificate {
    /// A folder.
    Bundle(Bundle),
    /// One JSON document, with the digests of what it is about.
    Document {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Digests by role.
        digests: Vec<(&'static str, String)>,
    },
}

/// What an artifact became.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What it was.
    pub artifact: Artifact,
    /// The certificate.
    pub certificate: Certificate,
    /// What the artifact states and the certificate does not hold.
    pub dropped: &'static str,
}

/// Converts an artifact.
///
/// # Errors
/// An [`ImportError`] that names what the artifact is and what it lacks, or the place of what is wrong in it.
pub fn convert(artifact: Named<'_>, given: &Given<'_>, limits: &Limits) -> Result<Imported, ImportError> {
    let (name, bytes) = artifact;
    let document = json::parse(bytes, limits).map_err(|rejection| rejection.in_file(name))?;
    let kind = Artifact::of(&document).ok_or(ImportError::Unknown)?;
    given.check(kind)?;
    let source = bundle::Source { artifact, kind };
    let inside = |error| match error {
        ImportError::Rejected(rejection) if rejection.first().place.file.is_none() => rejection.in_file(name).into(),
        error => error,
    };
    let made = match kind {
        Artifact::CrownQuery => crown_query::convert(&document, &source, limits),
        Artifact::Leaves => leaves::convert(&document, &source, given, limits),
        Artifact::Lirpa => lirpa::convert(&document, &source, given, limits),
        Artifact::Bound => bound::convert(&document, &source, given, limits),
        Artifact::Margin => margin::convert(&document, &source, given, limits),
        Artifact::Monotonicity => monotonicity::convert(&document, limits),
        _ => Err(ImportError::NoClaim(kind)),
    };
    let certificate = made.map_err(inside)?;
    Ok(Imported { artifact: kind, certificate, dropped: kind.dropped() })
}

impl Given<'_> {
    /// What is given, by the names of the options.
    fn options(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("--graph", self.graph.is_some()),
            ("--payload", self.payload.is_some()),
            ("--property", self.property.is_some()),
            ("--region", self.region.is_some()),
            ("--weights", self.weights.is_some()),
            ("--dataset", self.dataset.is_some()),
            ("--example", self.example.is_some()),
            ("--claim", self.claim.is_some()),
        ];
        all.into_iter().filter_map(|(option, given)| given.then_some(option))
    }

    /// Refuses what an artifact has no use for, then the absence of what it needs.
    fn check(&self, kind: Artifact) -> Result<(), ImportError> {
        let (needed, possible) = kind.options();
        if needed.is_empty() && possible.is_empty() && !kind.is_convertible() {
            return Err(ImportError::NoClaim(kind));
        }
        if let Some(option) = self.options().find(|option| !needed.contains(option) && !possible.contains(option)) {
            return Err(ImportError::Needless { kind, option });
        }
        let missing: Vec<&str> =
            needed.iter().copied().filter(|need| !self.options().any(|own| own == *need)).collect();
        if missing.is_empty() { Ok(()) } else { Err(ImportError::Lacks { kind, missing }) }
    }
}
