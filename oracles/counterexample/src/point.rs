//! Counterexamples as read: exact numbers by variable, with their places.

use crate::error::{Fault, Position, ReadError};
use crate::{document, text};
use certkern_core::num::Rational;
use certkern_core::property::Variable;
use certkern_report::Words;
use certkern_wire::{Limits, Reason, number};
use std::collections::BTreeMap;

/// A number as it was spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The text: a decimal, `p/q`, or C99 hexadecimal.
    pub spelling: String,
    /// The number that it spells.
    pub value: Rational,
    /// The byte offset of the variable in the file.
    offset: usize,
}

/// A counterexample: a point and, if they were reported, the outputs there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<'a> {
    source: &'a str,
    x: Vec<Entry>,
    y: Option<Vec<Entry>>,
}

impl<'a> Counterexample<'a> {
    /// Reads either form; a file whose first character is `{` is JSON.
    ///
    /// # Errors
    /// A [`ReadError`] with line, column, variable and way out.
    pub fn read(bytes: &'a [u8], limits: &Limits) -> Result<Self, ReadError> {
        let source = match std::str::from_utf8(bytes) {
            Ok(source) => source,
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok());
                let position = valid.map(|valid| Position::of(valid, valid.len()));
                return Err(ReadError { position, fault: Fault::Encoding });
            }
        };
        let mut entries = Entries { source, limits, inputs: BTreeMap::new(), outputs: BTreeMap::new() };
        if source.trim_start().starts_with('{') {
            let reported = document::read(&mut entries)?;
            return entries.finish(reported);
        }
        text::read(&mut entries)?;
        let reported = !entries.outputs.is_empty();
        entries.finish(reported)
    }

    /// The point.
    #[must_use]
    pub fn x(&self) -> &[Entry] {
        &self.x
    }

    /// The outputs as reported; `None` if the file has none.
    #[must_use]
    pub fn y(&self) -> Option<&[Entry]> {
        self.y.as_deref()
    }

    /// The exact coordinates of the point.
    #[must_use]
    pub fn point(&self) -> Vec<Rational> {
        self.x.iter().map(|entry| entry.value.clone()).collect()
    }

    /// Checks the number of variables against a network of `inputs` inputs and `outputs` outputs. Of the outputs the last ones may be
    /// left out, as some tools do: nothing rests on them.
    ///
    /// # Errors
    /// [`Fault::WrongInputCount`] or [`Fault::WrongOutputCount`], at the first variable that the network does not have.
    pub fn fit(&self, inputs: usize, outputs: usize) -> Result<(), ReadError> {
        let beyond = |entries: &[Entry], expected: usize| {
            entries.get(expected).map(|entry| Position::of(self.source, entry.offset))
        };
        let found = self.x.len();
        if found != inputs {
            let fault = Fault::WrongInputCount { found, expected: inputs };
            return Err(ReadError { position: beyond(&self.x, inputs), fault });
        }
        match &self.y {
            Some(y) if y.len() > outputs => {
                let fault = Fault::WrongOutputCount { found: y.len(), expected: outputs };
                Err(ReadError { position: beyond(y, outputs), fault })
            }
            _ => Ok(()),
        }
    }
}

/// The variables read so far, by index.
pub(crate) struct Entries<'a, 'b> {
    pub(crate) source: &'a str,
    pub(crate) limits: &'b Limits,
    inputs: BTreeMap<usize, Entry>,
    outputs: BTreeMap<usize, Entry>,
}

impl<'a> Entries<'a, '_> {
    /// An error at a byte offset.
    pub(crate) fn error(&self, offset: usize, fault: Fault) -> ReadError {
        ReadError { position: Some(Position::of(self.source, offset)), fault }
    }

    /// Adds a variable that stands at `offset` with a number that is spelled `text` at `number`.
    pub(crate) fn add(
        &mut self,
        variable: Variable,
        offset: usize,
        text: &str,
        number: usize,
    ) -> Result<(), ReadError> {
        let value = number::rational_text(text, self.limits)
            .map_err(|reason| self.error(number, no_number(variable, text, &reason)))?;
        let entry = Entry { spelling: text.to_owned(), value, offset };
        let (map, index) = match variable {
            Variable::X(index) => (&mut self.inputs, index),
            Variable::Y(index) => (&mut self.outputs, index),
        };
        match map.insert(index, entry) {
            None => Ok(()),
            Some(first) => {
                let first = Position::of(self.source, first.offset);
                Err(self.error(offset, Fault::Repeated { variable, first }))
            }
        }
    }

    /// The counterexample; outputs are part of it if they were `reported`.
    fn finish(self, reported: bool) -> Result<Counterexample<'a>, ReadError> {
        for (map, variable) in [
            (&self.inputs, Variable::X as fn(usize) -> Variable),
            (&self.outputs, Variable::Y as fn(usize) -> Variable),
        ] {
            if let Some((place, (_, entry))) = map.iter().enumerate().find(|(place, (index, _))| place != *index) {
                return Err(self.error(entry.offset, Fault::Missing(variable(place))));
            }
        }
        let outputs = self.outputs.into_values().collect();
        Ok(Counterexample {
            source: self.source,
            x: self.inputs.into_values().collect(),
            y: reported.then_some(outputs),
        })
    }
}

/// Why `text` is no number that a variable may have.
fn no_number(variable: Variable, text: &str, reason: &Reason) -> Fault {
    let text = text.to_owned();
    let word = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if ["nan", "inf", "infinity"].contains(&word.as_str()) {
        return Fault::NotFinite { variable, text };
    }
    match reason {
        Reason::Limit { .. } => Fault::Limit { variable, detail: Words(reason).to_string() },
        _ => Fault::Number { variable, text },
    }
}
