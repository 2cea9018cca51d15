//! Why a tool gave no answer.

use crate::document::Document;
use crate::tail::Tail;
use crate::tool::{Output, Tool};
use certkern_report::Words;
use certkern_wire::{Limits, Rejection};
use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// What went wrong with a run. The text of each names the way out.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Standard output is not one JSON document.
    Document {
        /// What the kernel's reader says.
        rejection: Rejection,
        /// The text from the place of the fault on, cut, if it has a place.
        found: Option<String>,
    },
    /// The tool ended well, and a process outside its group keeps its standard output open.
    Held,
    /// The run was given up from outside.
    Interrupted,
    /// More than so many bytes came to standard output.
    Output {
        /// The bytes that were allowed.
        limit: usize,
    },
    /// Reading, writing or waiting failed.
    Pipe(io::Error),
    /// The system has no process groups.
    Platform,
    /// The command cannot be started.
    Start(io::Error),
    /// The tool ended with another status than 0.
    Status(ExitStatus),
    /// The tool had not ended after so long.
    Time {
        /// The time that was allowed.
        limit: Duration,
    },
}

/// Why a tool gave no answer: the command with its arguments, what went wrong, and the end of what it wrote to standard error.
#[derive(Debug)]
pub struct Failure {
    /// The words of the command.
    pub command: String,
    /// What went wrong.
    pub fault: Fault,
    /// The end of its standard error.
    pub stderr: Tail,
}

impl Tool {
    /// The one JSON document that the tool wrote to standard output; else, why it is none.
    ///
    /// # Errors
    /// [`Fault::Document`]. A banner before or after the document is one.
    pub fn answered<'a>(&self, output: &'a Output, limits: &Limits) -> Result<Document<'a>, Failure> {
        Document::read(&output.stdout, limits).map_err(|rejection| {
            let rest = rejection.first().place.offset.and_then(|offset| output.stdout.get(offset..));
            let found = rest.map(|rest| cut(&String::from_utf8_lossy(rest)));
            self.failed(Fault::Document { rejection, found }, output.stderr.clone())
        })
    }
}

/// The beginning of a text on one line.
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
            Self::Document { rejection, found } => {
                let fault = rejection.first();
                write!(f, "its standard output is not one JSON document: {}", fault.reason.code())?;
                match (fault.place.offset, found.as_deref()) {
                    (Some(offset), Some("")) => write!(f, " at its end, byte {offset}")?,
                    (Some(offset), Some(found)) => write!(f, " at byte {offset}, `{found}`")?,
                    _ => {}
                }
                write!(f, " ({}); a tool writes its answer there and nothing else, all the rest to standard error", Words(&fault.reason))
            }
            Self::Held => f.write_str(
                "it ended, and a process that it started and that left its group keeps its standard output open, so the answer may be \
                 incomplete; a tool waits for its own processes",
            ),
            Self::Interrupted => f.write_str("it was stopped by a signal to this command"),
            Self::Output { limit } => write!(
                f,
                "more than {limit} bytes came to its standard output, and it was killed; ask for less at a time, or allow more (--max-output)"
            ),
            Self::Pipe(error) => write!(f, "talking to it failed, and it was killed: {error}; run it again"),
            Self::Platform => f.write_str("tools are run on Unix alone; run it by hand and join query and answer"),
            Self::Start(error) => write!(f, "it cannot be started: {error}; name a program that exists and may be executed (--tool)"),
            Self::Status(status) => {
                write!(f, "it ended with {status}, so its standard output was not read; run it by hand on the query to see why")
            }
            Self::Time { limit } => {
                write!(f, "it had not ended after {} s and was killed; ask for less at a time, or allow more (--timeout)", limit.as_secs_f64())
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, fault, stderr } = self;
        write!(f, "`{command}`: {fault}")?;
        match fault {
            Fault::Start(_) | Fault::Platform | Fault::Interrupted => Ok(()),
            _ => write!(f, "\n{stderr}"),
        }
    }
}

impl std::error::Error for Failure {}
