//! The attributes of a node. An operator takes what it knows; what is left is an error.

use std::collections::BTreeMap;

use crate::error::{ImportError, fault};
use crate::proto::{AttributeProto, NodeProto, TensorProto};

/// The attributes of a node that have not been taken.
pub(crate) struct Attributes<'a> {
    place: &'a str,
    left: BTreeMap<&'a str, &'a AttributeProto>,
}

// The numbers of `AttributeProto.AttributeType`.
const FLOAT: i32 = 1;
const INT: i32 = 2;
const STRING: i32 = 3;
const TENSOR: i32 = 4;
const FLOATS: i32 = 6;
const INTS: i32 = 7;

impl<'a> Attributes<'a> {
    /// # Errors
    /// [`ImportError::Attribute`] if two have the same name.
    pub(crate) fn new(node: &'a NodeProto, place: &'a str) -> Result<Self, ImportError> {
        let mut left = BTreeMap::new();
        for attribute in &node.attribute {
            let name = attribute.name.as_deref().unwrap_or_default();
            if left.insert(name, attribute).is_some() {
                return Err(attribute_error(place, name, "stands twice", "write the file anew with onnx"));
            }
        }
        Ok(Self { place, left })
    }

    pub(crate) fn float(&mut self, name: &'static str) -> Result<Option<f32>, ImportError> {
        Ok(self.take(name, FLOAT)?.map(|attribute| attribute.f.unwrap_or(0.0)))
    }

    pub(crate) fn int(&mut self, name: &'static str) -> Result<Option<i64>, ImportError> {
        Ok(self.take(name, INT)?.map(|attribute| attribute.i.unwrap_or(0)))
    }

    pub(crate) fn string(&mut self, name: &'static str) -> Result<Option<&'a [u8]>, ImportError> {
        Ok(self.take(name, STRING)?.map(|attribute| attribute.s.as_deref().unwrap_or_default()))
    }

    pub(crate) fn floats(&mut self, name: &'static str) -> Result<Option<&'a [f32]>, ImportError> {
        Ok(self.take(name, FLOATS)?.map(|attribute| attribute.floats.as_slice()))
    }

    pub(crate) fn ints(&mut self, name: &'static str) -> Result<Option<&'a [i64]>, ImportError> {
        Ok(self.take(name, INTS)?.map(|attribute| attribute.ints.as_slice()))
    }

    pub(crate) fn tensor(&mut self, name: &'static str) -> Result<Option<&'a TensorProto>, ImportError> {
        let Some(attribute) = self.take(name, TENSOR)? else {
            return Ok(None);
        };
        let missing = || attribute_error(self.place, name, "holds no tensor", "write the file anew with onnx");
        attribute.t.as_ref().map(Some).ok_or_else(missing)
    }

    /// # Errors
    /// [`ImportError::Attribute`] if an attribute was not taken.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => {
                let way_out = "export the model without it, or with an operator set that has it";
                Err(attribute_error(self.place, name, "is not one that the operator uses", way_out))
            }
        }
    }

    /// Takes an attribute, checking that it is of the type and that no other of its fields holds anything.
    fn take(&mut self, name: &'static str, r#type: i32) -> Result<Option<&'a AttributeProto>, ImportError> {
        let Some(attribute) = self.left.remove(name) else {
            return Ok(None);
        };
        let held = [
            (FLOAT, attribute.f.is_some_and(|number| number.to_bits() != 0)),
            (INT, attribute.i.is_some_and(|number| number != 0)),
            (STRING, attribute.s.as_ref().is_some_and(|bytes| !bytes.is_empty())),
            (TENSOR, attribute.t.is_some()),
            (FLOATS, !attribute.floats.is_empty()),
            (INTS, !attribute.ints.is_empty()),
        ];
        if attribute.r#type != Some(r#type) || held.iter().any(|(of, held)| *held && *of != r#type) {
            let detail = "is not of the type that the operator wants";
            return Err(attribute_error(self.place, name, detail, "write the file anew with onnx"));
        }
        Ok(Some(attribute))
    }
}

/// The error that attribute `name` of the node at `place` is in this way.
pub(crate) fn attribute_error(place: &str, name: &str, detail: &str, way_out: &str) -> ImportError {
    ImportError::Attribute(fault(place, format!("attribute `{name}` {detail}"), way_out))
}
