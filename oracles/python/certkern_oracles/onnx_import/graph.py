"""The graph while it is made (schemas/SPEC.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .refusal import require
from .values import FLOATS, Computed, Constant, Shape, Value


@dataclass
class Node:
    """A node: attributes as in the JSON document, payload fields as arrays of float32 or float64."""

    kind: str
    parents: list[int]
    shape: Shape
    attributes: dict[str, int | bool | list[int]] = field(default_factory=dict)
    fields: dict[str, np.ndarray] = field(default_factory=dict)


class Graph:
    """Nodes in the order in which they were made."""

    def __init__(self, shape: Shape, dtype: str) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[tuple[Constant, Shape], Computed] = {}
        self.input = self._push(Node("input", [], shape), dtype)

    def _push(self, node: Node, dtype: str) -> Computed:
        require(all(extent > 0 for extent in node.shape), f"a value of shape {list(node.shape)} has no elements")
        numbers = node.fields.values()
        require(all(array.dtype.name in FLOATS for array in numbers), "its numbers are no floats", "use float32 or float64")
        require(all(np.isfinite(array).all() for array in numbers), "a number is infinite or none at all")
        self.nodes.append(node)
        return Computed(len(self.nodes) - 1, node.shape, dtype)

    def add(self, kind: str, parents: list[Computed], shape: Shape | None = None, fields: dict[str, np.ndarray] | None = None,
            **attributes: int | bool | list[int]) -> Computed:  # fmt: skip
        """A new node, of the type of its first parent, and of its shape where none is given."""
        first = parents[0]
        places = [parent.place for parent in parents]
        return self._push(Node(kind, places, first.shape if shape is None else tuple(shape), attributes, fields or {}), first.dtype)

    def generated(self, array: np.ndarray) -> Computed:
        """A new `const` node."""
        return self._push(Node("const", [], array.shape, {}, {"values": array}), array.dtype.name)

    def spread(self, value: Value, shape: Shape) -> Computed:
        """The value repeated to a shape: itself, a `broadcast_to`, or the `const` node of a constant in that shape."""
        if isinstance(value, Computed):
            if value.shape == shape:
                return value
            return self.add("broadcast_to", [value], shape, from_shape=list(value.shape), to_shape=list(shape))
        key = (value, shape)
        if key not in self.constants:
            # A lone number may stand in more axes than it is wanted in.
            array = value.array.reshape(()) if value.array.size == 1 else value.array
            self.constants[key] = self.generated(np.broadcast_to(array, shape))
        return self.constants[key]

    def node_of(self, value: Value) -> Computed:
        """The node of a value; of a constant its `const` node in its own shape."""
        return self.spread(value, value.shape)

    def hand_on(self, value: Value) -> Value:
        """The same value under a new name."""
        return self.add("detach", [value]) if isinstance(value, Computed) else value

    def live(self, outputs: list[int]) -> tuple[list[Node], list[int]]:
        """The nodes from which an output can be reached, and node 0, with the places of the outputs among them."""
        needed, open_places = {0}, list(outputs)
        while open_places:
            place = open_places.pop()
            if place not in needed:
                needed.add(place)
                open_places += self.nodes[place].parents
        new = {place: i for i, place in enumerate(sorted(needed))}
        kept = [self.nodes[place] for place in new]
        nodes = [Node(n.kind, [new[p] for p in n.parents], n.shape, n.attributes, n.fields) for n in kept]
        return nodes, [new[place] for place in outputs]
