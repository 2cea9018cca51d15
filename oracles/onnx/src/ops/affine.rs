//! `MatMul` and `Gemm`.

use super::{Call, elementwise};
use crate::builder::{NodeValue, Value};
use crate::constant::{Constant, elements};
use crate::error::ImportError;

/// Which of the two operands is a matrix of the file decides.
pub(super) fn matmul(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let (first, second) = (call.input(0)?, call.input(1)?);
    call.same_element(&[&first, &second])?;
    match (&first, &second) {
        (_, Value::Constant(matrix)) if matrix.shape.len() == 2 => {
            let node = call.node(&first)?;
            linear(call, &node, &matrix.permuted(&[1, 0]), None)
        }
        (Value::Constant(matrix), Value::Node(node)) if matrix.shape.len() == 2 => matrix_times(call, matrix, node),
        _ => {
            let (first, second) = (call.node(&first)?, call.node(&second)?);
            product(call, &first, &second)
        }
    }
    .map(Value::Node)
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

pub(super) fn turn(call: &mut Call<'_>, node: &NodeValue, perm: &[usize]) -> Result<NodeValue, ImportError> {
    let shape = perm.iter().filter_map(|axis| node.shape.get(*axis).copied()).collect();
    call.unary("permute", node, shape, vec![("perm", perm.into())])
}

/// A `matmul` node.
fn product(call: &mut Call<'_>, first: &NodeValue, second: &NodeValue) -> Result<NodeValue, ImportError> {
    let unfit = || {
        let detail = format!("matrices of shapes {:?} and {:?} do not go together", first.shape, second.shape);
        call.shape(detail, "write the file anew with onnx")
    };
    // A vector is a row at the left and a column at the right; its axis vanishes.
    let (left, row) = match first.shape.as_slice() {
        [inner] => (vec![1, *inner], None),
        shape => (shape.to_vec(), shape.len().checked_sub(2).and_then(|axis| shape.get(axis).copied())),
    };
    let (right, column) = match second.shape.as_slice() {
        [inner] => (vec![*inner, 1], None),
        shape => (shape.to_vec(), shape.last().copied()),
    };
    let ([stack @ .., _, inner], [other_stack @ .., other_inner, _]) = (left.as_slice(), right.as_slice()) else {
        return Err(unfit());
    };
    let batch = elementwise::broadcast(stack, other_stack).filter(|_| inner == other_inner).ok_or_else(unfit)?;
    let shape = batch.into_iter().chain(row).chain(column).collect();
    call.make("matmul", &[first, second], shape, Vec::new(), &[])
}

/// `α A B + β C`.
pub(super) fn gemm(call: &mut Call<'_>) -> Result<Value, ImportError> {
    let (alpha, beta) = (call.scalar("alpha", 1.0)?, call.scalar("beta", 1.0)?);
    let is_one = |factor: &Constant| *factor == Constant::scalar(1.0);
    let turned = call.attributes.int("transA")?.unwrap_or(0) != 0;
    let transposed = call.attributes.int("transB")?.unwrap_or(0) != 0;
    let (first, second, third) = (call.input(0)?, call.input(1)?, call.optional(2));
    if third.is_none() && call.opset < 11 {
        let detail = format!("C is left out, which operator set {} does not allow", call.opset);
        return Err(call.operand(detail, "write the file anew with onnx"));
    }
    let values: Vec<&Value> = [&first, &second].into_iter().chain(&third).collect();
    call.same_element(&values)?;
    let (&[a, b], &[c, d]) = (first.shape(), second.shape()) else {
        let detail = format!("A of shape {:?} or B of shape {:?} is no matrix", first.shape(), second.shape());
        return Err(call.shape(detail, "export the model with matrices, or with MatMul"));
    };
    let (rows, inner) = if turned { (b, a) } else { (a, b) };
    let (other_inner, columns) = if transposed { (d, c) } else { (c, d) };
    if inner != other_inner {
        let detail = format!("A has rows of {inner} numbers and B columns of {other_inner}");
        return Err(call.shape(detail, "write the file anew with onnx"));
    }
    let shape = vec![rows, columns];
    let plain = is_one(&alpha) && is_one(&beta);
    // The bias of `linear`; beside a computed B, C is added.
    let bias = match (&second, &third) {
        (Value::Constant(_), Some(Value::Constant(third))) if plain => row(call, third, columns)?,
        _ => None,
    };
    let third = third.filter(|_| bias.is_none());
    let left = match &first {
        Value::Constant(matrix) if turned => {
            let matrix = Constant { name: String::new(), ..matrix.permuted(&[1, 0]) };
            call.builder.constant(&matrix, &matrix.shape, call.origin)?
        }
        Value::Node(node) if turned => turn(call, node, &[1, 0])?,
        _ => call.node(&first)?,
    };
    let mut value = match &second {
        Value::Constant(matrix) => {
            let weight = if transposed { Constant::clone(matrix) } else { matrix.permuted(&[1, 0]) };
            linear(call, &left, &weight, bias)?
        }
        Value::Node(node) => {
            let right = if transposed { turn(call, node, &[1, 0])? } else { node.clone() };
            product(call, &left, &right)?
        }
    };
    if !is_one(&alpha) {
        let factor = call.builder.constant(&alpha, &shape, call.origin)?;
        value = call.pair("mul_elem", &value, &factor)?;
    }
    if let Some(third) = third {
        if elementwise::broadcast(third.shape(), &shape).as_deref() != Some(&shape) {
            let detail = format!("C of shape {:?} does not spread to {shape:?}", third.shape());
            return Err(call.shape(detail, "write the file anew with onnx"));
        }
        let mut summand = call.spread(&third, &shape)?;
        if !is_one(&beta) {
            let factor = call.builder.constant(&beta, &shape, call.origin)?;
            summand = call.pair("mul_elem", &summand, &factor)?;
        }
        value = call.pair("add", &value, &summand)?;
    }
    Ok(Value::Node(value))
}

/// The numbers of C as one row for all; `None` if rows may differ.
fn row(call: &Call<'_>, third: &Constant, columns: usize) -> Result<Option<Constant>, ImportError> {
    let last = third.shape.last().copied().unwrap_or(1);
    let single = matches!(third.shape.as_slice(), [] | [_] | [1, _]) && (last == 1 || last == columns);
    if !single {
        return Ok(None);
    }
    let row = third.reshaped(if third.shape.is_empty() { Vec::new() } else { vec![last] });
    row.repeated(&[columns], call.origin.place).map(Some)
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
        None => zeros(call, weight, vec![out])?,
    };
    call.make("linear", &[node], shape, Vec::new(), &[("weight", weight), ("bias", &bias)])
}

/// Numbers that the file leaves out, of the type of the tensor beside them. All bits zero is the number zero in each type.
pub(super) fn zeros(call: &Call<'_>, beside: &Constant, shape: Vec<usize>) -> Result<Constant, ImportError> {
    let count = elements(call.origin.place, &shape)?;
    Ok(Constant::generated(beside.element, shape, vec![0; count * beside.element.size()]))
}
