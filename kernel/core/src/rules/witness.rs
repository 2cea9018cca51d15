//! WITNESS: a point of the region whose outputs lie in the unsafe set, exactly or in balls that decide every comparison.

use super::RuleError;
use super::judgement::{Judgement, Statement};
use super::problem::Problem;
use crate::NoValue;
use crate::interval::Interval;
use crate::num::Rational;
use crate::property::{Range, Row};
use num_traits::Signed;
use std::iter::successors;
use std::sync::Arc;

/// The bits of the first attempt in balls.
const FIRST: u64 = 64;
/// The bits of the last one.
const LAST: u64 = 1024;

/// A row of a disjunct and its slack.
type RowSlack = (usize, Range);

/// How a point stands to a problem. A slack is how far inside a constraint the point lies; below zero it misses by that much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The outputs at the point.
    pub outputs: Vec<Range>,
    /// The bits that balls were computed with; `None`: the outputs are exact.
    pub bits: Option<u64>,
    /// The input coordinate with the least slack in the region, and that slack.
    pub region: (usize, Rational),
    /// For each disjunct whether the point satisfies all its rows (`None`: not decided), and the row with the least slack (`None`: no rows): of those that
    /// fail, else of those that are not decided, else of all.
    pub disjuncts: Vec<(Option<bool>, Option<RowSlack>)>,
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
        self.disjuncts.iter().position(|(inside, _)| *inside == Some(true))
    }

    /// The first disjunct of which it is not decided whether the point lies in it, if the point is known to lie in no other.
    #[must_use]
    pub fn undecided(&self) -> Option<usize> {
        let open = self.disjuncts.iter().position(|(inside, _)| inside.is_none());
        open.filter(|_| self.disjunct().is_none())
    }
}

impl Problem {
    /// How `point` stands to this problem: exactly where every function has rational values there, else in balls at increasing precision until it is
    /// decided whether the point is a witness.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] if the point has another width than the input; [`RuleError::DenominatorBits`] if its coordinates have no
    /// reasonable common denominator; [`RuleError::Undefined`] if a value is not defined there; [`RuleError::Budget`] if a value is too large to be enclosed.
    pub fn standing(&self, point: &[Rational]) -> Result<Standing, RuleError> {
        let region = self.region();
        if point.len() != region.width() {
            return Err(RuleError::NoSuch("point of the input's width"));
        }
        let slack = |((x, lower), upper): ((&Rational, &Rational), &Rational)| (x - lower).min(upper - x);
        let slacks = point.iter().zip(region.lower()).zip(region.upper()).map(slack).enumerate();
        let least = slacks.min_by(|(_, a), (_, b)| a.cmp(b)).ok_or(RuleError::NoSuch("coordinate of the point"))?;
        let standing = |outputs: Vec<Range>, bits| {
            let disjuncts = self.property().disjuncts.iter().map(|rows| standing_of(rows, point, &outputs)).collect();
            Standing { region: least.clone(), disjuncts, outputs, bits }
        };
        match self.program().evaluate(point) {
            Ok(outputs) => return Ok(standing(outputs.into_iter().map(Range::exact).collect(), None)),
            Err(NoValue::Irrational(_)) => {}
            Err(NoValue::Length) => return Err(RuleError::DenominatorBits),
            Err(NoValue::Undefined { node, coordinate }) => return Err(RuleError::Undefined { node, coordinate }),
            Err(NoValue::Width) => return Err(RuleError::Internal("a program that its constructor checked")),
        }
        let mut found = Err(RuleError::Budget);
        for bits in successors(Some(FIRST), |bits| (*bits < LAST).then(|| bits.saturating_mul(2))) {
            let Some(balls) = self.program().enclose(point, bits) else { continue };
            let range = |ball: Interval| Range { lower: ball.lower.to_rational(), upper: ball.upper.to_rational() };
            let standing = standing(balls.into_iter().map(range).collect(), Some(bits));
            let decided = standing.undecided().is_none();
            found = Ok(standing);
            if decided {
                break;
            }
        }
        found
    }
}

/// Whether all rows hold, and the row that says most about it.
fn standing_of(rows: &[Arc<Row>], point: &[Rational], outputs: &[Range]) -> (Option<bool>, Option<RowSlack>) {
    // One row that fails decides; rows that fail come before those that are not decided, and these before those that hold.
    let rank = |holds: Option<bool>| holds.map_or(1, |holds| if holds { 2 } else { 0 });
    let mut inside = Some(true);
    let mut least: Option<RowSlack> = None;
    for (index, row) in rows.iter().enumerate() {
        // A variable that does not exist is refused when the problem is made.
        let Some(slack) = row.slack(point, outputs) else { return (Some(false), None) };
        let holds = row.holds(&slack);
        let before = |(_, known): &RowSlack| (rank(holds), &slack) < (rank(inside), known);
        if least.as_ref().is_none_or(before) {
            least = Some((index, slack));
        }
        if rank(holds) < rank(inside) {
            inside = holds;
        }
    }
    (inside, least)
}

impl Judgement {
    /// WITNESS: the point lies in the region, and for every value of the balls around its outputs in a disjunct, so the unsafe set is reached.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] if it is not shown to lie in both; as [`Problem::standing`].
    pub fn witness(problem: &Arc<Problem>, point: &[Rational]) -> Result<Self, RuleError> {
        let standing = problem.standing(point)?;
        if !problem.restriction().is_all() || !standing.in_region() || standing.disjunct().is_none() {
            return Err(RuleError::Mismatch("the point is no witness"));
        }
        Ok(Self::made(Arc::clone(problem), None, Vec::new(), Statement::Sat))
    }
}
