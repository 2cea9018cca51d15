//! WITNESS: a point of the region whose exact outputs lie in the unsafe set.

use super::RuleError;
use super::judgement::{Judgement, Statement};
use super::problem::Problem;
use crate::NoValue;
use crate::num::Rational;
use crate::property::Row;
use num_traits::Signed;
use std::sync::Arc;

/// How a point stands to a problem, exactly. A slack is how far inside a constraint the point lies; below zero it misses by that much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The outputs at the point.
    pub outputs: Vec<Rational>,
    /// The input coordinate with the least slack in the region, and that slack.
    pub region: (usize, Rational),
    /// For each disjunct whether the point satisfies all its rows, and the row with the least slack (`None`: no rows).
    pub disjuncts: Vec<(bool, Option<(usize, Rational)>)>,
}

impl Standing {
    /// Whether the point lies in the region.
    #[must_use]
    pub fn in_region(&self) -> bool {
        !self.region.1.is_negative()
    }

    /// The first disjunct that the point lies in.
    #[must_use]
    pub fn disjunct(&self) -> Option<usize> {
        self.disjuncts.iter().position(|(inside, _)| *inside)
    }
}

impl Problem {
    /// How `point` stands to this problem.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] if the point has another width than the input; [`RuleError::DenominatorBits`] if numbers get excessively long;
    /// [`RuleError::Irrational`] and [`RuleError::Undefined`] if the program has no exact outputs there.
    pub fn standing(&self, point: &[Rational]) -> Result<Standing, RuleError> {
        let region = self.region();
        if point.len() != region.width() {
            return Err(RuleError::NoSuch("point of the input's width"));
        }
        let slack = |((x, lower), upper): ((&Rational, &Rational), &Rational)| (x - lower).min(upper - x);
        let slacks = point.iter().zip(region.lower()).zip(region.upper()).map(slack).enumerate();
        let least = slacks.min_by(|(_, a), (_, b)| a.cmp(b)).ok_or(RuleError::NoSuch("coordinate of the point"))?;
        let outputs = self.program().evaluate(point).map_err(|no_value| match no_value {
            NoValue::Width => RuleError::Internal("a program that is not what its constructor checked"),
            NoValue::Length => RuleError::DenominatorBits,
            NoValue::Irrational(node) => RuleError::Irrational(node),
            NoValue::Undefined { node, coordinate } => RuleError::Undefined { node, coordinate },
        })?;
        let disjuncts = self.property().disjuncts.iter().map(|rows| standing_of(rows, point, &outputs)).collect();
        Ok(Standing { region: least, disjuncts, outputs })
    }
}

/// Whether all rows hold, and the least slack.
fn standing_of(rows: &[Row], point: &[Rational], outputs: &[Rational]) -> (bool, Option<(usize, Rational)>) {
    let mut inside = true;
    let mut least: Option<(usize, Rational)> = None;
    for (index, row) in rows.iter().enumerate() {
        // A variable that does not exist is refused when the problem is made.
        let Some(slack) = row.slack(point, outputs) else { return (false, None) };
        inside &= row.holds(&slack);
        if least.as_ref().is_none_or(|(_, known)| slack < *known) {
            least = Some((index, slack));
        }
    }
    (inside, least)
}

impl Judgement {
    /// WITNESS: the point lies in the region and in a disjunct, exactly, so the unsafe set is reached.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] if it lies outside of either.
    pub fn witness(problem: &Arc<Problem>, point: &[Rational]) -> Result<Self, RuleError> {
        let standing = problem.standing(point)?;
        if !standing.in_region() || standing.disjunct().is_none() {
            return Err(RuleError::Mismatch("the point is no witness"));
        }
        Ok(Self::made(Arc::clone(problem), None, Vec::new(), Statement::Sat))
    }
}
