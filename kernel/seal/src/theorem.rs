//! Theorems: what the kernel proved in this process.

use crate::documents::{Claimed, Digests, Documents};
use crate::evidence::{Count, Evidence};
use certkern_core::num::Rational;
use certkern_core::property::{Norm, Property};
use certkern_core::rules::{self, ClaimedBall, Enclosure, Judgement, Statement};
use certkern_graph::Graph;
use certkern_wire::digest::{self, AnswerDigest, ClaimDigest, GraphDigest, PayloadDigest, QueryDigest};
use certkern_wire::reason::{Reason, Rejection, Role};
use std::sync::Arc;

/// What a theorem says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposition {
    /// The graph is well-shaped.
    WellShaped,
    /// For every `x` of the region `F(x)` is defined and `(x, F(x))` lies outside the unsafe set.
    Unsat,
    /// For every `x` of the region `F(x)` is defined and lies within the bounds.
    Bound,
    /// For every `x` of the region every value is defined, and those of some nodes lie within their bounds.
    Nodes,
    /// For some `x` of the region `(x, F(x))` lies in the unsafe set.
    Sat,
    /// For every choice of numbers from the intervals of a query, its values are defined and lie in the balls of the answer.
    Enclosure,
    /// For all `x ≤ x′` in ℝⁿ, coordinate by coordinate, `F(x)` and `F(x′)` are defined and `F(x) ≤ F(x′)`.
    Monotone,
}

impl Proposition {
    /// The name in verdict lines and claim digests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WellShaped => "well-shaped",
            Self::Unsat => "unsat",
            Self::Bound => "bound",
            Self::Nodes => "nodes",
            Self::Sat => "sat",
            Self::Enclosure => "enclosure",
            Self::Monotone => "monotone",
        }
    }
}

/// A proposition that the kernel proved about the documents with these digests. It cannot be made outside this file:
///
/// ```compile_fail
/// let forged: certkern_seal::Theorem = Default::default();
/// ```
///
/// ```compile_fail
/// fn alter(theorem: &mut certkern_seal::Theorem) {
///     theorem.proposition = certkern_seal::Proposition::Unsat;
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Theorem {
    proposition: Proposition,
    kind: &'static str,
    subject: Subject,
    claim: ClaimDigest,
    counts: Vec<Count>,
    /// The matrix product by which parts were decided in binary64, if any were.
    binary64: Option<&'static str>,
    model: Evidence,
    specification: Evidence,
    /// Points at which outputs of the user's model in floating point were compared.
    probes: usize,
}

/// What a theorem is about.
#[derive(Debug)]
pub enum Subject {
    /// A graph alone.
    Graph {
        /// The digest of the graph.
        graph: GraphDigest,
        /// The digest of its numbers.
        payload: PayloadDigest,
        /// The number of its nodes.
        nodes: usize,
        /// The id of its input.
        input: usize,
        /// The ids of its outputs.
        outputs: Vec<usize>,
    },
    /// A graph, a region and an unsafe set, or the bounds outside which it lies.
    Problem {
        /// The digests of all four.
        digests: Box<Digests>,
        /// The shapes of the network's input and outputs.
        interface: Vec<Vec<usize>>,
        /// The ids of the outputs, or of the nodes that are bounded.
        outputs: Vec<usize>,
        /// The number of input coordinates.
        inputs: usize,
        /// The ball that the region lies in beside its box.
        ball: Option<(Norm, Rational)>,
        /// The number of linear constraints of the region.
        rows: usize,
        /// The number of disjuncts of the unsafe set.
        disjuncts: usize,
        /// Whether the box is empty under the input rows of each disjunct, taken one by one and as closed; `false` says nothing.
        vacuous: bool,
        /// What is claimed.
        claimed: Claimed,
        /// What the bundle names that lies outside the graph.
        outside: Vec<String>,
    },
    /// Expressions and balls for their values.
    Enclosure {
        /// The digest of the expressions.
        query: QueryDigest,
        /// The digest of the balls.
        answer: AnswerDigest,
        /// The number of intervals in the expressions.
        intervals: usize,
        /// The balls.
        balls: Vec<ClaimedBall>,
    },
}

impl Theorem {
    /// The theorem that a closed judgement about the problem of `documents` proves by a certificate of kind `kind`. `binary64` names the matrix
    /// product by which parts of it were decided in binary64, if any were.
    ///
    /// # Errors
    /// `internal` if the judgement is of another problem, rests on literals or on one disjunct, or states nothing closed.
    pub fn of(
        judgement: &Judgement,
        documents: &Documents,
        kind: &'static str,
        counts: Vec<Count>,
        binary64: Option<&'static str>,
    ) -> Result<Self, Rejection> {
        let problem = documents.problem();
        let proposition = match (judgement.statement(), documents.claimed()) {
            (Statement::Unsat, Claimed::Avoids) => Proposition::Unsat,
            (Statement::Unsat, Claimed::Bounds(_)) => Proposition::Bound,
            (Statement::Unsat, Claimed::Nodes(_)) => Proposition::Nodes,
            (Statement::Sat, Claimed::Avoids) => Proposition::Sat,
            (Statement::Sat, _) => return Err(Reason::Internal("a witness against bounds").into()),
            (Statement::Empty, _) => return Err(Reason::Internal("a judgement about one disjunct").into()),
        };
        if !Arc::ptr_eq(judgement.problem(), problem) || !judgement.is_closed() {
            return Err(Reason::Internal("a judgement that is not the claim").into());
        }
        // Computed from these documents when they were put together; they cannot have changed since.
        let digests = Box::new(documents.digests().clone());
        let bytes = [digests.graph.bytes(), digests.payload.bytes(), digests.input.bytes(), digests.output.bytes()];
        let claim = digest::claim_digest(kind, proposition.name(), &bytes);
        let disjuncts = problem.property().disjuncts.len();
        let vacuous =
            proposition == Proposition::Unsat && (0..disjuncts).all(|d| matches!(problem.region_of(d), Ok(None)));
        let (claimed, outside) = (documents.claimed().clone(), documents.outside.clone());
        let (interface, outputs) = (documents.graph().interface(), claimed.ids(documents.graph()));
        let (inputs, within) = (problem.property().inputs(), problem.restriction());
        let ball = within.ball.as_ref().map(|ball| (ball.norm, ball.radius.clone()));
        let rows = within.rows.len();
        let subject =
            Subject::Problem { digests, interface, outputs, inputs, ball, rows, disjuncts, vacuous, claimed, outside };
        let (model, specification) = (Evidence::Assumed, Evidence::Assumed);
        Ok(Self { proposition, kind, subject, claim, counts, binary64, model, specification, probes: 0 })
    }

    /// The theorem that a graph is well-shaped: a [`Graph`] cannot exist otherwise.
    pub fn well_shaped(graph: &Graph) -> Self {
        Self::of_graph("graph", Proposition::WellShaped, graph)
    }

    /// The theorem that a graph is nondecreasing in every input.
    ///
    /// # Errors
    /// `monotone.unproved`, and what [`Graph::lower`] refuses.
    pub fn monotone(graph: &Graph) -> Result<Self, Rejection> {
        let program = graph.lower()?.program;
        rules::monotone(&program).map_err(|(node, coordinate)| Reason::MonotoneUnproved(node, coordinate))?;
        Ok(Self::of_graph("monotone", Proposition::Monotone, graph))
    }

    /// A theorem about a graph alone.
    fn of_graph(kind: &'static str, proposition: Proposition, graph: &Graph) -> Self {
        let (digest, payload) = (graph.digest(), graph.payload_digest());
        let claim = digest::claim_digest(kind, proposition.name(), &[digest.bytes(), payload.bytes()]);
        let subject = Subject::Graph {
            graph: digest,
            payload,
            nodes: graph.nodes().len(),
            input: graph.input_id(),
            outputs: graph.output_ids().to_vec(),
        };
        let (model, specification) = (Evidence::Assumed, Evidence::Proved);
        Self { proposition, kind, subject, claim, counts: Vec::new(), binary64: None, model, specification, probes: 0 }
    }

    /// The theorem that an enclosure is.
    pub fn enclosed(enclosure: &Enclosure) -> Self {
        let (kind, proposition) = ("enclosure", Proposition::Enclosure);
        let (expressions, balls) = (enclosure.expressions(), enclosure.balls().to_vec());
        let (query, answer) = (digest::query_digest(expressions), digest::answer_digest(&balls));
        let claim = digest::claim_digest(kind, proposition.name(), &[query.bytes(), answer.bytes()]);
        let count = |name, number| Count { name, number };
        let precision = usize::try_from(enclosure.precision()).unwrap_or(usize::MAX);
        let nodes = expressions.nodes().len();
        let counts = vec![count("values", balls.len()), count("nodes", nodes), count("precision", precision)];
        let subject = Subject::Enclosure { query, answer, intervals: expressions.intervals(), balls };
        let (model, specification) = (Evidence::Assumed, Evidence::Assumed);
        Self { proposition, kind, subject, claim, counts, binary64: None, model, specification, probes: 0 }
    }

    /// The proposition.
    #[must_use]
    pub fn proposition(&self) -> Proposition {
        self.proposition
    }

    /// The certificate kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The claim digest: the same on every machine, whatever the hints.
    #[must_use]
    pub fn claim(&self) -> &ClaimDigest {
        &self.claim
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Counts of what was checked.
    #[must_use]
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }

    /// The matrix product by which parts were decided in binary64, if any were.
    #[must_use]
    pub fn binary64(&self) -> Option<&'static str> {
        self.binary64
    }

    /// The shapes of the network's input and outputs, if the theorem is about inputs and outputs.
    #[must_use]
    pub fn interface(&self) -> Option<&[Vec<usize>]> {
        match &self.subject {
            Subject::Problem { interface, .. } => Some(interface),
            Subject::Graph { .. } | Subject::Enclosure { .. } => None,
        }
    }

    /// How it is known that the graph is the user's model.
    #[must_use]
    pub fn model(&self) -> Evidence {
        self.model
    }

    /// How it is known that region and unsafe set are the user's property.
    #[must_use]
    pub fn specification(&self) -> Evidence {
        self.specification
    }

    /// The same theorem, with the user's own model imported afresh and compared: same graph, same numbers.
    ///
    /// # Errors
    /// `bind.graph` or `bind.payload` if the digests differ.
    pub fn compared_with_model(mut self, model: &Graph, file: &str) -> Result<Self, Rejection> {
        self.speaks_of(model, file)?;
        self.model = Evidence::Compared;
        Ok(self)
    }

    /// The same theorem, where a test found the outputs of the user's own model at one more point, computed in floating point, as near to those
    /// of `graph` as rounding leaves them.
    ///
    /// # Errors
    /// `bind.graph` or `bind.payload` if the theorem is not about `graph`.
    pub fn compared_at_point(mut self, graph: &Graph, file: &str) -> Result<Self, Rejection> {
        self.speaks_of(graph, file)?;
        self.probes = self.probes.saturating_add(1);
        Ok(self)
    }

    /// The number of points at which outputs of the user's own model were compared.
    #[must_use]
    pub fn probes(&self) -> usize {
        self.probes
    }

    fn speaks_of(&self, model: &Graph, file: &str) -> Result<(), Rejection> {
        let (graph, payload) = match &self.subject {
            Subject::Graph { graph, payload, .. } => (graph, payload),
            Subject::Problem { digests, .. } => (&digests.graph, &digests.payload),
            Subject::Enclosure { .. } => return Err(without("expressions alone", "a claim with a graph")),
        };
        same(Role::Graph, file, &model.digest().to_string(), &graph.to_string())?;
        same(Role::Payload, file, &model.payload_digest().to_string(), &payload.to_string())
    }

    /// The same theorem, with the user's own property read afresh and compared: same region, same unsafe set.
    ///
    /// # Errors
    /// `bind.input` or `bind.output` if the digests differ.
    pub fn compared_with_property(mut self, property: &Property, file: &str) -> Result<Self, Rejection> {
        let Subject::Problem { digests, outputs, claimed: Claimed::Avoids | Claimed::Bounds(_), .. } = &self.subject
        else {
            return Err(without("no property of the outputs", "a claim with a property"));
        };
        same(Role::Input, file, &digest::input_digest(property).to_string(), &digests.input.to_string())?;
        same(Role::Output, file, &digest::output_digest(outputs, property).to_string(), &digests.output.to_string())?;
        self.specification = Evidence::Compared;
        Ok(self)
    }
}

/// The user's own file has nothing here that it could be compared with.
fn without(found: &str, expected: &'static str) -> Rejection {
    Reason::BundleFormat { found: found.to_owned(), expected }.into()
}

fn same(role: Role, file: &str, expected: &str, actual: &str) -> Result<(), Rejection> {
    if expected == actual {
        return Ok(());
    }
    let (file, expected, actual) = (file.to_owned(), expected.to_owned(), actual.to_owned());
    Err(Reason::BindFile { role, file, expected, actual }.into())
}
