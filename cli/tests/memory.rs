//! Large documents in little memory: the system gives the checker no more.

use crate::support::{certkern, text};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Asserts on exit code and verdict line of a check that may use so many megabytes of addresses, with what the program itself takes.
#[track_caller]
fn check(path: &Path, document: &str, megabytes: usize, code: i32, line: &str) {
    fs::write(path, document).unwrap();
    let script = format!("ulimit -v {} && exec \"$0\" check \"$1\"", megabytes << 10);
    let run = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_certkern"), text(path)]).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    let found = (run.status.code(), said.lines().next_back().unwrap_or_default());
    assert_eq!(found, (Some(code), line), "{}", String::from_utf8_lossy(&run.stderr));
}

/// `count` times the text between brackets, each with its place for `#`.
fn list(count: usize, item: &str) -> String {
    let items: Vec<String> = (0..count).map(|place| item.replace('#', &place.to_string())).collect();
    format!("[{}]", items.join(","))
}

/// A million nodes: 29, 48 and 41 MB of text.
#[test]
fn a_million_small_objects() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("large.json");
    let nodes = list(1_000_000, r#"{"op":"neg","args":[#]}"#);
    let enclosure = format!(
        r#"{{"format":"certkern.enclosure.v1","answer":0,"query":{{"format":"certkern.enclosure-query.v1","nodes":{nodes},"outputs":[0]}}}}"#
    );
    check(&path, &enclosure, 320, 3, "s LIMIT expression-nodes");
    let nodes = list(1_000_001, r#"{"id":#,"kind":"relu","parents":[#],"shape":[4]}"#);
    let graph = format!(r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":{nodes}}}"#);
    check(&path, &graph, 512, 3, "s LIMIT nodes");
    let rows = list(1_000_000, r#"[{"y":{"0":1},"bound":0,"strict":false}]"#);
    check(&path, &format!(r#"{{"unsafe":{rows}}}"#), 448, 2, "s REJECTED json.missing-key");
}

/// The trees that take the most memory for their text, of which there is a megabyte.
#[test]
fn a_megabyte_of_small_values() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("small.json");
    let deep = format!("{}0{}", "[".repeat(62), "]".repeat(62));
    for item in [&deep, "[[0]]", "[]", "0", r#"{"":0}"#, r#"{"a":{}}"#, r#""\n""#] {
        let document = list(1_000_000 / (item.len() + 1), item);
        check(&path, &document, 64, 2, "s REJECTED json.type");
    }
}

/// A budget ends a check with one verdict of the class `limit`, text or JSON, and a generous one changes nothing.
#[test]
fn budgets_of_memory_and_time() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("large.json");
    let nodes = list(1_000_000, r#"{"op":"neg","args":[#]}"#);
    fs::write(&path, format!(r#"{{"format":"certkern.enclosure.v1","answer":0,"query":{nodes}}}"#)).unwrap();
    let run = |arguments: &[&str]| {
        let run = certkern([&["check", text(&path)], arguments].concat());
        assert_eq!(run.stderr, "");
        (run.code, run.stdout.lines().filter(|line| line.starts_with("s ")).collect::<Vec<_>>().join("|"))
    };
    for format in ["text", "json"] {
        let limited = run(&["--format", format, "--max-memory", "60M"]);
        assert_eq!(limited, (3, "s LIMIT memory".to_owned()));
        let limited = run(&["--format", format, "--max-time", "20ms"]);
        assert_eq!(limited, (3, "s LIMIT time".to_owned()));
    }
    let free = run(&[]);
    assert_eq!((free.0, free.1.as_str()), (2, "s REJECTED json.type"));
    assert_eq!(run(&["--max-memory", "8G", "--max-time", "10m"]), free);
    for wrong in [["--max-memory", "12Q"], ["--max-time", "-1"]] {
        assert_eq!(certkern([&["check", text(&path)], &wrong[..]].concat()).code, 64);
    }
}
