//! `cargo xtask planted`: bugs planted in the kernel, one at a time, each of which the tests must catch.
//!
//! A bug is a patch in `tests/planted`. The lines above its first `diff` say what it is, and after `tests:` the package whose tests must fail. Each is applied
//! to a copy of the repository in `target/planted`.

use crate::code_lines::entries;
use crate::tracked_files;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Where the patches lie.
const FOLDER: &str = "tests/planted";

/// The fewest that there must be.
const LEAST: usize = 10;

/// A planted bug.
struct Bug {
    name: String,
    patch: String,
    /// The package whose tests catch it.
    package: String,
    /// What it is, in words.
    what: String,
}

/// Whether every patch still applies: what CI asks.
///
/// # Errors
/// Those that do not.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let bugs = bugs(root)?;
    let stale = bugs.iter().filter_map(|bug| git_apply(root, root, &bug.patch, &["--check"]).err());
    let stale: Vec<String> = stale.collect();
    if stale.is_empty() {
        Ok(format!("{} planted bugs, whose patches apply", bugs.len()))
    } else {
        Err(stale.join("\n"))
    }
}

/// Plants the bugs with `only` in their names and runs the tests that must catch each.
///
/// # Errors
/// Those that were not caught, or could not be planted.
pub(crate) fn run(root: &Path, only: &str) -> Result<String, String> {
    let bugs: Vec<Bug> = bugs(root)?.into_iter().filter(|bug| bug.name.contains(only)).collect();
    let target = root.join("target/planted");
    let copy = target.join("tree");
    let mut missed = Vec::new();
    for bug in &bugs {
        renew(root, &copy, &BTreeMap::new())?;
        git_apply(root, &copy, &bug.patch, &[])?;
        let start = Instant::now();
        let tests = |arguments: &[&str]| {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.current_dir(&copy).env("CARGO_TARGET_DIR", target.join("target")).stdin(Stdio::null());
            cargo.args(["test", "--locked", "-q", "-p", &bug.package]).args(arguments);
            cargo.output().map_err(|error| format!("cargo: {error}"))
        };
        let built = tests(&["--no-run"])?;
        if !built.status.success() {
            return Err(format!("{}: does not build\n{}", bug.name, String::from_utf8_lossy(&built.stderr)));
        }
        let output = tests(&["--no-fail-fast"])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let failed = failed_tests(&text);
        let verdict = match failed.as_slice() {
            [] => "NOT CAUGHT".to_owned(),
            [first, rest @ ..] => format!("caught by {first} and {} more", rest.len()),
        };
        if failed.is_empty() || output.status.success() {
            missed.push(bug.name.as_str());
        }
        println!("{}: {} ({:.0} s): {verdict}", bug.name, bug.what, start.elapsed().as_secs_f64());
    }
    renew(root, &copy, &BTreeMap::new())?;
    match missed.as_slice() {
        [] if bugs.is_empty() => Err(format!("no bug has `{only}` in its name")),
        [] => Ok(format!("{} bugs planted, {} caught", bugs.len(), bugs.len())),
        _ => Err(format!("{} bugs planted, not caught: {}", bugs.len(), missed.join(", "))),
    }
}

/// The names of the tests that failed, in the output of libtest: the lines after `failures:` where these follow at once.
fn failed_tests(text: &str) -> Vec<&str> {
    let lists = text.split("\nfailures:\n").skip(1);
    lists.flat_map(|list| list.lines().map_while(|line| line.strip_prefix("    "))).collect()
}

/// The patches, by name.
fn bugs(root: &Path) -> Result<Vec<Bug>, String> {
    let folder = root.join(FOLDER);
    let failed = |error: std::io::Error| format!("{FOLDER}: {error}");
    let entries = fs::read_dir(&folder).map_err(failed)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(failed)?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "patch"));
    paths.sort();
    if paths.len() < LEAST {
        return Err(format!("{FOLDER}: {} patches, there are {LEAST} at least", paths.len()));
    }
    paths.iter().map(|path| bug(path)).collect()
}

fn bug(path: &Path) -> Result<Bug, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let patch = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let head = patch.split("\ndiff ").next().unwrap_or_default();
    let package = head.lines().find_map(|line| line.strip_prefix("tests: "));
    let package = package.ok_or_else(|| format!("{name}: no line `tests: <package>`"))?.to_owned();
    let what = head.lines().filter(|line| !line.starts_with("tests: ")).collect::<Vec<_>>().join(" ");
    Ok(Bug { what: what.trim().to_owned(), name, package, patch })
}

/// Makes `copy` hold the tracked files of the repository, each as `other` gives it, else as it is. A file that is the same already is not touched, so that
/// little is built again.
pub(crate) fn renew(root: &Path, copy: &Path, other: &BTreeMap<String, String>) -> Result<(), String> {
    for name in tracked_files(root)? {
        let (from, to) = (root.join(&name), copy.join(&name));
        let failed = |error: std::io::Error| format!("{name}: {error}");
        if !from.is_file() {
            continue;
        }
        let bytes =
            other.get(&name).map_or_else(|| fs::read(&from), |text| Ok(text.clone().into_bytes())).map_err(failed)?;
        if fs::read(&to).is_ok_and(|known| known == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(copy)).map_err(failed)?;
        fs::write(&to, bytes).map_err(failed)?;
    }
    remove_others(copy, &tracked_files(root)?.into_iter().map(|name| copy.join(name)).collect())?;
    let shared = copy.parent().unwrap_or(copy).join("shared");
    if !shared.exists() && root.join("../shared").is_dir() {
        // Tests look for it beside the repository; without it they skip themselves.
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("../shared"), &shared).map_err(|error| format!("shared: {error}"))?;
    }
    Ok(())
}

/// Removes the files below `folder` that are none of `kept`: what was once tracked must not be built for ever.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<(), String> {
    for path in entries(folder)? {
        if path.is_dir() && !path.is_symlink() {
            if path.file_name().is_none_or(|name| name != "target") {
                remove_others(&path, kept)?;
            }
        } else if !kept.contains(&path) {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Applies a patch to a folder that need not be a repository of its own.
pub(crate) fn git_apply(root: &Path, folder: &Path, patch: &str, options: &[&str]) -> Result<(), String> {
    use std::io::Write;
    let mut git = Command::new("git");
    git.current_dir(folder).arg("apply").args(options).stdin(Stdio::piped()).stderr(Stdio::piped());
    if folder != root {
        git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    }
    let mut child = git.spawn().map_err(|error| format!("git: {error}"))?;
    let sent = child.stdin.take().map(|mut stdin| stdin.write_all(patch.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("git: {error}"))?;
    match sent {
        Some(Ok(())) if output.status.success() => Ok(()),
        _ => Err(format!("git apply: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_longer_tracked_vanish_from_a_copy() {
        let folder = std::env::temp_dir().join(format!("certkern-planted-{}", std::process::id()));
        let (kept, stale, built) = (folder.join("a/kept"), folder.join("a/b/stale"), folder.join("target/built"));
        for path in [&kept, &stale, &built] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        remove_others(&folder, &BTreeSet::from([kept.clone()])).unwrap();
        assert_eq!([kept, stale, built].map(|path| path.exists()), [true, false, true]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn failures_are_named() {
        let text = "
failures:

---- rules::tests::one stdout ----
    assertion failed at somewhere

failures:
    rules::tests::one
    two

test result: FAILED. 5 passed; 2 failed
";
        assert_eq!(failed_tests(text), ["rules::tests::one", "two"]);
    }
}
