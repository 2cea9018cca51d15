//! Tools that misbehave, as small scripts: none of them gives an answer, none hangs the run, and none is left behind.
#![cfg(unix)]

use certkern_runner::{Budget, Document, Failure, Fault, Output, Tool, join};
use certkern_wire::Limits;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const BUDGET: Budget = Budget { time: Duration::from_secs(20), output: 1 << 20 };

/// `sh -c SCRIPT`.
fn sh(script: &str) -> Tool {
    Tool { program: "sh".into(), arguments: vec!["-c".into(), script.into()] }
}

fn ask(script: &str, query: &[u8], budget: Budget) -> Result<Output, Failure> {
    sh(script).ask(query, &budget, &|| false)
}

/// What a tool that ended well is refused for.
#[track_caller]
fn refused(script: &str) -> String {
    let output = ask(script, b"{}", BUDGET).unwrap();
    sh(script).answered(&output, &Limits::default()).unwrap_err().to_string()
}

#[track_caller]
fn failed(script: &str, budget: Budget) -> Failure {
    ask(script, b"{}", budget).unwrap_err()
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// The state of a process by its number, `Z` for a zombie; `None` where there is none.
fn state(pid: &str) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The processes whose numbers a script wrote to `file` are gone, and none is a zombie of ours. One that init has still to reap is dead too.
#[track_caller]
fn all_are_gone(file: &Path) {
    if !Path::new("/proc/self/stat").exists() {
        return eprintln!("SKIPPED: /proc is absent");
    }
    let me = std::process::id().to_string();
    let numbers = fs::read_to_string(file).unwrap();
    let mut seen = 0;
    for pid in numbers.split_whitespace() {
        seen += 1;
        let late = Instant::now() + Duration::from_secs(5);
        while !matches!(state(pid), None | Some('Z')) && Instant::now() < late {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(matches!(state(pid), None | Some('Z')), "{pid} is alive");
        let parent = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        assert!(!parent.lines().any(|line| line == format!("PPid:\t{me}")), "{pid} was not reaped");
    }
    assert!(seen > 0, "the script wrote no number");
}

#[test]
fn an_answer_is_taken_whole() {
    // More than a pipe holds, in both directions.
    let query = format!("[{}0]", "1,".repeat(500_000));
    let output = ask("cat; echo note >&2", query.as_bytes(), BUDGET).unwrap();
    assert!(output.stdout == query.as_bytes());
    assert_eq!(output.stderr.text(), "note\n");
    let limits = Limits::default();
    assert_eq!(sh("").answered(&output, &limits).unwrap(), Document::read(query.as_bytes(), &limits).unwrap());
}

#[test]
fn a_banner_is_no_answer() {
    holds(
        &refused("echo 'Flint 3.1'; cat"),
        &["`sh -c \"echo", "json.syntax at byte 0, `Flint 3.1\\n{}`", "all the rest to standard error"],
    );
    holds(&refused("cat; echo; echo done in 3 s"), &["json.trailing at byte 3, `done in 3 s\\n`"]);
    holds(&refused("cat; cat; echo '{}'"), &["json.trailing at byte 2, `{}\\n`"]);
    holds(&refused("exec 2>/dev/null; true"), &["json.syntax at its end, byte 0", "its standard error is empty"]);
    holds(&refused("echo warned >&2; printf '{\"a\": [1, 2'"), &["at its end, byte 11", "\n    warned"]);
    holds(&refused(r"printf '\000\377\001\200'"), &["json.encoding at byte 1"]);
    holds(&refused("printf '{\"a\": 1, \"a\": 2}'"), &["json.duplicate-key"]);
}

#[test]
fn partial_output_of_a_tool_that_fails_is_not_read() {
    let failure = failed("cat; echo first >&2; echo 'out of memory' >&2; exit 3", BUDGET);
    assert!(matches!(failure.fault, Fault::Status(status) if status.code() == Some(3)), "{failure}");
    let expected = "`sh -c \"cat; echo first >&2; echo 'out of memory' >&2; exit 3\"`: it ended with exit status: 3, so its standard output was not \
                    read; run it by hand on the query to see why\n  its standard error, 20 bytes, ends with\n    first\n    out of memory";
    assert_eq!(failure.to_string(), expected);
    let failure = failed("cat; kill -TERM $$", BUDGET);
    holds(&failure.to_string(), &["it ended with signal: 15"]);
}

#[test]
fn a_tool_that_sleeps_is_killed_with_its_children() {
    let scratch = tempfile::tempdir().unwrap();
    let pids = scratch.path().join("pids");
    // The child keeps standard output open and ignores what can be ignored.
    let script = format!(
        "echo '{{}}'; sh -c \"trap '' TERM HUP INT; sleep 100\" & echo $$ $! > '{}'; sleep 100",
        pids.display()
    );
    let start = Instant::now();
    let failure = failed(&script, Budget { time: Duration::from_millis(2500), ..BUDGET });
    assert!(matches!(failure.fault, Fault::Time { .. }), "{failure}");
    holds(&failure.to_string(), &["it had not ended after 2.5 s and was killed", "--timeout"]);
    assert!(start.elapsed() < Duration::from_secs(10));
    all_are_gone(&pids);
}

#[test]
fn children_that_outlive_a_tool_are_killed_and_keep_nobody_waiting() {
    let scratch = tempfile::tempdir().unwrap();
    let pids = scratch.path().join("pids");
    let start = Instant::now();
    let output = ask(&format!("cat; sleep 100 & echo $$ $! > '{}'", pids.display()), b"[7]", BUDGET).unwrap();
    assert_eq!(output.stdout, b"[7]");
    assert!(start.elapsed() < Duration::from_secs(10));
    all_are_gone(&pids);
}

/// A child in a session of its own cannot be found, and could still write.
#[test]
fn an_output_that_stays_open_is_no_answer() {
    let script = "import os, sys, time
print('{}', flush=True)
if os.fork() == 0:
    os.setsid()
    time.sleep(8)";
    let tool = Tool { program: "python3".into(), arguments: vec!["-c".into(), script.into()] };
    let start = Instant::now();
    let failure = tool.ask(b"{}", &BUDGET, &|| false).unwrap_err();
    assert!(matches!(failure.fault, Fault::Held), "{failure}");
    assert!(start.elapsed() < Duration::from_secs(6));
}

#[test]
fn output_beyond_the_cap_ends_the_run() {
    let scratch = tempfile::tempdir().unwrap();
    let pids = scratch.path().join("pids");
    let script = format!("echo $$ > '{}'; exec yes", pids.display());
    let failure = failed(&script, Budget { output: 100_000, ..BUDGET });
    assert!(matches!(failure.fault, Fault::Output { limit: 100_000 }), "{failure}");
    holds(&failure.to_string(), &["more than 100000 bytes", "--max-output"]);
    all_are_gone(&pids);
    // As much as is allowed is allowed.
    assert_eq!(ask("printf 12345", b"", Budget { output: 5, ..BUDGET }).unwrap().stdout, b"12345");
    assert!(ask("printf 123456", b"", Budget { output: 5, ..BUDGET }).is_err());
}

#[test]
fn a_flood_on_standard_error_is_cut() {
    let output = ask("head -c 30000000 /dev/zero | tr '\\0' x >&2; echo last >&2; cat", b"{}", BUDGET).unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.total()), (b"{}".as_slice(), 30_000_005));
    assert!(output.stderr.text().len() <= 1 << 16 && output.stderr.text().ends_with("xlast\n"));
}

#[test]
fn a_tool_that_reads_nothing_answers() {
    let query = vec![b' '; 1 << 20];
    assert_eq!(ask("exec <&-; printf '{}'", &query, BUDGET).unwrap().stdout, b"{}");
    assert_eq!(ask("printf '{}'; sleep 0.2", &query, BUDGET).unwrap().stdout, b"{}");
}

#[test]
fn a_tool_that_is_missing() {
    let tool = Tool { program: "no-such-tool".into(), arguments: vec!["a b".into()] };
    let failure = tool.ask(b"{}", &BUDGET, &|| false).unwrap_err();
    assert!(matches!(failure.fault, Fault::Start(_)));
    holds(&failure.to_string(), &["`no-such-tool \"a b\"`: it cannot be started: No such file", "--tool"]);
    assert_eq!(failure.to_string().lines().count(), 1);
}

#[test]
fn a_run_that_is_given_up_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let pids = scratch.path().join("pids");
    let script = format!("sleep 100 & echo $$ $! > '{}'; wait", pids.display());
    let failure =
        sh(&script).ask(b"{}", &BUDGET, &|| fs::metadata(&pids).is_ok_and(|found| found.len() > 3)).unwrap_err();
    assert!(matches!(failure.fault, Fault::Interrupted), "{failure}");
    all_are_gone(&pids);
}

/// Whatever query and answer hold, the kernel sees both as they are.
#[test]
fn an_answer_to_another_query_is_refused_by_the_kernel() {
    let limits = Limits::default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).unwrap();
    let whole = fs::read_to_string(root.join("certs/accept/enclosure/rational.json")).unwrap();
    let (query, answer) = whole.split_once("\"query\":").unwrap().1.split_once(",\n \"answer\":").unwrap();
    let answer = answer.trim_end().strip_suffix('}').unwrap();
    let line = |query: &str, precision| {
        let [query, answer] = [query, answer].map(|text| Document::read(text.as_bytes(), &limits).unwrap());
        certkern_claims::check_document(&join(&query, &answer, precision), &limits).line()
    };
    let accepted = certkern_claims::check_document(whole.as_bytes(), &limits).line();
    assert!(accepted.starts_with("s ACCEPTED enclosure "), "{accepted}");
    assert_eq!(line(query, None), accepted);
    assert_eq!(line(query, Some(200)), accepted);
    assert_eq!(line(query, Some(9000)), "s LIMIT precision");
    let other = query.replacen("\"1/3\"", "\"1/4\"", 1);
    assert_ne!(other, query);
    assert_eq!(line(&other, None), "s REJECTED bind.query");
    // Text that would close the query early is no document.
    assert!(Document::read(b"{}, \"query\": {}", &limits).is_err());
}
