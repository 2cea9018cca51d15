//! Typed access to JSON: each function wants one type and names the place where it did not find it.

use crate::json::{Json, Member, Value};
use crate::limits::Limits;
use crate::number::{self, Spelling};
use crate::reason::{Fault, Reason, Rejection};
use certkern_core::num::Rational;
use std::collections::BTreeMap;

/// The path to the member `key` of the object at `path`.
#[must_use]
pub fn member(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The path to item `index` of the array at `path`.
#[must_use]
pub fn element(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

impl Json<'_> {
    /// The fields of an object, each to be taken once.
    ///
    /// # Errors
    /// `json.type` if this is no object.
    pub fn object<'a>(&'a self, path: &str) -> Result<Fields<'a>, Fault> {
        let members = self.members(path)?;
        let places = members.iter().enumerate().map(|(place, (key, _))| (&**key, place)).collect();
        let members = members.iter().map(|(key, json)| (&**key, Some(json), json.offset)).collect();
        Ok(Fields { path: path.to_owned(), offset: self.offset, places, members })
    }

    /// The members of an object that is used as a map from names.
    ///
    /// # Errors
    /// `json.type` if this is no object.
    pub fn members(&self, path: &str) -> Result<&[Member<'_>], Fault> {
        match &self.value {
            Value::Object(members) => Ok(members),
            _ => Err(self.not_a("object", path)),
        }
    }

    /// The items of an array.
    ///
    /// # Errors
    /// `json.type` if this is no array.
    pub fn array(&self, path: &str) -> Result<&[Self], Fault> {
        match &self.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.not_a("array", path)),
        }
    }

    /// A string.
    ///
    /// # Errors
    /// `json.type` if this is no string.
    pub fn string(&self, path: &str) -> Result<&str, Fault> {
        match &self.value {
            Value::String(text) => Ok(text),
            _ => Err(self.not_a("string", path)),
        }
    }

    /// The one format or kind that is known here.
    ///
    /// # Errors
    /// `json.type` if this is no string, `bundle.format` if it is another.
    pub fn expect(&self, path: &str, expected: &'static str) -> Result<(), Fault> {
        match self.string(path)? {
            found if found == expected => Ok(()),
            found => Err(self.fault(Reason::BundleFormat { found: found.to_owned(), expected }, path)),
        }
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// `json.type` if this is neither.
    pub fn boolean(&self, path: &str) -> Result<bool, Fault> {
        match &self.value {
            Value::Bool(value) => Ok(*value),
            _ => Err(self.not_a("boolean", path)),
        }
    }

    /// A natural number below 2⁶⁴, written with digits alone or with an exponent such as `1e2`; not `1.0`, `-1` or `"1"`.
    ///
    /// # Errors
    /// `json.type` if this is no number, `json.number` if it is another number.
    pub fn index(&self, path: &str) -> Result<usize, Fault> {
        let text = self.number("natural number", path)?;
        let natural = Spelling::read(text.as_bytes()).ok().and_then(|spelling| spelling.natural());
        natural
            .and_then(|natural| usize::try_from(natural).ok())
            .ok_or_else(|| self.fault(Reason::JsonNumber(text.to_owned()), path))
    }

    /// An exact rational: a JSON number as the decimal it spells, or a string as in [`number::rational_text`].
    ///
    /// # Errors
    /// `json.type`, `json.number` or a limit.
    pub fn rational(&self, path: &str, limits: &Limits) -> Result<Rational, Fault> {
        let value = match &self.value {
            Value::Number(text) => number::decimal(text, limits),
            Value::String(text) => number::rational_text(text, limits),
            _ => return Err(self.not_a("number, or a string that spells one", path)),
        };
        value.map_err(|reason| self.fault(reason, path))
    }

    /// The bits of a JSON number that is rounded once to binary64, ties to even. A minus sign stays on a zero.
    ///
    /// # Errors
    /// `json.type` if this is no number, `json.number` if it rounds to an infinity, or a limit.
    pub fn binary64(&self, path: &str, limits: &Limits) -> Result<u64, Fault> {
        let text = self.number("number", path)?;
        let value = number::decimal(text, limits).map_err(|reason| self.fault(reason, path))?;
        match number::nearest_binary64(&value) {
            Some(bits) => Ok(bits | (u64::from(text.starts_with('-')) << 63)),
            None => Err(self.fault(Reason::JsonNumber(text.to_owned()), path)),
        }
    }

    /// A fault at this value.
    #[must_use]
    pub fn fault(&self, reason: Reason, path: &str) -> Fault {
        Fault::at(reason, path, self.offset)
    }

    fn number(&self, expected: &'static str, path: &str) -> Result<&str, Fault> {
        match &self.value {
            Value::Number(text) => Ok(text),
            _ => Err(self.not_a(expected, path)),
        }
    }

    fn not_a(&self, expected: &'static str, path: &str) -> Fault {
        let found = match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        self.fault(Reason::JsonType { expected, found }, path)
    }
}

/// The fields of an object. What is left when [`Fields::finish`] is called was not asked for, and is a fault.
#[must_use]
pub struct Fields<'a> {
    path: String,
    offset: usize,
    places: BTreeMap<&'a str, usize>,
    members: Vec<(&'a str, Option<&'a Json<'a>>, usize)>,
}

impl<'a> Fields<'a> {
    /// Takes the field `key`.
    ///
    /// # Errors
    /// `json.missing-key` if it is absent (or was taken before).
    pub fn required(&mut self, key: &str) -> Result<&'a Json<'a>, Fault> {
        self.optional(key).ok_or_else(|| Fault::at(Reason::JsonMissingKey(key.to_owned()), &self.path, self.offset))
    }

    /// Takes the field `key` if it is there.
    pub fn optional(&mut self, key: &str) -> Option<&'a Json<'a>> {
        let place = self.places.get(key)?;
        self.members.get_mut(*place)?.1.take()
    }

    /// Ends the reading of the object.
    ///
    /// # Errors
    /// One `json.unknown-key` for each field that was not taken, in the order of the document, up to [`Rejection::MOST`].
    pub fn finish(self) -> Result<(), Vec<Fault>> {
        let left = self.members.iter().filter(|(_, json, _)| json.is_some());
        let faults: Vec<Fault> = left
            .map(|(key, _, offset)| Fault::at(Reason::JsonUnknownKey((*key).to_owned()), &self.path(key), *offset))
            .take(Rejection::MOST)
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// The path to the field `key`.
    #[must_use]
    pub fn path(&self, key: &str) -> String {
        member(&self.path, key)
    }
}
