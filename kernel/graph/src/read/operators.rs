//! Operators and their attributes: every key of a node is known, every attribute has its type and range.

use super::document::naturals;
use super::{Faults, Typed, fault, in_node, refused};
use crate::attributes::{Attribute, AttributeKind, AttributeSpec, Attributes};
use crate::ops::{self, Operator};
use certkern_wire::fields::Fields;
use certkern_wire::json::Json;
use certkern_wire::{Fault, Reason};

/// The operator of a node (`extended`: of `certkern.ir.v1`) and the attributes that it writes, from the fields that are left; `None` if one is at fault.
pub(super) fn typed<'a>(
    place: usize,
    json: &'a Json<'a>,
    kind: &str,
    mut fields: Fields<'a>,
    extended: bool,
    faults: &mut Faults,
) -> Option<Typed<'a>> {
    let unsupported = || Reason::GraphUnsupportedOp { node: place, kind: kind.to_owned() };
    let operator = ops::find(kind)
        .filter(|operator| extended || !operator.extension)
        .ok_or_else(|| fault(place, json, unsupported(), "kind"));
    let operator = faults.keep(operator)?;
    let attributes = attributes(place, json, operator, &mut fields, extended, faults);
    let numbers = operator.payload.iter().map(|field| fields.optional(field.name)).collect();
    if let Err(unknown) = fields.finish() {
        unknown.into_iter().for_each(|fault| faults.push(in_node(place, fault)));
        return None;
    }
    attributes.map(|attributes| Typed { operator, attributes, numbers, extended })
}

/// The attributes that are written; `None` if one of them is not as the operator wants it.
fn attributes(
    node: usize,
    json: &Json,
    operator: &Operator,
    fields: &mut Fields,
    extended: bool,
    faults: &mut Faults,
) -> Option<Attributes> {
    let mut attributes = Attributes::default();
    let mut complete = true;
    for spec in operator.attributes {
        // What the format does not know is left over, as any unknown key.
        let json_of = if extended || !spec.extension { fields.optional(spec.name) } else { None };
        let value = match json_of {
            Some(json) => attribute(node, spec, json),
            None if spec.default.is_some() => continue,
            None => {
                let field = spec.name.to_owned();
                let reason = Reason::GraphAttribute { node, field, detail: "missing".to_owned() };
                Err(json.fault(reason, spec.name))
            }
        };
        match faults.keep_in(node, value) {
            Some(value) => attributes.insert(spec.name, value),
            None => complete = false,
        }
    }
    if !complete {
        return None;
    }
    let rule = (operator.attribute_rule)(&attributes).map_err(|refusal| refused(node, json, refusal));
    faults.keep(rule).map(|()| attributes)
}

fn attribute(node: usize, spec: &AttributeSpec, json: &Json) -> Result<Attribute, Fault> {
    let (value, expected) = match spec.kind {
        AttributeKind::Number => (json.index(spec.name).map(Attribute::Number), "expected a natural number"),
        AttributeKind::List => (naturals(json, spec.name).map(Attribute::List), "expected a list of natural numbers"),
        AttributeKind::Flag => {
            (json.boolean(spec.name).map(|flag| Attribute::Number(usize::from(flag))), "expected true or false")
        }
    };
    value.map_err(|Fault { place, .. }| {
        let reason = Reason::GraphAttribute { node, field: spec.name.to_owned(), detail: expected.to_owned() };
        Fault { reason, place }
    })
}
