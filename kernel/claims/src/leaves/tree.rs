//! Split trees as arrays in preorder.

use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::tensor::Tensor;
use certkern_seal::Documents;
use certkern_wire::limits::{Limits, within};
use certkern_wire::reason::{Fault, Place, Reason, Rejection};
use certkern_wire::tensors::{RawTensor, TensorFile};

/// A node of a split tree.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A leaf.
    Leaf,
    /// A split: the first child assumes `≥`, the second `≤`.
    Split {
        /// The program node.
        node: NodeId,
        /// The coordinate in it.
        coordinate: usize,
        /// Place in the thresholds.
        threshold: usize,
    },
}

/// A tree in preorder: exactly one tree, no node left over, not deeper than the limit.
#[derive(Debug)]
pub(super) struct Tree {
    steps: Vec<Step>,
    /// For each node: 0, or one more than the bound set that is applied there.
    bounds: Vec<usize>,
}

impl Tree {
    /// The nodes with the bound sets that are applied at them.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Step, usize)> {
        self.steps.iter().zip(self.bounds.iter().copied())
    }

    /// The number of leaves.
    pub(super) fn leaves(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Leaf)).count()
    }
}

/// The trees of a certificate and their thresholds. `exact` are the thresholds that stand in the certificate's JSON; without tensors there is one tree of one leaf.
pub(super) fn read(
    file: &mut TensorFile<'_>,
    exact: Vec<Rational>,
    sets: usize,
    documents: &Documents,
    limits: &Limits,
) -> Result<(Vec<Tree>, Vec<Rational>), Rejection> {
    let Some(offsets) = file.take("tree.offset") else {
        return Ok((vec![Tree { steps: vec![Step::Leaf], bounds: vec![usize::from(sets > 0)] }], exact));
    };
    let offsets = indices(&offsets)?;
    let kinds = needed(file, "tree.kind")?;
    one_axis(&kinds)?;
    let kinds = kinds.u8s()?;
    within("tree-nodes", kinds.len(), limits.tree_nodes)?;
    let nodes = column(file, "tree.node", kinds.len())?;
    let coordinates = column(file, "tree.coordinate", kinds.len())?;
    let places = column(file, "tree.threshold", kinds.len())?;
    let mut thresholds = match file.take("threshold.value") {
        Some(tensor) => {
            one_axis(&tensor)?;
            rationals(&tensor.floats()?)
        }
        None => Vec::new(),
    };
    thresholds.extend(exact);
    let bounds = match file.take("tree.bounds") {
        Some(tensor) => Some(sized(&tensor, kinds.len())?),
        None => None,
    };
    let mut steps = Vec::with_capacity(kinds.len());
    for (place, (((kind, node), coordinate), threshold)) in
        kinds.iter().zip(&nodes).zip(&coordinates).zip(&places).enumerate()
    {
        let fault = |reason| Fault { reason, place: Place::path(format!("tree.kind[{place}]")) };
        let step = match kind {
            0 if (*node, *coordinate, *threshold) == (0, 0, 0) => Step::Leaf,
            0 => return Err(fault(Reason::TreeMalformed("a leaf with a literal".to_owned())).into()),
            1 => split(documents, thresholds.len(), *node, *coordinate, *threshold).map_err(fault)?,
            _ => return Err(fault(Reason::TreeMalformed(format!("kind {kind} is neither 0 nor 1"))).into()),
        };
        steps.push(step);
    }
    let widest = documents.problem().program().nodes().iter().map(|node| node.width).max().unwrap_or(0);
    let bounds = bounds.unwrap_or_else(|| default_bounds(&offsets, kinds.len(), sets));
    if bounds.iter().any(|set| *set > sets) {
        return Err(Reason::TreeMalformed("tree.bounds names a bound set that does not exist".to_owned()).into());
    }
    Ok((cut(&offsets, &steps, &bounds, widest, limits)?, thresholds))
}

/// The first bound set at roots, inherited bounds elsewhere.
fn default_bounds(offsets: &[usize], count: usize, sets: usize) -> Vec<usize> {
    let mut bounds = vec![0; count];
    for root in offsets {
        if let Some(set) = bounds.get_mut(*root) {
            *set = usize::from(sets > 0);
        }
    }
    bounds
}

/// A literal that exists: a threshold, a node and a coordinate in it. Every value of a graph is defined everywhere, so any may be split.
fn split(
    documents: &Documents,
    thresholds: usize,
    node: usize,
    coordinate: usize,
    threshold: usize,
) -> Result<Step, Reason> {
    let malformed = |text: String| Reason::TreeLiteral(text);
    if threshold >= thresholds {
        return Err(malformed(format!("threshold {threshold} is not among the {thresholds} thresholds")));
    }
    let value = documents.value(node).ok_or_else(|| malformed(format!("node {node} is not in the graph")))?;
    let width = documents.problem().program().width(value);
    if coordinate >= width {
        return Err(malformed(format!("coordinate {coordinate} of node {node} is beyond its {width} coordinates")));
    }
    Ok(Step::Split { node: value, coordinate, threshold })
}

/// Cuts the steps at the offsets, and checks that each piece is one whole tree.
fn cut(
    offsets: &[usize],
    steps: &[Step],
    bounds: &[usize],
    widest: usize,
    limits: &Limits,
) -> Result<Vec<Tree>, Rejection> {
    let malformed = |text: String| Rejection::from(Reason::TreeMalformed(text));
    if offsets.first() != Some(&0) || offsets.last() != Some(&steps.len()) || offsets.len() < 2 {
        return Err(malformed("tree.offset does not run from 0 to the number of tree nodes".to_owned()));
    }
    let mut trees = Vec::with_capacity(offsets.len());
    for (number, (from, to)) in offsets.iter().zip(offsets.iter().skip(1)).enumerate() {
        let (Some(own), Some(sets)) = (steps.get(*from..*to), bounds.get(*from..*to)) else {
            return Err(malformed(format!("tree.offset[{number}] is not in ascending order")));
        };
        let depth = whole(own).map_err(|text| malformed(format!("tree {number} {text}")))?;
        within("tree-depth", depth, limits.tree_depth)?;
        within("path-elements", depth.saturating_mul(widest), limits.path_elements)?;
        trees.push(Tree { steps: own.to_vec(), bounds: sets.to_vec() });
    }
    Ok(trees)
}

/// In preorder a split opens one more subtree than it is, a leaf closes one; a tree ends when none is open, and not before.
/// Gives the most splits on a path.
fn whole(steps: &[Step]) -> Result<usize, &'static str> {
    // For each open split on the path, whether its second child is under way.
    let mut path: Vec<bool> = Vec::new();
    let (mut ended, mut depth) = (false, 0);
    for step in steps {
        if ended {
            return Err("has nodes left over");
        }
        match step {
            Step::Split { .. } => path.push(false),
            Step::Leaf => {
                while path.last() == Some(&true) {
                    path.pop();
                }
                match path.last_mut() {
                    Some(second) => *second = true,
                    None => ended = true,
                }
            }
        }
        depth = depth.max(path.len());
    }
    if ended { Ok(depth) } else { Err("ends before all its leaves are there") }
}

pub(super) fn needed<'a>(file: &mut TensorFile<'a>, name: &str) -> Result<RawTensor<'a>, Rejection> {
    let missing = || Rejection::one(Reason::TensorsMissing(name.to_owned()), Place::path(name));
    file.take(name).ok_or_else(missing)
}

pub(super) fn indices(tensor: &RawTensor<'_>) -> Result<Vec<usize>, Rejection> {
    one_axis(tensor)?;
    let values = tensor.u32s()?.into_iter().map(|value| usize::try_from(value).unwrap_or(usize::MAX));
    Ok(values.collect())
}

/// A list is a tensor with one axis.
fn one_axis(tensor: &RawTensor<'_>) -> Result<(), Rejection> {
    match tensor.shape.as_slice() {
        [_] => Ok(()),
        shape => Err(wrong_shape(tensor, "one axis".to_owned(), shape)),
    }
}

fn wrong_shape(tensor: &RawTensor<'_>, expected: String, found: &[usize]) -> Rejection {
    let reason = Reason::TensorsShape { name: tensor.name.clone(), expected, found: format!("{found:?}") };
    Rejection::one(reason, Place::path(&*tensor.name))
}

pub(super) fn column(file: &mut TensorFile<'_>, name: &str, length: usize) -> Result<Vec<usize>, Rejection> {
    sized(&needed(file, name)?, length)
}

fn sized(tensor: &RawTensor<'_>, length: usize) -> Result<Vec<usize>, Rejection> {
    let values = indices(tensor)?;
    if values.len() == length { Ok(values) } else { Err(wrong_shape(tensor, format!("[{length}]"), &tensor.shape)) }
}

fn rationals(tensor: &Tensor) -> Vec<Rational> {
    (0..tensor.len()).map_while(|i| tensor.get(i)).collect()
}
