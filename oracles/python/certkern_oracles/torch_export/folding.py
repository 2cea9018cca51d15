"""Operators on known numbers that PyTorch may run itself, since it rounds nothing: moves, masks, integers, fills."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from .builder import Constant, Masked, Node, Several

# On numbers of any type: each number of the result is one that was there, a sign changed, or what was asked for.
EXACT = {
    "alias", "arange", "bitwise_and", "bitwise_not", "bitwise_or", "broadcast_to", "cat", "clone", "constant_pad_nd", "contiguous", "detach",
    "diagonal", "embedding", "eq", "expand", "expand_as", "eye", "flatten", "flip", "full", "full_like", "ge", "gather", "gt", "index",
    "index_select", "le", "lift_fresh_copy", "logical_and", "logical_not", "logical_or", "lt", "mT", "masked_fill", "narrow", "ne", "neg", "new_full",
    "new_ones", "new_zeros", "numpy_T", "ones", "ones_like", "permute", "repeat", "reshape", "roll", "scalar_tensor", "select", "slice",
    "squeeze", "stack", "swapaxes", "t", "transpose", "tril", "triu", "unflatten", "unsqueeze", "view", "where", "zeros",
    "zeros_like", "_unsafe_view", "abs", "relu", "maximum", "minimum",
}  # fmt: skip
# Conversions: exact if they can be undone.
CONVERSIONS = {"to", "_to_copy", "type_as"}
# What depends on the shape of an argument alone.
SHAPE_ONLY = {"zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full"}
# What repeats numbers: the graph can do that, and the payload stays small.
BROADCASTS = {"expand", "expand_as", "broadcast_to"}


def fold(node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The tensor of a call, or None if it must become a node. Tuples of tensors are left to the table."""
    name = getattr(node.target, "_schema", None) and node.target._schema.name.removeprefix("aten::")
    result = node.meta.get("val")
    if not name or not isinstance(result, torch.Tensor):
        return None
    if name in SHAPE_ONLY and not isinstance(args[0], Constant):
        args = (torch.empty(args[0].shape, dtype=result.dtype), *args[1:]) if isinstance(args[0], Node) else args
    operands = list(flat((args, kwargs)))
    if any(isinstance(item, (Node, Masked, Several)) for item in operands):
        return None
    tensors = [item.tensor for item in operands if isinstance(item, Constant)]
    whole = bool(tensors) and not any(tensor.is_floating_point() for tensor in [*tensors, result])
    if not (whole or name in EXACT or name in CONVERSIONS):
        return None
    if name in BROADCASTS and tensors[0].is_floating_point() and bool(torch.isfinite(tensors[0]).all()):
        return None
    folded = node.target(*unwrapped(args), **unwrapped(kwargs)).cpu()
    if name in CONVERSIONS and not torch.equal(folded.to(tensors[0].dtype), tensors[0]):
        return None
    return folded


def flat(value: Any) -> Any:
    """The leaves of nested arguments."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    else:
        yield value


def unwrapped(value: Any) -> Any:
    """Arguments with tensors in the place of constants."""
    if isinstance(value, dict):
        return {name: unwrapped(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(unwrapped(item) for item in value)
    return value.tensor if isinstance(value, Constant) else value
