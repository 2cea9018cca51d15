//! The documents of the boundary chapter of TorchLean: one acceptance, and four rejections.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test may read a file and say that it did not"
)]

use certkern_graph::Graph;
use certkern_wire::{Limits, Reason, Rejection};

const GOOD: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[2],"nodes":[
 {"id":0,"kind":"input","parents":[],"shape":[1,4]},
 {"id":1,"kind":"relu","parents":[0],"shape":[1,4]},
 {"id":2,"kind":"sum","parents":[1],"shape":[]}]}"#;

fn read(document: &str) -> Result<Graph, Rejection> {
    Graph::read(document.as_bytes(), None, &Limits::default())
}

/// The good document with one place of it changed, refused with one fault.
fn refused(from: &str, to: &str) -> Reason {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    let rejection = read(&GOOD.replace(from, to)).unwrap_err();
    assert_eq!(rejection.faults().count(), 1, "{rejection:?}");
    rejection.first().reason.clone()
}

#[test]
fn accepted() {
    let graph = read(GOOD).unwrap();
    assert_eq!(format!("accepted: {graph}"), "accepted: nodes=3, input=0, outputs=#[2]");
    assert_eq!((graph.nodes().len(), graph.input_id(), graph.output_ids()), (3, 0, &[2][..]));
    let kinds: Vec<&str> = graph.nodes().iter().map(|node| node.kind()).collect();
    assert_eq!(kinds, ["input", "relu", "sum"]);
    assert_eq!(graph.nodes()[1].parents(), [0]);
    assert_eq!(graph.nodes()[1].shape(), [1, 4]);
    assert_eq!(graph.nodes()[2].width(), 1);
}

#[test]
fn the_shared_document_is_the_same_graph() {
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let path = format!("{repository}/../shared/data/torchlean/torchlean_ir_v1.ffiGood.json");
    let required = std::env::var_os("CERTKERN_REQUIRE_SHARED").is_some_and(|value| value == "1");
    match std::fs::read(path) {
        Ok(bytes) => {
            let graph = Graph::read(&bytes, None, &Limits::default()).unwrap();
            assert_eq!(graph.digest(), read(GOOD).unwrap().digest());
        }
        Err(error) => {
            assert!(!required, "../shared is absent: {error}");
            eprintln!("SKIPPED: ../shared is absent");
        }
    }
}

#[test]
fn format() {
    let reason = refused("torchlean.ir.v1", "torchlean.ir.v2");
    assert_eq!(reason.code(), "graph.format");
    let (found, expected) = ("torchlean.ir.v2".to_owned(), "torchlean.ir.v1");
    assert_eq!(reason, Reason::GraphFormat { found, expected });
    // Before any node is looked at.
    let both = GOOD.replace("torchlean.ir.v1", "torchlean.ir.v2").replace("relu", "sort");
    assert_eq!(read(&both).unwrap_err().faults().count(), 1);
}

#[test]
fn operator() {
    let reason = refused("relu", "sort");
    assert_eq!(reason.code(), "graph.unsupported-op");
    assert_eq!(reason, Reason::GraphUnsupportedOp { node: 1, kind: "sort".to_owned() });
}

#[test]
fn shape() {
    let reason = refused(r#""parents":[0],"shape":[1,4]"#, r#""parents":[0],"shape":[1,5]"#);
    assert_eq!(reason.code(), "graph.shape-mismatch");
    let (parents, inferred, declared) = (vec![0], vec![1, 4], vec![1, 5]);
    assert_eq!(reason, Reason::GraphShapeMismatch { node: 1, kind: "relu", parents, inferred, declared });
}

#[test]
fn parent() {
    let reason = refused(r#""kind":"relu","parents":[0]"#, r#""kind":"relu","parents":[2]"#);
    assert_eq!(reason.code(), "graph.parent-order");
    assert_eq!(reason, Reason::GraphParentOrder { node: 1, parent: 2 });
}
