//! `cargo xtask coverage`: which lines of the kernel the tests run.
//!
//! Kernel, tests and binary are built with `-Cinstrument-coverage`, the tests are run, and what llvm-cov says is counted over the lines of code of
//! the kernel, without tests. llvm-profdata and llvm-cov must be those of the compiler: `rustup component add llvm-tools`.

use crate::code_lines::{entries, weigh};
use crate::members::MEMBERS;
use crate::{cargo, output_of};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The least share of the kernel's lines that the tests must run, in percent.
const LEAST: f64 = 95.0;

/// Members whose tests say nothing of the kernel.
const APART: [&str; 4] = ["certkern-float-unit", "certkern-runner", "certkern-bench", "xtask"];

/// How often each line of a file ran.
type Counts = BTreeMap<usize, u64>;

/// Lines that can run, and those that did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    lines: usize,
    ran: usize,
}

/// Builds, runs, counts, and lists the lines that did not run in `coverage/uncovered.txt` of cargo's target folder.
///
/// # Errors
/// If a tool is absent or fails, a test fails, or fewer lines ran than must.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let tools = tools()?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |path| root.join(path))
        .join("coverage");
    let profiles = target.join("profiles");
    let cargo_test = |extra: &[&str]| {
        let mut cargo = cargo(root);
        cargo.args(["test", "--locked", "--tests", "--no-fail-fast", "--target-dir"]).arg(&target).args(extra);
        cargo.args(
            MEMBERS.iter().map(|member| member.name).filter(|name| !APART.contains(name)).flat_map(|name| ["-p", name]),
        );
        // Processes that run one binary at the same time add to one of four files.
        cargo.env("LLVM_PROFILE_FILE", profiles.join("%4m.profraw")).env("RUSTFLAGS", "-Cinstrument-coverage");
        // Without incremental compilation small functions are inlined across crates, and llvm-cov keeps the counts of the copy that nothing calls.
        cargo.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
        cargo
    };
    let built = output_of(
        cargo_test(&["--no-run", "--message-format=json-render-diagnostics"]).stderr(std::process::Stdio::inherit()),
    )?;
    // Those of build scripts and of earlier runs.
    if profiles.is_dir() {
        fs::remove_dir_all(&profiles).map_err(|error| format!("{}: {error}", profiles.display()))?;
    }
    let passed = cargo_test(&[]).status().map_err(|error| format!("cargo: {error}"))?.success();
    let data = target.join("kernel.profdata");
    let raw = entries(&profiles)?;
    output_of(Command::new(tools.join("llvm-profdata")).args(["merge", "--sparse", "-o"]).arg(&data).args(raw))?;
    let mut export = Command::new(tools.join("llvm-cov"));
    export.args(["export", "--format=lcov", "--instr-profile"]).arg(&data);
    export.args(executables(&built).into_iter().flat_map(|path| ["--object".to_owned(), path]));
    let counts = counts(&output_of(export.arg("--sources").arg(root.join("kernel")))?);
    let list = target.join("uncovered.txt");
    let (total, table) = tell(root, &counts, &list)?;
    let said = format!("{table}\nthe lines that did not run: {}", list.display());
    match (passed, total.percent() >= LEAST) {
        (true, true) => Ok(said),
        (false, _) => Err(format!("{said}\ntests failed")),
        (_, false) => Err(format!("{said}\nless than {LEAST} %")),
    }
}

/// The folder of the compiler's own llvm-profdata and llvm-cov.
fn tools() -> Result<PathBuf, String> {
    let rustc = |what: &[&str]| output_of(Command::new("rustc").args(what));
    let version = rustc(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let folder = Path::new(rustc(&["--print", "sysroot"])?.trim()).join("lib/rustlib").join(host).join("bin");
    if folder.join(format!("llvm-cov{}", std::env::consts::EXE_SUFFIX)).is_file() {
        return Ok(folder);
    }
    Err(format!("no llvm-cov in {}: rustup component add llvm-tools", folder.display()))
}

/// The executables that cargo names in its messages, one JSON object a line.
fn executables(messages: &str) -> Vec<String> {
    let named = messages.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    named.map(|path| path.replace("\\\\", "\\")).collect()
}

/// What an export of llvm-cov in the format of lcov says of each file.
fn counts(export: &str) -> BTreeMap<PathBuf, Counts> {
    let mut files: BTreeMap<PathBuf, Counts> = BTreeMap::new();
    let mut file = PathBuf::new();
    for line in export.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            file = path.into();
        } else if let Some((line, count)) = line.strip_prefix("DA:").and_then(|rest| rest.split_once(','))
            && let (Ok(line), Ok(count)) = (line.parse(), count.parse::<u64>())
        {
            let before = files.entry(file.clone()).or_default().entry(line).or_default();
            *before = before.saturating_add(count);
        }
    }
    files
}

/// The sum and the table by crate; the lines that did not run go into a file.
fn tell(root: &Path, counts: &BTreeMap<PathBuf, Counts>, list: &Path) -> Result<(Share, String), String> {
    let (mut total, mut table, mut uncovered) = (Share::default(), Share::head(), String::new());
    for folder in entries(&root.join("kernel"))? {
        let source = folder.join("src");
        if !source.is_dir() {
            continue;
        }
        let mut sum = Share::default();
        for (path, code) in weigh(&source)? {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let Some(counts) = counts.get(&path) else { continue };
            let (share, idle) = judged(&code, counts);
            sum.add(share);
            let name = path.strip_prefix(root).unwrap_or(&path).display();
            for line in idle {
                let shown = text.lines().nth(line - 1).unwrap_or_default().trim();
                let _ = writeln!(uncovered, "{name}:{line}: {shown}");
            }
        }
        total.add(sum);
        table += &sum.row(&folder.strip_prefix(root).unwrap_or(&folder).display().to_string());
    }
    table += &total.row("kernel");
    fs::write(list, uncovered).map_err(|error| format!("{}: {error}", list.display()))?;
    Ok((total, table))
}

/// How many lines of code can run and did, and those that did not.
fn judged(code: &[usize], counts: &Counts) -> (Share, Vec<usize>) {
    let able: Vec<usize> = code.iter().copied().filter(|line| counts.contains_key(line)).collect();
    let idle: Vec<usize> = able.iter().copied().filter(|line| counts[line] == 0).collect();
    (Share { lines: able.len(), ran: able.len() - idle.len() }, idle)
}

impl Share {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.ran += other.ran;
    }

    #[expect(clippy::cast_precision_loss, reason = "there are far fewer lines than 2^52")]
    fn percent(self) -> f64 {
        100.0 * self.ran as f64 / self.lines as f64
    }

    fn head() -> String {
        "| crate | lines that can run | did not | covered |\n| --- | --- | --- | --- |\n".to_owned()
    }

    fn row(self, name: &str) -> String {
        format!("| `{name}` | {} | {} | {:.2} % |\n", self.lines, self.lines - self.ran, self.percent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As llvm-cov writes it: a function of which two instances exist, one in each of two records.
    const EXPORT: &str = "\
SF:/a/kernel/core/src/lib.rs
FN:3,f
FNDA:1,f
DA:3,1
DA:4,0
DA:5,18446744073709551615
BRF:0
end_of_record
SF:/a/kernel/core/src/lib.rs
DA:4,0
DA:5,2
DA:9,0
end_of_record
";

    #[test]
    fn lines_of_code_that_can_run_are_counted() {
        let files = counts(EXPORT);
        // Line 3 is no code, line 9 belongs to a test, line 6 cannot run.
        let (share, idle) = judged(&[4, 5, 6], &files[Path::new("/a/kernel/core/src/lib.rs")]);
        assert_eq!((share, idle), (Share { lines: 2, ran: 1 }, vec![4]));
        assert_eq!(share.row("kernel/core"), "| `kernel/core` | 2 | 1 | 50.00 % |\n");
    }

    #[test]
    fn executables_are_found_in_messages() {
        let messages = r#"{"reason":"compiler-artifact","executable":null,"fresh":true}
{"reason":"compiler-artifact","executable":"/a/deps/core-1","fresh":true}"#;
        assert_eq!(executables(messages), ["/a/deps/core-1"]);
    }
}
