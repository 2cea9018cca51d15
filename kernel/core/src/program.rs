//! Programs: a list of nodes in evaluation order, each a primitive over earlier nodes, in real arithmetic on exact coefficients.

use crate::affine::Affine;
use crate::func::Function;

/// The place of a node in its program.
pub type NodeId = usize;

/// One value of a program.
#[derive(Clone, Debug)]
pub struct Node {
    /// The number of coordinates.
    pub width: usize,
    /// How the value is made.
    pub primitive: Primitive,
}

/// What a node computes.
#[derive(Clone, Debug)]
pub enum Primitive {
    /// The input of the program.
    Input,
    /// A sum of linear maps of earlier nodes plus a constant.
    Affine(Affine),
    /// One function applied to each coordinate of an earlier node of the same width.
    Univariate {
        /// The function.
        function: Function,
        /// The node that it is applied to.
        argument: NodeId,
    },
    /// The product of two earlier nodes of the same width, coordinate by coordinate. They may be one node.
    Product {
        /// One factor.
        left: NodeId,
        /// The other.
        right: NodeId,
    },
    /// The greatest of some coordinates of an earlier node, for each coordinate.
    Max {
        /// The node whose coordinates are compared.
        argument: NodeId,
        /// For each coordinate those that it is the greatest of.
        groups: Groups,
    },
}

/// Lists of coordinates of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Where each list ends among the members.
    ends: Vec<usize>,
    members: Vec<usize>,
}

impl Groups {
    /// These lists, in order.
    #[must_use]
    pub fn new(lists: impl IntoIterator<Item: IntoIterator<Item = usize>>) -> Self {
        let mut groups = Self::default();
        for list in lists {
            groups.members.extend(list);
            groups.ends.push(groups.members.len());
        }
        groups
    }

    /// The lists.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.members.get(start..*end).unwrap_or_default())
    }

    /// Whether there are `count` lists, none of them empty, of coordinates below `width`.
    fn fit(&self, count: usize, width: usize) -> bool {
        let nonempty = self.iter().all(|group| !group.is_empty());
        nonempty && self.ends.len() == count && self.members.iter().all(|member| *member < width)
    }
}

/// A program: one input, nodes in evaluation order, and the nodes that make up the output, in order.
#[derive(Clone, Debug)]
pub struct Program {
    nodes: Vec<Node>,
    input: NodeId,
    outputs: Vec<NodeId>,
}

/// Why a [`Program`] could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// Not exactly one input node.
    Input,
    /// A node at this place refers to itself or a later node.
    Order(NodeId),
    /// A node at this place does not fit the widths of its arguments.
    Width(NodeId),
    /// A maximum at this place has not one non-empty list for each coordinate, or lists a coordinate that its argument does not have.
    Groups(NodeId),
    /// An output that is no node, or no output at all.
    Output,
}

impl Program {
    /// A program of `nodes` that evaluates in order and gives the concatenation of `outputs`.
    ///
    /// # Errors
    /// A [`ProgramError`] if the order, a width, the input or an output does not fit.
    pub fn new(nodes: Vec<Node>, outputs: Vec<NodeId>) -> Result<Self, ProgramError> {
        let mut input = None;
        for (id, node) in nodes.iter().enumerate() {
            let width_of = |parent: NodeId| {
                let node = nodes.get(parent).filter(|_| parent < id);
                node.map(|node| node.width).ok_or(ProgramError::Order(id))
            };
            match &node.primitive {
                Primitive::Input if input.is_none() => input = Some(id),
                Primitive::Input => return Err(ProgramError::Input),
                Primitive::Affine(affine) => {
                    if affine.bias().is_some_and(|bias| bias.len() != node.width) {
                        return Err(ProgramError::Width(id));
                    }
                    for term in affine.terms() {
                        if !term.map.fits(width_of(term.parent)?, node.width) {
                            return Err(ProgramError::Width(id));
                        }
                    }
                }
                Primitive::Univariate { argument, .. } => {
                    if width_of(*argument)? != node.width {
                        return Err(ProgramError::Width(id));
                    }
                }
                Primitive::Product { left, right } => {
                    if (width_of(*left)?, width_of(*right)?) != (node.width, node.width) {
                        return Err(ProgramError::Width(id));
                    }
                }
                Primitive::Max { argument, groups } => {
                    if !groups.fit(node.width, width_of(*argument)?) {
                        return Err(ProgramError::Groups(id));
                    }
                }
            }
        }
        Self { nodes, input: input.ok_or(ProgramError::Input)?, outputs: Vec::new() }.with_outputs(outputs)
    }

    /// The same nodes with other outputs.
    ///
    /// # Errors
    /// [`ProgramError::Output`] if one is no node, or there are none.
    pub fn with_outputs(self, outputs: Vec<NodeId>) -> Result<Self, ProgramError> {
        if outputs.is_empty() || outputs.iter().any(|id| *id >= self.nodes.len()) {
            return Err(ProgramError::Output);
        }
        Ok(Self { outputs, ..self })
    }

    /// The nodes in evaluation order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The input node.
    #[must_use]
    pub fn input(&self) -> NodeId {
        self.input
    }

    /// The output nodes, in order.
    #[must_use]
    pub fn outputs(&self) -> &[NodeId] {
        &self.outputs
    }

    /// Whether every function is defined on the whole line (DOMAIN).
    #[must_use]
    pub fn is_total(&self) -> bool {
        let function = |node: &Node| match &node.primitive {
            Primitive::Univariate { function, .. } => function.is_total(),
            _ => true,
        };
        self.nodes.iter().all(function)
    }

    /// The width of a node; zero if there is none.
    #[must_use]
    pub fn width(&self, node: NodeId) -> usize {
        self.nodes.get(node).map_or(0, |node| node.width)
    }

    /// The node and the coordinate in it that output coordinate `index` names.
    #[must_use]
    pub fn output_coordinate(&self, index: usize) -> Option<(NodeId, usize)> {
        let mut rest = index;
        for id in &self.outputs {
            match rest.checked_sub(self.width(*id)) {
                None => return Some((*id, rest)),
                Some(less) => rest = less,
            }
        }
        None
    }

    /// The number of output coordinates.
    #[must_use]
    pub fn output_width(&self) -> usize {
        self.outputs.iter().fold(0_usize, |sum, id| sum.saturating_add(self.width(*id)))
    }
}
