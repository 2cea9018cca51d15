//! Artifacts of `certs/torchlean`: what becomes of them, and what they lack.

use certkern_claims::{Files, check_bundle, check_document};
use certkern_torchlean::{Certificate, Given, ImportError, MarginClaim, Named, convert};
use certkern_wire::Limits;
use std::fs;
use std::path::Path;

fn read(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../certs/torchlean").join(name)).unwrap()
}

/// The verdict line without its digest.
fn verdict(artifact: &[u8], given: &Given<'_>) -> Result<String, ImportError> {
    let limits = Limits::default();
    let line = match convert(("artifact.json", artifact), given, &limits)?.certificate {
        Certificate::Bundle(bundle) => {
            let files: Files<'_> = bundle.files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
            check_bundle(&files, &limits, &()).line()
        }
        Certificate::Document { bytes, .. } => check_document(&bytes, &limits).line(),
    };
    Ok(line.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn said(artifact: &[u8], given: &Given<'_>, line: &str) {
    assert_eq!(verdict(artifact, given).unwrap(), line);
}

#[track_caller]
fn refused(artifact: &[u8], given: &Given<'_>, text: &str) {
    let error = verdict(artifact, given).unwrap_err().to_string();
    assert!(error.contains(text), "{error}");
}

fn named<'a>(name: &'a str, bytes: &'a [u8]) -> Option<Named<'a>> {
    Some((name, bytes))
}

#[test]
fn queries_are_decided_by_the_kernel() {
    let none = Given::default();
    said(&read("query.json"), &none, "s ACCEPTED unsat");
    // False at the lower corner of the box.
    said(&read("false_query.json"), &none, "s REJECTED leaf.unproved");
    // |x| on [−1, 1] attains 1: closed and open rows differ there. The slopes are of no account where the chords decide.
    let query = |side: &str, strict: bool, alpha: &str| {
        format!(
            r#"{{"format":"crown_query_v1","input_dim":1,"input":{{"lo":["-1"],"hi":["1"]}},
            "layers":[{{"kind":"linear","weights":[["1"],["-1"]],"bias":["0","0"]}},{{"kind":"relu","alpha":["{alpha}","1/2"]}},
                {{"kind":"linear","weights":[["1","1"]],"bias":["0"]}}],
            "query":{{"weights":[["1"]],"bias":["{side}"],"strict":{strict}}}}}"#
        )
    };
    said(query("-1", false, "1/2").as_bytes(), &none, "s ACCEPTED unsat");
    said(query("-1", true, "1/2").as_bytes(), &none, "s REJECTED leaf.unproved");
    said(query("-1000000001/1000000000", true, "0").as_bytes(), &none, "s ACCEPTED unsat");
    said(query("-999999999/1000000000", false, "1/2").as_bytes(), &none, "s REJECTED leaf.unproved");
    said(query("-3/2", true, "3/2").as_bytes(), &none, "s REJECTED hint.domain");
    let graph = read("graph.json");
    refused(&read("query.json"), &Given { graph: named("graph.json", &graph), ..none }, "has no use for --graph");
}

#[test]
fn monotonicity_is_decided_by_the_kernel() {
    let artifact = String::from_utf8(read("monotonicity.json")).unwrap();
    said(artifact.as_bytes(), &Given::default(), "s ACCEPTED monotone");
    let falling = artifact.replacen("\"weights\": [[\"", "\"weights\": [[\"-", 1);
    assert_ne!(falling, artifact);
    said(falling.as_bytes(), &Given::default(), "s REJECTED monotone.unproved");
}

#[test]
fn leaves_are_bounded_afresh() {
    let (graph, property, leaves) = (read("graph.json"), read("property.json"), read("leaves.json"));
    let given =
        Given { graph: named("graph.json", &graph), property: named("property.json", &property), ..Given::default() };
    said(&leaves, &given, "s ACCEPTED unsat");
    let leaves = String::from_utf8(leaves).unwrap();
    // Whatever it says of its bounds, y does not lie above 1.
    let high = String::from_utf8(property.clone()).unwrap().replace("0.25", "1");
    let lying = leaves.replace("\"lb\": [1]", "\"lb\": [1000]");
    said(
        lying.as_bytes(),
        &Given { property: named("property.json", high.as_bytes()), ..given },
        "s REJECTED leaf.unproved",
    );
    // One leaf for the whole square does not suffice.
    let root = r#"{"format":"abcrown_leaf_artifact_v0_1","input_dim":2,"root":{"lo":[-1,-1],"hi":[1,1]},
        "leaves":[{"lo":[-1,-1],"hi":[1,1],"lb":[1],"threshold":[0]}]}"#;
    said(root.as_bytes(), &given, "s REJECTED leaf.unproved");
    refused(leaves.as_bytes(), &Given { property: None, ..given }, "lacks the property, with the region (--property)");
    refused(leaves.as_bytes(), &Given::default(), "lacks the network (--graph), the property");
    let wide = String::from_utf8(property.clone()).unwrap().replace("[1, 1]", "[1, 1.5]");
    let wide = Given { property: named("property.json", wide.as_bytes()), ..given };
    refused(leaves.as_bytes(), &wide, "the upper end of x[1] is 1 in the root box and 1.5 in property.json");
}

/// y[0, j] = relu(x[0, j]) on [0, 1]²: never below −1, and not above 1/2 everywhere. The property names elements of tensors of two axes.
#[test]
fn leaves_of_tensors_are_about_the_network_of_their_shapes() {
    let graph = br#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
        {"id":0,"kind":"input","parents":[],"shape":[1,2]},{"id":1,"kind":"relu","parents":[0],"shape":[1,2]}]}"#;
    let property = |shape: &str, row: &str| {
        format!(
            "(vnnlib-version <2.0>) (declare-network n (declare-input X Real {shape}) (declare-output Y Real {shape}))
            (assert (and (>= X[0,0] 0) (<= X[0,0] 1) (>= X[0,1] 0) (<= X[0,1] 1))) (assert {row})"
        )
    };
    let leaves = br#"{"format":"abcrown_leaf_artifact_v0_1","input_dim":2,"root":{"lo":[0,0],"hi":[1,1]},
        "leaves":[{"lo":[0,0],"hi":[1,1],"lb":[1],"threshold":[0]}]}"#;
    let given = |property: &'static [u8]| Given {
        graph: named("graph.json", graph),
        property: named("property.vnnlib", property),
        ..Given::default()
    };
    let kept = |text: String| -> &'static [u8] { text.into_bytes().leak() };
    said(leaves, &given(kept(property("[1,2]", "(<= Y[0,1] -1)"))), "s ACCEPTED unsat");
    said(leaves, &given(kept(property("[1,2]", "(>= Y[0,1] 0.5)"))), "s REJECTED leaf.unproved");
    refused(leaves, &given(kept(property("[2,1]", "(<= Y[0,1] -1)"))), "property.vnnlib");
}

#[test]
fn bounds_are_bound_to_a_graph_and_a_region() {
    let (graph, region) = (read("graph.json"), read("region.json"));
    let given = Given { graph: named("graph.json", &graph), ..Given::default() };
    said(&read("ibp.json"), &given, "s ACCEPTED bound");
    let ibp = String::from_utf8(read("ibp.json")).unwrap();
    refused(
        ibp.replace("\"node_id\": 3", "\"node_id\": 2").as_bytes(),
        &given,
        "the result is of node 2, the outputs of the graph are [3]",
    );
    refused(ibp.replace("\"id\": 0", "\"id\": 1").as_bytes(), &given, "the box is of node 1");
    refused(&read("bound.json"), &given, "lacks the region of inputs (--region)");
    said(&read("bound.json"), &Given { region: named("region.json", &region), ..given }, "s ACCEPTED bound");
}

#[test]
fn margins_are_of_the_files_that_the_report_names() {
    let (report, weights, dataset) = (read("margin.json"), read("weights.json"), read("dataset.json"));
    let (weights, dataset) = (named("weights.json", &weights), named("dataset.json", &dataset));
    let given =
        |example, claim| Given { weights, dataset, example: Some(example), claim: Some(claim), ..Given::default() };
    said(&report, &given(7, MarginClaim::Bound), "s ACCEPTED bound");
    said(&report, &given(7, MarginClaim::Margin), "s ACCEPTED unsat");
    said(&report, &given(8, MarginClaim::Bound), "s ACCEPTED bound");
    refused(&report, &given(8, MarginClaim::Margin), "example 8 is not `certified`");
    // Its first bound is too low by 2⁻⁴⁰; the margin holds all the same.
    said(&report, &given(9, MarginClaim::Bound), "s REJECTED leaf.unproved");
    said(&report, &given(9, MarginClaim::Margin), "s ACCEPTED unsat");
    // A margin that is only said: example 8, where the logits overlap.
    let text = String::from_utf8(report.clone()).unwrap();
    let lying = text.replace("\"certified\": false", "\"certified\": true");
    said(lying.as_bytes(), &given(8, MarginClaim::Margin), "s REJECTED leaf.unproved");
    refused(&report, &given(6, MarginClaim::Bound), "the report has no example 6");
    let other = Given { dataset: weights, ..given(7, MarginClaim::Bound) };
    refused(&report, &other, "meta.dataset_sha256");
    refused(
        text.replacen("\"label\": 0", "\"label\": 2", 1).as_bytes(),
        &given(7, MarginClaim::Bound),
        "example 7 has the label 2",
    );
    refused(
        &report,
        &Given::default(),
        "lacks the weights of the classifier (--weights), the points of the examples (--dataset), the id of one example (--example)",
    );
}
