//! The documents of a claim, read and bound.

use certkern_core::program::NodeId;
use certkern_core::property::{Property, Within};
use certkern_core::rules::{Problem, RuleError};
use certkern_graph::{Graph, Lowered};
use certkern_wire::bound;
use certkern_wire::digest::{self, GraphDigest, InputDigest, OutputDigest, PayloadDigest};
use certkern_wire::nodes::Nodes;
use certkern_wire::reason::{Place, Reason, Rejection, Role};
use certkern_wire::region::{Ends, Region};
use std::sync::Arc;

/// The four digests of a claim about a graph, its numbers, a region and an unsafe set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests {
    /// The graph.
    pub graph: GraphDigest,
    /// The numbers of the graph.
    pub payload: PayloadDigest,
    /// The region of inputs.
    pub input: InputDigest,
    /// The output ids and the whole unsafe set.
    pub output: OutputDigest,
}

/// A region and an unsafe set, and what they were stated as.
#[derive(Clone, Debug)]
pub struct Stated {
    property: Property,
    within: Within,
    claimed: Claimed,
}

/// What is claimed of all inputs of a region, and so what the unsafe set is.
#[derive(Clone, Debug)]
pub enum Claimed {
    /// That the outputs avoid an unsafe set.
    Avoids,
    /// That each output lies between a lower and an upper bound.
    Bounds(Ends),
    /// That the values of these nodes, each with the number of its coordinates, lie within the bounds listed.
    Nodes(Vec<(usize, usize)>),
}

impl From<Property> for Stated {
    fn from(property: Property) -> Self {
        Self { property, within: Within::default(), claimed: Claimed::Avoids }
    }
}

impl Stated {
    /// Bounds of all outputs on a region: none of them lies [`bound::outside`].
    #[must_use]
    pub fn bounds((ends, within): Region, bounds: Ends) -> Self {
        Self { property: bound::outside(ends, &bounds), within, claimed: Claimed::Bounds(bounds) }
    }

    /// Bounds of nodes on a region.
    #[must_use]
    pub fn nodes(((lower, upper), within): Region, Nodes { listed, disjuncts }: Nodes) -> Self {
        let outputs = listed.iter().fold(0, |sum: usize, (_, width)| sum.saturating_add(*width));
        Self { property: Property { lower, upper, outputs, disjuncts }, within, claimed: Claimed::Nodes(listed) }
    }

    /// The digest of the region.
    #[must_use]
    pub fn input_digest(&self) -> InputDigest {
        digest::region_digest(&self.property, &self.within)
    }

    /// The digest of the unsafe set, with the ids of the nodes whose values it speaks of.
    #[must_use]
    pub fn output_digest(&self, graph: &Graph) -> OutputDigest {
        digest::output_digest(&self.claimed.ids(graph), &self.property)
    }
}

impl Claimed {
    /// The nodes of the graph whose values the unsafe set speaks of.
    pub(crate) fn ids(&self, graph: &Graph) -> Vec<usize> {
        match self {
            Self::Avoids | Self::Bounds(_) => graph.output_ids().to_vec(),
            Self::Nodes(listed) => listed.iter().map(|(id, _)| *id).collect(),
        }
    }
}

/// A graph with its numbers and a property, the problem that they pose, and their digests, computed here.
#[derive(Debug)]
pub struct Documents {
    graph: Graph,
    claimed: Claimed,
    /// What is named that lies outside the graph: the report says of each that it is assumed.
    pub outside: Vec<String>,
    values: Vec<NodeId>,
    problem: Arc<Problem>,
    digests: Digests,
}

impl Digests {
    /// The digests of these documents.
    #[must_use]
    pub fn of(graph: &Graph, stated: &Stated) -> Self {
        let (input, output) = (stated.input_digest(), stated.output_digest(graph));
        Self { graph: graph.digest(), payload: graph.payload_digest(), input, output }
    }

    /// The digests by role, as bundles name them.
    #[must_use]
    pub fn by_role(&self) -> [(Role, String); 4] {
        [
            (Role::Graph, self.graph.to_string()),
            (Role::Payload, self.payload.to_string()),
            (Role::Input, self.input.to_string()),
            (Role::Output, self.output.to_string()),
        ]
    }
}

impl Documents {
    /// The problem that a property, or another statement, poses for `graph`.
    ///
    /// # Errors
    /// `property.widths` or `nodes.listing` if they do not fit; what [`Graph::lower`] refuses.
    pub fn new(graph: Graph, stated: impl Into<Stated>) -> Result<Self, Rejection> {
        let stated = stated.into();
        let digests = Digests::of(&graph, &stated);
        let Stated { property, within, claimed } = stated;
        let Lowered { mut program, values } = graph.lower()?;
        if let Claimed::Nodes(listed) = &claimed {
            let bounded = |(id, width): &(usize, usize)| {
                let value = values.get(*id).copied().filter(|value| program.width(*value) == *width);
                value.ok_or_else(|| Reason::NodesListing(format!("there is no node {id} with {width} coordinates")))
            };
            let outputs = listed.iter().map(bounded).collect::<Result<_, _>>()?;
            program = program.with_outputs(outputs).map_err(|_| Reason::Internal("nodes that were looked up"))?;
        }
        let widths = [
            ("input", property.inputs(), program.width(program.input())),
            ("output", property.outputs, program.output_width()),
        ];
        for (role, property, network) in widths {
            if property != network {
                return Err(Reason::PropertyWidths { role, property, network }.into());
            }
        }
        let problem = Problem::within(program, property, within).map_err(|error| match error {
            RuleError::Mismatch(what) => Reason::Internal(what),
            _ => Reason::Internal("a problem that its readers should have refused"),
        })?;
        Ok(Self { graph, claimed, outside: Vec::new(), values, problem: Arc::new(problem), digests })
    }

    /// What is claimed.
    #[must_use]
    pub fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The program node that holds the value of a graph node.
    #[must_use]
    pub fn value(&self, graph_node: usize) -> Option<NodeId> {
        self.values.get(graph_node).copied()
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The digests, computed from the documents.
    #[must_use]
    pub fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Compares the digests that a bundle names with those of the documents.
    ///
    /// # Errors
    /// `bind.<role>` for each that differs.
    pub fn bind(&self, named: &Digests) -> Result<(), Rejection> {
        let pairs = named.by_role().into_iter().zip(self.digests.by_role());
        let faults = pairs.filter(|((_, expected), (_, actual))| expected != actual);
        let faults = faults.map(|((role, expected), (_, actual))| certkern_wire::reason::Fault {
            reason: Reason::Bind { role, expected, actual },
            place: Place::path(format!("digests.{}", role.name())),
        });
        Rejection::of(faults.collect()).map_or(Ok(()), Err)
    }
}
