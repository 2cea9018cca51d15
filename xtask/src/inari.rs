//! The workspace of `tests/inari`: format, clippy and tests, where the machine has what it needs.

use crate::cargo;
use crate::members::INARI;
use crate::stage::{Outcome, Stage};
use std::path::Path;
use std::process::{Command, Stdio};

/// Skipped, visibly, on a machine that cannot build or run it.
pub(crate) fn stage(root: &Path) -> Stage<'_> {
    INARI.stage_of(|| match lacks() {
        Some(what) => {
            println!("SKIPPED: tests/inari needs {what}");
            Outcome { skipped: 1, ..Outcome::default() }
        }
        None => run(root),
    })
}

/// What this machine does not have: units that inari takes for granted, or what GMP and MPFR are built with.
fn lacks() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let units = std::is_x86_feature_detected!("avx") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let units = false;
    let runs = |program: &str| {
        let silent = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        silent.is_ok_and(|status| status.success())
    };
    if units { ["cc", "make"].into_iter().find(|program| !runs(program)) } else { Some("AVX and FMA") }
}

fn run(root: &Path) -> Outcome {
    let cargo = || {
        let mut cargo = cargo(root);
        cargo.current_dir(root.join("tests/inari"));
        cargo
    };
    for arguments in [&["fmt", "--check"][..], &["clippy", "--locked", "--all-targets", "--", "-D", "warnings"]] {
        if !cargo().args(arguments).status().is_ok_and(|status| status.success()) {
            let fault = Some(format!("cargo {} in tests/inari", arguments.join(" ")));
            return Outcome { fault, ..Outcome::default() };
        }
    }
    INARI.tests(cargo())
}
