"""`small_relu`: a 2-4-1 network whose certificate can be checked by hand.

With z = x_0 + x_1 the hidden pre-activations are z, -z, z + 2 and x_0 - x_1, and

    y = -relu(z) + 4 relu(-z) + 2 relu(z + 2) + relu(x_0 - x_1) - 4

On [-1, 1]² the third neuron is active, so y = 2z - relu(z) + 4 relu(-z) + relu(x_0 - x_1) ≥ 0. The unsafe set is
y ≤ -1/2. Slopes of the fourth neuron are 0 throughout.

- Root: relu(z) ≤ z/2 + 1 and relu(-z) ≥ -3z/8 (slope 3/8) give y ≥ 2z - z/2 - 1 - 3z/2 = -1. Open.
- Leaf z ≥ 0: relu(z) = z, relu(-z) ≥ 0 (slope 0), multiplier 1: y ≥ 2z - z - 1·z = 0.
- Leaf z ≤ 0: relu(z) = 0, relu(-z) ≥ -z/2 (slope 1/2): y ≥ 2z - 2z = 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import vnnlib
from branch import Leaf, ReluProblem, ReluSearch, Root
from crown import Box, Optimised, backward, intermediate_bounds, no_pull
from dump import Spec, name_nodes, write_relu_dump
from networks import Array, Layer, read_network, write_gemm_model

LAYERS: list[Layer] = [
    (np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]]), np.array([0.0, 0.0, 2.0, 0.0])),
    (np.array([[-1.0, 4.0, 2.0, 1.0]]), np.array([-4.0])),
]
ROOT_SLOPES = [0.0, 0.375, 0.0, 0.0]
LEAVES = [(1, [0.0, 0.0, 0.0, 0.0], 1.0, 0.0), (-1, [0.0, 0.5, 0.0, 0.0], 0.0, 0.0)]
"""Sign of neuron 0, slopes, multiplier, bound."""


def property_text() -> str:
    """The box [-1, 1]² and the unsafe set y ≤ -1/2."""
    lines = vnnlib.declarations(2, 1) + vnnlib.box_assertions([("-1", "1"), ("-1", "1")])
    return "\n".join([*lines, "(assert (<= Y_0 -0.5))", ""])


def _one_layer(values: list[float]) -> list[Array]:
    return [np.array([values])]


def make(folder: Path) -> None:
    """Write the case; the bounds stated above are compared with the replay."""
    write_gemm_model(folder / "net.onnx", (1, 2), LAYERS)
    (folder / "property.vnnlib").write_text(property_text())
    network = read_network(folder / "net.onnx")
    box = Box(np.full(2, -1.0), np.full(2, 1.0))
    rows, rhs = np.array([[1.0]]), np.array([-0.5])
    bounds, start_slopes = intermediate_bounds(network, box)
    problem = ReluProblem(network, box, bounds, rows, rhs, margin=0.25, steps=0)
    found = backward(network, 1, rows, box, bounds, _one_layer(ROOT_SLOPES), no_pull(network))
    root = Root(
        bounds, start_slopes, [0], Optimised(found.lower, _one_layer(ROOT_SLOPES), _one_layer([0.0] * 4))
    )
    leaves = []
    for sign, slopes, multiplier, stated in LEAVES:
        multipliers = _one_layer([multiplier, 0.0, 0.0, 0.0])
        start = Leaf(0, [], _one_layer(slopes), multipliers, -np.inf, float(found.lower[0]))
        leaf = problem.bound(start, [(0, 0, sign)], steps=0)
        if leaf.lower != stated:
            raise ValueError(f"a leaf gives {leaf.lower}, not {stated}")
        leaves.append(leaf)
    spec = Spec(rows, rhs, [1], box)
    search = ReluSearch(leaves, open_seen=0, rounds=1)
    write_relu_dump(folder, network, name_nodes(network, mean=False), spec, root, search)
