//! The walk over split trees: scopes down, judgements up.

use super::certificate::Certificate;
use super::tree::{Step, Tree};
use crate::Observer;
use certkern_core::num::Rational;
use certkern_core::rules::{Judgement, RuleError, Scope};
use certkern_seal::Documents;
use certkern_wire::number;
use certkern_wire::reason::{Place, Reason, Rejection};
use std::collections::BTreeMap;

/// Where a walk is, for rejections.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    tree: usize,
    leaf: usize,
    disjunct: usize,
}

/// A split on the path: the scope of its second child until that is walked, then the judgements of the first.
enum Split {
    First(Scope),
    Second(Vec<Judgement>),
}

/// A judgement for each disjunct, in order: the disjunct is empty on the region.
pub(super) fn trees(
    documents: &Documents,
    certificate: &Certificate,
    observer: &mut dyn Observer,
) -> Result<Vec<Judgement>, Rejection> {
    let mut walk = Walk { documents, certificate, observer, entry: 0, roots: BTreeMap::new() };
    let mut found: BTreeMap<usize, Judgement> = BTreeMap::new();
    for (number, (tree, disjuncts)) in certificate.trees.iter().enumerate() {
        let judgements = walk.tree(number, tree, disjuncts)?;
        found.extend(disjuncts.iter().copied().zip(judgements));
    }
    Ok(found.into_values().collect())
}

struct Walk<'a> {
    documents: &'a Documents,
    certificate: &'a Certificate,
    observer: &'a mut dyn Observer,
    entry: usize,
    /// Scopes of the whole region by the bound set that was applied: they used no disjunct, so they serve all.
    roots: BTreeMap<usize, Scope>,
}

impl Walk<'_> {
    /// Walks one tree; gives a judgement for each of `disjuncts`.
    fn tree(&mut self, number: usize, tree: &Tree, disjuncts: &[usize]) -> Result<Vec<Judgement>, Rejection> {
        let mut path: Vec<Split> = Vec::new();
        let mut next: Option<Scope> = None;
        let mut done: Option<Vec<Judgement>> = None;
        let mut leaf = 0_usize;
        for (step, set) in tree.steps() {
            if done.is_some() {
                return Err(Reason::Internal("a tree with nodes left over").into());
            }
            let scope = match next.take() {
                None => self.root(disjuncts, set)?,
                Some(mut scope) => {
                    self.apply(&mut scope, set, false)?;
                    scope
                }
            };
            match step {
                Step::Split { node, coordinate, threshold } => {
                    let threshold = self.certificate.thresholds.get(*threshold);
                    let threshold = threshold.ok_or(Reason::Internal("a threshold that was checked"))?;
                    let halves = scope.split(*node, *coordinate, threshold);
                    let (at_least, at_most) = halves.map_err(|error| rejected(&error, None))?;
                    path.push(Split::First(at_most));
                    next = Some(at_least);
                }
                Step::Leaf => {
                    let at = Leaf { tree: number, leaf, disjunct: 0 };
                    let judgements = self.leaf(&scope, disjuncts, at)?;
                    leaf = leaf.saturating_add(1);
                    (next, done) = rise(&mut path, judgements)?;
                }
            }
        }
        done.ok_or_else(|| Reason::Internal("a tree that does not end").into())
    }

    /// The scope at the root of a tree for `disjuncts`: their own region if it is one disjunct with a smaller one, else the whole region.
    fn root(&mut self, disjuncts: &[usize], set: usize) -> Result<Scope, Rejection> {
        let problem = self.documents.problem();
        let failed = |error: RuleError| rejected(&error, None);
        if let [disjunct] = disjuncts
            && !problem.has_whole_region(*disjunct).map_err(failed)?
        {
            let mut scope = Scope::root(problem, Some(*disjunct), self.certificate.digits).map_err(failed)?;
            self.apply(&mut scope, set, true)?;
            return Ok(scope);
        }
        if let Some(scope) = self.roots.get(&set) {
            return Ok(scope.clone());
        }
        let mut scope = Scope::root(problem, None, self.certificate.digits).map_err(failed)?;
        self.apply(&mut scope, set, true)?;
        self.roots.insert(set, scope.clone());
        Ok(scope)
    }

    fn apply(&self, scope: &mut Scope, set: usize, fresh: bool) -> Result<(), Rejection> {
        match set.checked_sub(1).and_then(|set| self.certificate.sets.get(set)) {
            Some(set) => set.apply(scope, fresh),
            None => Ok(()),
        }
    }

    /// Closes one leaf for each of `disjuncts`.
    fn leaf(&mut self, scope: &Scope, disjuncts: &[usize], at: Leaf) -> Result<Vec<Judgement>, Rejection> {
        let mut judgements = Vec::with_capacity(disjuncts.len());
        for disjunct in disjuncts {
            let at = Leaf { disjunct: *disjunct, ..at };
            let scope = scope.for_disjunct(*disjunct).map_err(|error| rejected(&error, Some(at)))?;
            judgements.push(self.close(&scope, at)?);
            self.entry = self.entry.saturating_add(1);
            self.observer.leaves(self.entry, self.certificate.entries);
        }
        Ok(judgements)
    }

    /// Tries the multipliers of an entry one after the other.
    fn close(&self, scope: &Scope, at: Leaf) -> Result<Judgement, Rejection> {
        let property = self.documents.problem().property();
        let rows = property.disjuncts.get(at.disjunct).map_or(&[][..], Vec::as_slice);
        let hints = &self.certificate.hints;
        let slopes = hints.slopes(self.entry);
        let mut best: Option<Rational> = None;
        for multipliers in hints.multipliers(self.entry, rows) {
            match scope.refute(&multipliers, &slopes) {
                Ok(judgement) => return Ok(judgement),
                Err(RuleError::Unproved(bound)) => best = best.max(Some(bound)),
                Err(error) => return Err(rejected(&error, Some(at))),
            }
        }
        Err(rejected(&RuleError::Unproved(best.unwrap_or_default()), Some(at)))
    }
}

/// Takes the judgements of a finished subtree up: to the next second child, or through all splits that are now complete.
fn rise(
    path: &mut Vec<Split>,
    mut judgements: Vec<Judgement>,
) -> Result<(Option<Scope>, Option<Vec<Judgement>>), Rejection> {
    while let Some(split) = path.pop() {
        match split {
            Split::First(at_most) => {
                path.push(Split::Second(judgements));
                return Ok((Some(at_most), None));
            }
            Split::Second(at_least) => {
                let joined = at_least.into_iter().zip(judgements).map(|(up, down)| Judgement::split(up, down));
                judgements = joined.collect::<Result<_, _>>().map_err(|error| rejected(&error, None))?;
            }
        }
    }
    Ok((None, Some(judgements)))
}

/// A rule's refusal as a rejection, with the leaf where it happened.
pub(super) fn rejected(error: &RuleError, at: Option<Leaf>) -> Rejection {
    let place = at.map_or_else(Place::default, |at| {
        Place::path(format!("tree[{}].leaf[{}].disjunct[{}]", at.tree, at.leaf, at.disjunct))
    });
    let reason = match (error, at) {
        (RuleError::Unproved(bound), Some(Leaf { tree, leaf, disjunct })) => {
            Reason::LeafUnproved { tree, leaf, disjunct, bound: number::about(bound) }
        }
        (RuleError::SlopeDomain { node, coordinate }, _) => Reason::HintDomain(format!(
            "the slope of coordinate {coordinate} of value {node} is outside the slopes of its function"
        )),
        (RuleError::NegativeMultiplier, _) => Reason::HintDomain("a multiplier is below zero".to_owned()),
        (RuleError::NoSuch(what), _) => Reason::HintShape(format!("no such {what}")),
        (RuleError::RowLength, _) => Reason::Limit { name: "row-length", limit: 1 << 21 },
        (RuleError::DenominatorBits, _) => Reason::Limit { name: "denominator-bits", limit: 1 << 14 },
        (RuleError::Mismatch(what) | RuleError::Internal(what), _) => Reason::Internal(what),
        (RuleError::Unproved(_), None) => Reason::Internal("a bound without a leaf"),
    };
    Rejection::one(reason, place)
}
