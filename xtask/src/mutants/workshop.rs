//! A copy of the repository, and what cargo builds there.

use super::trial::Binary;
use crate::planted::renew;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A copy with a target folder of its own: the binary of one must not be taken for that of another.
pub(super) struct Workshop<'a> {
    root: &'a Path,
    pub(super) tree: PathBuf,
    target: PathBuf,
}

impl<'a> Workshop<'a> {
    pub(super) fn new(root: &'a Path, folder: PathBuf) -> Self {
        Self { root, tree: folder.join("tree"), target: folder.join("target") }
    }

    /// Makes the copy hold the repository as it is, but for the files given.
    pub(super) fn renew(&self, other: &BTreeMap<String, String>) -> Result<(), String> {
        renew(self.root, &self.tree, other)
    }

    /// Cargo in the copy, at a low priority.
    pub(super) fn cargo(&self, arguments: &[&str]) -> Result<Output, String> {
        let mut nice = Command::new("nice");
        nice.args(["-n", "10"]).arg(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(arguments);
        nice.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target).stdin(Stdio::null());
        nice.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
        nice.output().map_err(|error| format!("cargo: {error}"))
    }

    /// Builds the tests of a package. None if they cannot be built.
    pub(super) fn binaries(&self, package: &'static str) -> Result<Option<Vec<Binary>>, String> {
        let arguments = ["test", "--locked", "-p", package, "--no-run", "--message-format=json-render-diagnostics"];
        let output = self.cargo(&arguments)?;
        match output.status.code() {
            Some(0) => {}
            Some(101) => return Ok(None),
            code => return Err(format!("{package}: its build was stopped ({code:?})")),
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let tests = text.lines().filter(|line| is_test(line));
        let binaries = tests.filter_map(|line| {
            let path = PathBuf::from(member(line, "executable")?);
            let folder = Path::new(member(line, "manifest_path")?).parent()?.to_owned();
            Some(Binary::new(package, path, folder))
        });
        Ok(Some(binaries.collect()))
    }

    /// The files and lines, counted from 0, of the errors that cargo finds.
    pub(super) fn errors(&self, arguments: &[&str]) -> Result<Vec<(String, usize)>, String> {
        let output = self.cargo(&[arguments, &["--message-format=short"]].concat())?;
        let said = String::from_utf8_lossy(&output.stderr);
        let places: Vec<(String, usize)> = said.lines().filter_map(error).collect();
        if output.status.success() == places.is_empty() { Ok(places) } else { Err(said.into_owned()) }
    }
}

/// The place of an error in a line `file:line:column: error…`.
fn error(line: &str) -> Option<(String, usize)> {
    let mut parts = line.splitn(4, ':');
    let (file, line, _, what) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    what.trim_start().starts_with("error").then_some(())?;
    Some((file.to_owned(), line.parse::<usize>().ok()?.checked_sub(1)?))
}

/// Whether a message of cargo is of something that was built to test. Its target has a member `test` as well.
fn is_test(json: &str) -> bool {
    json.split_once(r#""profile":{"#).is_some_and(|(_, profile)| profile.contains(r#""test":true"#))
}

/// A string without escapes in JSON, by the name before it.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!(r#""{name}":""#))?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_places() {
        assert_eq!(error("kernel/a.rs:12:5: error[E0308]: mismatched"), Some(("kernel/a.rs".to_owned(), 11)));
        assert_eq!(error("kernel/a.rs:12:5: warning: unused"), None);
        assert_eq!(error("error: could not compile: 1:2:3"), None);
    }

    #[test]
    fn a_tested_binary_is_no_test() {
        assert!(!is_test(r#"{"target":{"name":"x","test":true},"profile":{"test":false},"executable":"/x"}"#));
        assert!(is_test(r#"{"target":{"name":"x","test":true},"profile":{"test":true},"executable":"/x-1"}"#));
    }

    #[test]
    fn strings_are_found_by_their_names() {
        assert_eq!(member(r#"{"a":"b","executable":"/x/y","c":null}"#, "executable"), Some("/x/y"));
        assert_eq!(member(r#"{"executable":null}"#, "executable"), None);
    }
}
