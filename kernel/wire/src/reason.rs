//! Why something is rejected, as data: one enum of reasons, each with a stable dotted code and a class. Words are made of it outside the
//! kernel.

pub use crate::rejection::{Fault, Place, Rejection};

/// The most characters that are shown of a text from a document.
pub const SHOWN: usize = 400;

/// Why bytes are no proof. Grouped by the document at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    // ---- json ----
    /// `json.syntax`: not JSON here.
    JsonSyntax(&'static str),
    /// `json.encoding`: not UTF-8, a byte order mark, or a lone surrogate.
    JsonEncoding(&'static str),
    /// `json.trailing`: bytes after the document.
    JsonTrailing,
    /// `json.duplicate-key`: this key stands twice in one object.
    JsonDuplicateKey(String),
    /// `json.unknown-key`: no field of this document.
    JsonUnknownKey(String),
    /// `json.missing-key`: a required field is absent.
    JsonMissingKey(String),
    /// `json.type`: another type was expected.
    JsonType {
        /// The type expected.
        expected: &'static str,
        /// The type found.
        found: &'static str,
    },
    /// `json.number`: a number outside what this field takes, or NaN or an infinity.
    JsonNumber(String),
    /// `json.value`: a string outside what this field takes.
    JsonValue {
        /// What was expected.
        expected: String,
        /// What stands there.
        found: String,
    },
    // ---- tensors ----
    /// `tensors.header`: the header of the safetensors file is broken.
    TensorsHeader(&'static str),
    /// `tensors.layout`: holes, overlaps, padding or trailing bytes.
    TensorsLayout(&'static str),
    /// `tensors.duplicate`: one name twice.
    TensorsDuplicate(String),
    /// `tensors.dtype`: a type that this tensor may not have.
    TensorsDtype {
        /// The name of the tensor.
        name: String,
        /// Its type.
        found: String,
    },
    /// `tensors.shape`: a shape that this tensor may not have.
    TensorsShape {
        /// The name of the tensor.
        name: String,
        /// What was expected.
        expected: String,
        /// Its shape.
        found: String,
    },
    /// `tensors.not-finite`: NaN or an infinity.
    TensorsNotFinite {
        /// The name of the tensor.
        name: String,
        /// The row-major index of the element.
        index: usize,
    },
    /// `tensors.missing`: a tensor that must be there.
    TensorsMissing(String),
    /// `tensors.unused`: a tensor that nothing uses.
    TensorsUnused(String),
    // ---- property ----
    /// `property.syntax`: not VNN-LIB here.
    PropertySyntax(&'static str),
    /// `property.unsupported`: VNN-LIB outside the linear fragment that is read.
    PropertyUnsupported(String),
    /// `property.variable`: an undeclared, repeated or misnumbered variable.
    PropertyVariable(String),
    /// `property.unbounded`: an input coordinate without both bounds.
    PropertyUnbounded(usize),
    /// `property.empty-region`: the lower end of an input coordinate is above its upper end.
    PropertyEmptyRegion(usize),
    /// `property.no-disjunct`: the unsafe set has no disjunct.
    PropertyNoDisjunct,
    /// `property.widths`: variables and network do not fit.
    PropertyWidths {
        /// `input` or `output`.
        role: &'static str,
        /// The number in the property.
        property: usize,
        /// The number in the network.
        network: usize,
    },
    /// `property.shape`: a declared tensor is of another shape than in the network.
    PropertyShape {
        /// Its name in the property.
        tensor: String,
        /// The shape declared.
        property: Vec<usize>,
        /// The shape in the network.
        network: Vec<usize>,
    },
    // ---- regions and bounds ----
    /// `region.fields`: ends and centre with radius are mixed, incomplete or absent.
    RegionFields(&'static str),
    /// `region.dimension`: the stated dimension is not that of the ends.
    RegionDimension {
        /// The dimension stated.
        stated: usize,
        /// The lengths of both lists of ends.
        found: (usize, usize),
    },
    /// `region.radius`: a radius below zero.
    RegionRadius,
    /// `bound.order`: a lower bound above its upper bound.
    BoundOrder(usize),
    /// `nodes.listing`: nodes that are not in the graph, out of order, or with another number of bounds than coordinates.
    NodesListing(String),
    /// `bound.unbound`: numbers without graph, payload, region and outputs.
    BoundUnbound,
    // ---- graph ----
    /// `graph.format`: not the format that is read.
    GraphFormat {
        /// The format named.
        found: String,
        /// The format that is read.
        expected: &'static str,
    },
    /// `graph.empty`: no nodes.
    GraphEmpty,
    /// `graph.id-order`: node ids are not 0, 1, 2, ….
    GraphIdOrder {
        /// The place in the list.
        place: usize,
        /// The id that stands there.
        id: u64,
    },
    /// `graph.parent-order`: a parent that is not an earlier node.
    GraphParentOrder {
        /// The node.
        node: usize,
        /// The parent named.
        parent: u64,
    },
    /// `graph.input`: not exactly one input node, or `input_id` names another.
    GraphInput(String),
    /// `graph.output`: no output, or an output that is no node.
    GraphOutput(String),
    /// `graph.unsupported-op`: an operator outside the table.
    GraphUnsupportedOp {
        /// The node.
        node: usize,
        /// Its operator.
        kind: String,
    },
    /// `graph.arity`: the wrong number of parents.
    GraphArity {
        /// The node.
        node: usize,
        /// Its operator.
        kind: &'static str,
        /// The number of parents expected.
        expected: String,
        /// The number found.
        found: usize,
    },
    /// `graph.attribute`: an attribute that is absent, of the wrong type or out of range.
    GraphAttribute {
        /// The node.
        node: usize,
        /// The field.
        field: String,
        /// What is wrong.
        detail: String,
    },
    /// `graph.shape-rule`: the parents' shapes do not fit the operator.
    GraphShapeRule {
        /// The node.
        node: usize,
        /// What is wrong.
        detail: String,
    },
    /// `graph.shape-mismatch`: the declared shape is not the inferred one. The text is the neighbour's.
    GraphShapeMismatch {
        /// The node.
        node: usize,
        /// Its operator.
        kind: &'static str,
        /// Its parents.
        parents: Vec<usize>,
        /// The shape by the shape rule.
        inferred: Vec<usize>,
        /// The shape that the node states.
        declared: Vec<usize>,
    },
    /// `graph.payload`: a payload tensor that is absent, given twice, of the wrong shape, or used by no node.
    GraphPayload {
        /// The node.
        node: usize,
        /// The field of the payload.
        field: String,
        /// What is wrong.
        detail: String,
    },
    /// `graph.opaque`: an operator that no claim about values can use.
    GraphOpaque {
        /// The node.
        node: usize,
        /// Its operator.
        kind: &'static str,
        /// Why.
        detail: &'static str,
    },
    // ---- bundle and binding ----
    /// `bundle.format`: not a format or kind that is known.
    BundleFormat {
        /// The name found.
        found: String,
        /// What is known here.
        expected: &'static str,
    },
    /// `bundle.file`: a file that is absent, named twice, outside the folder, or not named by the manifest.
    BundleFile {
        /// The name of the file.
        name: String,
        /// What is wrong.
        detail: &'static str,
    },
    /// `bundle.digest`: not 64 lower-case hexadecimal digits.
    BundleDigest(String),
    /// `bind.graph`, `bind.payload`, `bind.input`, `bind.output`, `bind.query`: the digest that is named is not that of the document.
    Bind {
        /// The document.
        role: Role,
        /// The digest that is named.
        expected: String,
        /// The digest of the document.
        actual: String,
    },
    /// `bind.graph` …: the user's own file is not the document of the bundle.
    BindFile {
        /// The document.
        role: Role,
        /// The name of the file.
        file: String,
        /// The digest of the document in the bundle.
        expected: String,
        /// The digest of the file.
        actual: String,
    },
    /// `bind.graph` …: the user's own file could not be read as this document, so nothing is known about it.
    BindUnreadable {
        /// The document.
        role: Role,
        /// The name of the file.
        file: String,
        /// Why it could not be read.
        detail: String,
    },
    // ---- certificates ----
    /// `tree.malformed`: the arrays spell no tree, or no tree for some disjunct.
    TreeMalformed(String),
    /// `tree.literal`: a split on a node, coordinate or threshold that does not exist or may not be split.
    TreeLiteral(String),
    /// `hint.shape`: hints that fit no leaf, node or row.
    HintShape(String),
    /// `hint.domain`: a slope or multiplier outside its domain, or NaN.
    HintDomain(String),
    /// `leaf.unproved`: the bound that the kernel computed does not close this leaf. `bound` is what was reached; it had to be above zero.
    LeafUnproved {
        /// The tree.
        tree: usize,
        /// The leaf, counted in preorder.
        leaf: usize,
        /// The disjunct.
        disjunct: usize,
        /// The bound that was reached.
        bound: String,
    },
    /// `domain.unproved`: interval bounds on the region, or at the point, do not show that the function of this value of the lowered program is defined.
    DomainUnproved {
        /// The value of the lowered program.
        node: usize,
        /// The coordinate in it.
        coordinate: usize,
    },
    /// `witness.region`: the point lies outside the region, by this much in this coordinate.
    WitnessRegion {
        /// The input coordinate with the least slack.
        coordinate: usize,
        /// By how much it misses.
        miss: String,
    },
    /// `witness.property`: the point lies in no disjunct of the unsafe set; the nearest disjunct misses by this much.
    WitnessProperty {
        /// The disjunct that comes nearest.
        disjunct: usize,
        /// Its row with the least slack.
        row: usize,
        /// By how much it misses.
        miss: String,
    },
    /// `witness.undecided`: balls around the outputs, at the highest precision, do not show whether the point is a witness.
    WitnessUndecided(String),
    /// `enclosure.query`: nodes that are no expressions.
    EnclosureQuery(&'static str),
    /// `enclosure.answer`: an answer that answers nothing, or not what was asked.
    EnclosureAnswer(String),
    /// `enclosure.refuted`: this value lies from `lower` to `upper`, for some choice of numbers from the intervals, and so outside its ball.
    EnclosureRefuted {
        /// The lower end, exactly.
        lower: String,
        /// The upper end, exactly.
        upper: String,
    },
    /// `enclosure.unproved`: computed with this many bits, this value lies neither in its ball nor apart from it.
    EnclosureUnproved(u64),
    /// `enclosure.undefined`: a node of which this value is made is not shown to be defined.
    EnclosureUndefined {
        /// The place of the value.
        index: usize,
        /// The operation of the node.
        operation: String,
    },
    /// `monotone.unproved`: this value of the lowered program is not shown, in this coordinate, to be nondecreasing in every input.
    MonotoneUnproved(usize, usize),
    /// `limit.<name>`: a named budget was exceeded.
    Limit {
        /// The name of the budget.
        name: &'static str,
        /// The budget.
        limit: u64,
    },
    /// `internal`: a state that the kernel holds impossible; never a proof.
    Internal(&'static str),
}

/// The documents that are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The graph.
    Graph,
    /// The payload: the numbers of the graph.
    Payload,
    /// The region of inputs.
    Input,
    /// The output ids and the whole unsafe set.
    Output,
    /// The expressions of an enclosure.
    Query,
}

/// What a rejection means, and so which exit code it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Well formed and bound, not proved with these hints.
    Unproved,
    /// Well formed and bound, and false.
    Refuted,
    /// The bytes are not a certificate of this claim.
    Malformed,
    /// A named budget was exceeded.
    Limit,
    /// A fault of the kernel itself.
    Internal,
}

impl Role {
    /// The name of the role in codes and manifests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Payload => "payload",
            Self::Input => "input",
            Self::Output => "output",
            Self::Query => "query",
        }
    }
}

impl Reason {
    /// The stable dotted code.
    #[must_use]
    pub fn code(&self) -> String {
        let code = match self {
            Self::JsonSyntax(_) => "json.syntax",
            Self::JsonEncoding(_) => "json.encoding",
            Self::JsonTrailing => "json.trailing",
            Self::JsonDuplicateKey(_) => "json.duplicate-key",
            Self::JsonUnknownKey(_) => "json.unknown-key",
            Self::JsonMissingKey(_) => "json.missing-key",
            Self::JsonType { .. } => "json.type",
            Self::JsonNumber(_) => "json.number",
            Self::JsonValue { .. } => "json.value",
            Self::TensorsHeader(_) => "tensors.header",
            Self::TensorsLayout(_) => "tensors.layout",
            Self::TensorsDuplicate(_) => "tensors.duplicate",
            Self::TensorsDtype { .. } => "tensors.dtype",
            Self::TensorsShape { .. } => "tensors.shape",
            Self::TensorsNotFinite { .. } => "tensors.not-finite",
            Self::TensorsMissing(_) => "tensors.missing",
            Self::TensorsUnused(_) => "tensors.unused",
            Self::PropertySyntax(_) => "property.syntax",
            Self::PropertyUnsupported(_) => "property.unsupported",
            Self::PropertyVariable(_) => "property.variable",
            Self::PropertyUnbounded(_) => "property.unbounded",
            Self::PropertyEmptyRegion(_) => "property.empty-region",
            Self::PropertyNoDisjunct => "property.no-disjunct",
            Self::PropertyWidths { .. } => "property.widths",
            Self::PropertyShape { .. } => "property.shape",
            Self::RegionFields(_) => "region.fields",
            Self::RegionDimension { .. } => "region.dimension",
            Self::RegionRadius => "region.radius",
            Self::BoundOrder(_) => "bound.order",
            Self::BoundUnbound => "bound.unbound",
            Self::NodesListing(_) => "nodes.listing",
            Self::GraphFormat { .. } => "graph.format",
            Self::GraphEmpty => "graph.empty",
            Self::GraphIdOrder { .. } => "graph.id-order",
            Self::GraphParentOrder { .. } => "graph.parent-order",
            Self::GraphInput(_) => "graph.input",
            Self::GraphOutput(_) => "graph.output",
            Self::GraphUnsupportedOp { .. } => "graph.unsupported-op",
            Self::GraphOpaque { .. } => "graph.opaque",
            Self::GraphArity { .. } => "graph.arity",
            Self::GraphAttribute { .. } => "graph.attribute",
            Self::GraphShapeRule { .. } => "graph.shape-rule",
            Self::GraphShapeMismatch { .. } => "graph.shape-mismatch",
            Self::GraphPayload { .. } => "graph.payload",
            Self::BundleFormat { .. } => "bundle.format",
            Self::BundleFile { .. } => "bundle.file",
            Self::BundleDigest(_) => "bundle.digest",
            Self::Bind { role, .. } | Self::BindFile { role, .. } | Self::BindUnreadable { role, .. } => {
                return format!("bind.{}", role.name());
            }
            Self::TreeMalformed(_) => "tree.malformed",
            Self::TreeLiteral(_) => "tree.literal",
            Self::HintShape(_) => "hint.shape",
            Self::HintDomain(_) => "hint.domain",
            Self::LeafUnproved { .. } => "leaf.unproved",
            Self::DomainUnproved { .. } => "domain.unproved",
            Self::WitnessRegion { .. } => "witness.region",
            Self::WitnessProperty { .. } => "witness.property",
            Self::WitnessUndecided(_) => "witness.undecided",
            Self::EnclosureQuery(_) => "enclosure.query",
            Self::EnclosureAnswer(_) => "enclosure.answer",
            Self::EnclosureRefuted { .. } => "enclosure.refuted",
            Self::EnclosureUnproved(_) => "enclosure.unproved",
            Self::EnclosureUndefined { .. } => "enclosure.undefined",
            Self::MonotoneUnproved(..) => "monotone.unproved",
            Self::Limit { name, .. } => return format!("limit.{name}"),
            Self::Internal(_) => "internal",
        };
        code.to_owned()
    }

    /// What the reason means for the verdict.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::LeafUnproved { .. } | Self::WitnessRegion { .. } | Self::WitnessProperty { .. } => Class::Unproved,
            Self::DomainUnproved { .. } | Self::EnclosureUnproved(_) | Self::EnclosureUndefined { .. } => {
                Class::Unproved
            }
            Self::WitnessUndecided(_) | Self::MonotoneUnproved(..) => Class::Unproved,
            Self::EnclosureRefuted { .. } => Class::Refuted,
            Self::Limit { .. } => Class::Limit,
            Self::Internal(_) => Class::Internal,
            _ => Class::Malformed,
        }
    }
}
