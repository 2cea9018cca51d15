//! `certkern eval`, and probes in `certkern check`. Expected values were computed by hand, or are digits of a table.

use crate::support::{certkern, text};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// `relu(W x + b)` of two inputs, and tanh of that.
const NET: &str = r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [2, 3], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [1, 2]},
  {"id": 1, "kind": "linear", "parents": [0], "shape": [1, 2], "weight": [[1, 2], [3, -4]], "bias": [0.5, 0]},
  {"id": 2, "kind": "relu", "parents": [1], "shape": [1, 2]},
  {"id": 3, "kind": "tanh", "parents": [2], "shape": [1, 2]}]}"#;

/// The logarithm of the first element of the input, after a relu.
const LOG: &str = r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [2], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [2]},
  {"id": 1, "kind": "relu", "parents": [0], "shape": [2]},
  {"id": 2, "kind": "log", "parents": [1], "shape": [2]}]}"#;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, contents).unwrap();
        path
    }
}

fn json_of(run: &crate::support::Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
}

#[test]
fn values_are_exact_where_they_are_rational() {
    let scratch = Scratch::new();
    let net = scratch.write("net.json", NET);
    // 1/3 + 2 + 1/2, and 1 − 4.
    let run = certkern(["eval", text(&net), "--at", "[\"1/3\", 1]", "--node", "1,2"]);
    let values = ["17/6, in [2.8333333333333333333, 2.8333333333333333334], width 1e-19", "-3"];
    let expected = format!(
        "values   exact\nnode 1 (linear) [1, 2]\n  [0, 0]  {}\n  [0, 1]  {}\nnode 2 (relu) [1, 2]\n  [0, 0]  {}\n  [0, 1]  0\n",
        values[0], values[1], values[0]
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.ends_with(&expected), "{}", run.stdout);
    // The point may stand in a file, nested as the input is or in an object.
    let nested = scratch.write("nested.json", "[[\"1/3\", 1]]");
    let object = scratch.write("object.json", r#"{"x": ["1/3", "0x1p0"]}"#);
    for point in [nested, object] {
        let again = certkern(["eval", text(&net), "--at", text(&point), "--node", "1,2"]);
        assert_eq!(again.stdout, run.stdout);
    }
    certkern(["eval", text(&net), "--at", "[0, 0]", "--arith", "exact"]).expect_usage("node 3 (tanh) has no rational");
}

#[test]
fn balls_hold_the_value_to_the_precision_that_is_asked_for() {
    let scratch = Scratch::new();
    let net = scratch.write("net.json", NET);
    // tanh(1/2), as tables have it.
    let digits = "0.46211715726000975850231848364367254873028928033";
    for (precision, least) in [("64", 18), ("128", 37)] {
        let run = certkern([
            "eval",
            text(&net),
            "--at",
            "[0, 0]",
            "--node",
            "3",
            "--precision",
            precision,
            "--format",
            "json",
        ]);
        let json = json_of(&run);
        let value = &json["outputs"][0]["values"][0];
        assert!(value["mid"].as_str().unwrap().starts_with(&digits[..least]), "{value}");
        assert_eq!(json["arith"], format!("balls of {precision} bits"));
    }
    let run = certkern(["eval", text(&net), "--at", "[0, 0]", "--arith", "float32"]);
    assert!(run.stdout.ends_with("  [0, 0]  0.46211717\n  [0, 1]  0.0\n"), "{}", run.stdout);
}

#[test]
fn numbers_may_mean_the_floats_nearest_to_them() {
    let scratch = Scratch::new();
    let net = scratch.write("net.json", NET);
    // 0.1 as binary32 is 13421773/2^27.
    let at = |numbers| {
        let run =
            certkern(["eval", text(&net), "--at", "[0.1, 0]", "--node", "0", "--numbers", numbers, "--format", "json"]);
        json_of(&run)["outputs"][0]["values"][0]["exact"].as_str().unwrap().to_owned()
    };
    assert_eq!((at("exact"), at("float32")), ("1/10".to_owned(), "13421773/134217728".to_owned()));
    let run = certkern(["eval", text(&net), "--at", "[1e39, 0]", "--numbers", "float32"]);
    // 1e39 is beyond binary32: no number of that kind.
    assert_eq!(run.code, 2, "{}", run.stderr);
}

#[test]
fn places_are_named() {
    let scratch = Scratch::new();
    let (net, log) = (scratch.write("net.json", NET), scratch.write("log.json", LOG));
    certkern(["eval", text(&net), "--at", "[1]"])
        .expect_usage("the point has 1 numbers, and the input, of shape [1, 2], 2");
    certkern(["eval", text(&net), "--at", "[1, 2]", "--node", "4"]).expect_usage("--node 4: the nodes of");
    certkern(["eval", text(&net)]).expect_usage("--at");
    let run = certkern(["eval", text(&net), "--at", "[1, [2, null]]"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("[1][1]") && run.stderr.contains("found null"), "{}", run.stderr);
    for arith in ["auto", "balls"] {
        let run = certkern(["eval", text(&log), "--at", "[1, -2]", "--arith", arith]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains("node 2 (log)"), "{}", run.stderr);
    }
}

#[test]
fn floats_are_compared_with_a_bound() {
    let scratch = Scratch::new();
    let net = scratch.write("net.json", NET);
    for format in ["float32", "float64"] {
        let run = certkern(["eval", text(&net), "--at", "[0.1, 0.7]", "--compare", format, "--format", "json"]);
        let json = json_of(&run);
        assert_eq!(
            (run.code, &json["comparison"]["within"], &json["comparison"]["evidence"]),
            (0, &json!(true), &json!("compared"))
        );
        // A few roundings of numbers near 2, and no more.
        let unit = if format == "float32" { 2_f64.powi(-24) } else { 2_f64.powi(-53) };
        let bound = json["comparison"]["numbers"][0]["bound"].as_f64().unwrap();
        assert!((2.0 * unit..40.0 * unit).contains(&bound), "{bound}");
    }
    let run = certkern(["eval", text(&net), "--at", "[0.1, 0.7]", "--compare", "float32"]);
    assert!(
        run.last_line().contains("compared  certkern's evaluator on the CPU: all 4 numbers lie within"),
        "{}",
        run.stdout
    );
}

/// The values of `NET` at (0.1, 0.7) in binary32, of which the first has an error of `error`.
fn probe(error: f64) -> String {
    // 0.1 + 1.4 + 0.5 = 2 and 0.3 − 2.8 < 0; tanh(2) = 0.96402758…
    format!(
        r#"{{"format": "certkern.probe.v1", "arith": "float32", "x": [[0.1, 0.7]], "y": [[{}, 0], [0.96402758, 0]], "producer": "a table"}}"#,
        2.0 + error
    )
}

#[test]
fn outputs_of_another_program_are_compared_and_recorded() {
    let scratch = Scratch::new();
    let net = scratch.write("net.json", NET);
    let (good, bad) = (scratch.write("good.json", &probe(0.0)), scratch.write("bad.json", &probe(1e-5)));
    let run = certkern(["eval", text(&net), "--probe", text(&good)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.last_line().contains("compared  a table: all 4 numbers"), "{}", run.stdout);
    let run = certkern(["eval", text(&net), "--probe", text(&bad)]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("number 0 differs by 1.0") && run.last_line().contains("NOT all 4"), "{}", run.stdout);

    // The report has a line of its own, never `proved`; `model` is still assumed.
    let run = certkern(["check", text(&net), "--probe", text(&good), "--probe", text(&good), "--format", "json"]);
    let json: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(run.code, 0, "{}", run.stdout);
    let assumptions = json["report"]["assumptions"].as_array().unwrap();
    let evidence = |name: &str| assumptions.iter().find(|a| a["name"] == name).map(|a| a["evidence"].clone());
    assert_eq!((evidence("probes"), evidence("model")), (Some(json!("compared")), Some(json!("assumed"))));
    let text_of = assumptions.iter().find(|a| a["name"] == "probes").unwrap()["text"].as_str().unwrap();
    assert!(text_of.starts_with("at 2 points"), "{text_of}");

    let run = certkern(["check", text(&net), "--probe", text(&good), "--probe", text(&bad)]);
    run.expect(2, "s REJECTED bind.graph");
    assert!(run.stdout.contains("bad.json"), "{}", run.stdout);
    let short = scratch.write("short.json", &probe(0.0).replace(", [0.96402758, 0]", ""));
    certkern(["check", text(&net), "--probe", text(&short)]).expect(2, "s REJECTED bind.graph");
    // 2¹²⁸ is the first number that no float32 is near.
    let beyond = scratch.write("beyond.json", &probe(0.0).replace("0.7]", "3.5e38]"));
    certkern(["check", text(&net), "--probe", text(&beyond)]).expect(2, "s REJECTED json.number");
    let unknown = scratch.write("unknown.json", &probe(0.0).replace("float32", "float16"));
    certkern(["check", text(&net), "--probe", text(&unknown)]).expect(2, "s REJECTED bundle.format");
    let enclosure = "schemas/example/enclosure.json";
    certkern(["check", enclosure, "--probe", text(&good)]).expect(2, "s REJECTED graph.format");
}

#[test]
fn bundles_and_networks_of_importers_are_evaluated() {
    // The first output of the dump's own network at the middle of its box, through the bundle and through the ONNX file.
    let at = ["--at", "[0.5, 0.25]"];
    let bundle = certkern([&["eval", "certs/accept/leaves/small_relu"][..], &at].concat());
    let onnx = certkern([&["eval", "certs/dumps/small_relu/net.onnx"][..], &at].concat());
    assert_eq!((bundle.code, onnx.code), (0, 0), "{}{}", bundle.stderr, onnx.stderr);
    assert_eq!(bundle.stdout, onnx.stdout);
}

#[test]
fn a_bundle_is_compared_at_points_of_its_own_network() {
    let scratch = Scratch::new();
    let run = certkern([
        "eval",
        "certs/accept/leaves/small_relu",
        "--at",
        "[0.5, 0.25]",
        "--arith",
        "float32",
        "--format",
        "json",
    ]);
    let value = json_of(&run)["outputs"][0]["values"][0]["float"].as_str().unwrap().to_owned();
    let document = json!({"format": "certkern.probe.v1", "arith": "float32", "x": [0.5, 0.25], "y": [value]});
    let probe = scratch.write("probe.json", &document.to_string());
    let run = certkern(["check", "certs/accept/leaves/small_relu", "--probe", text(&probe)]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(run.stdout.contains("  compared  probes: at 1 points"), "{}", run.stdout);
}
