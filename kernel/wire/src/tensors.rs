//! safetensors, strictly: eight bytes of length, a JSON header, and tensors that tile the rest of the file exactly.
//!
//! Refused beyond what the format's own library refuses: a name twice, unknown fields, and white space around the header other than
//! the up to seven spaces with which writers bring its length to a multiple of eight.
//!
//! The bytes come from a [`Source`], so a file need not lie in memory. It may change between reads: types, shapes and places are those of
//! the header, which is read once, and what each read gives is checked by itself.

use crate::fields::element;
use crate::json::{self, Json};
use crate::limits::{Limits, within};
use crate::reason::{Fault, Place, Reason, Rejection};
use certkern_core::tensor::{Tensor, TensorError, Values};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;

/// The most bytes that are read at a time.
const CHUNK: usize = 1 << 16;

/// A file that is read in pieces.
pub trait Source: Sync {
    /// The number of its bytes.
    fn length(&self) -> u64;

    /// Fills `into` with the bytes from `offset` on; whether they were all there.
    #[must_use]
    fn read(&self, offset: u64, into: &mut [u8]) -> bool;
}

impl<B: AsRef<[u8]> + Sync> Source for B {
    fn length(&self) -> u64 {
        u64::try_from(self.as_ref().len()).unwrap_or(u64::MAX)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = start.checked_add(into.len()).and_then(|end| self.as_ref().get(start..end));
        found.is_some_and(|found| {
            into.copy_from_slice(found);
            true
        })
    }
}

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

/// A tensor in its file, or some rows of one. Elements are little endian and row-major.
#[derive(Clone)]
pub struct RawTensor<'a> {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Axis lengths; a scalar has none.
    pub shape: Vec<usize>,
    source: &'a dyn Source,
    /// Where its bytes start in the file.
    offset: usize,
    /// The bytes of one element.
    width: usize,
    /// The place of its first element in the whole tensor.
    first: usize,
}

/// The tensors of a file, each to be taken once.
#[derive(Debug)]
#[must_use]
pub struct TensorFile<'a> {
    tensors: BTreeMap<String, RawTensor<'a>>,
}

impl<'a> TensorFile<'a> {
    /// Reads the header of a file whose tensors are read whole.
    ///
    /// # Errors
    /// `tensors.header`, `tensors.layout`, `tensors.duplicate`, `tensors.dtype`, `tensors.shape`, any `json.*` at its place in the
    /// header, or `limit.bytes`, `limit.header-bytes`, `limit.tensors`, `limit.rank`, `limit.elements`.
    pub fn parse(source: &'a dyn Source, limits: &Limits) -> Result<Self, Rejection> {
        within("bytes", size(source), limits.bytes)?;
        Self::streamed(source, limits, |_| false)
    }

    /// Reads the header of a file of which tensors with the names `by_rows` will be read by rows, so that they may be larger than memory.
    ///
    /// # Errors
    /// As [`TensorFile::parse`], but `limit.bytes` counts what is read whole, and `limit.hint-bytes` the file.
    pub fn streamed(
        source: &'a dyn Source,
        limits: &Limits,
        by_rows: impl Fn(&str) -> bool,
    ) -> Result<Self, Rejection> {
        within("hint-bytes", size(source), limits.hint_bytes)?;
        let (header, start) = header(source, limits)?;
        let data = Data { source, start, length: size(source).saturating_sub(start) };
        let header = json::parse(&header, limits).map_err(in_header)?;
        let members = header.members("").map_err(|fault| in_header(fault.into()))?;
        within("tensors", members.len(), limits.tensors)?;
        let mut whole = 0_usize;
        let mut entries = Vec::new();
        for (name, json) in members {
            if name == "__metadata__" {
                metadata(json).map_err(|fault| in_header(fault.into()))?;
                continue;
            }
            let by_rows = by_rows(name);
            let most = if by_rows { limits.hint_bytes } else { limits.elements };
            let entry = Entry::read(name, json, &data, most, limits).map_err(in_header)?;
            if !by_rows {
                whole = whole.saturating_add(entry.end.saturating_sub(entry.begin));
            }
            entries.push(entry);
        }
        within("bytes", whole, limits.bytes)?;
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
        if end != data.length {
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

impl Debug for RawTensor<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{:?}", self.name, self.dtype.name(), self.shape)
    }
}

impl RawTensor<'_> {
    /// Some rows, places on the first axis, as a tensor.
    ///
    /// # Errors
    /// `internal` if there are no such rows.
    pub fn rows(&self, range: Range<usize>) -> Result<Self, Fault> {
        let part = || {
            let (most, rest) = self.shape.split_first()?;
            let length = range.end.checked_sub(range.start).filter(|_| range.end <= *most)?;
            let before = rest.iter().try_fold(range.start, |n, d| n.checked_mul(*d))?;
            let offset = self.offset.checked_add(before.checked_mul(self.width)?)?;
            let shape = std::iter::once(length).chain(rest.iter().copied()).collect();
            Some(Self { shape, offset, first: self.first.checked_add(before)?, ..self.clone() })
        };
        part().ok_or_else(|| self.fault(Reason::Internal("rows that a tensor does not have")))
    }

    /// The elements of a `U32` tensor.
    ///
    /// # Errors
    /// `tensors.dtype` if it is of another type, `tensors.layout` if its bytes are no longer in the file.
    pub fn u32s(&self) -> Result<Vec<u32>, Fault> {
        match self.dtype {
            Dtype::U32 => self.elements(|bytes| u32::from_le_bytes(*bytes)),
            _ => Err(self.wrong_dtype()),
        }
    }

    /// The elements of a `U8` tensor.
    ///
    /// # Errors
    /// As [`RawTensor::u32s`].
    pub fn u8s(&self) -> Result<Vec<u8>, Fault> {
        match self.dtype {
            Dtype::U8 => self.elements(|[byte]| *byte),
            _ => Err(self.wrong_dtype()),
        }
    }

    /// The elements of an `F32` or `F64` tensor, all finite.
    ///
    /// # Errors
    /// As [`RawTensor::u32s`], and `tensors.not-finite` at the first NaN or infinity.
    pub fn floats(&self) -> Result<Tensor, Fault> {
        let values = match self.dtype {
            Dtype::F32 => Values::Binary32(self.elements(|bytes| u32::from_le_bytes(*bytes))?),
            Dtype::F64 => Values::Binary64(self.elements(|bytes| u64::from_le_bytes(*bytes))?),
            _ => return Err(self.wrong_dtype()),
        };
        Tensor::new(self.shape.clone(), values).map_err(|error| match error {
            TensorError::Length => self.fault(Reason::Internal("the data fit the shape")),
            TensorError::NotFinite(index) => {
                let index = index.saturating_add(self.first);
                self.fault(Reason::TensorsNotFinite { name: self.name.clone(), index })
            }
        })
    }

    /// Reads the elements, each of `N` bytes.
    fn elements<const N: usize, T>(&self, element: impl Fn(&[u8; N]) -> T) -> Result<Vec<T>, Fault> {
        let count = self.shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d));
        let bytes = count.and_then(|count| count.checked_mul(N));
        let (Some(count), Some(mut left)) = (count, bytes) else {
            return Err(self.fault(Reason::Internal("a shape that was checked")));
        };
        let mut elements = Vec::with_capacity(count);
        let mut chunk = vec![0; left.min(CHUNK)];
        let mut offset = self.offset;
        while left > 0 {
            chunk.truncate(left);
            if !self.source.read(u64::try_from(offset).unwrap_or(u64::MAX), &mut chunk) {
                return Err(self.fault(Reason::TensorsLayout("bytes that were in the file are gone")));
            }
            elements.extend(chunk.as_chunks::<N>().0.iter().map(&element));
            left = left.saturating_sub(chunk.len());
            offset = offset.saturating_add(chunk.len());
        }
        Ok(elements)
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

/// What follows the header.
struct Data<'a> {
    source: &'a dyn Source,
    start: usize,
    length: usize,
}

impl<'a> Entry<'a> {
    /// Reads an entry of the header, of a tensor of at most `most` elements.
    fn read(name: &str, json: &Json, data: &Data<'a>, most: usize, limits: &Limits) -> Result<Self, Rejection> {
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
        within("elements", elements, most).map_err(fault)?;
        let Some(bytes) = end.checked_sub(begin) else {
            return Err(fault(Reason::TensorsLayout("a range ends before it begins")).into());
        };
        if end > data.length {
            return Err(fault(Reason::TensorsLayout("a range reaches beyond the file")).into());
        }
        let name = name.to_owned();
        if elements.checked_mul(width) != Some(bytes) {
            let expected = format!("{bytes} bytes of {}", dtype.name());
            return Err(fault(Reason::TensorsShape { name, expected, found: format!("{shape:?}") }).into());
        }
        let offset = data.start.saturating_add(begin);
        Ok(Self { begin, end, tensor: RawTensor { name, dtype, shape, source: data.source, offset, width, first: 0 } })
    }
}

fn size(source: &dyn Source) -> usize {
    usize::try_from(source.length()).unwrap_or(usize::MAX)
}

/// The header, and where the data start.
fn header(source: &dyn Source, limits: &Limits) -> Result<(Vec<u8>, usize), Rejection> {
    let fault = |what| Fault::at(Reason::TensorsHeader(what), "", 0);
    let mut length = [0; 8];
    if !source.read(0, &mut length) {
        return Err(fault("the file is shorter than eight bytes").into());
    }
    let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
    within("header-bytes", length, limits.header_bytes)?;
    let start = length.saturating_add(8);
    let mut header = vec![0; if start <= size(source) { length } else { 0 }];
    if header.len() != length || !source.read(8, &mut header) {
        return Err(fault("the header is longer than the file").into());
    }
    let spaces = header.iter().rev().take_while(|byte| **byte == b' ').count();
    let aligned = spaces == 0 || (spaces < 8 && length.is_multiple_of(8));
    header.truncate(length.saturating_sub(spaces));
    if !aligned || !header.starts_with(b"{") || !header.ends_with(b"}") {
        return Err(
            fault("the header is not one object, ended by at most the spaces that align it to eight bytes").into()
        );
    }
    Ok((header, start))
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
