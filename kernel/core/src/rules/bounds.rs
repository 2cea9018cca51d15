//! Proved bounds of one node, and what is computed from them once.

use super::RuleError;
use super::lines::Lines;
use crate::func::Function;
use crate::interval::Interval;
use crate::num::Dyadic;
use std::sync::OnceLock;

/// Proved bounds of every coordinate of one node in one scope.
#[derive(Debug)]
pub(super) struct Bounds {
    intervals: Vec<Interval>,
    shortfall: Dyadic,
    lines: OnceLock<Lines>,
}

impl Bounds {
    pub(super) fn new(intervals: Vec<Interval>) -> Self {
        let below = intervals.iter().filter(|i| i.lower.is_negative());
        let shortfall = below.fold(Dyadic::zero(), |sum, i| sum.sum_up(&-&i.lower));
        Self { intervals, shortfall, lines: OnceLock::new() }
    }

    pub(super) fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// At least `Σ_j max(0, −l_j)`: what a row rounded down by less than one can lose (ABSORB).
    pub(super) fn shortfall(&self) -> &Dyadic {
        &self.shortfall
    }

    /// The lines of `function` over these bounds with its default slopes.
    pub(super) fn default_lines(&self, function: Function) -> Result<&Lines, RuleError> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines);
        }
        let lines = Lines::new(function, &self.intervals, &[])?;
        Ok(self.lines.get_or_init(|| lines))
    }
}
