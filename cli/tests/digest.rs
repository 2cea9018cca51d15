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
    let enclosure = schemas.join("example/enclosure.json");
    let page = fs::read_to_string(schemas.join("SPEC.md")).unwrap();
    for (files, roles) in [(vec![&graph, &property], 4), (vec![&enclosure], 2)] {
        let run = certkern([vec!["digest"], files.into_iter().map(|file| text(file)).collect()].concat());
        assert_eq!((run.code, run.stdout.lines().count()), (0, roles), "{}", run.stderr);
        for line in run.stdout.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(page.contains(&format!("| {} | `{}` |", words[0], words[1])), "{line}");
        }
    }
}

/// The digests of the specification's example stay: of its query, and of its answer whatever that names.
#[test]
fn an_enclosure_has_digests_whatever_query_its_answer_names() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("claim.json");
    let example = fs::read_to_string(root().join("schemas/example/enclosure.json")).unwrap();
    let query = "b51c69736261acb0431785a9a9faf3cb41730d86627daa3ece91f9d3a02a0b6a";
    let answer = "3ac3ed854aaac7a5b3dd7735fab648c0b234dc8f6441266d987803e70a310d98";
    fs::write(&path, example.replace(query, &"0".repeat(64))).unwrap();
    let run = certkern(["digest", "--format", "json", text(&path)]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["digests"], serde_json::json!({"query": query, "answer": answer}), "{}", run.stderr);
    // Another ball: another answer, the same query.
    fs::write(&path, example.replace("\"851\"", "\"852\"")).unwrap();
    let lines = certkern(["digest", text(&path)]).stdout;
    assert!(lines.starts_with(&format!("query    {query}\nanswer   ")) && !lines.contains(answer), "{lines}");
    fs::write(&path, example.replace("\"tanh\"", "\"tahn\"")).unwrap();
    let run = certkern(["digest", text(&path)]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("claim.json"), "{}", run.stderr);
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
