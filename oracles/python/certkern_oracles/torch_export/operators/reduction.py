"""Sums, means, extremes over axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..builder import Builder, Node, Shape, axis
from .table import operator


def reduce(g: Builder, kind: str, value: Any, dim: Sequence[int] | None, keepdim: bool, out: Shape) -> Node:
    """A reduction over some axes; all of them if none is named."""
    node = g.node(value)
    rank = len(node.shape)
    axes = sorted(axis(d, rank) for d in dim) if dim else list(range(rank))
    return g.add(kind, [node], out, axes=axes, keepdim=keepdim) if rank else node


@operator("sum.default", ignored=("dtype",))
def total(g: Builder, out: Shape, self: Any) -> Node:
    return g.add("sum", [g.node(self)], out)


def _enter(name: str, kind: str) -> None:
    @operator(name, ignored=("dtype",))
    def handler(g: Builder, out: Shape, self: Any, dim: Sequence[int] | None = None, keepdim: bool = False) -> Node:
        return reduce(g, kind, self, dim, keepdim, out)


for _name, _kind in {
    "sum.dim_IntList": "reduce_sum", "mean.default": "reduce_mean", "mean.dim": "reduce_mean", "amax.default": "reduce_max",
    "amin.default": "reduce_min", "max.default": "reduce_max", "min.default": "reduce_min",
}.items():  # fmt: skip
    _enter(_name, _kind)


@operator("mse_loss.default")
def mse_loss(g: Builder, out: Shape, self: Any, target: Any, reduction: int) -> Node:
    first, second = g.node(self), g.node(target)
    if reduction != 1 or first.shape != second.shape:
        raise g.refuse("argument", "a reduction other than the mean, or other shapes", "write it out")
    return g.add("mse_loss", [first, second], out)
