"""The best slopes and multipliers of an optimisation, kept step by step.

α,β-CROWN reports for every bound the best of all steps, but saves slopes by other rules: of some steps only, of the step with the best
sum over rows, or not at all. So nothing that it saves is used. `compute_bounds` of the bounded module calls itself once for each step;
after each of these inner calls the slopes in the nodes are those that gave the bounds of this step, and here they are kept wherever the
bound is the best so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Tensor = Any
Module = Any
Array = NDArray[Any]

TWO_PLANES = 2
"""Planes of a slope tensor of a ReLU: for lower bounds of the start node, then for upper bounds. A sigmoid has four pairs of them."""
STABLE = 1e-6
"""A neuron whose root bounds come this close to 0 counts as unstable, for bounds made again may be a little wider."""


def array(tensor: Tensor) -> Array:
    """The values of a tensor of any device, rows first."""
    return np.ascontiguousarray(tensor.detach().cpu().numpy())


def flat(tensor: Tensor) -> Tensor:
    """The tensor without its leading batch axis of one, as one axis."""
    return tensor.detach().reshape(-1)


def dumped(act: Any) -> bool:
    """Whether the optimised numbers of an activation are slopes or tangent points of single neurons, as the format can hold them."""
    return len(act.inputs) == 1 and act.inputs[0].lower is not None and bool(getattr(act, "alpha", None))


class Observer(Protocol):
    """Looks at an optimisation."""

    def plain(self, lower: Tensor) -> None:
        """Bounds of the specification were found without an optimisation."""

    def begin(self, module: Module, arguments: dict[str, Any]) -> None:
        """The optimisation starts with these keyword arguments of `compute_bounds`."""

    def step(self, module: Module, lower: Tensor, kept: Tensor | None) -> None:
        """A step found these bounds of the specification, for the batch elements `kept` (None: for all)."""


class Tap:
    """Stands in for `compute_bounds` of one bounded module and shows its steps to the observer, if there is one."""

    def __init__(self, module: Module) -> None:
        self.observer: Observer | None = None
        self._module = module
        self._compute_bounds: Callable[..., Any] = module.compute_bounds
        self._depth = 0
        module.compute_bounds = self

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Calls the original; inside an optimisation, shows each step."""
        if self.observer is None:
            return self._compute_bounds(*positional, **named)
        if self._depth == 0:
            if "optimized" not in str(named.get("method", "")).lower():
                found = self._compute_bounds(*positional, **named)
                if found[0] is not None:
                    self.observer.plain(found[0].detach())
                return found
            self.observer.begin(self._module, named)
        self._depth += 1
        try:
            found = self._compute_bounds(*positional, **named)
        finally:
            self._depth -= 1
        if self._depth == 1 and found[0] is not None:
            self.observer.step(self._module, found[0].detach(), named.get("update_mask"))
        return found


@dataclass
class Slopes:
    """The best slopes of one activation for the bounds of one start node."""

    act: str
    kind: str
    pre: str
    start: str
    shape: list[int]
    sparse: bool
    rows: Tensor
    """The neurons of the start node that have slopes of their own."""
    places: Tensor
    """Where these stand along the second axis of the tool's tensor."""
    columns: Tensor
    """The neurons of the activation that have slopes."""
    values: Tensor
    """[planes, rows, columns]"""


@dataclass
class RootRecord:
    """The best slopes for each neuron and side, found while the root was bounded."""

    spec: Tensor | None = None
    """The rows of the specification that were optimised, [1, rows, outputs]."""
    first: Tensor | None = None
    """The bounds of all rows by plain CROWN, before the tool drops the disjuncts that these close."""
    slopes: dict[tuple[str, str], Slopes] = field(default_factory=dict)
    _best: dict[str, list[Tensor | None]] = field(default_factory=dict)
    _first: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def plain(self, lower: Tensor) -> None:
        """Keep the first bounds."""
        if self.first is None:
            self.first = lower.clone()

    def begin(self, module: Module, arguments: dict[str, Any]) -> None:
        """Forget an earlier optimisation."""
        self.spec = arguments["C"].detach().clone()
        self.slopes.clear()
        self._best.clear()
        self._first.clear()

    def step(self, module: Module, lower: Tensor, kept: Tensor | None) -> None:
        """Keep the slopes of every neuron and side that this step bounded best."""
        if kept is not None and len(kept) == 0:
            return
        improved: dict[str, list[Tensor | None]] = {}
        for act in module.get_enabled_opt_act():
            if not dumped(act):
                continue
            for start, alpha in act.alpha.items():
                if start not in improved:
                    improved[start] = self._improved(module, start, lower)
                key = (act.name, start)
                first = key not in self.slopes
                if first:
                    self.slopes[key] = _slopes(module, act, start, alpha)
                slopes = self.slopes[key]
                current = _columns(alpha.detach()[:, :, 0], slopes.columns)
                for side, better in enumerate(improved[start]):
                    if better is None and not first:
                        continue
                    # The first step fills every row, so that none stays empty where a bound is NaN.
                    rows = slice(None) if first else better[slopes.rows].nonzero().reshape(-1)
                    slopes.values[side::TWO_PLANES, rows] = current[side::TWO_PLANES][:, slopes.places[rows]]

    def unstable_rows(self, slopes: Slopes) -> Array:
        """The places of the rows to dump: those of neurons that the first step, which is plain CROWN, left unstable."""
        if slopes.start not in self._first or slopes.values.shape[0] != TWO_PLANES:
            return np.arange(len(slopes.rows))
        low, high = self._first[slopes.start]
        return array(((low < STABLE) & (high > -STABLE))[slopes.rows].nonzero().reshape(-1))

    def _improved(self, module: Module, start: str, lower: Tensor) -> list[Tensor | None]:
        """For the lower and the upper side, which neurons of the start node are bounded better than ever."""
        if start == module.final_name:
            bounds = [flat(lower[:1]), None]
        else:
            node = module[start]
            bounds = [flat(node.lower), flat(node.upper)]
            self._first.setdefault(start, (bounds[0].clone(), bounds[1].clone()))
        best = self._best.setdefault(start, [None, None])
        improved: list[Tensor | None] = []
        for side, (bound, sign) in enumerate(zip(bounds, (1, -1))):
            if bound is None:
                improved.append(None)
                continue
            known = best[side]
            better = bound == bound if known is None else sign * bound > sign * known
            best[side] = bound.clone() if known is None else bound.where(better, known)
            improved.append(better)
        return improved


def _slopes(module: Module, act: Any, start: str, alpha: Tensor) -> Slopes:
    """An empty record for the slopes of `act` in bounds of `start`."""
    lookup = (getattr(act, "alpha_lookup_idx", None) or {}).get(start)
    size = alpha.shape[1] if start == module.final_name else flat(module[start].lower).numel()
    if lookup is not None:
        # Place 0 stands for all neurons without slopes of their own. Neurons of one channel may share theirs.
        places = lookup.reshape(-1).repeat_interleave(size // lookup.numel())
        rows = places.nonzero().reshape(-1)
        places = places[rows]
    else:
        rows = alpha.new_ones(size).nonzero().reshape(-1)
        # One place for each neuron, for each channel, or for all.
        places = rows // (size // alpha.shape[1])
    columns = columns_of(act)
    return Slopes(
        act=act.name,
        kind=type(act).__name__,
        pre=act.inputs[0].name,
        start=start,
        shape=list(alpha.shape),
        sparse=lookup is not None,
        rows=rows,
        places=places,
        columns=columns,
        values=alpha.new_zeros((alpha.shape[0], len(rows), len(columns))).detach(),
    )


def columns_of(act: Any) -> Tensor:
    """The neurons of an activation that have slopes: the unstable ones of a piecewise linear one, all of another."""
    pre = act.inputs[0]
    low, high = pre.lower.detach(), pre.upper.detach()
    given = getattr(act, "alpha_indices", None)
    if given is not None:
        # One tensor of indices for each axis of the activation.
        mask = low.new_zeros(low.shape[1:])
        mask[tuple(given)] = 1
        return mask.reshape(-1).nonzero().reshape(-1)
    planes = next(iter(act.alpha.values())).shape[0]
    mask = (low < 0) & (high > 0) if planes == TWO_PLANES else low == low
    return mask.any(dim=0).reshape(-1).nonzero().reshape(-1)


def _columns(alpha: Tensor, columns: Tensor) -> Tensor:
    """The columns of slopes [planes, rows, *shape of the activation], whose last axis holds either all neurons or just these."""
    alpha = alpha.flatten(2)
    return alpha if alpha.shape[2] == len(columns) else alpha[:, :, columns]


@dataclass
class LeafRecord:
    """For each element of a batch of leaves, the slopes and multipliers of the step with the best margin over its rows."""

    thresholds: Tensor
    """Right-hand sides, [batch, rows]."""
    lower: Tensor | None = None
    """Bounds of the rows by the kept slopes and multipliers, [batch, rows]."""
    interm_bounds: dict[str, Any] = field(default_factory=dict)
    """Intermediate bounds of the leaves."""
    slopes: dict[str, tuple[Tensor, int]] = field(default_factory=dict)
    """For each activation the slopes of lower bounds, [planes, rows, batch, *shape of the activation], and the number of its planes."""
    multipliers: dict[str, Tensor] = field(default_factory=dict)
    """For each pre-activation node the multipliers of its splits, [batch, splits]."""
    _margin: Tensor | None = None

    def plain(self, lower: Tensor) -> None:
        """Nothing: the slopes of such bounds are the default ones."""

    def begin(self, module: Module, arguments: dict[str, Any]) -> None:
        """Note the intermediate bounds and forget an earlier optimisation."""
        self.interm_bounds = dict(arguments.get("interm_bounds") or {})
        self.lower = self._margin = None
        self.slopes.clear()
        self.multipliers.clear()

    def step(self, module: Module, lower: Tensor, kept: Tensor | None) -> None:
        """Keep the slopes and multipliers of every element that this step closed best."""
        thresholds = self.thresholds.to(lower)
        if kept is not None:
            kept = kept.nonzero().reshape(-1) if str(kept.dtype) == "torch.bool" else kept
            thresholds = thresholds[kept]
        margin = (lower - thresholds).amax(dim=1)
        if self._margin is None:
            self._take_all(module, lower, margin)
            return
        better = margin > (self._margin if kept is None else self._margin[kept])
        local = better.nonzero().reshape(-1)
        if len(local) == 0:
            return
        index = local if kept is None else kept[local]
        self._margin[index] = margin[local]
        self.lower[index] = lower[local]
        for act in module.get_enabled_opt_act():
            if act.name in self.slopes:
                alpha = act.alpha[module.final_name].detach()[0::TWO_PLANES]
                # While domains are pruned the tool narrows slopes to those left, but not multipliers.
                self.slopes[act.name][0][:, :, index] = alpha[:, :, local]
        for name, values in self.multipliers.items():
            values[index] = module[name].sparse_betas[0].val.detach()[index]

    def _take_all(self, module: Module, lower: Tensor, margin: Tensor) -> None:
        self._margin, self.lower = margin.clone(), lower.clone()
        for act in module.get_enabled_opt_act():
            if dumped(act) and module.final_name in act.alpha:
                alpha = act.alpha[module.final_name].detach()
                self.slopes[act.name] = (alpha[0::TWO_PLANES].clone(), alpha.shape[0])
        for node in module.nodes():
            betas = getattr(node, "sparse_betas", None)
            if betas:
                self.multipliers[node.name] = betas[0].val.detach().clone()
