//! Arity and shapes: what a node declares is what its operator makes of its parents.

use super::{Draft, Faults, Typed};
use crate::ops::Shapes;
use crate::shape;
use certkern_wire::limits::within;
use certkern_wire::{Fault, Limits, Reason};

/// Checks the nodes that are without fault and have only such parents; writes the defaults of their attributes out.
pub(super) fn check(drafts: &mut [Draft], limits: &Limits, faults: &mut Faults) {
    let mut spent = 0_usize;
    for place in 0..drafts.len() {
        let Some((earlier, [draft, ..])) = drafts.split_at_mut_checked(place) else { return };
        let Some(parents) = sound_parents(draft, earlier) else { continue };
        let Some(mut typed) = draft.typed.take() else { continue };
        let checked = check_node(draft, &mut typed, &parents, limits).and_then(|entries| {
            spent = spent.saturating_add(entries);
            within("graph-elements", spent, limits.graph_elements).map_err(|reason| draft.fault(reason, "shape"))
        });
        draft.typed = Some(typed);
        draft.shaped = faults.keep(checked).is_some();
        draft.faulty = !draft.shaped;
        if spent > limits.graph_elements {
            return;
        }
    }
}

/// The shapes of the parents, if the node and all of them are without fault.
fn sound_parents<'a>(draft: &Draft, earlier: &'a [Draft]) -> Option<Vec<&'a [usize]>> {
    if draft.faulty {
        return None;
    }
    let shape = |parent: &usize| earlier.get(*parent).filter(|parent| !parent.faulty)?.shape.as_deref();
    draft.parents.as_ref()?.iter().map(shape).collect()
}

/// Checks one node; returns what it costs of the budget of the graph.
fn check_node(draft: &Draft, typed: &mut Typed, parents: &[&[usize]], limits: &Limits) -> Result<usize, Fault> {
    let (node, operator) = (draft.place, typed.operator);
    if !operator.arity.allows(parents.len()) {
        let (expected, found) = (operator.arity.text(), parents.len());
        return Err(draft.fault(Reason::GraphArity { node, kind: operator.kind, expected, found }, "parents"));
    }
    let declared = draft.shape.as_deref().unwrap_or_default();
    if declared.contains(&0) {
        let declared = shape::text(declared);
        let detail = format!("{declared} has an axis of length 0: a tensor without elements is not read");
        return Err(draft.fault(Reason::GraphShapeRule { node, detail }, "shape"));
    }
    let elements = shape::elements(declared).unwrap_or(usize::MAX);
    within("elements", elements, limits.elements).map_err(|reason| draft.fault(reason, "shape"))?;
    let shapes = Shapes { parents, declared };
    for spec in operator.attributes {
        if let Some(default) = spec.default.filter(|_| !typed.attributes.has(spec.name)) {
            let value = default(&shapes, &typed.attributes);
            typed.attributes.insert(spec.name, value);
        }
    }
    let inferred = (operator.shape_rule)(&shapes, &typed.attributes).map_err(|refusal| draft.refused(refusal))?;
    if inferred != declared {
        let (kind, parents) = (operator.kind, draft.parents.clone().unwrap_or_default());
        let declared = declared.to_vec();
        return Err(draft.fault(Reason::GraphShapeMismatch { node, kind, parents, inferred, declared }, "shape"));
    }
    Ok((operator.entries)(&shapes, &typed.attributes).unwrap_or(usize::MAX))
}
