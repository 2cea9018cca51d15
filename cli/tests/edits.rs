//! What somebody could change in an accepted bundle or in a dump, over all of `certs/accept/leaves` and `certs/dumps`, and what must come
//! of it.

use crate::bundle::{self, Files, HINTS, MANIFEST, bound, with};
use crate::support::{Run, all_dumps, certkern, entries, root, text};
use certkern_core::num::Rational;
use certkern_core::property::{Property, Row, Variable};
use certkern_core::tensor::Tensor;
use certkern_graph::{Attribute, Graph, Node};
use certkern_onnx::{Dtype, write_safetensors};
use certkern_wire::Limits;
use num_traits::{FromPrimitive, ToPrimitive};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// An accepted bundle and the user's own files: those of the dump where there is one.
struct Accepted {
    name: String,
    files: Files,
    own: Vec<(&'static str, String)>,
}

/// A bundle after one edit of a document.
struct Edit {
    role: &'static str,
    what: String,
    files: Files,
}

impl Accepted {
    fn read(folder: &Path) -> Self {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let files = bundle::read(folder);
        let own = match all_dumps().into_iter().find(|(bundle, _)| *bundle == name) {
            Some((_, dump)) => vec![("--onnx", dump.join("net.onnx")), ("--property", dump.join("property.vnnlib"))],
            None => vec![("--property", folder.join("property.json"))],
        };
        let own = own.into_iter().map(|(option, path)| (option, text(&path).to_owned())).collect();
        Self { name, files, own }
    }

    /// The bundle with the property written anew.
    fn with_property(&self, property: &Property) -> Files {
        let mut files = self.files.clone();
        files.remove(&named(&self.files, "property"));
        let mut manifest = bundle::json_of(&files, MANIFEST);
        manifest["files"]["property"] = json!("property.json");
        files.insert(MANIFEST.to_owned(), manifest.to_string().into_bytes());
        files.insert("property.json".to_owned(), property_json(property));
        files
    }

    /// The bundle with its hints changed.
    fn with_hints(&self, change: impl Fn(&str, usize, f64) -> f64) -> Files {
        let mut tensors = bundle::tensors(&self.files[HINTS]);
        for (name, dtype, _, bytes) in &mut tensors {
            let changed = |place: usize, old: f64| change(name, place, old);
            *bytes = match dtype {
                Dtype::F32 => {
                    let values = bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk));
                    let change = |(place, old)| (changed(place, f64::from(old)) as f32).to_le_bytes();
                    values.enumerate().flat_map(change).collect()
                }
                Dtype::F64 => {
                    let values = bytes.as_chunks().0.iter().map(|chunk| f64::from_le_bytes(*chunk));
                    values.enumerate().flat_map(|(place, old)| changed(place, old).to_le_bytes()).collect()
                }
                Dtype::I64 | Dtype::U32 | Dtype::U8 => continue,
            };
        }
        with(&self.files, HINTS, write_safetensors(&tensors))
    }

    /// Edits of the graph, of its numbers, of the region and of the unsafe set.
    fn edits(&self) -> Vec<Edit> {
        let mut edits = self.graph_edits();
        edits.extend(self.payload_edits());
        edits.extend(self.property_edits());
        edits
    }

    fn graph_edits(&self) -> Vec<Edit> {
        let graph = named(&self.files, "graph");
        let document = bundle::json_of(&self.files, &graph);
        let edit = |what: &str, change: &dyn Fn(&mut Vec<Value>)| {
            let mut document = document.clone();
            change(document["nodes"].as_array_mut().unwrap());
            let files = with(&self.files, &graph, document.to_string().into_bytes());
            Edit { role: "graph", what: what.to_owned(), files }
        };
        let shape = graph_of(&self.files).nodes().last().unwrap().shape().to_vec();
        vec![
            edit("the last activation lets all pass", &|nodes| {
                let bends = |node: &&mut Value| ["relu", "tanh", "sin"].iter().any(|kind| node["kind"] == *kind);
                nodes.iter_mut().rfind(bends).unwrap()["kind"] = json!("detach");
            }),
            edit("a node that nothing reads", &|nodes| {
                let id = nodes.len();
                nodes.push(json!({"id": id, "kind": "relu", "parents": [id - 1], "shape": shape}));
            }),
        ]
    }

    /// The last bit of a few elements of every tensor, or a few numbers in the nodes.
    fn payload_edits(&self) -> Vec<Edit> {
        let (graph, payload) = (named(&self.files, "graph"), named(&self.files, "payload"));
        let mut edits = Vec::new();
        let tensors = bundle::tensors(&self.files[&payload]);
        for (place, (name, dtype, _, bytes)) in tensors.iter().enumerate() {
            let count = bytes.len() / dtype.size();
            for element in BTreeSet::from([0, count / 2, count - 1]) {
                let mut tensors = tensors.clone();
                tensors[place].3[element * dtype.size()] ^= 1;
                let files = with(&self.files, &payload, write_safetensors(&tensors));
                edits.push(Edit { role: "payload", what: format!("the last bit of {name}[{element}]"), files });
            }
        }
        let document = bundle::json_of(&self.files, &graph);
        for (id, node) in document["nodes"].as_array().unwrap().iter().enumerate() {
            if node["bias"].is_array() {
                let mut document = document.clone();
                document["nodes"][id]["bias"][0] = json!(node["bias"][0].as_f64().unwrap() + 0.125);
                let files = with(&self.files, &graph, document.to_string().into_bytes());
                edits.push(Edit { role: "payload", what: format!("the bias of node {id}"), files });
            }
        }
        edits
    }

    fn property_edits(&self) -> Vec<Edit> {
        let property = property_of(&self.files);
        let mut edits = Vec::new();
        let mut edit = |role, what: String, changed: &dyn Fn(&mut Property)| {
            let mut property = property.clone();
            changed(&mut property);
            edits.push(Edit { role, what, files: self.with_property(&property) });
        };
        let little = || Rational::new(1.into(), 1_000_000.into());
        for i in BTreeSet::from([0, property.inputs() - 1]) {
            edit("input", format!("the lower end of input {i} raised"), &|property| property.lower[i] += little());
            edit("input", format!("the upper end of input {i} raised"), &|property| property.upper[i] += little());
        }
        for (d, rows) in property.disjuncts.iter().enumerate() {
            let row = rows.len() - 1;
            let at = format!("row {row} of disjunct {d}");
            edit("output", format!("the bound of {at} lowered"), &|property| {
                Arc::make_mut(&mut property.disjuncts[d][row]).bound -= little();
            });
            edit("output", format!("{at} open for closed or closed for open"), &|property| {
                Arc::make_mut(&mut property.disjuncts[d][row]).strict ^= true;
            });
            edit("output", format!("the signs of {at} turned"), &|property| {
                let row = Arc::make_mut(&mut property.disjuncts[d][row]);
                row.terms.iter_mut().for_each(|(_, coefficient)| *coefficient *= minus_one());
            });
        }
        edit("output", "the last disjunct twice".to_owned(), &|property| {
            property.disjuncts.push(property.disjuncts.last().unwrap().clone());
        });
        edits
    }

    /// For each disjunct a property that a sampled point makes false: the bounds of its rows on outputs are raised beyond the sample.
    fn false_properties(&self) -> Vec<Edit> {
        let property = property_of(&self.files);
        let middle = |(low, high): (&Rational, &Rational)| (low + high).to_f64().unwrap() / 2.0;
        let x: Vec<f64> = property.lower.iter().zip(&property.upper).map(middle).collect();
        let y = evaluate(&Floats::of(&self.files), &x);
        let mut edits = Vec::new();
        for d in 0..property.disjuncts.len() {
            let mut changed = property.clone();
            for row in &mut changed.disjuncts[d] {
                // Far above what summation in floats can lose.
                let beyond = Rational::from_f64(sum(row, &x, &y) + 0.001).unwrap();
                if row.bound < beyond {
                    assert!(speaks_of_output(row));
                    Arc::make_mut(row).bound = beyond;
                }
            }
            assert_ne!(changed, property);
            let what = format!("disjunct {d} holds in the middle of the region");
            edits.push(Edit { role: "output", what, files: bound(&self.with_property(&changed)) });
        }
        edits
    }

    /// Checks against the user's own files.
    fn check_own(&self, files: &Files) -> Run {
        let arguments: Vec<&str> = self.own.iter().flat_map(|(option, path)| [*option, path.as_str()]).collect();
        bundle::check(files, &arguments)
    }
}

/// The name of the file that a manifest names for a role.
fn named(files: &Files, role: &str) -> String {
    bundle::json_of(files, MANIFEST)["files"][role].as_str().unwrap().to_owned()
}

fn graph_of(files: &Files) -> Graph {
    let (graph, payload) = (&files[&named(files, "graph")], &files[&named(files, "payload")]);
    Graph::read(graph, Some(payload), &Limits::default()).unwrap()
}

fn property_of(files: &Files) -> Property {
    let name = named(files, "property");
    certkern_claims::read_property(&name, &files[&name], &Limits::default()).unwrap()
}

/// Whether one of some points of the region, its middle and its corners among them, lies in the unsafe set by more than floats can lose.
fn sampled_false(files: &Files) -> bool {
    let (network, property) = (Floats::of(files), property_of(files));
    let ends: Vec<(f64, f64)> =
        property.lower.iter().zip(&property.upper).map(|(l, u)| (l.to_f64().unwrap(), u.to_f64().unwrap())).collect();
    // SplitMix64; the low three bits choose an end or a point between.
    let mut state = 0_u64;
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..300).any(|_| {
        let coordinate = |(low, high): &(f64, f64)| {
            let bits = random();
            match bits & 7 {
                0..3 => *low,
                3..6 => *high,
                _ => low + (high - low) * ((bits >> 11) as f64 / (1_u64 << 53) as f64),
            }
        };
        let x: Vec<f64> = ends.iter().map(coordinate).collect();
        let y = evaluate(&network, &x);
        let inside = |row: &Arc<Row>| {
            sum(row, &x, &y) <= row.bound.to_f64().unwrap() - if speaks_of_output(row) { 1e-6 } else { 0.0 }
        };
        property.disjuncts.iter().any(|rows| rows.iter().all(inside))
    })
}

fn speaks_of_output(row: &Row) -> bool {
    row.terms.iter().any(|(variable, _)| matches!(variable, Variable::Y(_)))
}

/// The left side of a row at a point, in binary64.
fn sum(row: &Row, x: &[f64], y: &[f64]) -> f64 {
    let value = |variable: &Variable| match variable {
        Variable::X(i) => x[*i],
        Variable::Y(j) => y[*j],
    };
    row.terms.iter().map(|(variable, coefficient)| coefficient.to_f64().unwrap() * value(variable)).sum()
}

fn minus_one() -> Rational {
    Rational::from_integer((-1).into())
}

/// Bundles with operators that [`evaluate`] does not know, or with their numbers in the nodes, where no payload file can be edited.
const BEYOND: [&str; 4] = ["attention", "domains", "torchlean_leaves", "torchlean_query"];

fn accepted() -> Vec<Accepted> {
    let folders = entries(&root().join("certs/accept/leaves"));
    let (beyond, known): (Vec<_>, Vec<_>) =
        folders.iter().partition(|folder| BEYOND.iter().any(|name| folder.ends_with(name)));
    assert_eq!((beyond.len(), known.len()), (BEYOND.len(), 4 + 4 + 2));
    known.into_iter().map(|folder| Accepted::read(folder)).collect()
}

/// A property as `certkern.property.v1`.
fn property_json(property: &Property) -> Vec<u8> {
    let row = |row: &Arc<Row>| {
        let terms = |mine: fn(&Variable) -> Option<usize>| -> Map<String, Value> {
            let terms =
                row.terms.iter().filter_map(|(variable, c)| Some((mine(variable)?.to_string(), json!(c.to_string()))));
            terms.collect()
        };
        let x = terms(|variable| if let Variable::X(i) = variable { Some(*i) } else { None });
        let y = terms(|variable| if let Variable::Y(j) = variable { Some(*j) } else { None });
        json!({"x": x, "y": y, "bound": row.bound.to_string(), "strict": row.strict})
    };
    let texts = |ends: &[Rational]| ends.iter().map(ToString::to_string).collect::<Vec<String>>();
    let disjuncts: Vec<Vec<Value>> = property.disjuncts.iter().map(|rows| rows.iter().map(row).collect()).collect();
    let document = json!({"format": "certkern.property.v1", "outputs": property.outputs,
        "lower": texts(&property.lower), "upper": texts(&property.upper), "unsafe": disjuncts});
    document.to_string().into_bytes()
}

/// A graph with its numbers in binary64.
struct Floats {
    graph: Graph,
    /// The tensors of each node by field.
    payload: Vec<BTreeMap<&'static str, Vec<f64>>>,
}

impl Floats {
    fn of(files: &Files) -> Self {
        let graph = graph_of(files);
        let numbers = |tensor: &Tensor| (0..tensor.len()).map(|i| tensor.get(i).unwrap().to_f64().unwrap()).collect();
        let tensors = |node: &Node| node.payload().map(|(field, tensor)| (field, numbers(tensor))).collect();
        let payload = graph.nodes().iter().map(tensors).collect();
        Self { graph, payload }
    }
}

/// The outputs of a graph of the operators in `certs/accept/leaves`, in binary64.
fn evaluate(Floats { graph, payload }: &Floats, x: &[f64]) -> Vec<f64> {
    let mut values: Vec<Vec<f64>> = Vec::new();
    for (node, payload) in graph.nodes().iter().zip(payload) {
        let parent = |place: usize| &values[node.parents()[place]];
        let zipped = |f: fn((&f64, &f64)) -> f64| parent(0).iter().zip(parent(1)).map(f).collect();
        let value = match node.kind() {
            "input" => x.to_vec(),
            "const" => payload["values"].clone(),
            "add" => zipped(|(a, b)| a + b),
            "sub" => zipped(|(a, b)| a - b),
            "relu" => parent(0).iter().map(|z| z.max(0.0)).collect(),
            "tanh" => parent(0).iter().map(|z| z.tanh()).collect(),
            "sin" => parent(0).iter().map(|z| z.sin()).collect(),
            "reshape" | "flatten" | "detach" => parent(0).clone(),
            "linear" => {
                let rows = payload["weight"].chunks(parent(0).len()).zip(&payload["bias"]);
                let dot = |row: &[f64]| row.iter().zip(parent(0)).map(|(w, z)| w * z).sum::<f64>();
                rows.map(|(row, bias)| dot(row) + bias).collect()
            }
            "conv" => convolve(node, graph.nodes()[node.parents()[0]].shape(), parent(0), payload),
            other => panic!("{other} is not evaluated here"),
        };
        values.push(value);
    }
    graph.output_ids().iter().flat_map(|id| values[*id].clone()).collect()
}

/// A zero-padded cross-correlation of two spatial axes in one group, without dilation.
fn convolve(node: &Node, from: &[usize], x: &[f64], payload: &BTreeMap<&str, Vec<f64>>) -> Vec<f64> {
    let list = |name: &str| match node.attributes().iter().find(|(found, _)| *found == name) {
        Some((_, Attribute::List(list))) => list.clone(),
        _ => panic!("{name} is no list"),
    };
    assert_eq!(list("dilation"), [1, 1]);
    let (kernel, stride, padding) = (list("kernel"), list("stride"), list("padding"));
    let [1, channels, height, width] = *from else { panic!("{from:?}") };
    let [1, filters, rows, columns] = *node.shape() else { panic!("{:?}", node.shape()) };
    assert_eq!(payload["weight"].len(), filters * channels * kernel[0] * kernel[1]);
    let places =
        |[a, b, c]: [usize; 3]| (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))));
    let mut y = Vec::new();
    for (filter, row, column) in places([filters, rows, columns]) {
        let mut value = payload["bias"][filter];
        for (channel, i, j) in places([channels, kernel[0], kernel[1]]) {
            let weight = payload["weight"][((filter * channels + channel) * kernel[0] + i) * kernel[1] + j];
            // In the padding the first subtraction fails, or the second comparison.
            let place = |at: usize, axis: usize, tap: usize| (at * stride[axis] + tap).checked_sub(padding[axis]);
            if let (Some(v), Some(h)) = (place(row, 0, i), place(column, 1, j))
                && v < height
                && h < width
            {
                value += weight * x[(channel * height + v) * width + h];
            }
        }
        y.push(value);
    }
    y
}

#[test]
fn no_sampled_point_makes_an_accepted_claim_false() {
    for bundle in accepted() {
        assert!(!sampled_false(&bundle.files), "{}", bundle.name);
    }
}

#[test]
fn a_property_written_anew_is_the_same_claim() {
    for bundle in accepted() {
        let before = bundle::check(&bundle.files, &[]);
        let after = bundle.check_own(&bundle.with_property(&property_of(&bundle.files)));
        assert_eq!((before.code, after.code), (0, 0), "{}: {}{}", bundle.name, before.stdout, after.stdout);
        assert_eq!(before.last_line(), after.last_line());
    }
}

#[test]
fn a_changed_document_is_unbound() {
    let mut edits = 0;
    for bundle in accepted() {
        for Edit { role, what, files } in bundle.edits() {
            let run = bundle::check(&files, &[]);
            let expected = (2, format!("s REJECTED bind.{role}"));
            assert_eq!((run.code, run.last_line().to_owned()), expected, "{}: {what}: {}", bundle.name, run.stdout);
            edits += 1;
        }
    }
    eprintln!("{edits} edits");
    assert!(edits > 100, "{edits}");
}

#[test]
fn a_changed_document_that_is_bound_again_is_another_claim() {
    let (mut proved, mut refused, mut falsified) = (0, 0, 0);
    for bundle in accepted() {
        let claim = bundle::check(&bundle.files, &[]).last_line().to_owned();
        for Edit { role, what, files } in bundle.edits() {
            let files = bound(&files);
            let run = bundle::check(&files, &[]);
            if sampled_false(&files) {
                assert_ne!(run.code, 0, "FALSE CLAIM ACCEPTED: {}: {what}", bundle.name);
                falsified += 1;
            }
            if run.code == 0 {
                assert_ne!(run.last_line(), claim, "{}: {what}", bundle.name);
                // Without an ONNX file nothing is compared with the graph.
                if bundle.own.len() > 1 || role == "input" || role == "output" {
                    bundle.check_own(&files).expect(2, &format!("s REJECTED bind.{role}"));
                }
                proved += 1;
            } else {
                // A graph with a ReLU less, and a property with a disjunct more, are not what the certificate is about.
                let code = run.last_line().strip_prefix("s REJECTED ").unwrap();
                let known = ["leaf.unproved", "hint.shape", "tree.malformed", "tensors.unused"];
                assert!(known.contains(&code), "{}: {what}: {}", bundle.name, run.stdout);
                refused += 1;
            }
        }
    }
    let counts = format!("{proved} proved, {refused} refused, {falsified} of these by a sampled point too");
    eprintln!("{counts}");
    assert!(proved > 50 && refused > 15 && falsified > 10, "{counts}");
}

#[test]
fn what_a_sample_makes_false_is_never_proved() {
    let mut disjuncts = 0;
    for bundle in accepted() {
        for Edit { what, files, .. } in bundle.false_properties() {
            let run = bundle::check(&files, &[]);
            let found = (run.code, run.last_line());
            assert_eq!(found, (1, "s REJECTED leaf.unproved"), "{}: {what}: {}", bundle.name, run.stdout);
            disjuncts += 1;
        }
    }
    assert_eq!(disjuncts, 1 + 9 + (2 + 9 + 9 + 9) + 3 + 1 + (1 + 1));
}

#[test]
fn hints_outside_their_domain_are_told() {
    let mut hints = 0;
    for bundle in accepted() {
        let relu = graph_of(&bundle.files).nodes().iter().any(|node| node.kind() == "relu");
        for (name, dtype, _, bytes) in bundle::tensors(&bundle.files[HINTS]) {
            let last = bytes.len() / dtype.size() - 1;
            let bad: &[f64] = match name.rsplit('.').next().unwrap() {
                "slope" | "lower" | "upper" if relu => &[1.5, -0.5, f64::NAN, f64::INFINITY],
                // Every number is a slope of another function.
                "slope" | "lower" | "upper" | "high" => &[f64::NAN, f64::INFINITY],
                "multiplier" => &[-1.0, f64::NAN, f64::INFINITY],
                _ => continue,
            };
            for (place, value) in [0, last].into_iter().flat_map(|place| bad.iter().map(move |value| (place, *value))) {
                let files = bundle.with_hints(|other, at, old| if other == name && at == place { value } else { old });
                let run = bundle::check(&files, &[]);
                let found = (run.code, run.last_line());
                assert_eq!(found, (2, "s REJECTED hint.domain"), "{}: {name}[{place}] = {value}", bundle.name);
                hints += 1;
            }
        }
    }
    eprintln!("{hints} hints");
    assert!(hints > 100, "{hints}");
}

#[test]
fn useless_hints_prove_nothing() {
    for bundle in accepted() {
        let names: Vec<String> = bundle::tensors(&bundle.files[HINTS]).into_iter().map(|(name, ..)| name).collect();
        for part in ["leaf.rows.multiplier", "leaf.splits.multiplier", ".slope"] {
            // The slopes of the sine are 0, and good.
            if !names.iter().any(|name| name.ends_with(part)) || bundle.name == "sine" {
                continue;
            }
            let files = bundle.with_hints(|name, _, old| if name.ends_with(part) { 0.0 } else { old });
            let run = bundle::check(&files, &[]);
            assert_eq!((run.code, run.last_line()), (1, "s REJECTED leaf.unproved"), "{}: {part}", bundle.name);
        }
    }
}

/// A dump whose manifest and tensors can be changed before it is imported.
struct Dump {
    name: &'static str,
    manifest: Value,
    tensors: Vec<u8>,
}

impl Dump {
    fn read(name: &'static str) -> Self {
        let folder = root().join("certs/dumps").join(name);
        let manifest = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        Self { name, manifest, tensors: fs::read(folder.join("tensors.safetensors")).unwrap() }
    }

    fn import(&self) -> Run {
        let scratch = tempfile::tempdir().unwrap();
        let (dump, made) = (scratch.path().join("dump"), scratch.path().join("bundle"));
        fs::create_dir(&dump).unwrap();
        fs::write(dump.join("manifest.json"), self.manifest.to_string()).unwrap();
        fs::write(dump.join("tensors.safetensors"), &self.tensors).unwrap();
        let own = root().join("certs/dumps").join(self.name);
        let (onnx, property) = (own.join("net.onnx"), own.join("property.vnnlib"));
        let arguments = ["--onnx", text(&onnx), "--property", text(&property), "-o", text(&made)];
        let run = certkern(["import", "abcrown", text(&dump)].iter().chain(&arguments));
        assert_eq!(run.code == 0, made.exists(), "{}", run.stderr);
        run
    }

    /// Asserts that the import fails and that its complaint contains all `parts`.
    #[track_caller]
    fn refused(&self, parts: &[String]) {
        let run = self.import();
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "{parts:?} are not all in: {}", run.stderr);
    }

    fn leaves(&mut self) -> &mut Vec<Value> {
        self.manifest["leaves"].as_array_mut().unwrap()
    }

    /// The place of element `index` of an `F32` tensor.
    fn place(&self, tensor: &str, index: usize) -> usize {
        let length = usize::try_from(u64::from_le_bytes(self.tensors[..8].try_into().unwrap())).unwrap();
        let header: Value = serde_json::from_slice(&self.tensors[8..8 + length]).unwrap();
        let begin = header[tensor]["data_offsets"][0].as_u64().unwrap();
        8 + length + usize::try_from(begin).unwrap() + 4 * index
    }

    fn get(&self, tensor: &str, index: usize) -> f32 {
        let place = self.place(tensor, index);
        f32::from_le_bytes(self.tensors[place..place + 4].try_into().unwrap())
    }

    fn set(&mut self, tensor: &str, index: usize, value: f32) {
        let place = self.place(tensor, index);
        self.tensors[place..place + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// A split of a leaf as complaints name it: the neuron, and the relation that the leaf assumes.
fn literal(split: &Value) -> (String, &'static str) {
    let neuron = format!("{}[{}]", split["layer"].as_str().unwrap(), split["neuron"]);
    (neuron, if split["sign"] == 1 { "≥" } else { "≤" })
}

#[test]
fn a_dump_with_a_leaf_removed_is_refused_with_its_literals() {
    for name in ["small_relu", "digits_relusplit"] {
        let whole = Dump::read(name);
        assert_eq!(whole.import().code, 0);
        let leaves = whole.manifest["leaves"].as_array().unwrap();
        for (place, leaf) in leaves.iter().enumerate().step_by(5) {
            let mut dump = Dump::read(name);
            dump.leaves().remove(place);
            let splits = leaf["splits"].as_array().unwrap().iter().map(literal);
            // In small_relu the last literal alone is left; elsewhere the path to the gap may be shorter than the leaf, never empty.
            let parts: Vec<String> = splits.map(|(neuron, relation)| format!("{neuron} {relation} 0")).collect();
            dump.refused(&[parts, vec!["no leaf covers".to_owned()]].concat());
        }
    }
}

#[test]
fn a_dump_with_a_sign_flipped_or_a_threshold_moved_is_refused_with_the_neuron() {
    for name in ["small_relu", "digits_relusplit"] {
        let leaves = Dump::read(name).leaves().clone();
        for (place, leaf) in leaves.iter().enumerate().step_by(7) {
            for (depth, split) in leaf["splits"].as_array().unwrap().iter().enumerate() {
                let (neuron, _) = literal(split);
                let mut dump = Dump::read(name);
                dump.leaves()[place]["splits"][depth]["sign"] = json!(-split["sign"].as_i64().unwrap());
                dump.refused(std::slice::from_ref(&neuron));
                let mut dump = Dump::read(name);
                dump.leaves()[place]["splits"][depth]["point"] = json!(0.5);
                dump.refused(&[neuron, "0.5".to_owned()]);
            }
        }
    }
}

#[test]
fn a_dump_with_a_box_made_smaller_is_refused_with_the_part_left_out() {
    let whole = Dump::read("control_boxsplit");
    assert_eq!(whole.import().code, 0);
    for leaf in (0..30).step_by(4) {
        for coordinate in 0..5 {
            let index = 5 * leaf + coordinate;
            let (low, high) = (whole.get("box/x_L", index), whole.get("box/x_U", index));
            let middle = low + (high - low) / 2.0;
            let mut dump = Dump::read("control_boxsplit");
            dump.set("box/x_U", index, middle);
            dump.refused(&["no leaf box covers".to_owned(), format!("x[{coordinate}] in [{middle}, {high}]")]);
        }
    }
}
