"""`small_tanh`: a 4-8-8-2 network of tanh with one split at a point other than 0. `python3 small_tanh.py OUT` writes the bundle.

The network is seeded, its weights are multiples of 1/64. The unsafe set is y0 - y1 <= BOUND on a box. The tree has one split, of a neuron of
the first layer at POINT. Slopes of lower and upper lines of both layers, and the multipliers of the split, are found by trying the multiples
of 1/32 one after the other in floats; the slopes that the kernel takes where none are given do not suffice."""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bundle import Files, bound, safetensors, tensor, write

SIZES = [4, 8, 8, 2]
SEED = 3
RADIUS = 0.75
NEURON, POINT = 0, 0.375
BOUND = "-2.7"
UNIT = 1 / 32
ROUNDS = 2

Row = list[float]
Layer = tuple[list[Row], Row]
"""Weight [out][in] and bias [out]."""
Ends = list[tuple[float, float]]
Slopes = list[list[Row]]
"""For each layer of tanh and each neuron the slopes of its lower and upper line."""


def network() -> list[Layer]:
    """The layers, of multiples of 1/64."""
    source = random.Random(SEED)
    layers = []
    for inputs, outputs in itertools.pairwise(SIZES):
        weight = [[source.randrange(-64, 65) / 64 for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [source.randrange(-16, 17) / 64 for _ in range(outputs)]))
    return layers


def intercept(slope: float, ends: tuple[float, float], *, below: bool) -> float:
    """The best intercept of a line of this slope below (or above) tanh: that of an end, or of a point where tanh has this slope."""
    touching = list(ends)
    if 0 < slope < 1:
        point = math.atanh(math.sqrt(1 - slope))
        touching += [z for z in (-point, point) if ends[0] < z < ends[1]]
    return (min if below else max)(math.tanh(z) - slope * z for z in touching)


def flat(ends: tuple[float, float], *, below: bool) -> float:
    """The slope of the line that is highest (or lowest) in the middle."""
    middle, sign = (ends[0] + ends[1]) / 2, 1 if below else -1
    height = {n * UNIT: n * UNIT * middle + intercept(n * UNIT, ends, below=below) for n in range(33)}
    return max(height, key=lambda slope: sign * height[slope])


@dataclass
class Pass:
    """A bound of `row · z` from below, z being the result of layer `start`; `pull` is sign · multiplier of the split."""

    layers: list[Layer]
    start: int
    row: Row
    ends: list[Ends]
    pull: float = 0.0

    def bound(self, slopes: Slopes) -> float:
        """The bound with these slopes."""
        constant, row = through(self.row, self.layers[self.start])
        for k in reversed(range(self.start)):
            for j, value in enumerate(row):
                below = value >= 0
                slope = slopes[k][j][0 if below else 1]
                constant += value * intercept(slope, self.ends[k][j], below=below)
                row[j] = value * slope
            if k == 0:
                row[NEURON] -= self.pull
                constant += self.pull * POINT
            more, row = through(row, self.layers[k])
            constant += more
        return constant - sum(abs(value) * RADIUS for value in row)


def through(row: Row, layer: Layer) -> tuple[float, Row]:
    """`row · (W x + b)` as a constant and a row over x."""
    weight, bias = layer
    columns = range(len(weight[0]))
    return sum(map(float.__mul__, row, bias)), [sum(r * w[i] for r, w in zip(row, weight)) for i in columns]


def better(
    least: float, tries: Iterator[float], value: Callable[[float], float]
) -> tuple[float, float | None]:
    """The first of the best tries that is better than `least`, if there is one."""
    best = None
    for candidate in tries:
        if value(candidate) > least + 1e-9:
            least, best = value(candidate), candidate
    return least, best


def searched(task: Pass, *, signed: int = 0) -> tuple[float, Slopes]:
    """Good slopes, and a good pull of this sign."""
    layers = task.ends[: task.start]
    slopes = [[[flat(pair, below=below) for below in (True, False)] for pair in ends] for ends in layers]
    least = task.bound(slopes)
    for _ in range(ROUNDS):
        for k in reversed(range(task.start)):
            for pair in slopes[k]:
                for side in (0, 1):
                    kept = pair[side]

                    def tried(slope: float, pair: Row = pair, side: int = side) -> float:
                        pair[side] = slope
                        return task.bound(slopes)

                    least, best = better(least, (n * UNIT for n in range(33)), tried)
                    pair[side] = kept if best is None else best
        if signed:
            kept = task.pull

            def pulled(pull: float) -> float:
                task.pull = pull
                return task.bound(slopes)

            least, best = better(least, (signed * n * UNIT for n in range(65)), pulled)
            task.pull = kept if best is None else best
    return least, slopes


def certificate(layers: list[Layer]) -> dict:
    """The tensors."""
    weight, bias = layers[0]
    ends = [[(b - sum(map(abs, w)) * RADIUS, b + sum(map(abs, w)) * RADIUS) for w, b in zip(weight, bias)]]
    second = []
    passes: dict[str, list[Slopes]] = {"lower": [], "upper": []}
    for neuron in range(SIZES[2]):
        unit = [float(j == neuron) for j in range(SIZES[2])]
        (low, from_below), (high, from_above) = (
            searched(Pass(layers, 1, [sign * value for value in unit], ends)) for sign in (1.0, -1.0)
        )
        second.append((low, -high))
        passes["lower"].append(from_below)
        passes["upper"].append(from_above)
    ends.append(second)
    entries = []
    for sign in (1, -1):
        first = list(ends[0])
        low, high = first[NEURON]
        first[NEURON] = (max(low, POINT), high) if sign > 0 else (low, min(high, POINT))
        task = Pass(layers, 2, [1.0, -1.0], [first, second])
        found, slopes = searched(task, signed=sign)
        print(f"small_tanh: {'at least' if sign > 0 else 'at most'} {POINT}: {found:.4f}", file=sys.stderr)
        entries.append((slopes, abs(task.pull)))

    def slopes_of(found: list[Slopes], layer: int, side: int) -> list[float]:
        return [pair[side] for slopes in found for pair in slopes[layer]]

    out = {
        "tree.offset": tensor("U32", [2], [0, 3]),
        "tree.kind": tensor("U8", [3], [1, 0, 0]),
        "tree.node": tensor("U32", [3], [1, 0, 0]),
        "tree.coordinate": tensor("U32", [3], [NEURON, 0, 0]),
        "tree.threshold": tensor("U32", [3], [0, 0, 0]),
        "threshold.value": tensor("F32", [1], [POINT]),
        "bounds.0.3.rows": tensor("U32", [8], list(range(8))),
        "bounds.0.3.2.columns": tensor("U32", [8], list(range(8))),
    }
    for name, found in passes.items():
        for field, side in ((name, 0), (f"{name}.high", 1)):
            out[f"bounds.0.3.2.{field}"] = tensor("F32", [8, 8], slopes_of(found, 0, side))
    for layer, node in ((0, 2), (1, 4)):
        out[f"leaf.{node}.columns"] = tensor("U32", [8], list(range(8)))
        for field, side in (("slope", 0), ("high", 1)):
            values = slopes_of([slopes for slopes, _ in entries], layer, side)
            out[f"leaf.{node}.{field}"] = tensor("F32", [2, 8], values)
    out["leaf.splits.offset"] = tensor("U32", [3], [0, 1, 2])
    out["leaf.splits.depth"] = tensor("U32", [2], [0, 0])
    out["leaf.splits.multiplier"] = tensor("F32", [2], [multiplier for _, multiplier in entries])
    return out


def graph(layers: list[Layer]) -> str:
    """The graph, its numbers in the nodes."""
    nodes = [{"id": 0, "kind": "input", "parents": [], "shape": [SIZES[0]]}]
    for k, (weight, bias) in enumerate(layers):
        at = len(nodes)
        affine = {"id": at, "kind": "linear", "parents": [at - 1], "shape": [len(bias)]}
        nodes.append(affine | {"weight": weight, "bias": bias})
        if k + 1 < len(layers):
            nodes.append({"id": at + 1, "kind": "tanh", "parents": [at], "shape": [len(bias)]})
    head = {"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [len(nodes) - 1]}
    lines = ",\n".join(json.dumps(node) for node in nodes)
    return json.dumps(head)[:-1] + ', "nodes": [\n' + lines + "\n]}\n"


def files() -> Files:
    """The bundle."""
    layers = network()
    row = {"y": {"0": 1, "1": -1}, "bound": BOUND, "strict": False}
    sides = {"lower": [-RADIUS] * SIZES[0], "upper": [RADIUS] * SIZES[0]}
    meaning = {"format": "certkern.property.v1", "outputs": 2} | sides | {"unsafe": [[row]]}
    names = {
        "graph": "graph.json",
        "payload": "payload.safetensors",
        "property": "property.json",
        "certificate": "cert.json",
        "hints": "cert.safetensors",
    }
    manifest = {
        "format": "certkern.bundle.v1",
        "kind": "leaves",
        "files": names,
        "digests": dict.fromkeys(["graph", "payload", "input", "output"], "0" * 64),
    }
    steps = {"format": "certkern.leaves.v1", "trees": [0], "bounds": ["slopes"]}
    texts = {"bundle.json": json.dumps(manifest, indent=1), "property.json": json.dumps(meaning)}
    texts |= {"cert.json": json.dumps(steps), "graph.json": graph(layers)}
    data = {name: text.encode() for name, text in texts.items()}
    return bound(
        data | {"payload.safetensors": safetensors({}), "cert.safetensors": safetensors(certificate(layers))}
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 small_tanh.py OUT")
    write(Path(sys.argv[1]), files())
