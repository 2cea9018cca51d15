//! The published cases of single ONNX operators: all inputs but one frozen, the kernel's value of every output beside the published one.
//!
//! The published outputs were computed in floats, so each must lie within what `Bounds` grants a run in their format, and need not lie nearer.
//! Cases that mean nothing over the reals are told from the files alone; they, and those that are refused, are listed in `docs/onnx.md`.

use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::Program;
use certkern_cudakern::{Backend, Bounds, Cpu, Difference, Format, Layout, Number, to_binary64};
use certkern_graph::Graph;
use certkern_onnx::proto::{ModelProto, TensorProto};
use certkern_onnx::{Frozen, ImportError, Imported, import_frozen};
use certkern_wire::Limits;
use prost::Message;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Bits of the kernel's balls.
const BITS: u64 = 128;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of the cases; `None`, said aloud, if they are not at hand and the environment does not insist on it.
fn cases() -> Option<Vec<PathBuf>> {
    let folder = root().join("../shared/data/onnx_node");
    if !folder.is_dir() {
        let required = std::env::var_os("CERTKERN_REQUIRE_SHARED").is_some_and(|value| value == "1");
        assert!(!required, "../shared is absent");
        eprintln!("SKIPPED: ../shared is absent");
        return None;
    }
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    Some(cases)
}

/// The file names and reasons of the rows below a heading of `docs/onnx.md`.
fn listed(heading: &str) -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/onnx.md")).expect("the page");
    let lines = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with('#'));
    let rows: BTreeSet<String> = lines.filter(|line| line.starts_with("| `")).map(str::to_owned).collect();
    assert!(!rows.is_empty(), "{heading}");
    rows
}

fn row(case: &Case, error: &ImportError) -> String {
    let fault = error.fault();
    format!("| `onnx_node/{}/model.onnx` | {}: {} |", case.name, fault.place, fault.detail)
}

/// One case.
struct Case {
    name: String,
    bytes: Vec<u8>,
    model: ModelProto,
    data: PathBuf,
    inputs: Vec<String>,
}

impl Case {
    fn read(folder: &Path) -> Self {
        let bytes = fs::read(folder.join("model.onnx")).expect("a model");
        let model = ModelProto::decode(bytes.as_slice()).expect("a model");
        let graph = model.graph.as_ref().expect("a graph");
        let inputs = graph.input.iter().map(|info| info.name.clone().unwrap_or_default()).collect();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        Self { name, bytes, model, data: folder.join("test_data_set_0"), inputs }
    }

    fn tensor(&self, name: &str) -> Option<TensorProto> {
        let bytes = fs::read(self.data.join(format!("{name}.pb"))).ok()?;
        Some(TensorProto::decode(bytes.as_slice()).expect("a tensor"))
    }

    fn outputs(&self) -> Vec<TensorProto> {
        (0..).map_while(|place| self.tensor(&format!("output_{place}"))).collect()
    }

    /// Whether the case is about integers or Booleans, or about training: then no function of real numbers is meant.
    fn has_no_real_meaning(&self) -> bool {
        let graph = self.model.graph.as_ref().expect("a graph");
        let attributes = graph.node.iter().flat_map(|node| &node.attribute);
        let mut modes = attributes.filter(|attribute| attribute.name.as_deref() == Some("training_mode"));
        let whole = |tensor: &TensorProto| !matches!(tensor.data_type, Some(1 | 10 | 11));
        modes.any(|mode| mode.i.unwrap_or(0) != 0)
            || self.outputs().iter().any(whole)
            || self.tensor("input_0").is_some_and(|tensor| whole(&tensor))
    }

    /// The case with input `free` left free and the others frozen.
    fn with_free(&self, free: usize) -> Result<Imported, ImportError> {
        let others = self.inputs.iter().enumerate().filter(|(place, _)| *place != free);
        let read = |place: usize| fs::read(self.data.join(format!("input_{place}.pb"))).expect("an input");
        let files: Vec<(&str, Vec<u8>)> = others.map(|(place, name)| (name.as_str(), read(place))).collect();
        let frozen: Vec<Frozen> = files.iter().map(|(name, bytes)| Frozen { name, bytes }).collect();
        import_frozen(&self.bytes, &frozen)
    }

    /// Every output number of the case, and every one of a run on the CPU, beside the kernel's.
    fn differences(&self, imported: &Imported, free: usize) -> Vec<Difference> {
        let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), &Limits::default());
        let graph = graph.unwrap_or_else(|rejection| panic!("{}: {rejection:?}", self.name));
        let lowered = graph.lower().unwrap_or_else(|rejection| panic!("{}: {rejection:?}", self.name));
        let (format, point) = numbers(&self.tensor(&format!("input_{free}")).expect("an input"));
        let bounds = Bounds::new(&graph, &lowered, &point, format, BITS);
        let bounds = bounds.unwrap_or_else(|failure| panic!("{}: {failure}", self.name));
        let mut own = match format {
            Format::Float32 => run::<f32>(&lowered.program, &point),
            Format::Float64 => run::<f64>(&lowered.program, &point),
        }
        .into_iter();
        let outputs = self.outputs();
        assert_eq!(outputs.len(), graph.output_ids().len(), "{}", self.name);
        let mut found = Vec::new();
        for (tensor, id) in outputs.iter().zip(graph.output_ids()) {
            let shape: Vec<usize> = tensor.dims.iter().map(|extent| *extent as usize).collect();
            assert_eq!(shape, graph.nodes()[*id].shape(), "{}", self.name);
            let (_, expected) = numbers(tensor);
            let (balls, errors) = bounds.of(lowered.values[*id]);
            assert_eq!(expected.len(), balls.len(), "{}", self.name);
            found.extend(Difference::all(own.by_ref().take(balls.len()).map(Some).collect(), (balls, errors)));
            found.extend(Difference::all(expected.into_iter().map(Some).collect(), (balls, errors)));
        }
        found
    }
}

/// The outputs of a run on the CPU.
fn run<T: Number>(program: &Program, point: &[Rational]) -> Vec<Rational> {
    let layout = Layout::<T>::new(program).expect("a layout");
    let point: Vec<T> = point.iter().map(|x| T::nearest(x).expect("in range")).collect();
    let exact = |value: T| Dyadic::from_f64_bits(value.wide().to_bits()).expect("a finite number").to_rational();
    Cpu.run(&layout, &point).expect("a run").into_iter().map(exact).collect()
}

/// The numbers of a tensor of floats.
fn numbers(tensor: &TensorProto) -> (Format, Vec<Rational>) {
    let bytes = tensor.raw_data.as_ref().expect("raw data");
    let exact = |dyadic: Option<Dyadic>| dyadic.expect("a finite number").to_rational();
    match tensor.data_type {
        Some(1) => {
            let bits = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("4")));
            (Format::Float32, bits.map(|bits| exact(Dyadic::from_f32_bits(bits))).collect())
        }
        Some(11) => {
            let bits = bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().expect("8")));
            (Format::Float64, bits.map(|bits| exact(Dyadic::from_f64_bits(bits))).collect())
        }
        other => panic!("type {other:?}"),
    }
}

/// The largest part of the largest output of a case that a bound may be; what is granted is a matter of rounding.
const MOST: f64 = 1e-4;

#[test]
fn every_published_output_lies_within_the_rounding_of_its_format() {
    let Some(cases) = cases() else { return };
    let (mut agreeing, mut numbers, mut exact, mut further) = (0, 0, 0, 0);
    let (mut meaningless, mut refused, mut faults) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    // The case whose numbers use up the largest part of what they are granted, and the case that is granted the largest part of its outputs.
    let (mut nearest, mut widest) = ((0.0, String::new()), (0.0, String::new()));
    for folder in &cases {
        let case = Case::read(folder);
        let no_meaning = case.has_no_real_meaning();
        for free in 0..case.inputs.len() {
            let imported = match case.with_free(free) {
                Ok(imported) => imported,
                Err(error) if free == 0 => {
                    if no_meaning { &mut meaningless } else { &mut refused }.insert(row(&case, &error));
                    continue;
                }
                Err(_) => continue,
            };
            if no_meaning {
                // With a float input left free the others are data of a kind that real numbers have.
                continue;
            }
            let differences = case.differences(&imported, free);
            for difference in differences.iter().filter(|difference| !difference.is_within()) {
                let (distance, bound) = (difference.about(), difference.bound);
                faults.push(format!("{} input {free}: off by {distance:e}, granted {bound:e}", case.name));
            }
            let size = differences.iter().map(|d| to_binary64(&d.ball.upper).abs()).fold(0.0, f64::max);
            for difference in &differences {
                let granted = difference.bound / size.max(f64::MIN_POSITIVE);
                if granted > widest.0 {
                    widest = (granted, case.name.clone());
                }
                let used = difference.about() / difference.bound.max(f64::MIN_POSITIVE);
                if difference.bound > 0.0 && used > nearest.0 {
                    nearest = (used, case.name.clone());
                }
            }
            // Of each number there are two, the published one and that of the CPU.
            numbers += differences.len() / 2;
            exact += differences.iter().filter(|difference| difference.bound == 0.0).count() / 2;
            agreeing += usize::from(free == 0);
            further += usize::from(free > 0);
        }
    }
    println!(
        "{} cases: {agreeing} agree, {} without a real meaning, {} refused; with another input free {further} more agree",
        cases.len(),
        meaningless.len(),
        refused.len()
    );
    println!("{numbers} numbers, {exact} of them exactly; nearest to its bound {nearest:?}; widest bound {widest:?}");
    assert!(faults.is_empty(), "{} numbers:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(meaningless, listed("### Cases without a real meaning"));
    assert_eq!(refused, listed("### Refused cases"));
    assert_eq!(cases.len(), 183);
    assert_eq!(agreeing + meaningless.len() + refused.len(), cases.len());
    assert!(refused.len() <= 10 && further >= 20, "{further}");
    assert!(widest.0 <= MOST, "{widest:?}");
}
