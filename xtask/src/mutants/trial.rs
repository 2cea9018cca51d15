//! Built tests, run with one change switched on.

use super::schema::{ALARM, VARIABLE};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// KiB of memory that tests may take. A change can make a loop endless.
const MEMORY: &str = "8000000";

/// Seconds that a binary of tests may take: these, and the factor times what it takes without a change.
const SECONDS: f64 = 60.0;
const FACTOR: f64 = 10.0;

/// A built binary of tests.
pub(super) struct Binary {
    pub(super) package: &'static str,
    pub(super) path: PathBuf,
    /// The folder of its package, where it runs.
    pub(super) folder: PathBuf,
    /// What it takes without a change.
    pub(super) seconds: f64,
}

/// How tests ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Failed(String),
    Timeout,
}

impl Binary {
    /// Runs the tests with the change of this number switched on, until one fails.
    pub(super) fn run(&self, number: usize) -> Result<End, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"ulimit -v "$0" && exec nice -n 10 "$@""#, MEMORY]).arg(&self.path);
        // Children of tests end with their group.
        shell.process_group(0).current_dir(&self.folder).env(VARIABLE, number.to_string());
        shell.env("CERTKERN_REQUIRE_SHARED", if self.folder.join("../../../shared").is_dir() { "1" } else { "" });
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.spawn().map_err(|error| format!("sh: {error}"))?;
        let end = watched(&mut child, Instant::now() + Duration::from_secs_f64(SECONDS + FACTOR * self.seconds));
        let group =
            Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
        group.map_err(|error| format!("kill: {error}"))?;
        let status = child.wait().map_err(|error| format!("{}: {error}", self.path.display()))?;
        Ok(match end {
            End::Passed if !status.success() => End::Failed("by its end".to_owned()),
            end => end,
        })
    }

    pub(super) fn name(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{} {}", self.package, file.rsplit_once('-').map_or(file.as_str(), |(name, _)| name))
    }
}

/// Reads what a binary of tests says until one fails, it says no more, or the time is over.
fn watched(child: &mut Child, limit: Instant) -> End {
    let (sender, lines) = channel();
    let output = child.stdout.take();
    std::thread::spawn(move || {
        let all = output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok));
        all.map(|line| sender.send(line)).take_while(Result::is_ok).count()
    });
    loop {
        match lines.recv_timeout(limit.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if let Some(test) = failed(&line) {
                    return End::Failed(test.to_owned());
                }
            }
            Err(RecvTimeoutError::Disconnected) => return End::Passed,
            Err(RecvTimeoutError::Timeout) => return End::Timeout,
        }
    }
}

/// The test that failed, if the line of libtest says so.
fn failed(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(|name| name.trim_end_matches(" - should panic"))
}

/// Runs all without a change, and leaves those that reach a switch, in each package the quick ones first.
///
/// # Errors
/// If a test fails without a change, or none notices one.
pub(super) fn measured(binaries: Vec<Binary>) -> Result<Vec<Binary>, String> {
    let (all, mut reached) = (binaries.len(), Vec::new());
    let mut seconds = 0.0;
    for mut binary in binaries {
        let start = Instant::now();
        binary.seconds = FACTOR * SECONDS;
        let end = binary.run(0)?;
        binary.seconds = start.elapsed().as_secs_f64();
        seconds += binary.seconds;
        if end != End::Passed {
            return Err(format!("{}: its tests do not pass without a change: {end:?}", binary.name()));
        }
        if matches!(binary.run(ALARM)?, End::Failed(_)) {
            reached.push(binary);
        }
    }
    let packages = reached.iter().map(|binary| binary.package);
    let order: Vec<&str> = packages.collect();
    let place = |package: &str| order.iter().position(|known| *known == package);
    reached.sort_by(|a, b| place(a.package).cmp(&place(b.package)).then(a.seconds.total_cmp(&b.seconds)));
    println!("{all} binaries of tests pass in {seconds:.0} s, {} of them reach a change", reached.len());
    if reached.is_empty() { Err("no test reaches a change".to_owned()) } else { Ok(reached) }
}

/// Runs tests in this order until one notices the change.
pub(super) fn outcome<'a>(number: usize, binaries: impl Iterator<Item = &'a Binary>) -> Result<Option<String>, String> {
    for binary in binaries {
        match binary.run(number)? {
            End::Passed => {}
            End::Timeout => return Ok(Some(format!("timeout in {}", binary.name()))),
            End::Failed(test) => return Ok(Some(format!("caught by {} {test}", binary.package))),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_named() {
        assert_eq!(failed("test rules::tests::one ... FAILED"), Some("rules::tests::one"));
        assert_eq!(failed("test rules::tests::one ... ok"), None);
        assert_eq!(failed("test rules::tests::one has been running for over 60 seconds"), None);
    }

    #[test]
    fn ends_are_told_apart() {
        let end = |script: &str, seconds: f64| {
            let mut shell = Command::new("sh");
            let mut child = shell.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
            let end = watched(&mut child, Instant::now() + Duration::from_secs_f64(seconds));
            child.kill().unwrap();
            child.wait().unwrap();
            end
        };
        assert_eq!(end("echo 'test a ... ok'", 60.0), End::Passed);
        assert_eq!(
            end("echo 'test a ... ok'; echo 'test b ... FAILED'; exec sleep 60", 60.0),
            End::Failed("b".to_owned())
        );
        assert_eq!(end("exec sleep 60", 0.1), End::Timeout);
    }
}
