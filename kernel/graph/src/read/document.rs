//! The document itself, then each node as JSON: the fields that all nodes share.

use super::{Draft, Faults, operators};
use certkern_wire::fields::{Fields, element};
use certkern_wire::json::Json;
use certkern_wire::limits::within;
use certkern_wire::{Fault, Limits, Reason, Rejection};

/// The format that is read.
const FORMAT: &str = "torchlean.ir.v1";
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

/// Reads the format before anything else, then the rest of the document. Faults of operators and attributes, which come
/// later in the order of checking, go to `later`.
pub(super) fn read<'a>(
    json: &'a Json<'a>,
    limits: &Limits,
    faults: &mut Faults,
    later: &mut Faults,
) -> Result<(Header, Vec<Draft<'a>>), Rejection> {
    let mut fields = json.object("")?;
    let format = fields.required("format")?;
    let found = format.string("format")?;
    if found != FORMAT {
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
    let drafts = nodes.iter().enumerate().map(|(place, json)| draft(place, json, limits, faults, later)).collect();
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
fn draft<'a>(place: usize, json: &'a Json<'a>, limits: &Limits, faults: &mut Faults, later: &mut Faults) -> Draft<'a> {
    let (id, kind, parents, shape, typed) = (None, None, None, None, None);
    let mut draft = Draft { place, json, id, kind, parents, shape, typed, faulty: true, shaped: false };
    let Some(mut fields) = faults.keep_in(place, json.object("")) else { return draft };
    draft.id = faults.keep_in(place, fields.required("id").and_then(|json| json.index("id")));
    draft.kind = faults.keep_in(place, fields.required("kind").and_then(|json| json.string("kind")));
    draft.parents = faults.keep_in(place, fields.required("parents").and_then(|json| naturals(json, "parents")));
    let tensor = faults.keep_in(place, value_kind(place, &mut fields)).is_some();
    draft.shape = faults.keep_in(place, fields.required("shape").and_then(|json| declared_shape(json, limits)));
    let mut strings = true;
    for key in IGNORED {
        if let Some(json) = fields.optional(key) {
            strings &= faults.keep_in(place, json.string(key)).is_some();
        }
    }
    let read = draft.id.is_some() && draft.kind.is_some() && draft.parents.is_some() && draft.shape.is_some();
    draft.typed = draft.kind.and_then(|kind| operators::typed(place, json, kind, fields, later));
    draft.faulty = !(read && tensor && strings && draft.typed.is_some());
    draft
}

/// Every value is a tensor: tuples are refused, not projected.
fn value_kind(node: usize, fields: &mut Fields) -> Result<(), Fault> {
    let Some(json) = fields.optional("value_kind") else { return Ok(()) };
    match json.string("value_kind")? {
        "tensor" => Ok(()),
        other => {
            let detail = format!("only `tensor` is read, found `{other}`");
            let reason = Reason::GraphAttribute { node, field: "value_kind".to_owned(), detail };
            Err(json.fault(reason, "value_kind"))
        }
    }
}

fn declared_shape(json: &Json, limits: &Limits) -> Result<Vec<usize>, Fault> {
    let shape = naturals(json, "shape")?;
    within("rank", shape.len(), limits.rank).map_err(|reason| json.fault(reason, "shape"))?;
    Ok(shape)
}
