"""ReLU networks: seeded training, ONNX files, and the chain of affine layers that the bounds work on."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]
Layer = tuple[Array, Array]
"""Weight [out, in] and bias [out]; between two layers of a list stands a ReLU."""


@dataclass(frozen=True)
class Network:
    """`layers[n-1](relu(… relu(layers[0](x))))` on the input flattened row by row."""

    input_shape: tuple[int, ...]
    layers: list[Layer]

    @property
    def hidden(self) -> int:
        """The number of ReLU layers."""
        return len(self.layers) - 1

    def __call__(self, x: Array) -> Array:
        """Outputs [samples, out] of flat inputs [samples, in]."""
        for weight, bias in self.layers[:-1]:
            x = np.maximum(x @ weight.T + bias, 0.0)
        weight, bias = self.layers[-1]
        return x @ weight.T + bias


def as_float32(array: Array) -> Array:
    """The nearest float32 values, held as float64."""
    return array.astype(np.float32).astype(np.float64)


def train(
    sizes: list[int],
    inputs: Array,
    loss_gradient: Callable[[Array, Indices], Array],
    *,
    seed: int,
    epochs: int,
    batch: int,
    rate: float,
    decay: float,
) -> list[Layer]:
    """Layers of float32 values found by Adam; `loss_gradient(outputs, sample indices)` is dloss/doutputs.

    The same arguments give the same layers on the same machine and library versions."""
    rng = np.random.default_rng(seed)
    parameters: list[Array] = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        parameters.append(rng.normal(0.0, np.sqrt(2.0 / fan_in), (fan_out, fan_in)))
        parameters.append(np.zeros(fan_out))
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(inputs))
        for begin in range(0, len(order), batch):
            chosen = order[begin : begin + batch]
            gradients = _gradients(parameters, inputs[chosen], chosen, loss_gradient)
            step += 1
            scale = rate * (1.0 - epoch / epochs) * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            for p, g, m, v in zip(parameters, gradients, first, second):
                g = g + decay * p
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= scale * m / (np.sqrt(v) + 1e-8)
    return [(as_float32(w), as_float32(b)) for w, b in zip(parameters[::2], parameters[1::2])]


def _gradients(
    parameters: list[Array], x: Array, chosen: Indices, loss_gradient: Callable[[Array, Indices], Array]
) -> list[Array]:
    """Gradients of the loss for each parameter, by back-propagation over the batch x of the chosen samples."""
    weights, biases = parameters[::2], parameters[1::2]
    activations = [x]
    for k, (weight, bias) in enumerate(zip(weights, biases)):
        z = activations[-1] @ weight.T + bias
        activations.append(np.maximum(z, 0.0) if k + 1 < len(weights) else z)
    delta = loss_gradient(activations[-1], chosen)
    gradients: list[Array] = []
    for k in reversed(range(len(weights))):
        gradients[:0] = [delta.T @ activations[k], delta.sum(axis=0)]
        delta = (delta @ weights[k]) * (activations[k] > 0.0)
    return gradients


def _initializer(name: str, array: Array) -> TensorProto:
    return numpy_helper.from_array(array.astype(np.float32), name)


def write_model(
    path: Path,
    nodes: list[onnx.NodeProto],
    initializers: dict[str, Array],
    input_name: str,
    input_shape: tuple[int, ...],
    output: tuple[str, int],
    *,
    opset: int,
    producer: str,
) -> None:
    """Write a checked ONNX model with one float32 input and one output of shape [1, n]."""
    graph = helper.make_graph(
        nodes,
        "main_graph",
        [helper.make_tensor_value_info(input_name, TensorProto.FLOAT, input_shape)],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, (1, output[1]))],
        [_initializer(name, array) for name, array in initializers.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=6, producer_name=producer
    )
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def write_gemm_model(path: Path, input_shape: tuple[int, ...], layers: list[Layer]) -> None:
    """Flatten (unless the input is flat already), then Gemm and Relu in turn, named as by PyTorch's exporter."""
    nodes: list[onnx.NodeProto] = []
    initializers: dict[str, Array] = {}
    value, place = "X", 0
    if len(input_shape) > 2:
        nodes.append(helper.make_node("Flatten", [value], ["/0/Flatten_output_0"], "/0/Flatten", axis=1))
        value, place = "/0/Flatten_output_0", 1
    for k, (weight, bias) in enumerate(layers):
        initializers |= {f"{place}.weight": weight, f"{place}.bias": bias}
        result = "Y" if k + 1 == len(layers) else f"/{place}/Gemm_output_0"
        inputs = [value, f"{place}.weight", f"{place}.bias"]
        nodes.append(
            helper.make_node("Gemm", inputs, [result], f"/{place}/Gemm", alpha=1.0, beta=1.0, transB=1)
        )
        value, place = result, place + 1
        if k + 1 < len(layers):
            nodes.append(helper.make_node("Relu", [value], [f"/{place}/Relu_output_0"], f"/{place}/Relu"))
            value, place = f"/{place}/Relu_output_0", place + 1
    output = ("Y", len(layers[-1][1]))
    write_model(path, nodes, initializers, "X", input_shape, output, opset=13, producer="certkern-make")


def write_matmul_model(path: Path, input_shape: tuple[int, ...], mean: Array, layers: list[Layer]) -> None:
    """Sub of the input mean, Flatten, then MatMul, Add and Relu in turn: the style of the ACAS Xu files."""
    nodes = [
        helper.make_node("Sub", ["input", "input_mean"], ["input_Sub"], "input_Sub"),
        helper.make_node("Flatten", ["input_Sub"], ["flat"], "flat", axis=1),
    ]
    initializers: dict[str, Array] = {"input_mean": mean.reshape(input_shape)}
    value = "flat"
    for k, (weight, bias) in enumerate(layers, start=1):
        name = f"linear_{k}"
        initializers |= {f"{name}_W": weight.T, f"{name}_B": bias}
        nodes.append(helper.make_node("MatMul", [value, f"{name}_W"], [f"{name}_MatMul"], f"{name}_MatMul"))
        nodes.append(helper.make_node("Add", [f"{name}_MatMul", f"{name}_B"], [f"{name}_Add"], f"{name}_Add"))
        value = f"{name}_Add"
        if k < len(layers):
            nodes.append(helper.make_node("Relu", [value], [f"relu_{k}"], f"relu_{k}"))
            value = f"relu_{k}"
    output = (value, len(layers[-1][1]))
    write_model(path, nodes, initializers, "input", input_shape, output, opset=8, producer="certkern-make")


def read_network(path: Path) -> Network:
    """The network of an ONNX file that is one chain of Sub, Add, MatMul, Gemm, Flatten, Reshape and Relu.

    Neighbouring affine nodes are multiplied out in float64. Anything else in the file is an error."""
    graph = onnx.load(path).graph
    constants = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in graph.initializer}
    (source,) = [i for i in graph.input if i.name not in constants]
    shape = tuple(d.dim_value or 1 for d in source.type.tensor_type.shape.dim)
    size = int(np.prod(shape))
    value = source.name
    layers: list[Layer] = []
    weight, bias = np.eye(size), np.zeros(size)
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t).astype(np.float64)
            continue
        if list(node.input).count(value) != 1:
            raise ValueError(f"{path}: {node.name} does not continue the chain")
        operands = [constants[name] for name in node.input if name != value]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        first = node.input[0] == value
        match node.op_type:
            case "Sub" if first:
                bias = bias - operands[0].reshape(-1)
            case "Sub":
                weight, bias = -weight, operands[0].reshape(-1) - bias
            case "Add":
                bias = bias + operands[0].reshape(-1)
            case "MatMul" if first:
                weight, bias = operands[0].T @ weight, operands[0].T @ bias
            case "Gemm" if first and attributes.get("alpha", 1.0) == attributes.get("beta", 1.0) == 1.0:
                matrix = operands[0] if attributes.get("transB", 0) else operands[0].T
                weight, bias = matrix @ weight, matrix @ bias + operands[1].reshape(-1)
            case "Flatten" | "Reshape":
                pass
            case "Relu":
                layers.append((weight, bias))
                weight, bias = np.eye(len(bias)), np.zeros(len(bias))
            case kind:
                raise ValueError(f"{path}: {node.name} is a {kind} of a form that is not read")
        value = node.output[0]
    return Network(shape, [*layers, (weight, bias)])
