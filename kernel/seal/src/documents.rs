//! The documents of a claim, read and bound.

use certkern_core::program::NodeId;
use certkern_core::property::Property;
use certkern_core::rules::{Problem, RuleError};
use certkern_graph::Graph;
use certkern_wire::bound;
use certkern_wire::digest::{self, GraphDigest, InputDigest, OutputDigest, PayloadDigest};
use certkern_wire::reason::{Place, Reason, Rejection, Role};
use certkern_wire::region::Ends;
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

/// A graph with its numbers and a property, the problem that they pose, and their digests, computed here.
#[derive(Debug)]
pub struct Documents {
    graph: Graph,
    /// The bounds of the outputs, if the unsafe set is what lies outside them.
    bounds: Option<Ends>,
    values: Vec<NodeId>,
    problem: Arc<Problem>,
    digests: Digests,
}

impl Digests {
    /// The digests of these documents.
    #[must_use]
    pub fn of(graph: &Graph, property: &Property) -> Self {
        Self {
            graph: graph.digest(),
            payload: graph.payload_digest(),
            input: digest::input_digest(property),
            output: digest::output_digest(graph.output_ids(), property),
        }
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
    /// The problem that `property` poses for `graph`.
    ///
    /// # Errors
    /// `property.widths` if they do not fit; what [`Graph::lower`] refuses.
    pub fn new(graph: Graph, property: Property) -> Result<Self, Rejection> {
        let lowered = graph.lower()?;
        let widths = [
            ("input", property.inputs(), lowered.program.width(lowered.program.input())),
            ("output", property.outputs, lowered.program.output_width()),
        ];
        for (role, property, network) in widths {
            if property != network {
                return Err(Reason::PropertyWidths { role, property, network }.into());
            }
        }
        let digests = Digests::of(&graph, &property);
        let problem = Problem::new(lowered.program, property).map_err(|error| match error {
            RuleError::Mismatch(what) => Reason::Internal(what),
            _ => Reason::Internal("a problem that its readers should have refused"),
        })?;
        Ok(Self { graph, bounds: None, values: lowered.values, problem: Arc::new(problem), digests })
    }

    /// The problem whether all outputs of `graph` lie within `bounds` on the box `region`: whether none lies [`bound::outside`].
    ///
    /// # Errors
    /// As for [`Documents::new`].
    pub fn bounded(graph: Graph, region: Ends, bounds: Ends) -> Result<Self, Rejection> {
        let property = bound::outside(region, &bounds);
        Ok(Self { bounds: Some(bounds), ..Self::new(graph, property)? })
    }

    /// The bounds of the outputs, lower and upper, if they are what is claimed.
    #[must_use]
    pub fn bounds(&self) -> Option<&Ends> {
        self.bounds.as_ref()
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
