//! Stages, their minutes, and the sum.

use crate::cargo;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// What a stage says of itself.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// What went wrong, if something did that is no failed test.
    pub(crate) fault: Option<String>,
}

/// A stage: a name, the minutes that it may take, and what it does.
pub(crate) struct Stage<'a> {
    pub(crate) name: String,
    pub(crate) minutes: f64,
    pub(crate) run: Box<dyn FnOnce() -> Outcome + 'a>,
}

impl<'a> Stage<'a> {
    /// A check that says something, or what is wrong.
    pub(crate) fn check(name: &str, minutes: f64, check: impl FnOnce() -> Result<String, String> + 'a) -> Self {
        let run = || match check() {
            Ok(said) => {
                println!("{said}");
                Outcome::default()
            }
            Err(what) => Outcome { fault: Some(what), ..Outcome::default() },
        };
        Self { name: name.to_owned(), minutes, run: Box::new(run) }
    }

    /// A cargo command that must succeed.
    pub(crate) fn command(root: &'a Path, name: &str, minutes: f64, arguments: &'a [&'a str]) -> Self {
        Self::check(name, minutes, move || match cargo(root).args(arguments).status() {
            Ok(status) if status.success() => Ok(format!("cargo {}: ok", arguments.join(" "))),
            Ok(status) => Err(format!("cargo {}: {status}", arguments.join(" "))),
            Err(error) => Err(format!("cargo: {error}")),
        })
    }
}

/// A finished stage.
struct Row {
    name: String,
    minutes: f64,
    share: f64,
    outcome: Outcome,
}

/// All finished stages.
#[derive(Default)]
pub(crate) struct Tally {
    rows: Vec<Row>,
}

impl Tally {
    /// Runs a stage and keeps what came of it. One that takes longer than its share has failed.
    pub(crate) fn run(&mut self, stage: Stage<'_>) {
        println!("\n== {}", stage.name);
        let start = Instant::now();
        let outcome = (stage.run)();
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        self.add(stage.name, stage.minutes, minutes, outcome);
    }

    fn add(&mut self, name: String, share: f64, minutes: f64, mut outcome: Outcome) {
        if minutes > share && outcome.fault.is_none() {
            outcome.fault = Some(format!("took {minutes:.1} minutes; its share is {share:.1}"));
        }
        if let Some(fault) = &outcome.fault {
            println!("FAILED: {fault}");
        }
        self.rows.push(Row { name, minutes, share, outcome });
    }

    fn passed(&self) -> usize {
        self.rows.iter().map(|row| row.outcome.passed).sum()
    }

    /// Failed tests, and one for each stage that failed otherwise.
    pub(crate) fn failed(&self) -> usize {
        self.rows.iter().map(|row| row.outcome.failed + usize::from(row.outcome.fault.is_some())).sum()
    }

    /// A table of the stages; the last line is the sum.
    pub(crate) fn table(&self) -> String {
        let mut table = format!(
            "\n{:<24} {:>8} {:>6} {:>7} {:>7} {:>8}\n",
            "stage", "minutes", "share", "passed", "failed", "skipped"
        );
        for Row { name, minutes, share, outcome } in &self.rows {
            let Outcome { passed, failed, skipped, fault } = outcome;
            let said = fault.as_ref().and_then(|fault| fault.lines().next()).map(|fault| format!("  {fault}"));
            let said = said.unwrap_or_default();
            let _ =
                writeln!(table, "{name:<24} {minutes:>8.1} {share:>6.1} {passed:>7} {failed:>7} {skipped:>8}{said}");
        }
        let minutes: f64 = self.rows.iter().map(|row| row.minutes).sum();
        let _ =
            writeln!(table, "{:<24} {minutes:>8.1}\n{} passed, {} failed", "together", self.passed(), self.failed());
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_tests_and_broken_stages() {
        let mut tally = Tally::default();
        tally.add("good".to_owned(), 1.0, 0.5, Outcome { passed: 3, skipped: 1, ..Outcome::default() });
        assert_eq!(tally.table().lines().last(), Some("3 passed, 0 failed"));
        tally.add("bad".to_owned(), 1.0, 0.5, Outcome { passed: 1, failed: 2, ..Outcome::default() });
        let fault = Some("broken\nin detail".to_owned());
        tally.add("broken".to_owned(), 1.0, 0.5, Outcome { fault, ..Outcome::default() });
        assert_eq!(tally.table().lines().last(), Some("4 passed, 3 failed"));
        assert!(tally.table().contains("broken\n") && !tally.table().contains("in detail"));
    }

    #[test]
    fn a_stage_over_its_share_has_failed() {
        let mut tally = Tally::default();
        tally.add("slow".to_owned(), 1.0, 1.5, Outcome { passed: 1, ..Outcome::default() });
        assert_eq!(tally.failed(), 1);
        assert!(tally.table().contains("took 1.5 minutes"));
    }
}
