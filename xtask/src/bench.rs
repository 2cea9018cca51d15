//! `cargo xtask bench`: builds the checker and `bench/` as they are released, and measures.

use crate::live::interpreter;
use crate::{cargo, python};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the measurements; `arguments` are passed on. Without `--python` numpy comes from the environment of the Python tests.
///
/// # Errors
/// If something cannot be built, or a measurement fails.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String, String> {
    // One after the other, so that the checker is built without what `bench/` asks of the kernel.
    build(root, "certkern")?;
    std::fs::copy(built(root, "certkern"), checker(root)).map_err(|error| format!("certkern: {error}"))?;
    build(root, "certkern-bench")?;
    let mut bench = Command::new(built(root, "certkern-bench"));
    bench.args(arguments).arg("--checker").arg(checker(root));
    if !arguments.contains(&"--python") {
        bench.arg("--python").arg(python::environment(root)?);
    }
    measured(&mut bench)
}

/// Compares the kernel's bounds with those of auto_LiRPA in a checkout of α,β-CROWN.
///
/// # Errors
/// As [`run`], or if the kernel's are wider than they may be.
pub(crate) fn bounds(root: &Path, checkout: &str, arguments: &[&str]) -> Result<String, String> {
    let checkout = std::fs::canonicalize(checkout).map_err(|error| format!("{checkout}: {error}"))?;
    let (mut python, mut only, mut exact) = ("python3", "", "false");
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (*argument, rest.as_slice().first()) {
            ("--exact", _) => exact = "true",
            ("--python", Some(_)) => python = rest.next().unwrap_or(&python),
            ("--only", Some(_)) => only = rest.next().unwrap_or(&only),
            (other, _) => return Err(format!("{other}? What it takes says `cargo xtask`")),
        }
    }
    build(root, "certkern-bench")?;
    let mut bench = Command::new(built(root, "certkern-bench"));
    bench.arg("bounds").arg(checkout).arg(interpreter(python)?).args([only, exact]);
    measured(&mut bench)
}

/// Makes mutants of the accepted certificates; `arguments` are passed on.
///
/// # Errors
/// If it cannot be built, or a mutant is wrongly accepted or refused.
pub(crate) fn certmutants(root: &Path, arguments: &[&str]) -> Result<String, String> {
    build(root, "certkern-certmutants")?;
    measured(Command::new(built(root, "certkern-certmutants")).args(arguments))
}

fn build(root: &Path, package: &str) -> Result<(), String> {
    let status = cargo(root).args(["build", "--locked", "--release", "-p", package]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo build -p {package}: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

fn measured(bench: &mut Command) -> Result<String, String> {
    match bench.status() {
        Ok(status) if status.success() => Ok("measured".to_owned()),
        Ok(status) => Err(format!("bench: {status}")),
        Err(error) => Err(format!("bench: {error}")),
    }
}

/// A program that cargo has built.
fn built(root: &Path, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target"));
    root.join(target).join("release").join(name)
}

/// The checker that is measured: a later build does not replace it.
fn checker(root: &Path) -> PathBuf {
    built(root, "certkern-measured")
}
