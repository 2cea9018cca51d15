"""Branch and bound: on the signs of pre-activations, and on the inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crown import Bounds, Box, Optimised, StartSlopes, ascend, backward, intermediate_bounds, no_pull
from networks import Array, Network

Split = tuple[int, int, int]
"""ReLU layer, neuron, and the sign assumed: 1 for `z ≥ 0`, -1 for `z ≤ 0`."""


class NotClosed(Exception):
    """The search ended with an open domain."""


@dataclass(frozen=True)
class Leaf:
    """A domain of one output row: its splits in the order made, slopes and multipliers per layer, and its bound.

    `lower` is what the slopes and multipliers give; `inherited` is the better of that and the parent's."""

    row: int
    splits: list[Split]
    slopes: list[Array]
    multipliers: list[Array]
    lower: float
    inherited: float


@dataclass(frozen=True)
class ReluSearch:
    """All closed leaves in the order in which they closed, and counts of the search."""

    leaves: list[Leaf]
    open_seen: int
    rounds: int


@dataclass(frozen=True)
class ReluProblem:
    """Refute each `rows[r] · y ≤ rhs[r]` in `box` by a margin, on the intermediate bounds `bounds` of the root."""

    network: Network
    box: Box
    bounds: Bounds
    rows: Array
    rhs: Array
    margin: float
    steps: int

    def signs(self, splits: list[Split]) -> list[Array]:
        """Per ReLU layer the sign assumed for each neuron, 0 for none."""
        signs = no_pull(self.network)
        for layer, neuron, sign in splits:
            signs[layer][neuron] = sign
        return signs

    def bound(self, parent: Leaf, splits: list[Split], steps: int) -> Leaf:
        """The domain with these splits, optimised from the slopes and multipliers of its parent."""
        signs = self.signs(splits)
        start = self.network.hidden
        found = ascend(
            self.network,
            start,
            self.rows[parent.row : parent.row + 1],
            self.box,
            self.bounds.clamped(signs),
            parent.slopes,
            parent.multipliers,
            signs,
            steps=steps,
        )
        lower = float(found.lower[0])
        inherited = max(lower, parent.inherited)
        return Leaf(parent.row, splits, found.slopes, found.multipliers, lower, inherited)

    def closed(self, leaf: Leaf) -> bool:
        """Whether the leaf's own bound clears its right-hand side by the margin."""
        return leaf.lower >= self.rhs[leaf.row] + self.margin

    def candidates(self, leaf: Leaf, count: int) -> list[tuple[int, int]]:
        """The unsplit neurons without a sign whose chords cost the bound most."""
        signs = self.signs(leaf.splits)
        clamped = self.bounds.clamped(signs)
        pull = [s * m for s, m in zip(signs, leaf.multipliers)]
        row = self.rows[leaf.row : leaf.row + 1]
        found = backward(self.network, self.network.hidden, row, self.box, clamped, leaf.slopes, pull)
        scores = [
            (float(cost), k, int(j))
            for k in range(self.network.hidden)
            for j, cost in enumerate(found.intercept[k][0])
            if clamped.unstable(k)[j]
        ]
        return [(k, j) for _, k, j in sorted(scores, key=lambda s: (-s[0], s[1], s[2]))[:count]]


@dataclass(frozen=True)
class Root:
    """The root of a ReLU search: bounds, the slopes that gave them, and the optimised output rows.

    `tree_rows` are the places of the rows that plain CROWN left open, in the order of `output`."""

    bounds: Bounds
    slopes: list[StartSlopes]
    tree_rows: list[int]
    output: Optimised

    def leaves(self) -> list[Leaf]:
        """One unsplit domain for each row of `output`."""
        return [
            Leaf(
                row,
                [],
                [s[row : row + 1] for s in self.output.slopes],
                [m[row : row + 1] for m in self.output.multipliers],
                float(lower),
                float(lower),
            )
            for row, lower in enumerate(self.output.lower)
        ]


def relu_root(network: Network, box: Box, rows: Array, rhs: Array, *, margin: float, steps: int) -> Root:
    """Rows that plain CROWN does not close by the margin get optimised slopes, on optimised intermediate bounds."""
    plain, _ = intermediate_bounds(network, box)
    slopes = [plain.default_slopes(k) for k in range(network.hidden)]
    found = backward(network, network.hidden, rows, box, plain, slopes, no_pull(network))
    tree_rows = [int(r) for r in np.flatnonzero(found.lower < rhs + margin)]
    bounds, optimised = intermediate_bounds(network, box, steps=steps)
    slopes = [bounds.default_slopes(k) for k in range(network.hidden)]
    output = ascend(network, network.hidden, rows[tree_rows], box, bounds, slopes, steps=steps)
    return Root(bounds, optimised, tree_rows, output)


def branch_on_relus(problem: ReluProblem, root: Root, *, tries: int, limit: int) -> ReluSearch:
    """Split breadth first until every domain is closed; of `tries` candidates take the one with the best worse child.

    A row that the root closes gets one leaf without splits."""
    leaves = [leaf for leaf in root.leaves() if problem.closed(leaf)]
    domains = [leaf for leaf in root.leaves() if not problem.closed(leaf)]
    open_seen = rounds = 0
    while domains:
        if len(leaves) + len(domains) > limit:
            raise NotClosed(f"more than {limit} leaves")
        rounds += 1
        children: list[Leaf] = []
        for domain in domains:
            choice = _choose(problem, domain, tries)
            for sign in (1, -1):
                children.append(problem.bound(domain, [*domain.splits, (*choice, sign)], problem.steps))
        leaves += [child for child in children if problem.closed(child)]
        domains = [child for child in children if not problem.closed(child)]
        open_seen += len(domains)
    return ReluSearch(leaves, open_seen, rounds)


def _choose(problem: ReluProblem, domain: Leaf, tries: int) -> tuple[int, int]:
    """The neuron to split: each candidate's children are bounded with a few steps."""
    best: tuple[float, tuple[int, int]] | None = None
    for choice in problem.candidates(domain, tries):
        children = [problem.bound(domain, [*domain.splits, (*choice, sign)], 8) for sign in (1, -1)]
        worse = min(child.lower for child in children)
        if best is None or worse > best[0]:
            best = worse, choice
    if best is None:
        raise NotClosed("a domain is open though every neuron has a sign")
    return best[1]


@dataclass(frozen=True)
class BoxLeaf:
    """A closed box: float32 ends, and the bounds of all rows (each the better of its own and the parent's)."""

    lower: Array
    upper: Array
    bound: Array


@dataclass(frozen=True)
class BoxSearch:
    """All closed boxes in the order in which they closed, the bounds of the root, and how many boxes stayed open."""

    leaves: list[BoxLeaf]
    root_bound: Array
    open_seen: int


def widened(lower: Array, upper: Array, root: Box, decimal: Box) -> Box:
    """The box with each side that lies on the root's moved out to the decimal one where that is wider."""
    low = np.where(lower == root.lower, np.minimum(lower, decimal.lower), lower)
    high = np.where(upper == root.upper, np.maximum(upper, decimal.upper), upper)
    return Box(low, high)


def bound_box(network: Network, rows: Array, box: Box) -> tuple[Array, Array]:
    """Bounds [rows] of `rows · y` by plain CROWN on intermediate bounds made for this box, and the input rows."""
    bounds, _ = intermediate_bounds(network, box)
    slopes = [bounds.default_slopes(k) for k in range(network.hidden)]
    found = backward(network, network.hidden, rows, box, bounds, slopes, no_pull(network))
    return found.lower, found.at_input


def branch_on_inputs(
    network: Network, root: Box, decimal: Box, rows: Array, rhs: Array, *, margin: float, limit: int
) -> BoxSearch:
    """Bisect until in every box some row has `rows[r] · y ≥ rhs[r] + margin`.

    The input whose width weighs most in the row nearest to closing is cut at its float32 midpoint."""
    root_bound, _ = bound_box(network, rows, widened(root.lower, root.upper, root, decimal))
    nothing = np.full(len(rhs), -np.inf)
    domains = [(root.lower, root.upper, nothing)]
    leaves: list[BoxLeaf] = []
    open_seen = 0
    while domains:
        if len(leaves) + len(domains) > limit:
            raise NotClosed(f"more than {limit} boxes")
        children: list[tuple[Array, Array, Array]] = []
        for lower, upper, parent in domains:
            bound, at_input = bound_box(network, rows, widened(lower, upper, root, decimal))
            kept = np.maximum(bound, parent)
            if np.any(bound >= rhs + margin):
                leaves.append(BoxLeaf(lower, upper, kept))
                continue
            nearest = int(np.argmax(bound - rhs))
            cut = int(np.argmax(np.abs(at_input[nearest]) * (upper - lower)))
            middle = float((np.float32(lower[cut]) + np.float32(upper[cut])) * np.float32(0.5))
            below, above = upper.copy(), lower.copy()
            below[cut] = above[cut] = middle
            children += [(lower, below, kept), (above, upper, kept)]
            open_seen += 1
        domains = children
    return BoxSearch(leaves, root_bound, open_seen)
