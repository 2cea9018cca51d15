//! `--jobs` and `--arith`: what is told does not depend on the number of threads, and the verdict not on the arithmetic.

use crate::support::{certkern, entries, root, small_bundle, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Exit code, kernel's report and verdict line of a check.
fn told(folder: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let run = certkern([&["check", text(folder), "--format", "json"], arguments].concat());
    assert_eq!(run.stderr, "", "{}", folder.display());
    let json: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    (run.code, json["report"].clone(), run.last_line().to_owned())
}

/// Bundles that are accepted, and some that are rejected where they are checked.
fn bundles() -> Vec<PathBuf> {
    let folders =
        ["accept/leaves", "accept/witness", "reject/leaf.unproved", "reject/hint.domain", "reject/hint.shape"];
    let cases = folders.iter().flat_map(|folder| entries(&root().join("certs").join(folder)));
    cases.filter(|path| path.is_dir() && !path.with_extension("args").exists()).collect()
}

#[test]
fn the_report_does_not_depend_on_the_number_of_threads() {
    let bundles = bundles();
    assert!(bundles.len() > 40);
    for bundle in &bundles {
        let one = told(bundle, &["--jobs", "1"]);
        for jobs in ["2", "7"] {
            assert_eq!(told(bundle, &["--jobs", jobs]), one, "{}, {jobs} threads", bundle.display());
        }
        assert_eq!(told(bundle, &[]), one, "{}", bundle.display());
    }
}

#[test]
fn the_verdict_does_not_depend_on_the_arithmetic() {
    for bundle in bundles() {
        let (code, report, line) = told(&bundle, &["--arith", "exact"]);
        let (code_of_auto, report_of_auto, line_of_auto) = told(&bundle, &["--arith", "auto"]);
        assert_eq!((code, &line), (code_of_auto, &line_of_auto), "{}", bundle.display());
        assert_eq!(report["faults"], report_of_auto["faults"], "{}", bundle.display());
        assert_eq!(report["counts"]["entries"], report_of_auto["counts"]["entries"]);
        let assumed = |report: &Value| report.to_string().contains("IEEE binary64");
        assert!(!assumed(&report));
        assert_eq!(assumed(&report_of_auto), report_of_auto["counts"]["filter"].as_u64().is_some_and(|n| n > 0));
    }
}

#[test]
fn strange_numbers_of_threads_are_refused() {
    for jobs in ["--jobs=0", "--jobs=-1", "--jobs=two"] {
        certkern(["check", "certs/accept/leaves/small_relu", jobs]).expect_usage("invalid value");
    }
    certkern(["check", "certs/accept/leaves/small_relu", "--arith", "fast"]).expect_usage("invalid value");
}

#[test]
fn hints_may_be_larger_than_the_other_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("bundle");
    small_bundle(&folder);
    // A hole of five gigabytes after the tensors: the file is opened, and refused for what it is.
    let hints = fs::OpenOptions::new().write(true).open(folder.join("cert.safetensors")).unwrap();
    hints.set_len(5 << 30).unwrap();
    certkern(["check", text(&folder)]).expect(2, "s REJECTED tensors.layout");
}
