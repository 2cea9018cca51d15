//! Big documents: work in proportion to the bytes, memory within the limits.

use certkern_graph::Graph;
use certkern_wire::{Limits, Rejection};
use std::fmt::Write;

const NODES: usize = 300_000;

/// `relu` and `add` in turn, all on one number; `spoilt` nodes have an operator that is unknown.
fn chain(nodes: usize, spoilt: bool) -> String {
    let mut text = String::from(r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[0],"nodes":["#);
    text.push_str(r#"{"id":0,"kind":"input","parents":[],"shape":[1]}"#);
    for id in 1..nodes {
        let last = id - 1;
        let (kind, parents) = if id % 2 == 0 { ("add", vec![last, last / 2]) } else { ("relu", vec![last]) };
        let kind = if spoilt { "sort" } else { kind };
        write!(text, r#",{{"id":{id},"kind":"{kind}","parents":{parents:?},"shape":[1]}}"#).unwrap();
    }
    text + "]}"
}

#[test]
fn a_long_chain_is_read_and_lowered() {
    let graph = Graph::read(chain(NODES, false).as_bytes(), None, &Limits::default()).unwrap();
    assert_eq!(graph.nodes().len(), NODES);
    assert_eq!(graph.lower().unwrap().program.nodes().len(), NODES);
}

#[test]
fn no_more_faults_are_kept_than_are_shown() {
    let rejection = Graph::read(chain(NODES, true).as_bytes(), None, &Limits::default()).unwrap_err();
    assert_eq!(rejection.faults().count(), Rejection::MOST);
    assert!(rejection.faults().all(|fault| fault.reason.code() == "graph.unsupported-op"));
}

/// A graph of one input and one node, all of it small as text.
fn pair(input: &str, node: &str) -> String {
    format!(
        r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
            {{"id":0,"kind":"input","parents":[],"shape":{input}}}, {node}]}}"#
    )
}

fn code(document: &str, limits: &Limits) -> String {
    Graph::read(document.as_bytes(), None, limits).unwrap_err().first().reason.code()
}

#[test]
fn a_small_text_cannot_ask_for_much_memory() {
    let limits = Limits::default();
    let broadcast = |to: &str| {
        let node =
            format!(r#"{{"id":1,"kind":"broadcast_to","parents":[0],"shape":{to},"from_shape":[1],"to_shape":{to}}}"#);
        code(&pair("[1]", &node), &limits)
    };
    // One tensor, then the sum of all, then a product that does not fit a machine word.
    assert_eq!(broadcast("[2147483648]"), "limit.elements");
    assert_eq!(broadcast("[536870912]"), "limit.graph-elements");
    assert_eq!(broadcast("[4294967296, 4294967296]"), "limit.elements");
    assert_eq!(broadcast("[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"), "limit.rank");

    // Each parent of a concatenation has an index map as long as the result.
    let parents = vec![0; 40_000];
    let node = format!(r#"{{"id":1,"kind":"concat","parents":{parents:?},"shape":[40000],"axis":0}}"#);
    assert_eq!(code(&pair("[1]", &node), &limits), "limit.graph-elements");

    // A convolution has an index for each output place and kernel tap.
    let kernel = 20_000;
    let weight = vec![0; kernel];
    let node = format!(
        r#"{{"id":1,"kind":"conv","parents":[0],"shape":[1,20001],"spatial_rank":1,"kernel":[{kernel}],"stride":[1],
             "padding":[20000],"padding_after":[19999],"dilation":[1],"groups":1,"channel_axis":0,"in_channels":1,
             "out_channels":1,"weight":{weight:?},"bias":[0]}}"#
    );
    assert_eq!(code(&pair("[1,1]", &node), &limits), "limit.graph-elements");
}

/// What an operator's meaning holds is counted before it is made: `5·n·(n + 1)` numbers for a softmax, an index for each tap of each place for
/// a transposed convolution, that is `n²·k²` of a square one.
#[test]
fn meanings_that_are_larger_than_their_text_are_refused() {
    let limits = Limits::default();
    let softmax = |n: usize| {
        pair(&format!("[{n}]"), &format!(r#"{{"id":1,"kind":"softmax","parents":[0],"shape":[{n}],"axis":0}}"#))
    };
    assert_eq!(code(&softmax(1000), &limits), "limit.graph-elements");
    assert!(Graph::read(softmax(800).as_bytes(), None, &limits).is_ok());
    // One number spread by a kernel of k × k to an image of k × k.
    let spread = |k: usize| {
        let weight = format!("[[[{}]]]", vec![format!("[{}]", vec!["1"; k].join(",")); k].join(","));
        let node = format!(
            r#"{{"id":1,"kind":"conv_transpose","parents":[0],"shape":[1,1,{k},{k}],"spatial_rank":2,"kernel":[{k},{k}],"stride":[1,1],
            "padding":[0,0],"padding_after":[0,0],"output_padding":[0,0],"dilation":[1,1],"groups":1,"channel_axis":1,
            "in_channels":1,"out_channels":1,"input_spatial":[1,1],"weight":{weight},"bias":[0]}}"#
        );
        pair("[1,1,1,1]", &node).replace("torchlean.ir", "certkern.ir")
    };
    assert!(Graph::read(spread(30).as_bytes(), None, &limits).is_ok());
    assert_eq!(code(&spread(50), &limits), "limit.graph-elements");
}

/// A product of two values that both depend on the input is one term for each of `n³` products: 262,144 at `n = 64`, 8,000,000 at `n = 200`.
#[test]
fn a_product_of_many_terms_is_read_and_not_lowered() {
    let square = |n: usize| {
        let document =
            pair(&format!("[{n},{n}]"), &format!(r#"{{"id":1,"kind":"matmul","parents":[0,0],"shape":[{n},{n}]}}"#));
        Graph::read(document.as_bytes(), None, &Limits::default()).unwrap().lower().map(|_| ())
    };
    assert!(square(64).is_ok());
    assert_eq!(square(200).unwrap_err().first().reason.code(), "limit.graph-elements");
}

#[test]
fn every_limit_is_named() {
    let document = pair("[2, 3]", r#"{"id":1,"kind":"relu","parents":[0],"shape":[2, 3]}"#);
    let with = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        code(&document, &limits)
    };
    assert!(Graph::read(document.as_bytes(), None, &Limits::default()).is_ok());
    assert_eq!(with(|limits| limits.nodes = 1), "limit.nodes");
    assert_eq!(with(|limits| limits.rank = 1), "limit.rank");
    assert_eq!(with(|limits| limits.elements = 5), "limit.elements");
    assert_eq!(with(|limits| limits.graph_elements = 11), "limit.graph-elements");
}
