//! `certkern digest`, against the manifest of a bundle and against SHA-256 of canonical bytes written out here.

use crate::support::{certkern, root, small_bundle, small_dump, text};
use serde_json::Value;
use std::fs;

#[test]
fn a_bundle_and_its_documents_have_the_digests_of_the_manifest() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("bundle");
    small_bundle(&folder);
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("bundle.json")).unwrap()).unwrap();
    let path = |name: &str| folder.join(name);
    let (graph, payload, property) = (path("graph.json"), path("payload.safetensors"), path("property.vnnlib"));
    let documents = vec![text(&property), text(&payload), text(&graph)];
    for files in [vec![text(&folder)], documents] {
        let run = certkern([&["digest", "--format", "json"][..], &files].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["digests"], manifest["digests"]);
        let lines = certkern([&["digest"][..], &files].concat()).stdout;
        let roles: Vec<&str> = lines.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!(roles, ["graph", "payload", "input", "output"]);
    }
}

/// The digests of input and output in the page were computed with Python's hashlib from its own table.
#[test]
fn the_worked_example_of_the_specification_is_right() {
    let schemas = root().join("schemas");
    let (graph, property) = (schemas.join("example/graph.json"), schemas.join("example/property.json"));
    let run = certkern(["digest", text(&graph), text(&property)]);
    let page = fs::read_to_string(schemas.join("SPEC.md")).unwrap();
    assert_eq!((run.code, run.stdout.lines().count()), (0, 4), "{}", run.stderr);
    for line in run.stdout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(page.contains(&format!("| {} | `{}` |", words[0], words[1])), "{line}");
    }
}

#[test]
fn a_property_alone_has_an_input_digest() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("p.json");
    let property = r#"{"format": "certkern.property.v1", "outputs": 1, "lower": ["-1/2"], "upper": [3],
        "unsafe": [[{"y": {"0": 1}, "bound": 0, "strict": false}]]}"#;
    fs::write(&path, property).unwrap();
    // SHA-256 of the canonical bytes of SPEC.md, section 6, for the one interval [-1/2, 3]; computed with Python's hashlib.
    let digest = "8936831425f51bd4a6de52bc7f8aa45956b13158f243edbd6c55ef8de74924fa";
    let run = certkern(["digest", text(&path)]);
    assert_eq!((run.code, run.stdout.as_str()), (0, format!("input    {digest}\n").as_str()), "{}", run.stderr);
}

#[test]
fn what_has_no_digest_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("bundle");
    small_bundle(&folder);
    let [_, _, property] = small_dump();
    certkern(["digest", text(&folder.join("payload.safetensors"))]).expect_usage("only with its graph");
    certkern(["digest", text(&property), text(&folder.join("property.vnnlib"))]).expect_usage("already");
    certkern(["digest", text(&folder), text(&property)]).expect_usage("a bundle alone");
    certkern(["digest", text(scratch.path())]).expect(2, "");
    let broken = scratch.path().join("broken.json");
    fs::write(&broken, "{").unwrap();
    let run = certkern(["digest", text(&broken)]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("broken.json"), "{}", run.stderr);
}
