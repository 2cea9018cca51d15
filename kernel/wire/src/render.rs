//! Rejections as text: the place, what is wrong, and where there is one, the way out.
//!
//! Text from a document is shortened and its control characters are escaped, so that no document can write a verdict line or move the
//! cursor of a terminal.

use crate::reason::{Fault, Place, Reason, Rejection};
use std::fmt::{self, Display, Formatter, Write as _};

/// Text from a document: control characters escaped, at most [`Shown::MOST`] characters.
pub struct Shown<'a>(pub &'a str);

impl Shown<'_> {
    /// The most characters that are shown.
    pub const MOST: usize = 400;
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut chars = self.0.chars();
        for c in chars.by_ref().take(Self::MOST) {
            match c {
                '"' | '\'' | '\\' => f.write_char(c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        if chars.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().unwrap_or_default();
        write!(f, "{}", Shown(file))?;
        if !file.is_empty() && !self.path.is_empty() {
            f.write_str(": ")?;
        }
        write!(f, "{}", Shown(&self.path))?;
        match self.offset {
            Some(offset) if file.is_empty() && self.path.is_empty() => write!(f, "byte {offset}"),
            Some(offset) => write!(f, " (byte {offset})"),
            None => Ok(()),
        }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.place == Place::default() {
            return write!(f, "{}", self.reason);
        }
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl Display for Rejection {
    /// One line for each fault.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults().enumerate() {
            if i > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = |text| Shown(text);
        match self {
            Self::JsonSyntax(what) => write!(f, "not JSON: {what}"),
            Self::JsonEncoding(what) => {
                write!(f, "not UTF-8 text: {what}; write plain UTF-8 without a byte order mark")
            }
            Self::JsonTrailing => write!(f, "something follows the document; a file holds one document"),
            Self::JsonDuplicateKey(key) => write!(f, "the key `{}` stands twice in one object", s(key)),
            Self::JsonUnknownKey(key) => write!(f, "unknown field `{}`; take it out, or check its spelling", s(key)),
            Self::JsonMissingKey(key) => write!(f, "missing field `{}`", s(key)),
            Self::JsonType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::JsonNumber(text) => write!(f, "`{}` is not a number that this field takes", s(text)),
            Self::JsonValue { expected, found } => write!(f, "expected {}, found {}", s(expected), s(found)),
            Self::TensorsHeader(what) => write!(f, "safetensors header: {what}"),
            Self::TensorsLayout(what) => {
                write!(f, "safetensors layout: {what}; tensors fill the file without holes or overlaps")
            }
            Self::TensorsDuplicate(name) => write!(f, "the tensor `{}` stands twice", s(name)),
            Self::TensorsDtype { name, found } => {
                write!(f, "tensor `{}`: type `{}` is not read here", s(name), s(found))
            }
            Self::TensorsShape { name, expected, found } => {
                write!(f, "tensor `{}`: expected {}, found {}", s(name), s(expected), s(found))
            }
            Self::TensorsNotFinite { name, index } => {
                write!(f, "tensor `{}`: element {index} is NaN or infinite", s(name))
            }
            Self::TensorsMissing(name) => write!(f, "the tensor `{}` is missing", s(name)),
            Self::TensorsUnused(name) => write!(f, "the tensor `{}` is used by nothing; take it out", s(name)),
            _ => self.property(f),
        }
    }
}

impl Reason {
    fn property(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::PropertySyntax(what) => write!(f, "not VNN-LIB 1.0: {what}"),
            Self::PropertyUnsupported(what) => write!(
                f,
                "`{}` is outside the linear fragment of VNN-LIB that is read (declare-const, assert, and, or, <=, >=, <, >, =, +, -, * with constants)",
                Shown(what)
            ),
            Self::PropertyVariable(what) => {
                write!(
                    f,
                    "variable: {}; variables are X_0, X_1, … and Y_0, Y_1, …, each declared once and in order",
                    Shown(what)
                )
            }
            Self::PropertyUnbounded(i) => {
                write!(f, "input {i} is not bounded on both sides by rows on it alone in every disjunct")
            }
            Self::PropertyEmptyRegion(i) => {
                write!(f, "the region is empty: the lower end of input {i} is above its upper end")
            }
            Self::PropertyNoDisjunct => write!(f, "the unsafe set has no disjunct, so there is nothing to refute"),
            Self::PropertyWidths { role, property, network } => {
                write!(f, "the property has {property} {role} variables and the network {network}")
            }
            Self::PropertyShape { tensor, property, network } => {
                write!(f, "{tensor} is declared with shape {property:?}, and the network's is {network:?}")
            }
            Self::RegionFields(what) => write!(f, "region: {what}"),
            Self::RegionDimension { stated, found: (lower, upper) } => {
                write!(f, "region: dimension {stated} does not match endpoint lengths {lower} and {upper}")
            }
            Self::RegionRadius => write!(f, "region: expected a nonnegative radius"),
            Self::BoundOrder(i) => write!(f, "the lower bound of output {i} is above its upper bound"),
            Self::NodesListing(what) => write!(f, "nodes: {}", Shown(what)),
            Self::BoundUnbound => write!(
                f,
                "these bounds name no graph, no numbers, no region and no outputs, so they say nothing; check them in a bundle of kind `bound`"
            ),
            _ => self.graph(f),
        }
    }

    fn graph(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const IMPORT: &str = "PyTorch graph import:";
        let s = |text| Shown(text);
        match self {
            Self::GraphFormat { found, expected } => {
                write!(f, "{IMPORT} unsupported format `{}` (expected `{expected}`)", s(found))
            }
            Self::GraphEmpty => write!(f, "{IMPORT} graph contains no nodes"),
            Self::GraphIdOrder { place, id } => {
                write!(f, "{IMPORT} node[{place}]: id {id} is not its place; ids are 0, 1, 2, … in order")
            }
            Self::GraphParentOrder { node, parent } => {
                write!(f, "{IMPORT} node[{node}]: parent id {parent} is not < {node}")
            }
            Self::GraphInput(what) => write!(f, "{IMPORT} input: {}", s(what)),
            Self::GraphOutput(what) => write!(f, "{IMPORT} output: {}", s(what)),
            Self::GraphUnsupportedOp { node, kind } => {
                write!(f, "{IMPORT} node[{node}]: unsupported TorchLean IR op kind `{}`", s(kind))
            }
            Self::GraphArity { node, kind, expected, found } => {
                write!(f, "IR graph: node {node}: bad parent count for {kind}: expected {}, got {found}", s(expected))
            }
            Self::GraphAttribute { node, field, detail } => {
                write!(f, "{IMPORT} node[{node}].{}: {}", s(field), s(detail))
            }
            Self::GraphShapeRule { node, detail } => write!(f, "IR graph: node {node}: {}", s(detail)),
            Self::GraphShapeMismatch { node, kind, parents, inferred, declared } => write!(
                f,
                "IR graph: node {node}: outShape mismatch: inferred={inferred:?}, declared={declared:?} \
                 (Node(id={node}, kind={kind}, parents=#{parents:?}, outShape={declared:?}))"
            ),
            Self::GraphOpaque { node, kind, detail } => {
                write!(f, "node {node}: no claim about values can use `{kind}`: {detail}")
            }
            Self::GraphPayload { node, field, detail } => {
                write!(f, "payload of node {node}, field `{}`: {}", s(field), s(detail))
            }
            _ => self.claim(f),
        }
    }

    fn claim(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = |text| Shown(text);
        match self {
            Self::BundleFormat { found, expected } => {
                write!(f, "`{}` is not known here (expected `{expected}`)", s(found))
            }
            Self::BundleFile { name, detail } => write!(f, "file `{}`: {detail}", s(name)),
            Self::BundleDigest(text) => {
                write!(f, "`{}` is not a digest; a digest is 64 lower-case hexadecimal digits", s(text))
            }
            Self::Bind { role, expected, actual } => {
                let role = role.name();
                write!(
                    f,
                    "the {role} is not the one of this certificate: it names {}, the document has {}",
                    s(expected),
                    s(actual)
                )
            }
            Self::BindFile { role, file, expected, actual } => write!(
                f,
                "`{}` is not the {} of this bundle: the bundle has {}, the file {}",
                s(file),
                role.name(),
                s(expected),
                s(actual)
            ),
            Self::BindUnreadable { role, file, detail } => write!(
                f,
                "`{}` could not be read as the {} of this bundle, so it was not compared: {}",
                s(file),
                role.name(),
                s(detail)
            ),
            Self::TreeMalformed(what) => write!(f, "split tree: {}", s(what)),
            Self::TreeLiteral(what) => write!(f, "split: {}", s(what)),
            Self::HintShape(what) => write!(f, "hint that fits nothing: {}", s(what)),
            Self::HintDomain(what) => write!(f, "hint outside its domain: {}", s(what)),
            // Tree, leaf and disjunct are the place, which stands before.
            Self::LeafUnproved { bound, .. } => write!(
                f,
                "not refuted, the bound reached is {} and must be above zero; split further or give better slopes",
                s(bound)
            ),
            Self::DomainUnproved { node, coordinate } => write!(
                f,
                "value {node} of the lowered network is not shown to be defined at coordinate {coordinate}: interval bounds of its argument leave the domain of its function"
            ),
            Self::WitnessRegion { coordinate, miss } => {
                write!(f, "no witness: input coordinate {coordinate} lies outside the region by {}", s(miss))
            }
            Self::WitnessProperty { disjunct, row, miss } => write!(
                f,
                "no witness: the outputs lie in no disjunct of the unsafe set; disjunct {disjunct} comes nearest and misses row {row} by {}",
                s(miss)
            ),
            Self::WitnessUndecided(what) => write!(f, "not decided: {}", s(what)),
            Self::EnclosureQuery(what) => write!(f, "no expression: {what}"),
            Self::EnclosureAnswer(what) => write!(f, "no answer to this query: {}", s(what)),
            Self::EnclosureRefuted { lower, upper } => {
                write!(f, "false: the value lies from {} to {}, outside the ball", s(lower), s(upper))
            }
            Self::EnclosureUnproved(bits) => write!(
                f,
                "not proved: computed with {bits} bits the value lies neither in the ball nor apart from it; allow more precision or a larger radius"
            ),
            Self::EnclosureUndefined { index, operation } => {
                write!(f, "value {index} is not shown to be defined: `{}` of this argument", s(operation))
            }
            Self::MonotoneUnproved(node, coordinate) => {
                write!(
                    f,
                    "value {node} of the lowered network is not shown to be nondecreasing in every input, at coordinate {coordinate}"
                )
            }
            Self::Limit { name, limit } => {
                write!(
                    f,
                    "the budget `{name}` of {limit} is exceeded; the document may be good, raise the limit to read it"
                )
            }
            Self::Internal(what) => write!(f, "internal error, please report it: broken assumption: {what}"),
            _ => write!(f, "{}", self.code()),
        }
    }
}
