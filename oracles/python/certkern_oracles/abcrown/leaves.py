"""Closed leaves of a search that splits neurons."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dumpfile import DumpWriter
from .record import TWO_PLANES, Array, LeafRecord, Tensor, array


def real_rows(coefficients: Array, rhs: Array, width: int) -> Array:
    """For each of `width` places the row of a disjunct to write there.

    The tool pads disjuncts with fewer rows than others in the same batch by rows that nothing can close (0·y ≤ ∞). A tensor has no holes
    either, so the first row is written again in their place, which says the same twice.
    """
    rows = np.zeros(width, dtype=np.int64)
    real = ~np.isinf(rhs) | coefficients.any(axis=-1)
    rows[: len(real)] = np.where(real, np.arange(len(real)), 0)
    return rows


class LeafWriter:
    """Appends the closed leaves of each batch to a dump."""

    def __init__(self, out: DumpWriter, width: int, root: dict[str, tuple[Tensor, Tensor]], columns: dict[str, Tensor]) -> None:
        """`width` is the largest number of rows of a disjunct, `root` are the root bounds, `columns` the neurons of each activation
        whose slopes are dumped."""
        self._out = out
        self._width = width
        self._root = root
        self._columns = columns
        self._named: set[str] = set()
        self.counts = {"relu_leaves": 0, "relu_open_seen": 0, "update_bounds_calls": 0, "interm_mismatch": 0}
        self.not_closed = 0
        """Leaves that the tool reports as closed although no step closed them."""

    def add(self, domains: dict[str, Any], reported: Tensor, record: LeafRecord) -> None:
        """Write those leaves of a batch that the tool will drop as closed; `reported` are the bounds it compares."""
        self.counts["update_bounds_calls"] += 1
        thresholds = domains["thresholds"].detach().cpu()
        closed = (reported.cpu() > thresholds).any(dim=1).nonzero().reshape(-1).tolist()
        self.counts["relu_open_seen"] += len(reported) - len(closed)
        if record.lower is None or len(record.lower) != len(reported):
            self.not_closed += len(closed)
            return
        if not closed:
            return
        self.counts["relu_leaves"] += len(closed)
        coefficients, rhs = array(domains["cs"][closed]), array(thresholds[closed])
        own, tool = array(record.lower[closed]), array(reported[closed])
        self.not_closed += int((own <= rhs).all(axis=1).sum())
        rows = np.stack([real_rows(c, r, self._width) for c, r in zip(coefficients, rhs)])
        self._out.append("leaf/C", np.take_along_axis(coefficients, rows[:, :, None], axis=1))
        self._write_slopes(record, closed, rows)
        changed = self._changed(record, closed)
        betas = {name: array(values[closed]) for name, values in record.multipliers.items()}
        for place, leaf in enumerate(closed):
            splits = _splits(domains["history"][leaf], {name: values[place] for name, values in betas.items()})
            own_bounds = any(int(count[place]) > _split_sides(splits, name) for name, count in changed.items())
            self.counts["interm_mismatch"] += own_bounds
            self._out.add_leaf(
                {
                    "lb": own[place][rows[place]].tolist(),
                    "lb_tool": tool[place][rows[place]].tolist(),
                    "rhs": rhs[place][rows[place]].tolist(),
                    "splits": splits,
                    **({"own_interm": True} if own_bounds else {}),
                }
            )

    def _write_slopes(self, record: LeafRecord, closed: list[int], rows: Array) -> None:
        for act, (slopes, planes) in record.slopes.items():
            columns = self._columns.get(act)
            if columns is None:
                continue
            # [planes, rows, leaves, columns]
            chosen = slopes[:, :, closed].flatten(3)
            if chosen.shape[3] != len(columns):
                chosen = chosen[:, :, :, columns]
            # [leaves, planes, rows, columns]
            values = array(chosen.permute(2, 0, 1, 3))
            values = np.take_along_axis(values, rows[:, None, :, None], axis=2)
            if planes == TWO_PLANES:
                self._out.append(f"leaf_alpha/{act}", values[:, 0])
            else:
                self._out.append(f"leaf_tangents/{act}", values)
            if act not in self._named:
                self._named.add(act)
                self._out.put(f"leaf_alpha_cols/{act}", array(columns).astype(np.int32))

    def _changed(self, record: LeafRecord, closed: list[int]) -> dict[str, Array]:
        """For each node and leaf, how many intermediate bounds differ from those of the root."""
        changed: dict[str, Array] = {}
        for name, (lower, upper) in record.interm_bounds.items():
            if name in self._root:
                count = 0
                for own, root in zip((lower, upper), self._root[name]):
                    count = count + (own.detach()[closed] != root.to(own)).flatten(1).sum(dim=1)
                changed[name] = array(count)
        return changed


def _splits(history: dict[str, Any], betas: dict[str, Array]) -> list[dict[str, Any]]:
    """The splits of a leaf: grouped by layer, in the order of splitting within a layer."""
    splits = []
    for layer, (places, signs, points, *_) in history.items():
        for order in range(len(places)):
            point = float(points[order]) if points is not None and len(points) > order else 0.0
            splits.append(
                {
                    "layer": layer,
                    "neuron": int(places[order]),
                    "sign": int(signs[order]),
                    # Points never written are NaN and mean 0.
                    "point": 0.0 if point != point else point,
                    "beta": max(float(betas[layer][order]), 0.0) if layer in betas else 0.0,
                }
            )
    return splits


def _split_sides(splits: list[dict[str, Any]], layer: str) -> int:
    """How many bounds of a node its splits may have moved."""
    return sum(split["layer"] == layer for split in splits)
