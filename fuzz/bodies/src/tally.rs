//! Counts of what a target has come to, so that a run that tests nothing is seen.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

type Counts = BTreeMap<&'static str, BTreeMap<String, u64>>;

static COUNTS: Mutex<Counts> = Mutex::new(BTreeMap::new());

/// One more of `what` in a target.
pub(crate) fn count(target: &'static str, what: &str) {
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let own = counts.entry(target).or_default();
    match own.get_mut(what) {
        Some(count) => *count += 1,
        None => {
            own.insert(what.to_owned(), 1);
        }
    }
}

/// How many of `what` there were in a target.
#[must_use]
pub fn counted(target: &str, what: &str) -> u64 {
    let counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    counts.get(target).and_then(|own| own.get(what)).copied().unwrap_or(0)
}

/// `TALLY target: what=count, …`.
#[must_use]
pub fn line(target: &str) -> String {
    let counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let own = counts.get(target).into_iter().flatten().map(|(what, count)| format!("{what}={count}"));
    format!("TALLY {target}: {}", own.collect::<Vec<_>>().join(", "))
}
