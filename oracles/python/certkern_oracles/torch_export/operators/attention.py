"""Scaled dot-product attention as products and a softmax."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..builder import Builder, Constant, Masked, Node, Shape
from .contraction import multiply
from .elementwise import combine
from .normalise import softmax
from .table import operator


@operator("scaled_dot_product_attention.default")
def attention(g: Builder, out: Shape, query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool, scale: float | None) -> Node:
    """softmax(scale · q kᵀ) v. The scale is the binary64 number 1/√E where none is given, as PyTorch's documentation says."""
    first, second, third = g.node(query), g.node(key), g.node(value)
    lead = out[:-2]
    shape = (*lead, first.shape[-2], second.shape[-2])
    scores = multiply(g, first, g.transpose(second, -2, -1), shape)
    factor = 1 / math.sqrt(first.shape[-1]) if scale is None else scale
    scores = combine(g, "mul_elem", scores, factor, shape)
    if is_causal:
        attn_mask = Constant(torch.ones(shape[-2:], dtype=torch.bool).tril(), "the causal mask")
    weights = softmax(g, shape, masked(g, scores, attn_mask), -1)
    return multiply(g, weights, third, out)


def masked(g: Builder, scores: Node, mask: Any) -> Node | Masked:
    """The scores under a mask: of Booleans, of zeros and −∞, or of finite numbers that are added."""
    if mask is None:
        return scores
    if not isinstance(mask, Constant):
        return combine(g, "add", scores, mask, scores.shape)
    numbers = mask.tensor
    if numbers.dtype == torch.bool:
        return Masked(scores, numbers.expand(scores.shape))
    hidden = numbers == -math.inf
    if not bool(hidden.any()):
        return combine(g, "add", scores, mask, scores.shape)
    if bool(numbers[~hidden].any()):
        raise g.refuse("not-finite", "a mask of -inf and other numbers than 0", "add the numbers to the scores, and mask with Booleans")
    return Masked(scores, ~hidden.expand(scores.shape))
