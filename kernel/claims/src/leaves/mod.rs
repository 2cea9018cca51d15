//! Kind `leaves`: for each disjunct of the unsafe set a split tree, each leaf of which is refuted by one backward pass.

mod bounds;
mod certificate;
mod hints;
mod tree;
mod walk;

use crate::Observer;
use crate::bundle::Named;
use certificate::Certificate;
use certkern_core::rules::Judgement;
use certkern_seal::{Count, Documents, Theorem};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Reason, Rejection};

pub(crate) fn check(
    documents: &Documents,
    header: Named<'_>,
    hints: Option<Named<'_>>,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Theorem, Rejection> {
    let certificate = Certificate::read(documents, header, hints, limits)?;
    let file = hints.map_or(header.0, |(name, _)| name);
    let judgements = walk::trees(documents, &certificate, observer).map_err(|rejection| rejection.in_file(file))?;
    let closed = Judgement::cases(documents.problem(), &judgements);
    let closed = closed.map_err(|_| Reason::TreeMalformed("not every disjunct has a tree".to_owned()))?;
    let count = |name, number| Count { name, number };
    let counts = vec![
        count("disjuncts", judgements.len()),
        count("trees", certificate.trees.len()),
        count("leaves", certificate.trees.iter().map(|(tree, _)| tree.leaves()).sum()),
        count("entries", certificate.entries),
        count("bound_sets", certificate.sets.len()),
        count("digits", certificate.digits),
    ];
    Theorem::of(&closed, documents, "leaves", counts)
}
