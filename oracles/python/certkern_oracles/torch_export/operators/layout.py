"""Operators that move numbers and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from ..builder import Builder, Constant, Node, Several, Shape, axis
from .table import operator


@operator("alias.default", "clone.default", "contiguous.default", "lift_fresh_copy.default", "dropout.default", "alpha_dropout.default",
          "feature_dropout.default", "to.dtype", "to.device", "to.dtype_layout", "to.other", "_to_copy.default", "type_as.default",
          "positive.default",
          ignored=("memory_format", "p", "train", "dtype", "layout", "device", "pin_memory", "non_blocking", "copy", "other"))  # fmt: skip
def identity(g: Builder, out: Shape, self: Any = None, input: Any = None) -> Node:
    """The same numbers. A layer in training mode, and a result of another type, are refused for every operator alike."""
    return g.node(input if self is None else self)


@operator("view.default", "reshape.default", "_unsafe_view.default", "unflatten.int", "squeeze.default", "squeeze.dim", "squeeze.dims",
          "unsqueeze.default", "view_as.default", "reshape_as.default",
          ignored=("size", "shape", "dim", "sizes", "other"))  # fmt: skip
def reshape(g: Builder, out: Shape, self: Any) -> Node:
    return g.reshape(g.node(self), out)


@operator("flatten.using_ints", "ravel.default", ignored=("start_dim", "end_dim"))
def flatten(g: Builder, out: Shape, self: Any) -> Node:
    node = g.node(self)
    return g.add("flatten", [node], out, value_shape=list(node.shape)) if len(out) == 1 < len(node.shape) else g.reshape(node, out)


@operator("permute.default")
def permute(g: Builder, out: Shape, self: Any, dims: Sequence[int]) -> Node:
    node = g.node(self)
    perm = [axis(dim, len(node.shape)) for dim in dims]
    return node if perm == list(range(len(perm))) else g.add("permute", [node], out, perm=perm)


@operator("transpose.int")
def transpose(g: Builder, out: Shape, self: Any, dim0: int, dim1: int) -> Node:
    return g.transpose(g.node(self), dim0, dim1)


@operator("swapaxes.default")
def swapaxes(g: Builder, out: Shape, self: Any, axis0: int, axis1: int) -> Node:
    return g.transpose(g.node(self), axis0, axis1)


@operator("t.default", "mT.default")
def matrix_transpose(g: Builder, out: Shape, self: Any) -> Node:
    node = g.node(self)
    return g.transpose(node, -2, -1) if len(node.shape) > 1 else node


@operator("numpy_T.default")
def reverse_axes(g: Builder, out: Shape, self: Any) -> Node:
    return permute(g, out, self, list(reversed(range(len(out)))))


@operator("expand.default", "expand_as.default", "broadcast_to.default", ignored=("size", "implicit", "other"))
def expand(g: Builder, out: Shape, self: Any) -> Node:
    return g.broadcast(g.node(self), out)


@operator("broadcast_tensors.default")
def broadcast_tensors(g: Builder, out: Shape, tensors: Sequence[Any]) -> Several:
    nodes = [g.node(tensor) for tensor in tensors]
    return Several([lambda node=node: g.broadcast(node, out) for node in nodes])


@operator("cat.default")
def cat(g: Builder, out: Shape, tensors: Sequence[Any], dim: int) -> Node:
    # PyTorch takes an empty vector for nothing.
    parts = [part for part in tensors if not (isinstance(part, Constant) and part.tensor.shape == (0,))]
    nodes = [g.node(part) for part in parts]
    return nodes[0] if len(nodes) == 1 else g.add("concat", nodes, out, axis=axis(dim, len(out)))


@operator("stack.default")
def stack(g: Builder, out: Shape, tensors: Sequence[Any], dim: int) -> Node:
    place = axis(dim, len(out))
    one = [*out[:place], 1, *out[place + 1 :]]
    return cat(g, out, [g.reshape(g.node(part), one) for part in tensors], place)


@operator("repeat.default")
def repeat(g: Builder, out: Shape, self: Any, repeats: Sequence[int]) -> Node:
    node = g.node(self)
    node = g.reshape(node, [*[1] * (len(repeats) - len(node.shape)), *node.shape])
    for place, times in enumerate(repeats):
        if times > 1:
            shape = [*node.shape[:place], node.shape[place] * times, *node.shape[place + 1 :]]
            node = g.add("concat", [node] * times, shape, axis=place)
    return node


def cut(g: Builder, node: Node, place: int, start: int, stop: int, step: int = 1) -> Node:
    """The places start, start + step, … below stop of one axis."""
    length = node.shape[place]
    if (start, stop, step) == (0, length, 1):
        return node
    starts, stops, steps = [0] * len(node.shape), list(node.shape), [1] * len(node.shape)
    starts[place], stops[place], steps[place] = start, stop, step
    shape = [*node.shape[:place], max(0, -((start - stop) // step)), *node.shape[place + 1 :]]
    attributes = {} if step == 1 else {"step": steps}
    return g.add("slice", [node], shape, start=starts, stop=stops, **attributes)


@operator("slice.Tensor")
def slice_tensor(g: Builder, out: Shape, self: Any, dim: int, start: int | None, end: int | None, step: int) -> Node:
    node = g.node(self)
    place = axis(dim, len(node.shape))
    return cut(g, node, place, *slice(start, end, step).indices(node.shape[place]))


@operator("narrow.default")
def narrow(g: Builder, out: Shape, self: Any, dim: int, start: int, length: int) -> Node:
    node = g.node(self)
    place = axis(dim, len(node.shape))
    begin = start + node.shape[place] if start < 0 else start
    return cut(g, node, place, begin, begin + length)


@operator("select.int")
def select(g: Builder, out: Shape, self: Any, dim: int, index: int) -> Node:
    node = g.node(self)
    place = axis(dim, len(node.shape))
    begin = index + node.shape[place] if index < 0 else index
    return g.reshape(cut(g, node, place, begin, begin + 1), out)


def pieces(g: Builder, value: Any, dim: int, sizes: Sequence[int], drop: bool = False) -> Several:
    """Pieces of these sizes along an axis, which vanishes if `drop`."""
    node = g.node(value)
    place = axis(dim, len(node.shape))
    rest = [*node.shape[:place], *node.shape[place + 1 :]]

    def piece(begin: int, size: int) -> Node:
        part = cut(g, node, place, begin, begin + size)
        return g.reshape(part, rest) if drop else part

    begins = [sum(sizes[:number]) for number in range(len(sizes))]
    return Several([lambda begin=begin, size=size: piece(begin, size) for begin, size in zip(begins, sizes)])


def length(value: Any, dim: int) -> int:
    """The extent of an axis of a value."""
    shape = value.shape if isinstance(value, Node) else value.tensor.shape
    return int(shape[dim])


def equal_sizes(whole: int, size: int) -> list[int]:
    """Pieces of this size, the last one with what is left."""
    return [min(size, whole - begin) for begin in range(0, whole, size)]


@operator("split.Tensor")
def split(g: Builder, out: Shape, self: Any, split_size: int, dim: int) -> Several:
    return pieces(g, self, dim, equal_sizes(length(self, dim), split_size))


@operator("split_with_sizes.default")
def split_with_sizes(g: Builder, out: Shape, self: Any, split_sizes: Sequence[int], dim: int) -> Several:
    return pieces(g, self, dim, split_sizes)


@operator("chunk.default")
def chunk(g: Builder, out: Shape, self: Any, chunks: int, dim: int) -> Several:
    return pieces(g, self, dim, equal_sizes(length(self, dim), math.ceil(length(self, dim) / chunks)))


@operator("unbind.int")
def unbind(g: Builder, out: Shape, self: Any, dim: int) -> Several:
    return pieces(g, self, dim, [1] * length(self, dim), drop=True)


def take(g: Builder, node: Node, place: int, indices: torch.Tensor) -> Node:
    """The places of one axis that the indices name; those below 0 count from the end."""
    extent = node.shape[place]
    chosen = [int(i) + extent if i < 0 else int(i) for i in indices.reshape(-1)]
    shape = [*node.shape[:place], *indices.shape, *node.shape[place + 1 :]]
    return g.add("gather", [node], shape, axis=place, indices=chosen, indices_shape=list(indices.shape))


@operator("index_select.default")
def index_select(g: Builder, out: Shape, self: Any, dim: int, index: Any) -> Node:
    node = g.node(self)
    return take(g, node, axis(dim, len(node.shape)), g.parameter(index, "the index").reshape(-1))


@operator("index.Tensor")
def index(g: Builder, out: Shape, self: Any, indices: Sequence[Any]) -> Node:
    node = g.node(self)
    places = [place for place, entry in enumerate(indices) if entry is not None]
    tensors = [g.parameter(indices[place], "the index") for place in places]
    if len(places) != 1 or tensors[0].dtype not in (torch.int64, torch.int32):
        raise g.refuse("argument", "indices of several axes, or a mask of Booleans", "index one axis after the other with integers")
    return take(g, node, places[0], tensors[0])


@operator("flip.default")
def flip(g: Builder, out: Shape, self: Any, dims: Sequence[int]) -> Node:
    node = g.node(self)
    for dim in dims:
        place = axis(dim, len(node.shape))
        node = take(g, node, place, torch.arange(node.shape[place] - 1, -1, -1))
    return node


@operator("pad.default", "constant_pad_nd.default")
def pad(g: Builder, out: Shape, self: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Node:
    if mode != "constant":
        raise g.refuse("padding-mode", f"padding by {mode!r}", "use padding_mode='zeros'")
    node = g.node(self)
    if any(amount < 0 for amount in pad):
        raise g.refuse("argument", f"padding {list(pad)} cuts", "cut with a slice")
    if not any(pad):
        return node
    absent = [0] * (len(node.shape) - len(pad) // 2)
    before, after = [*absent, *pad[-2::-2]], [*absent, *pad[::-2]]
    return g.add("pad", [node], out, {"value": g.scalar(value or 0)}, padding=before, padding_after=after)


@operator("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec", ignored=("output_size",))
def upsample(g: Builder, out: Shape, input: Any, scale_factors: Sequence[float] | None) -> Node:
    node = g.node(input)
    scale = [big // small for big, small in zip(out, node.shape)]
    whole = all(big == small * s for big, small, s in zip(out, node.shape, scale))
    if not whole or any(factor != s for factor, s in zip(scale_factors or scale[2:], scale[2:])):
        raise g.refuse("argument", f"from {list(node.shape)} to {list(out)} by a factor that is no whole number", "use a whole one")
    return g.add("upsample", [node], out, scale=scale)
