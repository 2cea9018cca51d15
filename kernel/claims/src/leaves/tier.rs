//! The two tiers of arithmetic, as the walk over split trees uses them.

use super::Leaves;
use super::bounds::Start;
use super::hints::exact;
use super::tree::Split;
use certkern_core::program::{NodeId, Primitive};
use certkern_core::rules::{FilterScope, NodeSlopes, RuleError, Scope};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A scope in one of the tiers: [`Scope`] or [`FilterScope`].
pub(super) trait Tier: Clone {
    /// The whole region, or that of a disjunct.
    fn root(leaves: &Leaves<'_>, disjunct: Option<usize>) -> Result<Self, RuleError>;
    /// The roots that are known.
    fn roots<'l>(leaves: &'l Leaves<'_>) -> &'l Roots<Self>;
    /// The two halves of a split.
    fn halves(&self, leaves: &Leaves<'_>, split: &Split) -> Result<(Self, Self), RuleError>;
    /// The same assumptions for one disjunct.
    fn serving(&self, disjunct: usize) -> Result<Self, RuleError>;
    /// Interval bounds anew.
    fn interval_bounds(&mut self) -> Result<(), RuleError>;
    /// Bounds of a node's coordinates that matter to `consumer`, with the default slopes.
    fn tighten_unstable(&mut self, node: NodeId, consumer: &Primitive) -> Result<(), RuleError>;
    /// Bounds of the rows of a start, as far as they matter to `consumer`, with its slopes.
    fn tighten_start(&mut self, start: &Start, consumer: &Primitive) -> Result<(), RuleError>;
}

impl Tier for Scope {
    fn root(leaves: &Leaves<'_>, disjunct: Option<usize>) -> Result<Self, RuleError> {
        Self::root(&leaves.problem, disjunct, leaves.certificate.digits)
    }

    fn roots<'l>(leaves: &'l Leaves<'_>) -> &'l Roots<Self> {
        &leaves.exact_roots
    }

    fn halves(&self, leaves: &Leaves<'_>, split: &Split) -> Result<(Self, Self), RuleError> {
        let threshold = leaves.certificate.thresholds.get(split.threshold).ok_or(RuleError::NoSuch("threshold"))?;
        self.split(split.node, split.coordinate, threshold)
    }

    fn serving(&self, disjunct: usize) -> Result<Self, RuleError> {
        self.for_disjunct(disjunct)
    }

    fn interval_bounds(&mut self) -> Result<(), RuleError> {
        Self::interval_bounds(self)
    }

    fn tighten_unstable(&mut self, node: NodeId, consumer: &Primitive) -> Result<(), RuleError> {
        Self::tighten_unstable(self, node, consumer)
    }

    fn tighten_start(&mut self, start: &Start, consumer: &Primitive) -> Result<(), RuleError> {
        let open = self.unsettled(start.node, consumer)?;
        let rows = start.rows.iter().enumerate().filter(|(_, coordinate)| open.binary_search(coordinate).is_ok());
        for (row, coordinate) in rows {
            let from_below = exact(start.slopes(row).map(|(lower, _)| lower));
            let from_above = exact(start.slopes(row).map(|(_, upper)| upper));
            self.tighten(start.node, *coordinate, &from_below, &from_above)?;
        }
        Ok(())
    }
}

impl Tier for FilterScope {
    fn root(leaves: &Leaves<'_>, disjunct: Option<usize>) -> Result<Self, RuleError> {
        let filter = leaves.filter.as_ref().ok_or(RuleError::Internal("no filter"))?;
        Self::root(filter, disjunct)
    }

    fn roots<'l>(leaves: &'l Leaves<'_>) -> &'l Roots<Self> {
        &leaves.filter_roots
    }

    fn halves(&self, _: &Leaves<'_>, split: &Split) -> Result<(Self, Self), RuleError> {
        self.split(split.node, split.coordinate, split.threshold)
    }

    fn serving(&self, disjunct: usize) -> Result<Self, RuleError> {
        self.for_disjunct(disjunct)
    }

    fn interval_bounds(&mut self) -> Result<(), RuleError> {
        Self::interval_bounds(self)
    }

    fn tighten_unstable(&mut self, node: NodeId, consumer: &Primitive) -> Result<(), RuleError> {
        Self::tighten_unstable(self, node, consumer)
    }

    fn tighten_start(&mut self, start: &Start, _: &Primitive) -> Result<(), RuleError> {
        let slopes: Vec<(NodeSlopes<'_>, NodeSlopes<'_>)> = start.slopes(0).collect();
        self.tighten(start.node, &start.rows, &slopes)
    }
}

/// What a root is for: a disjunct with a region of its own or none, and 0 or one more than the bound set that was applied.
type Root = (Option<usize>, usize);

/// A root that is made once, whoever wants it first.
type Made<T> = Arc<OnceLock<Result<T, RuleError>>>;

/// The roots wanted last, for all parts together.
#[derive(Debug)]
pub(super) struct Roots<T>(Mutex<Vec<(Root, Made<T>)>>);

impl<T> Default for Roots<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Roots<T> {
    /// How many are kept: parts are walked in about the order of the trees, and the bounds of a wide network are large.
    const MOST: usize = 4;

    /// A root, made by `make` if it is not known.
    pub(super) fn get(&self, root: Root, make: impl FnOnce() -> Result<T, RuleError>) -> Result<T, RuleError> {
        let made = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let place = known.iter().position(|(of, _)| *of == root);
            let made = place.map_or_else(Made::default, |place| known.remove(place).1);
            known.truncate(Self::MOST.saturating_sub(1));
            known.insert(0, (root, Arc::clone(&made)));
            made
        };
        made.get_or_init(make).clone()
    }
}
