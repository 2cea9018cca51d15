//! safetensors, strictly: eight bytes of length, a JSON header, and tensors that tile the rest of the file exactly.
//!
//! Refused beyond what the format's own library refuses: a name twice, unknown fields, and white space around the header other than
//! the up to seven spaces with which writers bring its length to a multiple of eight.

use crate::fields::element;
use crate::json::{self, Json};
use crate::limits::{Limits, within};
use crate::reason::{Fault, Place, Reason, Rejection};
use certkern_core::tensor::{Tensor, TensorError, Values};
use std::collections::BTreeMap;

/// The type of the elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// Bytes.
    U8,
    /// 32-bit natural numbers.
    U32,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// A type of the format that no document of this project uses.
    Other(String),
}

/// A tensor as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawTensor<'a> {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Axis lengths; a scalar has none.
    pub shape: Vec<usize>,
    /// The elements, little endian, row-major. As many bytes as type and shape want.
    pub data: &'a [u8],
}

/// The tensors of a file, each to be taken once.
#[derive(Debug)]
#[must_use]
pub struct TensorFile<'a> {
    tensors: BTreeMap<String, RawTensor<'a>>,
}

impl<'a> TensorFile<'a> {
    /// Reads the header and cuts the file into its tensors.
    ///
    /// # Errors
    /// `tensors.header`, `tensors.layout`, `tensors.duplicate`, `tensors.dtype`, `tensors.shape`, any `json.*` at its place in the
    /// header, or `limit.bytes`, `limit.header-bytes`, `limit.tensors`, `limit.rank`, `limit.elements`.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, Rejection> {
        within("bytes", bytes.len(), limits.bytes)?;
        let (header, data) = split(bytes, limits)?;
        let header = json::parse(header, limits).map_err(in_header)?;
        let members = header.members("").map_err(|fault| in_header(fault.into()))?;
        within("tensors", members.len(), limits.tensors)?;
        let mut entries = Vec::new();
        for (name, json) in members {
            if name == "__metadata__" {
                metadata(json).map_err(|fault| in_header(fault.into()))?;
            } else {
                entries.push(Entry::read(name, json, data, limits).map_err(in_header)?);
            }
        }
        entries.sort_by_key(|entry| (entry.begin, entry.end));
        let mut end = 0;
        for entry in &entries {
            if entry.begin != end {
                let what =
                    if entry.begin < end { "two tensors overlap" } else { "bytes before a tensor belong to none" };
                return Err(Rejection::one(Reason::TensorsLayout(what), Place::path(entry.tensor.name.clone())));
            }
            end = entry.end;
        }
        if end != data.len() {
            return Err(Reason::TensorsLayout("bytes after the last tensor").into());
        }
        Ok(Self { tensors: entries.into_iter().map(|entry| (entry.tensor.name.clone(), entry.tensor)).collect() })
    }

    /// Takes the tensor `name`.
    pub fn take(&mut self, name: &str) -> Option<RawTensor<'a>> {
        self.tensors.remove(name)
    }

    /// The names of the tensors that were not taken, in ascending order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Ends the reading of the file.
    ///
    /// # Errors
    /// One `tensors.unused` for each tensor that was not taken.
    pub fn finish(self) -> Result<(), Rejection> {
        let unused = |name: String| Fault { place: Place::path(&*name), reason: Reason::TensorsUnused(name) };
        Rejection::of(self.tensors.into_keys().take(Rejection::MOST).map(unused).collect()).map_or(Ok(()), Err)
    }
}

impl RawTensor<'_> {
    /// The elements of a `U32` tensor.
    ///
    /// # Errors
    /// `tensors.dtype` if it is of another type.
    pub fn u32s(&self) -> Result<Vec<u32>, Fault> {
        match self.dtype {
            Dtype::U32 => Ok(self.data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()),
            _ => Err(self.wrong_dtype()),
        }
    }

    /// The elements of a `U8` tensor.
    ///
    /// # Errors
    /// `tensors.dtype` if it is of another type.
    pub fn u8s(&self) -> Result<&[u8], Fault> {
        match self.dtype {
            Dtype::U8 => Ok(self.data),
            _ => Err(self.wrong_dtype()),
        }
    }

    /// The elements of an `F32` or `F64` tensor, all finite.
    ///
    /// # Errors
    /// `tensors.dtype` if it is of another type, `tensors.not-finite` at the first NaN or infinity.
    pub fn floats(&self) -> Result<Tensor, Fault> {
        let values = match self.dtype {
            Dtype::F32 => {
                Values::Binary32(self.data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
            }
            Dtype::F64 => {
                Values::Binary64(self.data.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
            }
            _ => return Err(self.wrong_dtype()),
        };
        Tensor::new(self.shape.clone(), values).map_err(|error| match error {
            TensorError::Length => self.fault(Reason::Internal("the data fit the shape")),
            TensorError::NotFinite(index) => self.fault(Reason::TensorsNotFinite { name: self.name.clone(), index }),
        })
    }

    fn wrong_dtype(&self) -> Fault {
        self.fault(Reason::TensorsDtype { name: self.name.clone(), found: self.dtype.name().to_owned() })
    }

    fn fault(&self, reason: Reason) -> Fault {
        Fault { reason, place: Place::path(&*self.name) }
    }
}

impl Dtype {
    /// The type with this name and the bytes of one element. Types of less than a byte are not read.
    fn named(name: &str) -> Option<(Self, usize)> {
        Some(match name {
            "U8" => (Self::U8, 1),
            "U32" => (Self::U32, 4),
            "F32" => (Self::F32, 4),
            "F64" => (Self::F64, 8),
            "BOOL" | "I8" | "F8_E4M3" | "F8_E5M2" | "F8_E8M0" => (Self::Other(name.to_owned()), 1),
            "I16" | "U16" | "F16" | "BF16" => (Self::Other(name.to_owned()), 2),
            "I32" => (Self::Other(name.to_owned()), 4),
            "I64" | "U64" | "C64" => (Self::Other(name.to_owned()), 8),
            _ => return None,
        })
    }

    /// The name in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::U8 => "U8",
            Self::U32 => "U32",
            Self::F32 => "F32",
            Self::F64 => "F64",
            Self::Other(name) => name,
        }
    }
}

/// One tensor and its range in the data.
struct Entry<'a> {
    begin: usize,
    end: usize,
    tensor: RawTensor<'a>,
}

impl<'a> Entry<'a> {
    fn read(name: &str, json: &Json, data: &'a [u8], limits: &Limits) -> Result<Self, Rejection> {
        let mut fields = json.object(name)?;
        let (dtype, width) = {
            let json = fields.required("dtype")?;
            let found = json.string(&fields.path("dtype"))?;
            let unknown = || Reason::TensorsDtype { name: name.to_owned(), found: found.to_owned() };
            Dtype::named(found).ok_or_else(|| json.fault(unknown(), &fields.path("dtype")))?
        };
        let shape = indices(fields.required("shape")?, &fields.path("shape"))?;
        let offsets = indices(fields.required("data_offsets")?, &fields.path("data_offsets"))?;
        fields.finish()?;
        let fault = |reason| Fault::at(reason, name, json.offset);
        let [begin, end] = *offsets.as_slice() else {
            return Err(fault(Reason::TensorsHeader("`data_offsets` are not two numbers")).into());
        };
        within("rank", shape.len(), limits.rank).map_err(fault)?;
        let elements = shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d)).unwrap_or(usize::MAX);
        within("elements", elements, limits.elements).map_err(fault)?;
        let data = match data.get(begin..end) {
            Some(data) => data,
            None if begin > end => return Err(fault(Reason::TensorsLayout("a range ends before it begins")).into()),
            None => return Err(fault(Reason::TensorsLayout("a range reaches beyond the file")).into()),
        };
        if elements.checked_mul(width) != Some(data.len()) {
            let expected = format!("{} bytes of {}", data.len(), dtype.name());
            let name = name.to_owned();
            return Err(fault(Reason::TensorsShape { name, expected, found: format!("{shape:?}") }).into());
        }
        Ok(Self { begin, end, tensor: RawTensor { name: name.to_owned(), dtype, shape, data } })
    }
}

/// The header and the data.
fn split<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(&'a [u8], &'a [u8]), Rejection> {
    let fault = |what| Fault::at(Reason::TensorsHeader(what), "", 0);
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(fault("the file is shorter than eight bytes").into());
    };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    within("header-bytes", length, limits.header_bytes)?;
    let Some((header, data)) = rest.split_at_checked(length) else {
        return Err(fault("the header is longer than the file").into());
    };
    let spaces = header.iter().rev().take_while(|byte| **byte == b' ').count();
    let aligned = spaces == 0 || (spaces < 8 && length.is_multiple_of(8));
    let json = header.get(..length.saturating_sub(spaces)).unwrap_or_default();
    if !aligned || !json.starts_with(b"{") || !json.ends_with(b"}") {
        return Err(
            fault("the header is not one object, ended by at most the spaces that align it to eight bytes").into()
        );
    }
    Ok((json, data))
}

/// The metadata: a map of strings, which nothing here reads.
fn metadata(json: &Json) -> Result<(), Fault> {
    for (key, value) in json.members("__metadata__")? {
        value.string(&crate::fields::member("__metadata__", key))?;
    }
    Ok(())
}

fn indices(json: &Json, path: &str) -> Result<Vec<usize>, Fault> {
    json.array(path)?.iter().enumerate().map(|(i, item)| item.index(&element(path, i))).collect()
}

/// Faults of the header's JSON as faults of the file: the header starts at byte eight, and a key twice in the outermost object is a
/// tensor twice.
fn in_header(rejection: Rejection) -> Rejection {
    rejection.map(|mut fault| {
        fault.place.offset = fault.place.offset.map(|offset| offset.saturating_add(8));
        if let Reason::JsonDuplicateKey(name) = &fault.reason
            && *name == fault.place.path
        {
            fault.reason = Reason::TensorsDuplicate(name.clone());
        }
        fault
    })
}
