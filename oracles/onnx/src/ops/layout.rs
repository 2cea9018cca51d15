//! Operators that only move numbers: `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`, `Transpose`.

use super::{Call, affine};
use crate::builder::Value;
use crate::constant::elements;
use crate::error::ImportError;

pub(super) fn flatten(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let axis = call.attributes.int("axis")?.unwrap_or(1);
    let rank = value.shape().len();
    // The axis may be one past the last.
    let axis = if usize::try_from(axis) == Ok(rank) { rank } else { call.axis(axis, rank)? };
    let (before, after) = value.shape().split_at_checked(axis).unwrap_or_default();
    let shape = vec![elements(call.origin.place, before)?, elements(call.origin.place, after)?];
    to_shape(call, &value, shape)
}

pub(super) fn reshape(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let wanted = call.integers(1)?;
    let allow_zero = call.opset >= 14 && call.attributes.int("allowzero")?.unwrap_or(0) != 0;
    let count = elements(call.origin.place, value.shape())?;
    // An extent of -1 stands for what is left over; at most one may.
    let open = wanted.iter().position(|extent| *extent == -1);
    let mut shape = Vec::with_capacity(wanted.len());
    for (axis, extent) in wanted.iter().enumerate() {
        let extent = match extent {
            _ if Some(axis) == open => Some(1),
            0 if !allow_zero => value.shape().get(axis).copied(),
            extent => usize::try_from(*extent).ok(),
        };
        let unfit = || call.shape(format!("{wanted:?} is no shape for it"), "write the file anew with onnx");
        shape.push(extent.ok_or_else(unfit)?);
    }
    let rest = elements(call.origin.place, &shape)?;
    if let Some(extent) = open.and_then(|axis| shape.get_mut(axis)) {
        *extent = count.checked_div(rest).unwrap_or(0);
    }
    to_shape(call, &value, shape)
}

pub(super) fn squeeze(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let rank = value.shape().len();
    let dropped = match call.list("axes", 1, 13)? {
        Some(axes) => marked(call, &axes, rank)?,
        None => value.shape().iter().map(|extent| *extent == 1).collect(),
    };
    let kept = value.shape().iter().zip(&dropped);
    if kept.clone().any(|(extent, dropped)| *dropped && *extent != 1) {
        let detail = format!("an axis of {:?} that is squeezed is not 1", value.shape());
        return Err(call.shape(detail, "write the file anew with onnx"));
    }
    let shape = kept.filter(|(_, dropped)| !**dropped).map(|(extent, _)| *extent).collect();
    to_shape(call, &value, shape)
}

pub(super) fn unsqueeze(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let Some(axes) = call.list("axes", 1, 13)? else {
        return Err(call.operand("the axes are left out".to_owned(), "write the file anew with onnx"));
    };
    let added = marked(call, &axes, value.shape().len() + axes.len())?;
    let mut old = value.shape().iter().copied();
    let shape = added.iter().map(|added| if *added { 1 } else { old.next().unwrap_or(1) }).collect();
    to_shape(call, &value, shape)
}

pub(super) fn transpose(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let rank = value.shape().len();
    let perm = match call.attributes.ints("perm")? {
        None => (0..rank).rev().collect(),
        Some(perm) => {
            let places: Vec<usize> = perm.iter().filter_map(|axis| usize::try_from(*axis).ok()).collect();
            let mut sorted = places.clone();
            sorted.sort_unstable();
            if places.len() != perm.len() || !sorted.iter().copied().eq(0..rank) {
                return Err(call.attribute("perm", "is no permutation of the axes", "write the file anew with onnx"));
            }
            places
        }
    };
    match &value {
        Value::Constant(constant) => Ok(call.derived(constant.permuted(&perm))),
        Value::Node(node) => affine::turn(call, node, &perm).map(Value::Node),
    }
}

/// For each of `rank` axes whether it is one of `axes`.
fn marked(call: &Call<'_>, axes: &[i64], rank: usize) -> Result<Vec<bool>, ImportError> {
    let mut marks = vec![false; rank];
    for axis in axes {
        let axis = call.axis(*axis, rank)?;
        if let Some(mark) = marks.get_mut(axis) {
            if *mark {
                return Err(call.shape(format!("axis {axis} stands twice"), "write the file anew with onnx"));
            }
            *mark = true;
        }
    }
    Ok(marks)
}

/// The value in another shape.
fn to_shape(call: &mut Call<'_>, value: &Value, shape: Vec<usize>) -> Result<Value, ImportError> {
    if elements(call.origin.place, &shape)? != elements(call.origin.place, value.shape())? {
        let detail = format!("{:?} cannot be brought to the shape {shape:?}", value.shape());
        return Err(call.shape(detail, "write the file anew with onnx"));
    }
    match value {
        Value::Constant(constant) => Ok(call.derived(constant.reshaped(shape))),
        Value::Node(node) => call.reshape(node, shape).map(Value::Node),
    }
}
