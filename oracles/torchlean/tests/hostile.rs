//! Artifacts that are damaged or lie about their shape: refused with the place, never a panic.

use certkern_torchlean::{Given, convert};
use certkern_wire::Limits;

const QUERY: &str = r#"{"format":"crown_query_v1","input_dim":1,"input":{"lo":["-1"],"hi":["1"]},
 "layers":[{"kind":"linear","weights":[["1"],["-1"]],"bias":["0","0"]},{"kind":"relu","alpha":["1/2","0"]},{"kind":"linear","weights":[["1","1"]],"bias":["0"]}],
 "query":{"weights":[["1"]],"bias":["-3/2"],"strict":true}}"#;
const MONOTONE: &str = r#"{"format":"monotonicity_v1","input_dim":2,"layers":[{"kind":"linear","weights":[["1/3","0"]],"bias":["-7"]},{"kind":"relu"}]}"#;
const LEAVES: &str = r#"{"format":"abcrown_leaf_artifact_v0_1","input_dim":2,"root":{"lo":[-1,-1],"hi":[1,1]},
 "leaves":[{"lo":[-1,-1],"hi":[0,1],"lb":[1],"threshold":[0],"witness_idx":0,"witness_margin":1},{"lo":[0,-1],"hi":[1,1],"lb":[2],"threshold":[0]}]}"#;
const IBP: &str = r#"{"graph":"g","input_box":{"id":0,"dim":2,"lo":[-1,-1],"hi":[1,1]},"result":{"node_id":1,"dim":1,"lo":[-2],"hi":[2.5]}}"#;
const GRAPH: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[{"id":0,"kind":"input","parents":[],"shape":[2]},
 {"id":1,"kind":"sum","parents":[0],"shape":[]}]}"#;
const PROPERTY: &str = r#"{"format":"certkern.property.v1","outputs":1,"lower":[-1,-1],"upper":[1,1],"unsafe":[[{"y":{"0":1},"bound":-3,"strict":false}]]}"#;

/// What goes with an artifact: the graph, and the property or not.
fn given(artifact: &str) -> Given<'static> {
    let graph = Some(("graph.json", GRAPH.as_bytes()));
    match artifact {
        LEAVES => Given { graph, property: Some(("property.json", PROPERTY.as_bytes())), ..Given::default() },
        IBP => Given { graph, ..Given::default() },
        _ => Given::default(),
    }
}

#[test]
fn good_artifacts_are_good() {
    for artifact in [QUERY, MONOTONE, LEAVES, IBP] {
        convert(("a.json", artifact.as_bytes()), &given(artifact), &Limits::default()).unwrap();
    }
}

#[test]
fn one_edit_is_refused_with_its_place() {
    // Artifact, what is replaced by what, and what the refusal says.
    let cases: &[(&str, &str, &str, &str)] = &[
        (QUERY, r#""input_dim":1"#, r#""input_dim":"1""#, "input_dim"),
        (QUERY, r#""input_dim":1"#, r#""input_dim":0"#, "expected a coordinate at least"),
        (QUERY, r#""input_dim":1"#, r#""input_dim":2"#, "input.lo"),
        (QUERY, r#""lo":["-1"]"#, r#""lo":[-1]"#, ""),
        (QUERY, r#""lo":["-1"]"#, r#""lo":["2"]"#, "input.hi[0]"),
        (QUERY, r#""lo":["-1"]"#, r#""lo":["NaN"]"#, "input.lo[0]"),
        (QUERY, r#""lo":["-1"]"#, r#""lo":[NaN]"#, "input.lo"),
        (QUERY, r#"["1"],["-1"]"#, r#"["1"],["-1","0"]"#, "layers[0].weights[1]"),
        (QUERY, r#"["1"],["-1"]"#, r#"["1"],["-1/0"]"#, "layers[0].weights[1][0]"),
        (QUERY, r#"["1"],["-1"]"#, r#"["1"],[-1]"#, "layers[0].weights[1][0]"),
        (QUERY, r#"["1"],["-1"]"#, "", "layers[0].weights"),
        (QUERY, r#""bias":["0","0"]"#, r#""bias":["0"]"#, "layers[0].bias"),
        (QUERY, r#""alpha":["1/2","0"]"#, r#""alpha":["1/2"]"#, "layers[1].alpha"),
        (QUERY, r#","alpha":["1/2","0"]"#, "", "alpha"),
        (QUERY, r#""kind":"relu""#, r#""kind":"tanh""#, "layers[1].kind"),
        (QUERY, r#"[["1","1"]]"#, r#"[["1"]]"#, "layers[2].weights[0]"),
        (QUERY, r#"{"weights":[["1"]],"bias":["-3/2"]"#, r#"{"weights":[],"bias":[]"#, "query.weights"),
        (QUERY, r#""strict":true"#, r#""strict":1"#, "query.strict"),
        (QUERY, r#""strict":true"#, r#""strict":true,"tol":0.1"#, "tol"),
        (QUERY, r#""strict":true"#, r#""strict":false,"strict":true"#, "query.strict"),
        (MONOTONE, r#"["1/3","0"]"#, r#"["1/3"]"#, "layers[0].weights[0]"),
        (MONOTONE, r#"{"kind":"relu"}"#, r#"{"kind":"relu","alpha":["0"]}"#, "alpha"),
        (MONOTONE, r#""layers":["#, r#""layers":[[],"#, "layers[0]"),
        (LEAVES, r#""lo":[0,-1]"#, r#""lo":[0.5,-1]"#, "no leaf box covers x[0] in [0, 0.5]"),
        (LEAVES, r#""lo":[0,-1]"#, r#""lo":[-0.5,-1]"#, "boxes 0 and 1 both cover x[0] in [-0.5, 0]"),
        (LEAVES, r#",{"lo":[0,-1],"hi":[1,1],"lb":[2],"threshold":[0]}"#, "", "no leaf box covers x[0] in [0, 1]"),
        (LEAVES, r#""hi":[0,1]"#, r#""hi":[-2,1]"#, "box 0: x[0] in [-1, -2] is no interval inside the region"),
        (LEAVES, r#""hi":[0,1]"#, r#""hi":[0,2]"#, "box 0: x[1] in [-1, 2] is no interval inside the region"),
        (LEAVES, r#""hi":[0,1]"#, r#""hi":[0]"#, "leaves[0].hi"),
        (LEAVES, r#""hi":[0,1]"#, r#""hi":[0,1e400]"#, "leaves[0].hi[1]"),
        (LEAVES, r#""hi":[0,1]"#, r#""hi":[0,null]"#, "leaves[0].hi[1]"),
        (LEAVES, r#""lb":[1]"#, r#""lb":[NaN]"#, "leaves[0].lb"),
        (LEAVES, r#""lb":[1]"#, r#""lb":[1,2]"#, "leaves[0].threshold"),
        (LEAVES, r#""witness_idx":0"#, r#""witness_idx":1"#, "leaves[0].witness_idx"),
        (LEAVES, r#""witness_idx":0"#, r#""witness_idx":-1"#, "leaves[0].witness_idx"),
        (
            LEAVES,
            r#""root":{"lo":[-1,-1]"#,
            r#""root":{"lo":[-0.5,-1]"#,
            "the lower end of x[0] is -0.5 in the root box",
        ),
        (LEAVES, r#""input_dim":2"#, r#""input_dim":3"#, "root.lo"),
        (LEAVES, r#""leaves":["#, r#""leaves":[],"more":["#, "more"),
        (IBP, r#""dim":2"#, r#""dim":3"#, "input_box.lo"),
        (IBP, r#""hi":[2.5]"#, r#""hi":[-2.5]"#, "result.hi[0]"),
        (IBP, r#""hi":[2.5]"#, r#""hi":["2.5x"]"#, "result.hi[0]"),
        (
            IBP,
            r#""dim":1,"lo":[-2],"hi":[2.5]"#,
            r#""dim":2,"lo":[-2,0],"hi":[2.5,1]"#,
            "the property has 2 output variables and the network 1",
        ),
        (IBP, r#""graph":"g""#, r#""graph":7"#, "graph"),
    ];
    for (artifact, old, new, text) in cases {
        assert_eq!(artifact.matches(old).count(), 1, "{old}");
        let edited = artifact.replace(old, new);
        let made = convert(("a.json", edited.as_bytes()), &given(artifact), &Limits::default());
        if text.is_empty() {
            // Ends of boxes may be JSON numbers: they are as exact.
            made.unwrap();
            continue;
        }
        let error = match made {
            Ok(_) => panic!("accepted: {edited}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(text), "{edited}\n{error}");
    }
}

#[test]
fn what_is_no_artifact_is_said_to_be_none() {
    for (bytes, text) in [
        (&b"[]"[..], "this is no artifact of TorchLean that certkern knows"),
        (b"{}", "this is no artifact of TorchLean that certkern knows"),
        (b"{\"format\":7}", "this is no artifact of TorchLean that certkern knows"),
        (b"{\"format\":\"crown_query_v2\"}", "this is no artifact of TorchLean that certkern knows"),
        (b"{\"format\":\"crown_query_v1\"}", "missing"),
        (b"\xff", "UTF-8"),
        (b"", "the document ends"),
    ] {
        let error = convert(("a.json", bytes), &Given::default(), &Limits::default()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}
