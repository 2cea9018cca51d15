//! The tensors of a dump.

use crate::error::ConvertError;
use safetensors::{Dtype, SafeTensors};

/// The tensors of a dump by name.
pub(crate) struct Tensors<'a>(SafeTensors<'a>);

/// Numbers in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Floats {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl<'a> Tensors<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`ConvertError::Tensors`] if it is no safetensors file.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, ConvertError> {
        SafeTensors::deserialize(bytes).map(Self).map_err(|error| ConvertError::Tensors(error.to_string()))
    }

    /// The tensor `name` of type `F32`, if there is one.
    ///
    /// # Errors
    /// [`ConvertError::TensorType`].
    pub(crate) fn floats(&self, name: &str) -> Result<Option<Floats>, ConvertError> {
        let Ok(view) = self.0.tensor(name) else { return Ok(None) };
        if view.dtype() != Dtype::F32 {
            return Err(wrong_type(name, view.dtype(), "F32"));
        }
        let (chunks, _) = view.data().as_chunks::<4>();
        let values = chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(Some(Floats { name: name.to_owned(), shape: view.shape().to_vec(), values }))
    }

    /// The tensor `name` of type `F32`.
    ///
    /// # Errors
    /// [`ConvertError::MissingTensor`], [`ConvertError::TensorType`].
    pub(crate) fn needed(&self, name: &str) -> Result<Floats, ConvertError> {
        self.floats(name)?.ok_or_else(|| ConvertError::MissingTensor(name.to_owned()))
    }

    /// The integers of tensor `name` with one axis, if there is one.
    ///
    /// # Errors
    /// [`ConvertError::TensorType`], [`ConvertError::TensorShape`].
    pub(crate) fn integers(&self, name: &str) -> Result<Option<Vec<i64>>, ConvertError> {
        let Ok(view) = self.0.tensor(name) else { return Ok(None) };
        if view.shape().len() != 1 {
            return Err(wrong_shape(name, view.shape(), "one axis"));
        }
        let data = view.data();
        Ok(Some(match view.dtype() {
            Dtype::I32 => data.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b).into()).collect(),
            Dtype::U32 => data.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b).into()).collect(),
            Dtype::I64 => data.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b)).collect(),
            other => return Err(wrong_type(name, other, "I32")),
        }))
    }

    /// The distinct indices below `width` of tensor `name`, if there is one.
    ///
    /// # Errors
    /// As [`Self::integers`], and [`ConvertError::TensorIndex`].
    pub(crate) fn indices(&self, name: &str, width: usize) -> Result<Option<Vec<u32>>, ConvertError> {
        let Some(integers) = self.integers(name)? else { return Ok(None) };
        let mut seen = vec![false; width];
        let mut indices = Vec::with_capacity(integers.len());
        for (index, value) in integers.into_iter().enumerate() {
            let place = usize::try_from(value).ok().and_then(|place| seen.get_mut(place)).filter(|seen| !**seen);
            match (place, u32::try_from(value)) {
                (Some(place), Ok(value)) => {
                    *place = true;
                    indices.push(value);
                }
                _ => return Err(ConvertError::TensorIndex { name: name.to_owned(), index, value, width }),
            }
        }
        Ok(Some(indices))
    }
}

impl Floats {
    /// Checks the shape.
    ///
    /// # Errors
    /// [`ConvertError::TensorShape`].
    pub(crate) fn with_shape(self, shape: &[usize]) -> Result<Self, ConvertError> {
        if self.shape == shape { Ok(self) } else { Err(wrong_shape(&self.name, &self.shape, &format!("{shape:?}"))) }
    }

    /// Checks the number of elements and forgets how they are laid out.
    ///
    /// # Errors
    /// [`ConvertError::TensorShape`].
    pub(crate) fn with_len(self, len: usize) -> Result<Self, ConvertError> {
        if self.values.len() == len {
            Ok(self)
        } else {
            Err(wrong_shape(&self.name, &self.shape, &format!("{len} elements")))
        }
    }

    /// The slopes of this tensor: those outside [0, 1] by rounding alone are moved to its ends, NaN stays for the kernel to refuse.
    ///
    /// # Errors
    /// [`ConvertError::Slope`] at the first slope that is outside by more than 1e-6.
    pub(crate) fn into_slopes(mut self) -> Result<Self, ConvertError> {
        for (index, value) in self.values.iter_mut().enumerate() {
            if *value < -1e-6 || *value > 1.0 + 1e-6 {
                return Err(ConvertError::Slope { tensor: self.name, index, value: *value });
            }
            // NaN stays NaN.
            *value = value.clamp(0.0, 1.0);
        }
        Ok(self)
    }
}

pub(crate) fn wrong_shape(name: &str, found: &[usize], wanted: &str) -> ConvertError {
    ConvertError::TensorShape { name: name.to_owned(), found: found.to_vec(), wanted: wanted.to_owned() }
}

fn wrong_type(name: &str, found: Dtype, wanted: &'static str) -> ConvertError {
    ConvertError::TensorType { name: name.to_owned(), found: format!("{found:?}"), wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Floats {
        Floats { name: "slopes".to_owned(), shape: vec![values.len()], values: values.to_vec() }
    }

    #[test]
    fn slopes_are_clipped_only_within_rounding() {
        let slopes = floats(&[-5e-7, 0.25, 1.000_000_5, f32::NAN]).into_slopes().unwrap().values;
        assert_eq!(slopes[..3], [0.0, 0.25, 1.0]);
        assert!(slopes[3].is_nan());
        let error = floats(&[0.5, 1.00001]).into_slopes().unwrap_err();
        assert_eq!(error, ConvertError::Slope { tensor: "slopes".to_owned(), index: 1, value: 1.00001 });
        assert!(floats(&[-0.01]).into_slopes().is_err());
        assert!(floats(&[f32::INFINITY]).into_slopes().is_err());
    }
}
