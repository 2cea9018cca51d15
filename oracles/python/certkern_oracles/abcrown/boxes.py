"""Closed boxes of a search that splits the input."""

from __future__ import annotations

import numpy as np

from .dumpfile import DumpWriter
from .leaves import real_rows
from .record import Array, Tensor, array


class BoxWriter:
    """Appends the closed boxes of each batch to a dump."""

    def __init__(self, out: DumpWriter, width: int) -> None:
        """`width` is the largest number of rows of a disjunct."""
        self._out = out
        self._width = width
        self._shared: tuple[Array, Array] | None = None
        self._differ = False
        self.counts = {"boxes": 0, "box_open_seen": 0}

    def add(self, bounds: Tensor, lower: Tensor, upper: Tensor, coefficients: Tensor, rhs: Tensor) -> None:
        """Write the boxes [batch, *input] of a batch that some row [batch, rows] closes, with bounds and right-hand sides [batch, rows]."""
        # Places in main memory pick from tensors of any device, and the boxes need not be where the bounds are.
        closed = (bounds > rhs.to(bounds)).any(dim=1).nonzero().reshape(-1).cpu()
        self.counts["boxes"] += len(closed)
        self.counts["box_open_seen"] += len(bounds) - len(closed)
        if len(closed) == 0:
            return
        c, r, b = array(coefficients[closed]), array(rhs[closed]), array(bounds[closed])
        rows = np.stack([real_rows(*pair, self._width) for pair in zip(c, r)])
        c = np.take_along_axis(c, rows[:, :, None], axis=1)
        r, b = (np.take_along_axis(values, rows, axis=1) for values in (r, b))
        if self._shared is None:
            self._shared = (c[:1].copy(), r[:1].copy())
        self._differ |= not (np.array_equal(c, np.broadcast_to(self._shared[0], c.shape)) and (r == self._shared[1]).all())
        self._out.append("box/C", c)
        self._out.append("box/rhs", r)
        self._out.append("box/lb", b)
        self._out.append("box/x_L", array(lower[closed]))
        self._out.append("box/x_U", array(upper[closed]))

    def finish(self) -> None:
        """Keep one row of `box/C` and `box/rhs` where all boxes have the same."""
        if self._shared is not None and not self._differ:
            self._out.first_rows("box/C", 1)
            self._out.first_rows("box/rhs", 1)
