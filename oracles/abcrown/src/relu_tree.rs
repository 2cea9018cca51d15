//! Trees from the leaves of a run with ReLU splits.
//!
//! A leaf is a set of literals, and the order in which they were decided is lost. A set of leaves covers a region as a tree if it is one
//! leaf without literals, or if some neuron and threshold is decided on all leaves, in both ways, and each of the two parts covers
//! again. Any such neuron will do: restricting a tree to one side of a split that all its leaves decide leaves a tree.

use crate::error::{ConvertError, Path, SplitLiteral};
use crate::tree::{Source, TreeNode};
use std::collections::BTreeMap;

/// One decision of a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Literal<'a> {
    /// The pre-activation node, as the dump names it.
    pub(crate) layer: &'a str,
    /// The node of the graph.
    pub(crate) node: usize,
    /// The flat coordinate.
    pub(crate) coordinate: usize,
    /// `≥` if set, else `≤`.
    pub(crate) at_least: bool,
    /// The threshold.
    pub(crate) threshold: f64,
    /// Its multiplier.
    pub(crate) beta: f64,
}

/// A leaf with its literals.
#[derive(Clone, Debug)]
pub(crate) struct SplitLeaf<'a> {
    /// Its row in the tensors of the dump, which no other leaf has.
    pub(crate) row: usize,
    /// Its id in the manifest.
    pub(crate) id: u64,
    /// Its literals.
    pub(crate) literals: Vec<Literal<'a>>,
}

/// What is split: a coordinate of a node, at the bits of a threshold.
type Key = (usize, usize, u64);

/// A set of leaves below a path, each with its literals that are not on the path.
struct Part<'a, 'b> {
    leaves: Vec<(&'b SplitLeaf<'a>, Vec<&'b Literal<'a>>)>,
    path: Vec<SplitLiteral>,
}

impl Literal<'_> {
    fn key(&self) -> Key {
        // Adding zero makes −0 and 0 one threshold.
        (self.node, self.coordinate, (self.threshold + 0.0).to_bits())
    }

    fn text(&self) -> SplitLiteral {
        SplitLiteral {
            layer: self.layer.to_owned(),
            neuron: self.coordinate,
            at_least: self.at_least,
            threshold: self.threshold + 0.0,
        }
    }
}

impl<'a, 'b> Part<'a, 'b> {
    fn path(&self) -> Path {
        Path(self.path.clone())
    }

    /// The single leaf that is this whole part, if there is one.
    ///
    /// # Errors
    /// [`ConvertError::Overlap`] if a leaf is the whole part and not alone in it.
    fn whole_leaf(&self, disjunct: usize) -> Result<Option<&'b SplitLeaf<'a>>, ConvertError> {
        let Some((whole, _)) = self.leaves.iter().find(|(_, literals)| literals.is_empty()) else {
            return Ok(None);
        };
        match self.leaves.iter().find(|(leaf, _)| leaf.row != whole.row) {
            Some((other, _)) => {
                Err(ConvertError::Overlap { disjunct, path: self.path(), leaves: (whole.id, other.id) })
            }
            None => Ok(Some(whole)),
        }
    }

    /// A literal whose neuron and threshold all leaves decide, some in the other way.
    fn common_split(&self, disjunct: usize) -> Result<&'b Literal<'a>, ConvertError> {
        // For each key how many leaves decide `≤` and `≥`.
        let mut counts: BTreeMap<Key, [usize; 2]> = BTreeMap::new();
        for literal in self.leaves.iter().flat_map(|(_, literals)| literals) {
            counts.entry(literal.key()).or_default()[usize::from(literal.at_least)] += 1;
        }
        let shared = |literal: &&&'b Literal<'a>| counts[&literal.key()].iter().sum::<usize>() == self.leaves.len();
        let one_sided = |literal: &&&'b Literal<'a>| counts[&literal.key()].contains(&0);
        let first = self.leaves.first().map_or(&[][..], |(_, literals)| literals.as_slice());
        // A neuron that all leaves decide the same way leaves the whole other side uncovered.
        if let Some(literal) = first.iter().filter(shared).find(one_sided) {
            let missing = SplitLiteral { at_least: !literal.at_least, ..literal.text() };
            return Err(ConvertError::Gap { disjunct, path: self.path(), missing });
        }
        if let Some(literal) = first.iter().find(shared) {
            return Ok(literal);
        }
        Err(self.moved_threshold(disjunct).unwrap_or_else(|| ConvertError::NoCommonSplit {
            disjunct,
            path: self.path(),
            leaves: self.leaves.iter().take(8).map(|(leaf, _)| leaf.id).collect(),
        }))
    }

    /// Two leaves that decide a neuron at different thresholds, if all leaves decide that neuron.
    fn moved_threshold(&self, disjunct: usize) -> Option<ConvertError> {
        let decision = |literals: &[&'b Literal<'a>], like: &Literal| {
            let neuron = (like.node, like.coordinate);
            literals.iter().find(|literal| (literal.node, literal.coordinate) == neuron).copied()
        };
        let (first, literals) = self.leaves.first()?;
        let shared = literals
            .iter()
            .find(|literal| self.leaves.iter().all(|(_, others)| decision(others, literal).is_some()))?;
        let (second, moved) = self.leaves.iter().find_map(|(leaf, literals)| {
            let other = decision(literals, shared).filter(|literal| literal.key() != shared.key());
            other.map(|literal| (leaf, literal))
        })?;
        Some(ConvertError::ThresholdMoved {
            disjunct,
            path: self.path(),
            leaves: Box::new([(first.id, shared.text()), (second.id, moved.text())]),
        })
    }

    /// The parts of the leaves that decide `≥` and `≤`. Every leaf decides `split`.
    fn sides(self, split: &Literal) -> [Self; 2] {
        let key = split.key();
        let mut sides = [true, false].map(|at_least| {
            let mut path = self.path.clone();
            path.push(SplitLiteral { at_least, ..split.text() });
            Part { leaves: Vec::new(), path }
        });
        for (leaf, mut literals) in self.leaves {
            let Some(place) = literals.iter().position(|literal| literal.key() == key) else { continue };
            let decided = literals.remove(place);
            sides[usize::from(!decided.at_least)].leaves.push((leaf, literals));
        }
        sides
    }
}

/// The tree of these leaves of one disjunct.
///
/// # Errors
/// A [`ConvertError`] that names the literals on the way to the place where the leaves do not cover.
pub(crate) fn rebuild(leaves: &[SplitLeaf], disjunct: usize) -> Result<Vec<TreeNode>, ConvertError> {
    for leaf in leaves {
        check_literals(leaf)?;
    }
    let all = leaves.iter().map(|leaf| (leaf, leaf.literals.iter().collect()));
    let mut tree = Vec::new();
    let mut stack = vec![(Part { leaves: all.collect(), path: Vec::new() }, Vec::<Key>::new())];
    while let Some((part, keys)) = stack.pop() {
        if let Some(leaf) = part.whole_leaf(disjunct)? {
            let splits = keys.iter().enumerate().filter_map(|(depth, key)| {
                let literal = leaf.literals.iter().find(|literal| literal.key() == *key)?;
                // A zero multiplier is no hint; anything else, NaN too, is for the kernel to judge.
                (literal.beta != 0.0).then_some((depth, literal.beta))
            });
            tree.push(TreeNode::Leaf { source: Source::Leaf(leaf.row), splits: splits.collect() });
            continue;
        }
        let split = part.common_split(disjunct)?;
        tree.push(TreeNode::Split { node: split.node, coordinate: split.coordinate, threshold: split.threshold + 0.0 });
        let keys = [keys, vec![split.key()]].concat();
        let [first, second] = part.sides(split);
        stack.push((second, keys.clone()));
        stack.push((first, keys));
    }
    Ok(tree)
}

/// Checks that thresholds are finite and that no neuron is decided twice at one threshold.
fn check_literals(leaf: &SplitLeaf) -> Result<(), ConvertError> {
    let mut seen = std::collections::BTreeSet::new();
    for literal in &leaf.literals {
        if !literal.threshold.is_finite() {
            let neuron = format!("{}[{}]", literal.layer, literal.coordinate);
            return Err(ConvertError::Threshold { leaf: leaf.id, neuron, threshold: literal.threshold });
        }
        if !seen.insert(literal.key()) {
            return Err(ConvertError::RepeatedLiteral { leaf: leaf.id, literal: literal.text() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf from `(neuron, sign, threshold)`; the multiplier of neuron n is n / 8.
    fn leaf(id: u64, literals: &[(usize, i8, f64)]) -> SplitLeaf<'static> {
        let literals = literals.iter().map(|(neuron, sign, threshold)| Literal {
            layer: "/pre",
            node: 3,
            coordinate: *neuron,
            at_least: *sign > 0,
            threshold: *threshold,
            beta: *neuron as f64 / 8.0,
        });
        SplitLeaf { row: id as usize, id, literals: literals.collect() }
    }

    /// Neuron 5 at the root; under `≥` neuron 2, under `≤` neuron 7 and below its `≥` neuron 2. The literals stand in other orders.
    fn five_leaves() -> Vec<SplitLeaf<'static>> {
        vec![
            leaf(0, &[(7, 1, 0.0), (5, -1, 0.0), (2, -1, 0.0)]),
            leaf(1, &[(2, 1, -0.0), (5, 1, 0.0)]),
            leaf(2, &[(5, -1, 0.0), (7, -1, 0.0)]),
            leaf(3, &[(5, 1, 0.0), (2, -1, 0.0)]),
            leaf(4, &[(5, -1, 0.0), (2, 1, 0.0), (7, 1, 0.0)]),
        ]
    }

    fn split(coordinate: usize) -> TreeNode {
        TreeNode::Split { node: 3, coordinate, threshold: 0.0 }
    }

    fn end(leaf: usize, splits: &[(usize, f64)]) -> TreeNode {
        TreeNode::Leaf { source: Source::Leaf(leaf), splits: splits.to_vec() }
    }

    fn error(leaves: &[SplitLeaf]) -> ConvertError {
        rebuild(leaves, 4).unwrap_err()
    }

    #[test]
    fn a_tree_is_rebuilt_and_multipliers_follow_the_depth() {
        let tree = rebuild(&five_leaves(), 0).unwrap();
        let wanted = [
            split(5),
            split(2),
            end(1, &[(0, 0.625), (1, 0.25)]),
            end(3, &[(0, 0.625), (1, 0.25)]),
            split(7),
            split(2),
            end(4, &[(0, 0.625), (1, 0.875), (2, 0.25)]),
            end(0, &[(0, 0.625), (1, 0.875), (2, 0.25)]),
            end(2, &[(0, 0.625), (1, 0.875)]),
        ];
        assert_eq!(tree, wanted);
    }

    #[test]
    fn a_lone_leaf_without_literals_is_a_tree() {
        assert_eq!(rebuild(&[leaf(0, &[])], 0).unwrap(), [end(0, &[])]);
    }

    #[test]
    fn bad_multipliers_stay_and_zeros_go() {
        let mut leaves =
            [leaf(0, &[(1, 1, 0.0), (2, 1, 0.0)]), leaf(1, &[(1, -1, 0.0)]), leaf(2, &[(1, 1, 0.0), (2, -1, 0.0)])];
        leaves[0].literals[0].beta = -0.0;
        leaves[0].literals[1].beta = f64::NAN;
        leaves[1].literals[0].beta = -3.0;
        let tree = rebuild(&leaves, 0).unwrap();
        assert_eq!(tree[4], end(1, &[(0, -3.0)]));
        let TreeNode::Leaf { splits, .. } = &tree[2] else { panic!("{tree:?}") };
        assert!(matches!(splits.as_slice(), [(1, beta)] if beta.is_nan()), "{splits:?}");
    }

    #[test]
    fn a_removed_leaf_is_a_gap_with_its_literals() {
        for (removed, wanted) in [
            (0, "manifest.json: disjunct 4: under /pre[5] ≤ 0 and /pre[7] ≥ 0 no leaf covers /pre[2] ≤ 0;"),
            (1, "manifest.json: disjunct 4: under /pre[5] ≥ 0 no leaf covers /pre[2] ≥ 0;"),
            (2, "manifest.json: disjunct 4: under /pre[5] ≤ 0 no leaf covers /pre[7] ≤ 0;"),
        ] {
            let mut leaves = five_leaves();
            leaves.remove(removed);
            let text = error(&leaves).to_string();
            assert!(text.starts_with(wanted), "{text}");
        }
        let text = error(&[leaf(0, &[(5, 1, 0.0)])]).to_string();
        assert!(text.starts_with("manifest.json: disjunct 4: at the root no leaf covers /pre[5] ≤ 0;"), "{text}");
    }

    #[test]
    fn a_flipped_sign_is_named() {
        let mut leaves = five_leaves();
        leaves[1].literals[0].at_least = false;
        let text = error(&leaves).to_string();
        assert!(text.contains("under /pre[5] ≥ 0 no leaf covers /pre[2] ≥ 0"), "{text}");
        // Flipped at the root: leaf 2 falls among the leaves of the other side and leaves a gap behind.
        let mut leaves = five_leaves();
        leaves[2].literals[0].at_least = true;
        let text = error(&leaves).to_string();
        assert!(text.contains("under /pre[5] ≥ 0 the leaves [1, 2, 3] have no split in common"), "{text}");
    }

    #[test]
    fn overlaps_are_named() {
        let mut leaves = five_leaves();
        leaves.push(leaf(5, &[(5, 1, 0.0), (2, 1, 0.0)]));
        let text = error(&leaves).to_string();
        assert!(text.contains("under /pre[5] ≥ 0 and /pre[2] ≥ 0 leaf 1 covers everything, leaf 5 too"), "{text}");
        let mut leaves = five_leaves();
        leaves.push(leaf(5, &[(5, 1, 0.0)]));
        let text = error(&leaves).to_string();
        assert!(text.contains("under /pre[5] ≥ 0 leaf 5 covers everything, leaf 1 too"), "{text}");
    }

    #[test]
    fn a_moved_threshold_is_named() {
        let mut leaves = five_leaves();
        leaves[4].literals[1].threshold = 0.25;
        let text = error(&leaves).to_string();
        let wanted = "under /pre[5] ≤ 0 and /pre[7] ≥ 0 leaf 0 has /pre[2] ≤ 0 but leaf 4 has /pre[2] ≥ 0.25";
        assert!(text.contains(wanted), "{text}");
        leaves[4].literals[1].threshold = f64::NAN;
        assert!(matches!(error(&leaves), ConvertError::Threshold { leaf: 4, .. }));
    }

    #[test]
    fn a_neuron_decided_twice_is_refused() {
        let text = error(&[leaf(0, &[(5, 1, 0.0), (5, -1, 0.0)])]).to_string();
        assert!(text.contains("leaf 0 decides a neuron twice, the second time by /pre[5] ≤ 0"), "{text}");
    }
}
