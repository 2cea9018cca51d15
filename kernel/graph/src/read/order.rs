//! The order of nodes: ids are places, parents are earlier, the input is the one that is named, outputs exist.

use super::document::Header;
use super::{Draft, Faults};
use crate::ops::{multihead_attention, tuple_getitem};
use certkern_wire::{Fault, Reason};

/// Checks the order. `false` if ids are not places: then no reference means anything, and none is followed.
pub(super) fn check(header: &Header, drafts: &mut [Draft], faults: &mut Faults) -> bool {
    if drafts.is_empty() {
        if faults.is_empty() {
            faults.push(Fault::at(Reason::GraphEmpty, "nodes", 0));
        }
        return false;
    }
    let mut ids_hold = true;
    for draft in drafts.iter_mut() {
        if let Some(id) = draft.id.filter(|id| *id != draft.place) {
            faults.push(draft.fault(Reason::GraphIdOrder { place: draft.place, id: wide(id) }, "id"));
            ids_hold = false;
        }
    }
    if !ids_hold {
        return false;
    }
    for draft in drafts.iter_mut() {
        let node = draft.place;
        if let Some(parent) = draft.parents.iter().flatten().copied().find(|parent| *parent >= node) {
            faults.push(draft.fault(Reason::GraphParentOrder { node, parent: wide(parent) }, "parents"));
            draft.faulty = true;
        }
    }
    check_tuples(header, drafts, faults);
    check_input(header, drafts, faults);
    if let Some(id) = header.output_ids.iter().find(|id| **id >= drafts.len()) {
        let reason = Reason::GraphOutput(format!("output {id} is no node: there are {}", drafts.len()));
        faults.push(Fault::at(reason, "output_ids", header.output_offset));
    }
    true
}

/// A tuple is the parent of nodes that take its components apart, and of no others; it is no output.
fn check_tuples(header: &Header, drafts: &mut [Draft], faults: &mut Faults) {
    let tuples: Vec<bool> = drafts.iter().map(|draft| draft.kind == Some(multihead_attention::KIND)).collect();
    let is_tuple = |id: &usize| tuples.get(*id).copied().unwrap_or(false);
    for draft in drafts.iter_mut() {
        let takes = draft.kind == Some(tuple_getitem::KIND);
        let earlier = draft.parents.iter().flatten().find(|parent| **parent < draft.place && is_tuple(parent) != takes);
        if let Some(parent) = earlier {
            let what = if takes { "not a tuple" } else { "a tuple, not a tensor" };
            let reason = Reason::GraphShapeRule { node: draft.place, detail: format!("parent {parent} is {what}") };
            faults.push(draft.fault(reason, "parents"));
            draft.faulty = true;
        }
    }
    if let Some(id) = header.output_ids.iter().find(|id| is_tuple(id)) {
        let reason = Reason::GraphOutput(format!("output {id} is a tuple, not a tensor"));
        faults.push(Fault::at(reason, "output_ids", header.output_offset));
    }
}

fn check_input(header: &Header, drafts: &[Draft], faults: &mut Faults) {
    let inputs = drafts.iter().filter(|draft| draft.kind == Some("input")).count();
    // A node whose kind could not be read may have been the input.
    let all_read = drafts.iter().all(|draft| draft.kind.is_some());
    if inputs > 1 || (inputs == 0 && all_read) {
        let reason = Reason::GraphInput(format!("expected exactly one input node, found {inputs}"));
        faults.push(Fault::at(reason, "nodes", header.input_offset));
        return;
    }
    let Some(id) = header.input_id else { return };
    let detail = match drafts.get(id).map(|draft| draft.kind) {
        None => format!("`input_id` {id} is no node"),
        Some(Some("input") | None) => return,
        Some(Some(kind)) => format!("`input_id` {id} designates `{kind}`, not `input`"),
    };
    faults.push(Fault::at(Reason::GraphInput(detail), "input_id", header.input_offset));
}

fn wide(id: usize) -> u64 {
    u64::try_from(id).unwrap_or(u64::MAX)
}
