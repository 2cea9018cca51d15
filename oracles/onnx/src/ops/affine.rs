//! Operators with weights: `MatMul`, `Gemm`, `Conv`.

use super::Call;
use crate::builder::{NodeDraft, NodeValue, Value};
use crate::constant::{Constant, Element, elements};
use crate::error::ImportError;

/// Which of the two operands is a matrix of the file decides.
pub(super) fn matmul(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let (first, second) = (call.input(0)?, call.input(1)?);
    call.same_element(&[&first, &second])?;
    match (&first, &second) {
        (Value::Node(node), Value::Constant(matrix)) => {
            matrix_of(call, matrix, 1)?;
            linear(call, node, &matrix.permuted(&[1, 0]), None).map(Value::Node)
        }
        (Value::Constant(matrix), Value::Node(node)) => {
            matrix_of(call, matrix, 0)?;
            matrix_times(call, matrix, node).map(Value::Node)
        }
        _ => {
            let detail = "MatMul of two computed values, or of two constants".to_owned();
            Err(call.operand(detail, "only the product of a computed value and a constant matrix is supported"))
        }
    }
}

/// `W X`, which is `(Xᵀ Wᵀ)ᵀ`: the last axis of `Xᵀ` is the one that is summed over. A vector needs no turning.
fn matrix_times(call: &mut Call<'_>, weight: &Constant, node: &NodeValue) -> Result<NodeValue, ImportError> {
    let rank = node.shape.len();
    if rank < 2 {
        return linear(call, node, weight, None);
    }
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    let turned = turn(call, node, &perm)?;
    let product = linear(call, &turned, weight, None)?;
    turn(call, &product, &perm)
}

fn turn(call: &mut Call<'_>, node: &NodeValue, perm: &[usize]) -> Result<NodeValue, ImportError> {
    let shape = perm.iter().filter_map(|axis| node.shape.get(*axis).copied()).collect();
    call.unary("permute", node, shape, vec![("perm", perm.into())])
}

/// `α A B + β C` with a computed A, constants B and C, and both factors 1 (another one would have to be multiplied in).
pub(super) fn gemm(call: &mut Call<'_>) -> Result<Value, ImportError> {
    for name in ["alpha", "beta"] {
        if let Some(factor) = call.attributes.float(name)?
            && factor != 1.0
        {
            let detail = format!("is {factor}, not 1");
            return Err(call.attribute(name, &detail, "multiply it into the weights before exporting"));
        }
    }
    if call.attributes.int("transA")?.unwrap_or(0) != 0 {
        return Err(call.attribute("transA", "is not 0", "export the model with the transpose as an operator"));
    }
    let transposed = call.attributes.int("transB")?.unwrap_or(0) != 0;
    let matrix = call.numbers(1)?;
    matrix_of(call, &matrix, 1)?;
    let first = call.input(0)?;
    call.same_element(&[&first, &Value::Constant(matrix.clone())])?;
    let node = call.node(&first)?;
    let weight = if transposed { Constant::clone(&matrix) } else { matrix.permuted(&[1, 0]) };
    let &[rows, _] = node.shape.as_slice() else {
        return Err(call.shape(format!("A of shape {:?} is no matrix", node.shape), "write the file anew with onnx"));
    };
    if call.optional(2).is_none() {
        if call.opset < 11 {
            let detail = format!("C is left out, which operator set {} does not allow", call.opset);
            return Err(call.operand(detail, "write the file anew with onnx"));
        }
        return linear(call, &node, &weight, None).map(Value::Node);
    }
    let third = call.numbers(2)?;
    call.same_element(&[&first, &Value::Constant(third.clone())])?;
    let out = weight.shape.first().copied().unwrap_or(0);
    // C broadcasts to [rows, out] and must be the same in every row.
    let leading = match third.shape.as_slice() {
        [] | [_] => 1,
        [leading, _] if *leading == 1 || *leading == rows => *leading,
        _ => 0,
    };
    let last = third.shape.last().copied().unwrap_or(1);
    if leading != 1 || (last != 1 && last != out) {
        let detail = format!("C of shape {:?} is not one row of {out} numbers", third.shape);
        return Err(call.shape(detail, "export the model with the sum as an operator of its own"));
    }
    let row = third.reshaped(if third.shape.is_empty() { Vec::new() } else { vec![last] });
    let bias = row.repeated(&[out], call.origin.place)?;
    linear(call, &node, &weight, Some(bias)).map(Value::Node)
}

fn matrix_of(call: &Call<'_>, constant: &Constant, input: usize) -> Result<(), ImportError> {
    if constant.shape.len() == 2 {
        return Ok(());
    }
    let detail = format!("`{}` of shape {:?} is no matrix", call.input_name(input), constant.shape);
    Err(call.operand(detail, "only constant matrices are supported there"))
}

/// A `linear` node with `weight` [out, in] and `bias` [out], zeros if there is none.
fn linear(
    call: &mut Call<'_>,
    node: &NodeValue,
    weight: &Constant,
    bias: Option<Constant>,
) -> Result<NodeValue, ImportError> {
    let &[out, inner] = weight.shape.as_slice() else {
        return Err(call.shape(format!("weight of shape {:?}", weight.shape), "only matrices are supported there"));
    };
    let mut shape = node.shape.clone();
    let Some(last) = shape.last_mut().filter(|last| **last == inner) else {
        let detail = format!("the value of shape {:?} does not fit a matrix that takes {inner} numbers", node.shape);
        return Err(call.shape(detail, "write the file anew with onnx"));
    };
    *last = out;
    let bias = match bias {
        Some(bias) => bias,
        None => zeros(call, weight.element, vec![out])?,
    };
    let parents = [node.id];
    let draft = NodeDraft { kind: "linear", parents: &parents, shape, element: node.element, attributes: Vec::new() };
    call.builder.push(call.origin, draft, &[("weight", weight), ("bias", &bias)])
}

/// Numbers that the file leaves out. All bits zero is the number zero in each element type.
fn zeros(call: &Call<'_>, element: Element, shape: Vec<usize>) -> Result<Constant, ImportError> {
    let count = elements(call.origin.place, &shape)?;
    Ok(Constant { name: String::new(), element, shape, bytes: vec![0; count * element.size()] })
}

/// The window of a convolution, one entry for each spatial axis.
struct Window {
    stride: Vec<usize>,
    before: Vec<usize>,
    after: Vec<usize>,
    dilation: Vec<usize>,
}

pub(super) fn conv(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let first = call.input(0)?;
    let weight = call.numbers(1)?;
    call.same_element(&[&first, &Value::Constant(weight.clone())])?;
    let node = call.node(&first)?;
    let ([batch, channels, spatial @ ..], [out, inner, kernel @ ..]) = (node.shape.as_slice(), weight.shape.as_slice())
    else {
        return Err(call.shape(format!("an input of shape {:?}", node.shape), "write the file anew with onnx"));
    };
    if !(1..=3).contains(&spatial.len()) || kernel.len() != spatial.len() {
        let detail = format!("an input of shape {:?} under weights of shape {:?}", node.shape, weight.shape);
        return Err(call.shape(detail, "convolutions over 1 to 3 axes are supported"));
    }
    let window = window(call, kernel)?;
    let group = call.attributes.int("group")?.unwrap_or(1);
    let group = usize::try_from(group)
        .ok()
        .filter(|group| *group > 0 && *out > 0 && out % *group == 0 && inner.checked_mul(*group) == Some(*channels));
    let Some(group) = group else {
        let detail =
            format!("does not divide {out} channels out of {channels} with weights of shape {:?}", weight.shape);
        return Err(call.attribute("group", &detail, "write the file anew with onnx"));
    };
    let mut shape = vec![*batch, *out];
    for (axis, extent) in spatial.iter().enumerate() {
        let Some(extent) = window.extent(axis, *extent, kernel) else {
            let detail = format!("the window does not fit an input of shape {:?}", node.shape);
            return Err(call.shape(detail, "write the file anew with onnx"));
        };
        shape.push(extent);
    }
    let bias = match call.optional(2) {
        None => zeros(call, weight.element, vec![*out])?,
        Some(value) => {
            call.same_element(&[&first, &value])?;
            Constant::clone(&*call.numbers(2)?)
        }
    };
    if bias.shape != [*out] {
        return Err(
            call.shape(format!("a bias of shape {:?} for {out} channels", bias.shape), "write the file anew with onnx")
        );
    }
    let dense = dense(call, &weight, group)?;
    let attributes = vec![
        ("spatial_rank", spatial.len().into()),
        ("kernel", kernel.into()),
        ("stride", window.stride.into()),
        ("padding", window.before.into()),
        ("padding_after", window.after.into()),
        ("dilation", window.dilation.into()),
        ("groups", group.into()),
        ("channel_axis", 1.into()),
        ("in_channels", (*channels).into()),
        ("out_channels", (*out).into()),
    ];
    let parents = [node.id];
    let draft = NodeDraft { kind: "conv", parents: &parents, shape, element: node.element, attributes };
    call.builder.push(call.origin, draft, &[("weight", &dense), ("bias", &bias)]).map(Value::Node)
}

/// Reads the attributes of the window.
fn window(call: &mut Call<'_>, kernel: &[usize]) -> Result<Window, ImportError> {
    let rank = kernel.len();
    let stated = list(call, "kernel_shape", kernel.to_vec(), 1)?;
    if stated != kernel {
        let detail = format!("is {stated:?}, the weights have {kernel:?}");
        return Err(call.attribute("kernel_shape", &detail, "write the file anew with onnx"));
    }
    let mut before = list(call, "pads", vec![0; 2 * rank], 0)?;
    let after = before.split_off(rank);
    let padded = before.iter().chain(&after).any(|pad| *pad != 0);
    match call.attributes.string("auto_pad")? {
        None | Some(b"NOTSET") => {}
        Some(b"VALID") if !padded => {}
        Some(_) => {
            let detail = "is neither NOTSET nor VALID without pads";
            return Err(call.attribute("auto_pad", detail, "export the model with explicit pads"));
        }
    }
    Ok(Window {
        stride: list(call, "strides", vec![1; rank], 1)?,
        before,
        after,
        dilation: list(call, "dilations", vec![1; rank], 1)?,
    })
}

/// A list attribute as long as `default`, of numbers that are at least `least`.
fn list(call: &mut Call<'_>, name: &'static str, default: Vec<usize>, least: usize) -> Result<Vec<usize>, ImportError> {
    let Some(numbers) = call.attributes.ints(name)? else {
        return Ok(default);
    };
    let list: Vec<usize> = numbers.iter().filter_map(|number| usize::try_from(*number).ok()).collect();
    if list.len() != numbers.len() || list.len() != default.len() || list.iter().any(|number| *number < least) {
        let detail = format!("is {numbers:?}; wanted are {} numbers, each at least {least}", default.len());
        return Err(call.attribute(name, &detail, "write the file anew with onnx"));
    }
    Ok(list)
}

impl Window {
    /// The extent of the output along a spatial axis: `⌊(in + before + after − ((k−1)·dilation + 1)) / stride⌋ + 1`.
    fn extent(&self, axis: usize, extent: usize, kernel: &[usize]) -> Option<usize> {
        let reach = kernel.get(axis)?.checked_sub(1)?.checked_mul(*self.dilation.get(axis)?)?.checked_add(1)?;
        let padded = extent.checked_add(*self.before.get(axis)?)?.checked_add(*self.after.get(axis)?)?;
        padded.checked_sub(reach)?.checked_div(*self.stride.get(axis)?)?.checked_add(1)
    }
}

/// Weights [out, in / group, k…] spread to [out, in, k…]: output channel `m` reads the input channels of its group
/// `⌊m / (out / group)⌋`; the rest are zeros.
fn dense(call: &Call<'_>, weight: &Constant, group: usize) -> Result<Constant, ImportError> {
    let mut shape = weight.shape.clone();
    let (Some(out), Some(inner)) = (shape.first().copied(), shape.get_mut(1)) else {
        return Ok(weight.clone());
    };
    *inner = inner.saturating_mul(group);
    if group == 1 {
        return Ok(weight.clone());
    }
    let mut dense = zeros(call, weight.element, shape)?;
    let (block, row) = (weight.bytes.len() / out, dense.bytes.len() / out);
    let rows = weight.bytes.chunks_exact(block.max(1)).zip(dense.bytes.chunks_exact_mut(row.max(1)));
    for (channel, (from, to)) in rows.enumerate() {
        let start = channel / (out / group) * block;
        if let Some(place) = to.get_mut(start..start + block) {
            place.copy_from_slice(from);
        }
    }
    Ok(dense)
}
