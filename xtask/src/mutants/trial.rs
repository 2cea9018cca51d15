//! Built tests, run with one change switched on.

use super::schema::{ALARM, NOTES, NOTING, VARIABLE};
use std::collections::{BTreeMap, BTreeSet};
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
    /// The places of changes that its tests reach, and which tests do; all may where none is named.
    reach: BTreeMap<usize, BTreeSet<String>>,
}

/// How tests ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Failed(String),
    Timeout,
}

impl Binary {
    pub(super) fn new(package: &'static str, path: PathBuf, folder: PathBuf) -> Self {
        Self { package, path, folder, seconds: 0.0, reach: BTreeMap::new() }
    }

    /// Runs the tests of these names, all if there are none, with the change of this number switched on, until one fails.
    fn run(&self, number: usize, tests: &BTreeSet<String>) -> Result<End, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"ulimit -v "$0" && exec nice -n 10 "$@""#, MEMORY]).arg(&self.path);
        shell.args(tests.iter().take(1).map(|_| "--exact")).args(tests);
        // Children of tests end with their group.
        shell.process_group(0).current_dir(&self.folder).env(VARIABLE, number.to_string()).env(NOTES, self.notes());
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

    /// What the tests say of a change.
    pub(super) fn outcome(&self, number: usize, tests: &BTreeSet<String>) -> Result<Option<String>, String> {
        Ok(match self.run(number, tests)? {
            End::Passed => None,
            End::Timeout => Some(format!("timeout in {}", self.name())),
            End::Failed(test) => Some(format!("caught by {} {test}", self.package)),
        })
    }

    /// Runs without a change, which must pass, and learns what it takes and reaches. `known` holds measurements of before, in lines.
    fn measure(&mut self, known: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let built = fs::metadata(&self.path).and_then(|data| data.modified()).map_err(failed)?;
        let key = format!("{}\t{built:?}\t", self.path.display());
        let text = fs::read_to_string(known).unwrap_or_default();
        let seconds = text.lines().filter_map(|line| line.strip_prefix(&key)).next_back();
        if let Some(seconds) = seconds {
            self.seconds = seconds.parse().map_err(|error| format!("{}: {error}", known.display()))?;
        } else {
            fs::write(self.notes(), "").map_err(failed)?;
            let start = Instant::now();
            self.seconds = FACTOR * SECONDS;
            let end = self.run(NOTING, &BTreeSet::new())?;
            if end != End::Passed {
                return Err(format!("{}: its tests do not pass without a change: {end:?}", self.name()));
            }
            self.seconds = start.elapsed().as_secs_f64();
            let text = format!("{text}{key}{}\n", self.seconds);
            fs::write(known, text).map_err(|error| format!("{}: {error}", known.display()))?;
        }
        let list = Command::new(&self.path).arg("--list").current_dir(&self.folder).output().map_err(failed)?;
        let notes = fs::read_to_string(self.notes()).map_err(failed)?;
        self.reach = reach(&notes, &String::from_utf8_lossy(&list.stdout));
        Ok(())
    }

    /// The file where places are noted.
    fn notes(&self) -> PathBuf {
        self.path.with_extension("notes")
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

/// The places in notes, with the tests that came there: none is named if a thread came that is not that of a test.
fn reach(notes: &str, list: &str) -> BTreeMap<usize, BTreeSet<String>> {
    let tests: BTreeSet<&str> = list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let mut places: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (place, thread) in notes.lines().filter_map(|line| line.split_once(' ')) {
        if let Ok(place) = place.parse() {
            places.entry(place).or_default().insert(thread.to_owned());
        }
    }
    for threads in places.values_mut() {
        if threads.iter().any(|thread| !tests.contains(thread.as_str())) {
            threads.clear();
        }
    }
    places
}

/// The tests in which changes stand behind switches.
pub(super) struct Tests {
    binaries: Vec<Binary>,
    measured: BTreeMap<&'static str, Vec<Binary>>,
    /// The places of changes.
    places: BTreeMap<usize, usize>,
    /// Where measurements are kept.
    known: PathBuf,
}

impl Tests {
    pub(super) fn new(binaries: Vec<Binary>, places: BTreeMap<usize, usize>, known: PathBuf) -> Self {
        Self { binaries, measured: BTreeMap::new(), places, known }
    }

    /// The tests of a package, the quick ones first. Before the first use they run without a change.
    ///
    /// # Errors
    /// If a test fails without a change, or, of those that reach a place, none fails when all that reach one must.
    pub(super) fn of(&mut self, package: &'static str) -> Result<&[Binary], String> {
        if !self.measured.contains_key(package) {
            let mut binaries: Vec<Binary> = self.binaries.extract_if(.., |binary| binary.package == package).collect();
            let mut alarmed = true;
            for binary in &mut binaries {
                binary.measure(&self.known)?;
                println!("{}: {:.0} s, reaches {} places", binary.name(), binary.seconds, binary.reach.len());
            }
            binaries.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            if let Some(binary) = binaries.iter().find(|binary| !binary.reach.is_empty()) {
                alarmed = matches!(binary.run(ALARM, &BTreeSet::new())?, End::Failed(_));
            }
            if !alarmed {
                return Err(format!("{package}: its tests reach changes, and do not fail when all are switched on"));
            }
            self.measured.insert(package, binaries);
        }
        Ok(self.measured.get(package).map_or(&[], Vec::as_slice))
    }

    /// Runs the tests of a package that reach the change until one notices it.
    pub(super) fn outcome(&mut self, package: &'static str, number: usize) -> Result<Option<String>, String> {
        let place = self.places.get(&number).copied().unwrap_or_default();
        for binary in self.of(package)? {
            if let Some(tests) = binary.reach.get(&place)
                && let Some(said) = binary.outcome(number, tests)?
            {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }
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
    fn tests_are_named_where_no_other_thread_comes() {
        let places = reach("3 a::b\n3 c\n5 a::b\n5 \n", "a::b: test\nc: test\n\n2 tests, 0 benchmarks\n");
        let both = BTreeSet::from(["a::b".to_owned(), "c".to_owned()]);
        assert_eq!(places, BTreeMap::from([(3, both), (5, BTreeSet::new())]));
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
