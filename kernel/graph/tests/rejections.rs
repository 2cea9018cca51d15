//! What is refused, with code and place, and what is not.

use certkern_graph::Graph;
use certkern_wire::{Limits, Rejection};

fn read(document: &str) -> Result<Graph, Rejection> {
    Graph::read(document.as_bytes(), None, &Limits::default())
}

/// Codes and paths of all faults; empty if the document is accepted.
fn faults(document: &str) -> Vec<(String, String)> {
    let rejection = read(document).err();
    let faults = rejection.iter().flat_map(Rejection::faults);
    faults.map(|fault| (fault.reason.code(), fault.place.path.clone())).collect()
}

#[track_caller]
fn refused(document: &str, expected: &[(&str, &str)]) {
    let faults = faults(document);
    let faults: Vec<(&str, &str)> = faults.iter().map(|(code, path)| (code.as_str(), path.as_str())).collect();
    assert_eq!(faults, expected, "{document}");
}

/// A document of these nodes with its input and output at place 0.
fn graph(nodes: &[&str]) -> String {
    let nodes = nodes.join(",");
    format!(r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[0],"nodes":[{nodes}]}}"#)
}

const INPUT: &str = r#"{"id":0,"kind":"input","parents":[],"shape":[2,3]}"#;

/// The input of shape [2, 3] and one node on it.
fn on_input(kind: &str, shape: &str, fields: &str) -> String {
    graph(&[INPUT, &format!(r#"{{"id":1,"kind":"{kind}","parents":[0],"shape":{shape}{fields}}}"#)])
}

#[test]
fn the_frame_of_the_document() {
    let root = |fields: &str| format!(r#"{{{fields}"nodes":[{INPUT}]}}"#);
    let format = r#""format":"torchlean.ir.v1","#;
    refused(&root(&format!(r#"{format}"input_id":0,"output_ids":[0,0,0],"#)), &[]);
    refused(&root(&format!(r#"{format}"input_id":0,"output_id":0,"#)), &[]);
    refused("[]", &[("json.type", "")]);
    refused("{}", &[("json.missing-key", "")]);
    refused(r#"{"format":1}"#, &[("json.type", "format")]);
    refused(
        r#"{"format":"torchlean.ir.v1"}"#,
        &[("json.missing-key", ""), ("json.missing-key", ""), ("json.missing-key", "")],
    );
    let both = root(&format!(r#"{format}"input_id":0,"output_id":0,"output_ids":[0],"#));
    refused(&both, &[("graph.output", "output_id")]);
    refused(&root(&format!(r#"{format}"input_id":0,"output_ids":[],"#)), &[("graph.output", "output_ids")]);
    refused(&root(&format!(r#"{format}"input_id":0,"output_ids":[1],"#)), &[("graph.output", "output_ids")]);
    refused(&root(&format!(r#"{format}"input_id":0,"output_ids":[0,-1],"#)), &[("json.number", "output_ids[1]")]);
    refused(&root(&format!(r#"{format}"input_id":1,"output_ids":[0],"#)), &[("graph.input", "input_id")]);
    refused(&root(&format!(r#"{format}"input_id":0.0,"output_ids":[0],"#)), &[("json.number", "input_id")]);
    refused(&root(&format!(r#"{format}"input_id":0,"output_ids":[0],"name":"n","#)), &[("json.unknown-key", "name")]);
    refused(r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[0],"nodes":[]}"#, &[("graph.empty", "nodes")]);
    refused(r#"{"format":"torchlean.ir.v1","format":"torchlean.ir.v1"}"#, &[("json.duplicate-key", "format")]);
}

#[test]
fn the_fields_that_all_nodes_share() {
    let node = |text: &str| graph(&[INPUT, text]);
    refused(&node(r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,3],"value_kind":"tensor"}"#), &[]);
    refused(
        &node(
            r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,3],"debug_target":"a","onnx_op_type":"Relu","onnx_name":""}"#,
        ),
        &[],
    );
    refused(&node("1"), &[("json.type", "nodes[1]")]);
    let missing = ("json.missing-key", "nodes[1]");
    refused(&node("{}"), &[missing, missing, missing, missing]);
    refused(&node(r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,-3]}"#), &[("json.number", "nodes[1].shape[1]")]);
    refused(&node(r#"{"id":1,"kind":"relu","parents":["0"],"shape":[2,3]}"#), &[("json.type", "nodes[1].parents[0]")]);
    refused(&node(r#"{"id":1,"kind":7,"parents":[0],"shape":[2,3]}"#), &[("json.type", "nodes[1].kind")]);
    refused(
        &node(r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,3],"debug_target":null}"#),
        &[("json.type", "nodes[1].debug_target")],
    );
    refused(
        &node(r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,3],"value_kind":"tuple"}"#),
        &[("graph.attribute", "nodes[1].value_kind")],
    );
    refused(
        &node(r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,3],"inplace":true}"#),
        &[("json.unknown-key", "nodes[1].inplace")],
    );
}

#[test]
fn the_order_of_nodes() {
    refused(
        &graph(&[INPUT, r#"{"id":2,"kind":"relu","parents":[0],"shape":[2,3]}"#]),
        &[("graph.id-order", "nodes[1].id")],
    );
    // Without ids that are places no reference is followed: the parent is not judged.
    refused(
        &graph(&[
            r#"{"id":1,"kind":"input","parents":[],"shape":[1]}"#,
            r#"{"id":0,"kind":"relu","parents":[1],"shape":[1]}"#,
        ]),
        &[("graph.id-order", "nodes[0].id"), ("graph.id-order", "nodes[1].id")],
    );
    refused(
        &on_input("relu", "[2,3]", "").replace(r#""parents":[0]"#, r#""parents":[1]"#),
        &[("graph.parent-order", "nodes[1].parents")],
    );
    refused(
        &on_input("input", "[2,3]", "").replace(r#""parents":[0]"#, r#""parents":[]"#),
        &[("graph.input", "nodes")],
    );
    let constant = r#"{"id":0,"kind":"const","parents":[],"shape":[1],"values":[1]}"#;
    refused(&graph(&[constant]), &[("graph.input", "nodes")]);
    let second = r#"{"id":1,"kind":"input","parents":[],"shape":[1]}"#;
    refused(&graph(&[constant, second]), &[("graph.input", "input_id")]);
    refused(&graph(&[constant, second]).replace(r#""input_id":0"#, r#""input_id":1"#), &[]);
}

#[test]
fn an_earlier_check_decides_the_code_and_independent_faults_stand_beside_it() {
    let document = graph(&[
        INPUT,
        r#"{"id":1,"kind":"sort","parents":[0],"shape":[2,3]}"#,
        r#"{"id":2,"kind":"relu","parents":[0],"shape":[2,4]}"#,
        r#"{"id":3,"kind":"relu","parents":[4],"shape":[2,3]}"#,
        r#"{"id":4,"kind":"concat","parents":[0,0],"shape":[4,3]}"#,
        r#"{"id":5,"kind":"relu","parents":[0],"shape":[2.5]}"#,
        r#"{"id":6,"kind":"const","parents":[],"shape":[1]}"#,
        r#"{"id":7,"kind":"add","parents":[0],"shape":[2,3],"alpha":2}"#,
    ]);
    refused(
        &document,
        &[
            ("json.number", "nodes[5].shape[0]"),
            ("graph.parent-order", "nodes[3].parents"),
            ("graph.unsupported-op", "nodes[1].kind"),
            ("graph.attribute", "nodes[4].axis"),
            ("json.unknown-key", "nodes[7].alpha"),
            ("graph.shape-mismatch", "nodes[2].shape"),
            ("graph.payload", "nodes[6].values"),
        ],
    );
}

#[test]
fn a_fault_is_not_repeated_by_what_depends_on_it() {
    let document = graph(&[
        INPUT,
        r#"{"id":1,"kind":"relu","parents":[0],"shape":[2,4]}"#,
        r#"{"id":2,"kind":"relu","parents":[1],"shape":[2,3]}"#,
        // What depends on it through another node is judged by the shape that this one declares.
        r#"{"id":3,"kind":"relu","parents":[2],"shape":[2,3]}"#,
        r#"{"id":4,"kind":"relu","parents":[2],"shape":[2,5]}"#,
    ]);
    refused(&document, &[("graph.shape-mismatch", "nodes[1].shape"), ("graph.shape-mismatch", "nodes[4].shape")]);
}

#[test]
fn offsets_point_at_the_value() {
    let document = on_input("relu", "[9,9]", "");
    let rejection = read(&document).unwrap_err();
    assert_eq!(rejection.first().place.offset, document.find("[9,9]"));
    let document = on_input("sort", "[2,3]", "");
    assert_eq!(read(&document).unwrap_err().first().place.offset, document.find("\"sort\""));
}

#[test]
fn shape_rules() {
    let rule = [("graph.shape-rule", "nodes[1].shape")];
    let attribute = |path| [("graph.attribute", path)];
    refused(&on_input("flatten", "[6]", r#","value_shape":[3,2]"#), &rule);
    refused(&on_input("reshape", "[6]", r#","in_shape":[6]"#), &rule);
    refused(&on_input("reshape", "[5]", ""), &rule);
    refused(&on_input("reshape", "[6]", r#","out_shape":[3,2]"#), &[("graph.shape-mismatch", "nodes[1].shape")]);
    refused(&on_input("permute", "[3,2]", r#","perm":[1,0,2]"#), &rule);
    refused(&on_input("permute", "[3,2]", r#","perm":[1]"#), &attribute("nodes[1].perm"));
    refused(&on_input("permute", "[3,2]", r#","perm":[1,1]"#), &attribute("nodes[1].perm"));
    refused(&on_input("permute", "[3,2]", r#","perm":[0,2]"#), &attribute("nodes[1].perm"));
    refused(&on_input("transpose", "[3,2]", r#","axis1":0,"axis2":2"#), &rule);
    refused(&on_input("transpose", "[3,2]", r#","axis1":2,"axis2":0"#), &rule);
    refused(&on_input("broadcast_to", "[2,3]", r#","from_shape":[3,2],"to_shape":[2,3]"#), &rule);
    for to in ["[3]", "[2,1]", "[2,6]", "[3,2]", "[2,3,1]"] {
        let fields = format!(r#","from_shape":[2,3],"to_shape":{to}"#);
        refused(&on_input("broadcast_to", to, &fields), &rule);
    }
    let two = |kind: &str, shape: &str, fields: &str| {
        graph(&[
            INPUT,
            r#"{"id":1,"kind":"const","parents":[],"shape":[2,1],"values":[1,2]}"#,
            r#"{"id":2,"kind":"const","parents":[],"shape":[2],"values":[1,2]}"#,
            &format!(r#"{{"id":3,"kind":"{kind}","shape":{shape}{fields}}}"#),
        ])
    };
    let rule = [("graph.shape-rule", "nodes[3].shape")];
    for kind in ["add", "sub"] {
        // No implicit broadcast.
        refused(&two(kind, "[2,3]", r#","parents":[0,1]"#), &rule);
    }
    refused(&two("concat", "[2,4]", r#","parents":[0,1],"axis":1"#), &[]);
    refused(&two("concat", "[4,3]", r#","parents":[0,1],"axis":0"#), &rule);
    refused(&two("concat", "[2,4]", r#","parents":[0,1],"axis":2"#), &rule);
    refused(&two("concat", "[2,4]", r#","parents":[0,2],"axis":1"#), &rule);
    let scalar = graph(&[
        r#"{"id":0,"kind":"input","parents":[],"shape":[]}"#,
        r#"{"id":1,"kind":"linear","parents":[0],"shape":[1],"weight":[[1]],"bias":[1]}"#,
    ]);
    refused(&scalar, &[("graph.shape-rule", "nodes[1].shape")]);
}

#[test]
fn linear_layers() {
    let linear = |shape: &str, fields: &str| on_input("linear", shape, &format!(r#","bias":[1,2]{fields}"#));
    refused(&linear("[2,2]", r#","weight":[[1,2,3],[4,5,6]]"#), &[]);
    refused(&linear("[2,2]", r#","weight":[1,2,3,4,5,6]"#), &[]);
    refused(&linear("[2,2]", r#","weight":[[1,2,3],[4,5,6]],"in_dim":3,"out_dim":2"#), &[]);
    let payload = [("graph.payload", "nodes[1].weight")];
    for weight in ["[[1,2],[3,4],[5,6]]", "[[1,2,3],[4,5]]", "[1,2,3,4,5]", "[[1,2,3]]", "[]", "[[[1,2,3],[4,5,6]]]"] {
        refused(&linear("[2,2]", &format!(r#","weight":{weight}"#)), &payload);
    }
    refused(&linear("[2,2]", r#","weight":[[[1],[2],[3]],[[4],[5],[6]]]"#), &payload);
    refused(&linear("[2,2]", r#","weight":[[1,2,3],[4,5,null]]"#), &[("json.type", "nodes[1].weight[1][2]")]);
    refused(&linear("[2,2]", r#","weight":[[1,2,3],[4,5,1e309]]"#), &[("json.number", "nodes[1].weight[1][2]")]);
    refused(&linear("[2,2]", r#","weight":[[1,2,3],4]"#), &[("json.type", "nodes[1].weight[1]")]);
    refused(&linear("[2,2]", r#","weight":[1,2,3,4,"5",6]"#), &[("json.type", "nodes[1].weight[4]")]);
    // The declared width is judged by the weights, not believed.
    let wide = linear("[2,5]", r#","weight":[[1,2,3],[4,5,6]]"#);
    refused(&wide, &[("graph.payload", "nodes[1].weight"), ("graph.payload", "nodes[1].bias")]);
    let rule = [("graph.shape-rule", "nodes[1].shape")];
    refused(&linear("[2,2]", r#","weight":[[1,2],[3,4]],"in_dim":2"#), &rule);
    let mismatch = [("graph.shape-mismatch", "nodes[1].shape")];
    refused(&linear("[2,2]", r#","weight":[[1,2,3]],"out_dim":1"#), &mismatch);
    refused(&linear("[3,2]", r#","weight":[[1,2,3],[4,5,6]]"#), &mismatch);
}

/// A convolution of an input of shape [1, 2, 4] by a kernel of 2, with one field in another way.
fn convolution(key: &str, value: &str) -> String {
    let fields = [
        ("spatial_rank", "1"),
        ("kernel", "[2]"),
        ("stride", "[1]"),
        ("padding", "[0]"),
        ("dilation", "[1]"),
        ("groups", "1"),
        ("channel_axis", "1"),
        ("in_channels", "2"),
        ("out_channels", "2"),
        ("weight", "[[[1,2],[3,4]],[[5,6],[7,8]]]"),
        ("bias", "[1,2]"),
        ("shape", "[1,2,3]"),
    ];
    let mut text: Vec<String> =
        fields.iter().filter(|(name, _)| *name != key).map(|(name, value)| format!(r#""{name}":{value}"#)).collect();
    if !key.is_empty() {
        text.push(format!(r#""{key}":{value}"#));
    }
    graph(&[
        r#"{"id":0,"kind":"input","parents":[],"shape":[1,2,4]}"#,
        &format!(r#"{{"id":1,"kind":"conv","parents":[0],{}}}"#, text.join(",")),
    ])
}

#[test]
fn convolutions() {
    refused(&convolution("", ""), &[]);
    for (key, value) in [
        ("spatial_rank", "0"),
        ("kernel", "[0]"),
        ("kernel", "[2,2]"),
        ("stride", "[0]"),
        ("stride", "[]"),
        ("padding", "[0,0]"),
        ("padding_after", "[]"),
        ("dilation", "[0]"),
        ("dilation", "[18446744073709551615]"),
        ("stride", "[2147483649]"),
        ("groups", "0"),
        ("groups", "3"),
        ("in_channels", "0"),
        ("out_channels", "0"),
        ("input_spatial", "[4,4]"),
    ] {
        refused(&convolution(key, value), &[("graph.attribute", &format!("nodes[1].{key}"))]);
    }
    refused(&convolution("spatial_rank", "2"), &[("graph.attribute", "nodes[1].kernel")]);
    for (key, value) in [
        ("channel_axis", "0"),
        ("channel_axis", "2"),
        ("channel_axis", "18446744073709551615"),
        ("in_channels", "4"),
        ("input_spatial", "[3]"),
        ("kernel", "[5]"),
        ("dilation", "[4]"),
        ("padding", "[18446744073709551615]"),
    ] {
        refused(&convolution(key, value), &[("graph.shape-rule", "nodes[1].shape")]);
    }
    for (key, value) in [("stride", "[3]"), ("padding", "[1]"), ("padding_after", "[1]"), ("dilation", "[2]")] {
        refused(&convolution(key, value), &[("graph.shape-mismatch", "nodes[1].shape")]);
    }
    refused(&convolution("kernel", "[3]").replace("[1,2,3]", "[1,2,2]"), &[("graph.payload", "nodes[1].weight")]);
    refused(&convolution("bias", "[1]"), &[("graph.payload", "nodes[1].bias")]);
    refused(&convolution("weight", "[[[1,2],[3,4]]]"), &[("graph.payload", "nodes[1].weight")]);
}

#[test]
fn weights_that_join_groups() {
    let grouped = |weight: &str| convolution("groups", "2").replace("[[[1,2],[3,4]],[[5,6],[7,8]]]", weight);
    refused(&grouped("[[[1,2],[0,-0.0]],[[0,0],[3,4]]]"), &[]);
    refused(&grouped("[[[1,2],[0,0]],[[0,1e-320],[3,4]]]"), &[("graph.payload", "nodes[1].weight")]);
    refused(&grouped("[[[1,2],[5,0]],[[0,0],[3,4]]]"), &[("graph.payload", "nodes[1].weight")]);
}

#[test]
fn operators_outside_the_table_are_unsupported() {
    for kind in ["tan", "Relu", "relu ", "", "gemm", "leaky_relu", "slice", "erf"] {
        refused(&on_input(kind, "[2,3]", r#","eps":1"#), &[("graph.unsupported-op", "nodes[1].kind")]);
    }
}

/// A node on an input of shape [2,3] in the larger format.
fn extended(kind: &str, shape: &str, fields: &str) -> String {
    on_input(kind, shape, fields).replace("torchlean.ir.v1", "certkern.ir.v1")
}

#[test]
fn numbers_that_an_operator_does_not_take() {
    let norm = |eps: &str, var: &str| {
        let fields =
            format!(r#","channel_axis":1,"eps":{eps},"gamma":[1,1,1],"beta":[0,0,0],"mean":[0,0,0],"var":{var}"#);
        extended("batch_norm_eval", "[2,3]", &fields)
    };
    refused(&norm("1e-5", "[0,1,2]"), &[]);
    for eps in ["0", "-0.0", "-1e-5", "1e-400"] {
        refused(&norm(eps, "[0,1,2]"), &[("graph.payload", "nodes[1].eps")]);
    }
    refused(&norm("1e999", "[0,1,2]"), &[("json.number", "nodes[1].eps")]);
    refused(&norm("1e-5", "[0,-1e-300,2]"), &[("graph.payload", "nodes[1].var")]);
    let layer = |eps: &str| format!(r#","axis":1,"eps":{eps},"gamma":[1,1,1],"beta":[0,0,0]"#);
    refused(&extended("layernorm", "[2,3]", &layer("0.5")), &[]);
    refused(&extended("layernorm", "[2,3]", &layer("0")), &[("graph.payload", "nodes[1].eps")]);
    let masked = |mask: &str| extended("hard_masked_softmax", "[2,3]", &format!(r#","axis":1,"mask":{mask}"#));
    refused(&masked("[[1,0,0],[0,1,1]]"), &[]);
    refused(&masked("[[1,0,0],[0,0,0]]"), &[("graph.payload", "nodes[1].mask")]);
    refused(&masked("[[1,0,0],[0,0.5,0]]"), &[("graph.payload", "nodes[1].mask")]);
    // Along the other axis each line has a place.
    refused(&masked("[[1,1,0],[0,0,1]]").replace(r#""axis":1"#, r#""axis":0"#), &[]);
    refused(&masked("[[1,1,0],[1,0,0]]").replace(r#""axis":1"#, r#""axis":0"#), &[("graph.payload", "nodes[1].mask")]);
    for (kind, fields, field) in [
        ("clip", r#","low":1,"high":0.5"#, "high"),
        ("selu", r#","alpha":1,"gamma":0"#, "gamma"),
        ("hard_sigmoid", r#","alpha":-1,"beta":0"#, "alpha"),
        ("pow", r#","exponent":0.1"#, "exponent"),
    ] {
        refused(&extended(kind, "[2,3]", fields), &[("graph.payload", &format!("nodes[1].{field}"))]);
    }
}

#[test]
fn windows() {
    let pool = |kernel: &str, padding: &str, shape: &str| {
        let fields = format!(r#","spatial_rank":1,"kernel":{kernel},"stride":[1],"padding":{padding}"#);
        extended("max_pool", shape, &fields)
    };
    refused(&pool("[2]", "[1]", "[2,4]"), &[]);
    refused(&pool("[2]", "[2]", "[2,6]"), &[("graph.shape-rule", "nodes[1].shape")]);
    refused(&pool("[4]", "[0]", "[2,1]"), &[("graph.shape-rule", "nodes[1].shape")]);
    refused(&pool("[0]", "[0]", "[2,4]"), &[("graph.attribute", "nodes[1].kernel")]);
    refused(&pool("[2]", "[4611686018427387904]", "[2,4]"), &[("graph.shape-rule", "nodes[1].shape")]);
    refused(
        &pool("[2]", "[0]", "[2,2]").replace(r#""spatial_rank":1"#, r#""spatial_rank":3"#),
        &[("graph.attribute", "nodes[1].kernel")],
    );
}

#[test]
fn axes_and_places() {
    for (kind, shape, fields, fault) in [
        ("reduce_sum", "[2]", r#","axes":[1,1],"keepdim":false"#, ("graph.attribute", "nodes[1].axes")),
        ("reduce_sum", "[2]", r#","axes":[2],"keepdim":false"#, ("graph.shape-rule", "nodes[1].shape")),
        ("reduce_sum", "[2]", r#","axes":[1],"keepdim":1"#, ("graph.attribute", "nodes[1].keepdim")),
        ("softmax", "[2,3]", r#","axis":2"#, ("graph.shape-rule", "nodes[1].shape")),
        ("squeeze", "[2]", r#","axes":[1]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("unsqueeze", "[2,3,1]", r#","axes":[3]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("unsqueeze", "[2]", r#","axes":[0,1]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("expand", "[2,4]", r#","to_shape":[2,4]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("slice", "[2,3]", r#","start":[0,0],"stop":[2,4]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("slice", "[2,3]", r#","start":[0,2],"stop":[2,2]"#, ("graph.attribute", "nodes[1].stop")),
        ("slice", "[2,3]", r#","start":[0,0],"stop":[2,3],"step":[1,0]"#, ("graph.attribute", "nodes[1].step")),
        ("slice", "[2,3]", r#","start":[0,0],"stop":[2]"#, ("graph.attribute", "nodes[1].stop")),
        ("slice", "[2,3]", r#","start":[0,0],"stop":[2,3],"step":[1]"#, ("graph.attribute", "nodes[1].step")),
        ("slice", "[2,3]", r#","start":[0],"stop":[2]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("split", "[2,1]", r#","axis":1,"sizes":[1,1],"index":0"#, ("graph.shape-rule", "nodes[1].shape")),
        ("split", "[2,1]", r#","axis":1,"sizes":[1,2],"index":2"#, ("graph.attribute", "nodes[1].index")),
        ("gather", "[2,1]", r#","axis":1,"indices":[3]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("gather", "[2,2]", r#","axis":1,"indices":[0],"indices_shape":[2]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("pad", "[2,3]", r#","padding":[0],"padding_after":[0,0],"value":0"#, ("graph.shape-rule", "nodes[1].shape")),
        ("upsample", "[2,3]", r#","scale":[1,0]"#, ("graph.attribute", "nodes[1].scale")),
        ("upsample", "[2,3]", r#","scale":[1]"#, ("graph.shape-rule", "nodes[1].shape")),
        ("global_avg_pool", "[2,3]", r#","spatial_rank":3"#, ("graph.shape-rule", "nodes[1].shape")),
        ("prelu", "[2,3]", r#","channel_axis":2,"slope":[1]"#, ("graph.shape-rule", "nodes[1].shape")),
    ] {
        refused(&extended(kind, shape, fields), &[fault]);
    }
}

/// The length is `2·stride + kernel − padding − padding_after`: 5 at stride 1 without padding.
#[test]
fn the_padding_of_a_transposed_convolution_leaves_something() {
    let padded = |length: usize, padding: usize| {
        extended(
            "conv_transpose",
            &format!("[1,{length}]"),
            &format!(
                r#","spatial_rank":1,"kernel":[3],"stride":[1],"padding":[{padding}],"dilation":[1],"groups":1,"channel_axis":0,
                "in_channels":2,"out_channels":1,"weight":[[[1,2,3]],[[1,1,1]]],"bias":[0]"#
            ),
        )
    };
    refused(&padded(5, 0), &[]);
    refused(&padded(1, 2), &[]);
    refused(&padded(1, 3), &[("graph.shape-rule", "nodes[1].shape")]);
    refused(&padded(1, 1 << 40), &[("graph.shape-rule", "nodes[1].shape")]);
}

#[test]
fn a_scalar_is_no_matrix() {
    let product = |parents: &str| {
        format!(
            r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[2],"nodes":[{{"id":0,"kind":"input","parents":[],"shape":[3]}},
            {{"id":1,"kind":"sum","parents":[0],"shape":[]}},{{"id":2,"kind":"matmul","parents":{parents},"shape":[]}}]}}"#
        )
    };
    refused(&product("[0,0]"), &[]);
    for parents in ["[0,1]", "[1,0]", "[1,1]"] {
        refused(&product(parents), &[("graph.shape-rule", "nodes[2].shape")]);
    }
}

#[test]
fn tuples() {
    let numbers: String = ["q", "k", "v", "out"]
        .iter()
        .map(|part| format!(r#","{part}_weight":[[1,0],[0,1]],"{part}_bias":[0,0]"#))
        .collect();
    let document = |shapes: &str, last: &str, output: usize| {
        format!(
            r#"{{"format":"torchlean.ir.v1","input_id":0,"output_ids":[{output}],"nodes":[
            {{"id":0,"kind":"input","parents":[],"shape":[1,3,2]}},
            {{"id":1,"kind":"multihead_attention","parents":[0,0,0],"value_kind":"tuple","tuple_shapes":{shapes},
              "embed_dim":2,"num_heads":1,"batch_first":true,"dropout_zero":true,"bias":true,"scale":0.5{numbers}}},
            {{"id":2,{last}}}]}}"#
        )
    };
    let shapes = "[[1,3,2],[1,3,3]]";
    let item = r#""kind":"tuple_getitem","parents":[1],"shape":[1,3,2],"index":0"#;
    let good = document(shapes, item, 2);
    refused(&good, &[]);
    refused(&document("[[1,3,2]]", item, 2), &[]);
    refused(&document(shapes, item, 1), &[("graph.output", "output_ids")]);
    let relu = r#""kind":"relu","parents":[1],"shape":[1,3,2]"#;
    refused(&document(shapes, relu, 2), &[("graph.shape-rule", "nodes[2].parents")]);
    refused(&good.replace(r#""parents":[1]"#, r#""parents":[0]"#), &[("graph.shape-rule", "nodes[2].parents")]);
    refused(&good.replace(r#""index":0"#, r#""index":1"#), &[("graph.attribute", "nodes[2].index")]);
    refused(&good.replace(r#""num_heads":1"#, r#""num_heads":3"#), &[("graph.attribute", "nodes[1].num_heads")]);
    for name in ["batch_first", "dropout_zero"] {
        let spoilt = good.replace(&format!(r#""{name}":true"#), &format!(r#""{name}":false"#));
        refused(&spoilt, &[("graph.attribute", &format!("nodes[1].{name}"))]);
    }
    for shapes in ["[]", "[[1,3,2],[2,3,3]]", "[[1,3,2],[1,3,3],[1]]"] {
        refused(&document(shapes, item, 2), &[("graph.attribute", "nodes[1].tuple_shapes")]);
    }
    refused(&good.replace(r#""value_kind":"tuple","#, ""), &[("graph.attribute", "nodes[1].value_kind")]);
    refused(&good.replace("[[1,3,2],[1,3,3]]", "[[1,3,4]]"), &[("graph.shape-mismatch", "nodes[1].shape")]);
}
