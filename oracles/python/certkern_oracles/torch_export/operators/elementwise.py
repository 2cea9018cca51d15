"""Elementwise operators."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..builder import Builder, Constant, Masked, Node, Shape
from .table import operator

UNARY = {
    "relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh", "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "abs": "abs",
    "reciprocal": "inv", "neg": "neg", "erf": "erf", "silu": "silu", "mish": "mish", "hardswish": "hard_swish", "sign": "sign", "floor": "floor",
    "detach": "detach",
}  # fmt: skip
BINARY = {
    "add.Tensor": "add", "add.Scalar": "add", "sub.Tensor": "sub", "sub.Scalar": "sub", "mul.Tensor": "mul_elem", "mul.Scalar": "mul_elem",
    "div.Tensor": "div", "div.Scalar": "div", "maximum.default": "max_elem", "minimum.default": "min_elem", "max.other": "max_elem",
    "min.other": "min_elem",
}  # fmt: skip


def apply(g: Builder, kind: str, value: Any, **numbers: torch.Tensor) -> Node:
    """A node of one parent with the same shape."""
    node = g.node(value)
    return g.add(kind, [node], node.shape, numbers)


def combine(g: Builder, kind: str, first: Any, second: Any, out: Shape) -> Node:
    """A node of two parents, brought to the shape of the result."""
    parents = [g.operand(first, out), g.operand(second, out)]
    return g.add(kind, parents, out)


def _enter_unary(name: str, kind: str) -> None:
    @operator(f"{name}.default")
    def handler(g: Builder, out: Shape, self: Any) -> Node:
        return apply(g, kind, self)


def _enter_binary(name: str, kind: str) -> None:
    @operator(name)
    def handler(g: Builder, out: Shape, self: Any, other: Any) -> Node:
        return combine(g, kind, self, other, out)


for _name, _kind in UNARY.items():
    _enter_unary(_name, _kind)
for _name, _kind in BINARY.items():
    _enter_binary(_name, _kind)


@operator("rsub.Scalar", "rsub.Tensor")
def rsub(g: Builder, out: Shape, self: Any, other: Any) -> Node:
    return combine(g, "sub", other, self, out)


@operator("rsqrt.default")
def rsqrt(g: Builder, out: Shape, self: Any) -> Node:
    return apply(g, "inv", apply(g, "sqrt", self))


@operator("square.default")
def square(g: Builder, out: Shape, self: Any) -> Node:
    return combine(g, "mul_elem", self, self, out)


@operator("expm1.default")
def expm1(g: Builder, out: Shape, self: Any) -> Node:
    return combine(g, "sub", apply(g, "exp", self), 1, out)


@operator("log1p.default")
def log1p(g: Builder, out: Shape, self: Any) -> Node:
    return apply(g, "log", combine(g, "add", self, 1, out))


@operator("log_sigmoid.default")
def log_sigmoid(g: Builder, out: Shape, self: Any) -> Node:
    """−softplus(−x)."""
    return apply(g, "neg", apply(g, "softplus", apply(g, "neg", self)))


@operator("pow.Tensor_Scalar")
def power(g: Builder, out: Shape, self: Any, exponent: float) -> Node:
    return apply(g, "pow", self, exponent=g.scalar(exponent))


@operator("softplus.default")
def softplus(g: Builder, out: Shape, self: Any, beta: float, threshold: float) -> Node:
    """PyTorch switches to the identity above the threshold. Where ln(1 + e⁻ᵗ) is below half a unit of t, that is its rounding."""
    if beta != 1:
        raise g.refuse("argument", f"beta={beta} cannot be carried", "scale before and after: softplus(beta * x) / beta")
    digits = 24 if g.dtype == torch.float32 else 53
    if not math.log1p(math.exp(-threshold)) <= threshold * 2.0**-digits:
        raise g.refuse("argument", f"threshold={threshold} changes the function by more than a rounding of {g.dtype}", "use a larger one, such as 40")
    return apply(g, "softplus", self)


@operator("gelu.default")
def gelu(g: Builder, out: Shape, self: Any, approximate: str) -> Node:
    return apply(g, "gelu" if approximate == "none" else "gelu_tanh", self)


@operator("leaky_relu.default")
def leaky_relu(g: Builder, out: Shape, self: Any, negative_slope: float) -> Node:
    return apply(g, "leaky_relu", self, alpha=g.scalar(negative_slope))


@operator("elu.default")
def elu(g: Builder, out: Shape, self: Any, alpha: float) -> Node:
    return apply(g, "elu", self, alpha=g.scalar(alpha))


@operator("selu.default")
def selu(g: Builder, out: Shape, self: Any) -> Node:
    # The numbers of PyTorch's documentation, which its kernels hold in binary64.
    return apply(g, "selu", self, alpha=g.scalar(1.6732632423543772848170429916717), gamma=g.scalar(1.0507009873554804934193349852946))


@operator("prelu.default")
def prelu(g: Builder, out: Shape, self: Any, weight: Any) -> Node:
    node, slope = g.node(self), g.parameter(weight, "the slope")
    channel_axis = 1 if len(node.shape) > 1 else 0
    if not node.shape:
        raise g.refuse("argument", "a scalar has no channels", "use leaky_relu")
    slope = slope.expand(node.shape[channel_axis])
    return g.add("prelu", [node], node.shape, {"slope": slope}, channel_axis=channel_axis)


@operator("hardtanh.default")
def hardtanh(g: Builder, out: Shape, self: Any, min_val: float, max_val: float) -> Node:
    return apply(g, "clip", self, low=g.scalar(min_val), high=g.scalar(max_val))


@operator("relu6.default")
def relu6(g: Builder, out: Shape, self: Any) -> Node:
    return hardtanh(g, out, self, 0, 6)


@operator("hardsigmoid.default")
def hardsigmoid(g: Builder, out: Shape, self: Any) -> Node:
    """relu6(x + 3) / 6, since 1/6 is no binary64 number."""
    return combine(g, "div", hardtanh(g, out, combine(g, "add", self, 3, out), 0, 6), 6, out)


@operator("clamp.default", "clamp_min.default", "clamp_max.default")
def clamp(g: Builder, out: Shape, self: Any, min: float | None = None, max: float | None = None) -> Node:
    if min is not None and max is not None:
        return hardtanh(g, out, self, min, max)
    if max is not None:
        return combine(g, "min_elem", self, max, out)
    return apply(g, "relu", self) if min == 0 else combine(g, "max_elem", self, min, out)


def choose(g: Builder, mask: Any, first: Any, second: Any, out: Shape) -> Node | Masked:
    """`first` where the mask holds, else `second`, either of which may be −∞ where a softmax follows."""
    keep = g.parameter(mask, "the condition").expand(out)
    if keep.dtype != torch.bool:
        raise g.refuse("dtype", f"a condition of type {keep.dtype}", "compare it with 0")
    for side, other, holds in ((second, first, keep), (first, second, ~keep)):
        number = side.tensor if isinstance(side, Constant) else torch.tensor(side) if isinstance(side, (int, float)) else None
        if number is not None and bool((number == -math.inf).all()):
            return Masked(g.operand(other, out), holds)
    return g.add("where", [g.operand(first, out), g.operand(second, out)], out, {"mask": keep.to(g.dtype)})


@operator("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(g: Builder, out: Shape, condition: Any, self: Any, other: Any) -> Node | Masked:
    return choose(g, condition, self, other, out)


@operator("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(g: Builder, out: Shape, self: Any, mask: Any, value: Any) -> Node | Masked:
    return choose(g, Constant(~g.parameter(mask, "the mask"), "the mask"), self, value, out)
