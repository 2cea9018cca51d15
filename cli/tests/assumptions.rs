//! What reports assume is what `docs/assumptions.json` lists and `docs/trust.md` tells.

use crate::support::{certkern, entries, root, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The members `assumptions` of the reports on all accepted cases, and the kind of each.
fn reported() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for folder in entries(&root().join("certs/accept")) {
        let kind = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let is_case =
            |path: &std::path::PathBuf| path.is_dir() || path.extension().is_some_and(|ending| ending == "json");
        for case in entries(&folder).into_iter().filter(is_case) {
            let run = certkern(["check", "--format", "json", text(&case)]);
            let json: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
            found.push((kind.clone(), json["report"]["assumptions"].clone()));
        }
    }
    found
}

#[test]
fn reports_quote_the_list_of_assumptions() {
    let list = fs::read_to_string(root().join("docs/assumptions.json")).unwrap();
    let list: Value = serde_json::from_str(&list).unwrap();
    let listed = list["assumptions"].as_array().unwrap();
    let known = |name: &Value| listed.iter().find(|entry| entry["name"] == *name);
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let reports = reported();
    assert!(reports.len() > 40);
    for (kind, assumptions) in reports {
        let assumptions = assumptions.as_array().unwrap();
        assert!(assumptions.iter().any(|assumption| assumption["name"] == "trusted-base"), "{kind}");
        for assumption in assumptions {
            let (name, said) = (&assumption["name"], assumption["text"].as_str().unwrap());
            let entry = known(name).unwrap_or_else(|| panic!("{name} is not listed"));
            assert!(strings(&entry["texts"]).iter().any(|text| said.starts_with(text)), "{name}: {said}");
            assert!(strings(&entry["kinds"]).contains(&kind), "{name} is not listed for kind {kind}");
            seen.insert((name.as_str().unwrap().to_owned(), kind.clone()));
        }
    }
    // Every entry is met for every kind that it names, but for those that need more arguments, or numbers of a case that no case has.
    for entry in listed {
        let name = entry["name"].as_str().unwrap().to_owned();
        assert!(entry["retired_by"].as_str().unwrap().len() > 10, "{name}");
        for kind in strings(&entry["kinds"]) {
            let rare = ["probes", "outside", "nonempty-region", "binary64"].contains(&name.as_str());
            assert!(rare || seen.contains(&(name.clone(), kind.clone())), "{name}, {kind} is listed in vain");
        }
    }
    let met: BTreeSet<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    let missing: Vec<&str> = listed.iter().map(|e| e["name"].as_str().unwrap()).filter(|n| !met.contains(n)).collect();
    assert_eq!(missing, ["probes"], "no accepted case has these");
    // The prose has a row for each.
    let prose = fs::read_to_string(root().join("docs/trust.md")).unwrap();
    let section = prose.split("## Assumptions of reports").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let names: Vec<&str> = listed.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(rows, names);
    for (row, entry) in section.lines().filter(|line| line.starts_with("| `")).zip(listed) {
        assert!(row.contains(entry["retired_by"].as_str().unwrap()), "{row}");
    }
}
