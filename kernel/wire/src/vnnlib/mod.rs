//! VNN-LIB 1.0, the linear fragment: `declare-const`, `assert`, `and`, `or`, comparisons, `+`, `-`, and `*` with constants.

mod expression;
mod formula;
mod linear;
mod region;

use crate::limits::{Limits, within};
use crate::property::coordinate;
use crate::reason::{Fault, Place, Reason, Rejection};
use certkern_core::property::{Property, Variable};
use expression::{Command, Kind, Reader};
use formula::Unsafe;

/// Reads a property from VNN-LIB. Assertions are multiplied out into disjuncts in the order of the document; the region is the hull
/// over the disjuncts of the bounds that single-variable rows give; the rows stay in the disjuncts.
///
/// # Errors
/// `property.syntax`, `property.unsupported` or `property.variable` with the byte offset, `property.unbounded`,
/// `property.empty-region`, or a limit.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Property, Rejection> {
    within("bytes", bytes.len(), limits.bytes)?;
    let mut reader = Reader::new(bytes);
    let mut declared = Declared::default();
    let mut whole = Unsafe::everything();
    while let Some(command) = reader.command(limits)? {
        match command.head() {
            Some("declare-const") => declared.declare(&command, limits)?,
            Some("assert") => {
                let [_, formula] = command.arguments() else {
                    return Err(
                        Fault::at(Reason::PropertySyntax("`assert` takes one formula"), "", command.offset()).into()
                    );
                };
                let (formula, offset) = (formula::read(&command, *formula, declared, limits)?, command.offset());
                whole = whole.and(formula, limits).map_err(|r| Fault::at(r, "", offset))?;
            }
            other => {
                let name = other.unwrap_or("a list without a name").to_owned();
                return Err(Fault::at(Reason::PropertyUnsupported(name), "", command.offset()).into());
            }
        }
    }
    if declared.inputs == 0 {
        return Err(Reason::PropertyVariable("X_0 is not declared".to_owned()).into());
    }
    let disjuncts = whole.into_disjuncts();
    let (lower, upper) = region::hull(declared.inputs, &disjuncts).map_err(at_variable)?;
    Ok(Property { lower, upper, outputs: declared.outputs, disjuncts })
}

/// A reason about an input coordinate, at its variable.
fn at_variable(reason: Reason) -> Rejection {
    match reason {
        Reason::PropertyUnbounded(index) | Reason::PropertyEmptyRegion(index) => {
            Rejection::one(reason, Place::path(format!("X_{index}")))
        }
        other => other.into(),
    }
}

/// How many variables are declared: `X_0 … X_(inputs−1)` and `Y_0 … Y_(outputs−1)`.
#[derive(Clone, Copy, Debug, Default)]
struct Declared {
    inputs: usize,
    outputs: usize,
}

impl Declared {
    /// Reads `(declare-const X_i Real)`, where `i` counts up from zero.
    fn declare(&mut self, command: &Command<'_>, limits: &Limits) -> Result<(), Fault> {
        let fault = |reason| Fault::at(reason, "", command.offset());
        let [_, name, sort] = command.arguments() else {
            return Err(fault(Reason::PropertySyntax("`declare-const` takes a name and a type")));
        };
        let (Kind::Atom(name), name_at) = command.get(*name) else {
            return Err(fault(Reason::PropertySyntax("a name is expected")));
        };
        match command.get(*sort) {
            (Kind::Atom("Real"), _) => {}
            (_, at) => {
                return Err(Fault::at(Reason::PropertyUnsupported("a type other than Real".to_owned()), "", at));
            }
        }
        let misnamed = || Fault::at(Reason::PropertyVariable((*name).to_owned()), "", name_at);
        let (index, count) = match variable(name).ok_or_else(misnamed)? {
            Variable::X(index) => (index, &mut self.inputs),
            Variable::Y(index) => (index, &mut self.outputs),
        };
        if index != *count {
            return Err(misnamed());
        }
        *count = count.saturating_add(1);
        within("variables", *count, limits.variables).map_err(fault)
    }

    fn contains(self, variable: Variable) -> bool {
        match variable {
            Variable::X(index) => index < self.inputs,
            Variable::Y(index) => index < self.outputs,
        }
    }
}

/// The variable that `name` names: `X_` or `Y_` and its place without leading zeros.
fn variable(name: &str) -> Option<Variable> {
    match name.split_once('_')? {
        ("X", index) => coordinate(index).map(Variable::X),
        ("Y", index) => coordinate(index).map(Variable::Y),
        _ => None,
    }
}
