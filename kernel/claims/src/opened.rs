//! Parts of a check: the documents are opened once, parts are checked in any order and by anybody, and joined to a verdict.

use crate::bundle::{self, Claim};
use crate::{Files, Observer, Sources, leaves, witness};
use certkern_core::rules::Judgement;
use certkern_seal::{Documents, Theorem, Verdict};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Reason, Rejection};
use std::ops::Range;

/// Which tiers of arithmetic decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arith {
    /// binary64 with charged rounding where that suffices, else exact numbers.
    #[default]
    Auto,
    /// Exact numbers alone.
    Exact,
}

/// A bundle whose documents were read and bound.
#[derive(Debug)]
pub struct Opened<'a> {
    documents: Documents,
    claim: Claim<'a>,
}

/// What was proved about a part of a certificate. Only [`Opened::check`] makes one:
///
/// ```compile_fail
/// let forged: certkern_claims::Part = Default::default();
/// ```
#[derive(Debug)]
#[must_use]
pub struct Part(Kind);

#[derive(Debug)]
enum Kind {
    Leaves(leaves::Part),
    Whole(Judgement),
}

impl<'a> Opened<'a> {
    /// Reads and binds the documents of a bundle. Payload and hints may be `sources` instead of files: each number of the payload is read
    /// once, the hints when they are wanted.
    ///
    /// # Errors
    /// What the readers refuse.
    pub fn new(
        files: &'a Files<'_>,
        sources: &'a Sources<'a>,
        limits: &Limits,
        arith: Arith,
    ) -> Result<Self, Rejection> {
        let (documents, claim) = bundle::open(files, sources, limits, arith)?;
        Ok(Self { documents, claim })
    }

    /// The number of entries, each of which must be in one part: pairs of a leaf and a disjunct for kind `leaves`, one for other kinds.
    #[must_use]
    pub fn entries(&self) -> usize {
        match &self.claim {
            Claim::Leaves(leaves) => leaves.entries(),
            Claim::Witness(_) => 1,
        }
    }

    /// Checks the entries of a range.
    ///
    /// # Errors
    /// The first entry of the range that is not proved, and why. It does not depend on the other entries.
    pub fn check(&self, range: Range<usize>, observer: &dyn Observer) -> Result<Part, (usize, Rejection)> {
        if range.is_empty() || range.end > self.entries() {
            return Err((range.start, Reason::Internal("a range of no entries").into()));
        }
        match &self.claim {
            Claim::Leaves(leaves) => leaves.check(range, observer).map(Kind::Leaves),
            Claim::Witness(point) => {
                witness::check(&self.documents, point).map(Kind::Whole).map_err(|rejection| (0, rejection))
            }
        }
        .map(Part)
    }

    /// The verdict that the parts give together: every entry must be in one of them, and in no two.
    pub fn join(&self, parts: impl IntoIterator<Item = Part>) -> Verdict {
        self.theorem(parts).into()
    }

    fn theorem(&self, parts: impl IntoIterator<Item = Part>) -> Result<Theorem, Rejection> {
        let stranger = || Rejection::from(Reason::Internal("parts that are not the whole"));
        let mut parts = parts.into_iter().map(|Part(kind)| kind);
        match &self.claim {
            Claim::Leaves(leaves) => {
                let own = |kind| match kind {
                    Kind::Leaves(part) => Ok(part),
                    Kind::Whole(_) => Err(stranger()),
                };
                leaves.join(parts.map(own), &self.documents)
            }
            Claim::Witness(_) => match (parts.next(), parts.next()) {
                (Some(Kind::Whole(judgement)), None) => {
                    Theorem::of(&judgement, &self.documents, "witness", Vec::new(), None)
                }
                _ => Err(stranger()),
            },
        }
    }
}
