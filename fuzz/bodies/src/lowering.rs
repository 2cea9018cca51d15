//! Target `lowering`: the program of a graph against its meaning, node by node.

use crate::grow::World;
use crate::limits;
use crate::meaning::{self, Array, Number};
use crate::net::Net;
use crate::source::{Choices, extended};
use crate::tally::count;
use certkern_core::interval::Interval;
use certkern_core::num::Rational;
use certkern_core::program::{Primitive, Program};
use certkern_graph::{Graph, Lowered};

const TARGET: &str = "lowering";

/// A graph grown by chance, at a point.
pub(crate) fn body(data: &[u8]) {
    let bytes = extended(data);
    let mut u = Choices::new(&bytes);
    let shape = u.pick(&[vec![4], vec![2, 3], vec![1, 2, 2], vec![6], vec![1, 1, 2, 4], vec![12], vec![]]);
    let x: Vec<Rational> = (0..shape.iter().product()).map(|_| u.ratio()).collect();
    let values = x.iter().map(f64::ratio).collect();
    let mut world = World::new(Array { shape, values });
    for _ in 0..1 + u.below(6) {
        world.operator(&mut u);
    }
    let nodes = 0..world.values.len();
    world.net.outputs = nodes.filter(|id| world.net.nodes[*id].kind != "multihead_attention").collect();
    let inside = u.below(2) == 0;
    let payload = world.net.payload();
    let read = match inside {
        true => Graph::read(&world.net.document(true), None, &limits()),
        false => Graph::read(&world.net.document(false), Some(&payload), &limits()),
    };
    let graph = match read {
        Ok(graph) => graph,
        Err(rejection) => {
            count(TARGET, &format!("refused {}", rejection.first().reason.code()));
            return;
        }
    };
    // The declared shapes are those of the meaning, and the kernel has agreed; the numbers must have come back.
    let back = Net::of(&graph);
    assert!(back.nodes.iter().zip(&world.net.nodes).all(|(a, b)| a.shape == b.shape && a.kind == b.kind));
    match graph.lower() {
        Ok(lowered) => compare(TARGET, &back, &lowered, &x),
        Err(rejection) => count(TARGET, &format!("no program {}", rejection.first().reason.code())),
    }
}

/// Compares every node's value at `x` with its meaning: exactly where all are rational, else in binary64.
pub(crate) fn compare(target: &'static str, net: &Net, lowered: &Lowered, x: &[Rational]) {
    let exact = meaning::values::<Rational>(net, x);
    let near = if exact.is_none() { rounded(net, x) } else { None };
    if exact.is_none() && near.is_none() {
        count(target, "without a reference");
        return;
    }
    let Some(program) = evaluate(&lowered.program, x) else {
        count(target, "beyond the kernel's budget");
        return;
    };
    // Ends of a node are rounded to digits of its largest: values far apart make the small ones wide.
    let size =
        |z: &Interval| [&z.lower, &z.upper].map(|end| end.magnitude().unwrap_or(0)).into_iter().max().unwrap_or(0);
    let mut weights = net.nodes.iter().flat_map(|node| &node.payload).flat_map(|(_, numbers)| &numbers.values);
    let narrow = program.iter().flatten().all(|z| size(z) < 40) && weights.all(|weight| weight.abs() < 1e6);
    for (id, node) in net.nodes.iter().enumerate() {
        let found = &program[lowered.values[id]];
        match (&exact, &near) {
            (Some(values), _) => {
                assert_eq!(found.len(), values[id].values.len());
                for (found, value) in found.iter().zip(&values[id].values) {
                    let within = found.lower.to_rational() <= *value && *value <= found.upper.to_rational();
                    assert!(within, "node {id} {}: {value} is not in {found:?}", node.kind);
                    let width = f64::ratio(&(&found.upper - &found.lower).to_rational());
                    assert!(width < 1e-3 || !narrow, "node {id} {}: {found:?} is too wide", node.kind);
                }
            }
            (None, Some((values, tolerance))) => {
                assert_eq!(found.len(), values[id].values.len());
                for (found, value) in found.iter().zip(&values[id].values) {
                    let [low, high] = [&found.lower, &found.upper].map(|end| f64::ratio(&end.to_rational()));
                    let within =
                        low <= value + tolerance && high >= value - tolerance && (high - low < 1e-3 || !narrow);
                    assert!(within, "node {id} {}: {value} ± {tolerance} is not in [{low}, {high}]", node.kind);
                }
            }
            (None, None) => {}
        }
    }
    if let (Some(values), Ok(outputs)) = (&exact, lowered.program.evaluate(x)) {
        assert_eq!(outputs, meaning::outputs(net, values));
        count(target, "outputs exact");
    }
    count(target, if exact.is_some() { "compared exactly" } else { "compared in binary64" });
    net.nodes.iter().for_each(|node| count(target, node.kind));
}

/// Values in binary64 and what their rounding can come to; `None` where that is too much.
pub(crate) fn rounded(net: &Net, x: &[Rational]) -> Option<(Vec<Array<f64>>, f64)> {
    let values = meaning::values::<f64>(net, &x.iter().map(f64::ratio).collect::<Vec<_>>())?;
    let largest = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.fold(1.0, |most: f64, x| if x.abs() > most { x.abs() } else { most })
    };
    let value = largest(&mut values.iter().flat_map(|value| value.values.iter().copied()));
    let payload = net.nodes.iter().flat_map(|node| &node.payload);
    let weight = largest(&mut payload.flat_map(|(_, numbers)| numbers.values.iter().copied()));
    let finite = values.iter().all(|value| value.values.iter().all(|x| x.is_finite()));
    let tolerance = 1e-9 * value * weight;
    (finite && tolerance < 1e-2).then_some((values, tolerance))
}

/// The values of all nodes of a program where its input is a point, in intervals.
fn evaluate(program: &Program, x: &[Rational]) -> Option<Vec<Vec<Interval>>> {
    let mut values: Vec<Vec<Interval>> = Vec::new();
    for node in program.nodes() {
        let value = match &node.primitive {
            Primitive::Input => x.iter().map(|x| Interval::around(x, x)).collect(),
            Primitive::Affine(affine) => {
                let parents: Vec<&[Interval]> = affine.terms().iter().map(|t| values[t.parent].as_slice()).collect();
                affine.interval(node.width, &parents)?
            }
            Primitive::Univariate { function, argument } => {
                values[*argument].iter().map(|z| function.image(z)).collect::<Option<_>>()?
            }
            Primitive::Product { left, right } => {
                let factors = values[*left].iter().zip(&values[*right]);
                factors.map(|(a, b)| a.product(b)).collect::<Option<_>>()?
            }
            Primitive::Max { argument, groups } => {
                let members =
                    |group: &[usize]| -> Vec<&Interval> { group.iter().map(|m| &values[*argument][*m]).collect() };
                let hull = |group: &[usize]| {
                    let lower = members(group).into_iter().map(|z| z.lower.clone()).max()?;
                    let upper = members(group).into_iter().map(|z| z.upper.clone()).max()?;
                    Some(Interval { lower, upper })
                };
                groups.iter().map(hull).collect::<Option<_>>()?
            }
        };
        values.push(value);
    }
    Some(values)
}
