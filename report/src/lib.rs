//! Verdicts in words: rejections with place, reason and way out, and the report of a theorem for people and for scripts.
//!
//! Nothing here decides. What was proved, how each part of it is known and what is left to believe is data of the
//! [`Theorem`](certkern_seal::Theorem), and the verdict line is the kernel's. A fault here is a wrong word beside them.

pub mod decimal;
mod json;
mod rejection;
mod theorem;

pub use rejection::{Shown, Words};

use certkern_seal::Verdict;
use json::Object;
use std::fmt::Write;

/// All that a verdict says.
#[derive(Debug)]
pub struct Report<'a> {
    verdict: &'a Verdict,
}

impl<'a> Report<'a> {
    /// The report of a verdict.
    #[must_use]
    pub fn of(verdict: &'a Verdict) -> Self {
        Self { verdict }
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        match self.verdict {
            Verdict::Accepted(theorem) => theorem::text(theorem),
            Verdict::Rejected(rejection) => {
                let mut text = String::new();
                let _ = writeln!(text, "{}", Words(rejection));
                text
            }
        }
    }

    /// The report for scripts: `certkern.report.v1`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut report = Object::default();
        report.string("format", "certkern.report.v1");
        report.string("verdict", self.verdict.name());
        report.string("line", &self.verdict.line());
        report.number("exit_code", usize::from(self.verdict.exit_code()));
        match self.verdict {
            Verdict::Accepted(theorem) => theorem::json(theorem, &mut report),
            Verdict::Rejected(rejection) => rejection::json(rejection, &mut report),
        }
        report.finish()
    }
}
