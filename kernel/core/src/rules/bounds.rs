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
    /// The function for which the lines were computed, and the lines.
    lines: OnceLock<(Function, Lines)>,
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

    /// The lines of `function` over these bounds with its default slopes, kept for the function that asked first: `None` for another one.
    pub(super) fn default_lines(&self, function: &Function) -> Result<Option<&Lines>, RuleError> {
        let (of, lines) = match self.lines.get() {
            Some(known) => known,
            None => {
                let lines = Lines::new(function, &self.intervals, &[], &[])?;
                self.lines.get_or_init(|| (function.clone(), lines))
            }
        };
        Ok((of == function).then_some(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(lower: Dyadic, upper: i64) -> Interval {
        Interval { lower, upper: Dyadic::new(upper, 0) }
    }

    #[test]
    fn the_shortfall_sums_what_lies_below_zero_and_never_less() {
        let ends = |extra| {
            Bounds::new(vec![between(Dyadic::new(-3, -1), 1), between(Dyadic::new(2, 0), 3), between(extra, 5)])
        };
        assert_eq!(*ends(Dyadic::new(-1, -2)).shortfall(), Dyadic::new(7, -2));
        assert_eq!(*ends(Dyadic::zero()).shortfall(), Dyadic::new(3, -1));
        // A summand too small to be kept exactly is rounded up.
        let shortfall = ends(Dyadic::new(-1, -1_000_000)).shortfall().clone();
        assert!(shortfall > Dyadic::new(3, -1) && shortfall.mantissa().bits() < 10_000);
    }
}
