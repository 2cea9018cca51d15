//! The rules: the only makers of bounds and judgements. Each checks its premises; nothing that a certificate states is believed.
//!
//! | rule | function | premises → conclusion |
//! |---|---|---|
//! | PROGRAM, PROPERTY | [`Problem::new`], [`Problem::within`] | widths fit, the region is not empty, at least one disjunct → a problem |
//! | DOMAIN | `Problem::defined` | interval bounds of each argument on the whole region lie in the function's domain → the program is defined there |
//! | IBP | [`Scope::root`], [`Scope::interval_bounds`] | bounds of the parents → bounds of each node, on the scope's region |
//! | SCOPE | [`Scope::split`], [`Scope::for_disjunct`] | bounds proved above hold below, never the other way |
//! | UNIVARIATE, LINES | `univariate`, `lines` | a slope and proved bounds → a lower and an upper line, intercepts computed outward |
//! | PRODUCT, MAX | `planes` | proved bounds → a lower and an upper plane, constants computed outward |
//! | BACK, ABSORB, LITERAL, BETA | `back` | a row over nodes, lines and planes, multipliers ≥ 0 → a number that the row's value never falls below |
//! | INTERMEDIATE | [`Scope::tighten`] | BACK from `± e_i` → tighter bounds in this scope |
//! | EMPTY | [`Scope::refute`] | BACK from 0 with literals ends above 0 → no input of the scope lies in the disjunct |
//! | EMPTY, DROP | [`Scope::exclude`] | a row over one value fails between its proved bounds → likewise |
//! | SPLIT | [`Judgement::split`] | judgements for `g ≥ τ` and for `g ≤ τ` → the judgement without the literal |
//! | CASES | [`Judgement::cases`] | every disjunct empty on the whole region, DOMAIN → unsat |
//! | WITNESS | [`Judgement::witness`] | a point of the region, which is a box, with its outputs, exact or in balls that decide, in a disjunct → sat |
//! | ENCLOSE | [`Enclosure::prove`] | the kernel's own range of each expression lies in the ball claimed → the values are defined and lie there |
//! | MONOTONE | [`monotone`] | signs of coefficients, functions that rise everywhere, maxima → the program is defined everywhere and nondecreasing in every input |
//!
//! DOMAIN: interval bounds on the whole region have shown that every function is defined on its arguments before any rule or literal uses a node: each maker of a root scope
//! asks for it, and CASES again. So a point where a value is undefined lies in no region, and no half of a split loses it. ENCLOSE shows of every node that it is defined.

mod back;
mod bounds;
mod enclose;
mod filter;
mod ibp;
mod judgement;
mod lines;
mod monotone;
mod planes;
mod problem;
mod quotient;
mod scope;
#[cfg(test)]
mod tests;
mod univariate;
mod witness;

pub use back::{Multipliers, Slopes};
pub use enclose::{ClaimedBall, Enclosure, Scaled, Unenclosed};
pub use filter::{Attempt, Filter, FilterScope, NodeSlopes};
pub use judgement::{Judgement, Statement};
pub use monotone::monotone;
pub use problem::Problem;
pub use scope::{Literal, Scope, Side};
pub use witness::Standing;

use crate::num::Rational;
use crate::program::NodeId;

/// Why a rule did not give its conclusion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleError {
    /// A node, coordinate, row or disjunct that does not exist.
    NoSuch(&'static str),
    /// A slope outside the domain of the function of this node.
    SlopeDomain {
        /// The univariate node.
        node: NodeId,
        /// The coordinate in it.
        coordinate: usize,
    },
    /// A multiplier below zero.
    NegativeMultiplier,
    /// The bound that was reached does not prove the claim; it had to be above zero.
    Unproved(Rational),
    /// Premises of different problems, disjuncts or literals.
    Mismatch(&'static str),
    /// A row, or a sum over one, with more entries than the arithmetic adds up safely.
    RowLength,
    /// A common denominator with more bits than are computed with.
    DenominatorBits,
    /// An enclosure of a function that takes more digits or pieces than are computed with.
    Budget,
    /// The function of a node is not shown to be defined (DOMAIN).
    Undefined {
        /// The univariate node.
        node: NodeId,
        /// The coordinate in it.
        coordinate: usize,
    },
    /// A state that cannot arise; never a proof.
    Internal(&'static str),
}
