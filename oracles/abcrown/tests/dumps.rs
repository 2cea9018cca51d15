//! The dumps of real runs in `../shared/data/abcrown_dumps`: seven convert, and damage to a dump is named.

use certkern_abcrown::{Bundle, ConvertError, SourceNames, convert};
use safetensors::SafeTensors;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

struct Dump {
    manifest: Value,
    tensors: Vec<u8>,
    onnx: Vec<u8>,
    property: Vec<u8>,
    check: Vec<u8>,
}

/// The folder of dumps, or `None` where it may be absent.
fn dumps() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/abcrown_dumps");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CERTKERN_REQUIRE_SHARED").is_none_or(|v| v != "1"), "../shared is absent");
    eprintln!("SKIPPED: ../shared is absent");
    None
}

impl Dump {
    fn read(name: &str) -> Option<Self> {
        let folder = dumps()?.join(name);
        let read = |file: &str| std::fs::read(folder.join(file)).unwrap();
        let ending = |ending: &str| {
            let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            std::fs::read(files.filter(|path| path.extension().is_some_and(|e| e == ending)).min().unwrap()).unwrap()
        };
        Some(Self {
            manifest: serde_json::from_slice(&read("manifest.json")).unwrap(),
            tensors: read("tensors.safetensors"),
            onnx: ending("onnx"),
            property: ending("vnnlib"),
            check: read("check_f64.json"),
        })
    }

    fn convert(&self) -> Result<Bundle, ConvertError> {
        let manifest = self.manifest.to_string();
        let names = SourceNames {
            onnx: "net.onnx".to_owned(),
            property: "prop.vnnlib".to_owned(),
            manifest: "manifest.json".to_owned(),
            tensors: "tensors.safetensors".to_owned(),
        };
        convert(manifest.as_bytes(), &self.tensors, &self.onnx, &self.property, &names)
    }

    /// What the independent re-check found.
    fn check(&self) -> Value {
        serde_json::from_slice(&self.check).unwrap()
    }

    fn error(&self) -> String {
        self.convert().unwrap_err().to_string()
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        floats(&SafeTensors::deserialize(&self.tensors).unwrap(), name)
    }

    /// Overwrites element `index` of a tensor of `F32`.
    fn overwrite(&mut self, name: &str, index: usize, value: f32) {
        let start = {
            let tensors = SafeTensors::deserialize(&self.tensors).unwrap();
            tensors.tensor(name).unwrap().data().as_ptr() as usize - self.tensors.as_ptr() as usize
        };
        self.tensors[start + index * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }

    fn leaves(&mut self) -> &mut Vec<Value> {
        self.manifest["leaves"].as_array_mut().unwrap()
    }
}

fn floats(tensors: &SafeTensors, name: &str) -> Vec<f32> {
    tensors.tensor(name).unwrap().data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn ints(tensors: &SafeTensors, name: &str) -> Vec<usize> {
    let data = tensors.tensor(name).unwrap().data();
    data.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b) as usize).collect()
}

/// A literal: node, coordinate, whether `≥`, threshold.
type Literal = (usize, usize, bool, f32);

/// The leaves of each tree in preorder, each with the literals of its path, root first. Panics if the arrays are no trees.
fn walk(tensors: &SafeTensors) -> Vec<Vec<Vec<Literal>>> {
    let offsets = ints(tensors, "tree.offset");
    let kinds = tensors.tensor("tree.kind").unwrap().data();
    let [nodes, coordinates, numbers] =
        ["node", "coordinate", "threshold"].map(|f| ints(tensors, &format!("tree.{f}")));
    let thresholds =
        if tensors.names().contains(&"threshold.value") { floats(tensors, "threshold.value") } else { Vec::new() };
    assert_eq!(offsets.last(), Some(&kinds.len()));
    let trees = offsets.windows(2).map(|ends| {
        let mut leaves = Vec::new();
        let mut open = vec![Vec::new()];
        for place in ends[0]..ends[1] {
            let path: Vec<Literal> = open.pop().unwrap();
            if kinds[place] == 0 {
                leaves.push(path);
                continue;
            }
            for at_least in [false, true] {
                let literal = (nodes[place], coordinates[place], at_least, thresholds[numbers[place]]);
                open.push([path.as_slice(), &[literal]].concat());
            }
        }
        assert!(open.is_empty());
        leaves
    });
    trees.collect()
}

fn document(bundle: &Bundle) -> Value {
    serde_json::from_slice(&bundle.files["cert.json"]).unwrap()
}

#[test]
fn relu_split_dumps_have_the_trees_of_the_independent_check() {
    for name in [
        "acasxu_3_1_prop3_relusplit",
        "digits_conv_1402_0.1_relusplit",
        "digits_conv_1403_0.08_relusplit",
        "mnistfc256x2_prop3_0.03_relusplit",
    ] {
        let Some(dump) = Dump::read(name) else { return };
        let bundle = dump.convert().unwrap_or_else(|error| panic!("{name}: {error}"));
        let certificate = SafeTensors::deserialize(&bundle.files["cert.safetensors"]).unwrap();
        let trees = walk(&certificate);
        let mut found: Vec<(u64, u64)> = trees
            .iter()
            .filter(|leaves| leaves.len() > 1)
            .map(|leaves| (leaves.len() as u64, leaves.iter().map(Vec::len).max().unwrap() as u64))
            .collect();
        let check = dump.check();
        let wanted = check["trees"].as_array().unwrap();
        let number = |tree: &Value, key: &str| tree[key].as_u64().unwrap();
        let mut wanted: Vec<_> = wanted.iter().map(|tree| (number(tree, "leaves"), number(tree, "maxdepth"))).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{name}");
        assert_eq!(document(&bundle)["bounds"], serde_json::json!(["slopes"]), "{name}");
        if name.starts_with("digits") {
            // Plain CROWN closed all disjuncts but 2.
            assert_eq!(document(&bundle)["trees"], serde_json::json!([0, 0, 1, 0, 0, 0, 0, 0, 0]));
        }
    }
}

/// Each leaf keeps its own multipliers and slopes, whatever its place in the tree.
#[test]
fn hints_of_the_mnist_leaves_are_those_of_the_dump() {
    let Some(dump) = Dump::read("mnistfc256x2_prop3_0.03_relusplit") else { return };
    let bundle = dump.convert().unwrap();
    let graph: Value = serde_json::from_slice(&bundle.files["graph.json"]).unwrap();
    let relus: Vec<usize> =
        (0..graph["nodes"].as_array().unwrap().len()).filter(|n| graph["nodes"][n]["kind"] == "relu").collect();
    let layers: BTreeMap<&str, usize> = ["/input", "/input-3"]
        .into_iter()
        .zip(&relus)
        .map(|(name, relu)| (name, graph["nodes"][relu]["parents"][0].as_u64().unwrap() as usize))
        .collect();
    // Leaves of the dump by their literals and the output that they compare with output 7.
    let coefficients = dump.floats("leaf/C");
    let mut known = BTreeMap::new();
    for (row, leaf) in dump.manifest["leaves"].as_array().unwrap().iter().enumerate() {
        let splits = leaf["splits"].as_array().unwrap().iter().map(|split| {
            let place = (layers[split["layer"].as_str().unwrap()], split["neuron"].as_u64().unwrap() as usize);
            ((place.0, place.1, split["sign"] == 1), split["beta"].as_f64().unwrap() as f32)
        });
        let splits: BTreeMap<_, _> = splits.collect();
        let rival = coefficients[row * 10..][..10].iter().position(|c| *c < 0.0).unwrap();
        let literals: BTreeSet<_> = splits.keys().copied().collect();
        assert!(known.insert((rival, literals), (row, splits)).is_none());
    }
    let certificate = SafeTensors::deserialize(&bundle.files["cert.safetensors"]).unwrap();
    let [offsets, depths] = ["offset", "depth"].map(|field| ints(&certificate, &format!("leaf.splits.{field}")));
    let multipliers = floats(&certificate, "leaf.splits.multiplier");
    let trees = walk(&certificate);
    assert_eq!(document(&bundle)["trees"], serde_json::json!([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    let mut entry = 0;
    for (tree, leaves) in trees.iter().enumerate() {
        // The disjuncts are the outputs in order without 7.
        let rival = if tree < 7 { tree } else { tree + 1 };
        for path in leaves {
            let literals = path.iter().map(|(node, coordinate, at_least, _)| (*node, *coordinate, *at_least));
            let (row, splits) = known.remove(&(rival, literals.clone().collect())).expect("a leaf of the dump");
            let mut betas: BTreeMap<_, f32> = literals.clone().map(|literal| (literal, 0.0)).collect();
            for place in offsets[entry]..offsets[entry + 1] {
                let (node, coordinate, at_least, _) = path[depths[place]];
                betas.insert((node, coordinate, at_least), multipliers[place]);
            }
            assert_eq!(betas, splits);
            for (relu, act) in relus.iter().zip(["/32", "/34"]) {
                let own = floats(&certificate, &format!("leaf.{relu}.slope"));
                let wanted = dump.floats(&format!("leaf_alpha/{act}"));
                let columns = ints(&certificate, &format!("leaf.{relu}.columns")).len();
                assert_eq!(own[entry * columns..][..columns], wanted[row * columns..][..columns]);
            }
            entry += 1;
        }
    }
    assert!(known.is_empty());
    // Two rows on each of the 784 inputs stand before the row on outputs.
    assert_eq!(ints(&certificate, "leaf.rows.index"), vec![1568; entry]);
}

#[test]
fn leaves_of_box_dumps_are_the_boxes_of_the_dump() {
    for name in ["acasxu_1_1_prop1_boxsplit", "acasxu_2_1_prop3_boxsplit", "acasxu_3_3_prop3_boxsplit"] {
        let Some(dump) = Dump::read(name) else { return };
        let bundle = dump.convert().unwrap_or_else(|error| panic!("{name}: {error}"));
        let certificate = SafeTensors::deserialize(&bundle.files["cert.safetensors"]).unwrap();
        let trees = walk(&certificate);
        assert_eq!(trees.len(), 1);
        assert_eq!(trees[0].len() as u64, dump.check()["boxes"]["n"].as_u64().unwrap(), "{name}");
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let found: BTreeSet<_> = trees[0]
            .iter()
            .map(|path| {
                let (mut lower, mut upper) = (dump.floats("spec/x_L"), dump.floats("spec/x_U"));
                for (node, coordinate, at_least, threshold) in path {
                    assert_eq!(*node, 0);
                    if *at_least { lower[*coordinate] = *threshold } else { upper[*coordinate] = *threshold }
                }
                (bits(&lower), bits(&upper))
            })
            .collect();
        let (lower, upper) = (dump.floats("box/x_L"), dump.floats("box/x_U"));
        let wanted: BTreeSet<_> = lower.chunks(5).zip(upper.chunks(5)).map(|(l, u)| (bits(l), bits(u))).collect();
        assert_eq!(found, wanted, "{name}");
        // Bounds are recomputed in each leaf box.
        let kinds = certificate.tensor("tree.kind").unwrap().data();
        let bounds = ints(&certificate, "tree.bounds");
        assert!(kinds.iter().zip(&bounds).all(|(kind, bounds)| usize::from(*kind == 0) == *bounds));
    }
}

#[test]
fn rows_are_counted_with_the_rows_on_inputs() {
    let Some(dump) = Dump::read("acasxu_3_3_prop3_boxsplit") else { return };
    let bundle = dump.convert().unwrap();
    let certificate = SafeTensors::deserialize(&bundle.files["cert.safetensors"]).unwrap();
    // Ten rows on inputs stand before the four atoms. 6 boxes close by the second atom, 44 by the fourth (counted in the dump).
    let rows = ints(&certificate, "leaf.rows.index");
    let count = |row: usize| rows.iter().filter(|r| **r == row).count();
    assert_eq!((rows.len(), count(11), count(13)), (50, 6, 44));
}

#[test]
fn the_bundle_binds_and_names_its_sources() {
    let Some(dump) = Dump::read("acasxu_1_1_prop1_boxsplit") else { return };
    let bundle = dump.convert().unwrap();
    let manifest: Value = serde_json::from_slice(&bundle.files["bundle.json"]).unwrap();
    let named: BTreeSet<&str> = manifest["files"].as_object().unwrap().values().map(|v| v.as_str().unwrap()).collect();
    let held: BTreeSet<&str> = bundle.files.keys().map(String::as_str).filter(|name| *name != "bundle.json").collect();
    assert_eq!(named, held);
    for role in ["graph", "payload", "input", "output"] {
        let digest = manifest["digests"][role].as_str().unwrap();
        assert!(
            digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()),
            "{digest}"
        );
    }
    // SHA-256 of the file, by sha256sum.
    let onnx = &manifest["provenance"]["sources"][0];
    assert_eq!((onnx["role"].as_str(), onnx["name"].as_str()), (Some("onnx"), Some("net.onnx")));
    assert_eq!(onnx["sha256"], "843f7110bf5a8b7f0eeb9b1c548d9d558db9099328b392423d5a7444a0656dd4");
    assert_eq!(bundle.files["property.vnnlib"], dump.property);
}

#[test]
fn a_removed_leaf_is_named_by_its_literals() {
    let Some(mut dump) = Dump::read("digits_conv_1402_0.1_relusplit") else { return };
    let leaf = dump.leaves().remove(3);
    let text = dump.error();
    assert!(text.contains("disjunct 2: ") && text.contains("no leaf covers"), "{text}");
    for split in leaf["splits"].as_array().unwrap() {
        let relation = if split["sign"] == 1 { '≥' } else { '≤' };
        let literal = format!("{}[{}] {relation} 0", split["layer"].as_str().unwrap(), split["neuron"]);
        assert!(text.contains(&literal), "{literal} is not in: {text}");
    }
}

#[test]
fn a_flipped_sign_and_a_moved_threshold_are_named() {
    let Some(mut dump) = Dump::read("acasxu_3_1_prop3_relusplit") else { return };
    let split = dump.leaves()[0]["splits"][3].clone();
    let neuron = format!("{}[{}]", split["layer"].as_str().unwrap(), split["neuron"]);
    dump.leaves()[0]["splits"][3]["sign"] = 1.into();
    let text = dump.error();
    assert!(text.contains(&neuron), "{neuron} is not in: {text}");
    dump.leaves()[0]["splits"][3]["sign"] = split["sign"].clone();
    assert!(dump.convert().is_ok());
    dump.leaves()[0]["splits"][3]["point"] = 0.5.into();
    let text = dump.error();
    assert!(text.contains(&format!("{neuron} ≤ 0.5")), "{text}");
}

#[test]
fn damaged_boxes_are_named_by_their_coordinates() {
    let Some(mut dump) = Dump::read("acasxu_3_3_prop3_boxsplit") else { return };
    let (lower, upper) = (dump.floats("box/x_L"), dump.floats("box/x_U"));
    // Box 7 loses the upper half of its last side.
    let (low, high) = (lower[7 * 5 + 4], upper[7 * 5 + 4]);
    let middle = low + (high - low) / 2.0;
    dump.overwrite("box/x_U", 7 * 5 + 4, middle);
    let text = dump.error();
    assert!(text.contains("no leaf box covers") && text.contains(&format!("x[4] in [{middle}, {high}]")), "{text}");
    dump.overwrite("box/x_U", 7 * 5 + 4, high);
    assert!(dump.convert().is_ok());
    // Box 7 becomes a second box 8.
    for coordinate in 0..5 {
        dump.overwrite("box/x_L", 7 * 5 + coordinate, lower[8 * 5 + coordinate]);
        dump.overwrite("box/x_U", 7 * 5 + coordinate, upper[8 * 5 + coordinate]);
    }
    let text = dump.error();
    assert!(text.contains("no leaf box covers") || text.contains("boxes 7 and 8 both cover"), "{text}");
}

/// The sigmoid run closed at its root: for every row of every start node and for each neuron there is a lower and an upper line.
#[test]
fn tangent_points_of_a_sigmoid_run_become_slopes() {
    let Some(dump) = Dump::read("digits_sigmoid_1404_0.08_root") else { return };
    let bundle = dump.convert().unwrap();
    let written = document(&bundle);
    assert_eq!((&written["trees"], &written["bounds"]), (&vec![0; 9].into(), &serde_json::json!(["slopes"])));
    let certificate = SafeTensors::deserialize(&bundle.files["cert.safetensors"]).unwrap();
    let graph: Value = serde_json::from_slice(&bundle.files["graph.json"]).unwrap();
    let acts: Vec<usize> =
        (0..graph["nodes"].as_array().unwrap().len()).filter(|n| graph["nodes"][n]["kind"] == "sigmoid").collect();
    let [first, second] = acts[..] else { panic!("{acts:?}") };
    let start = graph["nodes"][second]["parents"][0].as_u64().unwrap();
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let steepness = |x: f64| sigmoid(x) * (1.0 - sigmoid(x));
    let ends: Vec<(f64, f64)> = {
        let [lower, upper] = ["l", "u"].map(|side| dump.floats(&format!("root/interm//35/{side}")));
        lower.into_iter().zip(upper).map(|(l, u)| (f64::from(l), f64::from(u))).collect()
    };
    let points = dump.floats("best_alpha//36//37/val");
    let names = ["lower", "lower.high", "upper", "upper.high"];
    let values = names.map(|side| floats(&certificate, &format!("bounds.0.{start}.{first}.{side}")));
    let (mut of_one_sign, mut touching) = (0, 0);
    for place in 0..32 * 32 {
        let (l, u) = ends[place % 32];
        let point = |kind: usize, pass: usize| f64::from(points[(2 * kind + pass) * 1024 + place]).clamp(l, u);
        for pass in 0..2 {
            let (low, high) = (f64::from(values[2 * pass][place]), f64::from(values[2 * pass + 1][place]));
            let chord = (sigmoid(u) - sigmoid(l)) / (u - l);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
            if l >= 0.0 {
                assert!(close(low, chord) && close(high, steepness(point(0, pass))));
                of_one_sign += 1;
            } else if u <= 0.0 {
                assert!(close(high, chord) && close(low, steepness(point(1, pass))));
                of_one_sign += 1;
            } else {
                // A chord, the tangent of the dump, or the last one that bounds the curve: it is no steeper than that of the dump.
                let (below, above) = (point(2, pass).min(0.0), point(3, pass).max(0.0));
                assert!(close(low, chord) || low <= steepness(below) + 1e-6, "{low} {l} {u}");
                assert!(close(high, chord) || high <= steepness(above) + 1e-6, "{high} {l} {u}");
                touching += usize::from(close(low, steepness(below))) + usize::from(close(high, steepness(above)));
            }
        }
    }
    // Counted in the dump: 15 of the 32 neurons have one sign.
    assert_eq!(of_one_sign, 2 * 32 * 15);
    assert!(touching > 0);
    // The row that was optimised belongs to one disjunct; the others have the slopes that the run starts from.
    for act in acts {
        for field in ["slope", "high"] {
            assert_eq!(certificate.tensor(&format!("leaf.{act}.{field}")).unwrap().shape(), [9, 32]);
        }
    }
}

#[test]
fn documents_of_other_runs_are_refused() {
    let Some(dump) = Dump::read("acasxu_3_3_prop3_boxsplit") else { return };
    let Some(other) = Dump::read("acasxu_1_1_prop1_boxsplit") else { return };
    let Some(conv) = Dump::read("digits_conv_1402_0.1_relusplit") else { return };
    let wrong_property = Dump { property: other.property, ..dump };
    assert!(wrong_property.error().contains("the lower end of x[0] is"), "{}", wrong_property.error());
    let wrong_network =
        Dump { onnx: conv.onnx, property: Dump::read("acasxu_3_3_prop3_boxsplit").unwrap().property, ..wrong_property };
    assert!(wrong_network.error().contains("use the ONNX file of the run"), "{}", wrong_network.error());
}

#[test]
fn broken_bytes_are_errors() {
    let names =
        SourceNames { onnx: String::new(), property: String::new(), manifest: String::new(), tensors: String::new() };
    assert!(matches!(convert(b"", b"", b"", b"", &names), Err(ConvertError::Manifest(_))));
    let Some(dump) = Dump::read("digits_conv_1402_0.1_relusplit") else { return };
    let manifest = dump.manifest.to_string();
    for cut in [0, 7, 100, dump.tensors.len() - 1] {
        let result = convert(manifest.as_bytes(), &dump.tensors[..cut], &dump.onnx, &dump.property, &names);
        assert!(matches!(result, Err(ConvertError::Tensors(_))));
    }
}
