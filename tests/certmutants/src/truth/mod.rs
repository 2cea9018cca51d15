//! Whether what was accepted is true, decided without the kernel's rules.

mod enclose;
mod kinds;
mod line;
mod near;
mod prove;
mod sample;
mod weaker;

pub(crate) use prove::Effort;

use crate::number::Rational;
use crate::random::Random;
use crate::statement::{Body, Problem, Statement};

/// What is known of the claim of an accepted mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It is the claim of the case that was mutated, digest for digest.
    Same,
    /// It follows from that claim by comparing the exact numbers that both state.
    Follows,
    /// It is so near to that claim that the room which that has suffices.
    Near,
    /// It was proved or evaluated anew by other means.
    Proved,
    /// No proof was found, and no point that contradicts it.
    Sampled,
    /// A point of the region contradicts it.
    False,
}

/// What is known of a claim whose original is true.
pub(crate) fn standing(
    claim: &Statement,
    original: &Statement,
    margin: Option<&Rational>,
    effort: Effort,
    random: &mut Random,
) -> Standing {
    if claim.claim == original.claim {
        return Standing::Same;
    }
    if weaker::follows(&claim.body, &original.body) {
        return Standing::Follows;
    }
    if let (Body::Problem(claim), Body::Problem(original), Some(margin)) = (&claim.body, &original.body, margin)
        && near::follows(claim, original, margin)
    {
        return Standing::Near;
    }
    if shown(&claim.body, effort) {
        return Standing::Proved;
    }
    match &claim.body {
        Body::Problem(problem) if contradicted(problem, random) => Standing::False,
        _ => Standing::Sampled,
    }
}

/// Whether a point is met that contradicts a claim about all points.
pub(crate) fn contradicted(problem: &Problem, random: &mut Random) -> bool {
    problem.point.is_none() && sample::violation(problem, 300, random).is_some()
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
