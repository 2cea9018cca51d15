//! Kind `monotone`: networks that rise as a rule, and two points at which one may fall.

use super::network::network;
use super::sample::Sample;
use crate::limits;
use crate::source::{Choices, extended};
use crate::tally::count;
use certkern_claims::check_document;
use certkern_core::num::Rational;
use certkern_seal::Verdict;
use num_traits::Signed;

const TARGET: &str = "soundness_monotone";

/// A network that falls from one point to a greater one must not be accepted.
pub(crate) fn body(data: &[u8]) {
    let bytes = extended(data);
    let mut u = Choices::new(&bytes);
    let width = 1 + u.below(3);
    let x: Vec<Rational> = (0..width).map(|_| u.ratio()).collect();
    let mut net = network(&mut u, &x);
    // With weights that are not negative most networks rise.
    if u.below(4) > 0 {
        for (_, weights) in
            net.nodes.iter_mut().flat_map(|node| &mut node.payload).filter(|(name, _)| *name == "weight")
        {
            weights.values.iter_mut().for_each(|w| *w = w.abs());
            weights.exact.iter_mut().flatten().for_each(|w| *w = w.abs());
        }
    }
    let points = (0..4).map(|_| x.iter().map(|x| x + u.room()).collect::<Vec<_>>()).collect::<Vec<_>>();
    let ends = Sample::new(&net, x).map(|start| start.of(&net.outputs));
    let known = points.into_iter().filter_map(|point| Sample::new(&net, point)).map(|sample| sample.of(&net.outputs));
    let falls = ends.is_some_and(|start| known.into_iter().any(|end| start.iter().zip(&end).any(|(a, b)| a.0 > b.1)));
    let graph = String::from_utf8_lossy(&net.document(true)).into_owned();
    let document = format!(r#"{{"format":"certkern.monotone.v1","graph":{graph}}}"#);
    match check_document(document.as_bytes(), &limits()) {
        Verdict::Accepted(_) => {
            count(TARGET, "accepted");
            assert!(!falls, "a network that falls is accepted as monotone: {document}");
        }
        Verdict::Rejected(rejection) => {
            let what = if falls { "falls" } else { "may rise" };
            count(TARGET, &format!("{what} {}", rejection.first().reason.code()));
        }
    }
}
