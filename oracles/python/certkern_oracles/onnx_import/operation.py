"""One node of the model while it is imported: its inputs and its attributes, each of which is used or refused."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import AttributeProto

from .graph import Graph
from .refusal import Refused, require
from .values import Constant, Value

KINDS = {AttributeProto.INT: "int", AttributeProto.INTS: "ints", AttributeProto.FLOAT: "float", AttributeProto.FLOATS: "floats",
         AttributeProto.STRING: "string", AttributeProto.TENSOR: "tensor"}  # fmt: skip


@dataclass
class Operation:
    """A live node. `live[i]` says whether output i is a graph output or read by a live node, `named[i]` whether it has a name."""

    kind: str
    opset: int
    graph: Graph
    inputs: list[Value | None]
    live: list[bool]
    named: list[bool]
    attributes: dict[str, AttributeProto]
    used: set[str] = field(default_factory=set)

    # ---- attributes ----

    def attribute(self, name: str, kind: str) -> AttributeProto | None:
        """The attribute, if it is there, of the kind that it must have."""
        self.used.add(name)
        found = self.attributes.get(name)
        require(found is None or KINDS.get(found.type) == kind, f"attribute {name} is not of type {kind}")
        return found

    def int(self, name: str, default: int) -> int:
        found = self.attribute(name, "int")
        return default if found is None else found.i

    def ints(self, name: str) -> list[int] | None:
        found = self.attribute(name, "ints")
        return None if found is None else list(found.ints)

    def flag(self, name: str, default: bool = False) -> bool:
        return self.int(name, int(default)) != 0

    def number(self, name: str, default: float) -> np.ndarray:
        """A number as a float32 of shape []; the default is the float32 nearest."""
        found = self.attribute(name, "float")
        return np.array(default if found is None else found.f, dtype=np.float32)

    def text(self, name: str, default: str) -> str:
        found = self.attribute(name, "string")
        return default if found is None else found.s.decode("utf-8", "replace")

    def ignore(self, *names: str) -> None:
        """Attributes that mean nothing here."""
        self.used.update(names)

    def finish(self) -> None:
        """Every attribute was used."""
        unused = sorted(self.attributes.keys() - self.used)
        require(not unused, f"attribute {', '.join(unused)} is not understood", f"export without it, or with operator set {self.opset}'s meaning")

    # ---- inputs and outputs ----

    def optional(self, i: int) -> Value | None:
        return self.inputs[i] if i < len(self.inputs) else None

    def input(self, i: int) -> Value:
        value = self.optional(i)
        if value is None:
            raise Refused(f"input {i} is absent")
        return value

    def all_inputs(self) -> list[Value]:
        return [self.input(i) for i in range(len(self.inputs))]

    def constant(self, i: int, what: str) -> Constant:
        """An input that must be constant."""
        value = self.input(i)
        if not isinstance(value, Constant):
            raise Refused(f"its {what} (input {i}) is computed", "fold constants before the import, or freeze the input that it comes from")
        return value

    def integers(self, i: int, what: str, types: tuple[str, ...] = ("int64",)) -> list[int]:
        """An input that must be a constant list of integers."""
        value = self.constant(i, what)
        require(value.dtype in types and len(value.shape) == 1, f"its {what} (input {i}) is no list of {' or '.join(types)}")
        return value.integers()

    def only_first_output(self) -> None:
        require(not any(self.live[1:]), "an output other than the first is used")

    # ---- axes ----

    def axis(self, axis: int, rank: int) -> int:
        """The place of an axis among `rank`."""
        require(axis >= 0 or self.opset >= 11, f"axis {axis} is below 0 before operator set 11", "export with a later operator set")
        require(-rank <= axis < rank, f"axis {axis} is none of {rank}")
        return axis % rank

    def axes(self, axes: list[int], rank: int) -> list[int]:
        """The places of axes among `rank`, each named once."""
        places = [self.axis(axis, rank) for axis in axes]
        require(len(set(places)) == len(places), f"an axis stands twice in {axes}")
        return places


def check_against_schema(node: onnx.NodeProto, opset: int) -> None:
    """Attributes, and the numbers of inputs and outputs, are those that ONNX lists for the operator in this set."""
    schema = onnx.defs.get_schema(node.op_type, opset, "")
    names = [attribute.name for attribute in node.attribute]
    require(len(set(names)) == len(names), "an attribute stands twice")
    for attribute in node.attribute:
        known = schema.attributes.get(attribute.name)
        require(known is not None, f"{node.op_type} has no attribute {attribute.name} in operator set {opset}")
        require(not attribute.ref_attr_name, f"attribute {attribute.name} refers to another")
    require(schema.min_input <= len(node.input) <= schema.max_input, f"{len(node.input)} inputs are too few or too many")
    require(schema.min_output <= len(node.output) <= schema.max_output, f"{len(node.output)} outputs are too few or too many")
