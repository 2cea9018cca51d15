//! The numbers: each payload field once, in the node or in the payload file, with the shape that the operator wants.

use super::arrays::{self, Exact};
use super::{Draft, Faults};
use crate::ops::{PayloadField, Shapes, Site};
use crate::shape;
use certkern_core::tensor::Tensor;
use certkern_wire::json::Json;
use certkern_wire::tensors::{Source, TensorFile};
use certkern_wire::{Fault, Limits, Reason, Rejection};

/// The name under which faults of the payload file are reported.
const FILE: &str = "payload";

/// The numbers of each node. A tensor of the file that no node uses is a fault, looked for only where nothing else is wrong.
pub(super) fn read(
    drafts: &[Draft],
    payload: Option<&dyn Source>,
    limits: &Limits,
    faults: &mut Faults,
) -> Vec<Vec<Tensor>> {
    let file = payload.map(|source| TensorFile::parse(source, limits)).transpose();
    let mut file = match file {
        Ok(file) => file,
        Err(rejection) => {
            faults.extend(rejection.in_file(FILE).faults().cloned());
            return Vec::new();
        }
    };
    let mut used = 0;
    let numbers = drafts.iter().map(|draft| node(draft, drafts, file.as_mut(), &mut used, limits, faults)).collect();
    if let Some(Err(rejection)) = file.filter(|_| faults.is_empty()).map(TensorFile::finish) {
        faults.extend(rejection.in_file(FILE).faults().cloned());
    }
    numbers
}

/// The numbers of one node; none if its shape does not hold.
fn node(
    draft: &Draft,
    drafts: &[Draft],
    mut file: Option<&mut TensorFile<'_>>,
    used: &mut usize,
    limits: &Limits,
    faults: &mut Faults,
) -> Vec<Tensor> {
    let Some(typed) = draft.typed.as_ref().filter(|typed| draft.shaped && !typed.operator.payload.is_empty()) else {
        return Vec::new();
    };
    let parent = |id: &usize| drafts.get(*id).and_then(|parent| parent.shape.as_deref());
    let parents: Option<Vec<&[usize]>> = draft.parents.iter().flatten().map(parent).collect();
    let (Some(parents), Some(declared)) = (parents, draft.shape.as_deref()) else { return Vec::new() };
    let shapes = Shapes { parents: &parents, declared };
    let mut tensors = Vec::with_capacity(typed.operator.payload.len());
    for (field, json) in typed.fields() {
        let exact = typed.extended.then_some(&mut *used);
        let tensor = (field.shape)(&shapes, &typed.attributes)
            .map_err(|refusal| draft.refused(refusal))
            .and_then(|shape| tensor(draft, (field, json), file.as_deref_mut(), shape, exact, limits));
        tensors.extend(faults.keep(tensor));
    }
    if tensors.len() == typed.operator.payload.len() {
        let site = Site { shapes, attributes: &typed.attributes, payload: &tensors };
        faults.keep((typed.operator.payload_rule)(&site).map_err(|refusal| draft.refused(refusal)));
    }
    tensors
}

/// One payload field, wherever it stands.
fn tensor(
    draft: &Draft,
    (field, json): (&PayloadField, Option<&Json>),
    file: Option<&mut TensorFile<'_>>,
    shape: Vec<usize>,
    exact: Exact,
    limits: &Limits,
) -> Result<Tensor, Fault> {
    let name = format!("{}.{}", draft.place, field.name);
    let fault = |detail: String| {
        draft.fault(Reason::GraphPayload { node: draft.place, field: field.name.to_owned(), detail }, field.name)
    };
    let raw = file.and_then(|file| file.take(&name));
    match (json, raw) {
        (Some(_), Some(_)) => Err(fault(format!("given in the node and as the tensor `{name}` of the payload file"))),
        (None, None) => Err(fault(format!("given neither in the node nor as the tensor `{name}` of a payload file"))),
        (None, Some(raw)) => {
            if raw.shape != shape {
                let (found, wanted) = (shape::text(&raw.shape), shape::text(&shape));
                return Err(fault(format!("the tensor `{name}` has the shape {found}, expected {wanted}")));
            }
            raw.floats().map_err(|fault| Rejection::from(fault).in_file(FILE).first().clone())
        }
        (Some(json), None) => {
            let path = format!("nodes[{}].{}", draft.place, field.name);
            arrays::tensor(json, shape, &path, exact, limits, fault)
        }
    }
}
