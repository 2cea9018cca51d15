//! The walk over split trees: scopes down to the entries that are wanted.

use super::Leaves;
use super::certificate::{Certificate, Served};
use super::tier::Tier;
use super::tree::{self, Step};
use certkern_core::rules::RuleError;
use certkern_wire::number;
use certkern_wire::reason::{Place, Reason, Rejection};
use std::slice;

/// A leaf and a disjunct.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// The entry.
    pub(super) entry: usize,
    /// The place of the leaf in the trees.
    pub(super) place: usize,
    /// The place of the disjunct among those that the tree serves.
    pub(super) slot: usize,
    pub(super) tree: usize,
    /// The leaf, counted in its tree.
    pub(super) leaf: usize,
    pub(super) disjunct: usize,
}

/// A rejection with the entry at which a walk in order meets it.
pub(super) type Stop = (usize, Rejection);

/// A subtree that holds wanted entries.
struct Subtree<'w, T> {
    place: usize,
    /// Its first leaf, counted in its tree.
    leaf: usize,
    wanted: &'w [usize],
    /// The scope of its root before a bound set is applied there; `None` at the root of a tree.
    scope: Option<T>,
}

/// What a walk finds: the scope of an entry, or why there is none for these entries.
pub(super) type Found<'w, T> = Result<(At, T), (&'w [usize], RuleError)>;

/// Visits the entries `wanted`, which ascend, in order. Subtrees without them are not entered.
pub(super) fn walk<T: Tier>(
    leaves: &Leaves<'_>,
    wanted: &[usize],
    mut visit: impl FnMut(Found<'_, T>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let Certificate { trees, served, entries, .. } = &leaves.certificate;
    let mut rest = wanted;
    while let Some(entry) = rest.first() {
        let after = served.partition_point(|served| served.first <= *entry);
        let tree = after.saturating_sub(1);
        let end = served.get(after).map_or(*entries, |next| next.first);
        let (own, later) = rest.split_at(rest.partition_point(|entry| *entry < end));
        let Some(served) = served.get(tree).filter(|_| !own.is_empty()) else {
            return Err((*entry, Reason::Internal("an entry that the certificate does not have").into()));
        };
        let mut open = vec![Subtree { place: trees.root(tree), leaf: 0, wanted: own, scope: None }];
        while let Some(subtree) = open.pop() {
            let (place, leaf, wanted) = (subtree.place, subtree.leaf, subtree.wanted);
            let scope = match enter::<T>(leaves, served, subtree, &mut open) {
                Ok(Some(scope)) => scope,
                Ok(None) => continue,
                Err(error) => {
                    visit(Err((wanted, error)))?;
                    continue;
                }
            };
            let first = served.first.saturating_add(leaf.saturating_mul(served.disjuncts.len()));
            for entry in wanted {
                let slot = entry.saturating_sub(first);
                let disjunct = served.disjuncts.get(slot).copied().unwrap_or(usize::MAX);
                let at = At { entry: *entry, place, slot, tree, leaf, disjunct };
                let scope = scope.serving(disjunct).map_err(|error| (slice::from_ref(entry), error));
                visit(scope.map(|scope| (at, scope)))?;
            }
        }
        rest = later;
    }
    Ok(())
}

/// Enters a subtree: gives the scope of a leaf, or puts those children on the stack that hold wanted entries, the first on top.
fn enter<'w, T: Tier>(
    leaves: &Leaves<'_>,
    served: &Served,
    Subtree { place, leaf, wanted, scope }: Subtree<'w, T>,
    open: &mut Vec<Subtree<'w, T>>,
) -> Result<Option<T>, RuleError> {
    let trees = &leaves.certificate.trees;
    let set = trees.set(place);
    let scope = match scope {
        None => root(leaves, &served.disjuncts, set)?,
        Some(mut scope) => {
            leaves.apply(&mut scope, set, false)?;
            scope
        }
    };
    let step = trees.step(place).ok_or(RuleError::Internal("a tree that does not end"))?;
    let Step::Split(split) = step else { return Ok(Some(scope)) };
    let (at_least, at_most) = scope.halves(leaves, &split)?;
    let (first, second) = (place.saturating_add(1), split.second);
    let second_leaf = leaf.saturating_add(tree::leaves(first, second));
    let cut = served.first.saturating_add(second_leaf.saturating_mul(served.disjuncts.len()));
    let (up, down) = wanted.split_at(wanted.partition_point(|entry| *entry < cut));
    let children = [(second, second_leaf, down, at_most), (first, leaf, up, at_least)];
    let children = children.into_iter().filter(|(_, _, wanted, _)| !wanted.is_empty());
    open.extend(children.map(|(place, leaf, wanted, scope)| Subtree { place, leaf, wanted, scope: Some(scope) }));
    Ok(None)
}

/// The scope at the root of a tree for `disjuncts`: their own region if it is one disjunct with a smaller one, else the whole region, which
/// used no disjunct and serves all.
fn root<T: Tier>(leaves: &Leaves<'_>, disjuncts: &[usize], set: usize) -> Result<T, RuleError> {
    let own = match disjuncts {
        [disjunct] if !leaves.problem.has_whole_region(*disjunct)? => Some(*disjunct),
        _ => None,
    };
    T::roots(leaves).get((own, set), || {
        let mut scope = T::root(leaves, own)?;
        leaves.apply(&mut scope, set, true)?;
        Ok(scope)
    })
}

/// A rule's refusal as a rejection, with the entry where it happened.
pub(super) fn rejected(error: &RuleError, at: Option<At>) -> Rejection {
    let place = at.map_or_else(Place::default, |at| {
        Place::path(format!("tree[{}].leaf[{}].disjunct[{}]", at.tree, at.leaf, at.disjunct))
    });
    let reason = match (error, at) {
        (RuleError::Unproved(bound), Some(At { tree, leaf, disjunct, .. })) => {
            Reason::LeafUnproved { tree, leaf, disjunct, bound: number::about(bound) }
        }
        (RuleError::SlopeDomain { node, coordinate }, _) => Reason::HintDomain(format!(
            "the slope of coordinate {coordinate} of value {node} is outside the slopes of its function"
        )),
        (RuleError::NegativeMultiplier, _) => Reason::HintDomain("a multiplier is below zero".to_owned()),
        (RuleError::NoSuch(what), _) => Reason::HintShape(format!("no such {what}")),
        (RuleError::RowLength, _) => Reason::Limit { name: "row-length", limit: 1 << 21 },
        (RuleError::Budget, _) => Reason::Limit { name: "function-bits", limit: 1 << 15 },
        (RuleError::DenominatorBits, _) => Reason::Limit { name: "denominator-bits", limit: 1 << 14 },
        (RuleError::Undefined { node, coordinate }, _) => {
            Reason::DomainUnproved { node: *node, coordinate: *coordinate }
        }
        (RuleError::Mismatch(what) | RuleError::Internal(what), _) => Reason::Internal(what),
        (RuleError::Unproved(_), None) => Reason::Internal("a bound without a leaf"),
    };
    Rejection::one(reason, place)
}
