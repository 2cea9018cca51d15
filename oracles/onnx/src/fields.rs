//! A walk over the wire format before anything is believed: protobuf decoders skip what they do not know and let the last of
//! two values win, so here every field of every message that is read must be in the table, once where the schema says so, and
//! a field that the importer does not use must be one of the few that mean nothing for the numbers.

use crate::error::{Fault, ImportError, fault};

/// What the importer does with a field.
#[derive(Clone, Copy)]
enum Use {
    /// Reads it.
    Read,
    /// Reads it; it is a message of this table.
    Enter(&'static [Field]),
    /// Ignores it: descriptions of people and producers, and types that are computed afresh.
    Harmless,
    /// Refuses it: what to do instead.
    Refuse(&'static str),
    /// Refuses it unless it holds the default value, which some producers write out.
    RefuseFilled(&'static str),
}

#[derive(Clone, Copy)]
struct Field {
    number: u64,
    name: &'static str,
    repeated: bool,
    handling: Use,
}

const fn one(number: u64, name: &'static str, handling: Use) -> Field {
    Field { number, name, repeated: false, handling }
}

const fn many(number: u64, name: &'static str, handling: Use) -> Field {
    Field { number, name, repeated: true, handling }
}

const DEVICES: &str = "export the model without device configurations";
const FUNCTIONS: &str = "export the model with its functions inlined";
const QUANTIZED: &str = "export the model without quantization";
const SPARSE: &str = "store the tensor densely";
const SUBGRAPH: &str = "export the model without control flow";
const TRAINING: &str = "export the model for inference";
const TYPES: &str = "only tensors are supported";
const EXTERNAL: &str = "store the tensor inside the file";

const MODEL: &[Field] = &[
    one(1, "ir_version", Use::Read),
    one(2, "producer_name", Use::Harmless),
    one(3, "producer_version", Use::Harmless),
    one(4, "domain", Use::Harmless),
    one(5, "model_version", Use::Harmless),
    one(6, "doc_string", Use::Harmless),
    one(7, "graph", Use::Enter(GRAPH)),
    many(8, "opset_import", Use::Enter(OPERATOR_SET)),
    many(14, "metadata_props", Use::Harmless),
    many(20, "training_info", Use::Refuse(TRAINING)),
    many(25, "functions", Use::Refuse(FUNCTIONS)),
    many(26, "configuration", Use::Refuse(DEVICES)),
];

const OPERATOR_SET: &[Field] = &[one(1, "domain", Use::Read), one(2, "version", Use::Read)];

const GRAPH: &[Field] = &[
    many(1, "node", Use::Enter(NODE)),
    one(2, "name", Use::Harmless),
    many(5, "initializer", Use::Enter(TENSOR)),
    one(10, "doc_string", Use::Harmless),
    many(11, "input", Use::Enter(VALUE_INFO)),
    many(12, "output", Use::Enter(VALUE_INFO)),
    many(13, "value_info", Use::Harmless),
    many(14, "quantization_annotation", Use::Refuse(QUANTIZED)),
    many(15, "sparse_initializer", Use::Refuse(SPARSE)),
    many(16, "metadata_props", Use::Harmless),
];

const NODE: &[Field] = &[
    many(1, "input", Use::Read),
    many(2, "output", Use::Read),
    one(3, "name", Use::Read),
    one(4, "op_type", Use::Read),
    many(5, "attribute", Use::Enter(ATTRIBUTE)),
    one(6, "doc_string", Use::Harmless),
    one(7, "domain", Use::Read),
    one(8, "overload", Use::RefuseFilled(FUNCTIONS)),
    many(9, "metadata_props", Use::Harmless),
    many(10, "device_configurations", Use::Refuse(DEVICES)),
];

const ATTRIBUTE: &[Field] = &[
    one(1, "name", Use::Read),
    one(2, "f", Use::Read),
    one(3, "i", Use::Read),
    one(4, "s", Use::Read),
    one(5, "t", Use::Enter(TENSOR)),
    one(6, "g", Use::Refuse(SUBGRAPH)),
    many(7, "floats", Use::Read),
    many(8, "ints", Use::Read),
    many(9, "strings", Use::Refuse("no supported operator takes strings")),
    many(10, "tensors", Use::Refuse("no supported operator takes a list of tensors")),
    many(11, "graphs", Use::Refuse(SUBGRAPH)),
    one(13, "doc_string", Use::Harmless),
    one(14, "tp", Use::Refuse(TYPES)),
    many(15, "type_protos", Use::Refuse(TYPES)),
    one(20, "type", Use::Read),
    one(21, "ref_attr_name", Use::RefuseFilled(FUNCTIONS)),
    one(22, "sparse_tensor", Use::Refuse(SPARSE)),
    many(23, "sparse_tensors", Use::Refuse(SPARSE)),
];

const TENSOR: &[Field] = &[
    many(1, "dims", Use::Read),
    one(2, "data_type", Use::Read),
    one(3, "segment", Use::Refuse("store the tensor in one piece")),
    many(4, "float_data", Use::Read),
    many(5, "int32_data", Use::Read),
    many(6, "string_data", Use::Refuse("only tensors of numbers are read")),
    many(7, "int64_data", Use::Read),
    one(8, "name", Use::Read),
    one(9, "raw_data", Use::Read),
    many(10, "double_data", Use::Read),
    many(11, "uint64_data", Use::Refuse("store weights as float32 or float64 and shapes as int64")),
    one(12, "doc_string", Use::Harmless),
    many(13, "external_data", Use::Refuse(EXTERNAL)),
    one(14, "data_location", Use::RefuseFilled(EXTERNAL)),
    many(16, "metadata_props", Use::Harmless),
];

const VALUE_INFO: &[Field] = &[
    one(1, "name", Use::Read),
    one(2, "type", Use::Enter(TYPE)),
    one(3, "doc_string", Use::Harmless),
    many(4, "metadata_props", Use::Harmless),
];

const TYPE: &[Field] = &[
    one(1, "tensor_type", Use::Enter(TENSOR_TYPE)),
    one(4, "sequence_type", Use::Refuse(TYPES)),
    one(5, "map_type", Use::Refuse(TYPES)),
    one(6, "denotation", Use::Harmless),
    one(7, "opaque_type", Use::Refuse(TYPES)),
    one(8, "sparse_tensor_type", Use::Refuse(TYPES)),
    one(9, "optional_type", Use::Refuse(TYPES)),
];

const TENSOR_TYPE: &[Field] = &[one(1, "elem_type", Use::Read), one(2, "shape", Use::Enter(SHAPE))];

const SHAPE: &[Field] = &[many(1, "dim", Use::Enter(DIMENSION))];

const DIMENSION: &[Field] =
    &[one(1, "dim_value", Use::Read), one(2, "dim_param", Use::Read), one(3, "denotation", Use::Harmless)];

/// Walks over the bytes of a `ModelProto` that the decoder has accepted. `label` gives a better name for a path of fields
/// (`["graph", "node"]`, index 3), if there is one.
///
/// # Errors
/// [`ImportError::UnknownField`], [`ImportError::Field`], and [`ImportError::Malformed`] if the bytes are no message after all.
pub(crate) fn check(bytes: &[u8], label: &dyn Fn(&str, usize) -> Option<String>) -> Result<(), ImportError> {
    walk(bytes, MODEL, "model", label)
}

/// Walks over the bytes of a `TensorProto`.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_tensor(bytes: &[u8], place: &str) -> Result<(), ImportError> {
    walk(bytes, TENSOR, place, &|_, _| None)
}

/// One message. The depth is that of the table, which has no cycle.
fn walk(
    bytes: &[u8],
    table: &[Field],
    place: &str,
    label: &dyn Fn(&str, usize) -> Option<String>,
) -> Result<(), ImportError> {
    let mut reader = Reader { rest: bytes };
    let mut counts = vec![0_usize; table.len()];
    while !reader.rest.is_empty() {
        let broken = || ImportError::Malformed(cut(place));
        let key = reader.varint().ok_or_else(broken)?;
        let value = reader.value(key & 7).ok_or_else(broken)?;
        let number = key >> 3;
        let known = table.iter().zip(&mut counts).find(|(field, _)| field.number == number);
        let Some((field, count)) = known else {
            let detail = format!("field number {number} is not of the ONNX schema");
            return Err(ImportError::UnknownField(fault(
                place,
                detail,
                "write the file with a released version of onnx",
            )));
        };
        let index = *count;
        *count += 1;
        if index > 0 && !field.repeated {
            let detail = format!("the field `{}` stands twice", field.name);
            return Err(ImportError::Field(fault(place, detail, "write the file anew with onnx")));
        }
        match field.handling {
            Use::Read | Use::Harmless => {}
            Use::RefuseFilled(_) if value.is_default() => {}
            Use::Refuse(way_out) | Use::RefuseFilled(way_out) => {
                let detail = format!("the field `{}` is not supported", field.name);
                return Err(ImportError::Field(fault(place, detail, way_out)));
            }
            Use::Enter(inner) => {
                let Wire::Bytes(content) = value else {
                    return Err(broken());
                };
                let path = if field.repeated {
                    format!("{place}.{}[{index}]", field.name)
                } else {
                    format!("{place}.{}", field.name)
                };
                walk(content, inner, &label(&path, index).unwrap_or(path), label)?;
            }
        }
    }
    Ok(())
}

fn cut(place: &str) -> Fault {
    fault(place, "the bytes are no protobuf message", "check that the file is complete")
}

/// A value as the wire gives it.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl Wire<'_> {
    fn is_default(&self) -> bool {
        match self {
            Self::Number(number) => *number == 0,
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn fixed(&mut self, length: usize) -> Option<u64> {
        let bytes = self.take(length)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn value(&mut self, wire_type: u64) -> Option<Wire<'a>> {
        match wire_type {
            0 => self.varint().map(Wire::Number),
            1 => self.fixed(8).map(Wire::Number),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.take(length).map(Wire::Bytes)
            }
            5 => self.fixed(4).map(Wire::Number),
            _ => None,
        }
    }
}
