//! Shapes: one extent for each axis, row-major; a scalar has none.

/// The number of elements; `None` if it does not fit `usize`.
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))
}

/// The row-major strides; `None` if one does not fit `usize`.
pub(crate) fn strides(shape: &[usize]) -> Option<Vec<usize>> {
    let mut stride = 1_usize;
    let mut strides = Vec::with_capacity(shape.len());
    for extent in shape.iter().rev() {
        strides.push(stride);
        stride = stride.checked_mul(*extent)?;
    }
    strides.reverse();
    Some(strides)
}

/// For each element of a tensor with these (extent, stride) axes, in row-major order, the offset `Σ index·stride`.
pub(crate) fn offsets(axes: impl IntoIterator<Item = (usize, usize)>) -> Option<Vec<usize>> {
    let mut offsets = vec![0_usize];
    for (extent, stride) in axes {
        let mut next = Vec::with_capacity(offsets.len().checked_mul(extent)?);
        for start in &offsets {
            for index in 0..extent {
                next.push(index.checked_mul(stride)?.checked_add(*start)?);
            }
        }
        offsets = next;
    }
    Some(offsets)
}

/// The text of a shape, `[1, 4]`.
pub(crate) fn text(shape: &[usize]) -> String {
    format!("{shape:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_offsets_are_row_major() {
        assert_eq!(strides(&[2, 3, 4]), Some(vec![12, 4, 1]));
        assert_eq!(strides(&[]), Some(vec![]));
        assert_eq!(strides(&[1, 2, usize::MAX]), None);
        assert_eq!(offsets([(2, 3), (3, 1)]), Some(vec![0, 1, 2, 3, 4, 5]));
        // The transpose of a 2x3 matrix.
        assert_eq!(offsets([(3, 1), (2, 3)]), Some(vec![0, 3, 1, 4, 2, 5]));
        // A stride of zero repeats.
        assert_eq!(offsets([(2, 0), (2, 1)]), Some(vec![0, 1, 0, 1]));
        assert_eq!(offsets([]), Some(vec![0]));
    }

    #[test]
    fn a_product_that_does_not_fit_is_none() {
        assert_eq!(elements(&[]), Some(1));
        assert_eq!(elements(&[1 << 40, 1 << 40]), None);
        assert_eq!(elements(&[3, 0, 5]), Some(0));
    }
}
