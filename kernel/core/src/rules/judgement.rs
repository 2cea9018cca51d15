//! Judgements, sealed as theorems are in HOL Light: only the rules make them.

use super::RuleError;
use super::problem::Problem;
use super::scope::{Literal, Side};
use std::sync::Arc;

/// What a judgement states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// No `x` of the region that satisfies the literals has `(x, F(x))` in the disjunct.
    Empty,
    /// Some `x` of the region has `(x, F(x))` in a disjunct.
    Sat,
    /// For every `x` of the region `F(x)` is defined and `(x, F(x))` lies in no disjunct.
    Unsat,
}

/// A proved statement about a problem. It cannot be made outside the rules:
///
/// ```compile_fail
/// use certkern_core::rules::{Judgement, Statement};
/// let forged = Judgement { problem: todo!(), disjunct: None, literals: vec![], statement: Statement::Unsat };
/// ```
///
/// ```compile_fail
/// let forged: certkern_core::rules::Judgement = Default::default();
/// ```
///
/// ```compile_fail
/// use certkern_core::rules::{Judgement, Statement};
/// let forged = Judgement::made(todo!(), None, vec![], Statement::Unsat);
/// ```
#[derive(Debug)]
#[must_use]
pub struct Judgement {
    problem: Arc<Problem>,
    disjunct: Option<usize>,
    literals: Vec<Arc<Literal>>,
    statement: Statement,
}

impl Judgement {
    /// For the rules alone.
    pub(super) fn made(
        problem: Arc<Problem>,
        disjunct: Option<usize>,
        literals: Vec<Arc<Literal>>,
        statement: Statement,
    ) -> Self {
        Self { problem, disjunct, literals, statement }
    }

    /// The problem that it speaks of.
    #[must_use]
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// What it states.
    #[must_use]
    pub fn statement(&self) -> Statement {
        self.statement
    }

    /// Whether it rests on no literal and on no single disjunct.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.literals.is_empty() && self.disjunct.is_none()
    }

    /// SPLIT: what holds where a coordinate is at least a threshold and where it is at most that threshold holds without either literal,
    /// since every real number is one or the other.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] unless both speak of the same problem, disjunct and earlier literals, and their last literals are the two halves of one split.
    pub fn split(at_least: Self, at_most: Self) -> Result<Self, RuleError> {
        let Self { problem, disjunct, mut literals, statement } = at_least;
        let same = Arc::ptr_eq(&problem, &at_most.problem)
            && disjunct == at_most.disjunct
            && statement == Statement::Empty
            && at_most.statement == Statement::Empty;
        if !same {
            return Err(RuleError::Mismatch("the halves of a split speak of different things"));
        }
        let (Some(up), Some((down, rest))) = (literals.pop(), at_most.literals.split_last()) else {
            return Err(RuleError::Mismatch("there is no literal to discharge"));
        };
        let halves = up.side == Side::AtLeast
            && down.side == Side::AtMost
            && (up.node, up.coordinate, &up.threshold) == (down.node, down.coordinate, &down.threshold);
        if !halves || literals != rest {
            return Err(RuleError::Mismatch("the literals are not the two halves of one split"));
        }
        Ok(Self { problem, disjunct, literals, statement })
    }

    /// CASES: if every disjunct is empty on its whole region, and the program is defined on the whole region (DOMAIN), the property holds. Judgements come in the order of the disjuncts.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] unless there is exactly one judgement for each disjunct, without literals, about this problem; [`RuleError::Undefined`].
    pub fn cases(problem: &Arc<Problem>, judgements: &[Self]) -> Result<Self, RuleError> {
        if judgements.len() != problem.property().disjuncts.len() || judgements.is_empty() {
            return Err(RuleError::Mismatch("not one judgement for each disjunct"));
        }
        for (disjunct, judgement) in judgements.iter().enumerate() {
            let fits = Arc::ptr_eq(problem, &judgement.problem)
                && judgement.disjunct == Some(disjunct)
                && judgement.literals.is_empty()
                && judgement.statement == Statement::Empty;
            if !fits {
                return Err(RuleError::Mismatch("a judgement is of another disjunct, or rests on literals"));
            }
        }
        problem.defined()?;
        Ok(Self::made(Arc::clone(problem), None, Vec::new(), Statement::Unsat))
    }
}
