//! One verdict: line and exit code agree, and a theorem is compared with the user's own files by digest.

use certkern_graph::Graph;
use certkern_seal::{Evidence, Theorem, Verdict};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Place, Reason, Rejection};

const GRAPH: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
{"id":0,"kind":"input","parents":[],"shape":[2]},{"id":1,"kind":"linear","parents":[0],"shape":[1],"weight":[[1,2]],"bias":[3]}]}"#;

fn graph(text: &str) -> Graph {
    Graph::read(text.as_bytes(), None, &Limits::default()).unwrap()
}

#[test]
fn each_class_has_its_line_and_exit_code() {
    let reject = |reason: Reason| Verdict::Rejected(Rejection::one(reason, Place::path("a.b")));
    let unproved = Reason::LeafUnproved { tree: 0, leaf: 1, disjunct: 2, bound: "-1".to_owned() };
    let table = [
        (reject(unproved), "s REJECTED leaf.unproved", 1, "unproved"),
        (
            reject(Reason::EnclosureRefuted { lower: "1".to_owned(), upper: "2".to_owned() }),
            "s REJECTED enclosure.refuted",
            1,
            "refuted",
        ),
        (reject(Reason::JsonTrailing), "s REJECTED json.trailing", 2, "malformed"),
        (reject(Reason::Limit { name: "nodes", limit: 5 }), "s LIMIT nodes", 3, "limit"),
        (reject(Reason::Internal("x")), "", 70, "internal"),
    ];
    for (verdict, line, code, name) in table {
        assert_eq!((verdict.line().as_str(), verdict.exit_code(), verdict.name()), (line, code, name));
    }
    let accepted = Verdict::Accepted(Box::new(Theorem::well_shaped(&graph(GRAPH))));
    assert_eq!((accepted.exit_code(), accepted.name()), (0, "accepted"));
    assert!(accepted.line().starts_with("s ACCEPTED well-shaped "));
}

#[test]
fn the_claim_digest_is_that_of_the_specification() {
    // Computed apart with Python's struct and hashlib, graph and payload digests included, from SPEC.md section 6.
    let theorem = Theorem::well_shaped(&graph(GRAPH));
    assert_eq!(theorem.claim().to_string(), "e0be77ff8995a65d2d2e63f615a6434fc14761dd42442bca860d0b2f2762d12d");
}

#[test]
fn the_users_own_model_is_compared_by_digest() {
    let theorem = || Theorem::well_shaped(&graph(GRAPH));
    assert_eq!(theorem().model(), Evidence::Assumed);
    let same = theorem().compared_with_model(&graph(&GRAPH.replace("3]", "3.0]")), "net.onnx").unwrap();
    assert_eq!(same.model(), Evidence::Compared);
    let code = |text: &str| {
        let refused = theorem().compared_with_model(&graph(text), "net.onnx").unwrap_err();
        refused.first().reason.code()
    };
    assert_eq!(code(&GRAPH.replace("[[1,2]]", "[[1,2.5]]")), "bind.payload");
    assert_eq!(code(&GRAPH.replace("\"output_ids\":[1]", "\"output_ids\":[0]")), "bind.graph");
}
