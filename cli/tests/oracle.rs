//! `certkern oracle`: tools that answer, tools that lie, and tools that fail. Arb itself is run by the tests of `oracles/python`.
#![cfg(unix)]

use crate::support::{Run, certkern, command, root, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Query and answer of an accepted certificate as two files.
fn halves() -> (TempDir, PathBuf, PathBuf) {
    let whole = fs::read_to_string(root().join("schemas/example/enclosure.json")).unwrap();
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let paths = ["query", "answer"].map(|part| {
        let path = scratch.path().join(format!("{part}.json"));
        fs::write(&path, whole[part].to_string()).unwrap();
        path
    });
    let [query, answer] = paths;
    (scratch, query, answer)
}

fn oracle(query: &Path, options: &[&str], script: &str) -> Run {
    certkern([&["oracle", text(query)], options, &["--tool", "sh", "--", "-c", script]].concat())
}

/// The claim digest of the worked example in SPEC.md.
const ACCEPTED: &str = "s ACCEPTED enclosure d670fa827bec6247a3085a79c6a6323e6dc409b7ee867e86d386d4e50362c4a4";

#[test]
fn an_answer_is_checked_as_the_certificate_is() {
    let (scratch, query, answer) = halves();
    let claim = scratch.path().join("claim.json");
    let script = format!("cat > /dev/null; cat '{}'", answer.display());
    let run = oracle(&query, &["-o", text(&claim)], &script);
    run.expect(0, ACCEPTED);
    assert_eq!(run.stderr, "");
    let again = certkern(["check", text(&claim)]);
    assert_eq!(again.stdout, run.stdout);
    assert_eq!(oracle(&query, &["--quiet"], &script).stdout, format!("{ACCEPTED}\n"));
    let run = oracle(&query, &["--format", "json", "--precision", "128"], &script);
    let json: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&json["command"], &json["report"]["line"]), (&"oracle".into(), &ACCEPTED.into()));
    assert_eq!((&json["query"], &json["output"]), (&text(&query).into(), &Value::Null));
    assert!(json["tool"].as_str().unwrap().starts_with("sh -c \"cat > /dev/null; cat"));
}

#[test]
fn lies_are_refuted_with_the_place_in_the_certificate() {
    let (scratch, query, answer) = halves();
    let claim = scratch.path().join("claim.json");
    let script = format!("sed s/1309/1/ '{}'", answer.display());
    let run = oracle(&query, &["-o", text(&claim)], &script);
    run.expect(1, "s REJECTED enclosure.refuted");
    assert!(run.stdout.contains(&format!("{}:3:", claim.display())), "{}", run.stdout);
    certkern(["check", text(&claim)]).expect(1, run.last_line());
    let run = oracle(&query, &[], &script);
    assert!(run.stdout.contains("\nquery and answer:3:"), "{}", run.stdout);
    // An answer to another query.
    let other = fs::read_to_string(&query).unwrap().replacen("-1/3", "-1/4", 1);
    fs::write(&query, other).unwrap();
    oracle(&query, &[], &format!("cat '{}'", answer.display())).expect(2, "s REJECTED bind.query");
    // The echo of the query is a document and no answer.
    oracle(&query, &[], "cat").expect(2, "s REJECTED bundle.format");
}

#[test]
fn a_query_that_is_no_document_is_not_asked() {
    let (_scratch, query, _answer) = halves();
    fs::write(&query, "{\"format\":\n oops}").unwrap();
    let run = oracle(&query, &[], "kill -9 $PPID");
    run.expect(2, "s REJECTED json.syntax");
    assert!(run.stdout.contains("query.json:2:2\n"), "{}", run.stdout);
}

#[test]
fn a_tool_without_an_answer_leaves_no_verdict() {
    let (scratch, query, answer) = halves();
    let claim = scratch.path().join("claim.json");
    let answer = answer.display();
    for (script, options, complaints) in [
        (
            format!("cat '{answer}'; echo 's ACCEPTED enclosure 00' >&2; exit 7"),
            &[][..],
            ["exit status: 7", "\n    s ACCEPTED enclosure 00\n"],
        ),
        (
            format!("echo Arb 3; cat '{answer}'"),
            &[],
            ["json.syntax at byte 0, `Arb 3\\n", "`sh -c \"echo Arb 3; cat '"],
        ),
        (format!("cat '{answer}'; echo bye"), &[], ["json.trailing at byte", "`bye\\n`"]),
        (format!("cat '{answer}'; sleep 50"), &["--timeout", "1"], ["had not ended after 1 s", "--timeout"]),
        (format!("cat '{answer}'"), &["--max-output", "20"], ["more than 20 bytes", "--max-output"]),
        (format!("head -c 30 '{answer}'"), &[], ["not one JSON document", "at its end, byte 30"]),
    ] {
        let options = [options, &["-o", text(&claim)]].concat();
        let run = oracle(&query, &options, &script);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{script}: {}", run.stderr);
        assert!(run.stderr.starts_with("certkern: `sh -c "), "{}", run.stderr);
        assert!(complaints.iter().all(|part| run.stderr.contains(part)), "{complaints:?}: {}", run.stderr);
        assert!(!claim.exists());
    }
}

#[test]
fn wrong_arguments() {
    let (_scratch, query, _answer) = halves();
    certkern(["oracle", text(&query), "--tool", "no-such-tool"]).expect_usage("`no-such-tool`: it cannot be started");
    certkern(["oracle", text(&query), "--", "-c"]).expect_usage("--tool");
    certkern(["oracle", "absent", "--tool", "true"]).expect_usage("cannot read absent");
    oracle(&query, &["-o", text(&query)], "true").expect_usage("would overwrite the input");
    oracle(&query, &["--timeout", "0"], "true").expect_usage("--timeout");
}

/// The tool is in a group of its own, which a signal to this command does not reach.
#[test]
fn an_interrupted_command_leaves_no_tool_behind() {
    let (scratch, query, _answer) = halves();
    let pids = scratch.path().join("pids");
    let script = format!("sleep 90 & echo $$ $! > '{0}.new'; mv '{0}.new' '{0}'; wait", pids.display());
    let words = ["oracle", text(&query), "--tool", "sh", "--", "-c", &script];
    let mut child = command().args(words).spawn().unwrap();
    let late = Instant::now() + Duration::from_secs(20);
    while !pids.exists() && Instant::now() < late {
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2), "{status}");
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        let alive = || std::process::Command::new("kill").args(["-0", pid]).output().unwrap().status.success();
        let zombie = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
        while alive() && !zombie() && Instant::now() < late {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!alive() || zombie(), "{pid}");
    }
}
