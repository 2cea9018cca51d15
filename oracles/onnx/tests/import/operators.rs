//! What each operator means: small models with expected values computed by hand.

use certkern_onnx::proto::{Dimension, ModelProto, NodeProto, TensorProto};
use certkern_onnx::{Imported, import};
use prost::Message;

use super::evaluate::{evaluate, kinds, nodes, payload};
use super::models::{DOUBLE, float, floats, info, int, integers, ints, model, node, numbers, raw, string, tensor};

pub(crate) fn imported(model: &ModelProto) -> Imported {
    import(&model.encode_to_vec()).unwrap_or_else(|error| panic!("{error}"))
}

/// Imports and evaluates; the output must have this shape and these elements.
pub(crate) fn gives(model: &ModelProto, input: &[f64], shape: &[usize], elements: &[f64]) -> Imported {
    let imported = imported(model);
    assert_eq!(evaluate(&imported, input), [(shape.to_vec(), elements.to_vec())]);
    imported
}

pub(crate) fn small(opset: i64, input: &[i64], node: NodeProto, initializers: Vec<TensorProto>) -> ModelProto {
    model(opset, input, vec![node], initializers)
}

#[test]
fn two_matrix_products_in_a_row_are_two_nodes() {
    let nodes = vec![node("MatMul", &["x", "v"], "h", vec![]), node("MatMul", &["h", "w"], "y", vec![])];
    let weights = vec![numbers("v", &[2, 2], &[1.0, 2.0, 3.0, 4.0]), numbers("w", &[2, 2], &[0.0, 1.0, 1.0, 1.0])];
    // (1, 1) V = (4, 6); (4, 6) W = (6, 10).
    let imported = gives(&model(13, &[1, 2], nodes, weights), &[1.0, 1.0], &[1, 2], &[6.0, 10.0]);
    assert_eq!(kinds(&imported), ["input", "linear", "linear"]);
    assert_eq!(imported.names, ["x", "h", "y"]);
}

#[test]
fn a_matrix_on_the_left_acts_on_columns() {
    let weight = || numbers("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let product = || node("MatMul", &["w", "x"], "y", vec![]);
    let column = small(13, &[2, 1], product(), vec![weight()]);
    gives(&column, &[1.0, 10.0], &[3, 1], &[21.0, 43.0, 65.0]);
    let vector = small(13, &[2], product(), vec![weight()]);
    gives(&vector, &[1.0, 10.0], &[3], &[21.0, 43.0, 65.0]);
    // The columns (1, 10) and (0, 1).
    let matrix = small(13, &[2, 2], product(), vec![weight()]);
    let imported = gives(&matrix, &[1.0, 0.0, 10.0, 1.0], &[3, 2], &[21.0, 2.0, 43.0, 4.0, 65.0, 6.0]);
    assert_eq!(kinds(&imported), ["input", "permute", "linear", "permute"]);
}

#[test]
fn the_order_of_a_difference_is_kept() {
    let constant = || numbers("c", &[1], &[10.0]);
    let first = small(13, &[1, 3], node("Sub", &["c", "x"], "y", vec![]), vec![constant()]);
    gives(&first, &[1.0, -2.0, 3.0], &[1, 3], &[9.0, 12.0, 7.0]);
    let second = small(13, &[1, 3], node("Sub", &["x", "c"], "y", vec![]), vec![constant()]);
    gives(&second, &[1.0, -2.0, 3.0], &[1, 3], &[-9.0, -12.0, -7.0]);
}

#[test]
fn a_constant_is_repeated_to_the_shape_that_is_wanted() {
    let columns = small(13, &[2, 3], node("Add", &["x", "c"], "y", vec![]), vec![numbers("c", &[2, 1], &[10.0, 20.0])]);
    let imported = gives(&columns, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3], &[11.0, 12.0, 13.0, 24.0, 25.0, 26.0]);
    assert_eq!(kinds(&imported), ["input", "const", "add"]);
    assert_eq!(nodes(&imported)[1]["shape"], serde_json::json!([2, 3]));
    assert_eq!(imported.names, ["x", "c", "y"]);
    // A constant that is wanted twice in one shape is one node.
    let twice = vec![node("Add", &["x", "c"], "h", vec![]), node("Add", &["h", "c"], "y", vec![])];
    let twice = model(13, &[1, 2], twice, vec![numbers("c", &[], &[0.5])]);
    assert_eq!(kinds(&gives(&twice, &[1.0, 2.0], &[1, 2], &[2.0, 3.0])), ["input", "const", "add", "add"]);
}

#[test]
fn a_computed_value_is_repeated_by_a_node() {
    let rows =
        small(13, &[2], node("Sub", &["c", "x"], "y", vec![]), vec![numbers("c", &[2, 2], &[1.0, 2.0, 3.0, 4.0])]);
    let imported = gives(&rows, &[10.0, 20.0], &[2, 2], &[-9.0, -18.0, -7.0, -16.0]);
    assert_eq!(kinds(&imported), ["input", "const", "broadcast_to", "sub"]);
    let nodes = vec![node("Transpose", &["x"], "t", vec![]), node("Add", &["x", "t"], "y", vec![])];
    gives(&model(13, &[1, 2], nodes, vec![]), &[1.0, 10.0], &[2, 2], &[2.0, 11.0, 11.0, 20.0]);
}

#[test]
fn sums_of_constants_are_left_to_the_kernel() {
    let nodes = vec![node("Add", &["c", "d"], "e", vec![]), node("Add", &["x", "e"], "y", vec![])];
    // In float32 the sum of the constants would be 1.
    let constants = vec![numbers("c", &[1], &[1.0]), numbers("d", &[1], &[1e-30])];
    let imported = imported(&model(13, &[1], nodes, constants));
    assert_eq!(kinds(&imported), ["input", "const", "const", "add", "add"]);
}

#[test]
fn gemm() {
    let plain = || numbers("b", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let transposed = || numbers("b", &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let factors = || vec![float("alpha", 1.0), float("beta", 1.0), int("transA", 0)];
    for c in [numbers("c", &[], &[1.0]), numbers("c", &[1], &[1.0]), numbers("c", &[1, 1], &[1.0])] {
        let call = node("Gemm", &["x", "b", "c"], "y", [factors(), vec![int("transB", 0)]].concat());
        gives(&small(9, &[1, 2], call, vec![plain(), c]), &[1.0, 2.0], &[1, 3], &[10.0, 13.0, 16.0]);
    }
    for shape in [vec![3], vec![1, 3]] {
        let call = node("Gemm", &["x", "b", "c"], "y", [factors(), vec![int("transB", 1)]].concat());
        let initializers = vec![transposed(), numbers("c", &shape, &[1.0, 2.0, 3.0])];
        gives(&small(9, &[1, 2], call, initializers), &[1.0, 2.0], &[1, 3], &[10.0, 14.0, 18.0]);
    }
    for inputs in [vec!["x", "b"], vec!["x", "b", ""]] {
        let call = node("Gemm", &inputs, "y", vec![]);
        gives(&small(11, &[1, 2], call, vec![plain()]), &[1.0, 2.0], &[1, 3], &[9.0, 12.0, 15.0]);
    }
}

#[test]
fn a_convolution_with_pads_that_differ_and_strides() {
    let attributes = vec![ints("pads", &[1, 0, 0, 1]), ints("strides", &[2, 1]), ints("kernel_shape", &[2, 2])];
    let initializers = vec![numbers("w", &[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]), numbers("b", &[1], &[10.0])];
    let call = node("Conv", &["x", "w", "b"], "y", attributes);
    let input = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    // Rows 0 0 0 0 / 1 2 3 0 / 4 5 6 0 / 7 8 9 0 under 1 2 / 3 4: 11 18 9 / 67 77 33, and 10 more.
    let expected = [21.0, 28.0, 19.0, 77.0, 87.0, 43.0];
    gives(&small(13, &[1, 1, 3, 3], call, initializers), &input, &[1, 1, 2, 3], &expected);
}

#[test]
fn a_convolution_with_dilation_over_one_axis() {
    let weight = numbers("w", &[1, 1, 2], &[1.0, 10.0]);
    let attributes = vec![ints("dilations", &[2]), string("auto_pad", "VALID")];
    let call = node("Conv", &["x", "w"], "y", attributes);
    let expected = [31.0, 42.0, 53.0];
    gives(&small(13, &[1, 1, 5], call, vec![weight]), &[1.0, 2.0, 3.0, 4.0, 5.0], &[1, 1, 3], &expected);
}

#[test]
fn a_convolution_over_three_axes() {
    let weight = numbers("w", &[1, 1, 1, 1, 2], &[1.0, 10.0]);
    let call = node("Conv", &["x", "w"], "y", vec![ints("strides", &[1, 2, 1])]);
    let input = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    gives(&small(13, &[1, 1, 2, 2, 2], call, vec![weight]), &input, &[1, 1, 2, 1, 1], &[21.0, 65.0]);
}

#[test]
fn the_weights_of_a_grouped_convolution_are_dense() {
    let weight = numbers("w", &[4, 2, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let call = node("Conv", &["x", "w"], "y", vec![int("group", 2)]);
    // (1, 10) under the first two rows, (100, 1000) under the last two.
    let expected = [21.0, 43.0, 6500.0, 8700.0];
    let imported =
        gives(&small(13, &[1, 4, 1], call, vec![weight]), &[1.0, 10.0, 100.0, 1000.0], &[1, 4, 1], &expected);
    let dense = [1.0_f32, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 0.0, 0.0, 7.0, 8.0];
    let bytes: Vec<u8> = dense.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(payload(&imported)["1.weight"], ("F32".to_owned(), vec![4, 4, 1], bytes));
    assert_eq!(nodes(&imported)[1]["groups"], 2);
}

#[test]
fn shapes() {
    let input: Vec<f64> = (1..=6).map(f64::from).collect();
    let flatten = |axis| node("Flatten", &["x"], "y", vec![int("axis", axis)]);
    for (axis, shape) in [(0, [1, 6]), (1, [1, 6]), (2, [2, 3]), (3, [6, 1]), (-1, [2, 3])] {
        gives(&small(11, &[1, 2, 3], flatten(axis), vec![]), &input, &shape, &input);
    }
    let reshape = || node("Reshape", &["x", "s"], "y", vec![]);
    for (wanted, shape) in
        [(vec![3, -1], vec![3, 2]), (vec![0, 3, 2], vec![1, 3, 2]), (vec![-1], vec![6]), (vec![6, 1], vec![6, 1])]
    {
        gives(&small(9, &[1, 2, 3], reshape(), vec![integers("s", &wanted)]), &input, &shape, &input);
    }
    let by_attribute = |op, axes: &[i64]| node(op, &["x"], "y", vec![ints("axes", axes)]);
    gives(&small(11, &[1, 6, 1], by_attribute("Squeeze", &[-1]), vec![]), &input, &[1, 6], &input);
    gives(&small(11, &[6], by_attribute("Unsqueeze", &[0, 2]), vec![]), &input, &[1, 6, 1], &input);
    let by_input = |op| node(op, &["x", "a"], "y", vec![]);
    gives(&small(13, &[1, 6, 1], by_input("Squeeze"), vec![integers("a", &[0])]), &input, &[6, 1], &input);
    gives(&small(13, &[6], by_input("Unsqueeze"), vec![integers("a", &[-1])]), &input, &[6, 1], &input);
    gives(&small(13, &[1, 6, 1], node("Squeeze", &["x"], "y", vec![]), vec![]), &input, &[6], &input);
}

#[test]
fn transposes() {
    let input = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let swapped = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    gives(&small(13, &[2, 3], node("Transpose", &["x"], "y", vec![]), vec![]), &input, &[3, 2], &swapped);
    // Out axis 0 is in axis 1, out axis 1 is in axis 2, out axis 2 is in axis 0.
    let turn = node("Transpose", &["x"], "y", vec![ints("perm", &[1, 2, 0])]);
    gives(&small(13, &[2, 1, 3], turn, vec![]), &input, &[1, 3, 2], &swapped);
    // A weight that is transposed before it is used stays a weight.
    let nodes = vec![node("Transpose", &["w"], "v", vec![]), node("MatMul", &["x", "v"], "y", vec![])];
    let weight = numbers("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let imported = gives(&model(13, &[1, 2], nodes, vec![weight]), &[1.0, 10.0], &[1, 3], &[21.0, 43.0, 65.0]);
    assert_eq!(kinds(&imported), ["input", "linear"]);
}

#[test]
fn concatenation_with_a_constant() {
    let call = node("Concat", &["x", "c", "x"], "y", vec![int("axis", -1)]);
    let constant = numbers("c", &[2, 1], &[7.0, 8.0]);
    let expected = [1.0, 2.0, 7.0, 1.0, 2.0, 3.0, 4.0, 8.0, 3.0, 4.0];
    gives(&small(13, &[2, 2], call, vec![constant]), &[1.0, 2.0, 3.0, 4.0], &[2, 5], &expected);
}

#[test]
fn constant_nodes() {
    let add = || node("Add", &["x", "c"], "y", vec![]);
    let with = |attribute| model(13, &[1, 2], vec![node("Constant", &[], "c", vec![attribute]), add()], vec![]);
    gives(&with(tensor("value", numbers("", &[2], &[10.0, 20.0]))), &[1.0, 2.0], &[1, 2], &[11.0, 22.0]);
    gives(&with(floats("value_floats", &[10.0, 20.0])), &[1.0, 2.0], &[1, 2], &[11.0, 22.0]);
    gives(&with(float("value_float", 10.0)), &[1.0, 2.0], &[1, 2], &[11.0, 12.0]);
    let shape = node("Constant", &[], "s", vec![ints("value_ints", &[2, 1])]);
    let nodes = vec![shape, node("Reshape", &["x", "s"], "y", vec![])];
    gives(&model(13, &[1, 2], nodes, vec![]), &[1.0, 2.0], &[2, 1], &[1.0, 2.0]);
}

#[test]
fn what_does_nothing_in_inference() {
    let identity = small(13, &[2], node("Identity", &["x"], "y", vec![]), vec![]);
    assert_eq!(kinds(&gives(&identity, &[1.0, -2.0], &[2], &[1.0, -2.0])), ["input", "detach"]);
    let mut old = node("Dropout", &["x"], "y", vec![float("ratio", 0.5)]);
    old.output.push("mask".to_owned());
    gives(&small(10, &[2], old, vec![]), &[1.0, -2.0], &[2], &[1.0, -2.0]);
    let new = node("Dropout", &["x", "", "t"], "y", vec![int("seed", 7)]);
    gives(&small(13, &[2], new, vec![raw("t", &[], 9, vec![0])]), &[1.0, -2.0], &[2], &[1.0, -2.0]);
    // A weight under another name stays a weight.
    let nodes = vec![node("Identity", &["w"], "v", vec![]), node("MatMul", &["x", "v"], "y", vec![])];
    let shared = model(13, &[1, 1], nodes, vec![numbers("w", &[1, 1], &[3.0])]);
    assert_eq!(kinds(&gives(&shared, &[2.0], &[1, 1], &[6.0])), ["input", "linear"]);
}

#[test]
fn numbers_are_copied_bit_for_bit() {
    let bits = [0x8000_0000_u32, 0x0000_0001, 0x7f7f_ffff, 0x3dcc_cccd];
    let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let call = || node("Add", &["x", "c"], "y", vec![]);
    let floats: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
    for constant in [raw("c", &[4], 1, bytes.clone()), numbers("c", &[4], &floats)] {
        let imported = imported(&small(13, &[4], call(), vec![constant]));
        assert_eq!(payload(&imported)["1.values"], ("F32".to_owned(), vec![4], bytes.clone()));
    }
}

#[test]
fn a_model_in_binary64() {
    // 2^-1074, which binary32 does not have.
    let mut model = small(
        13,
        &[1, 1],
        node("MatMul", &["x", "w"], "y", vec![]),
        vec![raw("w", &[1, 1], DOUBLE, 1_u64.to_le_bytes().to_vec())],
    );
    let graph = model.graph.as_mut().expect("graph");
    graph.input = vec![info("x", DOUBLE, Some(&[1, 1]))];
    graph.output = vec![info("y", DOUBLE, Some(&[1, 1]))];
    let imported = imported(&model);
    let payload = payload(&imported);
    assert_eq!(payload["1.weight"], ("F64".to_owned(), vec![1, 1], 1_u64.to_le_bytes().to_vec()));
    assert_eq!(payload["1.bias"], ("F64".to_owned(), vec![1], vec![0; 8]));
}

#[test]
fn a_batch_that_is_left_open_is_one() {
    let open = [
        Dimension { dim_param: Some("unk__6".to_owned()), ..Dimension::default() },
        Dimension { dim_value: Some(-1), ..Dimension::default() },
        Dimension { dim_value: Some(0), ..Dimension::default() },
        Dimension::default(),
    ];
    for dimension in open {
        let mut model = small(13, &[7, 2], node("Relu", &["x"], "y", vec![]), vec![]);
        let graph = model.graph.as_mut().expect("graph");
        let tensor_type = graph.input[0].r#type.as_mut().and_then(|found| found.tensor_type.as_mut());
        tensor_type.and_then(|found| found.shape.as_mut()).expect("shape").dim[0] = dimension;
        graph.output = graph.input.clone();
        graph.output[0].name = Some("y".to_owned());
        gives(&model, &[1.0, -2.0], &[1, 2], &[1.0, 0.0]);
    }
}

#[test]
fn initializers_among_the_inputs_are_constants() {
    let mut model = small(8, &[1, 2], node("Add", &["x", "c"], "y", vec![]), vec![numbers("c", &[2], &[1.0, 2.0])]);
    model.ir_version = Some(3);
    model.graph.as_mut().expect("graph").input.insert(0, info("c", 1, Some(&[2])));
    let imported = gives(&model, &[1.0, 2.0], &[1, 2], &[2.0, 4.0]);
    assert_eq!(imported.input_shape, [1, 2]);
}

#[test]
fn the_text_of_a_graph() {
    let mut call = node("Relu", &["x"], "y", vec![]);
    call.name = Some("/1/\"Relu\"".to_owned());
    let nodes = vec![call];
    let expected = concat!(
        r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":["#,
        "\n",
        r#"{"id":0,"kind":"input","parents":[],"shape":[1,2],"onnx_name":"x"},"#,
        "\n",
        r#"{"id":1,"kind":"relu","parents":[0],"shape":[1,2],"onnx_op_type":"Relu","onnx_name":"/1/\"Relu\""}"#,
        "\n]}\n"
    );
    let imported = imported(&model(13, &[1, 2], nodes, vec![]));
    assert_eq!(imported.graph, expected);
    assert_eq!(imported.payload, [vec![2, 0, 0, 0, 0, 0, 0, 0], b"{}".to_vec()].concat());
}
