//! Why a file was not read as a counterexample of a network.

use certkern_core::property::Variable;
use std::fmt;

/// A place in a text: line and column in characters, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset.
    pub(crate) fn of(source: &str, offset: usize) -> Self {
        let before = source.get(..offset).unwrap_or(source);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong with a file. The text of each names the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The text ends too early.
    CutOff {
        /// What should have followed.
        expected: &'static str,
    },
    /// The JSON document is not of the expected form; the kernel's reader says why.
    Document(String),
    /// There is nothing in the file.
    Empty,
    /// The bytes are not UTF-8.
    Encoding,
    /// A number beyond a budget of the readers.
    Limit {
        /// The variable.
        variable: Variable,
        /// What the budget says.
        detail: String,
    },
    /// A variable that is not given, although a later one is.
    Missing(Variable),
    /// NaN or an infinity.
    NotFinite {
        /// The variable.
        variable: Variable,
        /// What stands there.
        text: String,
    },
    /// What stands for a value is no number.
    Number {
        /// The variable.
        variable: Variable,
        /// What stands there.
        text: String,
    },
    /// A variable that is given twice.
    Repeated {
        /// The variable.
        variable: Variable,
        /// Where it stands first.
        first: Position,
    },
    /// The text is not of the form `((X_0 number) … (Y_0 number) …)`.
    Syntax {
        /// What should stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A name that is neither `X_<i>` nor `Y_<i>`.
    Variable(String),
    /// The file begins with another verdict than `sat`.
    Verdict(String),
    /// More or fewer input variables than the network has.
    WrongInputCount {
        /// Those of the file.
        found: usize,
        /// Those of the network.
        expected: usize,
    },
    /// More output variables than the network has.
    WrongOutputCount {
        /// Those of the file.
        found: usize,
        /// Those of the network.
        expected: usize,
    },
}

/// Why a file was not read: what is wrong, and where, if that is a place in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Where.
    pub position: Option<Position>,
    /// What is wrong.
    pub fault: Fault,
}

/// A variable as the text spells it.
pub(crate) fn name(variable: Variable) -> String {
    match variable {
        Variable::X(index) => format!("X_{index}"),
        Variable::Y(index) => format!("Y_{index}"),
    }
}

/// Text of the file on one line, not too long.
fn cut(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff { expected } => {
                write!(f, "the text ends where {expected} should follow; the file is cut off, write it again")
            }
            Self::Document(detail) => f.write_str(detail),
            Self::Empty => f.write_str("the file is empty; a counterexample is ((X_0 number) … (Y_0 number) …)"),
            Self::Encoding => f.write_str("not UTF-8 text; write plain text without a byte order mark"),
            Self::Limit { variable, detail } => write!(f, "the number of {}: {detail}", name(*variable)),
            Self::Missing(variable) => {
                write!(f, "{} is missing before this one; give every variable once", name(*variable))
            }
            Self::NotFinite { variable, text } => write!(
                f,
                "{} is `{}`, which is no point; the run that wrote this has no counterexample here",
                name(*variable),
                cut(text)
            ),
            Self::Number { variable, text } => write!(
                f,
                "{} is `{}`, which is not a number; write a decimal such as -0.5 or 1e-3, a fraction p/q, or C99 hexadecimal such as 0x1.8p-3",
                name(*variable),
                cut(text)
            ),
            Self::Repeated { variable, first } => {
                write!(f, "{} is given twice, first in {first}; give every variable once", name(*variable))
            }
            Self::Syntax { expected, found } => write!(
                f,
                "expected {expected}, found `{}`; a counterexample is ((X_0 number) … (Y_0 number) …)",
                cut(found)
            ),
            Self::Variable(found) => write!(
                f,
                "`{}` is no variable; inputs are X_0, X_1, … and outputs Y_0, Y_1, …, without leading zeros",
                cut(found)
            ),
            Self::Verdict(found) => write!(
                f,
                "the file begins with `{}`; a counterexample is ((X_0 number) … (Y_0 number) …) after `sat` or nothing",
                cut(found)
            ),
            Self::WrongInputCount { found, expected } => write!(
                f,
                "wrong_input_count {found}/{expected}: {found} input variables are given and the network has {expected} inputs; \
                 take the counterexample of this network"
            ),
            Self::WrongOutputCount { found, expected } => write!(
                f,
                "wrong_output_count {found}/{expected}: {found} output variables are given and the network has {expected} outputs; \
                 take the counterexample of this network"
            ),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{position}: {}", self.fault),
            None => write!(f, "{}", self.fault),
        }
    }
}

impl std::error::Error for ReadError {}
