//! Programs that are timed: how long, how much processor time, how much memory.

use crate::bundle::Said;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// Threads that numpy's linear algebra may have.
const ONE_THREAD: [&str; 4] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"];

/// A program that has ended.
pub(crate) struct Run {
    pub(crate) seconds: f64,
    /// Processor time.
    pub(crate) cpu: f64,
    pub(crate) peak_mb: f64,
    pub(crate) output: String,
}

/// Runs a program to its end; what it writes to standard error is passed on.
///
/// # Errors
/// If it cannot be run.
pub(crate) fn run(command: &mut Command) -> Said<Run> {
    let program = command.get_program().to_string_lossy().into_owned();
    let said = |error: std::io::Error| format!("{program}: {error}");
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(said)?;
    let mut output = String::new();
    let pipe = child.stdout.take();
    pipe.map_or(Ok(0), |mut pipe| pipe.read_to_string(&mut output)).map_err(said)?;
    let usage = child.wait4().map_err(said)?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu = (usage.rusage.utime + usage.rusage.stime).as_secs_f64();
    // Linux counts in kibibytes, and wait4 passes that on as bytes.
    let peak_mb = usage.rusage.maxrss as f64 / 1024.0 / 1024.0;
    Ok(Run { seconds, cpu, peak_mb, output })
}

/// A check by the command line, which must accept.
pub(crate) struct Checked {
    pub(crate) run: Run,
    /// Entries closed in binary64, and exactly.
    pub(crate) filter: usize,
    pub(crate) exact: usize,
}

/// Checks a bundle with `jobs` threads.
///
/// # Errors
/// What the checker said, if it does not accept.
pub(crate) fn check(checker: &Path, bundle: &Path, jobs: usize, arith: &str) -> Said<Checked> {
    let mut command = Command::new(checker);
    command.arg("check").arg(bundle).args(["--jobs", &jobs.to_string(), "--arith", arith]);
    let run = run(&mut command)?;
    let last = run.output.lines().next_back().unwrap_or_default();
    if !last.starts_with("s ACCEPTED unsat ") {
        return Err(format!("{}: {}", bundle.display(), run.output));
    }
    let counts = run.output.lines().find_map(|line| line.strip_prefix("Counts: ")).unwrap_or_default();
    let count = |name: &str| {
        let mut counts = counts.trim_end_matches('.').split(", ");
        counts.find_map(|count| count.strip_suffix(name)?.trim().parse().ok()).unwrap_or_default()
    };
    Ok(Checked { filter: count(" filter"), exact: count(" exact"), run })
}

/// A program in Python that answers each line with a line of JSON.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts the interpreter.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(python: &Path, arguments: &[String]) -> Said<Self> {
        let mut command = Command::new(python);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.envs(ONE_THREAD.map(|name| (name, "1")));
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", python.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipe to the interpreter".to_owned());
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// What it answers to a line.
    ///
    /// # Errors
    /// If it has failed.
    pub(crate) fn ask(&mut self, question: &str) -> Said<Value> {
        let mut line = String::new();
        let asked = writeln!(self.input, "{question}").and_then(|()| self.input.flush());
        asked.and_then(|()| self.output.read_line(&mut line)).map_err(|error| format!("python: {error}"))?;
        serde_json::from_str(&line).map_err(|error| format!("python: {error}: {line}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Without input it ends by itself; if not, nobody waits for it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets processor and disk come to rest between runs.
pub(crate) fn rest() {
    std::thread::sleep(Duration::from_millis(20));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_timed_and_its_memory_counted() {
        // A shell that fills a variable with 8 MiB.
        let script = "x=$(head -c 8388608 /dev/zero | tr '\\0' a); echo ${#x}";
        let run = run(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(run.output, "8388608\n");
        assert!(run.seconds > 0.0 && run.peak_mb > 8.0 && run.peak_mb < 500.0, "{}", run.peak_mb);
    }
}
