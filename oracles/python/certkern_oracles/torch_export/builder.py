"""The graph under construction, and the values that an interpretation of PyTorch operators meets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from .refusal import Refused

Shape = tuple[int, ...]

# The operators that `torchlean.ir.v1` has (schemas/SPEC.md, section 1): a list that is closed.
TORCHLEAN = {
    "input", "const", "rand_uniform", "bernoulli_mask", "add", "sub", "mul_elem", "max_elem", "min_elem", "detach", "relu", "abs", "sigmoid", "tanh",
    "softplus", "exp", "sin", "cos", "sqrt", "log", "inv", "safe_log", "linear", "matmul", "conv", "max_pool", "avg_pool", "batch_norm_eval",
    "layernorm", "softmax", "hard_masked_softmax", "sum", "reduce_sum", "reduce_mean", "mse_loss", "flatten", "reshape", "permute", "transpose",
    "concat", "broadcast_to", "multihead_attention", "tuple_getitem",
}  # fmt: skip
POOL_EXTENSIONS = {"padding_after", "dilation", "count_include_pad"}


@dataclass(frozen=True)
class Node:
    """The value of a node of the graph."""

    id: int
    shape: Shape


@dataclass(eq=False)
class Constant:
    """Known numbers; `node` is their place in the graph once they have one."""

    tensor: torch.Tensor
    name: str
    node: Node | None = None


@dataclass(frozen=True)
class Masked:
    """A node whose places outside the mask are −∞: good for a softmax alone."""

    node: Node
    keep: torch.Tensor


@dataclass(frozen=True)
class Several:
    """A tuple, whose parts are made when they are asked for; None is one that cannot be."""

    parts: Sequence[Callable[[], Any] | None]


@dataclass
class Builder:
    """Nodes and payload. `dtype` is the type of the module's numbers; `place` and `origin` are set for each PyTorch node."""

    dtype: torch.dtype
    place: str = ""
    origin: str = ""
    nodes: list[dict[str, Any]] = field(default_factory=list)
    payload: dict[str, torch.Tensor] = field(default_factory=dict)
    extended: bool = False

    def refuse(self, code: str, what: str, way_out: str) -> Refused:
        """An error at the PyTorch node at work."""
        return Refused(code, self.place, what, way_out)

    def add(
        self, kind: str, parents: Sequence[Node], shape: Sequence[int], numbers: Mapping[str, torch.Tensor] | None = None, **attributes: Any
    ) -> Node:
        """Append a node; `numbers` are its payload fields."""
        if 0 in shape:
            raise self.refuse("empty", f"a tensor of shape {list(shape)}", "no claim speaks about a tensor without elements")
        place = len(self.nodes)
        origin = {"debug_target": self.origin} if self.origin else {}
        self.nodes.append({"id": place, "kind": kind, "parents": [p.id for p in parents], "shape": list(shape), **attributes, **origin})
        for name, tensor in (numbers or {}).items():
            self.payload[f"{place}.{name}"] = self.finite(tensor)
        self.extended |= kind not in TORCHLEAN or (kind.endswith("_pool") and not POOL_EXTENSIONS.isdisjoint(attributes))
        return Node(place, tuple(shape))

    def finite(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor, if it is of binary32 or binary64 numbers, all finite."""
        if tensor.dtype not in (torch.float32, torch.float64):
            raise self.refuse("dtype", f"numbers of type {tensor.dtype}", "convert the module: .float() or .double()")
        if not bool(torch.isfinite(tensor).all()):
            raise self.refuse("not-finite", "NaN or an infinity among the numbers", "use a Boolean mask, or a finite bound")
        return tensor.detach().cpu().clone(memory_format=torch.contiguous_format)

    def scalar(self, value: float) -> torch.Tensor:
        """A Python number as the binary64 number that it is."""
        number = float(value)
        if number != value or not math.isfinite(number):
            raise self.refuse("not-finite", f"the number {value!r} is no finite binary64 number", "use one that is")
        return torch.tensor(number, dtype=torch.float64)

    def parameter(self, value: Any, name: str) -> torch.Tensor:
        """The numbers of an argument that must be known."""
        if not isinstance(value, Constant):
            raise self.refuse("constant", f"{name} is computed from the input", "make it a parameter or a buffer")
        return value.tensor

    def node(self, value: Any) -> Node:
        """The value as a node; constants get one."""
        if isinstance(value, Node):
            return value
        if isinstance(value, Constant):
            if value.node is None:
                tensor = value.tensor
                value.node = self.add("const", [], tensor.shape, {"values": tensor})
            return value.node
        if isinstance(value, Masked):
            raise self.refuse("not-finite", "numbers masked with -inf", "only a softmax may follow such a mask")
        raise self.refuse("projection", "a tuple in the place of a tensor", "use one of its parts")

    def operand(self, value: Any, shape: Shape) -> Node:
        """An operand of an elementwise operator whose result has this shape."""
        if isinstance(value, (int, float)):
            value = Constant(self.scalar(value), "a number")
        return self.broadcast(self.node(value), shape)

    def broadcast(self, node: Node, shape: Shape) -> Node:
        """The node at this shape."""
        if node.shape == shape:
            return node
        return self.add("broadcast_to", [node], shape, from_shape=list(node.shape), to_shape=list(shape))

    def reshape(self, node: Node, shape: Sequence[int]) -> Node:
        """The node with other axes, row-major."""
        if node.shape == tuple(shape):
            return node
        return self.add("reshape", [node], shape, in_shape=list(node.shape), out_shape=list(shape))

    def transpose(self, node: Node, first: int, second: int) -> Node:
        """Two axes swapped; they are in range and may be counted from the end."""
        axes = sorted((axis(first, len(node.shape)), axis(second, len(node.shape))))
        if not node.shape or axes[0] == axes[1]:
            return node
        shape = list(node.shape)
        shape[axes[0]], shape[axes[1]] = shape[axes[1]], shape[axes[0]]
        return self.add("transpose", [node], shape, axis1=axes[0], axis2=axes[1])


def axis(number: int, rank: int) -> int:
    """An axis counted from the start."""
    return number + max(rank, 1) if number < 0 else number
