"""CROWN bounds of ReLU networks over a box, with slopes α in [0, 1] and multipliers β ≥ 0 of ReLU splits.

All bounds are computed in float64 without directed rounding: they guide a search and are no proof. Slopes
and multipliers that are kept are float32 values, so that a dump holds exactly what was evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from networks import Array, Indices, Mask, Network, as_float32


@dataclass(frozen=True)
class Box:
    """Flat lower and upper ends of the inputs."""

    lower: Array
    upper: Array


@dataclass
class Bounds:
    """Bounds `lower[k] ≤ z_k ≤ upper[k]` of the pre-activations of the first ReLU layers."""

    lower: list[Array]
    upper: list[Array]

    def unstable(self, k: int) -> Mask:
        """Which neurons of ReLU layer k have a sign that is not known (a mask)."""
        return (self.lower[k] < 0.0) & (self.upper[k] > 0.0)

    def clamped(self, signs: list[Array]) -> Bounds:
        """With `z ≥ 0` where the sign is 1 and `z ≤ 0` where it is -1."""
        lower = [np.where(s > 0, np.maximum(low, 0.0), low) for low, s in zip(self.lower, signs)]
        upper = [np.where(s < 0, np.minimum(high, 0.0), high) for high, s in zip(self.upper, signs)]
        return Bounds(lower, upper)

    def default_slopes(self, k: int) -> Array:
        """The slopes of plain CROWN: 1 if u > -l, else 0."""
        return (self.upper[k] > -self.lower[k]).astype(np.float64)


@dataclass(frozen=True)
class Pass:
    """One backward pass: bounds [rows], the input row [rows, in], and what its gradient needs.

    `positive[k]` is the positive part of the row at the output of ReLU layer k, `intercept[k]` the share of the
    bound lost in that layer's chords, `values[k]` the pre-activations at which the relaxed minimum is taken."""

    lower: Array
    at_input: Array
    positive: list[Array]
    intercept: list[Array]
    values: list[Array]


def backward(
    network: Network,
    start: int,
    rows: Array,
    box: Box,
    bounds: Bounds,
    slopes: list[Array],
    pull: list[Array],
) -> Pass:
    """Lower bounds of `rows · z_start`, `z_start` being the result of layer `start`.

    `slopes[k]` [rows, width] are the lower slopes of ReLU layer k < start, `pull[k]` is sign·β of the splits there."""
    weight, bias = network.layers[start]
    constant, row = rows @ bias, rows @ weight
    positive: list[Array] = []
    intercept: list[Array] = []
    lines: list[tuple[Array, Array]] = []
    for k in reversed(range(start)):
        lower, upper, unstable = bounds.lower[k], bounds.upper[k], bounds.unstable(k)
        chord = np.where(unstable, upper / np.where(unstable, upper - lower, 1.0), lower >= 0.0)
        shift = np.where(unstable, -chord * lower, 0.0)
        below = np.where(unstable, slopes[k], chord)
        slope, offset = np.where(row >= 0.0, below, chord), np.where(row < 0.0, shift, 0.0)
        positive.insert(0, np.maximum(row, 0.0) * unstable)
        intercept.insert(0, -row * offset)
        lines.insert(0, (slope, offset))
        constant = constant + (row * offset).sum(axis=1)
        row = row * slope - pull[k]
        weight, bias = network.layers[k]
        constant, row = constant + row @ bias, row @ weight
    minimiser = np.where(row >= 0.0, box.lower, box.upper)
    values: list[Array] = []
    point = minimiser
    for k, (slope, offset) in enumerate(lines):
        weight, bias = network.layers[k]
        values.append(point @ weight.T + bias)
        point = slope * values[k] + offset
    return Pass(constant + (row * minimiser).sum(axis=1), row, positive, intercept, values)


def no_pull(network: Network) -> list[Array]:
    """No split multipliers."""
    return [np.zeros(len(bias)) for _, bias in network.layers[:-1]]


@dataclass(frozen=True)
class Optimised:
    """The best bounds found [rows], with the float32 slopes and multipliers (each per layer [rows, width])."""

    lower: Array
    slopes: list[Array]
    multipliers: list[Array]


def ascend(
    network: Network,
    start: int,
    rows: Array,
    box: Box,
    bounds: Bounds,
    slopes: list[Array],
    multipliers: list[Array] | None = None,
    signs: list[Array] | None = None,
    *,
    steps: int,
    rate: float = 0.1,
) -> Optimised:
    """Raise the bounds of `backward` by projected Adam steps on the slopes and on β of the splits in `signs`.

    The derivative for a slope is (positive part of the row)·(relaxed pre-activation), for sign·β it is minus the
    relaxed pre-activation, since the relaxed problem attains the bound at `Pass.values`."""
    signs = signs if signs is not None else no_pull(network)
    shapes = [(len(rows), len(bias)) for _, bias in network.layers[:start]]
    alpha = [np.broadcast_to(s, shape).copy() for s, shape in zip(slopes, shapes)]
    beta = [np.zeros(shape) for shape in shapes]
    if multipliers is not None:
        beta = [m.copy() for m in multipliers]
    moments = [[np.zeros(shape), np.zeros(shape)] for shape in shapes * 2]
    best = Optimised(np.full(len(rows), -np.inf), [a.copy() for a in alpha], [b.copy() for b in beta])
    for step in range(1, steps + 2):
        kept_alpha, kept_beta = [as_float32(a) for a in alpha], [as_float32(b) for b in beta]
        pull = [s * b for s, b in zip(signs, kept_beta)]
        found = backward(network, start, rows, box, bounds, kept_alpha, pull)
        better = found.lower > best.lower
        best.lower[better] = found.lower[better]
        for k in range(start):
            best.slopes[k][better] = kept_alpha[k][better]
            best.multipliers[k][better] = kept_beta[k][better]
        gradients = [found.positive[k] * found.values[k] for k in range(start)]
        gradients += [-signs[k] * found.values[k] for k in range(start)]
        for variable, gradient, (mean, square) in zip(alpha + beta, gradients, moments):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            move = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-12)
            variable += rate * 0.98**step * move
        for a, b in zip(alpha, beta):
            np.clip(a, 0.0, 1.0, out=a)
            np.maximum(b, 0.0, out=b)
    return best


@dataclass
class StartSlopes:
    """Optimised slopes for the bounds of pre-activation layer `start` (or of the output rows).

    `rows` are the bounded coordinates, `lower[k]` and `upper[k]` [rows, width of layer k] the slopes of ReLU layer k
    in the passes from below and from above."""

    rows: Indices
    lower: list[Array]
    upper: list[Array]


def intermediate_bounds(
    network: Network, box: Box, *, steps: int = 0, given: list[StartSlopes] | None = None
) -> tuple[Bounds, list[StartSlopes]]:
    """Bounds of every ReLU layer: interval bounds, then plain CROWN on coordinates without a sign, then slopes.

    The interval bounds are those of plain interval propagation: they do not profit from the bounds of earlier layers.

    With `steps > 0` the slopes are optimised and returned for the coordinates that plain CROWN left without a sign;
    with `given` (one for each ReLU layer) those slopes are replayed."""
    bounds = Bounds([], [])
    slopes: list[StartSlopes] = []
    low, high = box.lower, box.upper
    for start in range(network.hidden):
        weight, bias = network.layers[start]
        up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
        lower, upper = up @ low + down @ high + bias, up @ high + down @ low + bias
        low, high = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        bounds.lower.append(lower.copy())
        bounds.upper.append(upper.copy())
        plain = [bounds.default_slopes(k) for k in range(start)]
        rows = np.flatnonzero(bounds.unstable(start))
        _tighten(network, start, rows, box, bounds, plain, plain)
        rows = np.flatnonzero(bounds.unstable(start))
        if given is not None:
            known = given[start]
            _tighten(network, start, known.rows, box, bounds, known.lower, known.upper)
        elif steps and start:
            units = np.eye(len(bias))[rows]
            below = ascend(network, start, units, box, bounds, plain, steps=steps)
            above = ascend(network, start, -units, box, bounds, plain, steps=steps)
            slopes.append(StartSlopes(rows, below.slopes, above.slopes))
            bounds.lower[start][rows] = np.maximum(bounds.lower[start][rows], below.lower)
            bounds.upper[start][rows] = np.minimum(bounds.upper[start][rows], -above.lower)
        else:
            slopes.append(StartSlopes(rows[:0], [], []))
    return bounds, slopes


def _tighten(
    network: Network,
    start: int,
    rows: Indices,
    box: Box,
    bounds: Bounds,
    below: list[Array],
    above: list[Array],
) -> None:
    """Intersect the bounds of the coordinates `rows` with one backward pass from each side."""
    if len(rows) == 0 or start == 0:
        return
    units, pull = np.eye(len(bounds.lower[start]))[rows], no_pull(network)
    lower = backward(network, start, units, box, bounds, below, pull).lower
    upper = -backward(network, start, -units, box, bounds, above, pull).lower
    bounds.lower[start][rows] = np.maximum(bounds.lower[start][rows], lower)
    bounds.upper[start][rows] = np.minimum(bounds.upper[start][rows], upper)
