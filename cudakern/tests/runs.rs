//! Runs on the CPU, and runs of others, beside the kernel's values and the bounds.

use certkern_core::num::{Dyadic, Rational};
use certkern_cudakern::{Backend, Bounds, Cpu, Difference, Failure, Format, Layout, Number};
use certkern_graph::{Graph, Lowered};
use certkern_wire::Limits;
use certkern_wire::json::{self, Json};
use std::fs;
use std::path::Path;

/// Bits of the kernel's balls.
const BITS: u64 = 128;

fn exact(value: f64) -> Rational {
    Dyadic::from_f64_bits(value.to_bits()).expect("a finite number").to_rational()
}

fn lowered(graph: &Json) -> (Graph, Lowered) {
    let graph = Graph::of_json(graph, None, &Limits::default()).expect("a graph");
    let lowered = graph.lower().expect("a meaning");
    (graph, lowered)
}

fn read(text: &str) -> (Graph, Lowered) {
    lowered(&json::parse(text.as_bytes(), &Limits::default()).expect("JSON"))
}

/// The outputs of a run on the CPU.
fn run<T: Number>(lowered: &Lowered, point: &[Rational]) -> Vec<T> {
    let layout = Layout::<T>::new(&lowered.program).expect("a layout");
    let point: Vec<T> = point.iter().map(|x| T::nearest(x).expect("in range")).collect();
    Cpu.run(&layout, &point).expect("a run")
}

/// Outputs in a format beside the kernel's, node after node.
fn differences(graph: &Graph, lowered: &Lowered, point: &[Rational], format: Format, found: &[f64]) -> Vec<Difference> {
    let bounds = Bounds::new(graph, lowered, point, format, BITS).expect("bounds");
    let mut found = found.iter().map(|value| value.is_finite().then(|| exact(*value)));
    let of = |id: &usize| Difference::all(found.by_ref().take(lowered.program.width(*id)).collect(), bounds.of(*id));
    lowered.program.outputs().iter().flat_map(of).collect()
}

fn wide<T: Number>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.wide()).collect()
}

/// The cases of `kernel/graph/tests`, whose outputs PyTorch computed in binary64.
#[test]
fn every_operator_lies_within_its_bound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel/graph/tests/operators.json");
    let text = fs::read(path).expect("the cases");
    let cases = json::parse(&text, &Limits::default()).expect("JSON");
    let (mut faults, mut numbers, mut used) = (Vec::new(), 0, 0.0_f64);
    for case in cases.array("").expect("a list") {
        let mut fields = case.object("").expect("an object");
        let mut field = |name: &str| fields.required(name).expect("a field");
        let list = |json: &Json| -> Vec<Rational> {
            let items = json.array("").expect("a list").iter();
            items.map(|item| item.rational("", &Limits::default()).expect("a number")).collect()
        };
        let name = field("name").string("").expect("a name").to_owned();
        let (graph, lowered) = lowered(field("graph"));
        let point = list(field("input"));
        let published: Vec<f64> = list(field("expected")).iter().map(|y| f64::nearest(y).expect("in range")).collect();
        for (who, format, found) in [
            ("the CPU", Format::Float32, wide(&run::<f32>(&lowered, &point))),
            ("the CPU", Format::Float64, wide(&run::<f64>(&lowered, &point))),
            ("PyTorch", Format::Float64, published),
        ] {
            for difference in differences(&graph, &lowered, &point, format, &found) {
                let (distance, bound) = (difference.about(), difference.bound);
                if !difference.is_within() {
                    faults.push(format!("{name}, {who}, {format}: off by {distance:e}, granted {bound:e}"));
                } else if bound > 0.0 {
                    used = used.max(distance / bound);
                }
                numbers += 1;
            }
        }
    }
    assert!(faults.is_empty(), "{} of {numbers}:\n{}", faults.len(), faults.join("\n"));
    println!("{numbers} numbers; the nearest to its bound uses {used} of it");
    assert!(numbers > 3000, "{numbers}");
}

const SUM: &str = r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
    {"id": 0, "kind": "input", "parents": [], "shape": [3]}, {"id": 1, "kind": "sum", "parents": [0], "shape": []}]}"#;

/// `γ_2·(1 + 2·2⁻²⁴)`: two additions of numbers that are floats. In one order the run is exact, in the other it is off by 2⁻²³.
#[test]
fn a_bound_holds_for_every_order_of_a_sum() {
    let (graph, lowered) = read(SUM);
    let unit = 2_f64.powi(-24);
    for (point, found) in [([1.0, unit, unit], 1.0), ([unit, unit, 1.0], 1.0 + 2.0 * unit)] {
        let point: Vec<Rational> = point.into_iter().map(exact).collect();
        assert_eq!(run::<f32>(&lowered, &point), [f32::rounded(found)]);
        let found = &differences(&graph, &lowered, &point, Format::Float32, &[found])[0];
        assert!((found.bound / (2.0 * unit) - 1.0).abs() < 1e-6 && found.is_within(), "{}", found.bound);
        assert_eq!(found.about(), if point[0] == exact(1.0) { 2.0 * unit } else { 0.0 });
    }
}

/// A coordinate that is no float is rounded once, a product once more: `(u|x|)·2|x| + u·x²` and what is of second order.
#[test]
fn roundings_of_the_point_are_counted() {
    let (graph, lowered) = read(
        r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [0, 1], "nodes": [
        {"id": 0, "kind": "input", "parents": [], "shape": [1]}, {"id": 1, "kind": "mul_elem", "parents": [0, 0], "shape": [1]}]}"#,
    );
    let point = [Rational::new(1.into(), 3.into())];
    for (format, unit) in [(Format::Float32, 2_f64.powi(-24)), (Format::Float64, 2_f64.powi(-53))] {
        let bounds = Bounds::new(&graph, &lowered, &point, format, BITS).unwrap();
        for (node, expected) in [(0, unit / 3.0), (1, 3.0 * unit / 9.0)] {
            let bound = bounds.of(lowered.values[node]).1[0];
            assert!((bound / expected - 1.0).abs() < 1e-6, "{format}: {bound} {expected}");
        }
    }
}

#[test]
fn what_is_only_moved_has_no_error() {
    let (graph, lowered) = read(
        r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [3], "nodes": [
        {"id": 0, "kind": "input", "parents": [], "shape": [2, 2]},
        {"id": 1, "kind": "permute", "parents": [0], "shape": [2, 2], "perm": [1, 0]},
        {"id": 2, "kind": "abs", "parents": [1], "shape": [2, 2]},
        {"id": 3, "kind": "concat", "parents": [0, 2], "shape": [4, 2], "axis": 0}]}"#,
    );
    let point: Vec<Rational> = [0.5, -1.25, 3.0, -7.0].map(exact).to_vec();
    let found = run::<f32>(&lowered, &point);
    assert_eq!(found, [0.5, -1.25, 3.0, -7.0, 0.5, 3.0, 1.25, 7.0]);
    let differences = differences(&graph, &lowered, &point, Format::Float32, &wide(&found));
    assert!(differences.iter().all(|difference| difference.bound == 0.0 && difference.is_within()));
}

#[test]
fn beyond_the_format_there_is_no_bound() {
    let (graph, lowered) = read(SUM);
    let point: Vec<Rational> = [3e38_f64, 3e38, -3e38].map(exact).to_vec();
    assert!(run::<f32>(&lowered, &point)[0].is_infinite());
    // The number is one of the format; some orders of the sum are not.
    let differences = differences(&graph, &lowered, &point, Format::Float32, &[3e38]);
    assert!(differences[0].bound.is_infinite() && !differences[0].is_within());
}

/// `exp(100)` is no number of binary32, and softmax needs none: 1 and two numbers that vanish.
#[test]
fn softmax_has_a_bound_where_its_powers_overflow() {
    let (graph, lowered) = read(
        r#"{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
        {"id": 0, "kind": "input", "parents": [], "shape": [3]}, {"id": 1, "kind": "softmax", "parents": [0], "shape": [3], "axis": 0}]}"#,
    );
    let point: Vec<Rational> = [0.0, 100.0, -50.0].map(exact).to_vec();
    let own = wide(&run::<f32>(&lowered, &point));
    for found in [own, vec![f64::from((-100_f32).exp()), 1.0, 0.0]] {
        let found = differences(&graph, &lowered, &point, Format::Float32, &found);
        assert!(found.iter().all(Difference::is_within), "{found:?}");
        assert!(found[0].bound < 1e-36 && found[1].bound < 1e-5, "{found:?}");
    }
}

#[test]
fn points_are_run_one_after_the_other() {
    let (_, lowered) = read(SUM);
    let layout = Layout::<f64>::new(&lowered.program).unwrap();
    assert_eq!(Cpu.run(&layout, &[1.0, 2.0, 3.0, -1.0, 0.5, 0.25]).unwrap(), [6.0, -0.25]);
    assert_eq!(Cpu.run(&layout, &[1.0, 2.0]), Err(Failure::Width));
}
