//! Which nodes of a model matter, and in which order they can be done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::error::{ImportError, fault};
use crate::model::{initializer_place, node_place};
use crate::proto::GraphProto;

/// The nodes with an output that is a graph output or that a live node reads, and the values that are read.
pub(crate) struct Live<'a> {
    nodes: Vec<bool>,
    read: BTreeSet<&'a str>,
}

impl<'a> Live<'a> {
    /// # Errors
    /// [`ImportError::Interface`] if a name is defined twice.
    pub(crate) fn new(graph: &'a GraphProto) -> Result<Self, ImportError> {
        let makers = makers(graph)?;
        let mut live = Self { nodes: vec![false; graph.node.len()], read: BTreeSet::new() };
        let mut open: Vec<&str> = graph.output.iter().map(|info| info.name.as_deref().unwrap_or_default()).collect();
        while let Some(name) = open.pop() {
            if !live.read.insert(name) {
                continue;
            }
            let maker = makers.get(name).copied().flatten();
            let Some((index, node)) = maker.and_then(|index| Some((index, graph.node.get(index)?))) else {
                continue;
            };
            if let Some(mark) = live.nodes.get_mut(index)
                && !*mark
            {
                *mark = true;
                open.extend(node.input.iter().map(String::as_str).filter(|name| !name.is_empty()));
            }
        }
        Ok(live)
    }

    /// Whether a live node reads the value, or it is a graph output.
    pub(crate) fn reads(&self, name: &str) -> bool {
        !name.is_empty() && self.read.contains(name)
    }

    /// The live nodes in order: again and again the first of the file whose inputs are known.
    ///
    /// # Errors
    /// [`ImportError::Interface`] if a node reads what nothing makes, or what is made of itself.
    pub(crate) fn order(&self, graph: &GraphProto, known: impl Fn(&str) -> bool) -> Result<Vec<usize>, ImportError> {
        let mut readers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut missing = vec![0_usize; graph.node.len()];
        let mut ready = BinaryHeap::new();
        let nodes = || graph.node.iter().enumerate().filter(|(index, _)| self.nodes.get(*index) == Some(&true));
        for ((index, node), missing) in graph.node.iter().enumerate().zip(&mut missing) {
            let unknown: BTreeSet<&str> =
                node.input.iter().map(String::as_str).filter(|name| !name.is_empty() && !known(name)).collect();
            *missing = unknown.len();
            if self.nodes.get(index) == Some(&true) {
                if unknown.is_empty() {
                    ready.push(Reverse(index));
                }
                unknown.into_iter().for_each(|name| readers.entry(name).or_default().push(index));
            }
        }
        let mut order = Vec::new();
        let mut made = BTreeSet::new();
        while let Some(Reverse(index)) = ready.pop() {
            order.push(index);
            for name in graph.node.get(index).map(|node| node.output.as_slice()).unwrap_or_default() {
                made.insert(name.as_str());
                for reader in readers.remove(name.as_str()).unwrap_or_default() {
                    if let Some(missing) = missing.get_mut(reader) {
                        *missing -= 1;
                        if *missing == 0 {
                            ready.push(Reverse(reader));
                        }
                    }
                }
            }
        }
        let unmade = |name: &&String| !name.is_empty() && !known(name) && !made.contains(name.as_str());
        let stuck = nodes().find_map(|(index, node)| Some((index, node, node.input.iter().find(unmade)?)));
        match stuck {
            None => Ok(order),
            Some((index, node, name)) => {
                let detail = format!("nothing before it makes the value `{name}`, which it reads");
                let place = node_place(index, node);
                Err(ImportError::Interface(fault(&place, detail, "write the file anew with onnx")))
            }
        }
    }
}

/// For each name what defines it: a node, or an initializer or graph input (`None`).
fn makers(graph: &GraphProto) -> Result<BTreeMap<&str, Option<usize>>, ImportError> {
    let mut makers = BTreeMap::new();
    let taken = |place: String, name: &str| {
        let detail = format!("the name `{name}` is empty or taken");
        Err(ImportError::Interface(fault(&place, detail, "write the file anew with onnx")))
    };
    for tensor in &graph.initializer {
        let name = tensor.name.as_deref().unwrap_or_default();
        if name.is_empty() || makers.insert(name, None).is_some() {
            return taken(initializer_place(name), name);
        }
    }
    let mut inputs = BTreeSet::new();
    for info in &graph.input {
        let name = info.name.as_deref().unwrap_or_default();
        if name.is_empty() || !inputs.insert(name) {
            return taken(format!("graph input `{name}`"), name);
        }
        makers.insert(name, None);
    }
    for (index, node) in graph.node.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            if makers.insert(name, Some(index)).is_some() {
                return taken(node_place(index, node), name);
            }
        }
    }
    Ok(makers)
}
