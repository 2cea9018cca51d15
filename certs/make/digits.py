"""`digits_relusplit`: robustness of an MLP on 8 by 8 digits, closed by splits on the signs of pre-activations."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import vnnlib
from branch import ReluProblem, branch_on_relus, relu_root
from dump import Spec, boxes, name_nodes, write_relu_dump
from networks import Array, Indices, Layer, read_network, train, write_gemm_model

CLASSES = 10
SIZES = [64, 20, 20, 20, CLASSES]
TRAINING_IMAGES = 1400
MARGIN = 0.1
STEPS = 60


def digits() -> tuple[Array, Indices]:
    """All images as rows of sixteenths in [0, 1], and their labels."""
    data = load_digits()
    return data.data / 16.0, data.target


def trained_layers() -> list[Layer]:
    """The layers after softmax training on the first images."""
    images, labels = digits()
    targets = np.eye(CLASSES)[labels]

    def loss_gradient(outputs: Array, chosen: Indices) -> Array:
        odds = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return (odds / odds.sum(axis=1, keepdims=True) - targets[chosen]) / len(chosen)

    inputs = images[:TRAINING_IMAGES]
    return train(SIZES, inputs, loss_gradient, seed=1, epochs=60, batch=32, rate=0.005, decay=0.001)


def decimal_bounds(image: Array, radius: str) -> list[tuple[str, str]]:
    """Per pixel the decimals `(max(p - ε, 0), min(p + ε, 1))`."""
    pixels = [Fraction(float(pixel)) for pixel in image]
    ends = [(max(p - Fraction(radius), Fraction(0)), min(p + Fraction(radius), Fraction(1))) for p in pixels]
    return [(f"{float(low):.6f}", f"{float(high):.6f}") for low, high in ends]


def property_text(bounds: list[tuple[str, str]], label: int) -> str:
    """The box, and as unsafe set the outputs in which some other class is at least the label's."""
    others = [j for j in range(CLASSES) if j != label]
    lines = vnnlib.declarations(len(bounds), CLASSES) + vnnlib.box_assertions(bounds) + ["(assert (or"]
    lines += [f"    (and (>= Y_{j} Y_{label}))" for j in others] + ["))", ""]
    return "\n".join(lines)


def rows_against(label: int) -> Array:
    """For each other class the row `Y_label - Y_class`."""
    unit = np.eye(CLASSES)
    return np.stack([unit[label] - unit[j] for j in range(CLASSES) if j != label])


def make(folder: Path, *, index: int = 1402, radius: str = "0.12", limit: int = 80) -> None:
    """Write the case: test image `index`, which the network must classify correctly, with radius ε."""
    images, labels = digits()
    label = int(labels[index])
    write_gemm_model(folder / "net.onnx", (1, 1, 8, 8), trained_layers())
    network = read_network(folder / "net.onnx")
    if int(np.argmax(network(images[index : index + 1]))) != label:
        raise ValueError(f"image {index} is not classified correctly")
    text = property_text(decimal_bounds(images[index], radius), label)
    (folder / "property.vnnlib").write_text(text)
    parsed, box = boxes(vnnlib.parse(text))
    rows, rhs = rows_against(label), np.zeros(CLASSES - 1)
    root = relu_root(network, box, rows, rhs, margin=MARGIN, steps=STEPS)
    open_rows = root.tree_rows
    problem = ReluProblem(network, box, root.bounds, rows[open_rows], rhs[open_rows], MARGIN, STEPS)
    search = branch_on_relus(problem, root, tries=4, limit=limit)
    spec = Spec(rows, rhs, [1] * len(rows), parsed)
    write_relu_dump(folder, network, name_nodes(network, mean=False), spec, root, search)
