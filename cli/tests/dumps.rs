//! Real runs of α,β-CROWN: imported, then checked against the network and the property of the run.

use crate::support::{Run, all_dumps, certkern, entries, only, shared, text};
use std::path::{Path, PathBuf};

/// Imports a dump to `bundle`.
fn import(dump: &Path, bundle: &Path) -> Run {
    let (onnx, property) = (only(dump, "onnx"), only(dump, "vnnlib"));
    let (onnx, property) = (text(&onnx), text(&property));
    certkern(["import", "abcrown", text(dump), "--onnx", onnx, "--property", property, "-o", text(bundle)])
}

/// Imports and checks a dump; what went wrong, if something did.
fn replay(dump: &Path) -> Result<(), String> {
    let scratch = tempfile::tempdir().unwrap();
    let bundle = scratch.path().join("bundle");
    let imported = import(dump, &bundle);
    if imported.code != 0 {
        return Err(format!("import: exit code {}: {}", imported.code, imported.stderr));
    }
    let (onnx, property) = (only(dump, "onnx"), only(dump, "vnnlib"));
    let run = certkern(["check", text(&bundle), "--onnx", text(&onnx), "--property", text(&property)]);
    let compared = run.stdout.contains("compared  model:") && run.stdout.contains("compared  property:");
    if run.code == 0 && run.last_line().starts_with("s ACCEPTED unsat ") && compared {
        return Ok(());
    }
    Err(format!("check: exit code {}: {}{}", run.code, run.stdout, run.stderr))
}

/// Replays dumps and fails with every one that is not accepted.
#[track_caller]
fn all(dumps: &[impl AsRef<Path>], expected: usize) {
    let failed: Vec<String> = dumps
        .iter()
        .filter_map(|dump| replay(dump.as_ref()).err().map(|what| format!("{}: {what}", dump.as_ref().display())))
        .collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), dumps.len(), failed.join("\n"));
    assert_eq!(dumps.len(), expected);
}

#[test]
fn our_own_dumps_are_accepted() {
    let dumps: Vec<PathBuf> = all_dumps().into_iter().map(|(_, dump)| dump).collect();
    all(&dumps, 3 + 4);
}

/// Seven ReLU networks and one of sigmoids.
#[test]
fn real_runs_are_accepted() {
    let Some(shared) = shared() else { return };
    let mut dumps = entries(&shared.join("abcrown_dumps"));
    dumps.retain(|path| path.is_dir());
    all(&dumps, 8);
}
