//! Laws over the registry: every operator has an example, and every example spoilt in one place is refused with the code
//! of that place. A new operator is covered as soon as it has its line here.

use super::{Arity, Operator, REGISTRY, find, tuple_getitem};
use crate::attributes::AttributeKind;
use crate::{Graph, shape};
use certkern_wire::{Limits, Reason};

/// A node that is accepted. Every attribute is written out.
#[derive(Clone)]
struct Example {
    kind: &'static str,
    parents: Vec<Vec<usize>>,
    shape: Vec<usize>,
    attributes: Vec<(&'static str, String)>,
    payload: Vec<(&'static str, String)>,
}

fn example(
    kind: &'static str,
    parents: &[&[usize]],
    shape: &[usize],
    attributes: &[(&'static str, &str)],
    payload: &[(&'static str, &str)],
) -> Example {
    let own = |fields: &[(&'static str, &str)]| fields.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    Example {
        kind,
        parents: parents.iter().map(|shape| shape.to_vec()).collect(),
        shape: shape.to_vec(),
        attributes: own(attributes),
        payload: own(payload),
    }
}

fn examples() -> Vec<Example> {
    vec![
        example("input", &[], &[2, 3], &[], &[]),
        example("const", &[], &[2, 2], &[("value_shape", "[2, 2]")], &[("values", "[1, -2, 0.5, 3e2]")]),
        example("add", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("sub", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("relu", &[&[1, 4]], &[1, 4], &[], &[]),
        example("cos", &[&[1, 4]], &[1, 4], &[], &[]),
        example("sigmoid", &[&[2, 3]], &[2, 3], &[], &[]),
        example("sin", &[&[1, 4]], &[1, 4], &[], &[]),
        example("softplus", &[&[1, 4]], &[1, 4], &[], &[]),
        example("tanh", &[&[2, 3]], &[2, 3], &[], &[]),
        example("detach", &[&[1, 4]], &[1, 4], &[], &[]),
        example("sum", &[&[1, 4]], &[], &[], &[]),
        example("flatten", &[&[2, 3]], &[6], &[("value_shape", "[2, 3]")], &[]),
        example("reshape", &[&[2, 3]], &[3, 1, 2], &[("in_shape", "[2, 3]"), ("out_shape", "[3, 1, 2]")], &[]),
        example("permute", &[&[2, 3, 4]], &[4, 2, 3], &[("perm", "[2, 0, 1]")], &[]),
        example("transpose", &[&[2, 3, 4]], &[4, 3, 2], &[("axis1", "0"), ("axis2", "2")], &[]),
        example("concat", &[&[2, 3], &[2, 1], &[2, 2]], &[2, 6], &[("axis", "1")], &[]),
        example("broadcast_to", &[&[3, 1]], &[2, 3, 4], &[("from_shape", "[3, 1]"), ("to_shape", "[2, 3, 4]")], &[]),
        example(
            "linear",
            &[&[4, 2]],
            &[4, 3],
            &[("in_dim", "2"), ("out_dim", "3")],
            &[("weight", "[[1, 2], [3, 4], [5, 6]]"), ("bias", "[1, 2, 3]")],
        ),
        example(
            "conv",
            &[&[1, 2, 5]],
            &[1, 2, 3],
            &[
                ("spatial_rank", "1"),
                ("kernel", "[2]"),
                ("stride", "[2]"),
                ("padding", "[1]"),
                ("padding_after", "[1]"),
                ("dilation", "[2]"),
                ("groups", "2"),
                ("channel_axis", "1"),
                ("in_channels", "2"),
                ("out_channels", "2"),
                ("input_spatial", "[5]"),
            ],
            &[("weight", "[[[1, 2], [0, -0.0]], [[0, 0], [3, 4]]]"), ("bias", "[0.5, -1]")],
        ),
        example("abs", &[&[1, 4]], &[1, 4], &[], &[]),
        example("neg", &[&[1, 4]], &[1, 4], &[], &[]),
        example("exp", &[&[1, 4]], &[1, 4], &[], &[]),
        example("erf", &[&[1, 4]], &[1, 4], &[], &[]),
        example("gelu", &[&[1, 4]], &[1, 4], &[], &[]),
        example("gelu_tanh", &[&[1, 4]], &[1, 4], &[], &[]),
        example("silu", &[&[1, 4]], &[1, 4], &[], &[]),
        example("mish", &[&[1, 4]], &[1, 4], &[], &[]),
        example("hard_swish", &[&[1, 4]], &[1, 4], &[], &[]),
        example("sqrt", &[&[1, 4]], &[1, 4], &[], &[]),
        example("log", &[&[1, 4]], &[1, 4], &[], &[]),
        example("inv", &[&[1, 4]], &[1, 4], &[], &[]),
        example("sign", &[&[1, 4]], &[1, 4], &[], &[]),
        example("floor", &[&[1, 4]], &[1, 4], &[], &[]),
        example("mul_elem", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("div", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("max_elem", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("min_elem", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("add_n", &[&[2, 3], &[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("max_n", &[&[2, 3]], &[2, 3], &[], &[]),
        example("min_n", &[&[2, 3], &[2, 3]], &[2, 3], &[], &[]),
        example("mse_loss", &[&[2, 3], &[2, 3]], &[], &[], &[]),
        example("safe_log", &[&[2, 3], &[]], &[2, 3], &[], &[]),
        example("matmul", &[&[2, 1, 2, 3], &[3, 4]], &[2, 1, 2, 4], &[], &[]),
        example("rand_uniform", &[], &[2], &[("seed", "7")], &[]),
        example("bernoulli_mask", &[&[]], &[2], &[("seed", "7")], &[]),
        example("pow", &[&[1, 4]], &[1, 4], &[], &[("exponent", "3")]),
        example("leaky_relu", &[&[1, 4]], &[1, 4], &[], &[("alpha", "0.1")]),
        example("elu", &[&[1, 4]], &[1, 4], &[], &[("alpha", "0.1")]),
        example("selu", &[&[1, 4]], &[1, 4], &[], &[("alpha", "1.7"), ("gamma", "1.1")]),
        example("clip", &[&[1, 4]], &[1, 4], &[], &[("low", "-0.5"), ("high", "0.5")]),
        example("hard_sigmoid", &[&[1, 4]], &[1, 4], &[], &[("alpha", "0.2"), ("beta", "0.5")]),
        example("prelu", &[&[2, 3]], &[2, 3], &[("channel_axis", "1")], &[("slope", "[0.1, 0.2, -0.3]")]),
        example("where", &[&[2, 2], &[2, 2]], &[2, 2], &[], &[("mask", "[[1, 0], [0, 1]]")]),
        example("softmax", &[&[2, 3]], &[2, 3], &[("axis", "1")], &[]),
        example("hard_masked_softmax", &[&[2, 2]], &[2, 2], &[("axis", "1")], &[("mask", "[[1, 0], [1, 1]]")]),
        example("squeeze", &[&[2, 1, 3]], &[2, 3], &[("axes", "[1]")], &[]),
        example("unsqueeze", &[&[2, 3]], &[1, 2, 3], &[("axes", "[0]")], &[]),
        example("expand", &[&[3, 1]], &[2, 3, 4], &[("to_shape", "[2, 1, 4]")], &[]),
        example("slice", &[&[3, 4]], &[2, 2], &[("start", "[1, 0]"), ("stop", "[3, 2]"), ("step", "[1, 1]")], &[]),
        example("split", &[&[3, 4]], &[3, 1], &[("axis", "1"), ("sizes", "[3, 1]"), ("index", "1")], &[]),
        example("gather", &[&[3, 4]], &[3, 2], &[("axis", "1"), ("indices", "[3, 0]"), ("indices_shape", "[2]")], &[]),
        example("pad", &[&[2]], &[5], &[("padding", "[1]"), ("padding_after", "[2]")], &[("value", "-1.5")]),
        example("upsample", &[&[2, 3]], &[2, 6], &[("scale", "[1, 2]")], &[]),
        example("reduce_sum", &[&[2, 3]], &[2], &[("axes", "[1]"), ("keepdim", "false")], &[]),
        example("reduce_mean", &[&[2, 3]], &[1, 3], &[("axes", "[0]"), ("keepdim", "true")], &[]),
        example("reduce_max", &[&[2, 3]], &[2], &[("axes", "[1]"), ("keepdim", "false")], &[]),
        example("reduce_min", &[&[2, 3]], &[], &[("axes", "[1, 0]"), ("keepdim", "false")], &[]),
        example("global_avg_pool", &[&[2, 3, 4]], &[2, 1, 1], &[("spatial_rank", "2")], &[]),
        example(
            "max_pool",
            &[&[2, 5]],
            &[2, 3],
            &[
                ("spatial_rank", "1"),
                ("kernel", "[2]"),
                ("stride", "[2]"),
                ("padding", "[1]"),
                ("padding_after", "[1]"),
                ("dilation", "[1]"),
            ],
            &[],
        ),
        example(
            "avg_pool",
            &[&[2, 5]],
            &[2, 3],
            &[
                ("spatial_rank", "1"),
                ("kernel", "[2]"),
                ("stride", "[2]"),
                ("padding", "[1]"),
                ("padding_after", "[1]"),
                ("dilation", "[1]"),
                ("count_include_pad", "true"),
            ],
            &[],
        ),
        example(
            "batch_norm_eval",
            &[&[2, 2, 3]],
            &[2, 2, 3],
            &[("channel_axis", "1"), ("channels", "2")],
            &[("eps", "1e-5"), ("gamma", "[1, 2]"), ("beta", "[0, 1]"), ("mean", "[3, 4]"), ("var", "[0, 2]")],
        ),
        example(
            "layernorm",
            &[&[2, 3]],
            &[2, 3],
            &[("axis", "1")],
            &[("eps", "1e-5"), ("gamma", "[1, 2, 3]"), ("beta", "[0, 1, 2]")],
        ),
        example(
            "conv_transpose",
            &[&[1, 2, 3]],
            &[1, 2, 7],
            &[
                ("spatial_rank", "1"),
                ("kernel", "[2]"),
                ("stride", "[2]"),
                ("padding", "[0]"),
                ("padding_after", "[0]"),
                ("output_padding", "[0]"),
                ("dilation", "[2]"),
                ("groups", "2"),
                ("channel_axis", "1"),
                ("in_channels", "2"),
                ("out_channels", "2"),
                ("input_spatial", "[3]"),
            ],
            &[("weight", "[[[1, 2], [0, -0.0]], [[0, 0], [3, 4]]]"), ("bias", "[0.5, -1]")],
        ),
        example(
            "multihead_attention",
            &[&[1, 2, 2], &[1, 2, 2], &[1, 2, 2]],
            &[1, 2, 2],
            &[
                ("embed_dim", "2"),
                ("num_heads", "2"),
                ("batch_first", "true"),
                ("dropout_zero", "true"),
                ("bias", "true"),
            ],
            &[
                ("q_weight", "[[1, 2], [3, 4]]"),
                ("k_weight", "[[1, 2], [3, 4]]"),
                ("v_weight", "[[1, 2], [3, 4]]"),
                ("out_weight", "[[1, 2], [3, 4]]"),
                ("q_bias", "[1, 2]"),
                ("k_bias", "[1, 2]"),
                ("v_bias", "[1, 2]"),
                ("out_bias", "[1, 2]"),
                ("scale", "1"),
            ],
        ),
    ]
}

impl Example {
    /// The document in which this node is the last; its parents are the input and constants. A tuple is no output.
    fn document(&self, format: &str) -> String {
        let mut nodes: Vec<String> = Vec::new();
        if self.kind != "input" {
            let shape = self.parents.first().cloned().unwrap_or_default();
            nodes.push(format!(r#"{{"id": 0, "kind": "input", "parents": [], "shape": {shape:?}}}"#));
        }
        for shape in self.parents.iter().skip(1) {
            let (id, zeros) = (nodes.len(), vec![0; shape::elements(shape).unwrap()]);
            nodes.push(format!(
                r#"{{"id": {id}, "kind": "const", "parents": [], "shape": {shape:?}, "values": {zeros:?}}}"#
            ));
        }
        let parents: Vec<usize> = (0..self.parents.len()).collect();
        let (id, kind, shape) = (nodes.len(), self.kind, &self.shape);
        let shape = if kind == "multihead_attention" {
            format!(r#""value_kind": "tuple", "tuple_shapes": [{shape:?}]"#)
        } else {
            format!(r#""shape": {shape:?}"#)
        };
        let mut node = format!(r#"{{"id": {id}, "kind": "{kind}", "parents": {parents:?}, {shape}"#);
        for (name, text) in self.attributes.iter().chain(&self.payload) {
            node.push_str(&format!(r#", "{name}": {text}"#));
        }
        nodes.push(node + "}");
        if !nodes.iter().any(|node| node.contains(r#""kind": "input""#)) {
            nodes.push(format!(r#"{{"id": {}, "kind": "input", "parents": [], "shape": []}}"#, id + 1));
        }
        let input = nodes.iter().position(|node| node.contains(r#""kind": "input""#)).unwrap();
        let output = if kind == "multihead_attention" { 0 } else { id };
        format!(
            r#"{{"format": "{format}", "input_id": {input}, "output_ids": [{output}], "nodes": [{}]}}"#,
            nodes.join(", ")
        )
    }

    fn read(&self) -> Result<Graph, String> {
        self.read_as("certkern.ir.v1")
    }

    fn read_as(&self, format: &str) -> Result<Graph, String> {
        Graph::read(self.document(format).as_bytes(), None, &Limits::default())
            .map_err(|rejection| rejection.first().reason.code())
    }

    fn operator(&self) -> &'static Operator {
        find(self.kind).unwrap()
    }

    fn code(&self) -> String {
        self.read().err().unwrap_or_else(|| "accepted".to_owned())
    }
}

#[test]
fn every_operator_has_an_accepted_example_that_writes_all_its_fields() {
    for operator in REGISTRY.iter().filter(|operator| operator.kind != tuple_getitem::KIND) {
        let own: Vec<Example> = examples().into_iter().filter(|example| example.kind == operator.kind).collect();
        assert!(!own.is_empty(), "{} has no example", operator.kind);
        for example in own {
            let graph = example.read().unwrap_or_else(|code| panic!("{}: {code}", example.kind));
            let node = graph.nodes().last().unwrap();
            assert_eq!((node.kind(), node.shape()), (operator.kind, example.shape.as_slice()));
            let names: Vec<&str> = node.attributes().iter().map(|(name, _)| *name).collect();
            assert!(names.is_sorted() && names.len() == operator.attributes.len(), "{}", operator.kind);
            assert_eq!(example.attributes.len(), operator.attributes.len(), "{}", operator.kind);
            assert_eq!(example.payload.len(), operator.payload.len(), "{}", operator.kind);
            match operator.opaque {
                None => {
                    let lowered = graph.lower().unwrap_or_else(|fault| panic!("{}: {fault:?}", example.kind));
                    let value = *lowered.values.last().unwrap();
                    assert_eq!(lowered.program.width(value), example.shape.iter().product::<usize>());
                }
                Some(why) => {
                    let node = graph.nodes().len() - 1;
                    let reason = Reason::GraphOpaque { node, kind: operator.kind, detail: why };
                    assert_eq!(graph.lower().unwrap_err().first().reason, reason);
                }
            }
        }
    }
}

#[test]
fn the_older_format_has_no_extensions_and_the_same_meaning() {
    let spellings = REGISTRY.iter().filter(|operator| !operator.extension).count();
    // The 41 of the table, attention and what takes its tuple apart.
    assert_eq!(spellings, 43);
    for example in examples() {
        let operator = example.operator();
        if operator.extension {
            assert_eq!(example.read_as("torchlean.ir.v1").unwrap_err(), "graph.unsupported-op", "{}", example.kind);
            continue;
        }
        let mut older = example.clone();
        let is_older = |name: &str| operator.attributes.iter().any(|spec| spec.name == name && !spec.extension);
        older.attributes.retain(|(name, _)| is_older(name));
        if older.attributes.len() < example.attributes.len() {
            assert_eq!(example.read_as("torchlean.ir.v1").unwrap_err(), "json.unknown-key", "{}", example.kind);
        }
        assert_eq!(older.read_as("torchlean.ir.v1").unwrap().digest(), example.read().unwrap().digest());
    }
}

#[test]
fn the_registry_is_sorted_by_spelling() {
    // One spelling names one operator.
    assert!(REGISTRY.windows(2).all(|pair| pair[0].kind < pair[1].kind));
}

/// Operators whose values are compared in `tests/meaning.rs`, by hand and by another implementation, and not by PyTorch.
const BY_HAND: &[&str] =
    &["broadcast_to", "concat", "conv", "flatten", "input", "linear", "permute", "transpose", "tuple_getitem"];

#[test]
fn every_operator_stands_in_the_specification_in_the_schema_and_among_the_cases_of_values() {
    let specification = include_str!("../../../../schemas/SPEC.md").split_once("\n## 2.").unwrap().0;
    let heads: Vec<&str> =
        specification.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let schema = include_str!("../../../../schemas/graph.schema.json");
    let cases = include_str!("../../tests/operators.json");
    for operator in REGISTRY {
        let (quoted, kind) = (format!("`{}`", operator.kind), operator.kind);
        let found = heads
            .iter()
            .find_map(|head| Some(head.split_once(&quoted)?.1))
            .unwrap_or_else(|| panic!("{kind} has no row"));
        assert_eq!(found.starts_with('⁺'), operator.extension, "{kind}: ⁺ marks what torchlean.ir.v1 does not know");
        assert!(schema.contains(&format!("\"{kind}\"")), "{kind} is not in the schema");
        let has_case = cases.contains(&format!("\"kind\": \"{kind}\""));
        assert!(has_case || operator.opaque.is_some() || BY_HAND.contains(&kind), "{kind} has no case of its values");
    }
}

#[test]
fn a_wrong_number_of_parents_is_an_arity_fault() {
    for example in examples() {
        let arity = example.operator().arity;
        let mut more = example.clone();
        more.parents.push(example.parents.first().cloned().unwrap_or_default());
        match arity {
            // An input with a parent refers to itself.
            Arity::Exactly(0) if example.kind == "input" => assert_eq!(more.code(), "graph.parent-order"),
            Arity::Exactly(_) => assert_eq!(more.code(), "graph.arity", "{}", example.kind),
            Arity::AtLeast(2) => assert_eq!(more.code(), "graph.shape-mismatch", "{}", example.kind),
            Arity::AtLeast(_) => assert_eq!(more.code(), "accepted", "{}", example.kind),
        }
        let mut fewer = example.clone();
        fewer.parents.truncate(match arity {
            Arity::Exactly(count) | Arity::AtLeast(count) => count.saturating_sub(1),
        });
        if arity != Arity::Exactly(0) {
            assert_eq!(fewer.code(), "graph.arity", "{}", example.kind);
        }
    }
}

#[test]
fn an_attribute_of_the_wrong_type_or_a_required_one_that_is_absent_is_an_attribute_fault() {
    for example in examples() {
        let operator = example.operator();
        for (place, (name, _)) in example.attributes.iter().enumerate() {
            let spec = operator.attributes.iter().find(|spec| spec.name == *name).unwrap();
            let other = if spec.kind == AttributeKind::List { "1" } else { "[1]" };
            let flag = if spec.kind == AttributeKind::Flag { "0" } else { "true" };
            for wrong in [other, flag, "-1", "1.0", "[1, -1]", "null", "\"1\"", "{}", "18446744073709551616"] {
                let mut spoilt = example.clone();
                spoilt.attributes[place].1 = wrong.to_owned();
                assert_eq!(spoilt.code(), "graph.attribute", "{} {name} {wrong}", example.kind);
            }
            let mut without = example.clone();
            without.attributes.remove(place);
            if spec.default.is_none() {
                assert_eq!(without.code(), "graph.attribute", "{} {name}", example.kind);
            } else {
                // The examples write the defaults: leaving one out is the same graph.
                let (graph, same) = (example.read().unwrap(), without.read().unwrap());
                assert_eq!(graph.digest(), same.digest(), "{} {name}", example.kind);
            }
        }
    }
}

/// Operators whose shape is what they declare.
const AS_DECLARED: [&str; 3] = ["input", "rand_uniform", "bernoulli_mask"];

#[test]
fn another_declared_shape_is_a_mismatch() {
    for example in examples().into_iter().filter(|example| !AS_DECLARED.contains(&example.kind)) {
        let mut spoilt = example.clone();
        spoilt.shape.push(1);
        assert_eq!(spoilt.code(), "graph.shape-mismatch", "{}", example.kind);
        if let Some(extent) = example.shape.last() {
            let mut spoilt = example.clone();
            *spoilt.shape.last_mut().unwrap() = extent + 1;
            assert_eq!(spoilt.code(), "graph.shape-mismatch", "{}", example.kind);
        }
    }
}

#[test]
fn an_axis_of_length_zero_is_refused() {
    for example in examples() {
        let mut spoilt = example.clone();
        spoilt.shape.push(0);
        assert_eq!(spoilt.code(), "graph.shape-rule", "{}", example.kind);
    }
}

#[test]
fn a_key_that_the_operator_does_not_know_is_refused() {
    for example in examples() {
        for key in ["scaling", "weights", "dtype"] {
            let mut spoilt = example.clone();
            spoilt.attributes.push((key, "1".to_owned()));
            assert_eq!(spoilt.code(), "json.unknown-key", "{} {key}", example.kind);
        }
    }
}

#[test]
fn numbers_that_are_absent_or_of_the_wrong_shape_are_payload_faults() {
    for example in examples() {
        for (place, (name, text)) in example.payload.iter().enumerate() {
            let mut without = example.clone();
            without.payload.remove(place);
            assert_eq!(without.code(), "graph.payload", "{} {name}", example.kind);
            // One number may stand in brackets of its own.
            let is_scalar = !text.starts_with('[');
            let nested = if is_scalar { format!("[[{text}]]") } else { format!("[{text}]") };
            for wrong in ["[]", &nested, &format!("[{text}, {text}]"), "[1, 2, 3, 4, 5, 6, 7]"] {
                let mut spoilt = example.clone();
                spoilt.payload[place].1 = wrong.to_owned();
                assert_eq!(spoilt.code(), "graph.payload", "{} {name} {wrong}", example.kind);
            }
            // A scalar may be an exact number, which is a string.
            let wrong_types: &[&str] = if is_scalar { &["null", "true"] } else { &["1", "null", "\"1\""] };
            for wrong in wrong_types {
                let mut spoilt = example.clone();
                spoilt.payload[place].1 = (*wrong).to_owned();
                assert_eq!(spoilt.code(), "json.type", "{} {name} {wrong}", example.kind);
            }
        }
    }
}
