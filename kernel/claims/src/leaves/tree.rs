//! Split trees as arrays in preorder.

use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::tensor::Tensor;
use certkern_seal::Documents;
use certkern_wire::limits::{Limits, within};
use certkern_wire::reason::{Fault, Place, Reason, Rejection};
use certkern_wire::tensors::{RawTensor, TensorFile};

/// A node of a split tree.
pub(super) enum Step {
    Leaf,
    Split(Split),
}

/// A split: the first child, which is the next node, assumes `≥`, the second `≤`.
pub(super) struct Split {
    /// The program node.
    pub(super) node: NodeId,
    pub(super) coordinate: usize,
    /// Place in the thresholds.
    pub(super) threshold: usize,
    /// The second child.
    pub(super) second: usize,
}

/// Whole trees in preorder, one after the other; no node is left over, none is deeper than the limit. A node is a few bytes.
#[derive(Debug, Default)]
pub(super) struct Trees {
    /// The program node of a split.
    nodes: Vec<u32>,
    coordinates: Vec<u32>,
    thresholds: Vec<u32>,
    /// The second child of a split; 0 at leaves, since no tree starts with a second child.
    seconds: Vec<u32>,
    /// The parent; a root is its own.
    parents: Vec<u32>,
    /// For each node 0, or one more than the bound set that is applied there; `None`: the first set, if there is one, at roots.
    bounds: Option<Vec<u32>>,
    /// The set of roots where `bounds` are absent.
    at_roots: usize,
    /// The root of each tree, and the number of nodes.
    offsets: Vec<u32>,
}

impl Trees {
    /// The number of trees.
    pub(super) fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The root of tree `tree`.
    pub(super) fn root(&self, tree: usize) -> usize {
        self.offsets.get(tree).map_or(usize::MAX, |root| wide(*root))
    }

    /// The number of leaves of tree `tree`: every split has two children.
    pub(super) fn leaves(&self, tree: usize) -> usize {
        leaves(self.root(tree), self.root(tree.saturating_add(1)))
    }

    /// The node at a place.
    pub(super) fn step(&self, place: usize) -> Option<Step> {
        Some(match wide(*self.seconds.get(place)?) {
            0 => Step::Leaf,
            second => {
                let column = |values: &[u32]| values.get(place).map(|value| wide(*value));
                let (node, coordinate) = (column(&self.nodes)?, column(&self.coordinates)?);
                Step::Split(Split { node, coordinate, threshold: column(&self.thresholds)?, second })
            }
        })
    }

    /// 0, or one more than the bound set that is applied at a place.
    pub(super) fn set(&self, place: usize) -> usize {
        match &self.bounds {
            Some(bounds) => bounds.get(place).map_or(0, |set| wide(*set)),
            None if self.family(place).is_none() => self.at_roots,
            None => 0,
        }
    }

    /// The parent of a node and the parent's other child; `None` for a root.
    pub(super) fn family(&self, place: usize) -> Option<(usize, usize)> {
        let parent = wide(*self.parents.get(place)?);
        let (first, second) = (parent.checked_add(1)?, wide(*self.seconds.get(parent)?));
        (parent != place).then_some((parent, if place == second { first } else { second }))
    }
}

/// The number of leaves of whole trees that lie one after the other from one place to another.
pub(super) fn leaves(from: usize, to: usize) -> usize {
    to.saturating_sub(from).div_ceil(2)
}

fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The trees of a certificate and their thresholds. `exact` are the thresholds that stand in the certificate's JSON; without tensors there is one tree of one leaf.
pub(super) fn read(
    file: &mut TensorFile<'_>,
    exact: Vec<Rational>,
    sets: usize,
    documents: &Documents,
    limits: &Limits,
) -> Result<(Trees, Vec<Rational>), Rejection> {
    let at_roots = usize::from(sets > 0);
    let Some(offsets) = file.take("tree.offset") else {
        let (seconds, parents, offsets) = (vec![0], vec![0], vec![0, 1]);
        return Ok((Trees { seconds, parents, offsets, at_roots, ..Trees::default() }, exact));
    };
    one_axis(&offsets)?;
    let offsets = offsets.u32s()?;
    let kinds = needed(file, "tree.kind")?;
    let count = one_axis(&kinds)?;
    within("tree-nodes", count, limits.tree_nodes)?;
    let kinds = kinds.u8s()?;
    let mut column = |name| u32s(&needed(file, name)?, count);
    let (nodes, coordinates, places) = (column("tree.node")?, column("tree.coordinate")?, column("tree.threshold")?);
    let mut thresholds = match file.take("threshold.value") {
        Some(tensor) => {
            one_axis(&tensor)?;
            rationals(&tensor.floats()?)
        }
        None => Vec::new(),
    };
    thresholds.extend(exact);
    let bounds = file.take("tree.bounds").map(|tensor| u32s(&tensor, count)).transpose()?;
    let (seconds, parents) = (vec![0; count], vec![0; count]);
    let mut trees = Trees { nodes, coordinates, thresholds: places, seconds, parents, bounds, at_roots, offsets };
    trees.literals(&kinds, thresholds.len(), documents)?;
    if trees.bounds.iter().flatten().any(|set| wide(*set) > sets) {
        return Err(Reason::TreeMalformed("tree.bounds names a bound set that does not exist".to_owned()).into());
    }
    trees.cut(&kinds, documents, limits)?;
    Ok((trees, thresholds))
}

impl Trees {
    /// Checks the literals, and names values by their program nodes.
    fn literals(&mut self, kinds: &[u8], thresholds: usize, documents: &Documents) -> Result<(), Rejection> {
        let columns = self.nodes.iter_mut().zip(&self.coordinates).zip(&self.thresholds);
        for (place, (kind, ((node, coordinate), threshold))) in kinds.iter().zip(columns).enumerate() {
            let fault = |reason| Fault { reason, place: Place::path(format!("tree.kind[{place}]")) };
            match kind {
                0 if (*node, *coordinate, *threshold) == (0, 0, 0) => {}
                0 => return Err(fault(Reason::TreeMalformed("a leaf with a literal".to_owned())).into()),
                1 => {
                    let literal = (wide(*node), wide(*coordinate), wide(*threshold));
                    let value = literal_value(documents, thresholds, literal).map_err(fault)?;
                    *node = u32::try_from(value).map_err(|_| Reason::Internal("a program with so many nodes"))?;
                }
                _ => return Err(fault(Reason::TreeMalformed(format!("kind {kind} is neither 0 nor 1"))).into()),
            }
        }
        Ok(())
    }

    /// Cuts the nodes at the offsets, checks that each piece is one whole tree, and links its nodes.
    fn cut(&mut self, kinds: &[u8], documents: &Documents, limits: &Limits) -> Result<(), Rejection> {
        let malformed = |text: String| Rejection::from(Reason::TreeMalformed(text));
        let offsets: Vec<usize> = self.offsets.iter().map(|offset| wide(*offset)).collect();
        if offsets.first() != Some(&0) || offsets.last() != Some(&kinds.len()) || offsets.len() < 2 {
            return Err(malformed("tree.offset does not run from 0 to the number of tree nodes".to_owned()));
        }
        let widest = documents.problem().program().nodes().iter().map(|node| node.width).max().unwrap_or(0);
        for (number, (from, to)) in offsets.iter().zip(offsets.iter().skip(1)).enumerate() {
            let Some(own) = kinds.get(*from..*to) else {
                return Err(malformed(format!("tree.offset[{number}] is not in ascending order")));
            };
            let depth = self.link(*from, own).map_err(|text| malformed(format!("tree {number} {text}")))?;
            within("tree-depth", depth, limits.tree_depth)?;
            within("path-elements", depth.saturating_mul(widest), limits.path_elements)?;
        }
        Ok(())
    }

    /// In preorder a split opens one more subtree than it is, a leaf closes one; a tree ends when none is open, and not before.
    /// Gives the most splits on a path.
    fn link(&mut self, from: usize, kinds: &[u8]) -> Result<usize, &'static str> {
        // The open splits on the path.
        let mut path: Vec<u32> = Vec::new();
        let (mut ended, mut depth) = (false, 0);
        let places = (from..).zip(kinds).map(|(place, kind)| (u32::try_from(place).unwrap_or(u32::MAX), kind));
        for (place, kind) in places {
            if ended {
                return Err("has nodes left over");
            }
            let parent = path.last().copied().unwrap_or(place);
            if place > parent.saturating_add(1) {
                put(&mut self.seconds, parent, place);
            }
            put(&mut self.parents, place, parent);
            match kind {
                0 => {
                    while path.last().is_some_and(|split| self.seconds.get(wide(*split)) != Some(&0)) {
                        path.pop();
                    }
                    ended = path.is_empty();
                }
                _ => path.push(place),
            }
            depth = depth.max(path.len());
        }
        if ended { Ok(depth) } else { Err("ends before all its leaves are there") }
    }
}

fn put(column: &mut [u32], place: u32, value: u32) {
    if let Some(slot) = column.get_mut(wide(place)) {
        *slot = value;
    }
}

/// The program node of a literal that exists: a node, a coordinate in it and a threshold. Every value is defined on the whole region (DOMAIN), so any may be split.
fn literal_value(
    documents: &Documents,
    thresholds: usize,
    (node, coordinate, threshold): (usize, usize, usize),
) -> Result<NodeId, Reason> {
    let malformed = |text: String| Reason::TreeLiteral(text);
    if threshold >= thresholds {
        return Err(malformed(format!("threshold {threshold} is not among the {thresholds} thresholds")));
    }
    let value = documents.value(node).ok_or_else(|| malformed(format!("node {node} is not in the graph")))?;
    let width = documents.problem().program().width(value);
    if coordinate >= width {
        return Err(malformed(format!("coordinate {coordinate} of node {node} is beyond its {width} coordinates")));
    }
    Ok(value)
}

pub(super) fn needed<'a>(file: &mut TensorFile<'a>, name: &str) -> Result<RawTensor<'a>, Rejection> {
    let missing = || Rejection::one(Reason::TensorsMissing(name.to_owned()), Place::path(name));
    file.take(name).ok_or_else(missing)
}

pub(super) fn indices(tensor: &RawTensor<'_>) -> Result<Vec<usize>, Rejection> {
    one_axis(tensor)?;
    Ok(tensor.u32s()?.into_iter().map(wide).collect())
}

/// The length of a list, which is a tensor with one axis.
pub(super) fn one_axis(tensor: &RawTensor<'_>) -> Result<usize, Rejection> {
    match tensor.shape.as_slice() {
        [length] => Ok(*length),
        _ => Err(wrong_shape(tensor, "one axis".to_owned())),
    }
}

/// The shape that a tensor must have.
pub(super) fn shaped(tensor: &RawTensor<'_>, shape: &[usize]) -> Result<(), Rejection> {
    if tensor.shape == shape { Ok(()) } else { Err(wrong_shape(tensor, format!("{shape:?}"))) }
}

fn wrong_shape(tensor: &RawTensor<'_>, expected: String) -> Rejection {
    let reason = Reason::TensorsShape { name: tensor.name.clone(), expected, found: format!("{:?}", tensor.shape) };
    Rejection::one(reason, Place::path(&*tensor.name))
}

fn u32s(tensor: &RawTensor<'_>, length: usize) -> Result<Vec<u32>, Rejection> {
    shaped(tensor, &[length])?;
    Ok(tensor.u32s()?)
}

fn rationals(tensor: &Tensor) -> Vec<Rational> {
    (0..tensor.len()).map_while(|i| tensor.get(i)).collect()
}
