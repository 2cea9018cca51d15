//! Targets that try to have a false claim accepted: a claim, points at which it fails exactly or by a margin, and any hints.
//!
//! One file for each certificate kind; another kind is another file here and another line in [`crate::TARGETS`].

mod certificate;
mod claim;
mod expression;
mod monotone;
mod network;
mod region;
mod sample;
mod statement;

use crate::limits;
use crate::source::{Choices, extended};
use crate::tally::count;
use certificate::Certificate;
use certkern_claims::{Arith, Files, Opened, Sources};
use certkern_seal::Verdict;
use certkern_wire::Rejection;
use claim::{Claim, Form};
use sample::Literal;

pub(crate) use expression::body as enclosure;
pub(crate) use monotone::body as monotone;
pub(crate) use statement::document;

/// Kinds `leaves` and `witness`.
pub(crate) fn leaves(data: &[u8]) {
    let bytes = extended(data);
    let mut u = Choices::new(&bytes);
    match u.below(16) {
        0 => witness(&mut u),
        _ => refutation("soundness", Form::Rows, &mut u),
    }
}

/// Kind `bound`.
pub(crate) fn bound(data: &[u8]) {
    let bytes = extended(data);
    refutation("soundness_bound", Form::Bounds, &mut Choices::new(&bytes));
}

/// Kind `nodes`.
pub(crate) fn nodes(data: &[u8]) {
    let bytes = extended(data);
    refutation("soundness_nodes", Form::Nodes, &mut Choices::new(&bytes));
}

/// A certificate for a claim that samples may contradict. An entry that holds a sample of its disjunct is checked by itself, so that one which is
/// wrongly closed is seen whatever the others come to.
fn refutation(target: &'static str, form: Form, u: &mut Choices<'_>) {
    let Some(claim) = Claim::new(u, form) else {
        count(target, "no claim");
        return;
    };
    let certificate = Certificate::new(u, &claim);
    let files = claim.bundle(certificate.header(), certificate.hints());
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    let check = Check { target, claim, certificate, files };
    let arith = if u.one_in(3) { Arith::Exact } else { Arith::Auto };
    let open = check.open();
    if open.is_empty() || u.one_in(3) {
        let accepted = check.whole(arith);
        // What the exact tier closes alone is closed where the filter comes first.
        if accepted && arith == Arith::Exact {
            assert!(check.whole(Arith::Auto), "the exact tier alone accepts what both together refuse");
        }
    }
    check.entries(&open, arith);
}

struct Check<'f> {
    target: &'static str,
    claim: Claim,
    certificate: Certificate,
    files: Files<'f>,
}

impl Check<'_> {
    /// The entries that a sample keeps open.
    fn open(&self) -> Vec<usize> {
        let entries = self.certificate.entries().into_iter().enumerate();
        let holds = |leaf: &[Literal], disjunct: usize| {
            let samples = self.claim.samples.iter().enumerate();
            samples.into_iter().any(|(place, sample)| self.claim.violates(place, disjunct) && sample.satisfies(leaf))
        };
        entries.filter(|(_, (leaf, disjunct))| holds(leaf, *disjunct)).map(|(entry, _)| entry).collect()
    }

    /// All entries together, and the verdict: whether it is accepted.
    fn whole(&self, arith: Arith) -> bool {
        let (sources, limits) = (Sources::new(), limits());
        let opened = match Opened::new(&self.files, &sources, &limits, arith) {
            Ok(opened) => opened,
            Err(rejection) => {
                refused(self.target, "opening", &rejection);
                return false;
            }
        };
        assert_eq!(opened.entries(), self.certificate.entries().len());
        match opened.check(0..opened.entries(), &()) {
            Err((_, rejection)) => {
                refused(self.target, "whole", &rejection);
                false
            }
            Ok(part) => match opened.join([part]) {
                Verdict::Accepted(_) => {
                    count(self.target, "accepted");
                    assert!(!self.claim.is_false(), "a false claim is accepted");
                    true
                }
                Verdict::Rejected(rejection) => panic!("all entries are closed, and {rejection:?}"),
            },
        }
    }

    /// None of these entries is closed.
    fn entries(&self, open: &[usize], arith: Arith) {
        let (sources, limits) = (Sources::new(), limits());
        let Some(last) = open.last() else { return };
        let opened = match Opened::new(&self.files, &sources, &limits, arith) {
            Ok(opened) => opened,
            Err(rejection) => return refused(self.target, "opening", &rejection),
        };
        for entry in [&open[0], last] {
            match opened.check(*entry..entry + 1, &()) {
                Ok(_) => {
                    panic!("entry {entry} is closed, and a sample lies in it: {:?}", self.certificate.entries()[*entry])
                }
                Err((_, rejection)) => refused(self.target, "entry", &rejection),
            }
        }
    }
}

fn refused(target: &'static str, stage: &str, rejection: &Rejection) {
    let code = rejection.first().reason.code();
    assert_ne!(code, "internal", "{rejection:?}");
    count(target, &format!("{stage} {code}"));
}

/// A witness that is accepted lies in the region, and no row fails for sure.
fn witness(u: &mut Choices<'_>) {
    const TARGET: &str = "soundness";
    let Some(claim) = Claim::new(u, Form::Rows) else { return };
    let place = u.below(claim.samples.len());
    let sample = &claim.samples[place];
    let outside = u.one_in(4);
    let mut x = sample.x.clone();
    if outside {
        let at = u.below(x.len());
        x[at] = &claim.property.upper[at] + u.room();
    }
    let inside =
        x.iter().zip(claim.property.lower.iter().zip(&claim.property.upper)).all(|(x, (a, b))| a <= x && x <= b);
    let files = claim.bundle(statement::witness(&x), None);
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    match certkern_claims::check_bundle(&files, &limits(), &()) {
        Verdict::Accepted(_) => {
            count(TARGET, "witness accepted");
            assert!(inside, "a witness outside the region is accepted");
            let possible = outside || (0..claim.property.disjuncts.len()).any(|d| !claim.misses(sample, d));
            assert!(possible, "a witness that misses every disjunct is accepted");
        }
        Verdict::Rejected(rejection) => {
            refused(TARGET, "witness", &rejection);
            let exact = !outside && (0..claim.property.disjuncts.len()).any(|d| claim.violates(place, d));
            assert!(
                !exact || rejection.first().reason.code() != "witness.property",
                "a witness is refused: {rejection:?}"
            );
        }
    }
}
