//! Exact tensors: the numbers of a payload, each the real number that its bits or its text spell.

use crate::num::{Dyadic, Rational, Short};

/// A tensor of exact numbers in row-major order. `shape` has one entry for each axis; a scalar has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Values,
}

/// The numbers of a tensor, kept as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Bits of IEEE binary32 numbers, all finite.
    Binary32(Vec<u32>),
    /// Bits of IEEE binary64 numbers, all finite.
    Binary64(Vec<u64>),
    /// Rationals in lowest terms.
    Exact(Vec<Rational>),
}

/// Why a [`Tensor`] could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorError {
    /// The product of the shape is not the number of values (or does not fit `usize`).
    Length,
    /// The value at this row-major index is NaN or infinite.
    NotFinite(usize),
}

impl Tensor {
    /// A tensor of `values` with `shape`; every float must be finite.
    ///
    /// # Errors
    /// [`TensorError::Length`] if the shape does not fit, [`TensorError::NotFinite`] at the first NaN or infinity.
    pub fn new(shape: Vec<usize>, values: Values) -> Result<Self, TensorError> {
        let count = shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d));
        if count != Some(values.len()) {
            return Err(TensorError::Length);
        }
        let infinite = match &values {
            Values::Binary32(v) => v.iter().position(|b| (b >> 23) & 0xff == 0xff),
            Values::Binary64(v) => v.iter().position(|b| (b >> 52) & 0x7ff == 0x7ff),
            Values::Exact(_) => None,
        };
        match infinite {
            Some(index) => Err(TensorError::NotFinite(index)),
            None => Ok(Self { shape, values }),
        }
    }

    /// Axis lengths.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers as they were written.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }

    /// Element `index` in row-major order, exactly.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Rational> {
        match &self.values {
            Values::Exact(v) => v.get(index).cloned(),
            _ => self.dyadic(index).map(|value| value.to_rational()),
        }
    }

    /// Element `index` in row-major order, exactly; `None` if there is none or it is no dyadic number.
    #[must_use]
    pub fn dyadic(&self, index: usize) -> Option<Dyadic> {
        match &self.values {
            Values::Exact(v) => Dyadic::from_rational(v.get(index)?),
            _ => self.short(index).map(Dyadic::from),
        }
    }

    /// Element `index` in row-major order, exactly; `None` if there is none or it is not given by the bits of a float.
    #[must_use]
    pub fn short(&self, index: usize) -> Option<Short> {
        match &self.values {
            Values::Binary32(v) => Short::from_f32_bits(*v.get(index)?),
            Values::Binary64(v) => Short::from_f64_bits(*v.get(index)?),
            Values::Exact(_) => None,
        }
    }
}

impl Values {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Binary32(v) => v.len(),
            Self::Binary64(v) => v.len(),
            Self::Exact(v) => v.len(),
        }
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
