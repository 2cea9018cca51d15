//! The licences and sources of all dependencies, by cargo-deny and `deny.toml`.

use crate::cargo;
use std::path::Path;

/// The version of cargo-deny. It is built once, below `target`.
const VERSION: &str = "0.20.2";

/// Builds cargo-deny where that has not been done, and runs it.
///
/// # Errors
/// What it finds, or that it cannot be built or run.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let tools = root.join("target/tools");
    let deny = tools.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    let mut install = cargo(root);
    install.args(["install", "cargo-deny", "--locked", "--version", VERSION, "--root"]).arg(&tools);
    // A build that is not for speed takes half the time.
    install.args(["--profile", "dev"]).env("CARGO_TARGET_DIR", tools.join("target"));
    if !deny.is_file() && !install.status().map_err(|error| format!("cargo: {error}"))?.success() {
        return Err("cargo-deny cannot be installed".to_owned());
    }
    let mut run = std::process::Command::new(&deny);
    run.current_dir(root).args(["--workspace", "check", "licenses", "bans", "sources"]);
    let output = run.output().map_err(|error| format!("{}: {error}", deny.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if output.status.success() { Ok(said.trim().to_owned()) } else { Err(said) }
}
