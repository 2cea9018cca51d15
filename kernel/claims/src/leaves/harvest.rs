//! Parts: judgements of closed entries, taken up through the splits as far as they go.

use super::tree::Trees;
use certkern_core::rules::{Judgement, RuleError};
use std::collections::BTreeMap;

/// A node of the trees, and a disjunct by its place among those that the tree serves.
type Spot = (usize, usize);

/// What was proved of some entries: judgements of the largest subtrees that are complete, for each disjunct.
#[derive(Debug, Default)]
pub(crate) struct Part {
    found: BTreeMap<Spot, Judgement>,
    /// Entries that the filter tier closed.
    pub(super) filter: usize,
    /// Entries that the exact tier closed.
    pub(super) exact: usize,
}

impl Part {
    /// Adds the judgement of a whole subtree for one disjunct. SPLIT joins it with that of the other half, where there is one.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] if the halves are not of one split of one problem, or there is a judgement for this place.
    pub(super) fn add(&mut self, trees: &Trees, spot: Spot, judgement: Judgement) -> Result<(), RuleError> {
        let ((mut place, slot), mut judgement) = (spot, judgement);
        while let Some((parent, sibling)) = trees.family(place) {
            let Some(other) = self.found.remove(&(sibling, slot)) else { break };
            let (up, down) = if place < sibling { (judgement, other) } else { (other, judgement) };
            judgement = Judgement::split(up, down)?;
            place = parent;
        }
        match self.found.insert((place, slot), judgement) {
            None => Ok(()),
            Some(_) => Err(RuleError::Mismatch("two judgements for one place")),
        }
    }

    /// Adds all of another part.
    ///
    /// # Errors
    /// As [`Part::add`].
    pub(super) fn join(&mut self, other: Self, trees: &Trees) -> Result<(), RuleError> {
        self.filter = self.filter.saturating_add(other.filter);
        self.exact = self.exact.saturating_add(other.exact);
        other.found.into_iter().try_for_each(|(spot, judgement)| self.add(trees, spot, judgement))
    }

    /// The judgements of the roots, by ascending disjunct. `None` unless there is one for each, nothing else, and every one of `entries` was closed
    /// once.
    pub(super) fn finish(
        &mut self,
        roots: impl Iterator<Item = (usize, Spot)>,
        entries: usize,
    ) -> Option<Vec<Judgement>> {
        let taken = roots.map(|(disjunct, root)| Some((disjunct, self.found.remove(&root)?)));
        let judgements = taken.collect::<Option<BTreeMap<usize, Judgement>>>()?;
        let whole = self.found.is_empty() && self.filter.checked_add(self.exact) == Some(entries);
        whole.then(|| judgements.into_values().collect())
    }
}
