//! From bytes to a graph, in the order of checking: the document, each node as JSON, the order of nodes, operators and
//! attributes, shapes, numbers. Each check goes over all nodes, so faults that do not depend on one another are reported
//! together; shapes and numbers are judged only where neither the node nor a parent failed before.

mod arrays;
mod document;
mod numbers;
mod operators;
mod order;
mod shapes;

use crate::attributes::Attributes;
use crate::graph::{Graph, Node};
use crate::ops::{Operator, PayloadField, Refusal};
use certkern_core::tensor::Tensor;
use certkern_wire::json::Json;
use certkern_wire::tensors::Source;
use certkern_wire::{Fault, Limits, Reason, Rejection};

/// Reads a graph and its numbers; see [`Graph::of_json`].
pub(crate) fn read(json: &Json, payload: Option<&dyn Source>, limits: &Limits) -> Result<Graph, Rejection> {
    let mut faults = Faults::default();
    let mut later = Faults::default();
    let (header, mut drafts) = document::read(json, limits, &mut faults, &mut later)?;
    let references_hold = order::check(&header, &mut drafts, &mut faults);
    faults.extend(later.0);
    if references_hold {
        shapes::check(&mut drafts, limits, &mut faults);
    }
    let payloads = numbers::read(&drafts, payload, limits, &mut faults);
    faults.into_result()?;
    let nodes = drafts.into_iter().zip(payloads).map(|(draft, payload)| node(draft, payload)).collect::<Option<_>>();
    let (nodes, input) = nodes.zip(header.input_id).ok_or(Reason::Internal("a node that failed without a fault"))?;
    Ok(Graph::new_raw(nodes, input, header.output_ids))
}

/// The node, if it has passed every check.
fn node(draft: Draft, payload: Vec<Tensor>) -> Option<Node> {
    let Typed { operator, attributes, .. } = draft.typed.filter(|_| draft.shaped && !draft.faulty)?;
    if payload.len() != operator.payload.len() {
        return None;
    }
    Some(Node::new_raw(operator, draft.parents?, draft.shape?, attributes, payload))
}

/// A node as far as it has been read.
struct Draft<'a> {
    /// Its place in the list.
    place: usize,
    /// The object itself.
    json: &'a Json<'a>,
    id: Option<usize>,
    kind: Option<&'a str>,
    parents: Option<Vec<usize>>,
    shape: Option<Vec<usize>>,
    typed: Option<Typed<'a>>,
    /// Whether a check has failed here.
    faulty: bool,
    /// Whether arity and shape have been checked, and hold.
    shaped: bool,
}

/// What the operator's table makes of a node.
struct Typed<'a> {
    operator: &'static Operator,
    attributes: Attributes,
    /// The payload fields that stand in the node.
    numbers: Vec<Option<&'a Json<'a>>>,
    /// Whether the format is the extended one, where numbers may be exact.
    extended: bool,
}

impl Draft<'_> {
    /// A fault at the field `key` of this node.
    fn fault(&self, reason: Reason, key: &str) -> Fault {
        fault(self.place, self.json, reason, key)
    }

    /// The fault that a refusal of the operator is in this node.
    fn refused(&self, refusal: Refusal) -> Fault {
        refused(self.place, self.json, refusal)
    }
}

/// A fault at the field `key` of a node; the offset is that of the node itself where it has no such field.
fn fault(place: usize, node: &Json, reason: Reason, key: &str) -> Fault {
    let members = node.members("").unwrap_or_default();
    let offset = members.iter().find(|(name, _)| name == key).map_or(node.offset, |(_, value)| value.offset);
    in_node(place, Fault::at(reason, key, offset))
}

/// The fault that a refusal of the operator is in a node.
fn refused(node: usize, json: &Json, refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Attribute(field, detail) => {
            fault(node, json, Reason::GraphAttribute { node, field: field.to_owned(), detail }, field)
        }
        Refusal::Shape(detail) => fault(node, json, Reason::GraphShapeRule { node, detail }, "shape"),
        Refusal::Payload(field, detail) => {
            fault(node, json, Reason::GraphPayload { node, field: field.to_owned(), detail }, field)
        }
        Refusal::Internal(what) => fault(node, json, Reason::Internal(what), "kind"),
    }
}

/// The fault with its path, which was that in the node, in the document.
fn in_node(place: usize, mut fault: Fault) -> Fault {
    let dot = if fault.place.path.is_empty() { "" } else { "." };
    fault.place.path = format!("nodes[{place}]{dot}{}", fault.place.path);
    fault
}

impl<'a> Typed<'a> {
    /// The payload fields of the operator, each with what stands for it in the node.
    fn fields(&self) -> impl Iterator<Item = (&'static PayloadField, Option<&'a Json<'a>>)> {
        self.operator.payload.iter().zip(self.numbers.iter().copied())
    }
}

/// The faults found so far, in the order of checking; no more are kept than a rejection shows.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn push(&mut self, fault: Fault) {
        if self.0.len() < Rejection::MOST {
            self.0.push(fault);
        }
    }

    fn extend(&mut self, faults: impl IntoIterator<Item = Fault>) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }

    /// The value, or a fault that is kept.
    fn keep<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.push(fault)).ok()
    }

    /// The value, or a fault in this node that is kept.
    fn keep_in<T>(&mut self, place: usize, result: Result<T, Fault>) -> Option<T> {
        self.keep(result.map_err(|fault| in_node(place, fault)))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn into_result(self) -> Result<(), Rejection> {
        Rejection::of(self.0).map_or(Ok(()), Err)
    }
}
