//! Formulas in disjunctive form: `and` multiplies, `or` lists, both in the order of the document.

use super::Declared;
use super::expression::{Command, Id, Kind};
use super::linear::Linear;
use crate::limits::{Limits, within};
use crate::number;
use crate::property::weight;
use crate::reason::{Fault, Reason};
use certkern_core::property::{Disjunct, Row, disjunct};

/// A union of disjuncts, each the intersection of its rows; at least one. A row is shared by the disjuncts into which it was multiplied.
#[derive(Debug)]
pub(super) struct Unsafe {
    /// In order.
    pub(super) disjuncts: Vec<Disjunct>,
    /// What the rows of all disjuncts count in the budget `rows`.
    rows: usize,
}

impl Unsafe {
    /// The whole space.
    pub(super) fn everything() -> Self {
        Self::disjunct(Vec::new())
    }

    /// One disjunct.
    fn disjunct(rows: Vec<Row>) -> Self {
        let used = rows.iter().map(weight).fold(0, usize::saturating_add);
        Self { rows: used, disjuncts: vec![disjunct(rows)] }
    }

    /// The intersection: the products of the disjuncts, the index of `self` running slowest.
    ///
    /// # Errors
    /// The limit `disjuncts` or `rows`, before anything is built.
    pub(super) fn and(mut self, other: Self, limits: &Limits) -> Result<Self, Reason> {
        let (ours, theirs) = (self.disjuncts.len(), other.disjuncts.len());
        within("disjuncts", ours.saturating_mul(theirs), limits.disjuncts)?;
        let rows = self.rows.saturating_mul(theirs).saturating_add(other.rows.saturating_mul(ours));
        within("rows", rows, limits.rows)?;
        self.rows = rows;
        if let ([first], [_]) = (self.disjuncts.as_mut_slice(), other.disjuncts.as_slice()) {
            first.extend(other.disjuncts.into_iter().flatten());
            return Ok(self);
        }
        if let [only] = other.disjuncts.as_slice() {
            self.disjuncts.iter_mut().for_each(|rows| rows.extend_from_slice(only));
            return Ok(self);
        }
        let product =
            |ours: &Disjunct| other.disjuncts.iter().map(|theirs| [&**ours, theirs].concat()).collect::<Vec<_>>();
        self.disjuncts = self.disjuncts.iter().flat_map(product).collect();
        Ok(self)
    }

    /// The union: the disjuncts of `self`, then those of `other`.
    ///
    /// # Errors
    /// The limit `disjuncts` or `rows`.
    fn or(mut self, mut other: Self, limits: &Limits) -> Result<Self, Reason> {
        within("disjuncts", self.disjuncts.len().saturating_add(other.disjuncts.len()), limits.disjuncts)?;
        self.rows = self.rows.saturating_add(other.rows);
        within("rows", self.rows, limits.rows)?;
        self.disjuncts.append(&mut other.disjuncts);
        Ok(self)
    }
}

/// What a list means.
enum Meaning {
    Term(Linear),
    Formula(Unsafe),
}

/// Reads the formula `id` of `command`, which is its last expression but for what is inside it.
///
/// # Errors
/// `property.syntax`, `property.unsupported` or `property.variable` at the expression, or a limit.
pub(super) fn read(command: &Command<'_>, id: Id, declared: &Declared, limits: &Limits) -> Result<Unsafe, Fault> {
    let mut walk = Walk { command, declared, limits, meanings: Vec::new() };
    walk.meanings.resize_with(command.len(), || None);
    for (list, kind, offset) in command.inside_out().filter(|(list, ..)| *list >= id) {
        if let Kind::List(items) = kind {
            let meaning = walk.list(items).map_err(|stop| stop.unwrap_or_fault(offset))?;
            if let Some(slot) = walk.meanings.get_mut(list) {
                *slot = Some(meaning);
            }
        }
    }
    walk.formula(id).map_err(|stop| stop.unwrap_or_fault(command.get(id).1))
}

/// A reason at the list that is being read, or a fault at another place.
enum Stop {
    Here(Reason),
    There(Fault),
}

impl Stop {
    fn unwrap_or_fault(self, offset: usize) -> Fault {
        match self {
            Self::Here(reason) => Fault::at(reason, "", offset),
            Self::There(fault) => fault,
        }
    }
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Here(reason)
    }
}

struct Walk<'a> {
    command: &'a Command<'a>,
    declared: &'a Declared,
    limits: &'a Limits,
    /// What the lists that were read mean, until the list around them takes it.
    meanings: Vec<Option<Meaning>>,
}

impl Walk<'_> {
    /// The meaning of a list; the lists inside have been read.
    fn list(&mut self, items: &[Id]) -> Result<Meaning, Stop> {
        let Some((head, arguments)) = items.split_first() else {
            return Err(Reason::PropertySyntax("an empty list").into());
        };
        let (Kind::Atom(operator), _) = self.command.get(*head) else {
            return Err(Reason::PropertySyntax("expected an operator").into());
        };
        // The second version writes `==`, and has `!=`.
        let written = *operator;
        let operator = match (written, self.declared.tensors.is_some()) {
            ("==", true) => "=",
            ("=", true) => "==",
            _ => written,
        };
        match (operator, arguments) {
            ("!=", [left, right]) if self.declared.tensors.is_some() => {
                let (left, right) = (self.term(*left)?, self.term(*right)?);
                let below = Unsafe::disjunct(rows("<", left.clone(), right.clone()));
                Ok(Meaning::Formula(below.or(Unsafe::disjunct(rows(">", left, right)), self.limits)?))
            }
            ("and" | "or" | "+" | "-" | "*", []) => Err(Reason::PropertySyntax("an operator without arguments").into()),
            ("and", [first, rest @ ..]) => {
                let first = self.formula(*first)?;
                let product =
                    rest.iter().try_fold(first, |all, id| Ok::<_, Stop>(all.and(self.formula(*id)?, self.limits)?));
                product.map(Meaning::Formula)
            }
            ("or", [first, rest @ ..]) => {
                let first = self.formula(*first)?;
                let union =
                    rest.iter().try_fold(first, |all, id| Ok::<_, Stop>(all.or(self.formula(*id)?, self.limits)?));
                union.map(Meaning::Formula)
            }
            ("<=" | ">=" | "<" | ">" | "=", [left, right]) => {
                let (left, right) = (self.term(*left)?, self.term(*right)?);
                Ok(Meaning::Formula(Unsafe::disjunct(rows(operator, left, right))))
            }
            ("<=" | ">=" | "<" | ">" | "=", _) => {
                Err(Reason::PropertyUnsupported(format!("{written} of other than two terms")).into())
            }
            ("-", [only]) => Ok(Meaning::Term(self.term(*only)?.negated())),
            ("+" | "-" | "*", [first, rest @ ..]) => {
                let first = self.term(*first)?;
                let apply = |all: Linear, id: &Id| {
                    let term = self.term(*id)?;
                    Ok(match operator {
                        "+" => all.plus(term),
                        "-" => all.plus(term.negated()),
                        _ => all.times(term, self.limits)?,
                    })
                };
                rest.iter().try_fold(first, apply).map(Meaning::Term)
            }
            _ => Err(Reason::PropertyUnsupported(written.to_owned()).into()),
        }
    }

    /// Takes expression `id` as a formula.
    fn formula(&mut self, id: Id) -> Result<Unsafe, Stop> {
        match self.meanings.get_mut(id).and_then(Option::take) {
            Some(Meaning::Formula(formula)) => Ok(formula),
            _ => Err(self.there(id, Reason::PropertySyntax("expected a formula"))),
        }
    }

    /// Takes expression `id` as a term.
    fn term(&mut self, id: Id) -> Result<Linear, Stop> {
        match (self.command.get(id).0, self.meanings.get_mut(id).and_then(Option::take)) {
            (_, Some(Meaning::Term(term))) => Ok(term),
            (Kind::Atom(atom), None) => self.atom(atom).map_err(|reason| self.there(id, reason)),
            _ => Err(self.there(id, Reason::PropertySyntax("expected a term"))),
        }
    }

    /// A declared variable or a decimal number.
    fn atom(&self, atom: &str) -> Result<Linear, Reason> {
        if atom.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.')) {
            return number::decimal(atom, self.limits).map(Linear::constant).map_err(|reason| match reason {
                Reason::JsonNumber(_) => Reason::PropertySyntax("not a decimal number"),
                other => other,
            });
        }
        match self.declared.variable(atom) {
            Some(variable) => Ok(Linear::variable(variable)),
            None => Err(Reason::PropertyVariable(atom.to_owned())),
        }
    }

    fn there(&self, id: Id, reason: Reason) -> Stop {
        Stop::There(Fault::at(reason, "", self.command.get(id).1))
    }
}

/// `s ≤ t` is the row `s − t ≤ 0`, `s ≥ t` the row `t − s ≤ 0`, `s = t` both in this order.
fn rows(comparison: &str, left: Linear, right: Linear) -> Vec<Row> {
    let strict = matches!(comparison, "<" | ">");
    match comparison {
        "<=" | "<" => vec![left.plus(right.negated()).at_most_zero(strict)],
        ">=" | ">" => vec![right.plus(left.negated()).at_most_zero(strict)],
        _ => {
            let difference = left.plus(right.negated());
            vec![difference.clone().at_most_zero(false), difference.negated().at_most_zero(false)]
        }
    }
}
