//! `certkern check`: verdict line, exit code, what goes to which stream, and what is refused.

use crate::support::{certkern, command, one_leaf, root, small_bundle, small_dump, text};
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// A graph whose node 1 states a wrong shape.
const WRONG_SHAPE: &str = r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [2]},
  {"id": 1, "kind": "relu", "parents": [0], "shape": [3]}]}
"#;

/// A folder for temporary files and a bundle in it.
fn bundle() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("bundle");
    small_bundle(&folder);
    (scratch, folder)
}

fn document(scratch: &TempDir, text: &str) -> PathBuf {
    let path = scratch.path().join("graph.json");
    fs::write(&path, text).unwrap();
    path
}

/// Asserts that `line` accepts `unsat` with some claim digest.
#[track_caller]
fn accepts(line: &str) {
    let digest = line.strip_prefix("s ACCEPTED unsat ").expect(line);
    assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{line}");
}

#[test]
fn an_accepted_bundle() {
    let (_scratch, folder) = bundle();
    let run = certkern(["check", text(&folder)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    accepts(run.last_line());
    assert!(run.stdout.contains("assumed   model:"), "{}", run.stdout);
    let quiet = certkern(["check", "--quiet", text(&folder)]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (0, format!("{}\n", run.last_line()).as_str()));
}

#[test]
fn json_is_one_line_before_the_verdict() {
    let (scratch, folder) = bundle();
    let wrong = document(&scratch, WRONG_SHAPE);
    for (input, code, verdict) in [(&folder, 0, "accepted"), (&wrong, 2, "malformed")] {
        let run = certkern(["check", "--format", "json", text(input)]);
        assert_eq!((run.code, run.stderr.as_str()), (code, ""));
        let lines: Vec<&str> = run.stdout.lines().collect();
        let [json, line] = lines.as_slice() else { panic!("{}", run.stdout) };
        let json: Value = serde_json::from_str(json).unwrap();
        assert_eq!(json["report"]["line"], *line);
        assert_eq!(json["report"]["exit_code"], code);
        assert_eq!(json["report"]["verdict"], verdict);
        assert_eq!(json["input"], text(input));
        assert_eq!(json["onnx"], Value::Null);
        assert!(json["seconds"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn the_users_own_files_are_compared() {
    let (_scratch, folder) = bundle();
    let [_, net, property] = small_dump();
    let run = certkern(["check", text(&folder), "--onnx", text(&net), "--property", text(&property)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    accepts(run.last_line());
    assert!(run.stdout.contains("compared  model:") && run.stdout.contains("compared  property:"), "{}", run.stdout);
}

#[test]
fn other_files_of_the_user_are_refused() {
    let (scratch, folder) = bundle();
    let [_, net, property] = small_dump();
    let other = root().join("certs/misread/two_matmuls/net.onnx");
    let check = |option: &str, file: &Path| certkern(["check", text(&folder), option, text(file)]);
    check("--onnx", &other).expect(2, "s REJECTED bind.graph");
    let broken = check("--onnx", &property);
    broken.expect(2, "s REJECTED bind.graph");
    assert!(broken.stdout.contains("could not be read as the graph"), "{}", broken.stdout);
    // The same network with the last bit of one weight turned has another payload; the last byte of the property is a bound's.
    let spec = fs::read_to_string(&property).unwrap();
    let edited = scratch.path().join("edited.vnnlib");
    let assertions: Vec<&str> = spec.lines().filter(|line| line.starts_with("(assert")).collect();
    let with = |from: &str, to: &str| fs::write(&edited, spec.replacen(from, to, 1)).unwrap();
    let on_x = assertions.iter().find(|line| line.contains("X_0")).unwrap();
    with(on_x, &format!("(assert (and (<= X_0 5000) (>= X_0 -5000)))\n; {on_x}"));
    check("--property", &edited).expect(2, "s REJECTED bind.input");
    let on_y = assertions.iter().find(|line| line.contains("Y_0")).unwrap();
    with(on_y, "(assert (>= Y_0 5000))");
    check("--property", &edited).expect(2, "s REJECTED bind.output");
    fs::write(&edited, "(assert\n  (<= Z_0 1))").unwrap();
    let unreadable = check("--property", &edited);
    unreadable.expect(2, "s REJECTED property.variable");
    assert!(unreadable.stdout.contains("edited.vnnlib:2:7\n    (<= Z_0 1))\n        ^\n"), "{}", unreadable.stdout);
    // Of VNN-LIB 2.0 the shapes must be those of the network, [1, 2] and [1, 1].
    let second = fs::read_to_string(root().join("certs/reject/property.shape/turned/property.vnnlib")).unwrap();
    fs::write(&edited, &second).unwrap();
    check("--property", &edited).expect(2, "s REJECTED property.shape");
    fs::write(&edited, second.replace("[2,1]", "[1,2]").replace("X[1,0]", "X[0,1]")).unwrap();
    accepts(check("--property", &edited).last_line());
    // What the kernel rejects is not compared.
    fs::write(folder.join("cert.safetensors"), one_leaf()).unwrap();
    let both = certkern(["check", text(&folder), "--onnx", text(&other), "--property", text(&property)]);
    both.expect(1, "s REJECTED leaf.unproved");
    certkern(["check", text(&folder), "--onnx", text(&net)]).expect(1, "s REJECTED leaf.unproved");
}

#[test]
fn faults_in_text_are_shown_with_line_and_column() {
    let scratch = tempfile::tempdir().unwrap();
    let path = document(&scratch, "{\"format\": \"torchlean.ir.v1\",\n  \"input_id\" 0}");
    let run = certkern(["check", text(&path)]);
    run.expect(2, "s REJECTED json.syntax");
    let expected = format!("{}:2:14\n    \"input_id\" 0}}\n               ^\n", text(&path));
    assert!(run.stdout.contains(&expected), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_document_cannot_write_the_verdict_line() {
    let scratch = tempfile::tempdir().unwrap();
    let path = document(&scratch, "{\"format\": \"x\ns ACCEPTED unsat 00\"}\ns ACCEPTED unsat 00\n");
    for format in ["text", "json"] {
        let run = certkern(["check", "--format", format, text(&path)]);
        run.expect(2, "s REJECTED json.syntax");
        assert_eq!(run.stdout.lines().filter(|line| line.starts_with("s ")).count(), 1, "{}", run.stdout);
    }
}

#[test]
fn a_file_name_cannot_write_the_verdict_line() {
    let (_scratch, folder) = bundle();
    fs::remove_file(folder.join("graph.json")).unwrap();
    fs::write(folder.join("g\ns ACCEPTED unsat 00"), "{").unwrap();
    let manifest = fs::read_to_string(folder.join("bundle.json")).unwrap();
    let renamed = manifest.replace("\"graph.json\"", "\"g\\ns ACCEPTED unsat 00\"");
    assert_ne!(renamed, manifest);
    fs::write(folder.join("bundle.json"), renamed).unwrap();
    for format in ["text", "json"] {
        let run = certkern(["check", "--format", format, text(&folder)]);
        run.expect(2, "s REJECTED json.syntax");
        assert_eq!(run.stdout.lines().filter(|line| line.starts_with("s ")).count(), 1, "{}", run.stdout);
    }
}

#[test]
fn reports_are_written_by_their_ending() {
    let (scratch, folder) = bundle();
    let report = |name: &str| scratch.path().join(name);
    let run = certkern(["check", text(&folder), "--report", text(&report("r.txt"))]);
    assert_eq!((run.code, run.stdout.as_str()), (0, fs::read_to_string(report("r.txt")).unwrap().as_str()));
    certkern(["check", text(&folder), "--quiet", "--report", text(&report("r.json"))]).expect(0, run.last_line());
    let json = fs::read_to_string(report("r.json")).unwrap();
    let json: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(json["report"]["line"], run.last_line());
    // Refused before any work: the input is not looked at.
    certkern(["check", "absent", "--report", "r.html"]).expect_usage("must end in .txt or .json");
    certkern(["check", text(&folder), "--report", text(&report("absent/r.txt"))]).expect_usage("existing folder");
    let before = fs::read(folder.join("cert.json")).unwrap();
    certkern(["check", text(&folder), "--report", text(&folder.join("cert.json"))]).expect_usage("would overwrite");
    assert_eq!(fs::read(folder.join("cert.json")).unwrap(), before);
}

#[test]
fn bundles_hold_plain_files_only() {
    let refuse = |name: &str, make: &dyn Fn(&Path)| {
        let (_scratch, folder) = bundle();
        make(&folder);
        let run = certkern(["check", text(&folder)]);
        run.expect(2, "s REJECTED bundle.file");
        assert!(run.stdout.contains(name), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    };
    refuse("`cert.json`: is a symbolic link", &|folder| {
        fs::rename(folder.join("cert.json"), folder.parent().unwrap().join("cert.json")).unwrap();
        std::os::unix::fs::symlink("../cert.json", folder.join("cert.json")).unwrap();
    });
    refuse("`more`: is a folder", &|folder| fs::create_dir(folder.join("more")).unwrap());
    refuse("`notes`: is not named by the manifest", &|folder| fs::write(folder.join("notes"), "").unwrap());
    refuse("too many files", &|folder| (0..20).for_each(|i| fs::write(folder.join(format!("f{i}")), "").unwrap()));
    refuse("not UTF-8", &|folder| {
        let name = std::ffi::OsStr::from_bytes(b"n\xff");
        fs::write(folder.join(name), "").unwrap();
    });
    refuse("`pipe`: is a special file", &|folder| {
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
        assert!(made.success());
    });
}

#[test]
fn a_file_above_the_limit_is_not_read() {
    let (_scratch, folder) = bundle();
    // A hole: five gigabytes that take no space.
    let file = fs::OpenOptions::new().write(true).open(folder.join("payload.safetensors")).unwrap();
    file.set_len(5 << 30).unwrap();
    let run = certkern(["check", text(&folder)]);
    run.expect(3, "s LIMIT bytes");
    assert!(run.stdout.contains("payload.safetensors"), "{}", run.stdout);
}

#[test]
fn what_cannot_be_read_is_a_usage_error() {
    let (scratch, folder) = bundle();
    certkern(["check", "absent"]).expect_usage("cannot read absent");
    certkern(["check", text(&folder), "--onnx", "absent.onnx"]).expect_usage("cannot read absent.onnx");
    certkern(["check", text(&folder), "--property", "absent.vnnlib"]).expect_usage("cannot read absent.vnnlib");
    certkern(["check", text(&folder), "--property", text(scratch.path())]).expect_usage("cannot read");
    certkern(["check"]).expect_usage("required");
    certkern(["check", text(&folder), "--tolerance", "1e-6"]).expect_usage("unexpected argument");
    certkern(["check", text(&folder), "--format", "xml"]).expect_usage("invalid value");
    certkern(["prove"]).expect_usage("unrecognized subcommand");
    certkern::<&str>([]).expect_usage("Usage");
}

#[test]
fn help_teaches() {
    for arguments in [&["--help"][..], &["check", "--help"], &["import", "onnx", "--help"], &["digest", "--help"]] {
        let run = certkern(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.contains("Example") && run.stdout.contains("Exit codes"), "{}", run.stdout);
    }
    certkern(["--version"]).expect(0, &format!("certkern {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_closed_pipe_keeps_the_exit_code() {
    let (scratch, folder) = bundle();
    let wrong = document(&scratch, WRONG_SHAPE);
    for (arguments, code) in [(vec!["check", text(&folder)], 0), (vec!["check", text(&wrong)], 2), (vec!["--help"], 0)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command().args(arguments).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(code), ""));
    }
}

#[test]
fn a_verdict_that_cannot_be_written_is_no_acceptance() {
    let (_scratch, folder) = bundle();
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let output = command().args(["check", text(&folder)]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write to standard output"));
}
