//! Whether what was accepted is true, decided without the kernel's rules.

mod enclose;
mod kinds;
mod line;
mod prove;
mod sample;
mod weaker;

pub(crate) use prove::Effort;

use crate::random::Random;
use crate::statement::{Body, Statement};

/// What is known of the claim of an accepted mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It is the claim of the case that was mutated, digest for digest.
    Same,
    /// It follows from that claim by comparing the exact numbers that both state.
    Follows,
    /// It was proved or evaluated anew by other means.
    Proved,
    /// No proof was found, and no point that contradicts it.
    Sampled,
    /// A point of the region contradicts it.
    False,
}

/// What is known of a claim whose original is true.
pub(crate) fn standing(claim: &Statement, original: &Statement, effort: Effort, random: &mut Random) -> Standing {
    if claim.claim == original.claim {
        return Standing::Same;
    }
    if weaker::follows(&claim.body, &original.body) {
        return Standing::Follows;
    }
    if shown(&claim.body, effort) {
        return Standing::Proved;
    }
    match &claim.body {
        Body::Problem(problem) if problem.point.is_none() => match sample::violation(problem, 300, random) {
            Some(_) => Standing::False,
            None => Standing::Sampled,
        },
        _ => Standing::Sampled,
    }
}

/// Whether a claim is proved here from nothing.
pub(crate) fn shown(claim: &Body, effort: Effort) -> bool {
    match claim {
        Body::Shaped(net) => kinds::well_shaped(net),
        Body::Monotone(net) => kinds::monotone(net),
        Body::Enclosure(enclosure) => enclose::holds(enclosure),
        Body::Problem(problem) => match &problem.point {
            Some(point) => prove::holds(problem, point),
            None => prove::avoids(problem, effort),
        },
    }
}
