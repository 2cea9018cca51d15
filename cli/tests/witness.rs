//! `certkern witness`: published counterexamples against their replay by others, and what is refused.

use crate::support::{Run, certkern, entries, shared, small_dump, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A row of `witnesses.csv`, by the names of its columns.
struct Row<'a> {
    file: &'a str,
    input_slack: &'a str,
    output_slack: &'a str,
    error: &'a str,
    status: &'a str,
}

impl<'a> Row<'a> {
    fn all(csv: &'a str) -> Vec<Self> {
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let place = |name| header.iter().position(|column| *column == name).unwrap();
        let places = ["file", "input_slack", "output_slack", "max_claimedY_error", "status"].map(place);
        let row = |cells: Vec<&'a str>| {
            let [file, input_slack, output_slack, error, status] = places.map(|place| cells[place]);
            Row { file, input_slack, output_slack, error, status }
        };
        lines.map(row).collect()
    }

    /// Runs the command on the files of the row, and compares all that the row says.
    fn check(&self, folder: &Path) {
        let (case, _tool) = self.file.rsplit_once("__").unwrap();
        let (net, property) = case.split_once("__").unwrap();
        let net = folder.join("onnx").join(format!("{net}.onnx"));
        let property = folder.join("vnnlib").join(format!("{property}.vnnlib"));
        let point = folder.join("cex").join(self.file);
        let run = certkern(["witness", text(&net), text(&property), text(&point), "--format", "json"]);
        if let Some(counts) = self.status.strip_prefix("wrong_input_count ") {
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", self.file);
            assert!(run.stderr.contains(&format!("wrong_input_count {counts}:")), "{}", run.stderr);
            return;
        }
        let (code, line) = match self.status {
            "exact_valid" => (0, "s ACCEPTED sat "),
            "output_not_violating" => (1, "s REJECTED witness.property"),
            "input_outside" | "input_outside+output_not_violating" => (1, "s REJECTED witness.region"),
            other => panic!("{other}"),
        };
        assert_eq!(run.code, code, "{}: {}{}", self.file, run.stdout, run.stderr);
        assert!(run.last_line().starts_with(line), "{}: {}", self.file, run.last_line());
        let json: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
        let standing = &json["standing"];
        // Box and property are told apart, whatever the verdict.
        assert_eq!(standing["region"]["inside"], !self.status.contains("input_outside"), "{}", self.file);
        assert_eq!(
            standing["property"]["outputs"]["reached"].is_u64(),
            !self.status.contains("not_violating"),
            "{}",
            self.file
        );
        self.same("input slack", &standing["region"]["slack"], self.input_slack);
        self.same("output slack", &standing["property"]["outputs"]["nearest"]["slack"], self.output_slack);
        if self.error.is_empty() {
            assert_eq!(standing["largest_difference"], Value::Null, "{}", self.file);
        } else {
            self.same("error", &standing["largest_difference"]["size"], self.error);
        }
    }

    /// The same number up to 10⁻⁹ of it.
    fn same(&self, what: &str, found: &Value, expected: &str) {
        let found: f64 = found["about"].as_str().unwrap().parse().unwrap();
        let expected: f64 = expected.parse().unwrap();
        let near = (found - expected).abs() <= 1e-9 * expected.abs() + 1e-16;
        assert!(near, "{}: {what} {found}, by others {expected}", self.file);
    }
}

/// Every published counterexample with its replay in exact rational arithmetic by another program.
#[test]
fn published_counterexamples_agree_with_their_replay() {
    let Some(data) = shared() else { return };
    let mut checked = 0;
    for folder in entries(&data) {
        let Ok(csv) = fs::read_to_string(folder.join("witnesses.csv")) else { continue };
        for row in Row::all(&csv) {
            row.check(&folder);
            checked += 1;
        }
    }
    eprintln!("{checked} counterexamples");
    assert!(checked >= 100, "{checked}");
}

const MISREAD: &str = "certs/misread/two_matmuls";

/// A scratch folder with a file of this text.
fn point(text: &str) -> (TempDir, String) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("point");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (scratch, path)
}

fn witness(point: &str, more: &[&str]) -> Run {
    let (net, property) = (format!("{MISREAD}/net.onnx"), format!("{MISREAD}/property.vnnlib"));
    certkern(["witness", &net, &property, point].iter().chain(more))
}

#[test]
fn an_exact_counterexample_is_accepted() {
    let (scratch, path) = point("sat\n((X_0 -1)\n (X_1 1)\n (Y_0 2.0001))\n");
    let run = witness(&path, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(run.last_line().starts_with("s ACCEPTED sat "), "{}", run.stdout);
    for line in [
        "  compared  model: ",
        "  compared  property: ",
        "  box        inside; nearest to a side in X_0, by 0e0 (exactly 0)\n",
        "  property   met: in disjunct 0 of 1; least to spare in row 4, 5e-1 (exactly 1/2)\n",
        "  reported   at most 1e-4 from the exact value, in Y_0\n",
        "  tolerance  VNN-COMP's tolerance would pass this point, which is no proof\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    let quiet = witness(&path, &["--quiet"]);
    assert_eq!(quiet.stdout, format!("{}\n", run.last_line()));
    let report = scratch.path().join("report.json");
    witness(&path, &["--report", text(&report)]).expect(0, run.last_line());
    let json: Value = serde_json::from_str(fs::read_to_string(&report).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!((&json["command"], &json["report"]["line"]), (&"witness".into(), &run.last_line().into()));
    assert_eq!(json["standing"]["outputs"][0]["exact"]["exact"], "2");
    assert_eq!(json["standing"]["outputs"][0]["reported"]["exact"], "20001/10000");
    assert_eq!(json["standing"]["within_competition_tolerance"], true);
    // 3/2 is the bound, and y = relu(1/2 + 1).
    let (_scratch, path) = point("((X_0 -1/2) (X_1 1))");
    witness(&path, &[]).expect(0, run.last_line());
}

#[test]
fn misses_are_reported_apart() {
    let (_scratch, path) = point("((X_0 -1.00000001) (X_1 1))");
    let run = witness(&path, &[]);
    run.expect(1, "s REJECTED witness.region");
    let outside = "  box        OUTSIDE by 1e-8 (exactly 1/100000000) in X_0\n";
    assert!(
        run.stdout.contains(outside) && run.stdout.contains("  property   met by the outputs: disjunct 0 of 1; "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("would pass this point, which is no proof"), "{}", run.stdout);
    let (_scratch, path) = point("((X_0 -0.25) (X_1 1) (Y_0 1.5))");
    let run = witness(&path, &[]);
    run.expect(1, "s REJECTED witness.property");
    let misses = "  property   NOT MET: the outputs lie in none of 1 disjuncts; disjunct 0 is missed least, by row 4, 2.5e-1 (exactly 1/4)\n";
    assert!(run.stdout.contains(misses) && run.stdout.contains("  box        inside"), "{}", run.stdout);
    assert!(run.stdout.contains("would not pass this point: property, reported outputs"), "{}", run.stdout);
}

/// The hull of two boxes holds points of neither.
#[test]
fn a_point_outside_the_box_of_its_disjunct() {
    let case = "certs/misread/or_of_boxes";
    let (net, property) = (format!("{case}/net.onnx"), format!("{case}/property.vnnlib"));
    let (_scratch, path) = point("((X_0 1.75))");
    let run = certkern(["witness", &net, &property, &path]);
    run.expect(1, "s REJECTED witness.property");
    // y = 1.75 is at least 1.5; the boxes are [2, 3] and [0, 1].
    let missed = "  property   NOT MET: the outputs lie in disjunct 0 of 2, the point outside its own box; missed in row 0, 2.5e-1 (exactly 1/4)\n";
    assert!(run.stdout.contains(missed) && run.stdout.contains("  box        inside; "), "{}", run.stdout);
}

#[test]
fn the_certificate_is_written_and_checked_again() {
    let scratch = tempfile::tempdir().unwrap();
    let bundle = scratch.path().join("bundle");
    let (net, property) = (format!("{MISREAD}/net.onnx"), format!("{MISREAD}/property.vnnlib"));
    for (text_of_point, code) in
        [("((X_0 -0x1p0) (X_1 1))", 0), ("((X_0 -1e-1) (X_1 1/3))", 1), ("((X_0 3) (X_1 3))", 1)]
    {
        let (_point, path) = point(text_of_point);
        let run = witness(&path, &["-o", text(&bundle)]);
        assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
        let again = certkern(["check", text(&bundle), "--onnx", &net, "--property", &property]);
        again.expect(code, run.last_line());
        let manifest: Value = serde_json::from_slice(&fs::read(bundle.join("bundle.json")).unwrap()).unwrap();
        assert_eq!(manifest["provenance"]["sources"][2]["role"], "counterexample");
        assert_eq!(manifest["provenance"]["sources"][2]["name"], "point");
    }
    // A folder that holds anything else stays.
    fs::write(bundle.join("notes"), "mine").unwrap();
    let (_point, path) = point("((X_0 -1) (X_1 1))");
    witness(&path, &["-o", text(&bundle)]).expect_usage("notes");
    witness(&path, &["-o", &path]).expect_usage("would overwrite the input");
    witness(&path, &["--report", "r.html"]).expect_usage("must end in .txt or .json");
}

#[test]
fn a_network_may_be_imported_before() {
    let scratch = tempfile::tempdir().unwrap();
    let (net, property) = (format!("{MISREAD}/net.onnx"), format!("{MISREAD}/property.vnnlib"));
    let folder = scratch.path().join("net");
    assert_eq!(certkern(["import", "onnx", &net, "-o", text(&folder)]).code, 0);
    let (_point, path) = point(r#"{"format": "certkern.counterexample.v1", "x": [-1, "1"], "y": [2]}"#);
    let run = certkern(["witness", text(&folder), &property, &path]);
    run.expect(0, witness(&path, &[]).last_line());
    // There is no file of the user to compare the graph with.
    assert!(
        run.stdout.contains("  assumed   model: ") && run.stdout.contains("  compared  property: "),
        "{}",
        run.stdout
    );
    fs::write(folder.join("graph.json"), "{\n x").unwrap();
    let broken = certkern(["witness", text(&folder), &property, &path]);
    broken.expect(2, "s REJECTED json.syntax");
    assert!(broken.stdout.contains("graph.json:2:2\n"), "{}", broken.stdout);
    fs::remove_file(folder.join("payload.safetensors")).unwrap();
    certkern(["witness", text(&folder), &property, &path])
        .expect_usage("has not both graph.json and payload.safetensors");
}

/// Exit code 2, nothing on standard output, and a complaint that names file, place and variable.
#[test]
fn counterexamples_that_cannot_be_read() {
    for (text, complaint) in [
        ("", ": the file is empty"),
        ("unsat\n", ": line 1, column 1: the file begins with `unsat`"),
        ("((X_0 -1)\n(X_1 1", ": line 2, column 7: the text ends where `)` should follow; the file is cut off"),
        ("((X_0 -1)\n", ": wrong_input_count 1/2: "),
        ("((X_0 -1))", ": wrong_input_count 1/2: "),
        ("((X_0 -1) (X_1 1) (X_2 1))", ": line 1, column 20: wrong_input_count 3/2: "),
        ("((X_0 -1) (X_1 1) (Y_0 1) (Y_1 1))", "wrong_output_count 2/1: "),
        ("((X_0 -1) (X_1 1) (X_0 1))", ": line 1, column 20: X_0 is given twice, first in line 1, column 3"),
        ("((X_1 1))", "X_0 is missing before this one"),
        ("((X_0 -1) (X_1 NaN))", ": line 1, column 16: X_1 is `NaN`, which is no point"),
        ("((X_0 -inf) (X_1 1))", "X_0 is `-inf`, which is no point"),
        ("((X_0 -1) (X_1 one))", "X_1 is `one`, which is not a number; write a decimal"),
        ("((X_0 -1) (X_1 \u{1b}[2J))", r"X_1 is `\u{1b}[2J`"),
        (r#"{"format": "certkern.counterexample.v1", "x": [-1, 1], "z": []}"#, "unknown field `z`"),
    ] {
        let (_scratch, path) = point(text);
        let run = witness(&path, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{text:?}: {}", run.stderr);
        assert!(run.stderr.starts_with(&format!("certkern: {path}: ")), "{}", run.stderr);
        assert!(run.stderr.contains(complaint), "{text:?}: {}", run.stderr);
    }
}

#[test]
fn what_else_cannot_be_read() {
    let (scratch, path) = point("((X_0 -1) (X_1 1))");
    let (net, property) = (format!("{MISREAD}/net.onnx"), format!("{MISREAD}/property.vnnlib"));
    certkern(["witness", &net, &property, "absent"]).expect_usage("cannot read absent");
    certkern(["witness", "absent", &property, &path]).expect_usage("cannot read absent");
    let run = certkern(["witness", &property, &property, &path]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("check that the file is a complete ONNX file"), "{}", run.stderr);
    // What the kernel's readers refuse is a verdict.
    let edited = scratch.path().join("edited.vnnlib");
    fs::write(&edited, "(assert\n  (<= Z_0 1))").unwrap();
    let run = certkern(["witness", &net, text(&edited), &path]);
    run.expect(2, "s REJECTED property.variable");
    assert!(run.stdout.contains("edited.vnnlib:2:7\n"), "{}", run.stdout);
    let [_, other, _] = small_dump();
    let narrow = "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (<= X_0 1))\n(assert (>= X_0 0))\n(assert (>= Y_0 0))";
    fs::write(&edited, narrow).unwrap();
    certkern(["witness", text(&other), text(&edited), &path]).expect(2, "s REJECTED property.widths");
}

/// The network and the values of `certs/accept/witness/sigmoid_tanh`; the digits are those of mpmath, as `certs/make/witnesses.py` says.
#[test]
fn a_network_of_sigmoid_and_tanh_is_judged_in_balls() {
    let case = "certs/accept/witness/sigmoid_tanh";
    let property = format!("{case}/property.json");
    let run_at = |text: &str, more: &[&str]| {
        let (_scratch, path) = point(text);
        certkern(["witness", case, &property, &path].iter().chain(more))
    };
    let run = run_at("((X_0 1/3) (X_1 1/5) (Y_0 0.55823) (Y_1 0.57385))", &[]);
    assert!(run.code == 0 && run.last_line().starts_with("s ACCEPTED sat "), "{}{}", run.stdout, run.stderr);
    for line in [
        "\nThe point, in balls of 64 bits:\n",
        "  property   met: in disjunct 0 of 1; least to spare in row 1, 4.32865826",
        " (enclosed to 2^-",
        "  Y_0        5.582313732432865e-1     0.55823                  1.37324328658",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    let run = run_at("((X_0 1/3) (X_1 1/5))", &["--format", "json"]);
    let json: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    let standing = &json["standing"];
    assert_eq!((&standing["bits"], &standing["property"]["disjunct"]), (&64.into(), &0.into()));
    let exact = &standing["outputs"][1]["exact"];
    assert!(exact["lower"].is_string() && exact["lower"] != exact["upper"], "{exact}");
    // 1/4 makes the outputs equal.
    let run = run_at("((X_0 1/3) (X_1 1/4))", &[]);
    run.expect(1, "s REJECTED witness.undecided");
    let open = "  property   NOT DECIDED for disjunct 0 of 1; the slack of row 0 lies from -";
    assert!(run.stdout.contains(open), "{}", run.stdout);
    // 1/4 < x1 makes the first output the larger one.
    let run = run_at("((X_0 1/3) (X_1 1/2))", &[]);
    run.expect(1, "s REJECTED witness.property");
    assert!(run.stdout.contains("  property   NOT MET: the outputs lie in none of 1 disjuncts"), "{}", run.stdout);
}
