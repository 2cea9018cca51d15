//! Constants: the numbers of initializers and `Constant` nodes, copied bit for bit. What is done to them here is to repeat and
//! to reorder.

use crate::error::{ImportError, fault};
use crate::proto::TensorProto;
use crate::safetensors_file::Dtype;

/// The most elements that a tensor, and the payload in all, may have.
pub(crate) const MAX_ELEMENTS: usize = 1 << 28;

/// The type of the elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F64,
    /// For indices.
    I32,
    /// For shapes and axes.
    I64,
    /// For conditions.
    Bool,
}

impl Element {
    /// The element type with this number in `TensorProto.DataType`, if it is one that is read.
    pub(crate) fn from_onnx(data_type: i32) -> Option<Self> {
        match data_type {
            1 => Some(Self::F32),
            6 => Some(Self::I32),
            7 => Some(Self::I64),
            9 => Some(Self::Bool),
            11 => Some(Self::F64),
            _ => None,
        }
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::Bool => 1,
        }
    }

    /// The type in the payload, for the types that may stand there.
    pub(crate) fn dtype(self) -> Option<Dtype> {
        match self {
            Self::F32 => Some(Dtype::F32),
            Self::F64 => Some(Dtype::F64),
            Self::I32 | Self::I64 | Self::Bool => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::Bool => "bool",
        }
    }
}

/// The name of a number of `TensorProto.DataType`.
pub(crate) fn data_type_name(data_type: i32) -> String {
    let names = [
        "undefined",
        "float32",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "string",
        "bool",
        "float16",
        "float64",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
    ];
    let name = usize::try_from(data_type).ok().and_then(|place| names.get(place));
    name.map_or_else(|| format!("number {data_type}"), |name| (*name).to_owned())
}

/// A tensor of known numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    /// The ONNX value.
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) shape: Vec<usize>,
    /// Row-major, little endian.
    pub(crate) bytes: Vec<u8>,
}

/// The number of elements of a shape.
///
/// # Errors
/// [`ImportError::Limit`] if it is more than [`MAX_ELEMENTS`].
pub(crate) fn elements(place: &str, shape: &[usize]) -> Result<usize, ImportError> {
    // Extents beside a zero are limited too, for strides are computed from them.
    let product = shape.iter().try_fold(1_usize, |product, extent| product.checked_mul((*extent).max(1)));
    match product {
        Some(product) if product <= MAX_ELEMENTS => Ok(if shape.contains(&0) { 0 } else { product }),
        _ => {
            let detail = format!("a tensor of shape {shape:?} has more than {MAX_ELEMENTS} elements");
            Err(ImportError::Limit(fault(place, detail, "only smaller networks are supported")))
        }
    }
}

impl Constant {
    /// Reads a tensor.
    ///
    /// # Errors
    /// [`ImportError::Tensor`] if its type is not one that is read, its data is not as long as its shape says, stands in more than
    /// one field, or is not finite; [`ImportError::Limit`].
    pub(crate) fn read(tensor: &TensorProto, name: &str, place: &str) -> Result<Self, ImportError> {
        let error = |detail: String, way_out: &str| ImportError::Tensor(fault(place, detail, way_out));
        let data_type = tensor.data_type.unwrap_or(0);
        let element = Element::from_onnx(data_type).ok_or_else(|| {
            let detail = format!("the tensor has elements of type {}", data_type_name(data_type));
            error(detail, "store weights as float32 or float64 and shapes as int64")
        })?;
        let shape = tensor.dims.iter().map(|extent| usize::try_from(*extent)).collect::<Result<Vec<_>, _>>();
        let shape = shape
            .map_err(|_| error(format!("the shape {:?} is negative", tensor.dims), "write the file anew with onnx"))?;
        let length = elements(place, &shape)? * element.size();
        let fields = [
            ("raw_data", tensor.raw_data.as_ref().map_or(0, Vec::len)),
            ("float_data", tensor.float_data.len()),
            ("double_data", tensor.double_data.len()),
            ("int64_data", tensor.int64_data.len()),
            ("int32_data", tensor.int32_data.len()),
        ];
        let own = match element {
            Element::F32 => "float_data",
            Element::F64 => "double_data",
            Element::I64 => "int64_data",
            Element::I32 | Element::Bool => "int32_data",
        };
        let mut filled = fields.iter().filter(|(_, length)| *length > 0).map(|(field, _)| *field);
        let field = filled.next().unwrap_or("raw_data");
        if filled.next().is_some() || (field != own && field != "raw_data") {
            let detail =
                format!("a tensor of {} does not have its data in `raw_data` or `{own}` alone", element.name());
            return Err(error(detail, "write the file anew with onnx"));
        }
        let bytes: Vec<u8> = match field {
            "float_data" => tensor.float_data.iter().flat_map(|number| number.to_le_bytes()).collect(),
            "double_data" => tensor.double_data.iter().flat_map(|number| number.to_le_bytes()).collect(),
            "int64_data" => tensor.int64_data.iter().flat_map(|number| number.to_le_bytes()).collect(),
            "int32_data" if element == Element::I32 => {
                tensor.int32_data.iter().flat_map(|number| number.to_le_bytes()).collect()
            }
            "int32_data" => tensor.int32_data.iter().map(|number| u8::from(*number != 0)).collect(),
            _ => tensor.raw_data.clone().unwrap_or_default(),
        };
        if bytes.len() != length {
            let detail =
                format!("a tensor of {} {shape:?} has {} bytes in place of {length}", element.name(), bytes.len());
            return Err(error(detail, "check that the file is complete"));
        }
        let constant = Self { name: name.to_owned(), element, shape, bytes };
        if !constant.is_finite() {
            return Err(error("the tensor holds NaN or infinity".to_owned(), "only finite numbers are supported"));
        }
        Ok(constant)
    }

    pub(crate) fn is_finite(&self) -> bool {
        match self.element {
            Element::F32 => self.bytes.as_chunks().0.iter().all(|bytes| f32::from_le_bytes(*bytes).is_finite()),
            Element::F64 => self.bytes.as_chunks().0.iter().all(|bytes| f64::from_le_bytes(*bytes).is_finite()),
            Element::I32 | Element::I64 | Element::Bool => true,
        }
    }

    /// The same numbers, out axis `i` being in axis `perm[i]`; `perm` is a permutation of the axes.
    pub(crate) fn permuted(&self, perm: &[usize]) -> Self {
        let strides = row_major(&self.shape);
        let shape = perm.iter().filter_map(|axis| self.shape.get(*axis).copied()).collect();
        let strides: Vec<usize> = perm.iter().filter_map(|axis| strides.get(*axis).copied()).collect();
        self.gathered(shape, &strides)
    }

    /// The numbers repeated to `shape`, which the own shape broadcasts to (right-aligned).
    ///
    /// # Errors
    /// [`ImportError::Limit`].
    pub(crate) fn repeated(&self, shape: &[usize], place: &str) -> Result<Self, ImportError> {
        elements(place, shape)?;
        let mut strides = vec![0; shape.len().saturating_sub(self.shape.len())];
        let own = row_major(&self.shape).into_iter().zip(&self.shape);
        strides.extend(own.map(|(stride, extent)| if *extent == 1 { 0 } else { stride }));
        Ok(self.gathered(shape.to_vec(), &strides))
    }

    /// The same numbers in another shape of as many elements.
    pub(crate) fn reshaped(&self, shape: Vec<usize>) -> Self {
        Self { shape, ..self.clone() }
    }

    /// The tensor of `shape` whose element at an index is the own element at the inner product of index and `strides`.
    fn gathered(&self, shape: Vec<usize>, strides: &[usize]) -> Self {
        let size = self.element.size();
        let count: usize = shape.iter().product();
        let mut bytes = Vec::with_capacity(count * size);
        let mut index = vec![0_usize; shape.len()];
        let mut at = 0_usize;
        for _ in 0..count {
            bytes.extend_from_slice(self.bytes.get(at * size..(at + 1) * size).unwrap_or_default());
            for ((place, extent), stride) in index.iter_mut().zip(&shape).zip(strides).rev() {
                *place += 1;
                at += stride;
                if *place < *extent {
                    break;
                }
                at -= stride * *place;
                *place = 0;
            }
        }
        Self { name: self.name.clone(), element: self.element, shape, bytes }
    }
}

/// The distance in a row-major tensor between neighbours along each axis.
fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1_usize;
    for (place, extent) in strides.iter_mut().zip(shape).rev() {
        *place = stride;
        stride *= extent;
    }
    strides
}
