//! `cargo xtask mutants`: a seeded sample of cargo-mutants' changes to the kernel, each of which the tests should catch.
//!
//! cargo-mutants only lists the changes. They are made here, one at a time, in a copy of the repository in `target/mutants`, of which
//! little is built again, and tried on the tests that are nearest first. Outcomes are kept in `docs/mutants`; a change that has one there
//! is not tried again, so that a campaign can be interrupted and goes on where it was.

use crate::planted::{failed_tests, git_apply, renew};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Where the outcomes lie, in a file for each area and seed.
const FOLDER: &str = "docs/mutants";

/// The packages of the kernel, with their folders, and the binary: each stands after those that it uses.
const PACKAGES: [(&str, &str); 6] = [
    ("kernel/core/", "certkern-core"),
    ("kernel/wire/", "certkern-wire"),
    ("kernel/graph/", "certkern-graph"),
    ("kernel/seal/", "certkern-seal"),
    ("kernel/claims/", "certkern-claims"),
    ("cli/", "certkern"),
];

/// The area `rules`; what else the kernel has is the area `rest`.
const RULES: [&str; 3] = ["kernel/core/src/rules/", "kernel/seal/", "kernel/claims/"];

/// KiB of memory and seconds that tests may take. A change can make a loop endless.
const TESTS: [&str; 2] = ["8000000", "300"];

/// The same for a build.
const BUILD: [&str; 2] = ["unlimited", "3600"];

/// What the command line asks for.
struct Request {
    seed: u64,
    /// How many changes that build are drawn.
    sample: usize,
    area: String,
    /// Only list what would be tried.
    list: bool,
    /// Try again those that were missed.
    missed: bool,
}

/// A change that cargo-mutants lists.
struct Mutant {
    /// File, change, the line before it and, of several that agree in these, which: what names it although lines move.
    name: String,
    file: String,
    patch: String,
}

/// Draws the sample, tries what has no outcome yet, and counts.
///
/// # Errors
/// If cargo-mutants or git fails, or if tests fail on the unchanged kernel.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let request = request(arguments)?;
    let mutants = drawn(listed(root)?, &request);
    let path = root.join(FOLDER).join(format!("{}-{}.txt", request.area, request.seed));
    let mut known = outcomes(&fs::read_to_string(&path).unwrap_or_default());
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
    known.retain(|name, _| names.contains(name.as_str()));
    let mut trial = Trial::new(root);
    let mut viable = 0;
    for mutant in &mutants {
        if viable >= request.sample {
            break;
        }
        let before = known.get(&mutant.name).cloned();
        let again = before.as_deref().is_none_or(|outcome| request.missed && outcome.starts_with("missed"));
        if request.list {
            println!("{}\t{}", before.as_deref().unwrap_or("-"), mutant.name);
        } else if again {
            let start = Instant::now();
            let mut outcome = trial.outcome(mutant)?;
            if before.is_some() && outcome.starts_with("caught") {
                outcome = format!("{outcome}, once missed");
            }
            println!("{outcome} ({:.0} s)\t{}", start.elapsed().as_secs_f64(), mutant.name);
            known.insert(mutant.name.clone(), outcome);
            write(&path, &mutants, &known)?;
        }
        viable += usize::from(known.get(&mutant.name).is_none_or(|outcome| outcome != "unviable"));
    }
    Ok(tally(mutants.len(), &known))
}

fn request(arguments: &[&str]) -> Result<Request, String> {
    let mut request = Request { seed: 1, sample: 60, area: "rules".to_owned(), list: false, missed: false };
    let mut rest = arguments.iter();
    while let Some(&argument) = rest.next() {
        let mut value = || rest.next().copied().ok_or_else(|| format!("{argument}: no value"));
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{argument} {text}: {error}"));
        match argument {
            "--seed" => request.seed = number(value()?)?,
            "--sample" => request.sample = usize::try_from(number(value()?)?).unwrap_or(usize::MAX),
            "--area" => value()?.clone_into(&mut request.area),
            "--list" => request.list = true,
            "--missed" => request.missed = true,
            _ => return Err(format!("mutants: {argument}?")),
        }
    }
    match request.area.as_str() {
        "rules" | "rest" => Ok(request),
        other => Err(format!("--area {other}: rules or rest")),
    }
}

/// All changes to the kernel.
fn listed(root: &Path) -> Result<Vec<Mutant>, String> {
    let kernel = PACKAGES.iter().filter(|(folder, _)| folder.starts_with("kernel/"));
    let packages = kernel.flat_map(|(_, package)| ["-p", *package]);
    let mut cargo = Command::new("cargo-mutants");
    cargo.args(["mutants", "--list", "--diff", "--colors", "never"]).args(packages).current_dir(root);
    let output = cargo.output().map_err(|error| format!("cargo-mutants: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo mutants --list: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(parsed(&String::from_utf8_lossy(&output.stdout)))
}

/// The list of cargo-mutants: lines `file:line:column: change`, a diff after each. The second line of each diff becomes one that git reads.
fn parsed(text: &str) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut file, mut change, mut patch) = ("", "", String::new());
    // A line more, which ends the last diff.
    for line in text.lines().chain(["kernel/:::"]) {
        if line.starts_with("kernel/") {
            if !patch.is_empty() {
                let old = patch.lines().skip(2).find_map(|line| line.strip_prefix('-')).unwrap_or_default().trim();
                let name = format!("{file}: {change}\t{old}");
                let count = seen.entry(name.clone()).or_default();
                *count += 1;
                let name = if *count == 1 { name } else { format!("{name}\t{count}") };
                mutants.push(Mutant { name, file: file.to_owned(), patch: std::mem::take(&mut patch) });
            }
            let mut parts = line.splitn(4, ':');
            file = parts.next().unwrap_or_default();
            change = parts.nth(2).unwrap_or_default().trim();
        } else if line.starts_with("--- ") {
            let _ = writeln!(patch, "--- a/{file}");
        } else if line.starts_with("+++ ") {
            let _ = writeln!(patch, "+++ b/{file}");
        } else if !line.is_empty() {
            let _ = writeln!(patch, "{line}");
        }
    }
    mutants
}

/// Those of the area, in an order that the seed gives. It depends on each name alone: a changed line leaves the rest of the sample as it is.
fn drawn(mutants: Vec<Mutant>, request: &Request) -> Vec<Mutant> {
    let rules = request.area == "rules";
    let mut mutants = mutants;
    mutants.retain(|mutant| RULES.iter().any(|folder| mutant.file.starts_with(folder)) == rules);
    mutants.sort_by_key(|mutant| key(request.seed, &mutant.name));
    mutants
}

/// FNV-1a of the name, mixed with the seed by the last steps of SplitMix64.
fn key(seed: u64, name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = hash.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A copy of the repository in which changes are tried.
struct Trial<'a> {
    root: &'a Path,
    copy: PathBuf,
    /// The packages whose tests were seen to pass on the unchanged kernel.
    sound: BTreeSet<&'static str>,
}

/// How tests ended.
enum End {
    Passed,
    Failed(String),
    Timeout,
    /// The tests could not be built.
    Unviable,
}

impl<'a> Trial<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, copy: root.join("target/mutants/tree"), sound: BTreeSet::new() }
    }

    /// Makes the change and runs the tests of its package, then those of the packages that use it, until one fails.
    fn outcome(&mut self, mutant: &Mutant) -> Result<String, String> {
        renew(self.root, &self.copy)?;
        git_apply(self.root, &self.copy, &mutant.patch, &[])?;
        let users = PACKAGES.iter().skip_while(|(folder, _)| !mutant.file.starts_with(folder));
        let mut said = "missed".to_owned();
        for &(_, package) in users {
            match self.tests(package)? {
                End::Passed => continue,
                End::Unviable => return Ok("unviable".to_owned()),
                End::Timeout => said = format!("timeout in {package}"),
                End::Failed(test) => said = format!("caught by {package} {test}"),
            }
            if self.sound.insert(package) {
                renew(self.root, &self.copy)?;
                if !matches!(self.tests(package)?, End::Passed) {
                    return Err(format!("{package}: its tests do not pass on the unchanged kernel"));
                }
            }
            break;
        }
        Ok(said)
    }

    /// The tests of a package, those inside its sources first: these are built soonest. Of the binary, those from outside.
    fn tests(&self, package: &str) -> Result<End, String> {
        let targets = if package == "certkern" { ["--test=cli"].as_slice() } else { &["--lib", "--tests"] };
        for targets in targets {
            let arguments = ["test", "--locked", "-q", "-p", package, targets];
            match self.cargo(&[&arguments[..], &["--no-run"]].concat(), BUILD)?.status.code() {
                Some(0) => {}
                Some(101) => return Ok(End::Unviable),
                code => return Err(format!("{package}: its build was stopped ({code:?})")),
            }
            let output = self.cargo(&arguments, TESTS)?;
            let text = String::from_utf8_lossy(&output.stdout);
            match output.status.code() {
                Some(0) => {}
                Some(124) => return Ok(End::Timeout),
                _ => return Ok(End::Failed((*failed_tests(&text).first().unwrap_or(&"by its end")).to_owned())),
            }
        }
        Ok(End::Passed)
    }

    /// Cargo in the copy, within the limits, at the lowest priority.
    fn cargo(&self, arguments: &[&str], limits: [&str; 2]) -> Result<std::process::Output, String> {
        let script = r#"ulimit -v "$0" && exec nice -n 19 timeout -k 5 "$@""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).args(limits);
        shell.arg(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(arguments);
        shell.current_dir(&self.copy).env("CARGO_TARGET_DIR", self.root.join("target/mutants/target"));
        shell.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0").stdin(Stdio::null());
        shell.output().map_err(|error| format!("sh: {error}"))
    }
}

/// The outcomes in a file: one a line, a tab, the name of the change.
fn outcomes(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(outcome, name)| (name.to_owned(), outcome.to_owned())).collect()
}

fn write(path: &Path, mutants: &[Mutant], known: &BTreeMap<String, String>) -> Result<(), String> {
    let lines = mutants.iter().filter_map(|mutant| known.get(&mutant.name).map(|outcome| (outcome, &mutant.name)));
    let text: String = lines.map(|(outcome, name)| format!("{outcome}\t{name}\n")).collect();
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

/// The counts of outcomes.
fn tally(all: usize, known: &BTreeMap<String, String>) -> String {
    let count = |what: &str| known.values().filter(|outcome| outcome.starts_with(what)).count();
    let again = known.values().filter(|outcome| outcome.ends_with("once missed")).count();
    let [caught, timeout, missed, unviable] = ["caught", "timeout", "missed", "unviable"].map(count);
    format!(
        "{all} changes in the area, {} tried: {caught} caught ({again} of them once missed), {timeout} ran out of time, {missed} missed, \
         {unviable} do not build",
        known.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
kernel/seal/src/a.rs:3:9: replace f -> bool with true
--- kernel/seal/src/a.rs
+++ replace f -> bool with true
@@ -1,4 +1,4 @@
 fn f() -> bool {
 
-    g()
+    true /* ~ changed by cargo-mutants ~ */
 }

kernel/wire/src/b.rs:1:9: replace + with - in h
--- kernel/wire/src/b.rs
+++ replace + with - in h
@@ -1,1 +1,1 @@
-x + x + 1
+x - x + 1

kernel/wire/src/b.rs:1:13: replace + with - in h
--- kernel/wire/src/b.rs
+++ replace + with - in h
@@ -1,1 +1,1 @@
-x + x + 1
+x + x - 1
";

    #[test]
    fn changes_are_named_without_their_lines_and_told_apart() {
        let names: Vec<String> = parsed(LIST).into_iter().map(|mutant| mutant.name).collect();
        let second = "kernel/wire/src/b.rs: replace + with - in h\tx + x + 1";
        let third = format!("{second}\t2");
        assert_eq!(names, ["kernel/seal/src/a.rs: replace f -> bool with true\tg()", second, &third]);
        assert!(parsed(LIST)[2].patch.starts_with("--- a/kernel/wire/src/b.rs\n+++ b/kernel/wire/src/b.rs\n@@ "));
        assert!(parsed(LIST)[2].patch.ends_with("\n+x + x - 1\n"));
    }

    #[test]
    fn areas_part_the_kernel_and_the_seed_orders() {
        let area = |area: &str| drawn(parsed(LIST), &request(&["--area", area]).unwrap());
        assert_eq!((area("rules").len(), area("rest").len()), (1, 2));
        let first = |seed: u64| key(seed, "one") < key(seed, "two");
        assert!((0..64).any(first) && !(0..64).all(first));
        assert!(request(&["--area", "other"]).is_err() && request(&["--seed"]).is_err());
    }

    #[test]
    fn outcomes_are_read_back_and_counted() {
        let known = outcomes("missed\ta\tb\ncaught by p t, once missed\tc\tb\nunviable\td\te\t2\n");
        assert_eq!(known["a\tb"], "missed");
        let said = "9 changes in the area, 3 tried: 1 caught (1 of them once missed), 0 ran out of time, 1 missed, 1 do not build";
        assert_eq!(tally(9, &known), said);
    }
}
