//! The document itself, then each node as JSON: the fields that all nodes share.

use super::{Draft, Faults, operators};
use crate::ops::multihead_attention::KIND as TUPLE;
use certkern_wire::fields::{Fields, element};
use certkern_wire::json::Json;
use certkern_wire::limits::within;
use certkern_wire::{Fault, Limits, Reason, Rejection};

/// The format that is read.
const FORMAT: &str = "torchlean.ir.v1";
/// The same with more operators and attributes.
const EXTENDED: &str = "certkern.ir.v1";
/// Strings of producers, without meaning.
const IGNORED: [&str; 3] = ["debug_target", "onnx_op_type", "onnx_name"];

/// What stands beside the nodes.
pub(super) struct Header {
    pub(super) input_id: Option<usize>,
    pub(super) output_ids: Vec<usize>,
    /// Where the input and the outputs are named.
    pub(super) input_offset: usize,
    pub(super) output_offset: usize,
}

/// What the reading of a node depends on.
struct Context<'a> {
    extended: bool,
    limits: &'a Limits,
}

/// Reads the format before anything else, then the rest of the document. Faults of operators and attributes, which come
/// later in the order of checking, go to `later`.
pub(super) fn read<'a>(
    json: &'a Json,
    limits: &Limits,
    faults: &mut Faults,
    later: &mut Faults,
) -> Result<(Header, Vec<Draft<'a>>), Rejection> {
    let mut fields = json.object("")?;
    let format = fields.required("format")?;
    let found = format.string("format")?;
    if ![FORMAT, EXTENDED].contains(&found) {
        let reason = Reason::GraphFormat { found: found.to_owned(), expected: FORMAT };
        return Err(format.fault(reason, "format").into());
    }
    let input = faults.keep(fields.required("input_id"));
    let input_id = input.and_then(|json| faults.keep(json.index("input_id")));
    let (output_ids, output_offset) = faults.keep(outputs(json, &mut fields)).unwrap_or_default();
    let nodes = faults.keep(fields.required("nodes").and_then(|json| json.array("nodes"))).unwrap_or_default();
    if let Err(unknown) = fields.finish() {
        faults.extend(unknown);
    }
    within("nodes", nodes.len(), limits.nodes)?;
    let context = Context { extended: found == EXTENDED, limits };
    let drafts = nodes.iter().enumerate().map(|(place, json)| draft(place, json, &context, faults, later)).collect();
    let input_offset = input.map_or(json.offset, |json| json.offset);
    Ok((Header { input_id, output_ids, input_offset, output_offset }, drafts))
}

/// The output ids, and where they stand: a list, or one id under the older key.
fn outputs(root: &Json, fields: &mut Fields) -> Result<(Vec<usize>, usize), Fault> {
    match (fields.optional("output_ids"), fields.optional("output_id")) {
        (Some(_), Some(one)) => {
            let detail = "`output_id` and `output_ids` both stand in the document".to_owned();
            Err(one.fault(Reason::GraphOutput(detail), "output_id"))
        }
        (None, Some(one)) => Ok((vec![one.index("output_id")?], one.offset)),
        (Some(list), None) => {
            let ids = naturals(list, "output_ids")?;
            if ids.is_empty() {
                return Err(list.fault(Reason::GraphOutput("there is no output".to_owned()), "output_ids"));
            }
            Ok((ids, list.offset))
        }
        (None, None) => Err(root.fault(Reason::JsonMissingKey("output_ids".to_owned()), "")),
    }
}

/// A list of natural numbers.
pub(super) fn naturals(json: &Json, path: &str) -> Result<Vec<usize>, Fault> {
    let items = json.array(path)?.iter().enumerate();
    // A path is made only where there is a fault.
    items.map(|(place, item)| item.index("").or_else(|_| item.index(&element(path, place)))).collect()
}

/// Reads one node: the fields that all nodes share, then those of its operator. Paths are relative to the node.
fn draft<'a>(place: usize, json: &'a Json, context: &Context, faults: &mut Faults, later: &mut Faults) -> Draft<'a> {
    let (id, kind, parents, shape, typed) = (None, None, None, None, None);
    let mut draft = Draft { place, json, id, kind, parents, shape, typed, faulty: true, shaped: false };
    let Some(mut fields) = faults.keep_in(place, json.object("")) else { return draft };
    draft.id = faults.keep_in(place, fields.required("id").and_then(|json| json.index("id")));
    draft.kind = faults.keep_in(place, fields.required("kind").and_then(|json| json.string("kind")));
    draft.parents = faults.keep_in(place, fields.required("parents").and_then(|json| naturals(json, "parents")));
    let is_tuple = draft.kind == Some(TUPLE);
    let kinded = faults.keep_in(place, value_kind(place, is_tuple, json, &mut fields)).is_some();
    let shape = if is_tuple {
        tuple_shape(place, &mut fields, context.limits)
    } else {
        fields.required("shape").and_then(|json| declared_shape(json, "shape", context.limits))
    };
    draft.shape = faults.keep_in(place, shape);
    let mut strings = true;
    for key in IGNORED {
        if let Some(json) = fields.optional(key) {
            strings &= faults.keep_in(place, json.string(key)).is_some();
        }
    }
    let read = draft.id.is_some() && draft.kind.is_some() && draft.parents.is_some() && draft.shape.is_some();
    draft.typed = draft.kind.and_then(|kind| operators::typed(place, json, kind, fields, context.extended, later));
    draft.faulty = !(read && kinded && strings && draft.typed.is_some());
    draft
}

/// Every value is a tensor but that of attention, which is a tuple.
fn value_kind(node: usize, is_tuple: bool, json: &Json, fields: &mut Fields) -> Result<(), Fault> {
    let expected = if is_tuple { "tuple" } else { "tensor" };
    let (found, at) = match fields.optional("value_kind") {
        Some(json) => (json.string("value_kind")?, json),
        None => ("tensor", json),
    };
    if found == expected {
        return Ok(());
    }
    let detail = format!("only `{expected}` is read here, found `{found}`");
    Err(at.fault(Reason::GraphAttribute { node, field: "value_kind".to_owned(), detail }, "value_kind"))
}

/// The shape of the output of attention, the first component of its tuple. The second holds the weights that each query gives to the keys, one number
/// for each, on average or for each head.
fn tuple_shape(node: usize, fields: &mut Fields, limits: &Limits) -> Result<Vec<usize>, Fault> {
    const KEY: &str = "tuple_shapes";
    let json = fields.required(KEY)?;
    let items = json.array(KEY)?.iter().enumerate();
    let shapes = items.map(|(place, item)| declared_shape(item, &element(KEY, place), limits));
    let shapes: Vec<Vec<usize>> = shapes.collect::<Result<_, _>>()?;
    match shapes.as_slice() {
        [output] => Ok(output.clone()),
        [output, weights] if weights.len() >= 3 && weights.first() == output.first() => Ok(output.clone()),
        _ => {
            let detail = "expected the shape of the output and, if any, that of the weights of its batch".to_owned();
            Err(json.fault(Reason::GraphAttribute { node, field: KEY.to_owned(), detail }, KEY))
        }
    }
}

fn declared_shape(json: &Json, path: &str, limits: &Limits) -> Result<Vec<usize>, Fault> {
    let shape = naturals(json, path)?;
    within("rank", shape.len(), limits.rank).map_err(|reason| json.fault(reason, path))?;
    Ok(shape)
}
