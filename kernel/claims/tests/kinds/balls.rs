//! Points at which a network has no rational values, and what else is told of claims that are met seldom.
//!
//! By mpmath 1.3.0 at 40 digits, with `p = tanh 1` and `q = tanh 1/3`: p = 0.76159415595576488811…, p² = 0.58002565838597393060…,
//! pq = 0.24486222196943243015…, 2p + 3q = 2.48772652450643281039….

use crate::support::{Array, Bundle, GRAPH, above, check, f64s, u8s, u32s};
use certkern_claims::{Arith, Files, Opened, Sources};
use certkern_report::Report;
use certkern_seal::Verdict;
use certkern_wire::limits::Limits;
use std::collections::BTreeMap;

/// The verdict on the witness `(1, 1/3)` for `y[output] ≥ bound`, where the nodes come after an input of shape `[1, 2]` and its hyperbolic tangent.
fn at(nodes: &str, outputs: &str, (width, output): (usize, usize), bound: &str) -> Verdict {
    let graph = format!(
        r#"{{"format":"certkern.ir.v1","input_id":0,"output_ids":{outputs},"nodes":[
        {{"id":0,"kind":"input","parents":[],"shape":[1,2]}},{{"id":1,"kind":"tanh","parents":[0],"shape":[1,2]}}{nodes}]}}"#
    );
    let property = format!(
        r#"{{"format":"certkern.property.v1","outputs":{width},"lower":[-1,-1],"upper":[1,1],
        "unsafe":[[{{"y":{{"{output}":"-1"}},"bound":"-{bound}","strict":false}}]]}}"#
    );
    let certificate = r#"{"format":"certkern.witness.v1","x":[1,"1/3"]}"#.to_owned();
    Bundle { kind: "witness", graph, property, certificate, hints: BTreeMap::new() }.check()
}

/// The value of the output lies between the two numbers, which differ in the last digit.
#[track_caller]
fn lies(nodes: &str, outputs: &str, place: (usize, usize), below: &str, above: &str) {
    let told = |bound| at(nodes, outputs, place, bound);
    assert!(told(below).line().starts_with("s ACCEPTED sat "), "{}", Report::of(&told(below)).text());
    assert_eq!(told(above).line(), "s REJECTED witness.property", "{}", Report::of(&told(above)).text());
}

#[test]
fn products_and_maxima_are_enclosed() {
    let nodes = r#",{"id":2,"kind":"gather","parents":[1],"shape":[1,2],"axis":1,"indices":[1,0]},
        {"id":3,"kind":"mul_elem","parents":[1,1],"shape":[1,2]},{"id":4,"kind":"mul_elem","parents":[1,2],"shape":[1,2]},
        {"id":5,"kind":"reduce_max","parents":[2],"shape":[1],"axes":[1],"keepdim":false}"#;
    lies(nodes, "[3,4,5]", (5, 0), "0.58002565838597393060", "0.58002565838597393061");
    lies(nodes, "[3,4,5]", (5, 3), "0.24486222196943243015", "0.24486222196943243016");
    lies(nodes, "[3,4,5]", (5, 4), "0.76159415595576488811", "0.76159415595576488812");
}

#[test]
fn a_convolution_is_enclosed() {
    let nodes = r#",{"id":2,"kind":"reshape","parents":[1],"shape":[1,1,2]},{"id":3,"kind":"conv","parents":[2],"shape":[1,1,1],
        "spatial_rank":1,"kernel":[2],"stride":[1],"padding":[0],"dilation":[1],"groups":1,"channel_axis":1,"in_channels":1,
        "out_channels":1,"weight":[[[2,3]]],"bias":[0]}"#;
    lies(nodes, "[3]", (1, 0), "2.48772652450643281039", "2.48772652450643281040");
}

#[test]
fn a_point_outside_the_domain_is_no_witness() {
    let property = r#"{"format":"certkern.property.v1","outputs":1,"lower":[-1],"upper":[1],"unsafe":[[{"y":{"0":"1"},"bound":0,"strict":false}]]}"#;
    let inverse = |x: &str| {
        let graph = r#"{"format":"certkern.ir.v1","input_id":0,"output_ids":[1],"nodes":[
            {"id":0,"kind":"input","parents":[],"shape":[1]},{"id":1,"kind":"inv","parents":[0],"shape":[1]}]}"#;
        let certificate = format!(r#"{{"format":"certkern.witness.v1","x":[{x}]}}"#);
        let property = property.to_owned();
        Bundle { kind: "witness", graph: graph.to_owned(), property, certificate, hints: BTreeMap::new() }.check()
    };
    assert!(inverse("-1").line().starts_with("s ACCEPTED sat "), "{}", Report::of(&inverse("-1")).text());
    assert_eq!((inverse("0").line().as_str(), inverse("0").exit_code()), ("s REJECTED domain.unproved", 1));
    // log(q − 1/2), where q = tanh 1/3 is known in balls alone.
    let nodes = r#",{"id":2,"kind":"linear","parents":[1],"shape":[1,1],"weight":[[0,1]],"bias":[-0.5]},
        {"id":3,"kind":"log","parents":[2],"shape":[1,1]}"#;
    let logarithm = at(nodes, "[3]", (1, 0), "0");
    assert_eq!((logarithm.line().as_str(), logarithm.exit_code()), ("s REJECTED witness.undecided", 1));
    assert!(Report::of(&logarithm).text().contains("or not shown to be defined"), "{}", Report::of(&logarithm).text());
}

#[test]
fn values_beyond_the_budget_are_no_witness() {
    // Six exponentials of a number above 0.7 are beyond every power of two that is computed with.
    let step = |id: usize| format!(r#",{{"id":{id},"kind":"exp","parents":[{}],"shape":[1,2]}}"#, id - 1);
    let nodes: String = (2..8).map(step).collect();
    let verdict = at(&nodes, "[7]", (2, 0), "0");
    assert_eq!(verdict.line(), "s REJECTED witness.undecided");
    assert!(Report::of(&verdict).text().contains("too large to be enclosed"), "{}", Report::of(&verdict).text());
}

/// Asserts that the parts are no proof, and that it is the kernel's caller who is at fault.
#[track_caller]
fn strangers(verdict: &Verdict) {
    match verdict {
        Verdict::Rejected(rejection) => assert_eq!(rejection.first().reason.code(), "internal"),
        Verdict::Accepted(_) => panic!("{}", verdict.line()),
    }
}

/// One leaf for all disjuncts.
fn one_leaf(property: String) -> Bundle {
    let certificate = r#"{"format":"certkern.leaves.v1","trees":[0]}"#.to_owned();
    Bundle { kind: "leaves", graph: GRAPH.to_owned(), property, certificate, hints: BTreeMap::new() }
}

#[test]
fn a_claim_about_no_input_is_called_vacuous() {
    let property = |bound: &str| {
        above("5").replace(r#"[[{"y""#, &format!(r#"[[{{"x":{{"0":"1"}},"bound":"{bound}","strict":false}},{{"y""#))
    };
    let told = |bundle: Bundle| {
        let verdict = bundle.check();
        assert!(verdict.line().starts_with("s ACCEPTED unsat "), "{}", Report::of(&verdict).text());
        let said = (
            Report::of(&verdict).text().contains("VACUOUS: no input"),
            Report::of(&verdict).json().contains(r#""vacuous":true"#),
        );
        assert_eq!(said.0, said.1);
        said.0
    };
    // x ≤ −2 on [−1, 1], and x ≤ −1, which one input satisfies.
    assert!(told(one_leaf(property("-2"))));
    assert!(!told(one_leaf(property("-1"))));
}

#[test]
fn parts_that_are_not_the_whole_are_no_proof() {
    let files_of = |bundle: &Bundle| bundle.files();
    let certificate = r#"{"format":"certkern.witness.v1","x":[1]}"#.to_owned();
    let witness = Bundle { kind: "witness", certificate, ..one_leaf(above("0.5")) };
    let (point, leaf) = (files_of(&witness), files_of(&one_leaf(above("0.76"))));
    let opened = |files: &BTreeMap<String, Vec<u8>>, run: &dyn Fn(&Opened<'_>)| {
        let files: Files<'_> = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        run(&Opened::new(&files, &Sources::new(), &Limits::default(), Arith::Auto)
            .unwrap_or_else(|fault| panic!("{fault:?}")));
    };
    opened(&point, &|point| {
        let part = || point.check(0..1, &()).unwrap_or_else(|(_, fault)| panic!("{fault:?}"));
        assert!(point.join([part()]).line().starts_with("s ACCEPTED sat "));
        for parts in [vec![], vec![part(), part()]] {
            strangers(&point.join(parts));
        }
        opened(&leaf, &|leaf| {
            let own = || leaf.check(0..1, &()).unwrap_or_else(|(_, fault)| panic!("{fault:?}"));
            assert!(leaf.join([own()]).line().starts_with("s ACCEPTED unsat "));
            strangers(&leaf.join([part()]));
            strangers(&leaf.join([own(), part()]));
            strangers(&point.join([own()]));
        });
    });
}

#[test]
fn offsets_of_trees_ascend() {
    // Two trees of one leaf each, and a third piece that would end before it starts.
    let column = |count: usize| u32s(&vec![0; count]);
    let with = |offsets: &[u32], count: usize| -> BTreeMap<String, Array> {
        BTreeMap::from([
            ("tree.offset".to_owned(), u32s(offsets)),
            ("tree.kind".to_owned(), u8s(&vec![0; count])),
            ("tree.node".to_owned(), column(count)),
            ("tree.coordinate".to_owned(), column(count)),
            ("tree.threshold".to_owned(), column(count)),
            ("threshold.value".to_owned(), f64s(&[0], &[])),
        ])
    };
    let told = |offsets: &[u32], count| {
        let verdict = check(&Bundle { hints: with(offsets, count), ..one_leaf(above("0.76")) }.files());
        (verdict.line(), Report::of(&verdict).text())
    };
    assert!(told(&[0, 1], 1).0.starts_with("s ACCEPTED unsat "), "{}", told(&[0, 1], 1).1);
    let (line, text) = told(&[0, 1, 2, 1, 3], 3);
    assert_eq!(line, "s REJECTED tree.malformed");
    assert!(text.contains("tree.offset[2] is not in ascending order"), "{text}");
}
