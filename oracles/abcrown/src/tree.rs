//! The trees of a certificate.

/// A node of a tree. Trees are lists of nodes in preorder, the child that assumes `≥` first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TreeNode {
    /// A split at `threshold` of one coordinate of a node of the graph.
    Split { node: usize, coordinate: usize, threshold: f64 },
    /// A leaf.
    Leaf {
        source: Source,
        /// The multipliers of splits on the way: depth and multiplier.
        splits: Vec<(usize, f64)>,
    },
}

/// Where in the dump the hints of a leaf stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The root computation.
    Root,
    /// A leaf of a run with ReLU splits, by its row in the tensors.
    Leaf(usize),
    /// A leaf box, by its row.
    Box(usize),
}

/// A tree and the disjuncts that it refutes, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) disjuncts: Vec<usize>,
}
