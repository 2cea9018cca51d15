//! The assertions of ITF1788 (`../shared/data/itf1788`) about interval arithmetic: each holds, or is refused as it must be, or does not apply for a
//! reason that `docs/itf1788.md` lists and counts.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read files; the kernel does not")]

mod hull;
mod itl;
mod operation;
mod order;
mod range;
mod verdict;

#[path = "../../../wire/tests/shared/mod.rs"]
mod shared;

use itl::Assertion;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use verdict::{Reason, Verdict};

/// What comes of an assertion.
fn judge(assertion: &Assertion) -> Result<Verdict, String> {
    let apart = |reason| Ok(Verdict::Apart(reason));
    match assertion.operation.as_str() {
        "b-textToInterval" | "d-textToInterval" => apart(Reason::Text),
        "newDec" | "setDec" | "decorationPart" | "intervalPart" | "isNaI" => apart(Reason::Decoration),
        "absRevBin" | "cancelPlus" | "cancelMinus" => apart(Reason::Reverse),
        "sign" | "ceil" | "floor" | "trunc" | "roundTiesToEven" | "roundTiesToAway" => apart(Reason::Integer),
        _ => order::check(assertion).unwrap_or_else(|| range::check(assertion)),
    }
}

#[test]
fn every_assertion_holds_or_is_listed() {
    let Some(folder) = shared::folder("itf1788") else { return };
    let mut files = String::from("| file | assertions | hold | refused | do not apply |\n|---|---|---|---|---|\n");
    let (mut rows, mut failures) = (BTreeMap::<Verdict, usize>::new(), Vec::new());
    for path in shared::files(&folder, "itl") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut counts = [0_usize; 3];
        let assertions = itl::assertions(&std::fs::read_to_string(&path).unwrap());
        for assertion in &assertions {
            match judge(assertion) {
                Ok(verdict) => {
                    *rows.entry(verdict).or_default() += 1;
                    counts[match verdict {
                        Verdict::Holds => 0,
                        Verdict::Refused(_) => 1,
                        Verdict::Apart(_) => 2,
                    }] += 1;
                }
                Err(what) => failures.push(format!("{name} {assertion}: {what}")),
            }
        }
        let [hold, refused, apart] = counts;
        writeln!(files, "| `{name}` | {} | {hold} | {refused} | {apart} |", assertions.len()).unwrap();
    }
    let mut verdicts = String::from("| what comes of it | assertions |\n|---|---|\n");
    for (verdict, count) in &rows {
        writeln!(verdicts, "| {} | {count} |", verdict.row()).unwrap();
    }
    println!("{files}\n{verdicts}");
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/itf1788.md")).unwrap();
    assert!(page.contains(&files) && page.contains(&verdicts), "docs/itf1788.md has other tables");
}
