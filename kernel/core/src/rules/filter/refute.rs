//! EMPTY in binary64, for many leaves at a time.

use super::pass::{self, Start};
use super::scope::FilterScope;
use super::{Filter, FloatRow};
use crate::filter::round::{LIMIT, exact};
use crate::filter::unit::rounds_to_nearest;
use crate::num::Dyadic;
use crate::program::NodeId;
use crate::rules::scope::{Literal, Side};
use crate::rules::{Judgement, Multipliers, RuleError, Statement};
use crate::tensor::{Tensor, Values};
use std::sync::Arc;

/// Slopes of lines of one univariate node: row `row` of a matrix with a column for each of the coordinates `columns`.
#[derive(Clone, Copy, Debug)]
pub struct NodeSlopes<'a> {
    /// The univariate node.
    pub node: NodeId,
    /// Its coordinates, by ascending number.
    pub columns: &'a [usize],
    /// The slopes of lower lines of many passes, a row each.
    pub values: &'a Tensor,
    /// Likewise of upper lines, if any are given.
    pub upper: Option<&'a Tensor>,
    /// The row.
    pub row: usize,
}

/// A try to refute the disjunct of a scope; see [`Scope::refute`](crate::rules::Scope::refute).
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The scope of the leaf, for one disjunct.
    pub scope: &'a FilterScope,
    /// Multipliers of rows and literals.
    pub multipliers: &'a Multipliers,
    /// Slopes, where they are not the default ones.
    pub slopes: &'a [NodeSlopes<'a>],
}

impl NodeSlopes<'_> {
    /// The same matrix at another row.
    pub(super) fn at(self, row: usize) -> Self {
        Self { row, ..self }
    }

    /// Calls `visit` with each coordinate and its slopes. `None` if there is no such row, or the numbers are no floats.
    pub(super) fn each(&self, mut visit: impl FnMut(usize, [Option<f64>; 2]) -> Option<()>) -> Option<()> {
        let width = self.columns.len();
        let from = self.row.checked_mul(width)?;
        let range = from..from.checked_add(width)?;
        let columns = self.columns.iter();
        if let (Values::Binary32(lower), None) = (self.values.values(), self.upper) {
            let mut rows = columns.zip(lower.get(range)?);
            return rows.try_for_each(|(column, bits)| visit(*column, [Some(f64::from(f32::from_bits(*bits))), None]));
        }
        let mut rows = columns.zip(range);
        rows.try_for_each(|(column, index)| {
            let upper = match self.upper {
                None => None,
                Some(upper) => Some(float(upper, index)?),
            };
            visit(*column, [Some(float(self.values, index)?), upper])
        })
    }

    /// Whether the row exists and every slope lies in the domain of the node's function.
    pub(super) fn check(&self, filter: &Filter) -> Result<(), RuleError> {
        let function = filter.function(self.node).ok_or(RuleError::NoSuch("univariate node"))?;
        let ends = match function.slope_domain() {
            None => Some((-LIMIT, LIMIT)),
            Some((least, most)) => exact(&least).zip(exact(&most)),
        };
        let (least, most) = ends.ok_or(RuleError::Internal("a slope domain that is no float"))?;
        let width = filter.width(self.node);
        let mut wrong = None;
        let found = self.each(|coordinate, slopes| {
            if slopes.into_iter().flatten().any(|slope| !(slope >= least && slope <= most)) && wrong.is_none() {
                wrong = Some(coordinate);
            }
            (coordinate < width).then_some(())
        });
        found.ok_or(RuleError::NoSuch("coordinate of a slope, or row of slopes"))?;
        wrong.map_or(Ok(()), |coordinate| Err(RuleError::SlopeDomain { node: self.node, coordinate }))
    }
}

/// Element `index`, if it is a float.
fn float(tensor: &Tensor, index: usize) -> Option<f64> {
    match tensor.values() {
        Values::Binary32(bits) => bits.get(index).map(|bits| f64::from(f32::from_bits(*bits))),
        Values::Binary64(bits) => bits.get(index).map(|bits| f64::from_bits(*bits)),
        Values::Exact(_) => None,
    }
}

impl FilterScope {
    /// EMPTY for each attempt, as [`Scope::refute`](crate::rules::Scope::refute). `None` where the filter does not decide, whatever the reason: wrong hints are for the exact
    /// tier to name.
    #[must_use]
    pub fn refute(batch: &[Attempt<'_>]) -> Vec<Option<Judgement>> {
        let decided = decide(batch).filter(|_| rounds_to_nearest());
        let Some(decided) = decided else { return batch.iter().map(|_| None).collect() };
        let judgement = |(attempt, refuted): (&Attempt<'_>, bool)| {
            let scope = attempt.scope;
            let literals = scope.literals().iter().map(|literal| Arc::clone(&literal.exact)).collect();
            let problem = Arc::clone(&scope.filter().problem);
            let disjunct = scope.disjunct().filter(|_| refuted && scope.in_range())?;
            Some(Judgement::made(problem, Some(disjunct), literals, Statement::Empty))
        };
        batch.iter().zip(decided).map(judgement).collect()
    }

    /// The bounds that the attempts would be decided by if nothing were charged: what the charges cost is measured against this. It proves nothing.
    #[cfg(feature = "measure")]
    #[must_use]
    pub fn uncharged(batch: &[Attempt<'_>]) -> Option<Vec<f64>> {
        let starts = batch.iter().map(start).collect::<Option<Vec<_>>>()?;
        pass::bounds::<false>(batch.first()?.scope.filter(), &starts)
    }
}

/// For each attempt whether its disjunct is refuted.
fn decide(batch: &[Attempt<'_>]) -> Option<Vec<bool>> {
    if !rounds_to_nearest() {
        return None;
    }
    let filter = batch.first()?.scope.filter();
    let mut decided = Vec::with_capacity(batch.len());
    let mut starts = Vec::with_capacity(batch.len());
    for attempt in batch {
        let scope = attempt.scope;
        let usable = scope.in_range() && Arc::ptr_eq(scope.filter(), filter);
        let start = if usable { start(attempt) } else { None };
        // Hints are looked at even where they are not needed.
        decided.push(start.is_some() && scope.is_empty());
        starts.push(start.filter(|_| !scope.is_empty()));
    }
    let passing: Vec<bool> = starts.iter().map(Option::is_some).collect();
    let starts: Vec<Start<'_>> = starts.into_iter().flatten().collect();
    if starts.is_empty() {
        return Some(decided);
    }
    let bounds = pass::bounds::<true>(filter, &starts)?;
    let passed = decided.iter_mut().zip(passing).filter(|(_, passing)| *passing);
    // NaN is not above zero.
    passed.zip(bounds).for_each(|((decided, _), bound)| *decided = bound > 0.0);
    Some(decided)
}

/// The sum of EMPTY for the disjunct's rows and the literals, with their multipliers: every summand is ≤ 0 in the disjunct under the literals.
pub(super) fn start<'a>(attempt: &Attempt<'a>) -> Option<Start<'a>> {
    let Attempt { scope, multipliers, slopes } = *attempt;
    let Filter { disjuncts, restriction, .. } = scope.filter().as_ref();
    let rows = disjuncts.get(scope.disjunct()?)?;
    multipliers.check(rows.len().checked_add(restriction.len())?, scope.literals().len()).ok()?;
    slopes.iter().try_for_each(|slopes| slopes.check(scope.filter())).ok()?;
    let (mut entries, mut constants) = (Vec::new(), Vec::new());
    for (index, beta) in &multipliers.rows {
        let beta = in_range(beta)?;
        let FloatRow { terms, bound } = rows.iter().map(Arc::as_ref).chain(restriction).nth(*index)?;
        entries.extend(terms.iter().map(|(node, coordinate, coefficient)| (*node, *coordinate, beta * coefficient)));
        constants.push(-(beta * bound));
    }
    for (place, beta) in &multipliers.literals {
        let beta = in_range(beta)?;
        let literal = scope.literals().get(*place)?;
        let Literal { node, coordinate, side, .. } = literal.exact.as_ref();
        // g ≥ τ: the summand β(τ − g); g ≤ τ: the summand β(g − τ).
        let (coefficient, constant) = match side {
            Side::AtLeast => (-beta, beta * literal.below),
            Side::AtMost => (beta, -(beta * literal.above)),
        };
        entries.push((*node, *coordinate, coefficient));
        constants.push(constant);
    }
    Some(Start { scope, slopes, entries, constants })
}

/// A multiplier as a double; any multiplier that is not negative will do, but it must be one number everywhere.
fn in_range(beta: &Dyadic) -> Option<f64> {
    exact(beta).filter(|beta| beta.abs() <= LIMIT)
}
