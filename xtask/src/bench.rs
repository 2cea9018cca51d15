//! `cargo xtask bench`: builds the checker and `bench/` as they are released, and measures.

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
    for package in ["certkern", "certkern-bench"] {
        let status = cargo(root).args(["build", "--locked", "--release", "-p", package]).status();
        let status = status.map_err(|error| format!("cargo: {error}"))?;
        if !status.success() {
            return Err(format!("cargo build -p {package}: {status}"));
        }
        if package == "certkern" {
            std::fs::copy(built(root, package), checker(root)).map_err(|error| format!("{package}: {error}"))?;
        }
    }
    let mut bench = Command::new(built(root, "certkern-bench"));
    bench.args(arguments).arg("--checker").arg(checker(root));
    if !arguments.contains(&"--python") {
        bench.arg("--python").arg(python::environment(root)?);
    }
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
