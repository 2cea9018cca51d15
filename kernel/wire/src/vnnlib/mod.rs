//! VNN-LIB, the linear fragment: `assert`, `and`, `or`, comparisons, `+`, `-`, and `*` with constants. Variables are declared one by one with
//! `declare-const` (1.0), or, after `(vnnlib-version <2.0>)`, as tensors with `declare-network`.

mod expression;
mod formula;
mod linear;
mod region;
mod tensors;

use crate::limits::{Limits, within};
use crate::property::coordinate;
use crate::reason::{Fault, Place, Reason, Rejection};
use certkern_core::property::{Property, Variable};
use expression::{Command, Kind, Reader};
use formula::Unsafe;
use tensors::Tensors;

/// Reads a property from VNN-LIB. Assertions are multiplied out into disjuncts in the order of the document; the region is the hull
/// over the disjuncts of the bounds that single-variable rows give; the rows stay in the disjuncts.
///
/// # Errors
/// `property.syntax`, `property.unsupported` or `property.variable` with the byte offset, `property.unbounded`,
/// `property.empty-region`, or a limit.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Property, Rejection> {
    parse_about(bytes, None, limits)
}

/// Reads a property of a network: the shapes of its input and of each of its outputs, which those of declared tensors must be. Without a network, tensors
/// with several axes longer than 1 are refused: what their elements are depends on the network's shapes.
///
/// # Errors
/// As [`parse`], and `property.shape`.
pub fn parse_about(bytes: &[u8], network: Option<&[Vec<usize>]>, limits: &Limits) -> Result<Property, Rejection> {
    within("bytes", bytes.len(), limits.bytes)?;
    let mut reader = Reader::new(bytes);
    let mut declared = Declared::default();
    let mut whole = Unsafe::everything();
    let mut first = true;
    while let Some(command) = reader.command(limits)? {
        let start = std::mem::take(&mut first);
        match command.head() {
            Some("vnnlib-version") if start => {
                is_second(&command)?;
                reader.tensors = true;
            }
            Some("declare-const") if !reader.tensors => declared.declare(&command, limits)?,
            Some("declare-network") if reader.tensors && declared.inputs == 0 => {
                let tensors = Tensors::read(&command, network, limits)?;
                let (inputs, outputs) = (tensors.inputs(), tensors.outputs());
                declared = Declared { inputs, outputs, tensors: Some(tensors) };
            }
            Some("assert") => {
                let [_, formula] = command.arguments() else {
                    return Err(
                        Fault::at(Reason::PropertySyntax("`assert` takes one formula"), "", command.offset()).into()
                    );
                };
                let (formula, offset) = (formula::read(&command, *formula, &declared, limits)?, command.offset());
                whole = whole.and(formula, limits).map_err(|r| Fault::at(r, "", offset))?;
            }
            other => {
                let name = other.unwrap_or("a list without a name").to_owned();
                return Err(Fault::at(Reason::PropertyUnsupported(name), "", command.offset()).into());
            }
        }
    }
    if declared.inputs == 0 {
        return Err(Reason::PropertyVariable("no input is declared".to_owned()).into());
    }
    let (lower, upper) = region::hull(declared.inputs, &whole.disjuncts).map_err(at_variable)?;
    Ok(Property { lower, upper, outputs: declared.outputs, disjuncts: whole.disjuncts })
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

/// Checks `(vnnlib-version <2.0>)`.
fn is_second(command: &Command<'_>) -> Result<(), Fault> {
    let version = match command.arguments() {
        [_, version] => command.get(*version).0,
        _ => return Err(Fault::at(Reason::PropertySyntax("`vnnlib-version` takes a version"), "", command.offset())),
    };
    match version {
        Kind::Atom("<2.0>") => Ok(()),
        _ => Err(Fault::at(Reason::PropertyUnsupported("a version other than <2.0>".to_owned()), "", command.offset())),
    }
}

/// How many variables are declared: `X_0 … X_(inputs−1)` and `Y_0 … Y_(outputs−1)`, or the elements of tensors.
#[derive(Clone, Debug, Default)]
struct Declared {
    inputs: usize,
    outputs: usize,
    tensors: Option<Tensors>,
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

    /// The declared variable that an atom names.
    fn variable(&self, atom: &str) -> Option<Variable> {
        if let Some(tensors) = &self.tensors {
            return tensors.variable(atom);
        }
        variable(atom).filter(|variable| match variable {
            Variable::X(index) => *index < self.inputs,
            Variable::Y(index) => *index < self.outputs,
        })
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
