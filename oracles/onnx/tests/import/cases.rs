//! Every shared network and every shared case of one operator: imported, or refused as `docs/onnx.md` lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use certkern_graph::Graph;
use certkern_onnx::proto::{ModelProto, TensorProto};
use certkern_onnx::{Frozen, Imported, import, import_frozen};
use certkern_wire::Limits;
use prost::Message;

use super::evaluate::{Tensor, evaluate};
use super::shared::shared;

/// The ONNX files below a folder, in order.
fn networks(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(networks(&path));
        } else if path.extension().is_some_and(|extension| extension == "onnx") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The rows of the table of refusals whose file is below this folder (or is not).
fn listed(cases: bool) -> BTreeSet<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/onnx.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.contains(".onnx` |"));
    let rows: BTreeSet<String> =
        rows.filter(|line| line.starts_with("| `onnx_node/") == cases).map(str::to_owned).collect();
    assert!(!rows.is_empty());
    rows
}

fn row(file: &Path, shared: &Path, error: &certkern_onnx::ImportError) -> String {
    let fault = error.fault();
    assert!(!fault.way_out.is_empty());
    let name = file.strip_prefix(shared).expect("inside").display();
    format!("| `{name}` | {}: {} |", fault.place, fault.detail)
}

/// The kernel's reader takes the graph: ids, attributes, shapes and payload fit its operators.
fn is_well_shaped(file: &Path, imported: &Imported) {
    let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), &Limits::default());
    graph.unwrap_or_else(|rejection| panic!("{file:?}: {rejection:?}"));
}

#[test]
fn every_shared_network_is_imported_or_refused_as_listed() {
    let Some(shared) = shared() else { return };
    let (mut refused, mut imported) = (BTreeSet::new(), 0);
    for file in networks(&shared).iter().filter(|file| !file.starts_with(shared.join("onnx_node"))) {
        match import(&fs::read(file).expect("a file")) {
            Ok(network) => {
                is_well_shaped(file, &network);
                imported += 1;
            }
            Err(error) => drop(refused.insert(row(file, &shared, &error))),
        }
    }
    assert_eq!(refused, listed(false));
    assert!(imported >= 80, "{imported}");
}

#[test]
fn the_network_of_every_instance_is_imported() {
    let Some(shared) = shared() else { return };
    let mut instances = 0;
    for entry in fs::read_dir(&shared).expect("a folder") {
        let folder = entry.expect("an entry").path();
        let Ok(table) = fs::read_to_string(folder.join("instances.csv")) else { continue };
        for line in table.lines().filter(|line| line.contains(".onnx")) {
            let network = line.split(',').next().expect("a column").trim();
            let file = folder.join(network.trim_start_matches("./"));
            import(&fs::read(&file).expect("a file")).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            instances += 1;
        }
    }
    eprintln!("the networks of {instances} instances are imported");
    assert!(instances > 100, "{instances}");
}

fn tensor(file: &Path) -> Tensor {
    let tensor = TensorProto::decode(fs::read(file).expect("a file").as_slice()).expect("a tensor");
    let shape = tensor.dims.iter().map(|extent| *extent as usize).collect();
    let bytes = tensor.raw_data.expect("raw data");
    let numbers = match tensor.data_type {
        Some(1) => bytes.chunks(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().expect("4")))).collect(),
        Some(11) => bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().expect("8"))).collect(),
        other => panic!("{file:?}: type {other:?}"),
    };
    (shape, numbers)
}

/// The case with input `free` left free and the others frozen.
fn with_free(bytes: &[u8], data: &Path, names: &[String], free: usize) -> Result<Imported, certkern_onnx::ImportError> {
    let others = names.iter().enumerate().filter(|(place, _)| *place != free);
    let read = |place: usize| fs::read(data.join(format!("input_{place}.pb"))).expect("an input");
    let files: Vec<(&str, Vec<u8>)> = others.map(|(place, name)| (name.as_str(), read(place))).collect();
    let frozen: Vec<Frozen> = files.iter().map(|(name, bytes)| Frozen { name, bytes }).collect();
    import_frozen(bytes, &frozen)
}

/// The outputs of the case agree with those that are published, to what float32 leaves.
fn agrees(file: &Path, data: &Path, imported: &Imported, free: usize) {
    let (shape, input) = tensor(&data.join(format!("input_{free}.pb")));
    assert_eq!(shape, imported.input_shape, "{file:?}");
    for (place, (shape, found)) in evaluate(imported, &input).into_iter().enumerate() {
        let (expected_shape, expected) = tensor(&data.join(format!("output_{place}.pb")));
        assert_eq!(shape, expected_shape, "{file:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-5 + 1e-4 * expected.abs(), "{file:?}: {found} {expected}");
        }
    }
}

#[test]
fn every_shared_case_of_an_operator_gives_the_published_outputs_or_is_refused_as_listed() {
    let Some(shared) = shared() else { return };
    let (mut refused, mut cases, mut further) = (BTreeSet::new(), 0, 0);
    for file in networks(&shared.join("onnx_node")) {
        cases += 1;
        let bytes = fs::read(&file).expect("a file");
        let data = file.parent().expect("a folder").join("test_data_set_0");
        let inputs = ModelProto::decode(bytes.as_slice()).expect("a model").graph.expect("a graph").input;
        let names: Vec<String> = inputs.iter().map(|info| info.name.clone().unwrap_or_default()).collect();
        // The first input is the free one; with another the case is imported or not, but never gives other outputs.
        for free in 0..names.len() {
            match with_free(&bytes, &data, &names, free) {
                Ok(imported) => {
                    is_well_shaped(&file, &imported);
                    agrees(&file, &data, &imported, free);
                    further += usize::from(free > 0);
                }
                Err(error) if free == 0 => drop(refused.insert(row(&file, &shared, &error))),
                Err(_) => {}
            }
        }
    }
    assert_eq!((cases, refused), (183, listed(true)));
    assert!(further >= 20, "{further}");
}
