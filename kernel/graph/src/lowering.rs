//! From operators to primitives: each graph node becomes one or more nodes of a program.

use certkern_core::affine::{Affine, LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::program::{Groups, Node, NodeId, Primitive};
use certkern_core::tensor::Tensor;

/// A program under way. What an operator adds comes after its parents, so the order is one of evaluation.
#[derive(Debug, Default)]
pub(crate) struct Lowering {
    nodes: Vec<Node>,
}

impl Lowering {
    /// A node.
    pub(crate) fn push(&mut self, width: usize, primitive: Primitive) -> NodeId {
        self.nodes.push(Node { width, primitive });
        self.nodes.len().saturating_sub(1)
    }

    /// The number of coordinates of a node.
    pub(crate) fn width(&self, node: NodeId) -> Option<usize> {
        self.nodes.get(node).map(|node| node.width)
    }

    /// The sum of linear maps of earlier nodes and of a constant; `None` if widths do not fit.
    pub(crate) fn affine(&mut self, width: usize, terms: Vec<Term>, bias: Option<&Tensor>) -> Option<NodeId> {
        Affine::new(width, terms, bias).map(|affine| self.push(width, Primitive::Affine(affine)))
    }

    /// A linear map of one earlier node.
    pub(crate) fn linear(&mut self, parent: NodeId, map: LinearMap) -> Option<NodeId> {
        self.affine(map.output_width(), vec![Term { parent, map }], None)
    }

    /// Coordinates of an earlier node, picked by `sources`; zero where `None`.
    pub(crate) fn select(&mut self, parent: NodeId, sources: Vec<Option<usize>>) -> Option<NodeId> {
        let map = LinearMap::select(sources, self.width(parent)?)?;
        self.linear(parent, map)
    }

    /// A function of each coordinate of an earlier node.
    pub(crate) fn univariate(&mut self, function: Function, argument: NodeId) -> Option<NodeId> {
        let width = self.width(argument)?;
        Some(self.push(width, Primitive::Univariate { function, argument }))
    }

    /// A function of the library of each coordinate of an earlier node; `None` if there is none of this name.
    pub(crate) fn library(&mut self, name: &str, argument: NodeId) -> Option<NodeId> {
        self.univariate(Function::library(name, Vec::new())?, argument)
    }

    /// The product of two earlier nodes, coordinate by coordinate; `None` if their widths differ.
    #[allow(dead_code, reason = "for operators that are about to land")]
    pub(crate) fn product(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        let width = self.width(left).filter(|width| self.width(right) == Some(*width))?;
        Some(self.push(width, Primitive::Product { left, right }))
    }

    /// The greatest of some coordinates of an earlier node, for each of `groups`.
    #[allow(dead_code, reason = "for operators that are about to land")]
    pub(crate) fn max(&mut self, argument: NodeId, groups: Groups) -> NodeId {
        self.push(groups.iter().count(), Primitive::Max { argument, groups })
    }

    /// The nodes, in order of evaluation.
    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}
