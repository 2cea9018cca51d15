"""Products of matrices, and normalisations whose numbers are constant or statistics of the value itself."""

from __future__ import annotations

import numpy as np

from .operation import Operation
from .refusal import Refused, require
from .values import Computed, Constant, Shape, Value, one_type


def linear(op: Operation, x: Computed, weight: np.ndarray, bias: np.ndarray | None = None) -> Computed:
    """`weight · x + bias` on the last axis; no bias: zeros."""
    outputs, inputs = weight.shape
    require(x.shape and x.shape[-1] == inputs, f"a weight for {inputs} meets a value of shape {list(x.shape)}")
    require(weight.size, "a weight has no elements")
    bias = np.zeros(outputs, weight.dtype) if bias is None else bias
    return op.graph.add("linear", [x], (*x.shape[:-1], outputs), {"weight": weight, "bias": bias}, in_dim=inputs, out_dim=outputs)


def product_shape(left: Shape, right: Shape) -> Shape:
    """The shape of a product: a vector is a row at the left, a column at the right, and its axis vanishes."""
    require(left and right, "a scalar is no factor of MatMul")
    a, b = left if len(left) > 1 else (1, *left), right if len(right) > 1 else (*right, 1)
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        batch = None
    if batch is None or a[-1] != b[-2]:
        raise Refused(f"the shapes {list(left)} and {list(right)} have no product")
    return batch + a[-2:-1] * (len(left) > 1) + b[-1:] * (len(right) > 1)


def product(op: Operation, left: Computed, right: Computed) -> Computed:
    return op.graph.add("matmul", [left, right], product_shape(left.shape, right.shape))


def permuted(op: Operation, x: Computed, perm: list[int]) -> Computed:
    return op.graph.add("permute", [x], tuple(x.shape[i] for i in perm), perm=perm)


def matmul(op: Operation) -> Value:
    left, right = op.input(0), op.input(1)
    one_type(left, right)
    product_shape(left.shape, right.shape)
    if isinstance(right, Constant) and len(right.shape) == 2:
        return linear(op, op.graph.node_of(left), right.array.T)
    if isinstance(left, Constant) and len(left.shape) == 2 and isinstance(right, Computed):
        rank = len(right.shape)
        if rank == 1:
            return linear(op, right, left.array)
        swapped = [*range(rank - 2), rank - 1, rank - 2]
        return permuted(op, linear(op, permuted(op, right, swapped), left.array), swapped)
    return product(op, op.graph.node_of(left), op.graph.node_of(right))


def gemm(op: Operation) -> Value:
    a, b, c = op.input(0), op.input(1), op.optional(2)
    require(c is not None or op.opset >= 11, "C is absent before operator set 11")
    one_type(a, b, c)
    require(len(a.shape) == len(b.shape) == 2, "a factor is no matrix")
    alpha, beta = op.number("alpha", 1.0), op.number("beta", 1.0)
    turn_a, turn_b = op.flag("transA"), op.flag("transB")
    rows, columns = a.shape[1 if turn_a else 0], b.shape[0 if turn_b else 1]
    if c is not None:
        fits = len(c.shape) <= 2 and all(n in (1, m) for n, m in zip(c.shape[::-1], (columns, rows), strict=False))
        require(fits, f"C of shape {list(c.shape)} does not spread to [{rows}, {columns}]")
    if not turn_a:
        factor = op.graph.node_of(a)
    else:
        factor = op.graph.generated(a.array.T) if isinstance(a, Constant) else permuted(op, a, [1, 0])
    bias = None
    if isinstance(b, Constant):
        one_row = isinstance(c, Constant) and c.shape in ((), (1,), (columns,), (1, 1), (1, columns))
        if one_row and alpha == 1 and beta == 1:
            bias = np.broadcast_to(c.array.reshape(-1), (columns,))
        result = linear(op, factor, b.array if turn_b else b.array.T, bias)
    else:
        result = product(op, factor, permuted(op, b, [1, 0]) if turn_b else op.graph.node_of(b))
    if alpha != 1:
        result = op.graph.add("mul_elem", [result, op.graph.generated(np.full((rows, columns), alpha))])
    if c is None or bias is not None:
        return result
    added = op.graph.spread(c, (rows, columns))
    if beta != 1:
        added = op.graph.add("mul_elem", [added, op.graph.generated(np.full((rows, columns), beta))])
    return op.graph.add("add", [result, added])


def positive_epsilon(op: Operation) -> np.ndarray:
    """The number that is added to a variance."""
    epsilon = op.number("epsilon", 1e-5)
    require(epsilon > 0, f"epsilon is {epsilon}")
    return epsilon


def batch_normalization(op: Operation) -> Value:
    x = op.input(0)
    names = ("gamma", "beta", "mean", "var")
    parts = [op.constant(i + 1, what) for i, what in enumerate(("scale", "B", "mean", "var"))]
    one_type(x, *parts)
    require(len(x.shape) >= 2, f"an input of shape {list(x.shape)} has no channels")
    require(all(part.shape == x.shape[1:2] for part in parts), f"its numbers are not one for each of {x.shape[1]} channels")
    require((parts[3].array >= 0).all(), "a variance is below 0")
    op.ignore("momentum")
    require(not op.flag("training_mode"), "it is in training", "export for inference")
    told = op.opset < 14 and any(op.named[1:])  # ONNX, BatchNormalization-9: "Output case #2: Y (test mode)"
    require(not told, "it is in training, as its outputs say", "export for inference")
    require(op.int("spatial", 1) == 1, "spatial is not 1", "export with operator set 9 or later")
    op.only_first_output()
    fields = {"eps": positive_epsilon(op)} | {name: part.array for name, part in zip(names, parts, strict=True)}
    return op.graph.add("batch_norm_eval", [op.graph.node_of(x)], fields=fields, channel_axis=1, channels=x.shape[1])


def repeated(part: Constant, shape: Shape) -> np.ndarray:
    """Scale or B over the normalised axes."""
    array = part.array
    while array.ndim > len(shape) and array.shape[0] == 1:
        array = array[0]
    good = array.ndim <= len(shape) and all(n in (1, m) for n, m in zip(array.shape[::-1], shape[::-1], strict=False))
    require(good, f"numbers of shape {list(part.shape)} do not spread to the normalised axes {list(shape)}")
    return np.broadcast_to(array, shape)


def layer_normalization(op: Operation) -> list[Value | None]:
    x, scale = op.input(0), op.constant(1, "Scale")
    shift = op.constant(2, "B") if op.optional(2) else None
    one_type(x, scale, shift)
    rank = len(x.shape)
    axis = op.axis(op.int("axis", -1), rank)
    require(op.int("stash_type", 1) == 1, "stash_type is not 1")
    epsilon, shape, axes = positive_epsilon(op), x.shape[axis:], list(range(axis, rank))
    gamma = repeated(scale, shape)
    beta = np.zeros(shape, scale.dtype) if shift is None else repeated(shift, shape)
    wanted = [*op.live, False, False][:3]
    node = op.graph.node_of(x)
    results: list[Value | None] = [None, None, None]
    if wanted[0]:
        results[0] = op.graph.add("layernorm", [node], None, {"eps": epsilon, "gamma": gamma, "beta": beta}, axis=axis)
    reduced = (*x.shape[:axis], *[1] * len(axes))
    if wanted[1] or wanted[2]:
        results[1] = op.graph.add("reduce_mean", [node], reduced, axes=axes, keepdim=True)
    if wanted[2]:
        distance = op.graph.add("sub", [node, op.graph.spread(results[1], x.shape)])
        square = op.graph.add("mul_elem", [distance, distance])
        variance = op.graph.add("reduce_mean", [square], reduced, axes=axes, keepdim=True)
        raised = op.graph.add("add", [variance, op.graph.generated(np.full(reduced, epsilon))])
        results[2] = op.graph.add("pow", [raised], fields={"exponent": np.array(-0.5, np.float32)})
    return results


def softmax(op: Operation) -> Value:
    x = op.input(0)
    rank = len(x.shape)
    axis = op.axis(op.int("axis", -1 if op.opset >= 13 else 1), rank)
    node = op.graph.node_of(x)
    if op.opset >= 13 or axis == rank - 1:
        return op.graph.add("softmax", [node], axis=axis)
    shape = list(x.shape)
    flat = [int(np.prod(shape[:axis], dtype=object)), int(np.prod(shape[axis:], dtype=object))]
    rows = op.graph.add("reshape", [node], tuple(flat), in_shape=shape, out_shape=flat)
    weights = op.graph.add("softmax", [rows], axis=1)
    return op.graph.add("reshape", [weights], x.shape, in_shape=flat, out_shape=shape)


def log_softmax(op: Operation) -> Value:
    return op.graph.add("log", [softmax(op)])


OPERATORS = {
    "MatMul": (1, matmul),
    "Gemm": (7, gemm),
    "BatchNormalization": (7, batch_normalization),
    "LayerNormalization": (17, layer_normalization),
    "Softmax": (1, softmax),
    "LogSoftmax": (1, log_softmax),
}
