//! Every case under `certs/accept` and `certs/reject`, through the binary.
//!
//! A case is a folder (a bundle) or a `.json` file (a graph, an enclosure). Beside it may stand `<name>.args`: further arguments, one a line, paths from
//! the root of the repository. The folder of an accepted case is its certificate kind, that of a rejected case the code expected.

use crate::support::{certkern, entries, root, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Codes without a case under `certs/reject`: the test that meets them with smaller limits or a document made for it, and why there is no case.
const WITHOUT_CASE: &[(&str, &str, &str)] = &[
    ("internal", "", "no document is known that leads there; one that did would be a bug to mend"),
    ("limit.bytes", "cli/tests/check.rs", "needs a file of 4 GiB; the test makes one with a hole"),
    ("limit.hint-bytes", "kernel/wire/tests/tensors.rs", "needs a file of 1 TiB"),
    ("limit.json-bytes", "kernel/wire/tests/json.rs", "needs a document of 256 MiB"),
    ("limit.json-values", "kernel/wire/tests/json.rs", "needs a document of 80 MB"),
    ("limit.tensors", "kernel/wire/tests/tensors.rs", "needs a file of 50 MB"),
    ("limit.property-expressions", "kernel/wire/tests/vnnlib.rs", "needs a file of 80 MB"),
    ("limit.nodes", "cli/tests/memory.rs", "needs a document of 50 MB"),
    ("limit.expression-nodes", "kernel/claims/tests/kinds/enclosure.rs", "needs a document of 10 MB"),
    ("limit.expression-bits", "kernel/claims/tests/kinds/enclosure.rs", "needs a document of 1 MB"),
    (
        "limit.row-length",
        "kernel/claims/tests/kinds/leaves.rs",
        "needs a network of its own with two million coordinates",
    ),
    ("limit.path-elements", "kernel/claims/tests/kinds/leaves.rs", "needs a wide network with a deep tree"),
    ("limit.tree-nodes", "kernel/claims/tests/kinds/leaves.rs", "needs a file of 1.3 GB"),
];

/// A case: its path from the root of the repository, and the name of its folder.
struct Case {
    path: PathBuf,
    folder: String,
}

fn cases(verdict: &str) -> Vec<Case> {
    let top = root().join("certs").join(verdict);
    if !top.is_dir() {
        return Vec::new();
    }
    let is_case = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|ending| ending == "json");
    let folders = entries(&top).into_iter().filter(|path| path.is_dir());
    let cases = folders.flat_map(|folder| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        entries(&folder).into_iter().filter(is_case).map(move |path| Case { path, folder: name.clone() })
    });
    cases.map(|case| Case { path: case.path.strip_prefix(root()).unwrap().to_owned(), ..case }).collect()
}

/// The arguments that stand beside a case.
fn arguments(case: &Path) -> Vec<String> {
    match fs::read_to_string(root().join(case.with_extension("args"))) {
        Ok(lines) => lines.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}

/// What is wrong with the run of a case: `s` line, JSON report and exit code must tell one verdict.
fn check(case: &Case) -> Result<(String, Value), String> {
    let mut command = vec!["check".to_owned(), "--format".to_owned(), "json".to_owned(), text(&case.path).to_owned()];
    command.extend(arguments(&case.path));
    let run = certkern(command);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let [json, line] = lines.as_slice() else {
        return Err(format!("exit code {}, no report and verdict line: {}", run.code, run.stderr.trim()));
    };
    let json: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let report = json["report"].clone();
    let agree = report["line"] == *line && report["exit_code"] == run.code && run.stderr.is_empty();
    if agree {
        Ok(((*line).to_owned(), report))
    } else {
        Err(format!("line `{line}`, exit code {}, {report}", run.code))
    }
}

fn accepted(case: &Case) -> Result<(), String> {
    let (line, report) = check(case)?;
    let words: Vec<&str> = line.split(' ').collect();
    let [s, accepted, proposition, claim] = words.as_slice() else { return Err(line) };
    let told = (*s, *accepted, &report["proposition"], &report["claim"], &report["kind"], &report["exit_code"]);
    let expected = ("s", "ACCEPTED", &(*proposition).into(), &(*claim).into(), &case.folder.as_str().into(), &0.into());
    if told == expected { Ok(()) } else { Err(format!("{line}: {report}")) }
}

fn rejected(case: &Case) -> Result<(), String> {
    let (line, report) = check(case)?;
    let expected = match case.folder.strip_prefix("limit.") {
        Some(name) => format!("s LIMIT {name}"),
        None => format!("s REJECTED {}", case.folder),
    };
    let code_agrees = report["code"] == case.folder.as_str() && report["exit_code"] != 0;
    if line == expected && code_agrees { Ok(()) } else { Err(format!("`{line}` instead of `{expected}`: {report}")) }
}

/// Runs all cases and fails with every path that does not behave.
fn all(verdict: &str, run: fn(&Case) -> Result<(), String>) -> usize {
    let cases = cases(verdict);
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| run(case).err().map(|what| format!("{}: {what}", case.path.display())))
        .collect();
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), cases.len(), failed.join("\n"));
    eprintln!("{} cases under certs/{verdict}", cases.len());
    cases.len()
}

#[test]
fn accept() {
    assert!(all("accept", accepted) > 0, "certs/accept is empty");
}

#[test]
fn reject() {
    assert!(all("reject", rejected) > 0, "certs/reject is empty");
}

/// The texts of the kernel's source files.
fn kernel() -> Vec<String> {
    let mut folders: Vec<PathBuf> = entries(&root().join("kernel")).into_iter().map(|path| path.join("src")).collect();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}

/// The string literals that follow `mark` in a text, up to white space, where no name ends in `mark`.
fn literals<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let parts: Vec<&str> = text.split(mark).collect();
    let whole = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    let after = parts.windows(2).filter(|pair| whole(pair[0])).map(|pair| pair[1].trim_start());
    after.filter_map(|rest| rest.strip_prefix('"')?.split('"').next()).collect()
}

/// The reasons that a text names with `mark` before them.
fn reasons<'a>(text: &'a str, mark: &str) -> BTreeSet<&'a str> {
    let names = text.split(mark).skip(1).filter_map(|rest| rest.split(|next: char| !next.is_alphanumeric()).next());
    names.filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Every code that a rejection can have: the literals of `Reason::code`, which has one for every reason, the roles, and the budgets that the kernel names.
fn codes() -> BTreeSet<String> {
    let reason = fs::read_to_string(root().join("kernel/wire/src/reason.rs")).unwrap();
    let body = reason.split("pub fn code(&self)").nth(1).unwrap().split("code.to_owned()").next().unwrap();
    let mut codes: BTreeSet<String> = literals(body, "=> ").into_iter().map(str::to_owned).collect();
    let formatted: BTreeSet<&str> = literals(body, "format!(").into_iter().collect();
    assert_eq!(formatted, ["bind.{}", "limit.{name}"].into(), "a code that this test does not know how to enumerate");
    let declared = reason.split("pub enum Reason {").nth(1).unwrap().split("\n}").next().unwrap();
    assert_eq!(reasons(body, "Self::"), reasons(declared, "\n    "), "reasons by their codes and by their declaration");
    let made = ["Bind", "BindFile", "BindUnreadable", "Limit"];
    assert_eq!(
        codes.len() + made.len(),
        reasons(body, "Self::").len(),
        "a code that was not found, or two reasons with one"
    );
    let roles = reason.split("impl Role").nth(1).unwrap().split("impl Reason").next().unwrap();
    codes.extend(literals(roles, "=> ").into_iter().map(|role| format!("bind.{role}")));
    for text in kernel() {
        // Tests at the foot of a file name budgets too.
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for mark in ["within(", "Limit { name: "] {
            codes.extend(literals(text, mark).into_iter().map(|name| format!("limit.{name}")));
        }
    }
    codes
}

/// The budgets in the documentation of `Limits`: `/// `name`, `name`: what is limited`.
fn budgets() -> BTreeSet<String> {
    let limits = fs::read_to_string(root().join("kernel/wire/src/limits.rs")).unwrap();
    let fields = limits.split("pub struct Limits {").nth(1).unwrap().split("\n}").next().unwrap();
    let heads = fields.lines().filter_map(|line| line.trim_start().strip_prefix("/// `")?.split_once("`: "));
    heads.flat_map(|(names, _)| names.split("`, `").map(|name| format!("limit.{name}"))).collect()
}

#[test]
fn every_code_has_a_case() {
    let codes = codes();
    for sample in
        ["json.syntax", "graph.shape-mismatch", "bind.output", "leaf.unproved", "limit.json-depth", "internal"]
    {
        assert!(codes.contains(sample), "{sample} is not among {codes:?}");
    }
    let strange: Vec<String> = budgets().into_iter().filter(|code| !codes.contains(code)).collect();
    assert!(budgets().len() >= 24 && strange.is_empty(), "budgets that nothing exceeds: {strange:?}");
    let covered: BTreeSet<String> = cases("reject").into_iter().map(|case| case.folder).collect();
    let excused: BTreeSet<String> = WITHOUT_CASE.iter().map(|(code, ..)| (*code).to_owned()).collect();
    for (code, file, why) in WITHOUT_CASE.iter().filter(|(code, ..)| *code != "internal") {
        let test = fs::read_to_string(root().join(file)).unwrap();
        let named = [format!("\"{code}\""), format!("\"s {}\"", code.replace("limit.", "LIMIT "))];
        assert!(named.iter().any(|name| test.contains(name)), "{code} ({why}) is not expected in {file}");
    }
    let missing: Vec<&String> =
        codes.iter().filter(|code| !covered.contains(*code) && !excused.contains(*code)).collect();
    let unknown: Vec<&String> = covered.union(&excused).filter(|code| !codes.contains(*code)).collect();
    let needless: Vec<&String> = excused.intersection(&covered).collect();
    assert!(missing.is_empty(), "codes without a case under certs/reject: {missing:?}");
    assert!(unknown.is_empty(), "no such code: {unknown:?}");
    assert!(needless.is_empty(), "excused, but there is a case: {needless:?}");
}

/// `docs/boundary-rejections.md`: each message of the neighbour has a case.
#[test]
fn every_rejection_of_the_neighbour_has_a_case() {
    let document = fs::read_to_string(root().join("docs/boundary-rejections.md")).unwrap();
    let rows = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |")?.rsplit_once("| `"));
    let named: BTreeSet<&str> = rows.map(|(_, case)| case).collect();
    assert!(named.len() >= 57, "{}", named.len());
    let cases = cases("reject").into_iter().map(|case| case.path.with_extension(""));
    let known: BTreeSet<PathBuf> = cases.collect();
    let missing: Vec<&&str> =
        named.iter().filter(|case| !known.contains(&Path::new("certs/reject").join(case))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
