//! ENCLOSE: the values of expressions lie in the balls that are claimed for them.

use crate::expr::{Arithmetic, Balls, Choice, Exact, Expressions, Fault, Value};
use crate::func::Refusal;
use crate::num::Rational;
use num_traits::Signed;
use std::cmp::Ordering;
use std::iter::successors;
use std::mem::take;
use std::sync::Arc;

/// The bits of the first attempt.
const FIRST: u64 = 64;

/// A closed ball that is claimed to hold a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedBall {
    /// Its midpoint.
    pub midpoint: Rational,
    /// Its radius.
    pub radius: Rational,
}

/// A judgement: for every choice of numbers from the intervals of the expressions, every output is defined and lies in its ball. Only
/// [`Enclosure::prove`] makes one:
///
/// ```compile_fail
/// use certkern_core::rules::Enclosure;
/// let forged = Enclosure { expressions: todo!(), balls: vec![], precision: 64 };
/// ```
///
/// ```compile_fail
/// let forged: certkern_core::rules::Enclosure = Default::default();
/// ```
#[must_use]
pub struct Enclosure {
    expressions: Arc<Expressions>,
    balls: Vec<ClaimedBall>,
    precision: u64,
}

/// An exact number `r · 2^e`.
pub type Scaled = (Rational, i64);

/// Why a claim is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unenclosed {
    /// For some choice of numbers from the intervals the value lies between these two, and no number between them in the ball.
    Refuted {
        /// The lower end.
        lower: Scaled,
        /// The upper end.
        upper: Scaled,
    },
    /// What was computed at the last precision lies neither in the ball nor apart from it.
    Unproved,
    /// This node is not shown to be defined.
    Undefined(usize),
    /// This node has a value, or an argument, too large to be computed with.
    Reach(usize),
    /// Not one ball for each output, or a radius below zero.
    Mismatch,
}

impl From<Fault> for Unenclosed {
    fn from(Fault { node, refusal }: Fault) -> Self {
        match refusal {
            Refusal::Undefined => Self::Undefined(node),
            Refusal::Limit => Self::Reach(node),
        }
    }
}

impl Enclosure {
    /// ENCLOSE: exactly where there are only rationals, else in balls at increasing precision up to `budget` bits.
    ///
    /// # Errors
    /// The first output whose claim is not proved, and why.
    pub fn prove(
        expressions: Arc<Expressions>,
        balls: Vec<ClaimedBall>,
        budget: u64,
    ) -> Result<Self, (usize, Unenclosed)> {
        if balls.len() != expressions.outputs().len() {
            return Err((0, Unenclosed::Mismatch));
        }
        if let Some(index) = balls.iter().position(|ball| ball.radius.is_negative()) {
            return Err((index, Unenclosed::Mismatch));
        }
        let goals = balls.iter().zip(expressions.outputs()).enumerate();
        let open = goals.map(|(index, (ball, node))| Goal {
            index,
            node: *node,
            lower: &ball.midpoint - &ball.radius,
            upper: &ball.midpoint + &ball.radius,
            why: Unenclosed::Unproved,
        });
        let mut search = Search { expressions: &expressions, open: open.collect(), refuted: None };
        search.round(&Exact::default());
        let mut precision = 0;
        for bits in successors(Some(FIRST), |bits| (*bits < budget).then(|| bits.saturating_mul(2).min(budget))) {
            if search.open.is_empty() {
                break;
            }
            precision = bits;
            search.round(&Balls(bits));
        }
        let Search { open, refuted, .. } = search;
        match open.into_iter().next().or(refuted) {
            Some(goal) => Err((goal.index, goal.why)),
            None => Ok(Self { expressions, balls, precision }),
        }
    }

    /// The expressions.
    #[must_use]
    pub fn expressions(&self) -> &Expressions {
        &self.expressions
    }

    /// The ball of each output.
    #[must_use]
    pub fn balls(&self) -> &[ClaimedBall] {
        &self.balls
    }

    /// The most bits that were computed with; 0 if rationals were enough.
    #[must_use]
    pub fn precision(&self) -> u64 {
        self.precision
    }
}

/// An output that is not proved to lie from `lower` to `upper`.
struct Goal {
    index: usize,
    node: usize,
    lower: Rational,
    upper: Rational,
    why: Unenclosed,
}

struct Search<'a> {
    expressions: &'a Expressions,
    /// The goals that are left, by index.
    open: Vec<Goal>,
    /// The first goal that is false; all that are left come before it.
    refuted: Option<Goal>,
}

impl Search<'_> {
    /// Tries every goal that is left with an arithmetic: on all numbers of the intervals, and, to refute it, at their ends.
    fn round<A: Arithmetic>(&mut self, arithmetic: &A) {
        let ends = if self.expressions.intervals() == 0 { &[][..] } else { &[Choice::Lower, Choice::Upper] };
        for choice in std::iter::once(&Choice::All).chain(ends) {
            if self.open.is_empty() {
                return;
            }
            let nodes = self.open.iter().map(|goal| goal.node);
            let values = self.expressions.evaluate(arithmetic, *choice, nodes);
            for mut goal in take(&mut self.open) {
                let standing = match values.get(goal.node) {
                    // What is not defined everywhere is told as that.
                    _ if *choice != Choice::All && matches!(goal.why, Unenclosed::Undefined(_)) => Ok(()),
                    Some(value) => goal.standing(arithmetic, value),
                    None => Err(Unenclosed::Mismatch),
                };
                match standing {
                    Ok(()) if *choice == Choice::All => {}
                    Ok(()) => self.open.push(goal),
                    Err(why @ Unenclosed::Refuted { .. }) => {
                        self.refuted = Some(Goal { why, ..goal });
                        break;
                    }
                    Err(why) => {
                        if *choice == Choice::All {
                            goal.why = why;
                        }
                        self.open.push(goal);
                    }
                }
            }
        }
    }
}

impl Goal {
    /// `Ok` if the whole range lies in the ball.
    fn standing<A: Arithmetic>(&self, arithmetic: &A, value: &Value<A::Number>) -> Result<(), Unenclosed> {
        let (lower, upper) = value.as_ref().map_err(|fault| Unenclosed::from(*fault))?;
        let apart = arithmetic.compare(lower, &self.upper) == Ordering::Greater
            || arithmetic.compare(upper, &self.lower) == Ordering::Less;
        if apart {
            return Err(Unenclosed::Refuted { lower: arithmetic.parts(lower), upper: arithmetic.parts(upper) });
        }
        let inside = arithmetic.compare(lower, &self.lower) != Ordering::Less
            && arithmetic.compare(upper, &self.upper) != Ordering::Greater;
        if inside { Ok(()) } else { Err(Unenclosed::Unproved) }
    }
}
