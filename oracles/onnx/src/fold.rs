//! What can be done exactly to constants: conversions that lose nothing, integers of shapes, picking and joining.

use crate::constant::{Constant, Element};

/// A number of a constant.
#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Float(f64),
}

impl Constant {
    /// A constant without a name, which the importer makes.
    pub(crate) fn generated(element: Element, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        Self { name: String::new(), element, shape, bytes }
    }

    /// A generated float32 scalar.
    pub(crate) fn scalar(number: f32) -> Self {
        Self::generated(Element::F32, Vec::new(), number.to_le_bytes().to_vec())
    }

    /// A generated tensor of int32 or int64; `None` if a number does not fit the type.
    pub(crate) fn of_whole(element: Element, shape: Vec<usize>, numbers: &[i64]) -> Option<Self> {
        let bytes = numbers.iter().map(|number| bytes(Number::Whole(*number), element)).collect::<Option<Vec<_>>>()?;
        Some(Self::generated(element, shape, bytes.concat()))
    }

    /// The numbers of a tensor of int32 or int64.
    pub(crate) fn whole(&self) -> Option<Vec<i64>> {
        match self.element {
            Element::I64 => Some(self.bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()),
            Element::I32 => {
                Some(self.bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect())
            }
            Element::F32 | Element::F64 | Element::Bool => None,
        }
    }

    /// The numbers of a tensor of floats.
    pub(crate) fn floats(&self) -> Option<Vec<f64>> {
        match self.element {
            Element::F32 => {
                Some(self.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect())
            }
            Element::F64 => Some(self.bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()),
            Element::I32 | Element::I64 | Element::Bool => None,
        }
    }

    /// The same numbers in another type; `None` if one of them is none of it.
    pub(crate) fn cast(&self, element: Element) -> Option<Self> {
        if element == self.element {
            return Some(self.clone());
        }
        let numbers: Vec<Number> = match self.floats() {
            Some(floats) => floats.into_iter().map(Number::Float).collect(),
            None => {
                let bits = || self.bytes.iter().map(|byte| i64::from(*byte != 0)).collect();
                self.whole().unwrap_or_else(bits).into_iter().map(Number::Whole).collect()
            }
        };
        let bytes = numbers.into_iter().map(|number| bytes(number, element)).collect::<Option<Vec<_>>>()?;
        Some(Self { name: self.name.clone(), element, shape: self.shape.clone(), bytes: bytes.concat() })
    }

    /// The elements at these places of an axis, all of which it has.
    pub(crate) fn picked(&self, axis: usize, places: &[usize]) -> Self {
        let (before, extent, after) = self.around(axis);
        let size = after * self.element.size();
        let mut bytes = Vec::with_capacity(before * places.len() * size);
        for block in 0..before {
            for place in places {
                let start = (block * extent + place) * size;
                bytes.extend_from_slice(self.bytes.get(start..start + size).unwrap_or_default());
            }
        }
        let mut shape = self.shape.clone();
        if let Some(extent) = shape.get_mut(axis) {
            *extent = places.len();
        }
        Self { name: self.name.clone(), element: self.element, shape, bytes }
    }

    /// Tensors of one type that agree beside the axis, one after the other along it, to this shape.
    pub(crate) fn joined(parts: &[&Self], axis: usize, shape: Vec<usize>) -> Option<Self> {
        let (before, _, _) = parts.first()?.around(axis);
        let mut bytes = Vec::new();
        for block in 0..before {
            for part in parts {
                let (_, extent, after) = part.around(axis);
                let size = extent * after * part.element.size();
                bytes.extend_from_slice(part.bytes.get(block * size..(block + 1) * size)?);
            }
        }
        Some(Self::generated(parts.first()?.element, shape, bytes))
    }

    /// The number of elements before the axis, along it, and after it.
    fn around(&self, axis: usize) -> (usize, usize, usize) {
        let before = self.shape.iter().take(axis).product();
        let after = self.shape.iter().skip(axis + 1).product();
        (before, self.shape.get(axis).copied().unwrap_or(1), after)
    }
}

/// The bytes of a number in a type; `None` if it is none of it. To bool a number becomes whether it is not 0.
fn bytes(number: Number, element: Element) -> Option<Vec<u8>> {
    match (number, element) {
        (Number::Whole(number), Element::Bool) => Some(vec![u8::from(number != 0)]),
        (Number::Float(number), Element::Bool) => Some(vec![u8::from(number != 0.0)]),
        (Number::Whole(number), Element::I64) => Some(number.to_le_bytes().to_vec()),
        (Number::Whole(number), Element::I32) => Some(i32::try_from(number).ok()?.to_le_bytes().to_vec()),
        (Number::Whole(number), Element::F64) => {
            let float = number as f64;
            (float as i128 == i128::from(number)).then(|| float.to_le_bytes().to_vec())
        }
        (Number::Whole(number), Element::F32) => {
            let float = number as f32;
            (float as i128 == i128::from(number)).then(|| float.to_le_bytes().to_vec())
        }
        (Number::Float(number), Element::F64) => Some(number.to_le_bytes().to_vec()),
        (Number::Float(number), Element::F32) => {
            (f64::from(number as f32) == number).then(|| (number as f32).to_le_bytes().to_vec())
        }
        (Number::Float(number), Element::I32 | Element::I64) => {
            // The conversion saturates, so a number that it changes is not of the type.
            let whole = number as i128;
            let same = whole as f64 == number;
            i64::try_from(whole).ok().filter(|_| same).and_then(|whole| bytes(Number::Whole(whole), element))
        }
    }
}
