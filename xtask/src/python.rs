//! The tests of `oracles/python`, by the standard library's own runner.

use crate::stage::{Outcome, Stage};
use std::path::Path;
use std::process::{Command, Stdio};

/// The least number of tests that must have run.
const LEAST: usize = 20;

/// The stage that runs them: the independent reference over the whole corpus, and what needs no torch.
pub(crate) fn stage(root: &Path) -> Stage<'_> {
    let run = || {
        let mut command = Command::new("python3");
        command.args(["-m", "unittest", "discover", "--start-directory", "tests", "--top-level-directory", "."]);
        command.current_dir(root.join("oracles/python")).stdin(Stdio::null());
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => return Outcome { fault: Some(format!("python3: {error}")), ..Outcome::default() },
        };
        let said = String::from_utf8_lossy(&output.stderr);
        print!("{}{said}", String::from_utf8_lossy(&output.stdout));
        judge(&said, output.status.success())
    };
    Stage { name: "test python".to_owned(), minutes: 4.0, run: Box::new(run) }
}

/// Reads `Ran 12 tests in 3.4s` and `FAILED (failures=1, errors=2, skipped=3)`.
fn judge(said: &str, success: bool) -> Outcome {
    let ran = said.lines().filter_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<usize>().ok()).sum();
    let last = said.lines().rev().find(|line| line.starts_with("OK") || line.starts_with("FAILED")).unwrap_or("");
    let number = |name: &str| {
        let found = last.split(['(', ')', ',', ' ']).find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.and_then(|digits| digits.parse::<usize>().ok()).unwrap_or_default()
    };
    let (failed, skipped) = (number("failures") + number("errors"), number("skipped"));
    let fault = if ran < LEAST {
        Some(format!("{ran} tests ran, there were {LEAST} at least"))
    } else if !success && failed == 0 {
        Some("the tests could not be run".to_owned())
    } else {
        None
    };
    Outcome { passed: usize::saturating_sub(ran, failed + skipped), failed, skipped, fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_are_read() {
        let good = judge("....\nRan 25 tests in 3.456s\n\nOK (skipped=2)\n", true);
        assert_eq!((good.passed, good.failed, good.skipped, good.fault), (23, 0, 2, None));
        let bad = judge("Ran 25 tests in 3.456s\n\nFAILED (failures=1, errors=2, skipped=3)\n", false);
        assert_eq!((bad.passed, bad.failed, bad.skipped, bad.fault), (19, 3, 3, None));
        assert!(judge("Ran 3 tests in 0.1s\n\nOK\n", true).fault.is_some());
        assert!(judge("Ran 30 tests in 0.1s\n", false).fault.is_some());
    }
}
