//! Built tests, run with one change switched on.

use super::schema::{ALARM, VARIABLE};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
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
            End::Passed if !status.success() => End::Failed(format!("by its end ({status})")),
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

/// The tests in which changes stand behind switches.
pub(super) struct Tests {
    binaries: Vec<Binary>,
    measured: BTreeMap<&'static str, Vec<Binary>>,
    /// Where measurements are kept, in lines: binary, when it was built, seconds, whether it reaches a switch.
    notes: PathBuf,
}

impl Tests {
    pub(super) fn new(binaries: Vec<Binary>, notes: PathBuf) -> Self {
        Self { binaries, measured: BTreeMap::new(), notes }
    }

    /// The tests of a package that reach a switch, the quick ones first. Before the first use they run without a change.
    ///
    /// # Errors
    /// If a test fails without a change.
    pub(super) fn of(&mut self, package: &'static str) -> Result<&[Binary], String> {
        if !self.measured.contains_key(package) {
            let mut reached = Vec::new();
            for binary in self.binaries.extract_if(.., |binary| binary.package == package) {
                reached.extend(measured(binary, &self.notes)?);
            }
            reached.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            self.measured.insert(package, reached);
        }
        Ok(self.measured.get(package).map_or(&[], Vec::as_slice))
    }
}

/// Runs a binary without a change, which must pass, and with all switches on: none if nothing is noticed then.
fn measured(mut binary: Binary, notes: &Path) -> Result<Option<Binary>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", binary.path.display());
    let built = fs::metadata(&binary.path).and_then(|data| data.modified()).map_err(failed)?;
    let key = format!("{}\t{built:?}\t", binary.path.display());
    let text = fs::read_to_string(notes).unwrap_or_default();
    let noted = text.lines().filter_map(|line| line.strip_prefix(&key)?.split_once('\t')).next_back();
    let reaches = if let Some((seconds, reaches)) = noted {
        binary.seconds = seconds.parse().map_err(|error| format!("{}: {error}", notes.display()))?;
        reaches == "true"
    } else {
        let start = Instant::now();
        binary.seconds = FACTOR * SECONDS;
        let end = binary.run(0)?;
        if end != End::Passed {
            return Err(format!("{}: its tests do not pass without a change: {end:?}", binary.name()));
        }
        binary.seconds = start.elapsed().as_secs_f64();
        let reaches = matches!(binary.run(ALARM)?, End::Failed(_));
        println!("{}: {:.0} s, reaches a change: {reaches}", binary.name(), binary.seconds);
        let text = format!("{text}{key}{}\t{reaches}\n", binary.seconds);
        fs::write(notes, text).map_err(|error| format!("{}: {error}", notes.display()))?;
        reaches
    };
    Ok(reaches.then_some(binary))
}

/// Runs tests in this order until one notices the change.
pub(super) fn outcome(number: usize, binaries: &[Binary]) -> Result<Option<String>, String> {
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
