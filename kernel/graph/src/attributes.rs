//! Attributes of nodes: numbers and lists of numbers, each with a name. Kept sorted by name with defaults written out,
//! which is their canonical form.

use crate::ops::{Refusal, Shapes};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// One number.
    Number(usize),
    /// A list of numbers.
    List(Vec<usize>),
}

/// What an operator says about one of its attributes.
#[derive(Debug)]
pub(crate) struct AttributeSpec {
    /// The key in the node.
    pub(crate) name: &'static str,
    /// Its type.
    pub(crate) kind: AttributeKind,
    /// What an absent attribute means; `None` where it may not be absent.
    pub(crate) default: Option<Default>,
    /// Whether `torchlean.ir.v1` does not know it.
    pub(crate) extension: bool,
}

/// The value of an absent attribute, from the shapes and the attributes that were written.
pub(crate) type Default = fn(&Shapes, &Attributes) -> Attribute;

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeKind {
    /// One number.
    Number,
    /// A list of numbers.
    List,
    /// A Boolean, held as the number 0 or 1.
    Flag,
}

/// A required number.
pub(crate) const fn number(name: &'static str) -> AttributeSpec {
    required(name, AttributeKind::Number)
}

/// A required list.
pub(crate) const fn list(name: &'static str) -> AttributeSpec {
    required(name, AttributeKind::List)
}

/// A required Boolean.
pub(crate) const fn flag(name: &'static str) -> AttributeSpec {
    required(name, AttributeKind::Flag)
}

const fn required(name: &'static str, kind: AttributeKind) -> AttributeSpec {
    AttributeSpec { name, kind, default: None, extension: false }
}

impl AttributeSpec {
    /// The same attribute, which may be absent.
    pub(crate) const fn or(self, default: Default) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same attribute, which `torchlean.ir.v1` does not know.
    pub(crate) const fn extension(self) -> Self {
        Self { extension: true, ..self }
    }
}

/// The attributes of one node, by ascending name, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes(Vec<(&'static str, Attribute)>);

impl Attributes {
    /// Puts an attribute in its place; one that is already there stays as it was.
    pub(crate) fn insert(&mut self, name: &'static str, value: Attribute) {
        if let Err(place) = self.0.binary_search_by_key(&name, |(name, _)| name) {
            self.0.insert(place, (name, value));
        }
    }

    /// Whether an attribute is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A number that the operator's table promises.
    pub(crate) fn number(&self, name: &str) -> Result<usize, Refusal> {
        match self.get(name) {
            Some(Attribute::Number(value)) => Ok(*value),
            _ => Err(Refusal::Internal("a number that the operator's table does not list")),
        }
    }

    /// A list that the operator's table promises.
    pub(crate) fn list(&self, name: &str) -> Result<&[usize], Refusal> {
        match self.get(name) {
            Some(Attribute::List(values)) => Ok(values),
            _ => Err(Refusal::Internal("a list that the operator's table does not list")),
        }
    }

    /// A Boolean that the operator's table promises.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        self.number(name).map(|value| value == 1)
    }

    /// All attributes by ascending name.
    pub(crate) fn entries(&self) -> &[(&'static str, Attribute)] {
        &self.0
    }

    fn get(&self, name: &str) -> Option<&Attribute> {
        let place = self.0.binary_search_by(|(other, _)| (*other).cmp(name)).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }
}
