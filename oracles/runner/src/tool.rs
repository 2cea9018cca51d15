//! A tool, what it may spend, and how it is asked.

use crate::error::{Failure, Fault};
use crate::tail::Tail;
use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

/// A command that answers queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The program, by its path or by a name that is looked up.
    pub program: OsString,
    /// Its arguments. No shell reads them.
    pub arguments: Vec<OsString>,
}

/// Arb through python-flint: `oracles/python`, where `python3` finds it.
impl Default for Tool {
    fn default() -> Self {
        Self { program: "python3".into(), arguments: ["-m", "certkern_oracles.arb"].map(OsString::from).to_vec() }
    }
}

/// What a run may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Time from the start to the end of the tool.
    pub time: Duration,
    /// Bytes on standard output.
    pub output: usize,
}

/// What a tool wrote that ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// The end of its standard error.
    pub stderr: Tail,
}

impl Tool {
    /// Runs the tool on a query and returns what it wrote. Until it ends, `stop` is asked many times a second whether to give up.
    ///
    /// The tool leads a process group of its own. When this returns, that group is killed and the tool is reaped, in every case.
    ///
    /// # Errors
    /// The tool cannot be started, does not end with status 0 within the budget, or leaves its standard output open to a process outside its group.
    pub fn ask(&self, query: &[u8], budget: &Budget, stop: &dyn Fn() -> bool) -> Result<Output, Failure> {
        #[cfg(unix)]
        {
            crate::process::ask(self, query, budget, stop)
        }
        #[cfg(not(unix))]
        {
            let _ = (query, budget, stop);
            Err(self.failed(Fault::Platform, Tail::default()))
        }
    }

    /// This fault of the tool.
    pub(crate) fn failed(&self, fault: Fault, stderr: Tail) -> Failure {
        Failure { command: self.to_string(), fault, stderr }
    }
}

/// The words of the command, in quotes where a shell would need them.
impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%".contains(c);
        for (place, word) in std::iter::once(&self.program).chain(&self.arguments).enumerate() {
            let (word, gap) = (word.to_string_lossy(), if place == 0 { "" } else { " " });
            if !word.is_empty() && word.chars().all(plain) {
                write!(f, "{gap}{word}")?;
            } else {
                write!(f, "{gap}{word:?}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_with_its_words_apart() {
        assert_eq!(Tool::default().to_string(), "python3 -m certkern_oracles.arb");
        let tool = Tool { program: "my tool".into(), arguments: vec!["".into(), "a\nb".into(), "--x=1".into()] };
        assert_eq!(tool.to_string(), r#""my tool" "" "a\nb" --x=1"#);
    }
}
