//! Kind `leaves`: for each disjunct of the unsafe set a split tree, each leaf of which is refuted by one backward pass.

mod bounds;
mod certificate;
mod harvest;
mod hints;
mod tier;
mod tree;
mod walk;

use crate::bundle::Named;
use crate::{Arith, Observer};
use certificate::Certificate;
use certkern_core::property::Variable;
use certkern_core::rules::{Attempt, Filter, FilterScope, Judgement, Multipliers, Problem, RuleError, Scope};
use certkern_seal::{Claimed, Count, Documents, Theorem};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Reason, Rejection};
use certkern_wire::tensors::Source;
pub(crate) use harvest::Part;
use num_traits::Signed;
use std::ops::Range;
use std::sync::Arc;
use tier::{Roots, Tier};
use walk::{At, Stop, rejected, walk};

/// Numbers of the hints and bounds of a batch of leaves, about.
const BATCH_NUMBERS: usize = 1 << 22;

/// The matrix product of the filter tier, for the report.
const PRODUCT: &str = "classical, fused where the processor can";

/// The most entries of a batch.
const BATCH: usize = 64;

/// A certificate that was opened, with what its parts share.
#[derive(Debug)]
pub(crate) struct Leaves<'a> {
    problem: Arc<Problem>,
    certificate: Certificate<'a>,
    /// The name of the file with the hints, for rejections.
    file: String,
    /// `None`: the exact tier decides alone.
    filter: Option<Arc<Filter>>,
    filter_roots: Roots<FilterScope>,
    exact_roots: Roots<Scope>,
    kind: &'static str,
    /// The nodes of the graph whose bounds are claimed, each with its width, for kind `nodes`.
    nodes: Option<Vec<(usize, usize)>>,
}

impl<'a> Leaves<'a> {
    pub(crate) fn open(
        documents: &Documents,
        header: Named<'_>,
        hints: Option<(&str, &'a dyn Source)>,
        limits: &Limits,
        arith: Arith,
    ) -> Result<Self, Rejection> {
        let file = hints.map_or(header.0, |(name, _)| name).to_owned();
        let hints = hints.unwrap_or(("no hints file", certificate::EMPTY));
        let certificate = Certificate::open(documents, header, hints, limits)?;
        let problem = Arc::clone(documents.problem());
        let filter = match arith {
            Arith::Auto => Filter::new(&problem, &certificate.thresholds),
            Arith::Exact => None,
        };
        let (filter_roots, exact_roots) = (Roots::default(), Roots::default());
        let (kind, nodes) = match documents.claimed() {
            Claimed::Avoids => ("leaves", None),
            Claimed::Bounds(_) => ("bound", None),
            Claimed::Nodes(listed) => ("nodes", Some(listed.clone())),
        };
        Ok(Self { problem, certificate, file, filter, filter_roots, exact_roots, kind, nodes })
    }

    pub(crate) fn entries(&self) -> usize {
        self.certificate.entries
    }

    /// Closes the entries of a range: in binary64 what can be closed there, exactly what is left.
    pub(crate) fn check(&self, range: Range<usize>, observer: &dyn Observer) -> Result<Part, Stop> {
        let mut part = Part::default();
        let closed = self.close_all(range.collect(), &mut part, observer);
        closed.map_err(|(entry, rejection)| (entry, rejection.in_file(&self.file)))?;
        Ok(part)
    }

    fn close_all(&self, entries: Vec<usize>, part: &mut Part, observer: &dyn Observer) -> Result<(), Stop> {
        let left = match self.filter {
            Some(_) => self.filtered(&entries, part, observer)?,
            None => entries,
        };
        walk::<Scope>(self, &left, |found| {
            let (at, scope) = found.map_err(|(entries, error)| {
                let first = entries.first().copied().unwrap_or(0);
                (first, rejected(&error, None))
            })?;
            let judgement = self.close(&scope, at).map_err(|rejection| (at.entry, rejection))?;
            part.exact = part.exact.saturating_add(1);
            observer.closed(1);
            self.keep(part, at, judgement)
        })
    }

    /// The theorem that parts prove which have every entry once.
    pub(crate) fn join(
        &self,
        parts: impl Iterator<Item = Result<Part, Rejection>>,
        documents: &Documents,
    ) -> Result<Theorem, Rejection> {
        let Certificate { trees, served, sets, entries, digits, .. } = &self.certificate;
        let mut whole = Part::default();
        for part in parts {
            whole.join(part?, trees).map_err(|error| rejected(&error, None))?;
        }
        let roots = served.iter().enumerate().flat_map(|(tree, served)| {
            let roots = served.disjuncts.iter().enumerate();
            roots.map(move |(slot, disjunct)| (*disjunct, (trees.root(tree), slot)))
        });
        let judgements = whole.finish(roots, *entries).ok_or(Reason::Internal("parts that are not the whole"))?;
        let closed = Judgement::cases(&self.problem, &judgements).map_err(|error| rejected(&error, None))?;
        let count = |name, number| Count { name, number };
        let counts = vec![
            count("disjuncts", judgements.len()),
            count("trees", trees.count()),
            count("leaves", (0..trees.count()).map(|tree| trees.leaves(tree)).sum()),
            count("entries", *entries),
            count("filter", whole.filter),
            count("exact", whole.exact),
            count("bound_sets", sets.len()),
            count("digits", *digits),
        ];
        Theorem::of(&closed, documents, self.kind, counts, (whole.filter > 0).then_some(PRODUCT))
    }

    /// Applies bound set `set − 1` to a scope, or none.
    fn apply<T: Tier>(&self, scope: &mut T, set: usize, fresh: bool) -> Result<(), RuleError> {
        match set.checked_sub(1).and_then(|set| self.certificate.sets.get(set)) {
            Some(set) => set.apply(scope, self.problem.program(), fresh),
            None => Ok(()),
        }
    }

    fn keep(&self, part: &mut Part, at: At, judgement: Judgement) -> Result<(), Stop> {
        let added = part.add(&self.certificate.trees, (at.place, at.slot), judgement);
        added.map_err(|error| (at.entry, rejected(&error, None)))
    }

    /// The multipliers to try for an entry.
    fn multipliers(&self, block: &hints::Block<'_>, at: At) -> Vec<Multipliers> {
        let disjuncts = &self.problem.property().disjuncts;
        block.multipliers(at.entry, disjuncts.get(at.disjunct).map_or(&[][..], Vec::as_slice))
    }

    /// Tries the multipliers of an entry one after the other, exactly; bounds of nodes are looked up first.
    fn close(&self, scope: &Scope, at: At) -> Result<Judgement, Rejection> {
        let mut best = match self.nodes.as_ref().map(|_| scope.exclude()) {
            Some(Ok(judgement)) => return Ok(judgement),
            Some(Err(RuleError::Unproved(bound))) => Some(bound),
            // There is no row over one value: BACK decides.
            _ => None,
        };
        let block = self.certificate.hints.block(at.entry..at.entry.saturating_add(1))?;
        let slopes = hints::exact(block.slopes(at.entry));
        for multipliers in self.multipliers(&block, at) {
            match scope.refute(&multipliers, &slopes) {
                Ok(judgement) => return Ok(judgement),
                Err(RuleError::Unproved(bound)) => best = best.max(Some(bound)),
                Err(error) => return Err(rejected(&error, Some(at))),
            }
        }
        let rejection = rejected(&RuleError::Unproved(best.unwrap_or_default()), Some(at));
        let (mut fault, bound) = (rejection.first().clone(), self.bound(at.disjunct).unwrap_or_default());
        fault.place.path += &bound;
        Err(fault.into())
    }

    /// For kind `nodes`, what a disjunct is beyond.
    fn bound(&self, disjunct: usize) -> Option<String> {
        let row = self.problem.property().disjuncts.get(disjunct)?.first()?;
        let (Variable::Y(y), sign) = row.terms.last()? else { return None };
        let mut rest = *y;
        let mut nodes = self.nodes.as_ref()?.iter();
        let (id, _) = nodes.find(|(_, width)| rest.checked_sub(*width).map(|less| rest = less).is_none())?;
        let form = if row.terms.len() > 1 { "affine " } else { "" };
        let side = if sign.is_negative() { "upper" } else { "lower" };
        Some(format!(" ({form}{side} bound of node {id}, coordinate {rest})"))
    }

    /// Closes what the filter can close; gives the other entries.
    fn filtered(&self, entries: &[usize], part: &mut Part, observer: &dyn Observer) -> Result<Vec<usize>, Stop> {
        let numbers: usize = self.problem.program().nodes().iter().map(|node| node.width).sum();
        let most = BATCH_NUMBERS.checked_div(numbers).unwrap_or(BATCH).clamp(1, BATCH);
        let mut left = Vec::new();
        let mut batch: Vec<(At, FilterScope)> = Vec::with_capacity(most);
        walk::<FilterScope>(self, entries, |found| {
            match found {
                Ok((at, scope)) => {
                    if batch.first().is_some_and(|(first, _)| at.entry.saturating_sub(first.entry) >= most) {
                        self.refute(std::mem::take(&mut batch), part, &mut left, observer)?;
                    }
                    batch.push((at, scope));
                }
                Err((entries, _)) => left.extend(entries),
            }
            Ok(())
        })?;
        self.refute(batch, part, &mut left, observer)?;
        left.sort_unstable();
        Ok(left)
    }

    /// Closes what it can of a batch, and adds the other entries to `left`.
    fn refute(
        &self,
        batch: Vec<(At, FilterScope)>,
        part: &mut Part,
        left: &mut Vec<usize>,
        observer: &dyn Observer,
    ) -> Result<(), Stop> {
        let (Some((first, _)), Some((last, _))) = (batch.first(), batch.last()) else { return Ok(()) };
        // What cannot be read is named where the exact tier wants it.
        let Ok(block) = self.certificate.hints.block(first.entry..last.entry.saturating_add(1)) else {
            left.extend(batch.iter().map(|(at, _)| at.entry));
            return Ok(());
        };
        let hints = |(at, scope)| (at, scope, self.multipliers(&block, at), block.slopes(at.entry));
        let mut open: Vec<_> = batch.into_iter().map(hints).collect();
        while !open.is_empty() {
            let attempts = open.iter().filter_map(|(_, scope, multipliers, slopes)| {
                Some(Attempt { scope, multipliers: multipliers.last()?, slopes })
            });
            let found = FilterScope::refute(&attempts.collect::<Vec<_>>());
            let mut next = Vec::new();
            for ((at, scope, mut multipliers, slopes), judgement) in open.into_iter().zip(found) {
                multipliers.pop();
                match judgement {
                    Some(judgement) => {
                        part.filter = part.filter.saturating_add(1);
                        observer.closed(1);
                        self.keep(part, at, judgement)?;
                    }
                    None if multipliers.is_empty() => left.push(at.entry),
                    None => next.push((at, scope, multipliers, slopes)),
                }
            }
            open = next;
        }
        Ok(())
    }
}
