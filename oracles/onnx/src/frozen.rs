//! A tensor that is given for a graph input: a `TensorProto` (.pb) or an array of NumPy (.npy).

use prost::Message;

use crate::constant::{Constant, Element, elements};
use crate::error::{ImportError, fault};
use crate::fields;
use crate::proto::TensorProto;

/// A graph input that becomes a constant.
#[derive(Clone, Copy, Debug)]
pub struct Frozen<'a> {
    /// The graph input.
    pub name: &'a str,
    /// The bytes of the file that holds its tensor.
    pub bytes: &'a [u8],
}

const MAGIC: &[u8] = b"\x93NUMPY";

impl Frozen<'_> {
    /// The tensor, under the name of the graph input.
    ///
    /// # Errors
    /// [`ImportError::Tensor`] and the errors of reading a tensor of a model.
    pub(crate) fn constant(&self) -> Result<Constant, ImportError> {
        let place = format!("the tensor for graph input `{}`", self.name);
        let constant = if self.bytes.starts_with(MAGIC) {
            array(self.bytes, &place)?
        } else {
            fields::check_tensor(self.bytes, &place)?;
            let tensor = TensorProto::decode(self.bytes).map_err(|error| {
                let detail = format!("it is neither an array of NumPy nor a tensor of ONNX ({error})");
                ImportError::Malformed(fault(&place, detail, "give a .npy file, or a TensorProto in a .pb file"))
            })?;
            Constant::read(&tensor, self.name, &place)?
        };
        Ok(Constant { name: self.name.to_owned(), ..constant })
    }
}

/// An array of NumPy, row-major and little endian.
fn array(bytes: &[u8], place: &str) -> Result<Constant, ImportError> {
    let error = |detail: &str| {
        ImportError::Tensor(fault(
            place,
            detail,
            "write it with numpy.save, in C order, as float32, float64, int32, int64 or bool",
        ))
    };
    let (major, length, start) = match bytes.get(6..) {
        Some([1, _, a, b, ..]) => (1, usize::from(u16::from_le_bytes([*a, *b])), 10),
        Some([2 | 3, _, a, b, c, d, ..]) => {
            (2, usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX), 12)
        }
        _ => return Err(error("its version is not known")),
    };
    let body = bytes.get(start..).and_then(|rest| rest.split_at_checked(length));
    let (header, data) = body.ok_or_else(|| error("it is cut"))?;
    let header = std::str::from_utf8(header).map_err(|_| error("its header is no text"))?;
    let header: String = header.chars().filter(|c| !c.is_whitespace()).collect();
    let entries =
        header.strip_prefix("{'descr':'").and_then(|rest| rest.split_once("','fortran_order':False,'shape':("));
    let (descr, rest) = entries.ok_or_else(|| error(&format!("its header of version {major} is {header}")))?;
    let element = match descr {
        "<f4" => Element::F32,
        "<f8" => Element::F64,
        "<i4" => Element::I32,
        "<i8" => Element::I64,
        "|b1" => Element::Bool,
        _ => return Err(error(&format!("its elements are of type {descr}"))),
    };
    let extents = rest.strip_suffix("),}").ok_or_else(|| error("its shape is not closed"))?;
    let extents = extents.split(',').filter(|extent| !extent.is_empty()).map(str::parse);
    let shape: Vec<usize> = extents.collect::<Result<_, _>>().map_err(|_| error("its shape is no list of numbers"))?;
    if data.len() != elements(place, &shape)? * element.size() {
        return Err(error("its data is not as long as its shape says"));
    }
    let constant = Constant::generated(element, shape, data.to_vec());
    if !constant.is_finite() || (element == Element::Bool && data.iter().any(|byte| *byte > 1)) {
        return Err(error("it holds NaN, infinity, or a bool that is none"));
    }
    Ok(constant)
}
