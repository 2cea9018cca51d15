//! A check in parts, on many threads.

use crate::failure::Failure;
use certkern_claims::{Observer, Opened, Part};
use certkern_seal::Verdict;
use certkern_wire::Rejection;
use rayon::iter::{ParallelBridge, ParallelIterator};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most entries of a part.
const MOST: usize = 1 << 12;

/// Parts for each thread, at least, so that none waits long for the others.
const EACH: usize = 4;

/// The verdict on a certificate, checked by `jobs` threads. It does not depend on their number: of several rejections the one of the first
/// entry counts.
///
/// # Errors
/// A usage error if the threads cannot be started.
pub(crate) fn check(opened: &Opened<'_>, jobs: usize, observer: &dyn Observer) -> Result<Verdict, Failure> {
    let entries = opened.entries();
    let wanted = if jobs == 1 { 1 } else { jobs.saturating_mul(EACH) };
    let size = entries.div_ceil(wanted).clamp(1, MOST);
    let threads = jobs.min(entries.div_ceil(size));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Usage(format!("--jobs {jobs}: {error}")))?;
    let lowest = AtomicUsize::new(usize::MAX);
    let part = |start: usize| {
        // Nothing after a rejected entry can change the verdict.
        if start > lowest.load(Ordering::Relaxed) {
            return None;
        }
        let found = opened.check(start..(start + size).min(entries), observer);
        if let Err((entry, _)) = &found {
            lowest.fetch_min(*entry, Ordering::Relaxed);
        }
        Some(found)
    };
    let found: Vec<Result<Part, (usize, Rejection)>> =
        pool.install(|| (0..entries).step_by(size).par_bridge().filter_map(part).collect());
    let (mut parts, mut first) = (Vec::with_capacity(found.len()), None);
    for found in found {
        match found {
            Ok(part) => parts.push(part),
            Err((entry, rejection)) if first.as_ref().is_none_or(|(known, _)| entry < *known) => {
                first = Some((entry, rejection));
            }
            Err(_) => {}
        }
    }
    Ok(first.map_or_else(|| opened.join(parts), |(_, rejection)| Verdict::Rejected(rejection)))
}
