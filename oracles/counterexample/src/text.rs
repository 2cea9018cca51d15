//! VNN-COMP's text: `((X_0 number) (X_1 number) … (Y_0 number) …)`, in any order and any white space, after `sat` or nothing.
//! The last parenthesis may be missing, as some tools leave it out.

use crate::error::{Fault, ReadError};
use crate::point::Entries;
use certkern_core::property::Variable;

/// Words of a text: parentheses, and runs of other characters between white space.
struct Words<'a> {
    source: &'a str,
    at: usize,
}

/// A word and its byte offset.
type Word<'a> = (usize, &'a str);

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let rest = self.source.get(self.at..)?;
        let word = rest.trim_start();
        let start = self.at + (rest.len() - word.len());
        let length = match word.chars().next()? {
            '(' | ')' => 1,
            _ => word.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(word.len()),
        };
        self.at = start + length;
        Some((start, word.get(..length)?))
    }
}

/// Reads the text into `entries`.
///
/// # Errors
/// A [`ReadError`] at the first word that does not fit.
pub(crate) fn read(entries: &mut Entries<'_, '_>) -> Result<(), ReadError> {
    let source = entries.source;
    let mut words = Words { source, at: 0 };
    let mut first = words.next();
    if first.is_some_and(|(_, word)| word == "sat") {
        first = Some(word(entries, &mut words, OPEN)?);
    }
    match first {
        None => return Err(ReadError { position: None, fault: Fault::Empty }),
        Some((_, "(")) => {}
        Some((offset, other)) => return Err(entries.error(offset, Fault::Verdict(other.to_owned()))),
    }
    loop {
        match words.next() {
            // What is given is whole; whether it is all is told by the number of inputs.
            None | Some((_, ")")) => break,
            Some((_, "(")) => pair(entries, &mut words)?,
            Some((offset, other)) => return Err(syntax(entries, offset, "`(` or `)`", other)),
        }
    }
    match words.next() {
        None => Ok(()),
        Some((offset, other)) => Err(syntax(entries, offset, "the end of the file", other)),
    }
}

const OPEN: &str = "`(`";

/// A variable, its number, and the parenthesis that closes them.
fn pair(entries: &mut Entries<'_, '_>, words: &mut Words<'_>) -> Result<(), ReadError> {
    let (offset, name) = word(entries, words, "a variable")?;
    let variable = variable(name).ok_or_else(|| entries.error(offset, Fault::Variable(name.to_owned())))?;
    let (number, spelled) = word(entries, words, "a number")?;
    if spelled == "(" || spelled == ")" {
        return Err(syntax(entries, number, "a number", spelled));
    }
    match word(entries, words, "`)`")? {
        (_, ")") => entries.add(variable, offset, spelled, number),
        (offset, other) => Err(syntax(entries, offset, "`)`", other)),
    }
}

/// The next word, which must be there.
fn word<'a>(entries: &Entries<'_, '_>, words: &mut Words<'a>, expected: &'static str) -> Result<Word<'a>, ReadError> {
    let end = words.source.trim_end().len();
    words.next().ok_or_else(|| entries.error(end, Fault::CutOff { expected }))
}

fn syntax(entries: &Entries<'_, '_>, offset: usize, expected: &'static str, found: &str) -> ReadError {
    entries.error(offset, Fault::Syntax { expected, found: found.to_owned() })
}

/// `X_<i>` or `Y_<i>`, the index in digits without leading zeros.
fn variable(name: &str) -> Option<Variable> {
    let (role, digits) = name.split_once('_')?;
    let plain = digits == "0" || !digits.starts_with('0');
    let digits = Some(digits).filter(|digits| plain && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let index = digits?.parse().ok()?;
    match role {
        "X" => Some(Variable::X(index)),
        "Y" => Some(Variable::Y(index)),
        _ => None,
    }
}
