"""Probes: what a module gives at a point, as a document with which `certkern eval` and `certkern check` compare its graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import torch
from torch import nn
from torch.utils import _pytree

from .capture import free_argument, number_type
from .refusal import Refused

SEED = 0


def point(module: nn.Module, shape: Sequence[int]) -> torch.Tensor:
    """Normally distributed numbers, the same each time."""
    return torch.randn(tuple(shape), generator=torch.Generator().manual_seed(SEED), dtype=torch.float32).to(number_type(module))


def probe(module: nn.Module, x: torch.Tensor, frozen: Mapping[str, torch.Tensor] | None = None) -> str:
    """The document of a run of the module at `x`. The outputs stand in the order of those of the graph, each number as the shortest
    decimal that names it.

    Raises `Refused` where an output is no finite float of the type of `x`.
    """
    frozen = dict(frozen or {})
    with torch.no_grad():
        found = module(**{free_argument(module, frozen): x.clone(), **frozen}) if frozen else module(x.clone())
    outputs = _pytree.tree_leaves(found)
    for place, output in enumerate(outputs):
        if not isinstance(output, torch.Tensor) or output.dtype != x.dtype or not output.isfinite().all():
            raise Refused("output", f"output {place} of the probe", f"no tensor of finite numbers of type {x.dtype}", "leave out --probe")
    arith = {torch.float32: "float32", torch.float64: "float64"}[x.dtype]
    y = [number for output in outputs for number in output.flatten().tolist()]
    return json.dumps({"format": "certkern.probe.v1", "arith": arith, "x": x.tolist(), "y": y, "producer": f"torch {torch.__version__}"}) + "\n"
