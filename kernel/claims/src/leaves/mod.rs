//! Kind `leaves`: for each disjunct of the unsafe set a split tree, each leaf of which is refuted by one backward pass.

mod bounds;
mod certificate;
mod hints;
mod tree;
mod walk;

use crate::Observer;
use certificate::Certificate;
use certkern_core::rules::Judgement;
use certkern_seal::{Count, Documents, Theorem};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Reason, Rejection};

/// A file by name.
type Named<'a> = (&'a str, &'a [u8]);

pub(crate) fn check(
    documents: &Documents,
    certificate: Named<'_>,
    hints: Option<Named<'_>>,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Theorem, Rejection> {
    let certificate = Certificate::read(documents, certificate, hints, limits)?;
    let judgements = walk::trees(documents, &certificate, observer)?;
    let closed = Judgement::cases(documents.problem(), &judgements);
    let closed = closed.map_err(|_| Reason::TreeMalformed("not every disjunct has a tree".to_owned()))?;
    let count = |name, number| Count { name, number };
    let counts = vec![
        count("disjuncts", certificate.trees_of_disjuncts.len()),
        count("trees", certificate.trees.len()),
        count("leaves", certificate.trees.iter().map(tree::Tree::leaves).sum()),
        count("entries", certificate.entries),
        count("bound_sets", certificate.sets.len()),
        count("digits", certificate.digits),
    ];
    Theorem::unsat(&closed, documents, counts)
}
