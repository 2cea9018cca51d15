//! Small dumps made by hand: two inputs (node 0), three neurons (nodes 1 and 2), two outputs (node 3).

use super::*;
use crate::activation::Activation;
use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable, disjunct};
use safetensors::Dtype as InType;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

type InTensor = (&'static str, InType, Vec<usize>, Vec<u8>);

struct Dump {
    manifest: Value,
    tensors: Vec<InTensor>,
}

fn f32s(name: &'static str, shape: &[usize], values: &[f32]) -> InTensor {
    (name, InType::F32, shape.to_vec(), values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

fn i32s(name: &'static str, values: &[i32]) -> InTensor {
    (name, InType::I32, vec![values.len()], values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

fn row(terms: &[(Variable, i64)], bound: (i64, i64)) -> Row {
    let terms = terms.iter().map(|(variable, c)| (*variable, Rational::from_integer((*c).into())));
    let bound = Rational::new(bound.0.into(), bound.1.into());
    Row { terms: terms.collect(), bound, strict: false }
}

/// Disjuncts: 0 is `x0 ≤ 1/2 and y1 ≤ 3 and y0 ≤ 1/10`, 1 is `y1 − y0 ≤ 0`, 2 is `y0 ≤ 1/10 and y1 ≤ 3`.
fn problem() -> Problem {
    use Variable::{X, Y};
    let half = row(&[(X(0), 1)], (1, 2));
    let (tenth, three) = (row(&[(Y(0), 1)], (1, 10)), row(&[(Y(1), 1)], (3, 1)));
    let one = Rational::from_integer(1.into());
    let property = Property {
        lower: vec![-one.clone(), -one.clone()],
        upper: vec![one.clone(), one],
        outputs: 2,
        disjuncts: vec![
            disjunct([half, three.clone(), tenth.clone()]),
            disjunct([row(&[(Y(0), -1), (Y(1), 1)], (0, 1))]),
            disjunct([tenth, three]),
        ],
    };
    Problem {
        input: 0,
        outputs: vec![3],
        widths: vec![2, 3, 3, 2],
        activations: vec![(Activation::Relu, 2, 1)],
        property,
    }
}

/// The dump's disjunct 0 is the property's disjunct 1, its disjunct 1 is the property's 0 and 2.
fn dump(leaves: Value, root_lb: [f32; 3]) -> Dump {
    let node = |name: &str, kind: &str, inputs: &[&str], width: usize| json!({"name": name, "type": kind, "inputs": inputs, "perturbed": true, "shape": [1, width]});
    let manifest = json!({
        "format": "abdump-0",
        "nodes": [
            node("/x", "BoundInput", &[], 2),
            node("/pre", "BoundLinear", &["/x"], 3),
            node("/act", "BoundRelu", &["/pre"], 3),
            node("/out", "BoundLinear", &["/act"], 2),
        ],
        "final_name": "/out", "norm": "inf", "leaves": leaves,
    });
    let tensors = vec![
        f32s("spec/C", &[1, 3, 2], &[-1.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
        f32s("spec/rhs", &[1, 3], &[0.0, 0.1, 3.0]),
        i32s("spec/or_spec_size", &[1, 2]),
        f32s("spec/x_L", &[1, 2], &[-1.0, -1.0]),
        f32s("spec/x_U", &[1, 2], &[1.0, 1.0]),
        f32s("root/lb", &[1, 3], &root_lb),
        f32s("root/C", &[1, 1, 2], &[-1.0, 1.0]),
        f32s("root/interm//pre/l", &[1, 3], &[-1.0, -2.0, -3.0]),
        f32s("root/interm//pre/u", &[1, 3], &[2.0, 1.0, 3.5]),
    ];
    Dump { manifest, tensors }
}

/// A split of neuron 1 for the dump's disjunct 1; the first leaf closes by its second atom, the second by its first.
fn split_dump() -> Dump {
    let split =
        |sign: i32, beta: f64| json!([{"layer": "/pre", "neuron": 1, "sign": sign, "point": 0.0, "beta": beta}]);
    let leaves = json!([
        {"id": 0, "lb": [-4.0, 3.5], "rhs": [0.1_f32, 3.0], "splits": split(-1, 0.25)},
        {"id": 1, "lb": [0.5, -4.0], "rhs": [0.1_f32, 3.0], "splits": split(1, 0.0)},
    ]);
    let mut dump = dump(leaves, [0.5, -1.0, -1.0]);
    dump.tensors.extend([
        f32s("leaf/C", &[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
        f32s("leaf_alpha//act", &[2, 2, 2], &[0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875]),
        i32s("leaf_alpha_cols//act", &[2, 1]),
        f32s("best_alpha//act//out/val", &[2, 1, 2], &[0.0625, 0.9375, 0.0, 0.0]),
        i32s("best_alpha//act//out/rows", &[0]),
        i32s("best_alpha//act//out/cols", &[1, 0]),
    ]);
    dump
}

impl Dump {
    fn set(&mut self, tensor: InTensor) {
        self.tensors.retain(|(name, ..)| *name != tensor.0);
        self.tensors.push(tensor);
    }

    fn convert(&self) -> Result<(Value, BTreeMap<String, OutTensor>), ConvertError> {
        self.convert_for(&problem())
    }

    fn convert_for(&self, problem: &Problem) -> Result<(Value, BTreeMap<String, OutTensor>), ConvertError> {
        let views = self
            .tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| (*name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
        let bytes = safetensors::serialize(views, None).unwrap();
        let manifest = Manifest::read(self.manifest.to_string().as_bytes())?;
        let certificate = assemble(&manifest, &Tensors::read(&bytes)?, problem)?;
        let tensors = certificate.tensors.into_iter().map(|tensor| (tensor.0.clone(), tensor)).collect();
        Ok((serde_json::from_slice(&certificate.document).unwrap(), tensors))
    }

    fn error(&self) -> String {
        self.convert().unwrap_err().to_string()
    }
}

fn ints(tensors: &BTreeMap<String, OutTensor>, name: &str) -> Vec<u32> {
    let (_, dtype, shape, bytes) = &tensors[name];
    assert_eq!((*dtype, shape.as_slice()), (Dtype::U32, [bytes.len() / 4].as_slice()), "{name}");
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

fn reals_of(tensors: &BTreeMap<String, OutTensor>, name: &str) -> Vec<f32> {
    let (_, dtype, _, bytes) = &tensors[name];
    assert_eq!(*dtype, Dtype::F32, "{name}");
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[test]
fn splits_rows_and_slopes_land_at_their_entries() {
    let (document, tensors) = split_dump().convert().unwrap();
    // Disjuncts 0 and 2 share the tree of the leaves, disjunct 1 was closed at the root.
    assert_eq!(document, json!({"format": "certkern.leaves.v1", "trees": [0, 1, 0], "bounds": ["plain"]}));
    assert_eq!(ints(&tensors, "tree.offset"), [0, 3, 4]);
    assert_eq!(tensors["tree.kind"].3, [1, 0, 0, 0]);
    assert_eq!(ints(&tensors, "tree.node"), [1, 0, 0, 0]);
    assert_eq!(ints(&tensors, "tree.coordinate"), [1, 0, 0, 0]);
    assert_eq!(ints(&tensors, "tree.bounds"), [1, 0, 0, 1]);
    assert_eq!(reals_of(&tensors, "threshold.value"), [0.0]);
    // Entries: leaf 1 (the side of `≥`) for disjuncts 0 and 2, leaf 0 for both, the root for disjunct 1. Disjunct 0 has the rows
    // x0, y1, y0; leaf 1 closes by y0 and leaf 0 by y1.
    assert_eq!(ints(&tensors, "leaf.rows.offset"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(ints(&tensors, "leaf.rows.index"), [2, 0, 1, 1, 0]);
    assert_eq!(reals_of(&tensors, "leaf.rows.multiplier"), [1.0; 5]);
    assert_eq!(ints(&tensors, "leaf.splits.offset"), [0, 0, 0, 1, 2, 2]);
    assert_eq!(ints(&tensors, "leaf.splits.depth"), [0, 0]);
    assert_eq!(reals_of(&tensors, "leaf.splits.multiplier"), [0.25, 0.25]);
    // Columns 2, 1 of the leaves and 0 of the root. Defaults by the root bounds: 1 for neurons 0 and 2, 0 for neuron 1.
    assert_eq!(ints(&tensors, "leaf.2.columns"), [2, 1, 0]);
    assert_eq!(tensors["leaf.2.slope"].2, [5, 3]);
    let (first, second, root) = ([0.5, 0.625, 1.0], [0.25, 0.375, 1.0], [1.0, 0.0625, 0.9375]);
    assert_eq!(reals_of(&tensors, "leaf.2.slope"), [first, first, second, second, root].concat());
}

#[test]
fn bound_slopes_make_a_set_of_slopes() {
    // A second layer whose argument (node 3) has slopes of the first layer (node 2).
    let relu = |name: &str, pre: &str, act: usize| Neurons {
        activation: Activation::Relu,
        act_name: name.to_owned(),
        pre_name: pre.to_owned(),
        act,
        pre: act - 1,
        width: 3,
    };
    let relus = [relu("/a", "/p", 2), relu("/b", "/q", 4)];
    let tensors = [
        f32s("best_alpha//a//q/val", &[2, 1, 2], &[0.125, 0.25, 0.5, 0.75]),
        i32s("best_alpha//a//q/rows", &[2]),
        i32s("best_alpha//a//q/cols", &[0, 1]),
    ];
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| (*name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
    let bytes = safetensors::serialize(views, None).unwrap();
    let out = hints::bound_slopes(&Tensors::read(&bytes).unwrap(), &relus).unwrap();
    let out: BTreeMap<String, OutTensor> = out.into_iter().map(|tensor| (tensor.0.clone(), tensor)).collect();
    assert_eq!(out.len(), 4);
    assert_eq!(ints(&out, "bounds.0.3.rows"), [2]);
    assert_eq!(ints(&out, "bounds.0.3.2.columns"), [0, 1]);
    assert_eq!(reals_of(&out, "bounds.0.3.2.lower"), [0.125, 0.25]);
    assert_eq!(reals_of(&out, "bounds.0.3.2.upper"), [0.5, 0.75]);
}

/// The dump of splits with a tanh for the ReLU, split at 1/2: neuron 1 has the root bounds [−2, 1].
#[test]
fn tangent_points_of_leaves_become_slopes_by_their_splits() {
    let split = |sign: i32| json!([{"layer": "/pre", "neuron": 1, "sign": sign, "point": 0.5, "beta": 0.25}]);
    let mut dump = split_dump();
    dump.manifest["nodes"][2]["type"] = json!("BoundTanh");
    for (leaf, sign) in [(0, -1), (1, 1)] {
        dump.manifest["leaves"][leaf]["splits"] = split(sign);
    }
    dump.tensors.retain(|(name, ..)| !name.starts_with("leaf_alpha//") && !name.starts_with("best_alpha"));
    dump.set(i32s("leaf_alpha_cols//act", &[1]));
    // [leaves, kinds, atoms, columns]: tangents at leaf 0 (z ≤ 1/2) at −3/2 below and 1/4 above, at leaf 1 (z ≥ 1/2) at 3/4 above.
    let mut points = [9.0_f32; 2 * 4 * 2];
    (points[2 * 2 + 1], points[3 * 2 + 1]) = (-1.5, 0.25);
    points[8] = 0.75;
    dump.set(f32s("leaf_tangents//act", &[2, 4, 2, 1], &points));
    let mut problem = problem();
    problem.activations[0].0 = Activation::Tanh;
    let (document, tensors) = dump.convert_for(&problem).unwrap();
    assert_eq!(document["trees"], json!([0, 1, 0]));
    assert_eq!(reals_of(&tensors, "threshold.value"), [0.5]);
    assert_eq!(ints(&tensors, "leaf.2.columns"), [1]);
    let [lower, upper] = ["slope", "high"].map(|field| reals_of(&tensors, &format!("leaf.2.{field}")));
    let tangent = |x: f32| 1.0 - x.tanh() * x.tanh();
    let chord = |l: f32, u: f32| (u.tanh() - l.tanh()) / (u - l);
    // Entries as above. Leaf 1 closes by its first atom, leaf 0 by its second. On [1/2, 1] the curve bends down: the lower line is the chord. On
    // [−2, 1/2] the chord (0.57) is steeper than the curve at −2 (0.07), so the lower line is a tangent; and flatter than at 1/2 (0.79), so the
    // upper line is the chord. The root has no tangents.
    for entry in [0, 1] {
        assert!((lower[entry] - chord(0.5, 1.0)).abs() < 1e-6 && (upper[entry] - tangent(0.75)).abs() < 1e-6);
    }
    for entry in [2, 3] {
        assert!((lower[entry] - tangent(-1.5)).abs() < 1e-6, "{lower:?}");
        assert!((upper[entry] - chord(-2.0, 0.5)).abs() < 1e-6, "{upper:?}");
    }
    assert_eq!((lower.len(), upper.len()), (5, 5));
}

#[test]
fn bad_hints_are_passed_on() {
    let mut dump = split_dump();
    dump.manifest["leaves"][0]["splits"][0]["beta"] = json!(-1.0);
    dump.set(f32s("leaf_alpha//act", &[2, 2, 2], &[0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0]));
    let (_, tensors) = dump.convert().unwrap();
    assert_eq!(reals_of(&tensors, "leaf.splits.multiplier"), [-1.0, -1.0]);
    assert!(reals_of(&tensors, "leaf.2.slope")[0].is_nan());
}

#[test]
fn a_multiplier_that_is_no_binary32_makes_binary64() {
    let mut dump = split_dump();
    dump.manifest["leaves"][0]["splits"][0]["beta"] = json!(0.1);
    let (_, tensors) = dump.convert().unwrap();
    let (_, dtype, _, bytes) = &tensors["leaf.splits.multiplier"];
    assert_eq!((*dtype, &bytes[..8]), (Dtype::F64, 0.1_f64.to_le_bytes().as_slice()));
}

#[test]
fn columns_left_out_are_those_of_the_root() {
    let mut dump = split_dump();
    dump.tensors.retain(|(name, ..)| *name != "leaf_alpha_cols//act");
    let (_, tensors) = dump.convert().unwrap();
    assert_eq!(ints(&tensors, "leaf.2.columns"), [1, 0]);
    dump.tensors.retain(|(name, ..)| !name.starts_with("best_alpha"));
    assert!(dump.error().contains("leaf_alpha_cols//act is absent"), "{}", dump.error());
}

#[test]
fn an_open_disjunct_without_leaves_is_named() {
    let mut open = split_dump();
    open.set(f32s("root/lb", &[1, 3], &[-0.5, -1.0, -1.0]));
    let text = open.error();
    assert!(
        text.starts_with("manifest.json: disjunct 1 (-Y_0 + Y_1 ≤ 0) has no leaves, and its root bound misses by -0.5"),
        "{text}"
    );
    // A NaN closes nothing.
    open.set(f32s("root/lb", &[1, 3], &[f32::NAN, -1.0, -1.0]));
    assert!(open.error().starts_with("manifest.json: disjunct 1 (-Y_0 + Y_1 ≤ 0) has no leaves"), "{}", open.error());
    // Without root bounds the dump must say that plain CROWN closed all.
    let mut root_only = dump(json!([]), [0.5; 3]);
    root_only.tensors.retain(|(name, ..)| *name != "root/lb");
    assert!(root_only.error().contains("has no leaves and no root bound"), "{}", root_only.error());
    root_only.manifest["fast_path_initial_crown"] = json!(true);
    let (document, tensors) = root_only.convert().unwrap();
    assert_eq!(document["trees"], json!([0, 0, 0]));
    assert_eq!(tensors["tree.kind"].3, [0]);
    assert_eq!(ints(&tensors, "leaf.rows.offset"), [0, 1, 2, 3]);
    assert!(!tensors.contains_key("leaf.2.slope") && !tensors.contains_key("threshold.value"));
}

#[test]
fn foreign_and_lacking_disjuncts_are_named() {
    let mut foreign = split_dump();
    foreign.set(f32s("spec/C", &[1, 3, 2], &[-1.0, 1.0, 1.0, 0.5, 0.0, 1.0]));
    let text = foreign.error();
    assert!(
        text.starts_with(
            "tensors.safetensors: disjunct 1 of spec/C speaks of Y_0 + 0.5·Y_1 ≤ 0.1 and Y_1 ≤ 3, which is no"
        ),
        "{text}"
    );
    let mut lacking = split_dump();
    lacking.set(f32s("spec/C", &[1, 1, 2], &[-1.0, 1.0]));
    lacking.set(f32s("spec/rhs", &[1, 1], &[0.0]));
    lacking.set(i32s("spec/or_spec_size", &[1]));
    lacking.set(f32s("root/lb", &[1, 1], &[0.5]));
    let text = lacking.error();
    assert!(
        text.starts_with("tensors.safetensors: the dump does not speak of disjunct 0 (Y_1 ≤ 3 and Y_0 ≤ 0.1) of"),
        "{text}"
    );
    let mut leaf = split_dump();
    leaf.set(f32s("leaf/C", &[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0]));
    let text = leaf.error();
    assert!(text.starts_with("tensors.safetensors: leaf 1 of leaf/C speaks of Y_0 ≤ 0.1 and -Y_1 ≤ 3"), "{text}");
}

#[test]
fn boxes_of_all_disjuncts_make_one_tree() {
    let mut dump = dump(json!([]), [-1.0; 3]);
    dump.tensors.extend([
        f32s("box/x_L", &[2, 1, 2], &[-1.0, -1.0, -1.0, 0.25]),
        f32s("box/x_U", &[2, 1, 2], &[1.0, 0.25, 1.0, 1.0]),
        f32s("box/C", &[1, 3, 2], &[-1.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
        f32s("box/rhs", &[1, 3], &[0.0, 0.1, 3.0]),
        f32s("box/lb", &[2, 3], &[0.5, 0.2, 0.0, 0.5, 0.0, 4.0]),
    ]);
    let (document, tensors) = dump.convert().unwrap();
    assert_eq!(document["trees"], json!([0, 0, 0]));
    assert_eq!(tensors["tree.kind"].3, [1, 0, 0]);
    assert_eq!((ints(&tensors, "tree.node"), ints(&tensors, "tree.coordinate")), (vec![0; 3], vec![1, 0, 0]));
    assert_eq!(ints(&tensors, "tree.bounds"), [0, 1, 1]);
    assert_eq!(reals_of(&tensors, "threshold.value"), [0.25]);
    // The upper box closes disjuncts 0 and 2 by y1 ≤ 3, the lower box by y0 ≤ 1/10.
    assert_eq!(ints(&tensors, "leaf.rows.index"), [1, 0, 1, 2, 0, 0]);
    // Boxes of the dump's disjunct 1 alone leave the property's disjunct 1 open.
    dump.set(f32s("box/C", &[1, 2, 2], &[1.0, 0.0, 0.0, 1.0]));
    dump.set(f32s("box/rhs", &[1, 2], &[0.1, 3.0]));
    dump.set(f32s("box/lb", &[2, 2], &[0.2, 0.0, 0.0, 4.0]));
    assert!(dump.error().starts_with("manifest.json: disjunct 1 (-Y_0 + Y_1 ≤ 0) has no leaves"), "{}", dump.error());
    dump.set(f32s("root/lb", &[1, 3], &[0.5, -1.0, -1.0]));
    // Slopes of the root stay out of a certificate of boxes.
    dump.tensors.extend([
        f32s("best_alpha//act//out/val", &[2, 1, 1], &[0.5, 0.5]),
        i32s("best_alpha//act//out/rows", &[0]),
        i32s("best_alpha//act//out/cols", &[1]),
    ]);
    let (document, tensors) = dump.convert().unwrap();
    assert_eq!(document["trees"], json!([0, 1, 0]));
    assert_eq!(ints(&tensors, "tree.bounds"), [0, 1, 1, 1]);
    assert!(!tensors.contains_key("leaf.2.slope"));
}

#[test]
fn nodes_that_do_not_fit_are_named() {
    let edits: [(&str, Value, &str); 9] = [
        ("/norm", json!(2), "norm is 2"),
        (
            "/nodes/2/type",
            json!("BoundSigmoid"),
            "the activations of the dump are [/act (BoundSigmoid)], those of the graph [2 (Relu)]",
        ),
        ("/nodes/1/shape", json!([1, 4]), "node /pre holds 4 numbers, node 1 of the graph 3"),
        ("/nodes/0/shape", json!([1, 3]), "node /x holds 3 numbers, node 0 of the graph 2"),
        ("/nodes/1/inputs", json!(["/out"]), "node /pre stands before one that it reads"),
        ("/final_name", json!("/y"), "final_name names \"/y\""),
        ("/leaves/0/splits/0/layer", json!("/out"), "a split of leaf 0 names \"/out[1]\""),
        ("/leaves/0/splits/0/sign", json!(0), "leaf 0 splits /pre[1] with sign 0"),
        ("/leaves/1/id", json!(0), "leaves[1] has the id 0, which stands twice"),
    ];
    for (pointer, value, wanted) in edits {
        let mut dump = split_dump();
        *dump.manifest.pointer_mut(pointer).unwrap() = value;
        assert!(dump.error().contains(wanted), "{}", dump.error());
    }
    let mut sine = split_dump();
    sine.manifest["root_alpha"] = json!([{"act": "/act", "type": "BoundSin"}]);
    assert!(sine.error().contains("node /act is a BoundSin; only ReLU, sigmoid and tanh"), "{}", sine.error());
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let edits = [
        (f32s("spec/x_U", &[1, 2], &[1.0, 1.5]), "the upper end of x[1] is 1.5 in the dump and 1 in the property"),
        (i32s("spec/or_spec_size", &[2, 2]), "positive sizes that add up to the 3 rows"),
        (i32s("spec/or_spec_size", &[3, 0]), "positive sizes that add up to the 3 rows"),
        (i32s("spec/or_spec_size", &[-1, 4]), "positive sizes that add up to the 3 rows"),
        (f32s("spec/C", &[3], &[0.0; 3]), "tensor spec/C has shape [3], not rows of 2 outputs"),
        (f32s("spec/rhs", &[2], &[0.0; 2]), "tensor spec/rhs has shape [2], not 3 right-hand sides"),
        (i32s("spec/rhs", &[0, 0, 0]), "tensor spec/rhs is of type I32, not F32"),
        (f32s("leaf/C", &[1, 2, 2], &[0.0; 4]), "leaf 0 of leaf/C speaks of 0 ≤ 0.1"),
        (f32s("leaf_alpha//act", &[2, 1, 2], &[0.0; 4]), "tensor leaf_alpha//act has shape [2, 1, 2], not [2, 2, 2]"),
        (i32s("leaf_alpha_cols//act", &[0, 3]), "index 3 at place 1 of tensor leaf_alpha_cols//act"),
        (i32s("leaf_alpha_cols//act", &[0, -1]), "index -1 at place 1 of tensor leaf_alpha_cols//act"),
        (i32s("leaf_alpha_cols//act", &[1, 1]), "index 1 at place 1 of tensor leaf_alpha_cols//act"),
        (i32s("best_alpha//act//out/rows", &[1]), "index 1 at place 0 of tensor best_alpha//act//out/rows"),
        (f32s("best_alpha//act//out/val", &[8, 1, 2], &[0.0; 16]), "has shape [8, 1, 2], not [2, 1, 2]"),
        (f32s("box/x_L", &[1, 2], &[0.0; 2]), "leaves of ReLU splits and leaf boxes"),
    ];
    for (tensor, wanted) in edits {
        let mut dump = split_dump();
        dump.set(tensor);
        let text = dump.error();
        assert!(text.contains(wanted), "{text}");
    }
}
