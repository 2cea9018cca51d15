//! Operators beyond sums, matrices and shapes: small models with expected values computed by hand.

use certkern_onnx::proto::{AttributeProto, ModelProto, TensorProto};
use certkern_onnx::{Frozen, ImportError, import, import_frozen};
use prost::Message;

use super::evaluate::{evaluate, kinds, nodes, payload};
use super::models::{DOUBLE, float, floats, info, int, integers, ints, model, node, numbers, raw, string, tensor};
use super::operators::{gives, imported, small};

/// One node `y = op(x, …)` of these initializers.
fn one(opset: i64, op: &str, input: &[i64], attributes: Vec<AttributeProto>, more: Vec<TensorProto>) -> ModelProto {
    let names: Vec<String> = more.iter().map(|tensor| tensor.name.clone().expect("name")).collect();
    let inputs: Vec<&str> = ["x"].into_iter().chain(names.iter().map(String::as_str)).collect();
    small(opset, input, node(op, &inputs, "y", attributes), more)
}

fn refused(model: &ModelProto, word: &str) {
    let error = import(&model.encode_to_vec()).expect_err(word).to_string();
    assert!(error.contains(word), "{error}");
}

#[test]
fn functions_with_parameters() {
    let x = [-2.0, 0.0, 3.0];
    let alpha = one(16, "LeakyRelu", &[3], vec![float("alpha", 0.5)], vec![]);
    gives(&alpha, &x, &[3], &[-1.0, 0.0, 3.0]);
    let default = imported(&one(16, "LeakyRelu", &[3], vec![], vec![]));
    assert_eq!(payload(&default)["1.alpha"], ("F32".to_owned(), vec![], 0x3c23_d70a_u32.to_le_bytes().to_vec()));
    // The defaults of the definition as binary32, by their bits.
    let selu = imported(&one(6, "Selu", &[3], vec![], vec![]));
    assert_eq!(payload(&selu)["1.alpha"].2, 0x3fd6_2d7d_u32.to_le_bytes());
    assert_eq!(payload(&selu)["1.gamma"].2, 0x3f86_7d5f_u32.to_le_bytes());
    gives(&one(6, "HardSigmoid", &[3], vec![float("alpha", 0.25)], vec![]), &x, &[3], &[0.0, 0.5, 1.0]);
    gives(&one(14, "HardSwish", &[3], vec![], vec![]), &[-4.0, -1.5, 3.0], &[3], &[0.0, -0.375, 3.0]);
    refused(&one(13, "HardSwish", &[3], vec![], vec![]), "operator set 14");
    gives(&one(18, "Mish", &[1], vec![], vec![]), &[0.0], &[1], &[0.0]);
    refused(&one(17, "Mish", &[3], vec![], vec![]), "operator set 18");
    refused(&one(20, "Gelu", &[3], vec![string("approximate", "quick")], vec![]), "`approximate`");
    let slope = |shape: &[i64], slopes: &[f32]| vec![numbers("s", shape, slopes)];
    let channels = one(9, "PRelu", &[1, 2, 2], vec![], slope(&[2, 1], &[0.5, 2.0]));
    let found = gives(&channels, &[-2.0, 1.0, -2.0, 4.0], &[1, 2, 2], &[-1.0, 1.0, -4.0, 4.0]);
    assert_eq!(nodes(&found)[1]["channel_axis"], 1);
    let single = gives(&one(9, "PRelu", &[3], vec![], slope(&[1], &[0.5])), &x, &[3], &[-1.0, 0.0, 3.0]);
    assert_eq!(kinds(&single), ["input", "leaky_relu"]);
    refused(&one(9, "PRelu", &[2, 2], vec![], slope(&[2, 2], &[0.5; 4])), "[2, 2]");
}

#[test]
fn clips() {
    let bounds = |names: &[&str]| {
        let call = node("Clip", &[&["x"], names].concat(), "y", vec![]);
        let bounds = vec![numbers("l", &[], &[-1.0]), numbers("h", &[1], &[2.0])];
        small(13, &[3], call, bounds)
    };
    let x = [-3.0, 0.5, 5.0];
    assert_eq!(kinds(&gives(&bounds(&["l", "h"]), &x, &[3], &[-1.0, 0.5, 2.0])), ["input", "clip"]);
    assert_eq!(kinds(&gives(&bounds(&["l"]), &x, &[3], &[-1.0, 0.5, 5.0])), ["input", "const", "max_elem"]);
    assert_eq!(kinds(&gives(&bounds(&["", "h"]), &x, &[3], &[-3.0, 0.5, 2.0])), ["input", "const", "min_elem"]);
    assert_eq!(kinds(&gives(&bounds(&[]), &x, &[3], &x)), ["input", "detach"]);
    refused(&bounds(&["h", "l"]), "above");
    let old = imported(&one(6, "Clip", &[3], vec![float("min", 0.0)], vec![]));
    assert_eq!(payload(&old)["1.high"].2, f32::MAX.to_le_bytes());
}

#[test]
fn powers() {
    let square = one(13, "Pow", &[2], vec![], vec![numbers("e", &[1], &[2.0])]);
    assert_eq!(kinds(&gives(&square, &[3.0, -2.0], &[2], &[9.0, 4.0])), ["input", "pow"]);
    let whole = one(13, "Pow", &[2], vec![], vec![integers("e", &[3])]);
    gives(&whole, &[3.0, -2.0], &[2], &[27.0, -8.0]);
    let many =
        gives(&one(13, "Pow", &[2], vec![], vec![numbers("e", &[2], &[1.0, 3.0])]), &[5.0, 2.0], &[2], &[5.0, 8.0]);
    assert_eq!(kinds(&many), ["input", "reshape", "slice", "pow", "slice", "pow", "concat", "reshape"]);
    refused(&one(13, "Pow", &[2], vec![], vec![integers("e", &[(1 << 24) + 1])]), "not exactly");
    let call = node("Pow", &["e", "x"], "y", vec![]);
    refused(&small(13, &[1], call, vec![numbers("e", &[1], &[2.0])]), "`x` is computed");
}

#[test]
fn any_number_of_values() {
    let three = |op| {
        let call = node(op, &["x", "a", "b"], "y", vec![]);
        small(13, &[2], call, vec![numbers("a", &[1], &[1.0]), numbers("b", &[2], &[4.0, -3.0])])
    };
    let x = [2.0, -1.0];
    assert_eq!(kinds(&gives(&three("Max"), &x, &[2], &[4.0, 1.0]))[3], "max_n");
    gives(&three("Min"), &x, &[2], &[1.0, -3.0]);
    gives(&three("Sum"), &x, &[2], &[7.0, -3.0]);
    let mean = gives(&three("Mean"), &[1.0, 5.0], &[2], &[2.0, 1.0]);
    assert_eq!(kinds(&mean), ["input", "const", "const", "add_n", "const", "div"]);
    let two = small(13, &[2], node("Max", &["x", "a"], "y", vec![]), vec![numbers("a", &[1], &[1.0])]);
    assert_eq!(kinds(&gives(&two, &x, &[2], &[2.0, 1.0])), ["input", "const", "max_elem"]);
    assert_eq!(kinds(&imported(&one(13, "Sum", &[2], vec![], vec![]))), ["input", "detach"]);
}

#[test]
fn a_choice_by_a_constant() {
    let mask = raw("c", &[2, 1], 9, vec![1, 0]);
    let call = node("Where", &["c", "x", "b"], "y", vec![]);
    let choice = small(16, &[2], call, vec![mask, numbers("b", &[], &[7.0])]);
    let found = gives(&choice, &[1.0, 2.0], &[2, 2], &[1.0, 2.0, 7.0, 7.0]);
    assert_eq!(kinds(&found), ["input", "broadcast_to", "const", "where"]);
    assert_eq!(payload(&found)["3.mask"].2, [1.0_f32, 1.0, 0.0, 0.0].map(f32::to_le_bytes).concat());
}

#[test]
fn products_of_computed_values_and_stacks() {
    let gram = vec![node("Transpose", &["x"], "t", vec![]), node("MatMul", &["x", "t"], "y", vec![])];
    let found = gives(&model(13, &[2, 2], gram, vec![]), &[1.0, 2.0, 3.0, 4.0], &[2, 2], &[5.0, 11.0, 11.0, 25.0]);
    assert_eq!(kinds(&found), ["input", "permute", "matmul"]);
    let stack = numbers("w", &[2, 2, 1], &[1.0, 0.0, 10.0, 1.0]);
    gives(&one(13, "MatMul", &[1, 2], vec![], vec![stack]), &[3.0, 5.0], &[2, 1, 1], &[3.0, 35.0]);
    refused(&one(13, "MatMul", &[1, 2], vec![], vec![numbers("w", &[2, 3, 1], &[1.0; 6])]), "do not go together");
}

#[test]
fn gemm_with_factors_and_turns() {
    let b = || numbers("b", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let c = || numbers("c", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let attributes = vec![float("alpha", 0.5), float("beta", 2.0), int("transA", 1), int("transB", 1)];
    // Xᵀ = 1 3 / 2 4, Bᵀ = 1 3 / 2 4; the product is 7 15 / 10 22, half of it 3.5 7.5 / 5 11, and 2 4 / 6 8 more.
    let all = gives(
        &one(13, "Gemm", &[2, 2], attributes, vec![b(), c()]),
        &[1.0, 2.0, 3.0, 4.0],
        &[2, 2],
        &[5.5, 11.5, 11.0, 19.0],
    );
    let expected = ["input", "permute", "linear", "const", "mul_elem", "const", "const", "mul_elem", "add"];
    assert_eq!(kinds(&all), expected);
    let tall =
        gives(&one(13, "Gemm", &[2, 2], vec![], vec![b(), c()]), &[1.0, 0.0, 0.0, 1.0], &[2, 2], &[2.0, 4.0, 6.0, 8.0]);
    assert_eq!(kinds(&tall), ["input", "linear", "const", "add"]);
    let left = small(13, &[2, 1], node("Gemm", &["b", "x"], "y", vec![int("transA", 1)]), vec![b()]);
    assert_eq!(kinds(&gives(&left, &[1.0, 10.0], &[2, 1], &[31.0, 42.0])), ["input", "const", "matmul"]);
}

#[test]
fn transposed_convolutions() {
    let weight = numbers("w", &[1, 1, 2], &[1.0, 10.0]);
    let attributes = vec![ints("strides", &[2]), ints("pads", &[1, 0]), ints("output_padding", &[1])];
    // 3 30 5 50 and a zero behind; the first is cut off.
    let found = gives(
        &one(11, "ConvTranspose", &[1, 1, 2], attributes, vec![weight]),
        &[3.0, 5.0],
        &[1, 1, 4],
        &[30.0, 5.0, 50.0, 0.0],
    );
    assert_eq!(kinds(&found), ["input", "conv_transpose"]);
    let grouped = numbers("w", &[2, 1, 1], &[2.0, 3.0]);
    let found = imported(&one(11, "ConvTranspose", &[1, 2, 1], vec![int("group", 2)], vec![grouped]));
    assert_eq!(payload(&found)["1.weight"].2, [2.0_f32, 0.0, 0.0, 3.0].map(f32::to_le_bytes).concat());
    let same = vec![string("auto_pad", "SAME_UPPER")];
    refused(&one(11, "ConvTranspose", &[1, 1, 2], same, vec![numbers("w", &[1, 1, 2], &[1.0; 2])]), "`auto_pad`");
}

#[test]
fn windows_that_pad_themselves() {
    let pool = |op, opset, extent, attributes: Vec<AttributeProto>| {
        one(opset, op, &[1, 1, extent], [vec![ints("kernel_shape", &[2])], attributes].concat(), vec![])
    };
    let x = [4.0, 1.0, 2.0];
    let same = |mode| vec![string("auto_pad", mode)];
    gives(&pool("MaxPool", 12, 3, same("SAME_UPPER")), &x, &[1, 1, 3], &[4.0, 2.0, 2.0]);
    gives(&pool("MaxPool", 12, 3, same("SAME_LOWER")), &x, &[1, 1, 3], &[4.0, 4.0, 2.0]);
    let found = gives(&pool("AveragePool", 12, 3, same("SAME_UPPER")), &x, &[1, 1, 3], &[2.5, 1.5, 2.0]);
    assert_eq!(nodes(&found)[1]["count_include_pad"], false);
    let counted = [same("SAME_UPPER"), vec![int("count_include_pad", 1)]].concat();
    gives(&pool("AveragePool", 12, 3, counted), &x, &[1, 1, 3], &[2.5, 1.5, 1.0]);
    let plain = gives(&pool("AveragePool", 12, 3, vec![]), &x, &[1, 1, 2], &[2.5, 1.5]);
    assert!(plain.graph.starts_with(r#"{"format":"torchlean.ir.v1""#), "{}", plain.graph);
    let ceil = || vec![int("ceil_mode", 1), ints("strides", &[2])];
    gives(&pool("MaxPool", 12, 3, ceil()), &x, &[1, 1, 2], &[4.0, 2.0]);
    gives(&pool("AveragePool", 12, 3, ceil()), &x, &[1, 1, 2], &[2.5, 2.0]);
    refused(&pool("AveragePool", 12, 3, [ceil(), vec![int("count_include_pad", 1)]].concat()), "`count_include_pad`");
    // The window after the last would start behind the value.
    let beyond = || vec![int("ceil_mode", 1), ints("strides", &[3]), ints("pads", &[0, 1])];
    refused(&pool("MaxPool", 12, 3, beyond()), "does not fit");
    gives(&pool("MaxPool", 22, 3, beyond()), &x, &[1, 1, 1], &[4.0]);
    let conv = one(11, "Conv", &[1, 1, 3], same("SAME_UPPER"), vec![numbers("w", &[1, 1, 2], &[1.0, 10.0])]);
    gives(&conv, &x, &[1, 1, 3], &[14.0, 21.0, 2.0]);
    gives(&one(1, "GlobalMaxPool", &[1, 1, 3], vec![], vec![]), &x, &[1, 1, 1], &[4.0]);
}

#[test]
fn normalisations() {
    let four = |name, number| numbers(name, &[1], &[number]);
    let tensors = vec![four("g", 2.0), four("b", 1.0), four("m", 3.0), four("v", 3.0)];
    let batch = one(9, "BatchNormalization", &[1, 1, 2], vec![float("epsilon", 1.0)], tensors.clone());
    gives(&batch, &[3.0, 5.0], &[1, 1, 2], &[1.0, 3.0]);
    refused(
        &one(14, "BatchNormalization", &[1, 1, 2], vec![int("training_mode", 1)], tensors.clone()),
        "`training_mode`",
    );
    // ONNX, BatchNormalization-7 and -9: five outputs are the training mode, one is the test mode; from 14 on the attribute says so.
    let named = |opset, names: &[&str]| {
        let mut norm = node("BatchNormalization", &["x", "g", "b", "m", "v"], "y", vec![float("epsilon", 1.0)]);
        norm.output.extend(names.iter().map(|name| (*name).to_owned()));
        small(opset, &[1, 1, 2], norm, tensors.clone())
    };
    for opset in [7, 9, 13] {
        refused(&named(opset, &["mean", "var", "saved_mean", "saved_var"]), "as in training");
        refused(&named(opset, &["", "var"]), "as in training");
        gives(&named(opset, &["", ""]), &[3.0, 5.0], &[1, 1, 2], &[1.0, 3.0]);
    }
    gives(&named(14, &["mean", "var"]), &[3.0, 5.0], &[1, 1, 2], &[1.0, 3.0]);
    // Without B; mean 2, variance 4: ±2/√(4 + 5) times 3.
    let scale = vec![numbers("g", &[1, 2], &[3.0, 3.0])];
    let layer = one(17, "LayerNormalization", &[1, 2], vec![float("epsilon", 5.0)], scale);
    gives(&layer, &[0.0, 4.0], &[1, 2], &[-2.0, 2.0]);
    let mut whole = node("LayerNormalization", &["x", "g"], "n", vec![float("epsilon", 5.0)]);
    whole.output.extend(["m".to_owned(), "y".to_owned()]);
    let found = imported(&model(17, &[1, 2], vec![whole], vec![numbers("g", &[2], &[3.0, 3.0])]));
    let expected = ["input", "reduce_mean", "broadcast_to", "sub", "mul_elem", "reduce_mean", "const", "add", "pow"];
    assert_eq!(kinds(&found), expected);
    assert!((evaluate(&found, &[0.0, 4.0])[0].1[0] - 1.0 / 3.0).abs() < 1e-15);
    let old = imported(&one(12, "Softmax", &[2, 3, 2], vec![], vec![]));
    assert_eq!(kinds(&old), ["input", "reshape", "softmax", "reshape"]);
    assert_eq!(nodes(&old)[2]["shape"], serde_json::json!([2, 6]));
    assert_eq!(kinds(&imported(&one(12, "Softmax", &[2, 3], vec![], vec![]))), ["input", "softmax"]);
    assert_eq!(kinds(&imported(&one(13, "LogSoftmax", &[2, 3], vec![], vec![]))), ["input", "softmax", "log"]);
}

#[test]
fn reductions() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let by_input = |op, axes: &[i64], more| one(18, op, &[2, 3], more, vec![integers("a", axes)]);
    gives(&by_input("ReduceMax", &[-1], vec![]), &x, &[2, 1], &[3.0, 6.0]);
    gives(&by_input("ReduceMin", &[0], vec![int("keepdims", 0)]), &x, &[3], &[1.0, 2.0, 3.0]);
    let all = gives(&by_input("ReduceSum", &[1, 0], vec![]), &x, &[1, 1], &[21.0]);
    assert_eq!(nodes(&all)[1]["axes"], serde_json::json!([0, 1]));
    gives(&by_input("ReduceSum", &[], vec![]), &x, &[1, 1], &[21.0]);
    let nothing = by_input("ReduceSum", &[], vec![int("noop_with_empty_axes", 1)]);
    assert_eq!(kinds(&gives(&nothing, &x, &[2, 3], &x)), ["input", "detach"]);
    gives(&one(13, "ReduceMean", &[2, 3], vec![ints("axes", &[1])], vec![]), &x, &[2, 1], &[2.0, 5.0]);
    refused(&by_input("ReduceSum", &[0, -2], vec![]), "twice");
}

#[test]
fn slices() {
    let x: Vec<f64> = (0..6).map(f64::from).collect();
    let slice = |lists: [&[i64]; 4]| {
        let lists = ["s", "e", "a", "p"].iter().zip(lists).map(|(name, list)| integers(name, list)).collect();
        one(13, "Slice", &[2, 3], vec![], lists)
    };
    let far = i64::MAX;
    let found = gives(&slice([&[0], &[far], &[-1], &[2]]), &x, &[2, 2], &[0.0, 2.0, 3.0, 5.0]);
    assert_eq!(nodes(&found)[1]["stop"], serde_json::json!([2, 3]));
    gives(&slice([&[-2, 1], &[far, far], &[1, 0], &[1, 1]]), &x, &[1, 2], &[4.0, 5.0]);
    let back = gives(&slice([&[far], &[i64::MIN], &[1], &[-2]]), &x, &[2, 2], &[2.0, 0.0, 5.0, 3.0]);
    assert_eq!(kinds(&back), ["input", "gather"]);
    let both = gives(&slice([&[1, -1], &[2, 0], &[0, 1], &[1, -1]]), &x, &[1, 2], &[5.0, 4.0]);
    assert_eq!(kinds(&both), ["input", "slice", "gather"]);
    refused(&slice([&[3], &[far], &[1], &[1]]), "no elements");
    refused(&slice([&[0], &[far], &[1], &[0]]), "do not fit");
    refused(&slice([&[0, 0], &[far, 1], &[1, 1], &[1, 1]]), "do not fit");
    let old = one(9, "Slice", &[2, 3], vec![ints("starts", &[1]), ints("ends", &[2])], vec![]);
    gives(&old, &x, &[1, 3], &[3.0, 4.0, 5.0]);
}

#[test]
fn pieces_and_places() {
    let x: Vec<f64> = (0..5).map(f64::from).collect();
    let mut split = node("Split", &["x"], "a", vec![int("num_outputs", 3)]);
    split.output.extend(["b".to_owned(), "y".to_owned()]);
    // Of the parts 2, 2, 1 the last alone is read.
    let found = gives(&model(18, &[5], vec![split.clone()], vec![]), &x, &[1], &[4.0]);
    assert_eq!(kinds(&found), ["input", "split"]);
    split.attribute.clear();
    refused(&model(13, &[5], vec![split], vec![]), "not cut into 3 equal parts");
    let gather = |indices: TensorProto| one(13, "Gather", &[5], vec![], vec![indices]);
    gives(&gather(raw("i", &[2, 1], 6, [(-1_i32), 1].map(i32::to_le_bytes).concat())), &x, &[2, 1], &[4.0, 1.0]);
    let scalar = TensorProto { dims: vec![], ..integers("i", &[3]) };
    let found = gives(&gather(scalar), &x, &[], &[3.0]);
    assert_eq!(nodes(&found)[1]["indices_shape"], serde_json::json!([]));
    refused(&gather(integers("i", &[5])), "beyond");
    let expand = |shape: &[i64]| one(13, "Expand", &[2, 1], vec![], vec![integers("s", shape)]);
    gives(&expand(&[2]), &[1.0, 2.0], &[2, 2], &[1.0, 1.0, 2.0, 2.0]);
    assert_eq!(kinds(&imported(&expand(&[1]))), ["input", "detach"]);
    let pad = |opset, attributes, more| one(opset, "Pad", &[2], attributes, more);
    let padded = pad(11, vec![], vec![integers("p", &[1, 0]), numbers("v", &[], &[9.0])]);
    gives(&padded, &[1.0, 2.0], &[3], &[9.0, 1.0, 2.0]);
    gives(&pad(2, vec![ints("pads", &[0, 1])], vec![]), &[1.0, 2.0], &[3], &[1.0, 2.0, 0.0]);
    assert_eq!(kinds(&imported(&pad(2, vec![ints("pads", &[0, 0])], vec![]))), ["input", "detach"]);
    refused(&pad(2, vec![ints("pads", &[0, -1])], vec![]), "below zero");
    refused(&pad(2, vec![ints("pads", &[0, 1]), string("mode", "edge")], vec![]), "`mode`");
}

#[test]
fn nearest_neighbours() {
    let doubled = [1.0, 1.0, 2.0, 2.0];
    let old = one(7, "Upsample", &[1, 2], vec![floats("scales", &[1.0, 2.0])], vec![]);
    gives(&old, &[1.0, 2.0], &[1, 4], &doubled);
    let resize = |attributes, inputs: &[&str], more| small(13, &[1, 2], node("Resize", inputs, "y", attributes), more);
    let scales = |factor| vec![numbers("s", &[2], &[1.0, factor])];
    gives(&resize(vec![], &["x", "", "s"], scales(2.0)), &[1.0, 2.0], &[1, 4], &doubled);
    let sizes = vec![integers("s", &[1, 4])];
    let floor = vec![string("coordinate_transformation_mode", "asymmetric"), string("nearest_mode", "floor")];
    gives(&resize(floor, &["x", "", "", "s"], sizes), &[1.0, 2.0], &[1, 4], &doubled);
    refused(&resize(vec![], &["x", "", "s"], scales(1.5)), "not whole");
    refused(&resize(vec![string("mode", "linear")], &["x", "", "s"], scales(2.0)), "`mode`");
    let floor = vec![string("nearest_mode", "floor")];
    refused(&resize(floor, &["x", "", "s"], scales(2.0)), "nearest_mode");
    refused(&resize(vec![], &["x"], vec![]), "neither scales nor sizes");
}

#[test]
fn arithmetic_of_shapes_is_folded() {
    let nodes = vec![
        node("Shape", &["x"], "s", vec![]),
        node("Gather", &["s", "one"], "e", vec![]),
        node("Mul", &["e", "two"], "d", vec![]),
        node("Div", &["d", "four"], "f", vec![]),
        node("Concat", &["minus", "f"], "t", vec![int("axis", 0)]),
        node("Reshape", &["x", "t"], "y", vec![]),
    ];
    let list = |name, number| integers(name, &[number]);
    let constants = vec![list("one", 1), list("two", 2), list("four", 4), list("minus", -1)];
    let found = gives(&model(13, &[2, 4], nodes, constants), &[1.0; 8], &[4, 2], &[1.0; 8]);
    assert_eq!(kinds(&found), ["input", "reshape"]);
    let large = vec![node("Mul", &["a", "a"], "b", vec![]), node("Reshape", &["x", "b"], "y", vec![])];
    refused(&model(13, &[1], large, vec![integers("a", &[1 << 40])]), "range");
    // The size of a value that nothing else needs: its nodes go, and what comes after it gets other ids.
    let nodes = vec![
        node("Exp", &["x"], "v", vec![]),
        node("Neg", &["v"], "u", vec![]),
        node("Size", &["u"], "n", vec![]),
        node("Cast", &["n"], "f", vec![int("to", 1)]),
        node("Add", &["x", "f"], "y", vec![]),
    ];
    let found = gives(&model(13, &[3], nodes, vec![]), &[0.0, 1.0, 2.0], &[3], &[3.0, 4.0, 5.0]);
    assert_eq!(kinds(&found), ["input", "const", "add"]);
    assert_eq!(payload(&found).keys().collect::<Vec<_>>(), ["1.values"]);
    let filled = vec![
        node("ConstantOfShape", &["n"], "c", vec![tensor("value", numbers("", &[1], &[2.5]))]),
        node("Add", &["x", "c"], "y", vec![]),
    ];
    gives(&model(13, &[2], filled, vec![integers("n", &[2])]), &[0.0, 1.0], &[2], &[2.5, 3.5]);
}

#[test]
fn pieces_of_constants_are_constants() {
    // 1 2 3 / 4 5 6 becomes 3 1 / 6 4, and with the middle column 3 1 2 / 6 4 5, of which the last two are 1 2 / 4 5.
    let mut split = node("Split", &["j", "sizes"], "", vec![int("axis", 1)]);
    split.output.push("l".to_owned());
    let nodes = vec![
        node("Slice", &["w", "s", "e", "one", "p"], "back", vec![]),
        node("Gather", &["w", "one"], "g", vec![int("axis", 1)]),
        node("Concat", &["back", "g"], "j", vec![int("axis", 1)]),
        split,
        node("Where", &["c", "l", "nine"], "v", vec![]),
        node("Add", &["x", "v"], "y", vec![]),
    ];
    let constants = vec![
        numbers("w", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        integers("s", &[-1]),
        integers("e", &[-9]),
        integers("one", &[1]),
        integers("p", &[-2]),
        integers("sizes", &[1, 2]),
        raw("c", &[2, 1], 9, vec![0, 1]),
        numbers("nine", &[], &[9.0]),
    ];
    let found = gives(&model(13, &[1], nodes, constants), &[0.0], &[2, 2], &[9.0, 9.0, 4.0, 5.0]);
    assert_eq!(kinds(&found), ["input", "broadcast_to", "const", "add"]);
}

#[test]
fn casts_are_exact() {
    let cast = |tensor: TensorProto, to| {
        let nodes = vec![node("Cast", &["c"], "f", vec![int("to", to)]), node("Add", &["x", "f"], "y", vec![])];
        model(13, &[1], nodes, vec![tensor])
    };
    gives(&cast(integers("c", &[-3]), 1), &[1.0], &[1], &[-2.0]);
    gives(&cast(raw("c", &[1], 9, vec![1]), 1), &[1.0], &[1], &[2.0]);
    gives(&cast(raw("c", &[1], DOUBLE, 0.5_f64.to_le_bytes().to_vec()), 1), &[1.0], &[1], &[1.5]);
    refused(&cast(integers("c", &[(1 << 24) + 1]), 1), "not exactly");
    refused(&cast(integers("c", &[i64::MAX]), 1), "not exactly");
    refused(&cast(raw("c", &[1], DOUBLE, 0.1_f64.to_le_bytes().to_vec()), 1), "not exactly");
    refused(&cast(numbers("c", &[1], &[0.5]), 7), "not exactly");
    refused(&cast(numbers("c", &[1], &[0.5]), 10), "float16");
    let computed = |to| small(13, &[1], node("Cast", &["x"], "y", vec![int("to", to)]), vec![]);
    assert_eq!(kinds(&gives(&computed(1), &[0.5], &[1], &[0.5])), ["input", "detach"]);
    refused(&computed(7), "int64");
}

#[test]
fn what_nothing_reads_is_dropped() {
    let nodes = vec![
        node("Mystery", &["x"], "dead", vec![]),
        node("Relu", &["h"], "y", vec![]),
        node("Neg", &["x"], "h", vec![]),
    ];
    // The order is that of what reads what.
    let found = gives(&model(13, &[1], nodes, vec![raw("spare", &[1], 10, vec![0])]), &[-2.0], &[1], &[2.0]);
    assert_eq!(kinds(&found), ["input", "neg", "relu"]);
    let deaf = small(13, &[1], node("Constant", &[], "y", vec![float("value_float", 1.0)]), vec![]);
    assert_eq!(kinds(&gives(&deaf, &[5.0], &[], &[1.0])), ["input", "const"]);
}

#[test]
fn several_outputs_and_frozen_inputs() {
    let nodes = vec![node("Neg", &["x"], "h", vec![]), node("Add", &["h", "z"], "y", vec![])];
    let mut model = model(13, &[1], nodes, vec![]);
    let graph = model.graph.as_mut().expect("graph");
    graph.output.push(info("h", 1, None));
    graph.input.push(info("z", 1, Some(&[1])));
    let bytes = model.encode_to_vec();
    assert!(import(&bytes).expect_err("two inputs").to_string().contains("freeze"));
    let array = |descr: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
    };
    let two = 2.0_f32.to_le_bytes();
    let files = [array("<f4", "1,", &two), numbers("", &[1], &[2.0]).encode_to_vec()];
    for file in &files {
        let found = import_frozen(&bytes, &[Frozen { name: "z", bytes: file }]).expect("frozen");
        assert_eq!(kinds(&found), ["input", "neg", "const", "add"]);
        assert_eq!(evaluate(&found, &[3.0]), [(vec![1], vec![-1.0]), (vec![1], vec![-3.0])]);
    }
    let error = |name, bytes_of: &[u8]| {
        import_frozen(&bytes, &[Frozen { name, bytes: bytes_of }]).expect_err("not frozen").to_string()
    };
    assert!(error("q", &files[0]).contains("no graph input"));
    assert!(error("z", &array("<f8", "1,", &[0; 8])).contains("float64"));
    assert!(error("z", &array("<f4", "2,", &[0; 8])).contains("[2]"));
    assert!(error("z", &array("<f4", "1,", &[0; 3])).contains("not as long"));
    assert!(error("z", &array("<f4", "1,", &f32::NAN.to_le_bytes())).contains("NaN"));
    assert!(error("z", &array(">f4", "1,", &two)).contains(">f4"));
    assert!(error("z", &files[0][..9]).contains("version"));
    let twice = [Frozen { name: "z", bytes: &files[0] }, Frozen { name: "z", bytes: &files[0] }];
    assert!(matches!(import_frozen(&bytes, &twice), Err(ImportError::Interface(_))));
}

#[test]
fn what_is_not_continuous_or_not_written_down_is_refused_by_name() {
    for op in ["Sign", "Floor", "Round", "Celu", "InstanceNormalization", "LRN", "LSTM", "Loop", "TopK"] {
        refused(&one(18, op, &[1], vec![], vec![]), &format!("operator {op} is not supported"));
    }
}

/// Models that together reach every family of operators, to be damaged.
pub(crate) fn seeds() -> Vec<ModelProto> {
    let window = vec![
        node(
            "MaxPool",
            &["x"],
            "p",
            vec![
                ints("kernel_shape", &[2, 2]),
                int("ceil_mode", 1),
                ints("dilations", &[1, 1]),
                ints("strides", &[2, 2]),
            ],
        ),
        node("AveragePool", &["p"], "a", vec![ints("kernel_shape", &[1, 2]), string("auto_pad", "SAME_LOWER")]),
        node("ConvTranspose", &["a", "w"], "t", vec![int("group", 2), ints("output_padding", &[0, 0])]),
        node("GlobalAveragePool", &["t"], "y", vec![]),
    ];
    let window = model(13, &[1, 2, 3, 3], window, vec![numbers("w", &[2, 1, 2, 2], &[0.5; 8])]);
    let pieces = vec![
        node("Slice", &["x", "s", "e", "a", "p"], "h", vec![]),
        node("Pad", &["h", "pads"], "i", vec![]),
        node("Gather", &["i", "s"], "j", vec![int("axis", 1)]),
        node("Expand", &["j", "wide"], "k", vec![]),
        node("Split", &["k"], "y", vec![int("axis", 0)]),
    ];
    let lists = vec![
        integers("s", &[0, -1]),
        integers("e", &[2, -9]),
        integers("a", &[0, 1]),
        integers("p", &[1, -1]),
        integers("pads", &[0, 1, 0, 0]),
        integers("wide", &[2, 2]),
    ];
    let pieces = model(13, &[2, 3], pieces, lists);
    let shapes = vec![
        node("Shape", &["x"], "s", vec![]),
        node("Gather", &["s", "one"], "e", vec![]),
        node("Mul", &["e", "one"], "d", vec![]),
        node("Cast", &["d"], "f", vec![int("to", 1)]),
        node("Pow", &["x", "f"], "q", vec![]),
        node("Max", &["q", "x", "f"], "m", vec![]),
        node("Div", &["m", "f"], "v", vec![]),
        node("ReduceSum", &["v", "one"], "r", vec![]),
        node("Clip", &["r", "zero"], "c", vec![]),
        node("LeakyRelu", &["c"], "l", vec![float("alpha", 0.5)]),
        node("Resize", &["l", "", "scales"], "y", vec![]),
    ];
    let constants = vec![integers("one", &[1]), numbers("zero", &[], &[0.0]), numbers("scales", &[2], &[1.0, 2.0])];
    let shapes = model(13, &[2, 4], shapes, constants);
    let norm = vec![
        node("LayerNormalization", &["x", "g"], "n", vec![int("axis", -1)]),
        node("Softmax", &["n"], "s", vec![int("axis", 0)]),
        node("Where", &["c", "s", "g"], "w", vec![]),
        node("Gemm", &["w", "w", "g"], "y", vec![float("alpha", 2.0), int("transB", 1), float("beta", 0.5)]),
    ];
    let constants = vec![numbers("g", &[2], &[1.0, 2.0]), raw("c", &[2, 1], 9, vec![1, 0])];
    vec![window, pieces, shapes, model(17, &[2, 2], norm, constants)]
}
