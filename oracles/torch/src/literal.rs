//! Constants of one binary64 number that can stand in the source as such.

use crate::site::decimal;
use certkern_core::tensor::Values;
use certkern_graph::{Graph, Node};

/// Operators that take a Python number as their second operand.
const SECOND: &[&str] = &["add", "sub", "mul_elem", "div", "max_elem", "min_elem"];
/// Those that take one as their first.
const FIRST: &[&str] = &["add", "sub", "mul_elem"];

/// For each node the number that it stands for: of a constant of shape [] in binary64, and of a `broadcast_to` of it, where everything that uses
/// it takes a Python number there.
pub(crate) fn literals(graph: &Graph) -> Vec<Option<String>> {
    let nodes = graph.nodes();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (id, node) in nodes.iter().enumerate() {
        node.parents().iter().for_each(|parent| users[*parent].push(id));
    }
    let numbers: Vec<Option<String>> = nodes.iter().map(number).collect();
    let mut found = vec![None; nodes.len()];
    for (id, text) in numbers.iter().enumerate().filter_map(|(id, text)| Some((id, text.as_ref()?))) {
        let broadcast: Vec<usize> =
            users[id].iter().copied().filter(|user| nodes[*user].kind() == "broadcast_to").collect();
        let places: Vec<usize> = broadcast.iter().copied().chain([id]).collect();
        let takes = |place: &usize| {
            let direct = users[*place].iter().filter(|user| !broadcast.contains(user));
            direct.clone().all(|user| takes_number(graph, &nodes[*user], *place, &numbers))
        };
        let returned = places.iter().any(|place| graph.output_ids().contains(place));
        if !returned && !users[id].is_empty() && places.iter().all(takes) {
            places.into_iter().for_each(|place| found[place] = Some(text.clone()));
        }
    }
    found
}

/// The number of a constant that is one of binary64.
fn number(node: &Node) -> Option<String> {
    let (_, tensor) = node.payload().next()?;
    let single = node.kind() == "const" && node.shape().is_empty() && matches!(tensor.values(), Values::Binary64(_));
    single.then(|| decimal(tensor))?
}

/// Whether an operator takes a Python number for one of its parents, the other one being no number.
fn takes_number(graph: &Graph, user: &Node, place: usize, numbers: &[Option<String>]) -> bool {
    let is_number = |id: usize| {
        let node = &graph.nodes()[id];
        let source = if node.kind() == "broadcast_to" { node.parents()[0] } else { id };
        numbers[source].is_some()
    };
    match user.parents() {
        [first, second] if *second == place => SECOND.contains(&user.kind()) && !is_number(*first),
        [first, second] if *first == place => FIRST.contains(&user.kind()) && !is_number(*second),
        _ => false,
    }
}
