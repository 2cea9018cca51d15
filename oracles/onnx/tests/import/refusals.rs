//! What is refused, for which reason and naming which place.

use certkern_onnx::proto::{
    AttributeProto, Dimension, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, Segment,
    SparseTensorProto, StringStringEntryProto, TensorAnnotation, TensorProto, TrainingInfoProto, TypeProto,
};
use certkern_onnx::{ImportError, import};
use prost::Message;

use super::models::{DOUBLE, float, floats, info, int, integers, ints, model, node, numbers, raw, string, tensor};
use super::more_operators;

/// The variant of an error.
fn variant(error: &ImportError) -> &'static str {
    match error {
        ImportError::Attribute(_) => "Attribute",
        ImportError::Field(_) => "Field",
        ImportError::Interface(_) => "Interface",
        ImportError::Limit(_) => "Limit",
        ImportError::Malformed(_) => "Malformed",
        ImportError::Operand(_) => "Operand",
        ImportError::Operator(_) => "Operator",
        ImportError::Shape(_) => "Shape",
        ImportError::Tensor(_) => "Tensor",
        ImportError::UnknownField(_) => "UnknownField",
        ImportError::Version(_) => "Version",
        _ => "another",
    }
}

/// The model is refused by this variant, and the text holds these words.
fn refused(model: &ModelProto, expected: &str, words: &[&str]) {
    let error = import(&model.encode_to_vec()).expect_err(&format!("{words:?}"));
    let text = error.to_string();
    assert_eq!(variant(&error), expected, "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
}

/// A model that is imported: `y = relu(x W + c)`, x of shape [1, 2].
fn sound() -> ModelProto {
    let mut matmul = node("MatMul", &["x", "w"], "h", vec![]);
    matmul.name = Some("first".to_owned());
    let nodes = vec![matmul, node("Add", &["h", "c"], "g", vec![]), node("Relu", &["g"], "y", vec![])];
    let weights = vec![numbers("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0]), raw("c", &[2], 1, vec![0; 8])];
    model(13, &[1, 2], nodes, weights)
}

/// The sound model with one edit.
fn edited(edit: impl FnOnce(&mut ModelProto)) -> ModelProto {
    let mut model = sound();
    assert!(import(&model.encode_to_vec()).is_ok());
    edit(&mut model);
    model
}

fn graph_edited(edit: impl FnOnce(&mut GraphProto)) -> ModelProto {
    edited(|model| edit(model.graph.as_mut().expect("graph")))
}

/// One node from `x` of this shape to `y`.
fn single(opset: i64, input: &[i64], node: NodeProto, initializers: Vec<TensorProto>) -> ModelProto {
    model(opset, input, vec![node], initializers)
}

#[test]
fn versions() {
    refused(&edited(|model| model.ir_version = Some(2)), "Version", &["IR version is 2"]);
    refused(&edited(|model| model.ir_version = None), "Version", &["IR version is 0"]);
    refused(&edited(|model| model.opset_import[0].version = Some(0)), "Version", &["operator set is 0"]);
    refused(
        &edited(|model| model.opset_import[0].version = Some(6)),
        "Version",
        &["node 1", "Add of operator set 6", "operator set 7"],
    );
    refused(&edited(|model| model.opset_import[0].version = Some(23)), "Version", &["operator set is 23"]);
    refused(&edited(|model| model.opset_import.clear()), "Version", &["not named"]);
    let twice = OperatorSetIdProto { domain: Some("ai.onnx".to_owned()), version: Some(13) };
    refused(&edited(|model| model.opset_import.push(twice)), "Version", &["twice"]);
    let other = OperatorSetIdProto { domain: Some("ai.onnx.ml".to_owned()), version: Some(2) };
    assert!(import(&edited(|model| model.opset_import.push(other)).encode_to_vec()).is_ok());
}

#[test]
fn parts_of_a_model_that_are_not_understood() {
    let entry = || StringStringEntryProto { key: Some("location".to_owned()), value: Some("w.bin".to_owned()) };
    let cases: Vec<(ModelProto, &[&str])> = vec![
        (edited(|model| model.functions.push(FunctionProto::default())), &["model", "`functions`"]),
        (edited(|model| model.training_info.push(TrainingInfoProto::default())), &["model", "`training_info`"]),
        (
            graph_edited(|graph| graph.sparse_initializer.push(SparseTensorProto::default())),
            &["model.graph", "`sparse_initializer`"],
        ),
        (
            graph_edited(|graph| graph.quantization_annotation.push(TensorAnnotation::default())),
            &["`quantization_annotation`"],
        ),
        (
            graph_edited(|graph| graph.initializer[0].external_data.push(entry())),
            &["initializer `w`", "`external_data`"],
        ),
        (graph_edited(|graph| graph.initializer[0].data_location = Some(1)), &["initializer `w`", "`data_location`"]),
        (
            graph_edited(|graph| graph.initializer[0].segment = Some(Segment { begin: Some(0), end: Some(1) })),
            &["`segment`"],
        ),
        (graph_edited(|graph| graph.node[0].overload = Some("f".to_owned())), &["node 0 `first`", "`overload`"]),
        (graph_edited(|graph| graph.node[0].attribute.push(subgraph())), &["node 0 `first`", "`g`"]),
        (graph_edited(|graph| graph.node[0].attribute.push(reference())), &["node 0 `first`", "`ref_attr_name`"]),
        (graph_edited(|graph| sequence(&mut graph.input[0].r#type)), &["model.graph.input[0].type", "`sequence_type`"]),
    ];
    for (model, words) in cases {
        refused(&model, "Field", words);
    }
}

fn subgraph() -> AttributeProto {
    AttributeProto {
        name: Some("body".to_owned()),
        r#type: Some(5),
        g: Some(sound().graph.expect("graph")),
        ..AttributeProto::default()
    }
}

fn reference() -> AttributeProto {
    AttributeProto { ref_attr_name: Some("outer".to_owned()), ..int("axis", 0) }
}

fn sequence(found: &mut Option<TypeProto>) {
    *found =
        Some(TypeProto { sequence_type: Some(certkern_onnx::proto::SequenceType::default()), ..TypeProto::default() });
}

#[test]
fn descriptions_change_nothing_but_the_digest_of_the_file() {
    let described = edited(|model| {
        model.producer_name = Some("someone".to_owned());
        model.doc_string = Some("a network".to_owned());
        model.metadata_props.push(StringStringEntryProto::default());
        let graph = model.graph.as_mut().expect("graph");
        graph.value_info.push(info("h", 1, Some(&[5])));
        graph.node[0].doc_string = Some("a layer".to_owned());
        // Defaults written out.
        graph.node[0].overload = Some(String::new());
        graph.initializer[0].data_location = Some(0);
    });
    let plain = import(&sound().encode_to_vec()).expect("sound");
    let described = import(&described.encode_to_vec()).expect("sound");
    assert_eq!((&plain.graph, &plain.payload), (&described.graph, &described.payload));
    assert_ne!(plain.sha256, described.sha256);
}

#[test]
fn the_interface() {
    let open = || Dimension { dim_param: Some("n".to_owned()), ..Dimension::default() };
    let set = |graph: &mut GraphProto, axis: usize, dimension| {
        let declared = graph.input[0].r#type.as_mut().and_then(|found| found.tensor_type.as_mut()).expect("tensor");
        declared.shape.as_mut().expect("shape").dim[axis] = dimension;
    };
    let cases: Vec<(ModelProto, &str, &[&str])> = vec![
        (
            graph_edited(|graph| graph.input.push(info("z", 1, Some(&[1])))),
            "Interface",
            &["[\"x\", \"z\"]", "exactly one"],
        ),
        (graph_edited(|graph| graph.input.clear()), "Interface", &["exactly one"]),
        (graph_edited(|graph| graph.output.clear()), "Interface", &["no output"]),
        (graph_edited(|graph| graph.output[0].name = Some("q".to_owned())), "Interface", &["graph output `q`"]),
        (graph_edited(|graph| set(graph, 1, open())), "Interface", &["graph input `x`", "dimension 1"]),
        (
            graph_edited(|graph| graph.input[0] = info("x", 1, None)),
            "Interface",
            &["graph input `x`", "shape is not declared"],
        ),
        (
            graph_edited(|graph| graph.input[0] = info("x", 10, Some(&[1, 2]))),
            "Interface",
            &["graph input `x`", "float16"],
        ),
        (
            graph_edited(|graph| graph.input[0] = info("x", DOUBLE, Some(&[1, 2]))),
            "Operand",
            &["node 0 `first`", "float64"],
        ),
        (
            graph_edited(|graph| graph.output[0] = info("y", DOUBLE, None)),
            "Interface",
            &["graph output `y`", "float64"],
        ),
        (graph_edited(|graph| graph.output[0] = info("y", 1, Some(&[1, 3]))), "Shape", &["graph output `y`", "[1, 2]"]),
        (graph_edited(|graph| graph.output[0] = info("y", 1, Some(&[2]))), "Shape", &["graph output `y`", "[1, 2]"]),
        (graph_edited(|graph| graph.input.push(info("w", 1, Some(&[2, 3])))), "Shape", &["graph input `w`"]),
        (
            graph_edited(|graph| graph.node[0].input[0] = "g".to_owned()),
            "Interface",
            &["node 0 `first`", "nothing before it makes the value `g`"],
        ),
        (
            graph_edited(|graph| graph.node[1].input[1] = "q".to_owned()),
            "Interface",
            &["node 1 (that of value `g`)", "nothing before it makes the value `q`"],
        ),
        (
            graph_edited(|graph| graph.input[0] = info("x", 7, Some(&[1, 2]))),
            "Interface",
            &["graph input `x`", "int64"],
        ),
        (
            graph_edited(|graph| graph.node[1].output[0] = "h".to_owned()),
            "Interface",
            &["node 1 (that of value `h`)", "taken"],
        ),
        (
            graph_edited(|graph| graph.initializer[1].name = Some("w".to_owned())),
            "Interface",
            &["initializer `w`", "taken"],
        ),
    ];
    for (model, variant, words) in cases {
        refused(&model, variant, words);
    }
}

#[test]
fn operators() {
    let unknown = |graph: &mut GraphProto| graph.node[2].op_type = Some("Tan".to_owned());
    refused(&graph_edited(unknown), "Operator", &["node 2 (that of value `y`)", "Tan", "supported: Abs, Add,"]);
    let foreign = |graph: &mut GraphProto| graph.node[0].domain = Some("com.microsoft".to_owned());
    refused(&graph_edited(foreign), "Operator", &["node 0 `first`", "MatMul of domain com.microsoft"]);
}

#[test]
fn attributes() {
    let gemm = |attributes| {
        let initializers = vec![numbers("b", &[2, 2], &[1.0; 4]), numbers("c", &[2], &[1.0; 2])];
        single(13, &[1, 2], node("Gemm", &["x", "b", "c"], "y", attributes), initializers)
    };
    assert!(import(&gemm(vec![]).encode_to_vec()).is_ok());
    refused(&gemm(vec![float("alpha", f32::NAN)]), "Attribute", &["`alpha`"]);
    refused(&gemm(vec![float("transB", 1.0)]), "Attribute", &["`transB`", "type"]);
    refused(&gemm(vec![int("transB", 0), int("transB", 1)]), "Attribute", &["`transB`", "twice"]);
    refused(
        &gemm(vec![int("broadcast", 1)]),
        "Attribute",
        &["node 0", "`broadcast` is not one that the operator uses"],
    );
    let two = AttributeProto { f: Some(1.0), ..int("transB", 0) };
    refused(&gemm(vec![two]), "Attribute", &["`transB`", "type"]);
    let untyped = AttributeProto { r#type: None, ..int("transB", 0) };
    refused(&gemm(vec![untyped]), "Attribute", &["`transB`", "type"]);
    // An attribute that only a later operator set has.
    let reshape = |opset| {
        let call = node("Reshape", &["x", "s"], "y", vec![int("allowzero", 0)]);
        single(opset, &[1, 2], call, vec![integers("s", &[2, 1])])
    };
    assert!(import(&reshape(14).encode_to_vec()).is_ok());
    refused(&reshape(13), "Attribute", &["`allowzero`"]);
    refused(
        &single(13, &[1, 2], node("Squeeze", &["x"], "y", vec![ints("axes", &[0])]), vec![]),
        "Attribute",
        &["`axes`"],
    );
    refused(
        &single(13, &[1, 2], node("Transpose", &["x"], "y", vec![ints("perm", &[0, 0])]), vec![]),
        "Attribute",
        &["`perm`"],
    );
    let both = node("Constant", &[], "c", vec![float("value_float", 1.0), floats("value_floats", &[1.0])]);
    refused(&model(13, &[1], vec![both, node("Add", &["x", "c"], "y", vec![])], vec![]), "Attribute", &["`value`"]);
    let old = node("Constant", &[], "c", vec![float("value_float", 1.0)]);
    refused(&model(11, &[1], vec![old, node("Add", &["x", "c"], "y", vec![])], vec![]), "Attribute", &["`value`"]);
}

#[test]
fn convolutions() {
    let conv = |attributes, weight: &[i64], input: &[i64]| {
        let count = weight.iter().product::<i64>() as usize;
        single(13, input, node("Conv", &["x", "w"], "y", attributes), vec![numbers("w", weight, &vec![1.0; count])])
    };
    let input = [1, 2, 4, 4];
    assert!(import(&conv(vec![], &[2, 2, 3, 3], &input).encode_to_vec()).is_ok());
    let cases: Vec<(ModelProto, &str, &[&str])> = vec![
        (
            conv(vec![string("auto_pad", "SAME_UPPER"), ints("pads", &[1; 4])], &[2, 2, 3, 3], &input),
            "Attribute",
            &["`auto_pad`"],
        ),
        (
            conv(vec![string("auto_pad", "VALID"), ints("pads", &[1; 4])], &[2, 2, 3, 3], &input),
            "Attribute",
            &["`auto_pad`"],
        ),
        (conv(vec![ints("pads", &[1, 1])], &[2, 2, 3, 3], &input), "Attribute", &["`pads`"]),
        (conv(vec![ints("pads", &[-1, 0, 0, 0])], &[2, 2, 3, 3], &input), "Attribute", &["`pads`"]),
        (conv(vec![ints("strides", &[0, 1])], &[2, 2, 3, 3], &input), "Attribute", &["`strides`"]),
        (conv(vec![ints("kernel_shape", &[2, 3])], &[2, 2, 3, 3], &input), "Attribute", &["`kernel_shape`"]),
        (conv(vec![int("group", 0)], &[2, 2, 3, 3], &input), "Attribute", &["`group`"]),
        (conv(vec![int("group", 2)], &[3, 1, 3, 3], &input), "Attribute", &["`group`"]),
        (conv(vec![int("group", 2)], &[0, 1, 3, 3], &input), "Attribute", &["`group`"]),
        (conv(vec![], &[2, 3, 3, 3], &input), "Attribute", &["`group`"]),
        (conv(vec![], &[2, 2, 5, 3], &input), "Shape", &["window"]),
        (conv(vec![ints("dilations", &[2, 2])], &[2, 2, 3, 3], &input), "Shape", &["window"]),
        (conv(vec![], &[2, 2, 3], &input), "Shape", &["1 to 3 axes"]),
        (conv(vec![], &[2, 2, 1, 1, 1, 1], &[1, 2, 1, 1, 1, 1]), "Shape", &["1 to 3 axes"]),
        (conv(vec![ints("pads", &[1 << 40; 4])], &[2, 2, 3, 3], &input), "Limit", &["node 0"]),
    ];
    for (model, variant, words) in cases {
        refused(&model, variant, words);
    }
}

#[test]
fn operands() {
    refused(&single(13, &[2, 2], node("Conv", &["x", "x"], "y", vec![]), vec![]), "Operand", &["`x` is computed"]);
    refused(&single(13, &[2, 2], node("Reshape", &["x", "x"], "y", vec![]), vec![]), "Operand", &["`x` is computed"]);
    refused(&single(13, &[1, 2], node("Add", &["x"], "y", vec![]), vec![]), "Operand", &["1 inputs"]);
    refused(&single(13, &[1, 2], node("Relu", &[""], "y", vec![]), vec![]), "Operand", &["left out"]);
    let whole = integers("c", &[1, 2]);
    refused(&single(13, &[1, 2], node("Add", &["x", "c"], "y", vec![]), vec![whole]), "Operand", &["int64"]);
    let double = raw("c", &[1], DOUBLE, vec![0; 8]);
    refused(&single(13, &[1, 2], node("Add", &["x", "c"], "y", vec![]), vec![double]), "Operand", &["float64"]);
    let not_whole = numbers("s", &[2], &[2.0, 1.0]);
    refused(
        &single(13, &[1, 2], node("Reshape", &["x", "s"], "y", vec![]), vec![not_whole]),
        "Operand",
        &["`s`", "int64"],
    );
    let training = node("Dropout", &["x", "", "t"], "y", vec![]);
    refused(&single(13, &[2], training, vec![raw("t", &[], 9, vec![1])]), "Operand", &["`t`", "training"]);
    let mut masked = node("Dropout", &["x"], "h", vec![]);
    masked.output.push("mask".to_owned());
    let nodes = vec![masked, node("Add", &["h", "mask"], "y", vec![])];
    refused(&model(10, &[2], nodes, vec![]), "Operand", &["node 0", "`mask`", "inference"]);
}

#[test]
fn shapes_that_do_not_fit() {
    refused(
        &single(13, &[1, 2], node("Add", &["x", "c"], "y", vec![]), vec![numbers("c", &[3], &[1.0; 3])]),
        "Shape",
        &["[1, 2]", "[3]"],
    );
    refused(
        &single(13, &[1, 2], node("MatMul", &["x", "w"], "y", vec![]), vec![numbers("w", &[3, 1], &[1.0; 3])]),
        "Shape",
        &["[1, 2]"],
    );
    for wanted in [&[3][..], &[-1, -1], &[-1, 3], &[0, 0, 0], &[-2], &[-1, 0, 0]] {
        let call = node("Reshape", &["x", "s"], "y", vec![]);
        let error = import(&single(13, &[1, 2], call, vec![integers("s", wanted)]).encode_to_vec());
        assert!(matches!(error, Err(ImportError::Shape(_))), "{wanted:?} {error:?}");
    }
    let tall = node("Gemm", &["x", "b", "c"], "y", vec![]);
    let initializers = vec![numbers("b", &[2, 2], &[1.0; 4]), numbers("c", &[3, 2], &[1.0; 6])];
    refused(&single(13, &[2, 2], tall, initializers), "Shape", &["C of shape [3, 2]"]);
    refused(
        &single(9, &[1, 2], node("Flatten", &["x"], "y", vec![int("axis", -1)]), vec![]),
        "Shape",
        &["axis -1", "operator set 9"],
    );
    refused(
        &single(11, &[1, 2], node("Squeeze", &["x"], "y", vec![ints("axes", &[1])]), vec![]),
        "Shape",
        &["squeezed is not 1"],
    );
    refused(
        &single(11, &[1, 2], node("Unsqueeze", &["x"], "y", vec![ints("axes", &[0, 0])]), vec![]),
        "Shape",
        &["twice"],
    );
    let concat = node("Concat", &["x", "c"], "y", vec![int("axis", 0)]);
    refused(&single(13, &[1, 2], concat, vec![numbers("c", &[1, 3], &[1.0; 3])]), "Shape", &["axis 0"]);
}

#[test]
fn tensors() {
    let with = |tensor: TensorProto| single(13, &[1, 2], node("Add", &["x", "c"], "y", vec![]), vec![tensor]);
    let two_fields = TensorProto { raw_data: Some(vec![0; 8]), ..numbers("c", &[2], &[1.0; 2]) };
    let wrong_field = TensorProto { double_data: vec![1.0; 2], float_data: vec![], ..numbers("c", &[2], &[]) };
    let cases: Vec<(TensorProto, &str, &[&str])> = vec![
        (raw("c", &[2], 10, vec![0; 4]), "Tensor", &["initializer `c`", "float16"]),
        (raw("c", &[2], 16, vec![0; 4]), "Tensor", &["initializer `c`", "bfloat16"]),
        (raw("c", &[2], 3, vec![0; 2]), "Tensor", &["initializer `c`", "int8"]),
        (raw("c", &[2], 77, vec![0; 2]), "Tensor", &["initializer `c`", "77"]),
        (raw("c", &[2], 1, vec![0; 7]), "Tensor", &["initializer `c`", "7 bytes in place of 8"]),
        (numbers("c", &[2], &[1.0; 3]), "Tensor", &["initializer `c`", "12 bytes in place of 8"]),
        (numbers("c", &[2], &[1.0, f32::NAN]), "Tensor", &["initializer `c`", "NaN"]),
        (raw("c", &[1], 1, f32::INFINITY.to_le_bytes().to_vec()), "Tensor", &["initializer `c`", "infinity"]),
        (numbers("c", &[-2], &[1.0; 2]), "Tensor", &["initializer `c`", "negative"]),
        (two_fields, "Tensor", &["initializer `c`", "raw_data"]),
        (wrong_field, "Tensor", &["initializer `c`", "float_data"]),
        (numbers("c", &[1 << 40, 1 << 40], &[]), "Limit", &["initializer `c`"]),
        (numbers("c", &[0, 1 << 40, 1 << 40], &[]), "Limit", &["initializer `c`"]),
        (numbers("c", &[0, 2], &[]), "Shape", &["node 0"]),
    ];
    for (tensor, variant, words) in cases {
        refused(&with(tensor), variant, words);
    }
    let half = node("Constant", &[], "c", vec![tensor("value", raw("", &[1], 10, vec![0; 2]))]);
    let nodes = vec![half, node("Add", &["x", "c"], "y", vec![])];
    refused(&model(13, &[1], nodes, vec![]), "Tensor", &["node 0 (that of value `c`)", "float16"]);
}

#[test]
fn a_constant_is_not_repeated_without_bounds() {
    let large = single(13, &[1 << 20, 1 << 20], node("Add", &["x", "c"], "y", vec![]), vec![numbers("c", &[], &[1.0])]);
    refused(&large, "Limit", &["graph input `x`"]);
    let call = node("Add", &["x", "c"], "y", vec![]);
    let product = single(13, &[1 << 20, 1], call, vec![numbers("c", &[1 << 10], &[1.0; 1 << 10])]);
    refused(&product, "Limit", &["node 0"]);
}

#[test]
fn a_file_that_is_cut_is_refused() {
    let bytes = sound().encode_to_vec();
    for length in 0..bytes.len() {
        let error = import(&bytes[..length]).expect_err("cut");
        assert!(matches!(error, ImportError::Malformed(_) | ImportError::Version(_)), "{length}: {error}");
    }
    let error = import(b"not an ONNX file").expect_err("text");
    assert_eq!(variant(&error), "Malformed");
}

/// Models that together reach every family of operators.
fn seeds() -> Vec<Vec<u8>> {
    let conv =
        node("Conv", &["x", "w"], "h", vec![int("group", 2), ints("pads", &[1, 0, 0, 1]), ints("strides", &[2, 1])]);
    let flatten = node("Flatten", &["h"], "f", vec![int("axis", 1)]);
    let shape = node("Constant", &[], "s", vec![tensor("value", integers("", &[-1, 1]))]);
    let reshape = node("Reshape", &["f", "s"], "r", vec![]);
    let left = node("MatMul", &["m", "r"], "p", vec![]);
    let transpose = node("Transpose", &["p"], "t", vec![ints("perm", &[1, 0])]);
    let gemm = node("Gemm", &["t", "b"], "g", vec![float("alpha", 1.0), int("transB", 1)]);
    let sub = node("Sub", &["b", "g"], "q", vec![]);
    let concat = node("Concat", &["q", "b", "q"], "y", vec![int("axis", -1)]);
    let nodes = vec![conv, flatten, shape, reshape, left, transpose, gemm, sub, concat];
    let initializers = vec![
        numbers("w", &[2, 1, 2, 2], &[0.5; 8]),
        numbers("m", &[3, 12], &[0.25; 36]),
        numbers("b", &[1, 3], &[1.0, 2.0, 3.0]),
    ];
    let chain = model(13, &[1, 2, 3, 3], nodes, initializers);
    let small = vec![
        node("Unsqueeze", &["x"], "a", vec![ints("axes", &[0, 2])]),
        node("Squeeze", &["a"], "b", vec![ints("axes", &[0])]),
        node("Identity", &["b"], "c", vec![]),
        node("Dropout", &["c"], "d", vec![float("ratio", 0.5)]),
        node("Relu", &["d"], "y", vec![]),
    ];
    let seeds = [chain, model(11, &[1, 2], small, vec![]), sound()];
    seeds.iter().chain(&more_operators::seeds()).map(Message::encode_to_vec).collect()
}

/// Numbers that look random and are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn damaged_files_never_cause_a_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut accepted = 0;
    for seed in seeds() {
        assert!(import(&seed).is_ok(), "{:?}", import(&seed));
        for _ in 0..20_000 {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => bytes[at] ^= 1 << random.below(8),
                    2 => bytes.insert(at, random.below(256) as u8),
                    _ => drop(bytes.remove(at)),
                }
            }
            accepted += usize::from(import(&bytes).is_ok());
        }
    }
    // Some damage is to names and numbers only.
    assert!(accepted > 100, "{accepted}");
}
