//! The cases of `certs/misread`: false as the documents stand, true as a careless reader takes them. The kernel must refuse the first and
//! accept the second, and the counterexample must be one by exact arithmetic on what the kernel itself has read.

use crate::bundle::{self, Files, HINTS, MANIFEST, trivial, with};
use crate::support::{Tensor, certkern, entries, root, text, u8s, u32s};
use certkern_core::num::Rational;
use certkern_core::property::{Disjunct, Property, Row, Variable};
use certkern_core::rules::Scope;
use certkern_graph::Graph;
use certkern_onnx::write_safetensors;
use certkern_seal::Documents;
use certkern_wire::{Limits, vnnlib};
use num_traits::Zero;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A case as it stands in its folder, the network imported by the binary.
struct Case {
    name: String,
    graph: Vec<u8>,
    payload: Vec<u8>,
    property: Vec<u8>,
    x: Vec<Rational>,
    y: Vec<Rational>,
}

impl Case {
    fn read(folder: &Path) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let network = scratch.path().join("net");
        let run = certkern(["import", "onnx", text(&folder.join("net.onnx")), "-o", text(&network)]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let counterexample = fs::read_to_string(folder.join("counterexample.txt")).unwrap();
        let values = |mark: &str| -> Vec<Rational> {
            let lines = counterexample.lines().filter(|line| line.starts_with(mark));
            lines.map(|line| line.split(" = ").nth(1).unwrap().parse().unwrap()).collect()
        };
        Self {
            name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
            graph: fs::read(network.join("graph.json")).unwrap(),
            payload: fs::read(network.join("payload.safetensors")).unwrap(),
            property: fs::read(folder.join("property.vnnlib")).unwrap(),
            x: values("X_"),
            y: values("Y_"),
        }
    }

    fn graph(&self) -> Graph {
        Graph::read(&self.graph, Some(&self.payload), &Limits::default()).unwrap()
    }

    fn property(&self) -> Property {
        vnnlib::parse(&self.property, &Limits::default()).unwrap()
    }

    /// The case as it is misread.
    fn misread(&self) -> Files {
        let replaced = |old: &str, new: &str| {
            let property = std::str::from_utf8(&self.property).unwrap();
            assert_eq!(property.matches(old).count(), 1, "{property}");
            trivial(&self.graph, &self.payload, property.replace(old, new).as_bytes())
        };
        let rewired = |kind: &str, change: fn(&mut Vec<Value>)| {
            let mut graph: Value = serde_json::from_slice(&self.graph).unwrap();
            let nodes = graph["nodes"].as_array_mut().unwrap();
            let node = nodes.iter_mut().rfind(|node| node["kind"] == kind).unwrap();
            change(node["parents"].as_array_mut().unwrap());
            trivial(graph.to_string().as_bytes(), &self.payload, &self.property)
        };
        match self.name.as_str() {
            "commented_assertion" => replaced("; (assert", "(assert"),
            "or_of_boxes" => replaced("(and (>= X_0 2) (<= X_0 3))", ""),
            "or_of_outputs" => replaced("(and (>= Y_0 0.5))", ""),
            "constant_minus_x" => rewired("sub", |parents| parents.reverse()),
            "two_matmuls" => rewired("linear", |parents| *parents = vec![json!(0)]),
            other => panic!("no misreading of {other} is known"),
        }
    }

    /// Splits of each input at 0 and at the counterexample, and of each argument of a `relu` at 0.
    fn splits(&self) -> Vec<Split> {
        let graph = self.graph();
        let input = graph.input_id();
        let ends = self.x.iter().flat_map(|value| [Rational::zero(), value.clone()]);
        let inputs = ends.enumerate().map(|(place, threshold)| Split { node: input, coordinate: place / 2, threshold });
        let arguments = graph.nodes().iter().filter(|node| node.kind() == "relu").flat_map(|node| {
            let split = |coordinate| Split { node: node.parents()[0], coordinate, threshold: Rational::zero() };
            (0..node.width()).map(split)
        });
        inputs.chain(arguments).collect()
    }
}

/// A split of a coordinate.
#[derive(Clone)]
struct Split {
    node: usize,
    coordinate: usize,
    threshold: Rational,
}

/// The bundle with a full tree: each split of the list is one level. `fresh`: bounds are computed anew at every node.
fn full_tree(files: &Files, splits: &[Split], fresh: bool) -> Files {
    let nodes = (1 << (splits.len() + 1)) - 1;
    let (mut kind, mut columns) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    let mut pending = vec![0];
    // In preorder: the first child is below the second in the stack.
    while let Some(level) = pending.pop() {
        let (split, row) = match splits.get(level) {
            Some(split) => (1, [split.node, split.coordinate, level]),
            None => (0, [0, 0, 0]),
        };
        kind.push(split);
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        if split == 1 {
            pending.extend([level + 1, level + 1]);
        }
    }
    assert_eq!(kind.len(), nodes);
    let [node, coordinate, threshold] = columns;
    let tensors: [Tensor; 6] = [
        u32s("tree.offset", &[0, nodes]),
        u8s("tree.kind", &kind),
        u32s("tree.node", &node),
        u32s("tree.coordinate", &coordinate),
        u32s("tree.threshold", &threshold),
        u32s("tree.bounds", &(0..nodes).map(|place| usize::from(fresh || place == 0)).collect::<Vec<_>>()),
    ];
    let mut manifest = bundle::json_of(files, MANIFEST);
    manifest["files"]["hints"] = json!(HINTS);
    let mut certificate = bundle::json_of(files, "cert.json");
    certificate["thresholds"] = splits.iter().map(|split| split.threshold.to_string()).collect();
    certificate["bounds"] = json!(["plain"]);
    let files = with(files, MANIFEST, manifest.to_string().into_bytes());
    let files = with(&files, "cert.json", certificate.to_string().into_bytes());
    with(&files, HINTS, write_safetensors(&tensors))
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = entries(&root().join("certs/misread")).iter().map(|folder| Case::read(folder)).collect();
    assert_eq!(cases.len(), 5);
    cases
}

/// Whether `Σ c·v` is below the bound at a point.
fn holds(row: &Row, x: &[Rational], y: &[Rational]) -> bool {
    let value = |variable: &Variable| match variable {
        Variable::X(i) => &x[*i],
        Variable::Y(j) => &y[*j],
    };
    let sum: Rational = row.terms.iter().map(|(variable, coefficient)| coefficient * value(variable)).sum();
    if row.strict { sum < row.bound } else { sum <= row.bound }
}

#[test]
fn the_counterexample_lies_in_what_the_kernel_has_read() {
    for case in cases() {
        let property = case.property();
        let ends = property.lower.iter().zip(&property.upper);
        assert_eq!(case.x.len(), property.inputs());
        assert!(ends.zip(&case.x).all(|((low, high), x)| low <= x && x <= high), "{}", case.name);
        // On a region that is one dyadic point, interval bounds are the value.
        let point = Property { lower: case.x.clone(), upper: case.x.clone(), ..property.clone() };
        let documents = Documents::new(case.graph(), point).unwrap();
        let scope = Scope::root(documents.problem(), None, 3).unwrap();
        let program = documents.problem().program();
        assert_eq!(case.y.len(), program.output_width());
        for (index, y) in case.y.iter().enumerate() {
            let (node, coordinate) = program.output_coordinate(index).unwrap();
            let interval = scope.interval(node, coordinate).unwrap();
            let found = (interval.lower.to_rational(), interval.upper.to_rational());
            assert_eq!(found, (y.clone(), y.clone()), "{}", case.name);
        }
        let inside = |rows: &Disjunct| rows.iter().all(|row| holds(row, &case.x, &case.y));
        assert!(property.disjuncts.iter().any(inside), "{}", case.name);
    }
}

#[test]
fn what_is_misread_is_refused() {
    for case in cases() {
        let files = trivial(&case.graph, &case.payload, &case.property);
        bundle::check(&files, &[]).expect(1, "s REJECTED leaf.unproved");
        let splits = case.splits();
        for fresh in [false, true] {
            for split in &splits {
                let tree = full_tree(&files, std::slice::from_ref(split), fresh);
                bundle::check(&tree, &[]).expect(1, "s REJECTED leaf.unproved");
            }
            bundle::check(&full_tree(&files, &splits, fresh), &[]).expect(1, "s REJECTED leaf.unproved");
        }
    }
}

#[test]
fn the_misreading_is_true() {
    for case in cases() {
        let files = case.misread();
        let run = bundle::check(&files, &[]);
        assert!(run.code == 0 && run.last_line().starts_with("s ACCEPTED unsat "), "{}: {}", case.name, run.stdout);
        // The trees above are good trees: they prove the claim that is true.
        let run = bundle::check(&full_tree(&files, &case.splits(), true), &[]);
        assert_eq!(run.code, 0, "{}: {}", case.name, run.stdout);
        // It is another claim than that of the documents.
        let folder = root().join("certs/misread").join(&case.name);
        let (onnx, property) = (folder.join("net.onnx"), folder.join("property.vnnlib"));
        let run = bundle::check(&files, &["--onnx", text(&onnx), "--property", text(&property)]);
        assert!(run.code == 2 && run.last_line().starts_with("s REJECTED bind."), "{}: {}", case.name, run.stdout);
    }
}

#[test]
fn the_counterexample_is_a_witness() {
    for case in cases() {
        let files = trivial(&case.graph, &case.payload, &case.property);
        let mut manifest = bundle::json_of(&files, MANIFEST);
        manifest["kind"] = json!("witness");
        let files = with(&files, MANIFEST, manifest.to_string().into_bytes());
        let at = |x: &[Rational]| {
            let point: Vec<String> = x.iter().map(ToString::to_string).collect();
            let certificate = json!({"format": "certkern.witness.v1", "x": point});
            with(&files, "cert.json", certificate.to_string().into_bytes())
        };
        let folder = root().join("certs/misread").join(&case.name);
        let (onnx, property) = (folder.join("net.onnx"), folder.join("property.vnnlib"));
        let run = bundle::check(&at(&case.x), &["--onnx", text(&onnx), "--property", text(&property)]);
        assert!(run.code == 0 && run.last_line().starts_with("s ACCEPTED sat "), "{}: {}", case.name, run.stdout);
        // The last lower end of the region, less 10^-8.
        let mut outside = case.x.clone();
        *outside.last_mut().unwrap() =
            case.property().lower.last().unwrap() - Rational::new(1.into(), 100_000_000.into());
        bundle::check(&at(&outside), &[]).expect(1, "s REJECTED witness.region");
        // The misread network or property has no witness there.
        let mut misread = case.misread();
        misread.insert("cert.json".to_owned(), at(&case.x)["cert.json"].clone());
        let mut manifest = bundle::json_of(&misread, MANIFEST);
        manifest["kind"] = json!("witness");
        let run = bundle::check(&with(&misread, MANIFEST, manifest.to_string().into_bytes()), &[]);
        assert!(run.code == 1 && run.last_line().starts_with("s REJECTED witness."), "{}: {}", case.name, run.stdout);
    }
}
