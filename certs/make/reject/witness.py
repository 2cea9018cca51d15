"""Counterexamples in exact fractions, so that a case which is to be false is false."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

from bundle import Files, elements
from digests import Property, output_ids, property_from_json, property_from_vnnlib, read_safetensors

Vector = list[Fraction]
STEPS = 20


def outputs(files: Files, names: dict[str, str], point: Vector) -> Vector:
    """The outputs of a graph of `input`, `linear`, `relu` and `detach` nodes on vectors."""
    graph = json.loads(files[names["graph"]])
    tensors = read_safetensors(files[names["payload"]])

    def numbers(node: dict, field: str) -> list:
        if field in node:
            return node[field]
        tensor = tensors[f"{node['id']}.{field}"]
        flat = elements(tensor)
        width = tensor.shape[-1]
        return flat if len(tensor.shape) == 1 else [flat[i : i + width] for i in range(0, len(flat), width)]

    values: list[Vector] = []
    for node in graph["nodes"]:
        parent = values[node["parents"][0]] if node["parents"] else point
        match node["kind"]:
            case "input" | "detach":
                values.append(parent)
            case "relu":
                values.append([max(x, Fraction(0)) for x in parent])
            case "linear":
                rows = zip(numbers(node, "weight"), numbers(node, "bias"), strict=True)
                values.append(
                    [
                        sum((Fraction(w) * x for w, x in zip(row, parent, strict=True)), Fraction(b))
                        for row, b in rows
                    ]
                )
            case kind:
                raise ValueError(f"{kind} is not evaluated here")
    return [x for place in output_ids(graph) for x in values[place]]


def unsafe(meaning: Property, x: Vector, y: Vector) -> bool:
    """Whether a point lies in the unsafe set."""

    def holds(row: tuple) -> bool:
        of_x, of_y, bound, strict = row
        total = sum((c * x[i] for i, c in of_x.items()), Fraction(0)) + sum(
            (c * y[i] for i, c in of_y.items()), Fraction(0)
        )
        return total < bound or (total == bound and not strict)

    return any(all(map(holds, disjunct)) for disjunct in meaning.unsafe)


def witness(files: Files) -> Vector | None:
    """A counterexample on a grid of the region, if there is one."""
    names = json.loads(files["bundle.json"])["files"]
    text = files[names["property"]]
    meaning = (property_from_json if names["property"].endswith(".json") else property_from_vnnlib)(text)
    ends = zip(meaning.lower, meaning.upper, strict=True)
    axes = [[low + (high - low) * k / STEPS for k in range(STEPS + 1)] for low, high in ends]
    points = map(list, product(*axes))
    return next((x for x in points if unsafe(meaning, x, outputs(files, names, x))), None)
