//! The JSON form: `{"format": "certkern.counterexample.v1", "x": [number, …], "y": [number, …]}`, read by the kernel's strict reader.

use crate::error::{Fault, Position, ReadError};
use crate::point::Entries;
use certkern_core::property::Variable;
use certkern_report::Words;
use certkern_wire::json::{self, Json, Value};
use certkern_wire::{Reason, Rejection};

const FORMAT: &str = "certkern.counterexample.v1";

/// Reads the document into `entries`; whether it has outputs.
///
/// # Errors
/// A [`ReadError`] with the first fault.
pub(crate) fn read(entries: &mut Entries<'_, '_>) -> Result<bool, ReadError> {
    let document = json::parse(entries.source.as_bytes(), entries.limits).map_err(|r| refused(entries.source, &r))?;
    let [x, y] = members(&document).map_err(|rejection| refused(entries.source, &rejection))?;
    let parts = [("x", x, Variable::X as fn(usize) -> Variable), ("y", y, Variable::Y as fn(usize) -> Variable)];
    for (key, list, variable) in parts {
        let Some(list) = list else { continue };
        let items = list.array(key).map_err(|fault| refused(entries.source, &fault.into()))?;
        for (index, item) in items.iter().enumerate() {
            let text = match &item.value {
                Value::Number(text) => text,
                Value::String(text) => text.as_ref(),
                Value::Null => "null",
                Value::Bool(true) => "true",
                Value::Bool(false) => "false",
                Value::Array(_) => "[…]",
                Value::Object(_) => "{…}",
            };
            entries.add(variable(index), item.offset, text, item.offset)?;
        }
    }
    Ok(y.is_some())
}

/// The lists of inputs and, if it is there, of outputs.
fn members<'a>(document: &'a Json<'a>) -> Result<[Option<&'a Json<'a>>; 2], Rejection> {
    let mut fields = document.object("")?;
    let format = fields.required("format")?;
    if format.string("format")? != FORMAT {
        let found = format.string("format")?.to_owned();
        let reason = Reason::BundleFormat { found, expected: FORMAT };
        return Err(format.fault(reason, "format").into());
    }
    let lists = [Some(fields.required("x")?), fields.optional("y")];
    fields.finish().map_err(Rejection::from)?;
    Ok(lists)
}

/// The first fault of a rejection, at its line and column.
fn refused(source: &str, rejection: &Rejection) -> ReadError {
    let fault = rejection.first();
    let position = fault.place.offset.map(|offset| Position::of(source, offset));
    let text = match fault.place.path.as_str() {
        "" => Words(&fault.reason).to_string(),
        path => format!("{path}: {}", Words(&fault.reason)),
    };
    ReadError { position, fault: Fault::Document(text) }
}
