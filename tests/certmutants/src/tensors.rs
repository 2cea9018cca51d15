//! Safetensors files, as they are written.

use crate::json::Json;
use crate::number;
use num_rational::BigRational;

/// A tensor of a file, in the order of the header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

/// The bytes of an element.
pub(crate) fn size(dtype: &str) -> Option<usize> {
    match dtype {
        "U8" => Some(1),
        "F32" | "U32" => Some(4),
        "F64" => Some(8),
        _ => None,
    }
}

impl Tensor {
    pub(crate) fn size(&self) -> usize {
        size(&self.dtype).unwrap_or(1)
    }

    pub(crate) fn elements(&self) -> usize {
        self.data.len() / self.size()
    }

    /// The bytes of an element.
    pub(crate) fn element(&mut self, place: usize) -> &mut [u8] {
        let size = self.size();
        &mut self.data[place * size..(place + 1) * size]
    }

    /// An element as a number; `None` if it is not one.
    pub(crate) fn number(&self, place: usize) -> Option<f64> {
        let size = self.size();
        let bytes = self.data.get(place * size..(place + 1) * size)?;
        Some(match self.dtype.as_str() {
            "U8" => f64::from(bytes[0]),
            "U32" => f64::from(u32::from_le_bytes(bytes.try_into().ok()?)),
            "F32" => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
            "F64" => f64::from_le_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }
}

/// Header and data of a file.
pub(crate) fn header(file: &[u8]) -> Option<(Json, &[u8])> {
    let (length, rest) = file.split_first_chunk::<8>()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((Json::parse(header)?, data))
}

/// A file with this header and data.
pub(crate) fn with_header(header: &Json, data: &[u8]) -> Vec<u8> {
    let mut header = header.bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes(), header.as_slice(), data].concat()
}

/// The tensors of a file that they fill.
pub(crate) fn read(file: &[u8]) -> Option<Vec<Tensor>> {
    let (header, data) = header(file)?;
    let mut tensors = Vec::new();
    let mut ranges = Vec::new();
    for (name, entry) in header.members()?.iter().filter(|(name, _)| name != "__metadata__") {
        let (dtype, shape, range) =
            (entry.get("dtype")?.text()?, entry.get("shape")?.naturals()?, entry.get("data_offsets")?.naturals()?);
        let &[begin, end] = range.as_slice() else { return None };
        let bytes = data.get(begin..end)?;
        let elements = shape.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent))?;
        if entry.members()?.len() != 3 || elements.checked_mul(size(dtype)?)? != bytes.len() {
            return None;
        }
        ranges.push((begin, end));
        tensors.push(Tensor { name: name.clone(), dtype: dtype.to_owned(), shape, data: bytes.to_vec() });
    }
    ranges.sort_unstable();
    let end = ranges.iter().try_fold(0, |end, (begin, next)| (*begin == end).then_some(*next))?;
    (end == data.len()).then_some(tensors)
}

/// A file of these tensors.
pub(crate) fn write(tensors: &[Tensor]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for Tensor { name, dtype, shape, data: own } in tensors {
        let naturals =
            |numbers: &[usize]| Json::List(numbers.iter().map(|number| Json::Number(number.to_string())).collect());
        let range = [data.len(), data.len() + own.len()];
        let entry =
            [("dtype", Json::Text(dtype.clone())), ("shape", naturals(shape)), ("data_offsets", naturals(&range))];
        entries.push((name.clone(), Json::Object(entry.map(|(key, value)| (key.to_owned(), value)).into())));
        data.extend(own);
    }
    with_header(&Json::Object(entries), &data)
}

/// A number as an element of this type, if it is one.
pub(crate) fn encoded(dtype: &str, value: f64) -> Option<Vec<u8>> {
    Some(match dtype {
        "U8" => vec![value as u8],
        "U32" => (value as u32).to_le_bytes().to_vec(),
        "F32" => (value as f32).to_le_bytes().to_vec(),
        "F64" => value.to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The sum of a number and an exact one, rounded to binary64.
pub(crate) fn moved(value: f64, by: &BigRational) -> f64 {
    BigRational::from_float(value).map_or(value, |exact| number::near(&(exact + by)))
}
