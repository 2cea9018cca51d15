"""Pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..builder import Builder, Node, Shape
from .contraction import spatial
from .table import operator

RANKS = (1, 2, 3)


def window(node: Node, rank: int, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> dict[str, Any]:
    """The attributes that both kinds have; without a stride it is the kernel."""
    return {
        "spatial_rank": rank,
        "kernel": spatial(kernel, rank),
        "stride": spatial(stride or kernel, rank),
        "padding": spatial(padding, rank),
    }


def _enter(rank: int) -> None:
    @operator(f"max_pool{rank}d.default")
    def max_pool(g: Builder, out: Shape, self: Any, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int],
                 dilation: Sequence[int], ceil_mode: bool) -> Node:  # fmt: skip
        """With `ceil_mode` windows may hang over the end, which is more padding after: it takes no part in a maximum."""
        node = g.node(self)
        attributes = window(node, rank, kernel_size, stride, padding)
        steps = spatial(dilation, rank)
        if any(step != 1 for step in steps):
            attributes["dilation"] = steps
        sizes = zip(out[-rank:], node.shape[-rank:], *(attributes[name] for name in ("kernel", "stride", "padding")), steps)
        after = [max(p, (o - 1) * s + (k - 1) * d + 1 - n - p) for o, n, k, s, p, d in sizes]
        if after != attributes["padding"]:
            attributes["padding_after"] = after
        return g.add("max_pool", [node], out, **attributes)

    @operator(f"avg_pool{rank}d.default")
    def avg_pool(g: Builder, out: Shape, self: Any, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int],
                 ceil_mode: bool, count_include_pad: bool) -> Node:  # fmt: skip
        node = g.node(self)
        attributes = window(node, rank, kernel_size, stride, padding)
        sizes = zip(node.shape[-rank:], *(attributes[name] for name in ("kernel", "stride", "padding")))
        if ceil_mode and any((n + 2 * p - k) % s for n, k, s, p in sizes):
            raise g.refuse("argument", "ceil_mode=True with windows that hang over the end", "leave ceil_mode out, or pad")
        if not count_include_pad and any(attributes["padding"]):
            attributes["count_include_pad"] = False
        return g.add("avg_pool", [node], out, **attributes)

    @operator(f"adaptive_avg_pool{rank}d.default", ignored=("output_size",))
    def adaptive_avg_pool(g: Builder, out: Shape, self: Any) -> Node:
        node = g.node(self)
        if any(n % o for n, o in zip(node.shape[-rank:], out[-rank:])):
            raise g.refuse("argument", f"windows of different sizes from {list(node.shape)} to {list(out)}", "choose a size that divides the input's")
        kernel = [n // o for n, o in zip(node.shape[-rank:], out[-rank:])]
        return g.add("avg_pool", [node], out, **window(node, rank, kernel, kernel, [0]))


for _rank in RANKS:
    _enter(_rank)
