//! Rejections as text.

use certkern_report::Words;
use certkern_wire::{Fault, Place, Reason, Rejection};

/// The texts of the importer that users of the format know.
#[test]
fn graph_faults_read_as_in_the_neighbour() {
    let table = [
        (
            Reason::GraphShapeMismatch {
                node: 1,
                kind: "relu",
                parents: vec![0],
                inferred: vec![1, 4],
                declared: vec![1, 5],
            },
            "IR graph: node 1: outShape mismatch: inferred=[1, 4], declared=[1, 5] (Node(id=1, kind=relu, parents=#[0], outShape=[1, 5]))",
        ),
        (
            Reason::GraphFormat { found: "torchlean.ir.v2".to_owned(), expected: "torchlean.ir.v1" },
            "PyTorch graph import: unsupported format `torchlean.ir.v2` (expected `torchlean.ir.v1`)",
        ),
        (
            Reason::GraphUnsupportedOp { node: 1, kind: "sort".to_owned() },
            "PyTorch graph import: node[1]: unsupported TorchLean IR op kind `sort`",
        ),
        (
            Reason::GraphOpaque { node: 3, kind: "sign", detail: "it is not continuous" },
            "node 3: no claim about values can use `sign`: it is not continuous",
        ),
        (Reason::GraphParentOrder { node: 1, parent: 2 }, "PyTorch graph import: node[1]: parent id 2 is not < 1"),
    ];
    for (reason, text) in table {
        assert_eq!(Words(&reason).to_string(), text);
    }
}

#[test]
fn the_place_stands_first() {
    let fault = Fault::at(Reason::JsonUnknownKey("shpe".to_owned()), "nodes[1].shpe", 40);
    let rejection = Rejection::from(fault).in_file("graph.json");
    let text = Words(&rejection).to_string();
    assert!(text.starts_with("graph.json: nodes[1].shpe (byte 40): unknown field `shpe`"), "{text}");
    let many = Rejection::of(vec![
        Fault { reason: Reason::GraphEmpty, place: Place::default() },
        Fault { reason: Reason::JsonTrailing, place: Place::path("x") },
    ]);
    assert_eq!(Words(&many.unwrap()).to_string().lines().count(), 2);
}

#[test]
fn an_open_leaf_is_named_once() {
    let reason = Reason::LeafUnproved { tree: 0, leaf: 1, disjunct: 2, bound: "-1e-3".to_owned() };
    let fault = Fault { reason, place: Place::path("tree[0].leaf[1].disjunct[2]") };
    let text = "cert.safetensors: tree[0].leaf[1].disjunct[2]: not refuted, the bound reached is -1e-3 and must be above zero; \
                split further or give better slopes";
    assert_eq!(Words(&Rejection::from(fault).in_file("cert.safetensors")).to_string(), text);
}

/// A document cannot forge a verdict line, colour a terminal, or flood it.
#[test]
fn text_from_documents_is_escaped_and_shortened() {
    let nasty = format!("x\ns ACCEPTED unsat\u{1b}[2J\u{202e}{}", "y".repeat(100_000));
    let fault = Fault {
        reason: Reason::TensorsUnused(nasty.clone()),
        place: Place { file: Some(nasty.clone()), path: nasty, offset: None },
    };
    let text = Words(&Rejection::from(fault)).to_string();
    assert_eq!(text.lines().count(), 1);
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']));
    assert!(text.len() < 2000, "{}", text.len());
}

/// The command line has an option for two budgets, and for no other.
#[test]
fn a_budget_names_an_option_only_where_there_is_one() {
    let said = |name| Words(&Reason::Limit { name, limit: 5 }).to_string();
    assert!(said("time").ends_with("allow more with --max-time"), "{}", said("time"));
    assert!(said("memory").ends_with("allow more with --max-memory"), "{}", said("memory"));
    assert!(!said("nodes").contains("--") && said("nodes").contains("the budget `nodes` of 5"), "{}", said("nodes"));
}
