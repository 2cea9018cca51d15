//! `certkern export torch`: what is written, and what is never overwritten.

use crate::support::{certkern, entries, root, text};
use std::fs;

#[test]
fn a_graph_becomes_a_module_and_its_state_dictionary() {
    let scratch = tempfile::tempdir().unwrap();
    let (out, bundle) = (scratch.path().join("deep/model"), root().join("certs/accept/leaves/small_relu"));
    let (graph, payload) = (bundle.join("graph.json"), bundle.join("payload.safetensors"));
    // Twice: an earlier export may be replaced.
    for _ in 0..2 {
        let run = certkern(["export", "torch", text(&graph), text(&payload), "-o", text(&out)]);
        let digests = certkern(["digest", text(&graph), text(&payload)]);
        assert_eq!((run.code, run.stderr.as_str(), run.stdout), (0, "", digests.stdout));
    }
    let names: Vec<_> = entries(&out).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["model.py", "model.safetensors"]);
    assert!(fs::read_to_string(out.join("model.py")).unwrap().contains("class Model(nn.Module):"));
}

#[test]
fn the_numbers_may_stand_in_the_graph() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("model");
    let run = certkern(["export", "torch", "schemas/example/graph.json", "-o", text(&out)]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(fs::read_to_string(out.join("model.py")).unwrap().contains("dtype=torch.float64"));
}

#[test]
fn refusals_have_their_exit_codes_and_write_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let (graph, out) = (scratch.path().join("graph.json"), scratch.path().join("model"));
    let export = |graph: &str| certkern(["export", "torch", graph, "-o", text(&out)]);
    fs::write(&graph, r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
        {"id": 0, "kind": "input", "parents": [], "shape": [2]}, {"id": 1, "kind": "rand_uniform", "parents": [], "shape": [2], "seed": 1}]}"#).unwrap();
    let run = export(text(&graph));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("node 1 (rand_uniform)"), "{}", run.stderr);
    fs::write(&graph, "{}").unwrap();
    assert_eq!(export(text(&graph)).code, 2);
    export(text(&scratch.path().join("absent.json"))).expect_usage("cannot read");
    assert!(!out.exists());
    certkern(["export", "torch", text(&graph), "-o", text(scratch.path())]).expect_usage("would overwrite");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine"), "").unwrap();
    export(text(&graph)).expect_usage("holds mine");
}
