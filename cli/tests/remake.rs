//! The accepted bundles are what the importer makes of the committed dumps, and the Python reference computes their claim digests.

use crate::bundle;
use crate::support::{all_dumps, certkern, entries, root, text};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn bundles_come_from_their_dumps() {
    let dumps = all_dumps();
    for (bundle, dump) in &dumps {
        let scratch = tempfile::tempdir().unwrap();
        let made = scratch.path().join(bundle);
        let (onnx, property) = (dump.join("net.onnx"), dump.join("property.vnnlib"));
        let arguments = ["--onnx", text(&onnx), "--property", text(&property), "-o", text(&made)];
        let run = certkern(["import", "abcrown", text(dump)].iter().chain(&arguments));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let committed = bundle::read(&root().join("certs/accept/leaves").join(bundle));
        let (made, names) = (bundle::read(&made), committed.keys());
        assert_eq!(made.keys().collect::<Vec<_>>(), names.collect::<Vec<_>>());
        for (file, bytes) in &committed {
            assert!(made[file] == *bytes, "{}/{file} is not what `certs/make/bundles.sh` makes", text(dump));
        }
    }
    assert_eq!(dumps.len(), 3 + 4);
}

/// `certs/make/digests.py` is written from `schemas/SPEC.md` alone; for each bundle, graph and enclosure it prints the claim digest.
#[test]
fn the_python_reference_agrees() {
    let cases: Vec<_> = ["leaves", "witness", "graph", "enclosure"]
        .iter()
        .flat_map(|kind| entries(&root().join("certs/accept").join(kind)))
        .collect();
    let script = Path::new("certs/make/digests.py");
    let output = Command::new("python3").current_dir(root()).arg(script).args(&cases).stdin(Stdio::null()).output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: python3 is absent");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<&str> = printed.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(printed.len(), cases.len());
    for (case, claim) in cases.iter().zip(printed) {
        let run = certkern(["check", "--quiet", text(case)]);
        assert_eq!(run.last_line().rsplit(' ').next(), Some(claim), "{}", case.display());
    }
}
