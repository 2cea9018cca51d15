"""The table itself: which handler carries an operator, and the rule for the arguments that a handler does not name.

A handler is called with the builder, the shape of the result and the arguments that it names, by the names of the operator's schema.
An argument that it does not name must have its default, unless the table says that it does not matter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..builder import Builder, Shape

Handler = Callable[..., Any]


@dataclass(frozen=True)
class Entry:
    """A handler, the arguments that it names, and those that do not matter."""

    handler: Handler
    named: frozenset[str]
    ignored: frozenset[str]


TABLE: dict[str, Entry] = {}

# Operators that are often met and have no place in the language: what to do instead.
ADVICE = {
    "aten.max_pool1d_with_indices.default": "leave return_indices out",
    "aten.max_pool2d_with_indices.default": "leave return_indices out",
    "aten.max_pool3d_with_indices.default": "leave return_indices out",
    "aten.einsum.default": "write it with matmul and permute",
    "aten.argmax.default": "return the scores; the property compares them",
    "aten.div.Tensor_mode": "leave rounding_mode out",
}
# The same for arguments.
ARGUMENTS = {
    "alpha": "write the product out: x + alpha * y",
    "beta": "write the product out",
    "ceil_mode": "leave ceil_mode out, or pad",
    "divisor_override": "leave it out and multiply",
    "enable_gqa": "repeat keys and values yourself",
    "dropout_p": "call .eval(), or pass dropout_p=0.0 outside training",
}


def operator(*names: str, ignored: tuple[str, ...] = ()) -> Callable[[Handler], Handler]:
    """Put a handler into the table under these names of `aten`."""

    def enter(handler: Handler) -> Handler:
        named = frozenset(list(inspect.signature(handler).parameters)[2:])
        for name in names:
            TABLE[f"aten.{name}"] = Entry(handler, named, frozenset(ignored))
        return handler

    return enter


def translate(g: Builder, target: Any, out: Shape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The value of a call. Raises `Refused`."""
    entry = TABLE.get(str(target))
    if entry is None:
        raise g.refuse(
            "operator", f"{target} is not carried", ADVICE.get(str(target), "write it with others, or leave it out of the captured module")
        )
    given = {}
    for place, argument in enumerate(target._schema.arguments):
        if place < len(args) and not argument.kwarg_only:
            value = args[place]
        else:
            value = kwargs.get(argument.name, argument.default_value)
        if argument.name in entry.named:
            given[argument.name] = value
        elif argument.name not in entry.ignored and not same(value, argument.default_value):
            way_out = ARGUMENTS.get(argument.name, "leave the argument out")
            raise g.refuse("argument", f"{argument.name}={value!r} cannot be carried", way_out)
    return entry.handler(g, out, **given)


def same(value: Any, default: Any) -> bool:
    """Whether an argument has its default."""
    if isinstance(value, torch.dtype) or isinstance(default, torch.dtype):
        return value is default
    return bool(value == default)
