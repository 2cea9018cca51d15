//! Writing safetensors files the way the kernel reads them: tensors in order of their names, no holes, no metadata, no padding.

use serde_json::{Map, Value, json};

/// The type of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 8 bits.
    U8,
}

impl Dtype {
    /// The name in the header of the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F64 => "F64",
            Self::I64 => "I64",
            Self::U32 => "U32",
            Self::U8 => "U8",
        }
    }

    /// The number of bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::U32 => 4,
            Self::U8 => 1,
        }
    }
}

/// The bytes of a safetensors file of these tensors: name, type, shape, and the elements in row-major order, little endian.
///
/// The same tensors in another order give the same bytes. Names should differ, and the length of the data should be that of the
/// shape; a file for which that does not hold is one that readers refuse.
#[must_use]
pub fn write_safetensors(tensors: &[(String, Dtype, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut sorted: Vec<_> = tensors.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut header = Map::new();
    let mut end = 0_usize;
    for (name, dtype, shape, data) in &sorted {
        let start = end;
        end += data.len();
        header.insert(name.clone(), json!({"dtype": dtype.name(), "shape": shape, "data_offsets": [start, end]}));
    }
    let header = Value::Object(header).to_string();
    let mut bytes = Vec::with_capacity(8 + header.len() + end);
    bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    for (.., data) in &sorted {
        bytes.extend_from_slice(data);
    }
    bytes
}
