//! Operators that join, cut, pick, repeat and pad: `Concat`, `Split`, `Slice`, `Gather`, `Expand`, `Pad`.

use super::{Call, elementwise, source};
use crate::builder::{NodeValue, Origin, Value};
use crate::constant::Constant;
use crate::error::ImportError;

const ANEW: &str = "write the file anew with onnx";

pub(super) fn concat(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let values = (0..call.inputs.len()).map(|place| call.input(place)).collect::<Result<Vec<_>, _>>()?;
    call.same_element(&values.iter().collect::<Vec<_>>())?;
    let first = call.input(0)?;
    let Some(axis) = call.attributes.int("axis")? else {
        return Err(call.attribute("axis", "is missing", ANEW));
    };
    let axis = call.axis(axis, first.shape().len())?;
    if values.len() == 1 {
        return source::hand_on(call);
    }
    let mut shape = first.shape().to_vec();
    let mut sum = 0_usize;
    for value in &values {
        sum = sum.saturating_add(value.shape().get(axis).copied().unwrap_or(0));
        let same = |(place, (a, b)): (usize, (&usize, &usize))| place == axis || a == b;
        if value.shape().len() != shape.len() || !value.shape().iter().zip(&shape).enumerate().all(same) {
            let detail = format!("{:?} and {:?} differ beside axis {axis}", first.shape(), value.shape());
            return Err(call.shape(detail, ANEW));
        }
    }
    shape[axis] = sum;
    let constant = |value: &'_ Value| match value {
        Value::Constant(constant) => Some(constant.clone()),
        Value::Node(_) => None,
    };
    if let Some(parts) = values.iter().map(constant).collect::<Option<Vec<_>>>() {
        let parts: Vec<&Constant> = parts.iter().map(|part| &**part).collect();
        crate::constant::elements(call.origin.place, &shape)?;
        if let Some(joined) = Constant::joined(&parts, axis, shape.clone()) {
            return Ok(call.derived(joined));
        }
    }
    let nodes = values.iter().map(|value| call.node(value)).collect::<Result<Vec<_>, _>>()?;
    let parents: Vec<&NodeValue> = nodes.iter().collect();
    call.make("concat", &parents, shape, vec![("axis", axis.into())], &[]).map(Value::Node)
}

pub(super) fn split(call: &mut Call<'_>) -> Result<Vec<Option<Value>>, ImportError> {
    let value = call.input(0)?;
    let axis = call.attributes.int("axis")?.unwrap_or(0);
    let axis = call.axis(axis, value.shape().len())?;
    let extent = value.shape()[axis];
    let parts = call.outputs.len();
    let stated = call.list("split", 1, 13)?;
    let counted = if call.opset >= 18 { call.attributes.int("num_outputs")? } else { None };
    if counted.is_some_and(|counted| usize::try_from(counted) != Ok(parts) || stated.is_some()) {
        return Err(call.attribute("num_outputs", "is not the number of outputs, or stands beside sizes", ANEW));
    }
    let sizes: Option<Vec<usize>> = match &stated {
        Some(sizes) => sizes.iter().map(|size| usize::try_from(*size).ok()).collect(),
        None if counted.is_some() => {
            let size = extent.div_ceil(parts.max(1));
            Some((0..parts).map(|part| extent.saturating_sub(part * size).min(size)).collect())
        }
        None => (parts > 0 && extent % parts == 0).then(|| vec![extent / parts.max(1); parts]),
    };
    let fits = |sizes: &Vec<usize>| {
        sizes.len() == parts && sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(*size)) == Some(extent)
    };
    let Some(sizes) = sizes.filter(fits) else {
        let detail = match stated {
            Some(stated) => format!("an axis of extent {extent} is not cut into {parts} parts by {stated:?}"),
            None => format!("an axis of extent {extent} is not cut into {parts} equal parts"),
        };
        return Err(call.shape(detail, ANEW));
    };
    if parts == 1 {
        return Ok(vec![Some(source::hand_on(call)?)]);
    }
    let mut made = Vec::with_capacity(parts);
    let mut start = 0;
    let origin = call.origin;
    for (index, (name, live)) in call.outputs.clone().into_iter().enumerate() {
        let size = sizes[index];
        call.origin = Origin { value_name: name, ..origin };
        made.push(match &value {
            _ if !live => None,
            Value::Constant(constant) => {
                Some(call.derived(constant.picked(axis, &(start..start + size).collect::<Vec<_>>())))
            }
            Value::Node(node) => {
                let mut shape = node.shape.clone();
                shape[axis] = size;
                let attributes = vec![("axis", axis.into()), ("sizes", sizes.clone().into()), ("index", index.into())];
                Some(Value::Node(call.unary("split", node, shape, attributes)?))
            }
        });
        start += size;
    }
    call.origin = origin;
    Ok(made)
}

/// The places of one axis.
enum Range {
    /// `start`, `start + step`, … below `stop`.
    Up(usize, usize, usize),
    /// These, in descending order.
    Down(Vec<usize>),
}

impl Range {
    fn places(&self) -> Vec<usize> {
        match self {
            Self::Up(start, stop, step) => (*start..*stop).step_by(*step).collect(),
            Self::Down(places) => places.clone(),
        }
    }

    /// The range that ONNX means: ends below zero count from the end, and all are brought into the axis.
    fn clamped(extent: i64, start: i64, end: i64, step: i64) -> Option<Self> {
        let from_end = |at: i64| if at < 0 { at.saturating_add(extent) } else { at };
        let (start, end) = (from_end(start), from_end(end));
        if step > 0 {
            let (start, end) = (start.clamp(0, extent), end.clamp(0, extent));
            let whole = |number: i64| usize::try_from(number).ok();
            return Some(Self::Up(whole(start)?, whole(end.max(start))?, whole(step)?));
        }
        if step == 0 {
            return None;
        }
        let (mut at, end) = (start.clamp(-1, extent - 1), end.clamp(-1, extent - 1));
        let mut places = Vec::new();
        while at > end {
            places.push(usize::try_from(at).ok()?);
            at = at.checked_add(step)?.max(-1);
        }
        Some(Self::Down(places))
    }
}

pub(super) fn slice(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let (starts, ends, axes, steps) = if call.opset >= 10 {
        let list = |place| call.optional(place).map(|_| call.indices(place).map(|(list, _)| list)).transpose();
        (list(1)?, list(2)?, list(3)?, list(4)?)
    } else {
        (call.list("starts", 1, 10)?, call.list("ends", 1, 10)?, call.list("axes", 1, 10)?, None)
    };
    let (Some(starts), Some(ends)) = (starts, ends) else {
        return Err(call.operand("the starts or the ends are left out".to_owned(), ANEW));
    };
    let rank = value.shape().len();
    let axes = match axes {
        Some(axes) => axes.iter().map(|axis| call.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?,
        None => (0..starts.len()).collect(),
    };
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    let unfit = || {
        let detail =
            format!("slices {starts:?} to {ends:?} by {steps:?} of axes {axes:?} do not fit {:?}", value.shape());
        call.shape(detail, ANEW)
    };
    let mut ranges: Vec<Option<Range>> = (0..rank).map(|_| None).collect();
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(unfit());
    }
    for (index, axis) in axes.iter().enumerate() {
        let extent = value.shape().get(*axis).and_then(|extent| i64::try_from(*extent).ok()).ok_or_else(unfit)?;
        let range = Range::clamped(extent, starts[index], ends[index], steps[index]).ok_or_else(unfit)?;
        if ranges[*axis].replace(range).is_some() {
            return Err(unfit());
        }
    }
    match value {
        Value::Constant(constant) => {
            let mut picked = Constant::clone(&constant);
            for (axis, range) in ranges.iter().enumerate() {
                if let Some(range) = range {
                    picked = picked.picked(axis, &range.places());
                }
            }
            Ok(call.derived(picked))
        }
        Value::Node(node) => sliced(call, node, &ranges).map(Value::Node),
    }
}

/// A `slice` of what goes upwards, unless all that is named goes downwards, and a `gather` for each axis that goes downwards.
fn sliced(call: &mut Call<'_>, node: NodeValue, ranges: &[Option<Range>]) -> Result<NodeValue, ImportError> {
    let mut node = node;
    let down = |range: &Option<Range>| matches!(range, Some(Range::Down(_)));
    let only_down = ranges.iter().any(down) && ranges.iter().all(|range| range.is_none() || down(range));
    if !only_down {
        let range = |(range, extent): (&Option<Range>, &usize)| match range {
            Some(Range::Up(start, stop, step)) => [*start, *stop, *step],
            _ => [0, *extent, 1],
        };
        let lists: Vec<[usize; 3]> = ranges.iter().zip(&node.shape).map(range).collect();
        let shape = lists.iter().map(|[start, stop, step]| (stop - start).div_ceil(*step)).collect();
        let list = |place: usize| lists.iter().map(|list| list[place]).collect::<Vec<_>>();
        let attributes = vec![("start", list(0).into()), ("stop", list(1).into()), ("step", list(2).into())];
        node = call.unary("slice", &node, shape, attributes)?;
    }
    for (axis, range) in ranges.iter().enumerate() {
        if let Some(Range::Down(places)) = range {
            node = picked(call, &node, axis, places.clone(), vec![places.len()])?;
        }
    }
    Ok(node)
}

/// A `gather` of these places of an axis, in this shape.
fn picked(
    call: &mut Call<'_>,
    node: &NodeValue,
    axis: usize,
    places: Vec<usize>,
    inner: Vec<usize>,
) -> Result<NodeValue, ImportError> {
    let shape = instead(&node.shape, axis, &inner);
    let attributes = vec![("axis", axis.into()), ("indices", places.into()), ("indices_shape", inner.into())];
    call.unary("gather", node, shape, attributes)
}

/// The shape with others in the place of an axis.
fn instead(shape: &[usize], axis: usize, inner: &[usize]) -> Vec<usize> {
    shape.iter().take(axis).chain(inner).chain(shape.iter().skip(axis + 1)).copied().collect()
}

pub(super) fn gather(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let axis = call.attributes.int("axis")?.unwrap_or(0);
    let axis = call.axis(axis, value.shape().len())?;
    let extent = value.shape()[axis];
    let (indices, inner) = call.indices(1)?;
    let place = |index: &i64| {
        let index = if *index < 0 { index.checked_add(i64::try_from(extent).ok()?)? } else { *index };
        usize::try_from(index).ok().filter(|index| *index < extent)
    };
    let Some(places) = indices.iter().map(place).collect::<Option<Vec<usize>>>() else {
        let detail = format!("an index of `{}` is beyond an axis of extent {extent}", call.input_name(1));
        return Err(call.shape(detail, ANEW));
    };
    match &value {
        Value::Constant(constant) => {
            let shape = instead(&constant.shape, axis, &inner);
            crate::constant::elements(call.origin.place, &shape)?;
            Ok(call.derived(constant.picked(axis, &places).reshaped(shape)))
        }
        Value::Node(node) => picked(call, node, axis, places, inner).map(Value::Node),
    }
}

pub(super) fn expand(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let wanted = call.integers(1)?;
    let extents: Option<Vec<usize>> = wanted.iter().map(|extent| usize::try_from(*extent).ok()).collect();
    let shape = extents.and_then(|extents| elementwise::broadcast(value.shape(), &extents));
    let Some(shape) = shape else {
        let detail = format!("shapes {:?} and {wanted:?} do not go together", value.shape());
        return Err(call.shape(detail, ANEW));
    };
    if shape == value.shape() {
        return source::hand_on(call);
    }
    match &value {
        Value::Constant(constant) => Ok(call.derived(constant.repeated(&shape, call.origin.place)?)),
        Value::Node(_) => call.spread(&value, &shape).map(Value::Node),
    }
}

pub(super) fn pad(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let value = call.input(0)?;
    let rank = value.shape().len();
    if !matches!(call.attributes.string("mode")?, None | Some(b"constant")) {
        return Err(call.attribute("mode", "is not constant", "export the model with constant padding"));
    }
    let number = match call.opset {
        11.. => call.number(2, &value)?,
        _ => Some(call.scalar("value", 0.0)?),
    };
    let zero = || Constant::generated(value.element(), Vec::new(), vec![0; value.element().size()]);
    let number = number.unwrap_or_else(zero);
    let Some(pads) = call.list("pads", 1, 11)? else {
        return Err(call.operand("the pads are left out".to_owned(), ANEW));
    };
    let axes = match call.optional(3) {
        Some(_) if call.opset >= 18 => {
            let (axes, _) = call.indices(3)?;
            axes.iter().map(|axis| call.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?
        }
        Some(_) => return Err(call.operand("it has axes, which start with operator set 18".to_owned(), ANEW)),
        None => (0..rank).collect(),
    };
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    let sizes: Vec<usize> = pads.iter().filter_map(|pad| usize::try_from(*pad).ok()).collect();
    if sizes.len() != pads.len() || sizes.len() != 2 * axes.len() {
        let detail = format!("pads {pads:?} of axes {axes:?} are below zero or not two for each");
        return Err(call.shape(detail, "export the model with a Slice in place of negative pads"));
    }
    for (index, axis) in axes.iter().enumerate() {
        (before[*axis], after[*axis]) = (sizes[index], sizes[index + axes.len()]);
    }
    if sizes.iter().all(|size| *size == 0) {
        return source::hand_on(call);
    }
    let node = call.node(&value)?;
    let extents = node.shape.iter().zip(before.iter().zip(&after));
    let shape =
        extents.map(|(extent, (before, after))| extent.saturating_add(*before).saturating_add(*after)).collect();
    let attributes = vec![("padding", before.into()), ("padding_after", after.into())];
    call.make("pad", &[&node], shape, attributes, &[("value", &number)]).map(Value::Node)
}
