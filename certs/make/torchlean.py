"""Artifacts in formats of TorchLean, of our own making, in `certs/torchlean`: `python3 torchlean.py OUT`. The Python standard library is enough.

All numbers are small integers and fractions of a seeded generator, and what is claimed is computed here in exact fractions, by a way of its own: values at corners and interval bounds."""

from __future__ import annotations

import hashlib
import json
import random
import sys
from fractions import Fraction
from pathlib import Path

Vector = list[Fraction]
Matrix = list[Vector]


def texts(values: Vector) -> list[str]:
    """As rationals in strings."""
    return [str(value) for value in values]


def draw(rng: random.Random, rows: int, columns: int) -> Matrix:
    """Fractions with denominators 1, 2, 3, 5 and 7."""
    return [[Fraction(rng.randint(-6, 6), rng.choice([1, 2, 3, 5, 7])) for _ in range(columns)] for _ in range(rows)]


def image(weight: Matrix, bias: Vector, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Interval bounds of `W x + b`."""
    ends = []
    for row, b in zip(weight, bias, strict=True):
        products = [(w * lo, w * hi) for w, lo, hi in zip(row, low, high, strict=True)]
        ends.append((b + sum(min(p) for p in products), b + sum(max(p) for p in products)))
    return [lo for lo, _ in ends], [hi for _, hi in ends]


def relu(values: Vector) -> Vector:
    """max(x, 0)."""
    return [max(value, Fraction(0)) for value in values]


def slope(low: Fraction, high: Fraction) -> Fraction:
    """A slope for the lower line of a relu that suits these ends."""
    return Fraction(7, 8) if high > -low else Fraction(1, 9)


def dump(document: dict) -> str:
    """One line for each member."""
    return "{" + ",\n ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in document.items()) + "}\n"


def query(rng: random.Random, *, holds: bool) -> dict:
    """A network 3-4-4-2 on a box: its outputs minus what lies half the width of their interval bounds above these, or what is false at a corner."""
    low, high = [Fraction(-1)] * 3, [Fraction(1, 3), Fraction(1, 2), Fraction(1)]
    layers, ends, width = [], (low, high), 3
    point = low
    for place, outputs in enumerate([4, 4, 2]):
        weight, bias = draw(rng, outputs, width), draw(rng, 1, outputs)[0]
        layers.append({"kind": "linear", "weights": [texts(row) for row in weight], "bias": texts(bias)})
        ends = image(weight, bias, *ends)
        point = image(weight, bias, point, point)[0]
        if place < 2:
            layers.append({"kind": "relu", "alpha": texts([slope(lo, hi) for lo, hi in zip(*ends, strict=True)])})
            ends, point = (relu(ends[0]), relu(ends[1])), relu(point)
        width = outputs
    # What is claimed is below zero on all of the box; the false claim is not at its lower corner.
    bias = [-(3 * high - low) / 2 for low, high in zip(*ends, strict=True)] if holds else [Fraction(1, 1000) - value for value in point]
    return {
        "format": "crown_query_v1",
        "input_dim": 3,
        "input": {"lo": texts(low), "hi": texts(high)},
        "layers": layers,
        "query": {"weights": [["1", "0"], ["0", "1"]], "bias": texts(bias), "strict": False},
    }


def monotonicity(rng: random.Random) -> dict:
    """A network 2-3-1 whose weights are not below zero."""
    layers: list[dict] = []
    for columns, rows in ((2, 3), (3, 1)):
        weight = [[abs(value) for value in row] for row in draw(rng, rows, columns)]
        layers.append({"kind": "linear", "weights": [texts(row) for row in weight], "bias": texts(draw(rng, 1, rows)[0])})
        layers.append({"kind": "relu"})
    return {"format": "monotonicity_v1", "input_dim": 2, "layers": layers[:3]}


GRAPH = {
    "format": "torchlean.ir.v1",
    "input_id": 0,
    "output_ids": [3],
    "nodes": [
        {"id": 0, "kind": "input", "parents": [], "shape": [2]},
        {"id": 1, "kind": "linear", "parents": [0], "shape": [2], "weight": [[1, 1], [1, -1]], "bias": [0, 0]},
        {"id": 2, "kind": "relu", "parents": [1], "shape": [2]},
        {"id": 3, "kind": "linear", "parents": [2], "shape": [1], "weight": [[-1, -1]], "bias": [3]},
    ],
}
"""y = 3 - relu(x0 + x1) - relu(x0 - x1), which is 3 - 2 x0 >= 1 where x0 >= |x1|, and above 1 elsewhere on [-1, 1]^2. On the whole square the
chords of the relus give y >= 1 - x0 >= 0, which does not prove y > 1/4; on each quadrant one relu is known, and y >= 1/2."""

PROPERTY = {"format": "certkern.property.v1", "outputs": 1, "lower": [-1, -1], "upper": [1, 1],
            "unsafe": [[{"y": {"0": 1}, "bound": 0.25, "strict": False}]]}  # fmt: skip


def leaves() -> dict:
    """Four boxes, halves of halves; the bounds `lb` are what the artifact says, and are not used."""
    boxes = [([-1, -1], [0, 0]), ([0, -1], [1, 0]), ([-1, 0], [0, 1]), ([0, 0], [1, 1])]
    return {
        "format": "abcrown_leaf_artifact_v0_1",
        "input_dim": 2,
        "root": {"lo": [-1, -1], "hi": [1, 1]},
        "leaves": [{"lo": lo, "hi": hi, "lb": [1], "threshold": [0.25], "witness_idx": 0, "witness_margin": 0.75} for lo, hi in boxes],
    }


def ibp() -> dict:
    """Interval bounds of the graph on the whole square: both relus lie in [0, 2]."""
    return {
        "graph": "two_relus",
        "input_box": {"id": 0, "dim": 2, "lo": [-1, -1], "hi": [1, 1]},
        "result": {"node_id": 3, "dim": 1, "lo": [-1], "hi": [3]},
    }


def margins() -> dict[str, str]:
    """Three classes on two pixels, in numbers that binary64 holds exactly: example 7 is certified, 8 is not, 9 has a bound that is too tight."""
    weight, bias = [[2, -1], [-1, 2], [0.5, 0.5]], [0, 0, -0.25]
    weights = dump({"format": "linear_weights", "layers.0.weight": weight, "layers.0.bias": bias})
    points = [{"id": 7, "x": [1, 0], "y": 0}, {"id": 8, "x": [0.5, 0.5], "y": 1}, {"id": 9, "x": [0, 1], "y": 1}]
    dataset = dump({"examples": points})
    radius = Fraction(1, 8)
    examples = []
    for point in points:
        low = [max(Fraction(x) - radius, Fraction(0)) for x in point["x"]]
        high = [min(Fraction(x) + radius, Fraction(1)) for x in point["x"]]
        exact = [[Fraction(w) for w in row] for row in weight]
        lo, hi = image(exact, [Fraction(b) for b in bias], low, high)
        certified = all(hi[j] < lo[point["y"]] for j in range(3) if j != point["y"])
        if point["id"] == 9:
            hi[0] -= Fraction(1, 2**40)
        nominal = [sum(w * Fraction(x) for w, x in zip(row, point["x"], strict=True)) for row in exact]
        examples.append({"id": point["id"], "label": point["y"], "pred": nominal.index(max(nominal)),
                         "logits_lo": [float(v) for v in lo], "logits_hi": [float(v) for v in hi], "certified": certified})  # fmt: skip
    report = {
        "format": "robust_margin_cert_v0_1", "norm": "linf", "method": "ibp_linear", "eps": 0.125, "input_dim": 2, "num_classes": 3,
        "meta": {"weights_path": "weights.json", "dataset_path": "dataset.json",
                 "weights_sha256": hashlib.sha256(weights.encode()).hexdigest(), "dataset_sha256": hashlib.sha256(dataset.encode()).hexdigest()},
        "summary": {"examples": 3, "nominal_ok": 3, "certified_ok": sum(e["certified"] for e in examples)},
        "examples": examples,
    }  # fmt: skip
    return {"margin.json": dump(report), "weights.json": weights, "dataset.json": dataset}


def main(out: Path) -> None:
    """Write all files."""
    rng = random.Random(20)
    files = {
        "query.json": dump(query(rng, holds=True)),
        "false_query.json": dump(query(rng, holds=False)),
        "monotonicity.json": dump(monotonicity(rng)),
        "graph.json": dump(GRAPH),
        "property.json": dump(PROPERTY),
        "leaves.json": dump(leaves()),
        "ibp.json": dump(ibp()),
        "region.json": dump({"lo": [-1, -1], "hi": [1, 1]}),
        "bound.json": dump({"format": "torchlean.bound.v1", "lower": [-1], "upper": [3]}),
    } | margins()
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 torchlean.py OUT")
    main(Path(sys.argv[1]))
