"""`control_boxsplit`: a 5-input steering law, closed by bisection of the inputs.

The law turns five normalised sensor values into a wanted direction in the plane; the network learns the cost of each
of three headings, 120° apart, and the cheapest one is taken. The property: in a box where the wanted direction points
away from heading 0, heading 0 is never the cheapest."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import vnnlib
from branch import branch_on_inputs
from crown import intermediate_bounds
from dump import Spec, boxes, name_nodes, write_box_dump
from networks import Array, Indices, Layer, read_network, train, write_matmul_model

INPUTS = 5
HEADINGS = 3
SIZES = [INPUTS, 20, 20, HEADINGS]
MARGIN = 0.01
BOX = [("-0.41", "0.2"), ("-0.25", "0.35"), ("-0.2", "0.4"), ("-0.212345678", "0.4"), ("-0.2", "0.397531864")]


def headings_cost(x: Array) -> Array:
    """The costs [samples, 3]: minus the wanted direction's component along each heading."""
    ahead = 0.3 + 0.15 * np.cos(5.0 * x[:, 3]) - 0.4 * x[:, 1] * x[:, 4]
    aside = 1.2 * np.sin(2.5 * x[:, 0] + x[:, 1]) + 0.5 * np.tanh(2.0 * x[:, 2]) - 0.3 * x[:, 4] ** 2
    angles = np.pi + np.array([0.0, 2.0, -2.0]) * np.pi / 3.0
    return -(ahead[:, None] * np.cos(angles) + aside[:, None] * np.sin(angles))


def sensor_mean() -> Array:
    """The constant that the network subtracts from its input."""
    return np.array([0.01, -0.02, 0.03, 0.0, 0.05])


def trained_layers() -> list[Layer]:
    """The layers (after the subtraction) that learned the costs on [-1/2, 1/2]⁵ by least squares."""
    samples = np.random.default_rng(7).uniform(-0.5, 0.5, (4000, INPUTS))
    targets = headings_cost(samples)

    def loss_gradient(outputs: Array, chosen: Indices) -> Array:
        return (outputs - targets[chosen]) / len(chosen)

    return train(
        SIZES, samples - sensor_mean(), loss_gradient, seed=3, epochs=60, batch=50, rate=0.01, decay=0.0001
    )


def property_text() -> str:
    """The box, and as unsafe set the outputs in which heading 0 is cheapest."""
    lines = vnnlib.declarations(INPUTS, HEADINGS) + vnnlib.box_assertions(BOX)
    lines += ["; unsafe if heading 0 is cheapest", "(assert (<= Y_0 Y_1))", "(assert (<= Y_0 Y_2))", ""]
    return "\n".join(lines)


def make(folder: Path, *, limit: int = 80) -> None:
    """Write the case."""
    write_matmul_model(folder / "net.onnx", (1, 1, 1, INPUTS), sensor_mean(), trained_layers())
    network = read_network(folder / "net.onnx")
    text = property_text()
    (folder / "property.vnnlib").write_text(text)
    parsed, decimal = boxes(vnnlib.parse(text))
    rows, rhs = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]), np.zeros(2)
    search = branch_on_inputs(network, parsed, decimal, rows, rhs, margin=MARGIN, limit=limit)
    bounds, _ = intermediate_bounds(network, parsed)
    spec = Spec(rows, rhs, [len(rows)], parsed)
    write_box_dump(folder, network, name_nodes(network, mean=True), spec, bounds, search)
