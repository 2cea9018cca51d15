"""A model to a graph: what is live, in what order, and by which rule (docs/onnx.md, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx
from google.protobuf.message import DecodeError
from onnx import NodeProto, TensorProto

from . import elementwise, products, shapes, windows
from .graph import Graph, Node
from .operation import Operation, check_against_schema
from .refusal import Refused, located, require
from .values import FLOATS, TYPES, Value, constant, declared_shape, type_name

OPERATORS = elementwise.OPERATORS | products.OPERATORS | shapes.OPERATORS | windows.OPERATORS
"""By ONNX's name: the operator set that it is understood from, and its rule."""

LAST = {"Upsample": 9}
"""The last set of operators that ONNX took back."""


@dataclass(frozen=True)
class Imported:
    """A graph with its numbers in the nodes. Node 0 is the input."""

    nodes: list[Node]
    outputs: list[int]


def read_model(data: bytes) -> onnx.ModelProto:
    """The model that the bytes of a file hold."""
    try:
        return onnx.load_model_from_string(data)
    except DecodeError as error:
        raise Refused(f"this is no ONNX model: {error}") from error


def read_tensor(data: bytes) -> TensorProto:
    """The tensor that the bytes of a file hold."""
    try:
        return TensorProto.FromString(data)
    except DecodeError as error:
        raise Refused(f"this is no ONNX tensor: {error}") from error


def operator_set(model: onnx.ModelProto) -> int:
    """The default operator set."""
    require(3 <= model.ir_version <= 13, f"IR version {model.ir_version} is none of 3 to 13", "export with another version of onnx")
    sets = [imported.version for imported in model.opset_import if imported.domain in ("", "ai.onnx")]
    require(len(sets) == 1, f"{len(sets)} default operator sets are named")
    require(1 <= sets[0] <= 22, f"operator set {sets[0]} is none of 1 to 22", "export with one of them")
    require(not model.functions, "the model has functions", "inline them, as onnx.inliner does")
    return sets[0]


def label(place: int, node: NodeProto) -> str:
    """How messages name a node."""
    name = node.name or next(filter(None, node.output), "")
    return f"node {place}, {node.op_type} '{name}'"


class Names:
    """What the names of a model stand for."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.makers: dict[str, list[int]] = {}
        for place, node in enumerate(graph.node):
            for name in filter(None, node.output):
                self.makers.setdefault(name, []).append(place)
        self.initializers: dict[str, list[TensorProto]] = {}
        for tensor in graph.initializer:
            self.initializers.setdefault(tensor.name, []).append(tensor)
        self.sparse = {tensor.values.name for tensor in graph.sparse_initializer}
        self.inputs = {value.name: value for value in graph.input}
        require(len(self.inputs) == len(graph.input), "two inputs have one name")

    def check(self, name: str) -> None:
        """A name that is read stands for one thing."""
        with located(f"'{name}'"):
            require(name not in self.sparse, "it is a sparse tensor", "store it as a dense one")
            count = len(self.makers.get(name, [])) + max(len(self.initializers.get(name, [])), name in self.inputs)
            require(count, "nothing makes it")
            require(count == 1, "it is made more than once")

    def live_nodes(self) -> tuple[list[int], set[str]]:
        """The places of the live nodes, and the names that are graph outputs or read by one of them."""
        read = [value.name for value in self.graph.output]
        names, live = set(read), set()
        while read:
            name = read.pop()
            self.check(name)
            for place in self.makers.get(name, []):
                if place not in live:
                    live.add(place)
                    more = [other for other in self.graph.node[place].input if other and other not in names]
                    names.update(more)
                    read += more
        return sorted(live), names


def input_value(value: onnx.ValueInfoProto) -> Graph:
    """A graph that has the input alone."""
    shape = declared_shape(value)
    number = value.type.tensor_type.elem_type
    require(TYPES.get(number) in FLOATS, f"it is of type {type_name(number)}", "give it type float32 or float64, or freeze it")
    require(shape is not None, "it declares no shape")
    if shape and shape[0] is None:
        shape[0] = 1
    require(None not in shape, "an extent after the first is open", "fix it, as onnx.tools.update_model_dims does")
    require(all(extent > 0 for extent in shape), f"{shape} is no shape")
    return Graph(tuple(shape), TYPES[number])


def check_declared(value: onnx.ValueInfoProto, found: Value) -> None:
    """What a graph input or output declares is what was found."""
    shape, number = declared_shape(value), value.type.tensor_type.elem_type
    require(number in (0, next(key for key, name in TYPES.items() if name == found.dtype)),
            f"{type_name(number)} is declared, {found.dtype} found")  # fmt: skip
    good = shape is None or len(shape) == len(found.shape) and all(d in (None, n) for d, n in zip(shape, found.shape, strict=True))
    require(good, f"the shape {shape} is declared, {list(found.shape)} found")


def constants(names: Names, used: set[str], frozen: Mapping[str, TensorProto]) -> dict[str, Value]:
    """The initializers and frozen inputs that are looked at."""
    found: dict[str, Value] = {}
    for name, tensor in frozen.items():
        if name in used:
            with located(f"'{name}'"):
                found[name] = constant(tensor)
                check_declared(names.inputs[name], found[name])
    for name, tensors in names.initializers.items():
        if name in used and name not in frozen:
            with located(f"'{name}'"):
                found[name] = constant(tensors[0])
    return found


def import_model(model: onnx.ModelProto, frozen: Mapping[str, TensorProto] | None = None) -> Imported:
    """The graph of a model; inputs named in `frozen` are these constants. Refused where the contract does not cover it."""
    frozen, opset = frozen or {}, operator_set(model)
    names = Names(model.graph)
    for name in frozen:
        require(name in names.inputs, f"'{name}' is frozen and is no input")
    require(model.graph.output, "the model has no outputs")
    live, used = names.live_nodes()
    open_inputs = [value for name, value in names.inputs.items() if name not in names.initializers and name not in frozen]
    listed = ", ".join(f"'{value.name}'" for value in open_inputs)
    require(len(open_inputs) == 1, f"{len(open_inputs)} inputs are open ({listed})", "freeze all but one")
    known = constants(names, used, frozen)
    with located(f"input '{open_inputs[0].name}'"):
        graph = input_value(open_inputs[0])
    known[open_inputs[0].name] = graph.input
    waiting = [(place, model.graph.node[place]) for place in live]
    while waiting:
        ready = (i for i, (_, node) in enumerate(waiting) if all(name in known for name in node.input if name))
        i = next(ready, None)
        require(i is not None, "nodes wait for each other: " + "; ".join(label(*one) for one in waiting[:3]))
        place, node = waiting.pop(i)
        with located(label(place, node)):
            known.update(results(node, opset, graph, known, used))
    outputs = []
    for value in model.graph.output:
        with located(f"output '{value.name}'"):
            found = known[value.name]
            check_declared(value, found)
            outputs.append(graph.node_of(found).place)
    return Imported(*graph.live(outputs))


def results(node: NodeProto, opset: int, graph: Graph, known: dict[str, Value], used: set[str]) -> dict[str, Value]:
    """The values of the live outputs of a node."""
    require(node.domain in ("", "ai.onnx"), f"its domain is {node.domain}")
    require(node.op_type in OPERATORS, "this operator is not understood", "express it in others (docs/onnx.md lists them)")
    since, rule = OPERATORS[node.op_type]
    until = LAST.get(node.op_type, 22)
    require(since <= opset <= until, f"it is understood in operator sets {since} to {until}, not in {opset}", "export with one of them")
    check_against_schema(node, opset)
    op = Operation(
        node.op_type,
        opset,
        graph,
        [known[name] if name else None for name in node.input],
        [name in used for name in node.output],
        [name != "" for name in node.output],
        {attribute.name: attribute for attribute in node.attribute},
    )
    made = rule(op)
    op.finish()
    values = made if isinstance(made, list) else [made]
    pairs = zip(node.output, values, strict=False)
    return {name: value for name, value in pairs if name and value is not None}


