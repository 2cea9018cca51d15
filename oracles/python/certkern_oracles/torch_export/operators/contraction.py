"""Linear layers, matrix products, convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..builder import Builder, Constant, Node, Shape
from .elementwise import combine
from .table import operator


def affine(g: Builder, value: Any, weight: torch.Tensor, bias: torch.Tensor | None) -> Node:
    """W x + b on the last axis, for a weight of shape [out, in]."""
    node = g.node(value)
    rows, columns = weight.shape
    fields = {"weight": weight, "bias": torch.zeros(rows, dtype=weight.dtype) if bias is None else bias}
    return g.add("linear", [node], [*node.shape[:-1], rows], fields, in_dim=columns, out_dim=rows)


@operator("linear.default")
def linear(g: Builder, out: Shape, input: Any, weight: Any, bias: Any) -> Node:
    known = isinstance(weight, Constant) and (bias is None or isinstance(bias, Constant))
    if known and weight.tensor.dim() == 2:
        return affine(g, input, weight.tensor, None if bias is None else bias.tensor)
    factor = g.node(weight)
    product = multiply(g, g.node(input), g.transpose(factor, 0, 1) if len(factor.shape) == 2 else factor, out)
    return product if bias is None else combine(g, "add", product, bias, out)


def multiply(g: Builder, first: Node, second: Node, out: Shape) -> Node:
    """A product as of torch.matmul."""
    return g.add("matmul", [first, second], out)


def product(g: Builder, out: Shape, first: Any, second: Any) -> Node:
    """A product as of torch.matmul; with a known matrix at the right it is a linear layer."""
    if isinstance(second, Constant) and second.tensor.dim() == 2:
        return affine(g, first, second.tensor.t(), None)
    return multiply(g, g.node(first), g.node(second), out)


@operator("matmul.default")
def matmul(g: Builder, out: Shape, self: Any, other: Any) -> Node:
    return product(g, out, self, other)


@operator("mm.default", "bmm.default")
def mm(g: Builder, out: Shape, self: Any, mat2: Any) -> Node:
    return product(g, out, self, mat2)


@operator("mv.default")
def mv(g: Builder, out: Shape, self: Any, vec: Any) -> Node:
    return product(g, out, self, vec)


@operator("dot.default")
def dot(g: Builder, out: Shape, self: Any, tensor: Any) -> Node:
    return product(g, out, self, tensor)


@operator("addmm.default")
def addmm(g: Builder, out: Shape, self: Any, mat1: Any, mat2: Any) -> Node:
    known = isinstance(self, Constant) and isinstance(mat2, Constant) and self.tensor.shape == (out[-1],)
    if known:
        return affine(g, mat1, mat2.tensor.t(), self.tensor)
    return combine(g, "add", self, product(g, out, mat1, mat2), out)


@operator("baddbmm.default")
def baddbmm(g: Builder, out: Shape, self: Any, batch1: Any, batch2: Any) -> Node:
    return combine(g, "add", self, product(g, out, batch1, batch2), out)


def spatial(numbers: Sequence[int], rank: int) -> list[int]:
    """One number for each spatial axis."""
    return list(numbers) * rank if len(numbers) == 1 else list(numbers)


def dense(weight: torch.Tensor, groups: int, transposed: bool) -> torch.Tensor:
    """The weight with all channels, zero off the blocks. Its channels are [out, in/groups], transposed [in, out/groups]."""
    if groups == 1:
        return weight
    rows, columns = weight.shape[0] // groups, weight.shape[1]
    whole = torch.zeros(weight.shape[0], columns * groups, *weight.shape[2:], dtype=weight.dtype)
    for group in range(groups):
        block = slice(group * rows, (group + 1) * rows)
        whole[block, group * columns : (group + 1) * columns] = weight[block]
    return whole


def convolution(g: Builder, value: Any, weight: Any, bias: Any, groups: int, out: Shape, transposed: bool = False, **geometry: list[int]) -> Node:
    """A convolution; `geometry` holds what it has for each spatial axis."""
    node, kernel = g.node(value), dense(g.parameter(weight, "the weight"), groups, transposed)
    rank = kernel.dim() - 2
    channel_axis = len(node.shape) - rank - 1
    channels = {"in_channels": node.shape[channel_axis], "out_channels": out[channel_axis]}
    numbers = torch.zeros(out[channel_axis], dtype=kernel.dtype) if bias is None else g.parameter(bias, "the bias")
    common = {"spatial_rank": rank, "kernel": list(kernel.shape[2:]), "groups": groups, "channel_axis": channel_axis, **channels}
    return g.add("conv_transpose" if transposed else "conv", [node], out, {"weight": kernel, "bias": numbers},
                 **common, input_spatial=list(node.shape[channel_axis + 1 :]), **geometry)  # fmt: skip


@operator("conv1d.default", "conv2d.default", "conv3d.default")
def conv(g: Builder, out: Shape, input: Any, weight: Any, bias: Any, stride: Sequence[int], padding: Sequence[int],
         dilation: Sequence[int], groups: int) -> Node:  # fmt: skip
    rank = g.parameter(weight, "the weight").dim() - 2
    geometry = {"stride": spatial(stride, rank), "padding": spatial(padding, rank), "dilation": spatial(dilation, rank)}
    return convolution(g, input, weight, bias, groups, out, **geometry)


@operator("conv1d.padding", "conv2d.padding", "conv3d.padding")
def conv_named(g: Builder, out: Shape, input: Any, weight: Any, bias: Any, stride: Sequence[int], padding: str,
               dilation: Sequence[int], groups: int) -> Node:  # fmt: skip
    """`same` has one place more after than before, where their number is odd."""
    extents = g.parameter(weight, "the weight").shape[2:]
    steps = spatial(dilation, len(extents))
    total = [(k - 1) * d if padding == "same" else 0 for k, d in zip(extents, steps)]
    before, after = [n // 2 for n in total], [n - n // 2 for n in total]
    uneven = {} if before == after else {"padding_after": after}
    return convolution(g, input, weight, bias, groups, out, stride=spatial(stride, len(extents)), padding=before, dilation=steps, **uneven)


@operator("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input")
def conv_transpose(g: Builder, out: Shape, input: Any, weight: Any, bias: Any, stride: Sequence[int], padding: Sequence[int],
                   output_padding: Sequence[int], groups: int, dilation: Sequence[int]) -> Node:  # fmt: skip
    rank = g.parameter(weight, "the weight").dim() - 2
    geometry = {"stride": spatial(stride, rank), "padding": spatial(padding, rank), "dilation": spatial(dilation, rank)}
    extra = {"output_padding": spatial(output_padding, rank)} if any(output_padding) else {}
    return convolution(g, input, weight, bias, groups, out, transposed=True, **geometry, **extra)
