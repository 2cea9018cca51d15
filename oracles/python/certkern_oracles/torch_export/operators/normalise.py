"""Normalisation and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..builder import Builder, Masked, Node, Several, Shape, axis
from .elementwise import apply
from .table import operator


def epsilon(g: Builder, eps: float) -> torch.Tensor:
    """The ε of a layer, as the binary64 number that it is; it must be above zero."""
    if not eps > 0:
        raise g.refuse("argument", f"eps={eps!r} is not above zero", "use one that is")
    return g.scalar(eps)


def numbers(g: Builder, value: Any, name: str, shape: Sequence[int], otherwise: float) -> torch.Tensor:
    """The numbers of a parameter that may be absent."""
    return torch.full(tuple(shape), otherwise, dtype=g.dtype) if value is None else g.parameter(value, name)


@operator("batch_norm.default", ignored=("training", "momentum", "cudnn_enabled"))
def batch_norm(g: Builder, out: Shape, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float) -> Node:
    """Batch norm by its running statistics; training mode has been refused."""
    node = g.node(input)
    channels = [node.shape[1]]
    fields = {
        "eps": epsilon(g, eps),
        "gamma": numbers(g, weight, "the weight", channels, 1.0),
        "beta": numbers(g, bias, "the bias", channels, 0.0),
        "mean": g.parameter(running_mean, "the running mean"),
        "var": g.parameter(running_var, "the running variance"),
    }
    if bool((fields["var"] < 0).any()):
        raise g.refuse("argument", "a running variance below zero", "repair the state dictionary")
    return g.add("batch_norm_eval", [node], node.shape, fields, channel_axis=1, channels=node.shape[1])


@operator("_native_batch_norm_legit_no_training.default", ignored=("momentum",))
def batch_norm_functional(g: Builder, out: Shape, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any,
                          eps: float) -> Several:  # fmt: skip
    """The same as it stands in a graph without changes in place: a tuple, whose other parts belong to training."""
    return Several([lambda: batch_norm(g, out, input, weight, bias, running_mean, running_var, eps), None, None])


@operator("layer_norm.default", ignored=("cudnn_enable",))
def layer_norm(g: Builder, out: Shape, input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float) -> Node:
    node = g.node(input)
    fields = {
        "eps": epsilon(g, eps),
        "gamma": numbers(g, weight, "the weight", normalized_shape, 1.0),
        "beta": numbers(g, bias, "the bias", normalized_shape, 0.0),
    }
    return g.add("layernorm", [node], node.shape, fields, axis=len(node.shape) - len(normalized_shape))


@operator("softmax.int", ignored=("dtype",))
def softmax(g: Builder, out: Shape, self: Any, dim: int) -> Node:
    """Softmax along an axis; masked places have the weight 0."""
    place = axis(dim, len(out))
    if not isinstance(self, Masked):
        node = g.node(self)
        return g.add("softmax", [node], node.shape, axis=place)
    if not bool(self.keep.any(dim=place).all()):
        raise g.refuse("not-finite", "a softmax all of whose places are masked", "leave one place open in each row")
    return g.add("hard_masked_softmax", [self.node], self.node.shape, {"mask": self.keep.to(g.dtype)}, axis=place)


@operator("log_softmax.int", ignored=("dtype",))
def log_softmax(g: Builder, out: Shape, self: Any, dim: int) -> Node:
    return apply(g, "log", softmax(g, out, self, dim))
