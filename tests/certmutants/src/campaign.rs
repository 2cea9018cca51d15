//! A campaign: mutants of all accepted certificates, each given to a checker, and what it accepts judged apart.

use crate::bundle::{Bundle, Checker, Said, entries, name};
use crate::mutate::{Draw, Edited, edit};
use crate::number::Rational;
use crate::random::Random;
use crate::statement::Statement;
use crate::truth::{Effort, Standing, shown, standing};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An accepted certificate, and what it states.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Kind and name.
    pub(crate) name: String,
    pub(crate) bundle: Bundle,
    pub(crate) statement: Statement,
    /// The room that its claim is known to have.
    pub(crate) margin: Option<Rational>,
}

/// All cases under `certs/accept`.
///
/// # Panics
/// If one is not read: what its mutants state could not be told.
pub(crate) fn cases(accept: &Path) -> Vec<Case> {
    let paths = entries(accept).into_iter().flat_map(|kind| {
        let label = name(&kind);
        entries(&kind).into_iter().map(move |path| (format!("{label}/{}", name(&path)), path))
    });
    let paths = paths.filter(|(_, path)| path.is_dir() || path.extension().is_some_and(|ending| ending == "json"));
    let margins = crate::margin::table();
    let read = |(name, path): (String, std::path::PathBuf)| {
        let bundle = Bundle::load(&path);
        let statement = Statement::read(&bundle).unwrap_or_else(|| panic!("{name} is not read"));
        let margin = margins.get(&name).cloned();
        Case { name, bundle, statement, margin }
    };
    paths.map(read).collect()
}

/// The cases whose own claims are not proved apart, the seconds of all, and those of which the checker does not say what their documents state.
pub(crate) fn originals(cases: &[Case], checker: &dyn Checker, boxes: usize) -> [Vec<String>; 2] {
    let unproved = cases.iter().filter(|case| !shown(&case.statement.body, Effort { boxes }));
    let misnamed =
        cases.iter().filter(|case| checker.check(&case.bundle) != Said::Accepted(case.statement.claim.clone()));
    [unproved.map(|case| case.name.clone()).collect(), misnamed.map(|case| case.name.clone()).collect()]
}

/// What came of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Refused with this code.
    Refused(String),
    /// Refused although it is the same certificate in other words.
    RefusedSame(String),
    /// Accepted, and this is known of its claim.
    Accepted(Standing),
    /// Accepted, and the claim that is named is not the one that the documents state.
    Misnamed,
    /// Accepted, and the documents are not read by the reader apart.
    Unread,
    /// The checker panicked.
    Panicked,
    /// The checker was not done after [`LONG`].
    Endless,
}

impl Outcome {
    /// Whether this must not be.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(
            self,
            Self::RefusedSame(_) | Self::Accepted(Standing::False) | Self::Misnamed | Self::Unread | Self::Panicked
        )
    }
}

/// A mutant that somebody should look at.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) case: String,
    pub(crate) draw: u64,
    pub(crate) families: String,
    pub(crate) sealed: bool,
    pub(crate) outcome: Outcome,
    pub(crate) bundle: Bundle,
    pub(crate) seconds: f64,
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Mutants.
    pub(crate) count: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    /// Boxes that a proof may look at.
    pub(crate) boxes: usize,
}

/// What a campaign came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Result {
    pub(crate) mutants: usize,
    /// Those with the digests of the changed documents.
    pub(crate) sealed: usize,
    /// By outcome, for mutants that were left as they were (`false`) and sealed ones.
    pub(crate) outcomes: BTreeMap<(bool, Outcome), usize>,
    /// By family: mutants, accepted ones.
    pub(crate) families: BTreeMap<&'static str, [usize; 2]>,
    /// By case: mutants, accepted ones with another claim.
    pub(crate) cases: BTreeMap<String, [usize; 2]>,
    /// Wrong outcomes, and those that are only sampled.
    pub(crate) kept: Vec<Kept>,
    pub(crate) slowest: Option<Kept>,
    pub(crate) checking: Duration,
    pub(crate) judging: Duration,
}

struct Campaign {
    cases: &'static [Case],
    bundles: Vec<Bundle>,
    checker: &'static dyn Checker,
    plan: Plan,
    seen: Mutex<HashSet<u64>>,
    result: Mutex<Result>,
    draws: AtomicU64,
    done: AtomicBool,
    /// What is being checked, by draw and whether it is sealed, and since when.
    checking: Mutex<BTreeMap<(u64, bool), (Instant, Kept)>>,
}

/// A check that takes longer is given up.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// Runs a campaign. A check that is given up goes on by itself until the process ends.
pub(crate) fn run(cases: &'static [Case], checker: &'static dyn Checker, plan: Plan) -> Result {
    let campaign = Arc::new(Campaign {
        cases,
        bundles: cases.iter().map(|case| case.bundle.clone()).collect(),
        checker,
        plan,
        seen: Mutex::default(),
        result: Mutex::default(),
        draws: AtomicU64::new(0),
        done: AtomicBool::new(false),
        checking: Mutex::default(),
    });
    for bundle in &campaign.bundles {
        campaign.is_new(bundle);
    }
    (0..plan.threads).for_each(|_| work(&campaign));
    loop {
        std::thread::sleep(Duration::from_millis(50));
        let mut checking = lock(&campaign.checking);
        let long: Vec<(u64, bool)> =
            checking.iter().filter(|(_, (since, _))| since.elapsed() > LONG).map(|(key, _)| *key).collect();
        for key in long {
            let Some((since, kept)) = checking.remove(&key) else { continue };
            let kept = Kept { outcome: Outcome::Endless, seconds: since.elapsed().as_secs_f64(), ..kept };
            campaign.count(&kept, &[], since.elapsed(), Duration::ZERO);
            work(&campaign);
        }
        if campaign.done.load(Ordering::Relaxed) && checking.is_empty() {
            break;
        }
    }
    let mut result = lock(&campaign.result).clone();
    result.kept.sort_by(|a, b| (&a.outcome, &a.case, a.draw).cmp(&(&b.outcome, &b.case, b.draw)));
    result
}

/// Starts a thread that draws until all is done.
fn work(campaign: &Arc<Campaign>) {
    let campaign = Arc::clone(campaign);
    std::thread::spawn(move || {
        let mut goes_on = true;
        while goes_on && !campaign.done.load(Ordering::Relaxed) {
            goes_on = campaign.draw(campaign.draws.fetch_add(1, Ordering::Relaxed));
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a draw makes of a case: the files, the edits, and whether the claim must stay.
type Drawn = (Bundle, Vec<&'static str>, bool);

/// One edit or two.
fn mutant(bundle: &Bundle, others: &[Bundle], random: &mut Random) -> Option<Drawn> {
    let Edited { family, mut bundle, mut keeps } = edit(&mut Draw { bundle, others, random })?;
    let mut families = vec![family];
    if random.one_in(5)
        && let Some(second) = edit(&mut Draw { bundle: &bundle, others, random })
    {
        families.push(second.family);
        bundle = second.bundle;
        keeps &= second.keeps;
    }
    Some((bundle, families, keeps))
}

/// The mutant of a draw, with new digests where it has some.
pub(crate) fn drawn(cases: &[Case], seed: u64, draw: u64) -> Option<Bundle> {
    let bundles: Vec<Bundle> = cases.iter().map(|case| case.bundle.clone()).collect();
    let own = &bundles[usize::try_from(draw).ok()? % bundles.len()];
    let (bundle, ..) = mutant(own, &bundles, &mut Random::new(seed, draw))?;
    Some(bundle.sealed().unwrap_or(bundle))
}

impl Campaign {
    fn is_new(&self, bundle: &Bundle) -> bool {
        let mut hasher = DefaultHasher::new();
        bundle.files.hash(&mut hasher);
        lock(&self.seen).insert(hasher.finish())
    }

    /// The mutant of a draw, as it is and sealed. `false` if it was given up meanwhile.
    fn draw(&self, draw: u64) -> bool {
        let mut random = Random::new(self.plan.seed, draw);
        let case = &self.cases[usize::try_from(draw).unwrap_or(0) % self.cases.len()];
        let Some((bundle, families, keeps)) = mutant(&case.bundle, &self.bundles, &mut random) else { return true };
        for (bundle, sealed) in [(Some(bundle.clone()), false), (bundle.sealed(), true)] {
            let Some(bundle) = bundle.filter(|bundle| self.is_new(bundle)) else { continue };
            let started = Instant::now();
            let mut kept = Kept {
                case: case.name.clone(),
                draw,
                families: families.join(", "),
                sealed,
                outcome: Outcome::Panicked,
                bundle,
                seconds: 0.0,
            };
            lock(&self.checking).insert((draw, sealed), (started, kept.clone()));
            let said = catch_unwind(AssertUnwindSafe(|| self.checker.check(&kept.bundle)));
            if lock(&self.checking).remove(&(draw, sealed)).is_none() {
                return false;
            }
            let checked = Instant::now();
            kept.outcome = match said {
                Err(_) => Outcome::Panicked,
                Ok(Said::Refused(code)) if keeps && !sealed => Outcome::RefusedSame(code),
                Ok(Said::Refused(code)) => Outcome::Refused(code),
                Ok(Said::Accepted(claim)) => self.judged(case, &kept.bundle, &claim, &mut random),
            };
            kept.seconds = started.elapsed().as_secs_f64();
            self.count(&kept, &families, checked - started, checked.elapsed());
        }
        true
    }

    fn judged(&self, case: &Case, bundle: &Bundle, claim: &str, random: &mut Random) -> Outcome {
        let Some(statement) = Statement::read(bundle) else { return Outcome::Unread };
        if statement.claim != claim {
            return Outcome::Misnamed;
        }
        let effort = Effort { boxes: self.plan.boxes };
        let known = catch_unwind(AssertUnwindSafe(|| {
            standing(&statement, &case.statement, case.margin.as_ref(), effort, random)
        }));
        Outcome::Accepted(known.unwrap_or(Standing::Sampled))
    }

    fn count(&self, kept: &Kept, families: &[&'static str], checking: Duration, judging: Duration) {
        let mut result = lock(&self.result);
        if result.mutants >= self.plan.count {
            self.done.store(true, Ordering::Relaxed);
            return;
        }
        result.mutants += 1;
        result.sealed += usize::from(kept.sealed);
        result.checking += checking;
        result.judging += judging;
        let accepted = usize::from(!matches!(
            kept.outcome,
            Outcome::Refused(_) | Outcome::RefusedSame(_) | Outcome::Panicked | Outcome::Endless
        ));
        for family in families {
            let [count, passed] = result.families.entry(family).or_default();
            *count += 1;
            *passed += accepted;
        }
        let other = accepted == 1 && kept.outcome != Outcome::Accepted(Standing::Same);
        let [count, passed] = result.cases.entry(kept.case.clone()).or_default();
        *count += 1;
        *passed += usize::from(other);
        *result.outcomes.entry((kept.sealed, kept.outcome.clone())).or_default() += 1;
        if kept.outcome.is_wrong() || kept.outcome == Outcome::Accepted(Standing::Sampled) {
            result.kept.push(kept.clone());
        }
        if result.slowest.as_ref().is_none_or(|slowest| slowest.seconds < kept.seconds) {
            result.slowest = Some(kept.clone());
        }
    }
}

impl Result {
    /// Mutants with outcomes of which this is true.
    pub(crate) fn number(&self, wanted: impl Fn(&Outcome) -> bool) -> usize {
        self.outcomes.iter().filter(|((_, outcome), _)| wanted(outcome)).map(|(_, count)| count).sum()
    }

    pub(crate) fn wrong(&self) -> usize {
        self.number(Outcome::is_wrong)
    }
}
