//! The tests of `oracles/python`, by the standard library's own runner, in virtual environments below `target`: one for those that need
//! PyTorch, one for the others.

use crate::stage::{Outcome, Stage};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The least number of tests that must have run, without PyTorch and with it.
const LEAST: usize = 40;
const LEAST_TORCH: usize = 55;
/// What the tests need beside the standard library. The reference needs nothing.
const REQUIREMENTS: &str = "oracles/python/tests/requirements.txt";
const REQUIREMENTS_TORCH: &str = "oracles/python/tests/torch_export/requirements.txt";

/// The stage that runs them: the independent reference over the whole corpus, the schemas, and what else needs no torch. Where `../shared`
/// lies beside the repository, a test that skips itself for want of it fails.
pub(crate) fn stage(root: &Path) -> Stage<'_> {
    let run = || match environment(root) {
        Ok(python) => discover(root, &python, ["tests", "."], LEAST),
        Err(fault) => Outcome { fault: Some(fault), ..Outcome::default() },
    };
    Stage { name: "test python".to_owned(), minutes: 6.0, run: Box::new(run) }
}

/// The stage that runs those that need PyTorch. It is large: where it cannot be installed, the stage skips itself.
pub(crate) fn torch_stage(root: &Path) -> Stage<'_> {
    let run = || match made(root, "target/torch", REQUIREMENTS_TORCH) {
        Ok(python) => discover(root, &python, ["tests/torch_export"; 2], LEAST_TORCH),
        Err(fault) => {
            println!("SKIPPED: {fault}");
            Outcome { skipped: 1, ..Outcome::default() }
        }
    };
    Stage { name: "test torch".to_owned(), minutes: 8.0, run: Box::new(run) }
}

/// Runs the tests below the first folder, whose names begin at the second, in `oracles/python`.
fn discover(root: &Path, python: &Path, [start, top]: [&str; 2], least: usize) -> Outcome {
    let mut command = Command::new(python);
    command.args(["-m", "unittest", "discover", "--verbose", "--start-directory", start]);
    command.args(["--top-level-directory", top]).current_dir(root.join("oracles/python"));
    if root.join("../shared").is_dir() {
        command.env("CERTKERN_REQUIRE_SHARED", "1");
    }
    let output = match run_quietly(&mut command) {
        Ok(output) => output,
        Err(fault) => return Outcome { fault: Some(fault), ..Outcome::default() },
    };
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    print!("{out}{err}");
    judge(&out, &err, output.status.success(), least)
}

fn run_quietly(command: &mut Command) -> Result<Output, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))
}

/// The interpreter of the environment without PyTorch.
///
/// # Errors
/// As [`made`].
pub(crate) fn environment(root: &Path) -> Result<PathBuf, String> {
    made(root, "target/python", REQUIREMENTS)
}

/// The interpreter of an environment with the requirements. One that was made with other requirements is made again.
///
/// # Errors
/// If there is no Python, or pip fails.
fn made(root: &Path, folder: &str, requirements: &str) -> Result<PathBuf, String> {
    let (folder, listed) = (root.join(folder), root.join(requirements));
    let wanted = fs::read_to_string(&listed).map_err(|error| format!("{requirements}: {error}"))?;
    let (python, made) = (folder.join("bin/python"), folder.join("requirements.txt"));
    if fs::read_to_string(&made).is_ok_and(|found| found == wanted) && python.exists() {
        return Ok(python);
    }
    must_succeed(
        Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder),
        "python3 cannot make an environment",
    )?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&listed);
    must_succeed(&mut pip, &format!("pip cannot install {requirements}"))?;
    fs::write(&made, wanted).map_err(|error| format!("{}: {error}", made.display()))?;
    Ok(python)
}

/// Runs a command; `what` and its last line are the fault, and the rest is printed.
fn must_succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let output = run_quietly(command)?;
    if output.status.success() {
        return Ok(());
    }
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let said = format!("{out}{err}");
    print!("{said}");
    Err(format!("{what}: {}", said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing")))
}

/// Reads `Ran 12 tests in 3.4s` and `FAILED (failures=1, errors=2, skipped=3)`. Skipped are those of the runner, and lines `SKIPPED: …` of
/// tests that leave out a part.
fn judge(out: &str, err: &str, success: bool, least: usize) -> Outcome {
    let ran = err.lines().filter_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse::<usize>().ok()).sum();
    let last = err.lines().rev().find(|line| line.starts_with("OK") || line.starts_with("FAILED")).unwrap_or("");
    let number = |name: &str| {
        let found = last.split(['(', ')', ',', ' ']).find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.and_then(|digits| digits.parse::<usize>().ok()).unwrap_or_default()
    };
    let (failed, whole) = (number("failures") + number("errors"), number("skipped"));
    // Behind what the runner says of a test, a line of the test on standard error does not start a line.
    let noted = |line: &&str| line.starts_with("SKIPPED") || line.contains(" ... SKIPPED");
    let parts = out.lines().chain(err.lines()).filter(noted).count();
    let fault = if ran < least {
        Some(format!("{ran} tests ran, there were {least} at least"))
    } else if !success && failed == 0 {
        Some("the tests could not be run".to_owned())
    } else {
        None
    };
    Outcome { passed: usize::saturating_sub(ran, failed + whole), failed, skipped: whole + parts, fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_are_read() {
        let good = judge("", "....\nRan 45 tests in 3.456s\n\nOK (skipped=2)\n", true, LEAST);
        assert_eq!((good.passed, good.failed, good.skipped, good.fault), (43, 0, 2, None));
        let bad = judge("", "Ran 45 tests in 3.456s\n\nFAILED (failures=1, errors=2, skipped=3)\n", false, LEAST);
        assert_eq!((bad.passed, bad.failed, bad.skipped, bad.fault), (39, 3, 3, None));
        assert!(judge("", "Ran 3 tests in 0.1s\n\nOK\n", true, LEAST).fault.is_some());
        assert!(judge("", "Ran 50 tests in 0.1s\n", false, LEAST).fault.is_some());
    }

    #[test]
    fn parts_left_out_are_counted_once_each() {
        let err = "test_a (A) ... skipped 'SKIPPED: no torch'\ntest_b (B) ... SKIPPED: ../shared is absent\nok\n\
                   Ran 45 tests in 1s\n\nOK (skipped=1)\n";
        let outcome = judge("SKIPPED: 3 that need --onnx\n", err, true, LEAST);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped, outcome.fault), (44, 0, 3, None));
    }

    #[test]
    fn a_command_that_fails_says_its_last_line() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo first; echo 'no such version' >&2; exit 3"]);
        assert_eq!(must_succeed(&mut command, "pip fails"), Err("pip fails: no such version".to_owned()));
    }
}
