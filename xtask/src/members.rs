//! The members of the workspace, and their tests.

use crate::stage::{Outcome, Stage};
use crate::{cargo, output_of_cargo};
use std::path::Path;
use std::process::{Command, Stdio};

/// A member, and what its tests must come to.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    /// The least number of tests that must have passed. A lower number means that tests got lost.
    least: usize,
    /// Minutes that building and running them may take.
    minutes: f64,
}

/// The packages of the kernel, with their folders.
pub(crate) const KERNEL: [(&str, &str); 5] = [
    ("kernel/core", "certkern-core"),
    ("kernel/wire", "certkern-wire"),
    ("kernel/graph", "certkern-graph"),
    ("kernel/seal", "certkern-seal"),
    ("kernel/claims", "certkern-claims"),
];

/// Each stands after those that it uses.
pub(crate) const MEMBERS: &[Member] = &[
    Member { name: "certkern-core", least: 72, minutes: 4.0 },
    Member { name: "certkern-wire", least: 41, minutes: 3.0 },
    Member { name: "certkern-graph", least: 42, minutes: 3.0 },
    Member { name: "certkern-seal", least: 5, minutes: 2.0 },
    Member { name: "certkern-claims", least: 15, minutes: 4.0 },
    Member { name: "certkern-report", least: 8, minutes: 2.0 },
    Member { name: "certkern-onnx", least: 40, minutes: 5.0 },
    Member { name: "certkern-abcrown", least: 45, minutes: 4.0 },
    Member { name: "certkern-counterexample", least: 13, minutes: 2.0 },
    Member { name: "certkern-runner", least: 14, minutes: 2.0 },
    Member { name: "certkern-torchlean", least: 10, minutes: 2.0 },
    Member { name: "certkern-torch", least: 8, minutes: 2.0 },
    Member { name: "certkern-cudakern", least: 9, minutes: 3.0 },
    Member { name: "certkern", least: 80, minutes: 8.0 },
    Member { name: "certkern-certmutants", least: 12, minutes: 4.0 },
    Member { name: "certkern-float-unit", least: 2, minutes: 1.0 },
    Member { name: "certkern-fuzz", least: 10, minutes: 4.0 },
    Member { name: "certkern-bench", least: 9, minutes: 3.0 },
    Member { name: "xtask", least: 17, minutes: 1.0 },
];

/// The one member of the workspace in `tests/inari`. On a fresh machine most of its minutes are those of GMP and MPFR.
pub(crate) const INARI: Member = Member { name: "certkern-inari", least: 32, minutes: 10.0 };

impl Member {
    /// The stage that runs the tests of this member. Where `../shared` lies beside the repository, a test that skips itself fails.
    pub(crate) fn stage<'a>(&'a self, root: &'a Path) -> Stage<'a> {
        let run = || {
            let mut command = cargo(root);
            if root.join("../shared").is_dir() {
                command.env("CERTKERN_REQUIRE_SHARED", "1");
            }
            self.tests(command)
        };
        self.stage_of(run)
    }

    /// The stage of this member that does something else.
    pub(crate) fn stage_of<'a>(&self, run: impl FnOnce() -> Outcome + 'a) -> Stage<'a> {
        Stage { name: format!("test {}", self.name), minutes: self.minutes, run: Box::new(run) }
    }

    /// Builds and runs the tests with this cargo.
    pub(crate) fn tests(&self, mut cargo: Command) -> Outcome {
        cargo.args(["test", "--locked", "--no-fail-fast", "-p", self.name, "--", "--show-output"]);
        let output = match cargo.stderr(Stdio::inherit()).output() {
            Ok(output) => output,
            Err(error) => return Outcome { fault: Some(format!("cargo: {error}")), ..Outcome::default() },
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let outcome = self.judge(&text, output.status.success());
        if outcome.fault.is_some() || outcome.failed > 0 {
            println!("{text}");
        }
        outcome
    }

    fn judge(&self, output: &str, success: bool) -> Outcome {
        let mut outcome = count(output);
        let Outcome { passed, failed, .. } = outcome;
        if !success && failed == 0 {
            outcome.fault = Some("the tests could not be built or run".to_owned());
        } else if passed + failed < self.least {
            outcome.fault = Some(format!("{} tests ran, there were {} at least", passed + failed, self.least));
        }
        outcome
    }
}

/// Adds up the lines `test result: …` of libtest, and the notes of tests that skipped themselves.
fn count(output: &str) -> Outcome {
    let mut outcome = Outcome::default();
    for line in output.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            // ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
            let words: Vec<&str> = result.split([' ', ';']).collect();
            let before = |word: &str| {
                let place = words.iter().position(|found| *found == word).and_then(|place| place.checked_sub(1));
                place.and_then(|place| words[place].parse::<usize>().ok()).unwrap_or_default()
            };
            outcome.passed += before("passed");
            outcome.failed += before("failed");
        } else if line.starts_with("SKIPPED:") {
            outcome.skipped += 1;
        }
    }
    outcome
}

/// Every member of the workspace is in the table above, so that none goes untested.
///
/// # Errors
/// The difference.
pub(crate) fn all_are_known(root: &Path) -> Result<String, String> {
    let tree = output_of_cargo(root, &["tree", "--locked", "--workspace", "--depth", "0", "--prefix", "none"])?;
    let mut found: Vec<&str> =
        tree.lines().filter_map(|line| line.split(' ').next()).filter(|n| !n.is_empty()).collect();
    let mut known: Vec<&str> = MEMBERS.iter().map(|member| member.name).collect();
    found.sort_unstable();
    known.sort_unstable();
    if found == known {
        Ok(format!("{} members", known.len()))
    } else {
        Err(format!("members {found:?}, known {known:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As libtest prints it.
    const OUTPUT: &str = "
running 3 tests
test a ... ok
test b ... ok
test c ... FAILED

successes:

---- a stdout ----
SKIPPED: ../shared is absent

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s

running 4 tests

test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.41s
";

    const MEMBER: Member = Member { name: "some", least: 7, minutes: 1.0 };

    #[test]
    fn results_are_added_up() {
        let outcome = MEMBER.judge(OUTPUT, false);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped, outcome.fault), (6, 1, 1, None));
    }

    #[test]
    fn lost_tests_are_a_fault() {
        let lost = Member { least: 8, ..MEMBER };
        assert_eq!(lost.judge(OUTPUT, false).fault.as_deref(), Some("7 tests ran, there were 8 at least"));
        assert!(MEMBER.judge("", true).fault.is_some());
    }

    #[test]
    fn what_does_not_build_is_a_fault() {
        assert_eq!(MEMBER.judge("", false).fault.as_deref(), Some("the tests could not be built or run"));
    }
}
