//! From operators to primitives: each graph node becomes one or more nodes of a program.

use certkern_core::affine::{Affine, LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::num::Rational;
use certkern_core::program::{Groups, Node, NodeId, Primitive};
use certkern_core::tensor::{Tensor, Values};
use std::collections::BTreeMap;

/// A program under way. What an operator adds comes after its parents, so the order is one of evaluation.
#[derive(Debug, Default)]
pub(crate) struct Lowering {
    nodes: Vec<Node>,
    /// The values of nodes that are known not to depend on the input.
    known: BTreeMap<NodeId, Tensor>,
    /// What operators have reserved whose size depends on which parents are constant.
    reserved: usize,
}

/// What may be reserved in all: the budget `graph-elements` once more.
pub(crate) const MOST_RESERVED: usize = 1 << 22;

impl Lowering {
    /// A node.
    pub(crate) fn push(&mut self, width: usize, primitive: Primitive) -> NodeId {
        self.nodes.push(Node { width, primitive });
        self.nodes.len().saturating_sub(1)
    }

    /// Counts numbers and indices that an operator is about to make; `None` if they are too many, which [`Lowering::is_exhausted`] tells.
    pub(crate) fn reserve(&mut self, count: usize) -> Option<()> {
        self.reserved = self.reserved.saturating_add(count);
        (!self.is_exhausted()).then_some(())
    }

    /// Whether more was to be reserved than may be.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.reserved > MOST_RESERVED
    }

    /// The number of coordinates of a node.
    pub(crate) fn width(&self, node: NodeId) -> Option<usize> {
        self.nodes.get(node).map(|node| node.width)
    }

    /// The numbers that a node holds, if it is known not to depend on the input.
    pub(crate) fn known(&self, node: NodeId) -> Option<&Tensor> {
        self.known.get(&node)
    }

    /// Numbers that do not depend on the input.
    pub(crate) fn constant(&mut self, values: &Tensor) -> Option<NodeId> {
        let node = self.affine(values.len(), Vec::new(), Some(values))?;
        self.known.insert(node, values.clone());
        Some(node)
    }

    /// The sum of linear maps of earlier nodes and of a constant; `None` if widths do not fit.
    pub(crate) fn affine(&mut self, width: usize, terms: Vec<Term>, bias: Option<&Tensor>) -> Option<NodeId> {
        Affine::new(width, terms, bias).map(|affine| self.push(width, Primitive::Affine(affine)))
    }

    /// A linear map of one earlier node.
    pub(crate) fn linear(&mut self, parent: NodeId, map: LinearMap) -> Option<NodeId> {
        self.affine(map.output_width(), vec![Term { parent, map }], None)
    }

    /// The same coordinates.
    pub(crate) fn copy(&mut self, parent: NodeId) -> Option<NodeId> {
        match self.known(parent).cloned() {
            Some(values) => self.constant(&values),
            None => self.linear(parent, LinearMap::identity(self.width(parent)?)),
        }
    }

    /// Coordinates of an earlier node, picked by `sources`; zero where `None`.
    pub(crate) fn select(&mut self, parent: NodeId, sources: Vec<Option<usize>>) -> Option<NodeId> {
        if let Some(picked) = self.known(parent).and_then(|values| picked(values, vec![sources.len()], &sources)) {
            return self.constant(&picked);
        }
        let map = LinearMap::select(sources, self.width(parent)?)?;
        self.linear(parent, map)
    }

    /// Coordinates of an earlier node in this order; the node itself if they are all of its own in their order.
    pub(crate) fn arranged(&mut self, parent: NodeId, places: Vec<usize>) -> Option<NodeId> {
        if places.iter().copied().eq(0..self.width(parent)?) {
            return Some(parent);
        }
        self.select(parent, places.into_iter().map(Some).collect())
    }

    /// The sum of nodes of one width.
    pub(crate) fn sum(&mut self, parents: &[NodeId]) -> Option<NodeId> {
        let width = self.width(*parents.first()?)?;
        let terms = parents.iter().map(|parent| Term { parent: *parent, map: LinearMap::identity(width) });
        self.affine(width, terms.collect(), None)
    }

    /// The first node minus the second.
    pub(crate) fn difference(&mut self, first: NodeId, second: NodeId) -> Option<NodeId> {
        let width = self.width(first)?;
        let first = Term { parent: first, map: LinearMap::identity(width) };
        let second = Term { parent: second, map: LinearMap::negation(width) };
        self.affine(width, vec![first, second], None)
    }

    /// Every coordinate with the other sign.
    pub(crate) fn negation(&mut self, parent: NodeId) -> Option<NodeId> {
        self.linear(parent, LinearMap::negation(self.width(parent)?))
    }

    /// Every coordinate times the number in its place.
    pub(crate) fn scaled(&mut self, parent: NodeId, factors: &Tensor) -> Option<NodeId> {
        self.linear(parent, LinearMap::diagonal(factors)?)
    }

    /// Of each `length` coordinates in a row the sum times `weight`, plus `bias`.
    pub(crate) fn folded(
        &mut self,
        parent: NodeId,
        length: usize,
        weight: &Rational,
        bias: &Rational,
    ) -> Option<NodeId> {
        let count = self.width(parent)?.checked_div(length)?;
        let row = Tensor::new(vec![1, length], Values::Exact(vec![weight.clone(); length])).ok()?;
        let bias = Tensor::new(vec![count], Values::Exact(vec![bias.clone(); count])).ok()?;
        let term = Term { parent, map: LinearMap::dense(&row, count)? };
        self.affine(count, vec![term], Some(&bias))
    }

    /// A function of each coordinate of an earlier node.
    pub(crate) fn univariate(&mut self, function: Function, argument: NodeId) -> Option<NodeId> {
        let width = self.width(argument)?;
        Some(self.push(width, Primitive::Univariate { function, argument }))
    }

    /// A function of the library of each coordinate of an earlier node; `None` if there is none of this name.
    pub(crate) fn library(&mut self, name: &str, argument: NodeId) -> Option<NodeId> {
        self.function(name, Vec::new(), argument)
    }

    /// The same with parameters; `None` too if these are none of the function.
    pub(crate) fn function(&mut self, name: &str, parameters: Vec<Rational>, argument: NodeId) -> Option<NodeId> {
        self.univariate(Function::library(name, parameters)?, argument)
    }

    /// The product of two nodes, coordinate by coordinate. That with a constant is linear.
    pub(crate) fn product(&mut self, left: NodeId, right: NodeId) -> Option<NodeId> {
        if let Some(factors) = self.known(left).cloned() {
            return self.scaled(right, &factors);
        }
        if let Some(factors) = self.known(right).cloned() {
            return self.scaled(left, &factors);
        }
        let width = self.width(left)?;
        Some(self.push(width, Primitive::Product { left, right }))
    }

    /// For each group the greatest of these coordinates of an earlier node.
    pub(crate) fn max(&mut self, argument: NodeId, groups: Vec<Vec<usize>>) -> NodeId {
        self.push(groups.len(), Primitive::Max { argument, groups: Groups::new(groups) })
    }

    /// The nodes, in order of evaluation.
    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}

/// The tensor of this shape of the numbers that `sources` picks; `None` if a source is `None` or no element.
pub(crate) fn picked(tensor: &Tensor, shape: Vec<usize>, sources: &[Option<usize>]) -> Option<Tensor> {
    fn pick<T: Clone>(values: &[T], sources: &[Option<usize>]) -> Option<Vec<T>> {
        sources.iter().map(|source| values.get((*source)?).cloned()).collect()
    }
    let values = match tensor.values() {
        Values::Binary32(values) => Values::Binary32(pick(values, sources)?),
        Values::Binary64(values) => Values::Binary64(pick(values, sources)?),
        Values::Exact(values) => Values::Exact(pick(values, sources)?),
    };
    Tensor::new(shape, values).ok()
}
