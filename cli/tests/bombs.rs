//! Small inputs that unfold: under 1 MB each, refused with a named code within 256 MB, by the budget that the binary itself keeps. Only a hang
//! is a failure of time.

use crate::bundle::{self, Files};
use crate::support::{certkern, one_leaf, text, u8s, u32s};
use certkern_onnx::write_safetensors;
use std::fs;
use std::time::Instant;

const BUDGET: [&str; 4] = ["--max-memory", "256M", "--max-time", "60s"];

/// Checks a document or a bundle; the verdict line must be that one.
#[track_caller]
fn refused(name: &str, files: &Files, line: &str) {
    let size: usize = files.values().map(Vec::len).sum();
    assert!(size < 1_000_000, "{name}: {size} bytes");
    let start = Instant::now();
    let run = if files.len() == 1 {
        let scratch = tempfile::tempdir().unwrap();
        let (file, bytes) = files.iter().next().unwrap();
        let path = scratch.path().join(file);
        fs::write(&path, bytes).unwrap();
        certkern(["check", text(&path)].iter().chain(&BUDGET))
    } else {
        bundle::check(files, &BUDGET)
    };
    println!("{name}: {} bytes, {:.2} s", size, start.elapsed().as_secs_f64());
    let code = if line.starts_with("s LIMIT") { 3 } else { run.code };
    assert_eq!((run.code, run.last_line()), (code, line), "{name}: {}{}", run.stdout, run.stderr);
    assert_ne!(run.code, 0, "{name}");
}

fn document(text: String) -> Files {
    [("bomb.json".to_owned(), text.into_bytes())].into()
}

/// A graph in one document; `nodes` come after the input, which has this shape.
fn graph(shape: &str, nodes: &str, output: usize) -> Files {
    document(format!(
        r#"{{"format":"certkern.ir.v1","input_id":0,"output_ids":[{output}],"nodes":[{{"id":0,"kind":"input","parents":[],"shape":{shape}}},{nodes}]}}"#
    ))
}

/// An enclosure whose last node is claimed to be within `rad` of 0.
fn enclosure(nodes: &str, last: usize, precision: &str) -> Files {
    let claim = |digest: &str| {
        format!(
            r#"{{"format":"certkern.enclosure.v1","precision":{precision},"query":{{"format":"certkern.enclosure-query.v1","nodes":[{nodes}],"outputs":[{last}]}},
            "answer":{{"format":"certkern.enclosure-answer.v1","query":"{digest}","status":"ok","values":[{{"mid":"0","rad":"1/7"}}]}}}}"#
        )
    };
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("claim.json");
    fs::write(&path, claim(&"0".repeat(64))).unwrap();
    let run = certkern(["digest", text(&path)]);
    let digest = run.stdout.lines().find(|line| line.starts_with("query")).and_then(|line| line.split(' ').next_back());
    document(claim(digest.unwrap_or(&"0".repeat(64))))
}

/// One function of one input.
const RELU: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[{"id":0,"kind":"input","parents":[],"shape":[1]},{"id":1,"kind":"relu","parents":[0],"shape":[1]}]}"#;

/// A bundle about it with this property, whose digests are those of another one.
fn property(text: &str) -> Files {
    let fine =
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 0))(assert (<= X_0 1))(assert (<= Y_0 -1))";
    let files = bundle::trivial(RELU.as_bytes(), &write_safetensors(&[]), fine.as_bytes());
    bundle::with(&files, "property.vnnlib", text.as_bytes().to_vec())
}

#[test]
fn json() {
    refused("nested lists", &document("[".repeat(900_000)), "s LIMIT json-depth");
    refused("nested objects", &document(r#"{"a":"#.repeat(180_000)), "s LIMIT json-depth");
    let number = |number: &str| {
        graph("[1]", &format!(r#"{{"id":1,"kind":"const","parents":[],"shape":[1],"values":[{number}]}}"#), 1)
    };
    refused("exponent", &number("1e999999999"), "s LIMIT exponent");
    refused("negative exponent", &number("1e-999999999"), "s LIMIT exponent");
    refused("digits", &number(&"7".repeat(900_000)), "s LIMIT digits");
    refused("digits of a fraction", &number(&format!("0.{}", "7".repeat(900_000))), "s LIMIT digits");
    let doubled = (0..40_000).map(|i| format!(r#""k{}":0"#, i % 20_000)).collect::<Vec<_>>().join(",");
    refused("doubled keys", &document(format!("{{{doubled}}}")), "s REJECTED json.duplicate-key");
    refused("a long string", &document(format!("\"{}", "\\ud800".repeat(150_000))), "s REJECTED json.encoding");
}

#[test]
fn graphs() {
    let node = |fields: &str| graph("[1]", fields, 1);
    let expand = |shape: &str| {
        format!(r#"{{"id":1,"kind":"broadcast_to","parents":[0],"shape":{shape},"from_shape":[1],"to_shape":{shape}}}"#)
    };
    refused("a broadcast", &node(&expand("[1073741824]")), "s LIMIT graph-elements");
    refused("a product beyond every integer", &node(&expand("[4294967296,4294967296,4294967296]")), "s LIMIT elements");
    refused("many axes", &node(&expand(&format!("[{}1]", "1,".repeat(200_000)))), "s LIMIT rank");
    refused(
        "an input",
        &graph("[4611686018427387904]", r#"{"id":1,"kind":"relu","parents":[0],"shape":[4611686018427387904]}"#, 1),
        "s LIMIT elements",
    );
    refused(
        "a pool of windows over everything",
        &graph(
            "[1,100000]",
            r#"{"id":1,"kind":"max_pool","parents":[0],"shape":[1,50001],"spatial_rank":1,"kernel":[50000],"stride":[1],"padding":[0]}"#,
            1,
        ),
        "s LIMIT graph-elements",
    );
    refused(
        "a dilation",
        &graph(
            "[1,1,4]",
            r#"{"id":1,"kind":"conv","parents":[0],"shape":[1,1,1],"spatial_rank":1,"kernel":[3],"stride":[1],"padding":[0],"padding_after":[0],
            "dilation":[9223372036854775807],"groups":1,"channel_axis":1,"in_channels":1,"out_channels":1,"weight":[[[1,1,1]]],"bias":[0],"input_spatial":[4]}"#,
            1,
        ),
        "s REJECTED graph.attribute",
    );
    let doubling: Vec<String> = (1..9000)
        .map(|id| {
            format!(
                r#"{{"id":{id},"kind":"concat","parents":[{0},{0}],"shape":[{1}],"axis":0}}"#,
                id - 1,
                1_u128 << id.min(60)
            )
        })
        .collect();
    refused("a value that doubles", &graph("[1]", &doubling.join(","), 1), "s LIMIT graph-elements");
    let sums: Vec<String> = (1..12_000)
        .map(|id| format!(r#"{{"id":{id},"kind":"add","parents":[{0},{0}],"shape":[2]}}"#, id - 1))
        .collect();
    refused("a sum that is not declared so", &graph("[1]", &sums.join(","), 1), "s REJECTED graph.shape-mismatch");
}

#[test]
fn numbers() {
    let squares = |count: usize, first: &str| {
        let squares = (1..count).map(|id| format!(r#"{{"op":"mul","args":[{0},{0}]}}"#, id - 1));
        std::iter::once(first.to_owned()).chain(squares).collect::<Vec<_>>().join(",")
    };
    let chain = |op: &str, count: usize, first: &str| {
        let nodes = (1..count).map(|id| format!(r#"{{"op":"{op}","args":[{}]}}"#, id - 1));
        std::iter::once(first.to_owned()).chain(nodes).collect::<Vec<_>>().join(",")
    };
    let three = r#"{"op":"rational","numbers":["3"]}"#;
    refused("squares of 3", &enclosure(&squares(200, three), 199, "64"), "s LIMIT magnitude");
    refused("a tower of exponentials", &enclosure(&chain("exp", 12, three), 11, "64"), "s LIMIT magnitude");
    refused(
        "a sine of a large number",
        &enclosure(r#"{"op":"rational","numbers":["1e1000"]},{"op":"sin","args":[0]}"#, 1, "64"),
        "s REJECTED enclosure.unproved",
    );
    refused("precision", &enclosure(three, 0, "1000000000"), "s LIMIT precision");
    refused(
        "precision of many values",
        &enclosure(&chain("exp", 20_000, r#"{"op":"rational","numbers":["-1"]}"#), 19_999, "8192"),
        "s LIMIT expression-bits",
    );
}

#[test]
fn properties() {
    let stated = |text: &str| {
        format!("(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 0))(assert (<= X_0 1)){text}")
    };
    let assertion = |text: &str| property(&stated(text));
    refused("nested", &assertion(&format!("(assert {}", "(and ".repeat(150_000))), "s LIMIT property-depth");
    refused("a variable", &property("(declare-const X_999999999999 Real)"), "s REJECTED property.variable");
    refused("an exponent", &assertion("(assert (<= Y_0 1e99999999))"), "s LIMIT exponent");
    refused("digits", &assertion(&format!("(assert (<= Y_0 {}))", "9".repeat(700_000))), "s LIMIT digits");
    refused("an open parenthesis", &assertion(&"(".repeat(700_000)), "s LIMIT property-depth");
    let choice = "(or (<= Y_0 0) (<= Y_0 1))";
    refused("a product of choices", &assertion(&format!("(assert {choice})").repeat(20_000)), "s LIMIT disjuncts");
    refused("choices in one", &assertion(&format!("(assert (and {}))", choice.repeat(20_000))), "s LIMIT disjuncts");
    let nested = format!("(assert {}{choice}{})", format!("(and {choice} ").repeat(60), ")".repeat(60));
    refused("choices in each other", &assertion(&nested), "s LIMIT disjuncts");
    let many = format!("(assert {choice})").repeat(16) + &"(assert (<= Y_0 0))".repeat(40_000);
    refused("rows of many choices", &assertion(&many), "s LIMIT rows");
    // Within the budget: 65,536 disjuncts of 74 rows each, which they share.
    let shared = format!("(assert {choice})").repeat(16) + &"(assert (<= Y_0 0))".repeat(56);
    refused("rows that choices share", &assertion(&shared), "s REJECTED bind.output");
    let whole = bundle::trivial(RELU.as_bytes(), &write_safetensors(&[]), stated(&shared).as_bytes());
    refused("rows that leaves share", &whole, "s REJECTED leaf.unproved");
    let product = format!("(assert (<= Y_0 (*{})))", " 1e1000".repeat(100_000));
    let ends = |i: usize| format!("(declare-const X_{i} Real)(assert (>= X_{i} 1e-1100))(assert (<= X_{i} 3e-1099))");
    let all: String = (0..9000).map(ends).collect();
    refused("ends of many digits", &property(&format!("{all}(declare-const Y_0 Real)")), "s LIMIT rows");
    let scaled = "(assert (<= (* 3e-1099 Y_0) 1e-1100))".repeat(20_000);
    refused("coefficients of many digits", &assertion(&scaled), "s LIMIT rows");
    refused("a product of numbers", &assertion(&product), "s LIMIT digits");
}

/// A bundle about a chain of nodes after one input in [0, 1], whose output is claimed to stay below 5.
fn chain(nodes: &[String]) -> Files {
    let node =
        |(place, node): (usize, &String)| format!(r#"{{"id":{},"parents":[{place}],"shape":[1],{node}}}"#, place + 1);
    let nodes_after = nodes.iter().enumerate().map(node).collect::<Vec<_>>().join(",");
    let graph = format!(
        r#"{{"format":"certkern.ir.v1","input_id":0,"output_ids":[{}],"nodes":[{{"id":0,"kind":"input","parents":[],"shape":[1]}},{nodes_after}]}}"#,
        nodes.len()
    );
    let property =
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 0))(assert (<= X_0 1))(assert (>= Y_0 5))";
    bundle::trivial(graph.as_bytes(), &write_safetensors(&[]), property.as_bytes())
}

/// Numbers whose exponents grow: written out they would fill the memory, and common divisors of long ones are sought in quadratic time.
#[test]
fn exponents_that_grow() {
    let linear = |weight: &str| format!(r#""kind":"linear","weight":[[{weight}]],"bias":[0.1]"#);
    for weight in ["1e7", "1e9", "1e11"] {
        let exponential = [linear(weight), r#""kind":"exp""#.to_owned()];
        refused("an exponential", &chain(&exponential), "s LIMIT function-bits");
    }
    let steep: Vec<String> = (0..6000).map(|_| linear("1e308")).collect();
    let steep = chain(&steep);
    refused("a chain of large weights", &steep, "s REJECTED leaf.unproved");
    refused("bounds of its last node", &last_below_five(&steep, 6000), "s REJECTED leaf.unproved");
}

/// Of this bundle the bundle of kind `nodes` that claims the same of the value of a node.
fn last_below_five(files: &Files, node: usize) -> Files {
    let mut files = files.clone();
    files.remove("property.vnnlib");
    let nodes = format!(r#"{{"format":"certkern.nodes.v1","nodes":[{{"id":{node},"ibp":{{"lo":[-1],"hi":[5]}}}}]}}"#);
    files.insert("nodes.json".to_owned(), nodes.into_bytes());
    files.insert("region.json".to_owned(), br#"{"lo":[0],"hi":[1]}"#.to_vec());
    files.insert("cert.json".to_owned(), br#"{"format":"certkern.leaves.v1","trees":[0,0]}"#.to_vec());
    let mut manifest = serde_json::json!({"format": "certkern.bundle.v1", "kind": "nodes", "digests": {}, "files": {
        "graph": "graph.json", "payload": "payload.safetensors", "region": "region.json", "nodes": "nodes.json",
        "certificate": "cert.json"}});
    let scratch = tempfile::tempdir().unwrap();
    files.insert(bundle::MANIFEST.to_owned(), manifest.to_string().into_bytes());
    files.iter().for_each(|(name, bytes)| fs::write(scratch.path().join(name), bytes).unwrap());
    let run = certkern(["digest", text(scratch.path())]);
    for (role, hex) in run.stdout.lines().filter_map(|line| line.split_once(' ')) {
        manifest["digests"][role] = hex.trim().into();
    }
    bundle::with(&files, bundle::MANIFEST, manifest.to_string().into_bytes())
}

#[test]
fn tensors_and_trees() {
    let fine = property(
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 0))(assert (<= X_0 1))(assert (<= Y_0 -1))",
    );
    let payload = |bytes: Vec<u8>| bundle::with(&fine, "payload.safetensors", bytes);
    let headed = |length: u64, header: &str| [&length.to_le_bytes()[..], header.as_bytes()].concat();
    let of = |header: &str| payload(headed(header.len() as u64, header));
    refused("a header beyond the file", &payload(headed(u64::MAX, "{}")), "s LIMIT header-bytes");
    refused("a header of 90 MB", &payload(headed(90_000_000, "{}")), "s REJECTED tensors.header");
    refused(
        "a shape beyond every integer",
        &of(r#"{"w":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}}"#),
        "s LIMIT elements",
    );
    let many = (0..15_000).map(|i| format!(r#""{i}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#));
    let many = format!("{{{}}}", many.collect::<Vec<_>>().join(","));
    refused("many tensors", &of(&many), "s REJECTED tensors.unused");
    // A comb: every split has a leaf and the next split.
    let hints = |depth: usize| {
        let nodes = 2 * depth + 1;
        let kind: Vec<u8> = (0..nodes).map(|place| u8::from(place % 2 == 0 && place + 1 < nodes)).collect();
        let zeros = vec![0; nodes];
        write_safetensors(&[
            u32s("tree.offset", &[0, nodes]),
            u8s("tree.kind", &kind),
            u32s("tree.node", &zeros),
            u32s("tree.coordinate", &zeros),
            u32s("tree.threshold", &zeros),
            ("threshold.value".to_owned(), certkern_onnx::Dtype::F64, vec![1], 0.5_f64.to_le_bytes().to_vec()),
        ])
    };
    let mut manifest = bundle::json_of(&fine, bundle::MANIFEST);
    manifest["files"]["hints"] = bundle::HINTS.into();
    let hinted = |bytes: Vec<u8>| {
        let files = bundle::with(&fine, bundle::MANIFEST, manifest.to_string().into_bytes());
        bundle::bound(&bundle::with(&files, bundle::HINTS, bytes))
    };
    assert_eq!(bundle::check(&hinted(one_leaf()), &[]).code, 0);
    refused("a deep tree", &hinted(hints(30_000)), "s LIMIT tree-depth");
}
