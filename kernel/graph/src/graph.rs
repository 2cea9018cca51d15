//! The graph: well-shaped by construction.

use crate::attributes::{Attribute, Attributes};
use crate::lowering::{Lowering, MOST_RESERVED};
use crate::ops::{Operator, Shapes, Site};
use crate::read;
use crate::shape;
use certkern_core::program::{NodeId, Program};
use certkern_core::tensor::Tensor;
use certkern_wire::digest::{Canonical, GraphDigest, PayloadDigest, payload_digest};
use certkern_wire::json::{self, Json};
use certkern_wire::tensors::Source;
use certkern_wire::{Limits, Place, Reason, Rejection};
use std::collections::BTreeMap;
use std::fmt;

/// The longest common denominator of the numbers of a node, see `Affine::new`.
const COEFFICIENT_BITS: u64 = 1024;

/// A graph of `torchlean.ir.v1` or `certkern.ir.v1` with its numbers. The only constructors are [`Graph::read`] and [`Graph::of_json`], so whoever holds a graph knows:
/// node ids are places and parents are earlier; there is one input; every operator is known and has its arity, its
/// attributes in range and its numbers in the right shape; every declared shape is the one that the operator makes of
/// its parents' shapes; every tensor has elements, and not more than the limits; outputs exist.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    input: usize,
    outputs: Vec<usize>,
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    operator: &'static Operator,
    parents: Vec<usize>,
    shape: Vec<usize>,
    attributes: Attributes,
    payload: Vec<Tensor>,
}

/// The meaning of a graph.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program, whose outputs are those of the graph.
    pub program: Program,
    /// For each graph node the program node that holds its value, flattened in row-major order.
    pub values: Vec<NodeId>,
}

impl Graph {
    /// Reads a graph from the bytes of its JSON document. `payload` is the safetensors file with its numbers, each of which is read once;
    /// `None` if they stand in the nodes, or if there are none.
    ///
    /// # Errors
    /// `json.*` or `limit.json-*` where the bytes are no JSON or miss fields; `graph.*` for all that a [`Graph`] rules
    /// out; `tensors.*` where the payload file is at fault (the place of such a fault has the file `payload`);
    /// `limit.nodes`, `limit.rank`, `limit.elements`, `limit.graph-elements`. Faults that do not depend on one another
    /// are reported together; the first in the order of checking decides the code.
    pub fn read(json: &[u8], payload: Option<&dyn Source>, limits: &Limits) -> Result<Self, Rejection> {
        Self::of_json(&json::parse(json, limits)?, payload, limits)
    }

    /// Reads a graph from its JSON document.
    ///
    /// # Errors
    /// As for [`Graph::read`].
    pub fn of_json(json: &Json, payload: Option<&dyn Source>, limits: &Limits) -> Result<Self, Rejection> {
        read::read(json, payload, limits)
    }

    /// A graph of nodes that the reader has checked.
    pub(crate) fn new_raw(nodes: Vec<Node>, input: usize, outputs: Vec<usize>) -> Self {
        Self { nodes, input, outputs }
    }

    /// The nodes; the id of a node is its place.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The id of the input node.
    #[must_use]
    pub fn input_id(&self) -> usize {
        self.input
    }

    /// The ids of the outputs in order, at least one; an id may stand twice.
    #[must_use]
    pub fn output_ids(&self) -> &[usize] {
        &self.outputs
    }

    /// The shapes of the input and of each output, in order.
    #[must_use]
    pub fn interface(&self) -> Vec<Vec<usize>> {
        let ids = std::iter::once(&self.input).chain(&self.outputs);
        ids.filter_map(|id| self.nodes.get(*id)).map(|node| node.shape.clone()).collect()
    }

    /// The digest of the graph without its numbers, over the canonical bytes of `SPEC.md`, section 6.
    #[must_use]
    pub fn digest(&self) -> GraphDigest {
        let mut sink = Canonical::new("certkern/graph/1");
        sink.index(self.input);
        sink.indices(&self.outputs);
        sink.list(self.nodes.len());
        for node in &self.nodes {
            node.write(&mut sink);
        }
        sink.graph()
    }

    /// The digest of the numbers, wherever they stood.
    #[must_use]
    pub fn payload_digest(&self) -> PayloadDigest {
        let mut tensors = BTreeMap::new();
        for (id, node) in self.nodes.iter().enumerate() {
            tensors.extend(node.payload().map(|(field, tensor)| ((id, field), tensor)));
        }
        payload_digest(&tensors)
    }

    /// The meaning: a program of primitives in real arithmetic (PROGRAM in the rules).
    ///
    /// # Errors
    /// [`Reason::GraphOpaque`] at the first node that has no meaning here; `limit.coefficient-bits` if the numbers of a node have a common denominator of more than 1024 bits or lie more than 4096 bits apart;
    /// [`Reason::Internal`] if a lowering does not fit its own shapes, which the check of the graph excludes.
    pub fn lower(&self) -> Result<Lowered, Rejection> {
        const UNFIT: Reason = Reason::Internal("a lowering that does not fit its shapes");
        let mut program = Lowering::default();
        let mut values: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter().enumerate() {
            if let Some(detail) = node.operator.opaque {
                return Err(Reason::GraphOpaque { node: id, kind: node.kind(), detail }.into());
            }
            let value = self.value(node, &values, &mut program);
            if program.is_exhausted() {
                let limit = u64::try_from(MOST_RESERVED).unwrap_or(u64::MAX);
                return Err(Reason::Limit { name: "graph-elements", limit }.into());
            }
            // The shapes were checked; what is left are numbers that are too long, or too far apart, to be computed with together.
            let value = value.ok_or_else(|| {
                let limit = Reason::Limit { name: "coefficient-bits", limit: COEFFICIENT_BITS };
                Rejection::one(limit, Place::path(format!("nodes[{id}]")))
            })?;
            if program.width(value) != Some(node.width()) {
                return Err(UNFIT.into());
            }
            values.push(value);
        }
        let outputs = self.outputs.iter().map(|id| values.get(*id).copied()).collect::<Option<_>>().ok_or(UNFIT)?;
        let program = Program::new(program.into_nodes(), outputs);
        let program = program.map_err(|_| Reason::Internal("a lowered graph that is no program"))?;
        Ok(Lowered { program, values })
    }

    /// Adds the meaning of a node to the program, given the program nodes of the earlier ones.
    fn value(&self, node: &Node, values: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
        let shape = |parent: &usize| self.nodes.get(*parent).map(Node::shape);
        let shapes: Vec<&[usize]> = node.parents.iter().map(shape).collect::<Option<_>>()?;
        let parents: Vec<NodeId> = node.parents.iter().map(|id| values.get(*id).copied()).collect::<Option<_>>()?;
        let shapes = Shapes { parents: &shapes, declared: &node.shape };
        let site = Site { shapes, attributes: &node.attributes, payload: &node.payload };
        (node.operator.lower)(&site, &parents, program)
    }
}

/// `nodes=3, input=0, outputs=#[2]`, as TorchLean reports a graph that it accepts.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nodes={}, input={}, outputs=#{:?}", self.nodes.len(), self.input, self.outputs)
    }
}

impl Node {
    /// A node that the reader has checked.
    pub(crate) fn new_raw(
        operator: &'static Operator,
        parents: Vec<usize>,
        shape: Vec<usize>,
        attributes: Attributes,
        payload: Vec<Tensor>,
    ) -> Self {
        Self { operator, parents, shape, attributes, payload }
    }

    /// Writes the canonical bytes.
    fn write(&self, sink: &mut Canonical) {
        sink.str(self.kind());
        sink.indices(&self.parents);
        sink.indices(&self.shape);
        sink.list(self.attributes().len());
        for (name, value) in self.attributes() {
            sink.str(name);
            match value {
                Attribute::Number(number) => {
                    sink.byte(0);
                    sink.index(*number);
                }
                Attribute::List(numbers) => {
                    sink.byte(1);
                    sink.indices(numbers);
                }
            }
        }
    }

    /// The spelling of the operator.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.operator.kind
    }

    /// The ids of the parents, all smaller than that of the node.
    #[must_use]
    pub fn parents(&self) -> &[usize] {
        &self.parents
    }

    /// The shape of the value: row-major, a scalar has no axis, no axis has length 0.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements of the value.
    #[must_use]
    pub fn width(&self) -> usize {
        // The reader has checked that the product fits.
        shape::elements(&self.shape).unwrap_or(usize::MAX)
    }

    /// The attributes by ascending name, defaults written out.
    #[must_use]
    pub fn attributes(&self) -> &[(&'static str, Attribute)] {
        self.attributes.entries()
    }

    /// The numbers of the node by field.
    pub fn payload(&self) -> impl Iterator<Item = (&'static str, &Tensor)> {
        self.operator.payload.iter().map(|field| field.name).zip(&self.payload)
    }
}
