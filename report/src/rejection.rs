//! Rejections as text: the place, what is wrong, and where there is one, the way out.
//!
//! Text from a document is shortened and its control characters are escaped, so that no document can write a verdict line or move the
//! cursor of a terminal.

use crate::json::Object;
use certkern_wire::reason::{self, Fault, Place, Reason, Rejection};
use std::fmt::{self, Display, Formatter, Write as _};

/// Text from a document: control characters escaped, at most [`reason::SHOWN`] characters.
pub struct Shown<'a>(pub &'a str);

/// What the kernel says as data, in words.
pub struct Words<'a, T>(pub &'a T);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut chars = self.0.chars();
        for c in chars.by_ref().take(reason::SHOWN) {
            match c {
                '"' | '\'' | '\\' => f.write_char(c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        if chars.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

impl Display for Words<'_, Place> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Place { file, path, offset } = self.0;
        let file = file.as_deref().unwrap_or_default();
        write!(f, "{}", Shown(file))?;
        if !file.is_empty() && !path.is_empty() {
            f.write_str(": ")?;
        }
        write!(f, "{}", Shown(path))?;
        match offset {
            Some(offset) if file.is_empty() && path.is_empty() => write!(f, "byte {offset}"),
            Some(offset) => write!(f, " (byte {offset})"),
            None => Ok(()),
        }
    }
}

impl Display for Words<'_, Fault> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Fault { reason, place } = self.0;
        if *place != Place::default() {
            write!(f, "{}: ", Words(place))?;
        }
        write!(f, "{}", Words(reason))
    }
}

impl Display for Words<'_, Rejection> {
    /// One line for each fault.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.0.faults().enumerate() {
            if i > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{}", Words(fault))?;
        }
        Ok(())
    }
}

impl Display for Words<'_, Reason> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = |text| Shown(text);
        match self.0 {
            Reason::JsonSyntax(what) => write!(f, "not JSON: {what}"),
            Reason::JsonEncoding(what) => {
                write!(f, "not UTF-8 text: {what}; write plain UTF-8 without a byte order mark")
            }
            Reason::JsonTrailing => write!(f, "something follows the document; a file holds one document"),
            Reason::JsonDuplicateKey(key) => write!(f, "the key `{}` stands twice in one object", s(key)),
            Reason::JsonUnknownKey(key) => write!(f, "unknown field `{}`; take it out, or check its spelling", s(key)),
            Reason::JsonMissingKey(key) => write!(f, "missing field `{}`", s(key)),
            Reason::JsonType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Reason::JsonNumber(text) => write!(f, "`{}` is not a number that this field takes", s(text)),
            Reason::JsonValue { expected, found } => write!(f, "expected {}, found {}", s(expected), s(found)),
            Reason::TensorsHeader(what) => write!(f, "safetensors header: {what}"),
            Reason::TensorsLayout(what) => {
                write!(f, "safetensors layout: {what}; tensors fill the file without holes or overlaps")
            }
            Reason::TensorsDuplicate(name) => write!(f, "the tensor `{}` stands twice", s(name)),
            Reason::TensorsDtype { name, found } => {
                write!(f, "tensor `{}`: type `{}` is not read here", s(name), s(found))
            }
            Reason::TensorsShape { name, expected, found } => {
                write!(f, "tensor `{}`: expected {}, found {}", s(name), s(expected), s(found))
            }
            Reason::TensorsNotFinite { name, index } => {
                write!(f, "tensor `{}`: element {index} is NaN or infinite", s(name))
            }
            Reason::TensorsMissing(name) => write!(f, "the tensor `{}` is missing", s(name)),
            Reason::TensorsUnused(name) => write!(f, "the tensor `{}` is used by nothing; take it out", s(name)),
            _ => self.property(f),
        }
    }
}

impl Words<'_, Reason> {
    fn property(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reason::PropertySyntax(what) => write!(f, "not VNN-LIB: {what}"),
            Reason::PropertyUnsupported(what) => write!(
                f,
                "`{}` is outside the linear fragment of VNN-LIB that is read (declare-const, or declare-network in version 2.0; assert, and, or, <=, >=, <, >, = or in 2.0 == and !=, +, -, * with constants)",
                Shown(what)
            ),
            Reason::PropertyVariable(what) => {
                write!(
                    f,
                    "variable: {}; variables are X_0, X_1, … and Y_0, Y_1, …, each declared once and in order, or in VNN-LIB 2.0 the elements of declared tensors",
                    Shown(what)
                )
            }
            Reason::PropertyUnbounded(i) => {
                write!(f, "input {i} is not bounded on both sides by rows on it alone in every disjunct")
            }
            Reason::PropertyEmptyRegion(i) => {
                write!(f, "the region is empty: the lower end of input {i} is above its upper end")
            }
            Reason::PropertyNoDisjunct => write!(f, "the unsafe set has no disjunct, so there is nothing to refute"),
            Reason::PropertyWidths { role, property, network } => {
                write!(f, "the property has {property} {role} variables and the network {network}")
            }
            Reason::PropertyShape { tensor, property, network } => {
                write!(f, "{tensor} is declared with shape {property:?}, and the network's is {network:?}")
            }
            Reason::RegionFields(what) => write!(f, "region: {what}"),
            Reason::RegionDimension { stated, found: (lower, upper) } => {
                write!(f, "region: dimension {stated} does not match endpoint lengths {lower} and {upper}")
            }
            Reason::RegionRadius => write!(f, "region: expected a nonnegative radius"),
            Reason::BoundOrder(i) => write!(f, "the lower bound of output {i} is above its upper bound"),
            Reason::NodesListing(what) => write!(f, "nodes: {}", Shown(what)),
            Reason::BoundUnbound => write!(
                f,
                "these bounds name no graph, no numbers, no region and no outputs, so they say nothing; check them in a bundle of kind `bound`"
            ),
            _ => self.graph(f),
        }
    }

    fn graph(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const IMPORT: &str = "PyTorch graph import:";
        let s = |text| Shown(text);
        match self.0 {
            Reason::GraphFormat { found, expected } => {
                write!(f, "{IMPORT} unsupported format `{}` (expected `{expected}`)", s(found))
            }
            Reason::GraphEmpty => write!(f, "{IMPORT} graph contains no nodes"),
            Reason::GraphIdOrder { place, id } => {
                write!(f, "{IMPORT} node[{place}]: id {id} is not its place; ids are 0, 1, 2, … in order")
            }
            Reason::GraphParentOrder { node, parent } => {
                write!(f, "{IMPORT} node[{node}]: parent id {parent} is not < {node}")
            }
            Reason::GraphInput(what) => write!(f, "{IMPORT} input: {}", s(what)),
            Reason::GraphOutput(what) => write!(f, "{IMPORT} output: {}", s(what)),
            Reason::GraphUnsupportedOp { node, kind } => {
                write!(f, "{IMPORT} node[{node}]: unsupported TorchLean IR op kind `{}`", s(kind))
            }
            Reason::GraphArity { node, kind, expected, found } => {
                write!(f, "IR graph: node {node}: bad parent count for {kind}: expected {}, got {found}", s(expected))
            }
            Reason::GraphAttribute { node, field, detail } => {
                write!(f, "{IMPORT} node[{node}].{}: {}", s(field), s(detail))
            }
            Reason::GraphShapeRule { node, detail } => write!(f, "IR graph: node {node}: {}", s(detail)),
            Reason::GraphShapeMismatch { node, kind, parents, inferred, declared } => write!(
                f,
                "IR graph: node {node}: outShape mismatch: inferred={inferred:?}, declared={declared:?} \
                 (Node(id={node}, kind={kind}, parents=#{parents:?}, outShape={declared:?}))"
            ),
            Reason::GraphOpaque { node, kind, detail } => {
                write!(f, "node {node}: no claim about values can use `{kind}`: {detail}")
            }
            Reason::GraphPayload { node, field, detail } => {
                write!(f, "payload of node {node}, field `{}`: {}", s(field), s(detail))
            }
            _ => self.claim(f),
        }
    }

    fn claim(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = |text| Shown(text);
        match self.0 {
            Reason::BundleFormat { found, expected } => {
                write!(f, "`{}` is not known here (expected `{expected}`)", s(found))
            }
            Reason::BundleFile { name, detail } => write!(f, "file `{}`: {detail}", s(name)),
            Reason::BundleDigest(text) => {
                write!(f, "`{}` is not a digest; a digest is 64 lower-case hexadecimal digits", s(text))
            }
            Reason::Bind { role, expected, actual } => {
                let role = role.name();
                write!(
                    f,
                    "the {role} is not the one of this certificate: it names {}, the document has {}",
                    s(expected),
                    s(actual)
                )
            }
            Reason::BindFile { role, file, expected, actual } => write!(
                f,
                "`{}` is not the {} of this bundle: the bundle has {}, the file {}",
                s(file),
                role.name(),
                s(expected),
                s(actual)
            ),
            Reason::BindUnreadable { role, file, detail } => write!(
                f,
                "`{}` could not be read as the {} of this bundle, so it was not compared: {}",
                s(file),
                role.name(),
                s(detail)
            ),
            Reason::TreeMalformed(what) => write!(f, "split tree: {}", s(what)),
            Reason::TreeLiteral(what) => write!(f, "split: {}", s(what)),
            Reason::HintShape(what) => write!(f, "hint that fits nothing: {}", s(what)),
            Reason::HintDomain(what) => write!(f, "hint outside its domain: {}", s(what)),
            // Tree, leaf and disjunct are the place, which stands before.
            Reason::LeafUnproved { bound, .. } => write!(
                f,
                "not refuted, the bound reached is {} and must be above zero; split further or give better slopes",
                s(bound)
            ),
            Reason::DomainUnproved { node, coordinate } => write!(
                f,
                "value {node} of the lowered network is not shown to be defined at coordinate {coordinate}: interval bounds of its argument leave the domain of its function"
            ),
            Reason::WitnessRegion { coordinate, miss } => {
                write!(f, "no witness: input coordinate {coordinate} lies outside the region by {}", s(miss))
            }
            Reason::WitnessProperty { disjunct, row, miss } => write!(
                f,
                "no witness: the outputs lie in no disjunct of the unsafe set; disjunct {disjunct} comes nearest and misses row {row} by {}",
                s(miss)
            ),
            Reason::WitnessUndecided(what) => write!(f, "not decided: {}", s(what)),
            Reason::EnclosureQuery(what) => write!(f, "no expression: {what}"),
            Reason::EnclosureAnswer(what) => write!(f, "no answer to this query: {}", s(what)),
            Reason::EnclosureRefuted { lower, upper } => {
                write!(f, "false: the value lies from {} to {}, outside the ball", s(lower), s(upper))
            }
            Reason::EnclosureUnproved(bits) => write!(
                f,
                "not proved: computed with {bits} bits the value lies neither in the ball nor apart from it; allow more precision or a larger radius"
            ),
            Reason::EnclosureUndefined { index, operation } => {
                write!(f, "value {index} is not shown to be defined: `{}` of this argument", s(operation))
            }
            Reason::MonotoneUnproved(node, coordinate) => {
                write!(
                    f,
                    "value {node} of the lowered network is not shown to be nondecreasing in every input, at coordinate {coordinate}"
                )
            }
            // These two the caller sets; those of the kernel no option of the command line raises.
            Reason::Limit { name: name @ ("memory" | "time"), limit } => write!(
                f,
                "the budget `{name}` of {limit} is exceeded, so nothing is decided: the document may be good; allow more with --max-{name}"
            ),
            Reason::Limit { name, limit } => write!(
                f,
                "the budget `{name}` of {limit} is exceeded, so nothing is decided: the document may be good, but no larger one is read \
                 (schemas/SPEC.md, section 8)"
            ),
            Reason::Internal(what) => write!(f, "internal error, please report it: broken assumption: {what}"),
            _ => write!(f, "{}", self.0.code()),
        }
    }
}

/// The members of a report that a rejection has.
pub(crate) fn json(rejection: &Rejection, report: &mut Object) {
    report.string("code", &rejection.first().reason.code());
    let faults = rejection.faults().map(|fault| {
        let mut object = Object::default();
        object.string("code", &fault.reason.code());
        if let Some(file) = &fault.place.file {
            object.string("file", file);
        }
        object.string("path", &fault.place.path);
        if let Some(offset) = fault.place.offset {
            object.number("offset", offset);
        }
        object.string("message", &Words(&fault.reason).to_string());
        object
    });
    report.array("faults", faults);
}
