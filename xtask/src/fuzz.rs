//! `cargo xtask fuzz`: builds the targets of `fuzz/` for libFuzzer, with counters on everything that is compiled, and runs them.

use crate::cargo;
use crate::stage::{Outcome, Stage};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// What libFuzzer wants to know of the code. They work on stable; ASan needs what `RUSTC_BOOTSTRAP` switches on.
const COUNTERS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "--cfg",
    "fuzzing",
];
/// Seconds for each target in CI.
const SECONDS: u64 = 20;
/// Targets that make a whole input of any bytes: short ones do, and what libFuzzer spends on choosing among them is wasted.
const GENERATES: &[&str] = &[
    "arith",
    "func",
    "lowering",
    "soundness",
    "soundness_bound",
    "soundness_nodes",
    "soundness_enclosure",
    "soundness_monotone",
];

/// How to run the targets.
struct Options {
    /// For each target; 0 is no bound.
    seconds: u64,
    /// Executions for each target; 0 is no bound.
    runs: u64,
    only: Option<String>,
    jobs: usize,
    asan: bool,
    /// Not run, but take into the corpora what earlier runs found.
    minimise: bool,
}

/// The stage that runs every target for a while. Skipped, visibly, where there is no C++ compiler for libFuzzer.
pub(crate) fn stage(root: &Path) -> Stage<'_> {
    let run = || {
        if !Command::new("c++").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
            println!("SKIPPED: fuzz/ needs a C++ compiler");
            return Outcome { skipped: 1, ..Outcome::default() };
        }
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let passed = targets(root).map_or(0, |targets| targets.len());
        match all(root, &Options { seconds: SECONDS, runs: 0, only: None, jobs, asan: false, minimise: false }) {
            Ok(said) => {
                println!("{said}");
                Outcome { passed, ..Outcome::default() }
            }
            Err(fault) => Outcome { fault: Some(fault), ..Outcome::default() },
        }
    };
    Stage { name: "fuzz".to_owned(), minutes: 10.0, run: Box::new(run) }
}

/// Runs what the arguments say.
///
/// # Errors
/// If the targets cannot be built, or one of them found something.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut options = Options { seconds: SECONDS, runs: 0, only: None, jobs: 1, asan: false, minimise: false };
    let mut timed = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} wants a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{argument} wants a number, not {text}"));
        match *argument {
            "--seconds" => (options.seconds, timed) = (number(value()?)?, true),
            "--runs" => options.runs = number(value()?)?,
            "--jobs" => options.jobs = usize::try_from(number(value()?)?).unwrap_or(1).max(1),
            "--target" => options.only = Some((*value()?).to_owned()),
            "--asan" => options.asan = true,
            "--minimise" => options.minimise = true,
            other => return Err(format!("{other}? What it takes says `cargo xtask`")),
        }
    }
    if options.runs > 0 && !timed {
        options.seconds = 0;
    }
    all(root, &options)
}

/// The names of the targets.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("fuzz/fuzz_targets: {error}");
    let entries = fs::read_dir(root.join("fuzz/fuzz_targets")).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut names: Vec<String> = paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// Builds, runs as many at a time as there are jobs, and gives a table.
fn all(root: &Path, options: &Options) -> Result<String, String> {
    let mut names = targets(root)?;
    names.retain(|name| options.only.as_ref().is_none_or(|only| only == name));
    if options.minimise {
        names.retain(|name| !GENERATES.contains(&name.as_str()));
    }
    if names.is_empty() {
        return Err("there is no such target in fuzz/fuzz_targets".to_owned());
    }
    let programs = build(root, options.asan)?;
    let waiting = Mutex::new(names.iter().collect::<VecDeque<_>>());
    let next = || waiting.lock().map_or(None, |mut waiting| waiting.pop_front());
    let finished = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..options.jobs.min(names.len()) {
            scope.spawn(|| {
                while let Some(name) = next() {
                    let run = if options.minimise {
                        minimised(root, &programs, name)
                    } else {
                        one(root, &programs, name, options)
                    };
                    println!("{}", run.as_ref().map_or_else(|fault| format!("{name}: {fault}"), |row| row.clone()));
                    if let Ok(mut finished) = finished.lock() {
                        finished.push(run);
                    }
                }
            });
        }
    });
    let runs = finished.into_inner().map_err(|_| "a job was lost".to_owned())?;
    let mut faults = runs.iter().filter_map(|run| run.as_ref().err()).cloned().collect::<Vec<_>>();
    if runs.len() != names.len() {
        faults.push(format!("{} of {} targets ran", runs.len(), names.len()));
    }
    match (faults.is_empty(), options.minimise) {
        (true, false) => Ok(format!("{} targets found nothing", runs.len())),
        (true, true) => Ok(format!("{} corpora in fuzz/corpus", runs.len())),
        (false, _) => Err(faults.join("\n")),
    }
}

/// Builds all targets; the folder with the programs.
fn build(root: &Path, asan: bool) -> Result<PathBuf, String> {
    let host = host()?;
    let mut flags: Vec<&str> = COUNTERS.to_vec();
    if asan {
        flags.push("-Zsanitizer=address");
    }
    let target = root.join(if asan { "target/fuzz-asan" } else { "target/fuzz" });
    let mut command = cargo(root);
    command.current_dir(root.join("fuzz")).env("CARGO_TARGET_DIR", &target);
    // For what is compiled for the target alone, not for build scripts.
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).args([
        "build",
        "--locked",
        "--release",
        "--target",
        &host,
    ]);
    if asan {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    match command.status() {
        Ok(status) if status.success() => Ok(target.join(host).join("release")),
        Ok(status) => Err(format!("cargo build in fuzz: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(ToOwned::to_owned).ok_or_else(|| "rustc names no host".to_owned())
}

/// Runs a target: what it came to, or what it found.
fn one(root: &Path, programs: &Path, name: &str, options: &Options) -> Result<String, String> {
    let home = root.join("target/fuzz-runs").join(name);
    let grown = home.join("corpus");
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&grown).map_err(|error| failed(&grown, error))?;
    let log = home.join("log");
    let file = fs::File::create(&log).map_err(|error| failed(&log, error))?;
    let mut command = Command::new(programs.join(name));
    command.arg(format!("-max_total_time={}", options.seconds)).arg(format!("-artifact_prefix={}/", home.display()));
    if options.runs > 0 {
        command.arg(format!("-runs={}", options.runs));
    }
    command.args(["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    if GENERATES.contains(&name) {
        command.args(["-max_len=64", "-len_control=0", "-entropic=0", "-reduce_inputs=0"]);
    } else {
        command.arg("-max_len=16384");
    }
    let words = root.join("fuzz/dictionaries").join(name).with_extension("dict");
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    command.arg(&grown).arg(root.join("fuzz/corpus").join(name)).current_dir(&home);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).status();
    let status = status.map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&fs::read(&log).map_err(|error| failed(&log, error))?).into_owned();
    if status.success() {
        return Ok(row(name, &text));
    }
    let last: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("panicked") || line.contains("ERROR") || line.contains("written to"))
        .collect();
    Err(format!("{name}: {status}\n{}\nthe log is {}", last.join("\n"), log.display()))
}

/// Adds to the committed corpus of a target what earlier runs found and no input there reaches: few inputs, and short ones, that reach as many edges.
fn minimised(root: &Path, programs: &Path, name: &str) -> Result<String, String> {
    let home = root.join("target/fuzz-runs").join(name);
    let committed = root.join("fuzz/corpus").join(name);
    let count =
        || fs::read_dir(&committed).map_err(|error| format!("{}: {error}", committed.display())).map(Iterator::count);
    let before = count()?;
    let mut command = Command::new(programs.join(name));
    command.args(["-set_cover_merge=1", "-use_counters=0", "-max_len=4096", "-timeout=60", "-rss_limit_mb=2048"]);
    command.arg(&committed).arg(home.join("corpus")).current_dir(&home).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("{name}: {error}: what did earlier runs find?"))?;
    if output.status.success() {
        return Ok(format!("{name:<20} {before:>5} inputs, {:>5} now", count()?));
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{name}: {}\n{}", output.status, said.lines().next_back().unwrap_or_default()))
}

/// What a log says: runs, runs in a second, covered edges, memory, and the counts of the target.
fn row(name: &str, log: &str) -> String {
    let last = |mark: &str| log.lines().rev().find_map(|line| line.split_once(mark)).map(|(_, rest)| rest.trim());
    let word = |mark: &str| last(mark).and_then(|rest| rest.split_whitespace().next()).unwrap_or("?").to_owned();
    let [runs, speed, memory] = ["number_of_executed_units:", "average_exec_per_sec:", "peak_rss_mb:"]
        .map(|mark| word(&format!("stat::{mark}")));
    let counts = last(&format!("TALLY {name}: ")).unwrap_or("none");
    format!("{name:<20} {runs:>9} runs {speed:>7}/s {:>7} edges {memory:>5} MB  {counts}", word(" cov: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read() {
        let log = "#1\tINITED cov: 3 ft: 4 corp: 1/1b\nTALLY json: accepted=1\n#9 DONE cov: 12 ft: 15 corp: 5/9b\nTALLY json: accepted=2, runs=8\nstat::number_of_executed_units: 9\nstat::average_exec_per_sec:     4\nstat::peak_rss_mb:              42\n";
        let row = row("json", log);
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>().join(" "),
            "json 9 runs 4/s 12 edges 42 MB accepted=2, runs=8"
        );
    }

    #[test]
    fn targets_that_generate_exist() {
        let names = targets(&crate::root()).unwrap();
        assert!(names.len() >= 16 && GENERATES.iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
        assert!(names.iter().all(|name| crate::root().join("fuzz/corpus").join(name).is_dir()));
    }
}
