"""Canonical bytes and digests of a bundle, written from `schemas/SPEC.md` alone with the Python standard library.

`python3 digests.py CASE…` prints the claim digest of bundles, graphs and enclosures; the digests that a bundle records must be those
computed here."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from operator_fields import FIELDS, attributes, shape

Row = tuple[dict[int, Fraction], dict[int, Fraction], Fraction, bool]
"""Coefficients of x, coefficients of y, bound, strict."""

@dataclass(frozen=True)
class Tensor:
    """A tensor of a safetensors file: its type, its shape, its little-endian bytes."""

    dtype: str
    shape: list[int]
    data: bytes


@dataclass(frozen=True)
class Property:
    """The region and the unsafe set."""

    lower: list[Fraction]
    upper: list[Fraction]
    outputs: int
    unsafe: list[list[Row]]
    ball: tuple[int, list[Fraction], Fraction] | None = None
    constraints: tuple[Row, ...] = ()
    nodes: tuple[int, ...] | None = None
    """The nodes whose coordinates y are, where these are not the outputs."""


# ---- canonical bytes ----


def u64(value: int) -> bytes:
    """Eight bytes, little endian."""
    return value.to_bytes(8, "little")


def text(value: str) -> bytes:
    """`str(s)`."""
    return u64(len(value.encode())) + value.encode()


def listing(items: Iterable[bytes]) -> bytes:
    """`list`."""
    items = list(items)
    return u64(len(items)) + b"".join(items)


def integer(value: int) -> bytes:
    """`int(z)`."""
    if value == 0:
        return b"\0"
    magnitude = abs(value)
    size = (magnitude.bit_length() + 7) // 8
    return (b"\1" if value > 0 else b"\2") + u64(size) + magnitude.to_bytes(size, "little")


def rational(value: Fraction) -> bytes:
    """`rat(p/q)`."""
    return integer(value.numerator) + integer(value.denominator)


def digest(name: str, *parts: bytes, version: int = 1) -> str:
    """SHA-256 over the domain tag and the parts, in hexadecimal."""
    return hashlib.sha256(text(f"certkern/{name}/{version}") + b"".join(parts)).hexdigest()


# ---- graph and payload ----


def output_ids(graph: dict) -> list[int]:
    """The outputs of a graph in either spelling."""
    return graph["output_ids"] if "output_ids" in graph else [graph["output_id"]]


def parent_shape(node: dict, nodes: list[dict]) -> list[int]:
    """The shape of the first parent; that of a scalar where there is none."""
    return shape(nodes[node["parents"][0]]) if node["parents"] else []


def attribute(name: str, value: int | list[int]) -> bytes:
    """One attribute."""
    if isinstance(value, list):
        return text(name) + b"\1" + listing(map(u64, value))
    return text(name) + b"\0" + u64(value)


def graph_digest(graph: dict) -> str:
    """The digest of a graph."""
    nodes = [
        text(node["kind"])
        + listing(map(u64, node["parents"]))
        + listing(map(u64, shape(node)))
        + listing(
            attribute(name, value)
            for name, value in sorted(attributes(node, parent_shape(node, graph["nodes"])).items())
        )
        for node in graph["nodes"]
    ]
    return digest("graph", u64(graph["input_id"]), listing(map(u64, output_ids(graph))), listing(nodes))


def flat(values: list | float | str) -> list:
    """The numbers of a nested array, row by row."""
    return [x for value in values for x in flat(value)] if isinstance(values, list) else [values]


def payload_digest(graph: dict, tensors: dict[str, Tensor]) -> str:
    """The digest of the payload: the tensors of the file and the fields in the nodes."""
    entries: dict[tuple[int, str], Tensor] = {}
    for name, tensor in tensors.items():
        place, field = name.split(".")
        entries[int(place), field] = tensor
    for place, node in enumerate(graph["nodes"]):
        for field, extents in FIELDS.get(node["kind"], {}).items():
            if field in node:
                values = flat(node[field])
                if values and all(isinstance(value, str) for value in values):
                    dtype, data = "exact", b"".join(rational(number(value)) for value in values)
                else:
                    dtype, data = "F64", struct.pack(f"<{len(values)}d", *map(float, values))
                entries[place, field] = Tensor(dtype, extents(node, parent_shape(node, graph["nodes"])), data)
    types = {"F32": "binary32", "F64": "binary64", "exact": "exact"}
    return digest(
        "payload",
        listing(
            u64(place) + text(field) + text(types[t.dtype]) + listing(map(u64, t.shape)) + t.data
            for (place, field), t in sorted(entries.items())
        ),
    )


# ---- property ----


def input_digest(meaning: Property) -> str:
    """The digest of the region."""
    ends = zip(meaning.lower, meaning.upper, strict=True)
    box = listing(rational(low) + rational(high) for low, high in ends)
    if meaning.ball is None and not meaning.constraints:
        return digest("input", box)
    ball = b"\0"
    if meaning.ball is not None:
        norm, center, radius = meaning.ball
        ball = bytes([norm]) + b"".join(map(rational, [*center, radius]))
    return digest("input", box, ball, listing(map(row_bytes, meaning.constraints)), version=2)


def row_bytes(value: Row) -> bytes:
    """The bytes of a row."""
    x, y, bound, strict = value
    terms = [b"\0" + u64(i) + rational(c) for i, c in sorted(x.items())]
    terms += [b"\1" + u64(i) + rational(c) for i, c in sorted(y.items())]
    return listing(terms) + rational(bound) + (b"\1" if strict else b"\0")


def output_digest(meaning: Property, outputs: list[int]) -> str:
    """The digest of the output ids and the whole unsafe set."""
    disjuncts = listing(listing(map(row_bytes, disjunct)) for disjunct in meaning.unsafe)
    widths = u64(len(meaning.lower)) + u64(meaning.outputs)
    return digest("output", listing(map(u64, outputs)), widths, disjuncts)


def number(value: str | Fraction) -> Fraction:
    """The exact number that a JSON number or a string spells."""
    if isinstance(value, Fraction):
        return value
    hexadecimal = re.fullmatch(r"([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)", value)
    if not hexadecimal:
        return Fraction(value)
    sign, whole, part, exponent = hexadecimal.groups()
    mantissa = Fraction(int(whole + part or "0", 16), 16 ** len(part))
    return (-1 if sign == "-" else 1) * mantissa * Fraction(2) ** int(exponent)


def property_from_json(data: bytes) -> Property:
    """A property in JSON."""
    document = json.loads(data, parse_float=Fraction, parse_int=Fraction)

    def terms(entries: dict[str, str | Fraction]) -> dict[int, Fraction]:
        values = {int(place): number(value) for place, value in entries.items()}
        return {place: value for place, value in values.items() if value != 0}

    unsafe = [
        [
            (terms(row.get("x", {})), terms(row.get("y", {})), number(row["bound"]), row["strict"])
            for row in disjunct
        ]
        for disjunct in document["unsafe"]
    ]
    lower, upper = ([number(value) for value in document[end]] for end in ("lower", "upper"))
    return Property(lower, upper, int(document["outputs"]), unsafe)


def property_from_vnnlib(data: bytes) -> Property:
    """A property in VNN-LIB 1.0."""
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", data.decode()))
    stack: list[list] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    widths = {"X": 0, "Y": 0}
    unsafe: list[list[Row]] = [[]]
    for command in stack[0]:
        if command[0] == "declare-const":
            widths[command[1][0]] += 1
        elif command[0] == "assert":
            disjuncts = _disjuncts(command[1])
            unsafe = [left + right for left in unsafe for right in disjuncts]
        else:
            raise ValueError(f"{command[0]} is not read here")
    lower, upper = _hull(unsafe, widths["X"])
    return Property(lower, upper, widths["Y"], unsafe)


Linear = tuple[dict[str, Fraction], Fraction]
"""Coefficients of the variables, and the constant."""


def _combine(left: Linear, right: Linear, scale: Fraction) -> Linear:
    """`left + scale · right`."""
    terms = dict(left[0])
    for name, value in right[0].items():
        terms[name] = terms.get(name, Fraction(0)) + scale * value
    return terms, left[1] + scale * right[1]


def _linear(term: str | list) -> Linear:
    """A linear expression."""
    if isinstance(term, str):
        if term[0] in "XY":
            return {term: Fraction(1)}, Fraction(0)
        return {}, Fraction(term)
    operator, *parts = term
    values = [_linear(part) for part in parts]
    if operator == "-" and len(values) == 1:
        return _combine(({}, Fraction(0)), values[0], Fraction(-1))
    result = values[0]
    for value in values[1:]:
        if operator in "+-":
            result = _combine(result, value, Fraction(1 if operator == "+" else -1))
        else:
            constant, other = (result, value) if not result[0] else (value, result)
            if constant[0]:
                raise ValueError("a product of two variables")
            result = _combine(({}, Fraction(0)), other, constant[1])
    return result


def _row(left: Linear, right: Linear, strict: bool) -> Row:
    """The row `left − right ≤ 0` with the constants on the right."""
    terms, constant = _combine(left, right, Fraction(-1))
    sides: dict[str, dict[int, Fraction]] = {"X": {}, "Y": {}}
    for name, value in terms.items():
        if value != 0:
            sides[name[0]][int(name[2:])] = value
    return sides["X"], sides["Y"], -constant, strict


def _disjuncts(formula: list) -> list[list[Row]]:
    """The disjunctive form of a formula."""
    operator, *parts = formula
    if operator == "or":
        return [disjunct for part in parts for disjunct in _disjuncts(part)]
    if operator == "and":
        result: list[list[Row]] = [[]]
        for part in parts:
            result = [left + right for left in result for right in _disjuncts(part)]
        return result
    left, right = (_linear(part) for part in parts)
    match operator:
        case "<=" | "<":
            return [[_row(left, right, operator == "<")]]
        case ">=" | ">":
            return [[_row(right, left, operator == ">")]]
        case "=":
            return [[_row(left, right, False), _row(right, left, False)]]
    raise ValueError(f"{operator} is not read here")


def _hull(unsafe: list[list[Row]], inputs: int) -> tuple[list[Fraction], list[Fraction]]:
    """For each input coordinate the hull over the disjuncts of its single-variable bounds."""
    ends: tuple[list[list[Fraction]], list[list[Fraction]]] = (
        [[] for _ in range(inputs)],
        [[] for _ in range(inputs)],
    )
    for disjunct in unsafe:
        bounds: list[tuple[list[Fraction], list[Fraction]]] = [([], []) for _ in range(inputs)]
        for x, y, bound, _ in disjunct:
            if len(x) == 1 and not y:
                ((place, value),) = x.items()
                bounds[place][0 if value < 0 else 1].append(bound / value)
        for place, (low, high) in enumerate(bounds):
            ends[0][place].append(max(low))
            ends[1][place].append(min(high))
    return [min(low) for low in ends[0]], [max(high) for high in ends[1]]


# ---- bundles ----


def read_safetensors(data: bytes) -> dict[str, Tensor]:
    """The tensors of a file, in the order of the header."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header: dict = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {
        name: Tensor(entry["dtype"], entry["shape"], data[begin:][slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def document_digests(graph: dict, tensors: dict[str, Tensor], meaning: Property) -> dict[str, str]:
    """The four digests by role."""
    return {
        "graph": graph_digest(graph),
        "payload": payload_digest(graph, tensors),
        "input": input_digest(meaning),
        "output": output_digest(meaning, output_ids(graph) if meaning.nodes is None else list(meaning.nodes)),
    }


def property_on_region(region: bytes, outputs: int, unsafe: list[list[Row]]) -> Property:
    """An unsafe set of the inputs of a region."""
    box = json.loads(region, parse_float=Fraction, parse_int=Fraction)
    if "center" in box:
        radius = number(box["radius" if "ball" in box else "eps"])
        center = [number(value) for value in box["center"]]
        lower, upper = ([c + sign * radius for c in center] for sign in (-1, 1))
    else:
        lower, upper = ([number(value) for value in box[end]] for end in ("lo", "hi"))
    ball = ({"l1": 1, "l2": 2}[box["ball"]], center, radius) if "ball" in box else None
    constraints = tuple(
        (nonzero(each["row"], Fraction(1)), {}, number(each["rhs"]), False) for each in box.get("constraints", [])
    )
    return Property(lower, upper, outputs, unsafe, ball, constraints)


def nonzero(values: list, sign: Fraction) -> dict[int, Fraction]:
    """Coefficients by place, those that are zero left out."""
    return {place: sign * number(value) for place, value in enumerate(values) if number(value) != 0}


def property_from_nodes(region: bytes, bounds: bytes) -> Property:
    """Where bounds of nodes fail, on a region."""
    document = json.loads(bounds, parse_float=Fraction, parse_int=Fraction)
    unsafe: list[list[Row]] = []
    outputs = 0
    for node in document["nodes"]:
        for form, keys in (("ibp", ("lo", "hi")), ("crown", ("loC", "hiC"))):
            if form not in node:
                continue
            low, high = (node[form][key] for key in keys)
            for place in range(len(low)):
                for key, constant, sign in (("loA", low[place], 1), ("hiA", high[place], -1)):
                    row = node[form].get(key, [[]] * len(low))[place]
                    x, y = nonzero(row, Fraction(-sign)), {outputs + place: Fraction(sign)}
                    unsafe.append([(x, y, sign * number(constant), True)])
        outputs += len(low)
    ids = tuple(int(node["id"]) for node in document["nodes"])
    return replace(property_on_region(region, outputs, unsafe), nodes=ids)


def property_from_bounds(region: bytes, bounds: bytes) -> Property:
    """What lies outside bounds of the outputs, on a region."""
    document = json.loads(bounds, parse_float=Fraction, parse_int=Fraction)
    several = [v if isinstance(v, list) else [v] for v in (document["lower"], document["upper"])]
    unsafe: list[list[Row]] = []
    for output, (low, high) in enumerate(zip(*several, strict=True)):
        unsafe.append([({}, {output: Fraction(1)}, number(low), True)])
        unsafe.append([({}, {output: Fraction(-1)}, -number(high), True)])
    return property_on_region(region, len(several[0]), unsafe)


def bundle_digests(read: Callable[[str], bytes], files: dict[str, str]) -> dict[str, str]:
    """The four digests of a bundle, whose files `read` gives by name."""
    graph = json.loads(read(files["graph"]))
    tensors = read_safetensors(read(files["payload"]))
    if "bound" in files:
        meaning = property_from_bounds(read(files["region"]), read(files["bound"]))
    elif "nodes" in files:
        meaning = property_from_nodes(read(files["region"]), read(files["nodes"]))
    else:
        name = files["property"]
        meaning = (property_from_json if name.endswith(".json") else property_from_vnnlib)(read(name))
    return document_digests(graph, tensors, meaning)


def claim_digest(kind: str, proposition: str, digests: dict[str, str]) -> str:
    """The claim digest of a bundle."""
    parts = [
        bytes.fromhex(digests[role]) for role in ("graph", "payload", "input", "output") if role in digests
    ]
    return digest("claim", text(kind), text(proposition), *parts)


def bundle_claim(folder: Path) -> str:
    """The claim digest of a bundle, whose recorded digests must be the computed ones."""
    manifest = json.loads((folder / "bundle.json").read_bytes())
    computed = bundle_digests(lambda name: (folder / name).read_bytes(), manifest["files"])
    for role, value in manifest["digests"].items():
        if computed[role] != value:
            raise SystemExit(f"{folder}: {role}: {value} is recorded, {computed[role]} computed")
    proposition = {"bound": "bound", "leaves": "unsat", "nodes": "nodes", "witness": "sat"}[manifest["kind"]]
    return claim_digest(manifest["kind"], proposition, computed)


def graph_claim(graph: dict, kind: str, proposition: str) -> str:
    """The claim digest of a claim about a graph with its numbers in the nodes."""
    digests = {"graph": graph_digest(graph), "payload": payload_digest(graph, {})}
    return claim_digest(kind, proposition, digests)


# ---- enclosures ----


def query_digest(query: dict) -> str:
    """The digest of a query whose numbers were read as fractions or strings."""
    nodes = (
        text(node["op"])
        + listing(u64(int(place)) for place in node.get("args", []))
        + listing(rational(number(value)) for value in node.get("numbers", []))
        for node in query["nodes"]
    )
    return digest("query", listing(nodes), listing(u64(int(place)) for place in query["outputs"]))


def ball(value: dict | list) -> tuple[Fraction, Fraction]:
    """Midpoint and radius in any of the three spellings."""
    if isinstance(value, list):
        mid, mid_exponent, rad, rad_exponent = map(number, value)
        return mid * Fraction(2) ** int(mid_exponent), rad * Fraction(2) ** int(rad_exponent)
    scale = Fraction(10) ** int(number(value["exp"])) if "exp" in value else 1
    return number(value["mid"]) * scale, number(value["rad"]) * scale


def answer_digest(values: list[dict | list]) -> str:
    """The digest of balls."""
    return digest("answer", listing(rational(mid) + rational(rad) for mid, rad in map(ball, values)))


def enclosure_claim(path: Path) -> str:
    """The claim digest of an enclosure, whose answer must name the digest of its query."""
    document = json.loads(path.read_bytes(), parse_float=Fraction, parse_int=Fraction)
    query, answer = query_digest(document["query"]), document["answer"]
    if answer["query"] != query:
        raise SystemExit(f"{path}: {answer['query']} is named, {query} computed")
    parts = bytes.fromhex(query), bytes.fromhex(answer_digest(answer["values"]))
    return digest("claim", text("enclosure"), text("enclosure"), *parts)


def document_claim(path: Path) -> str:
    """The claim digest of a claim in one document."""
    document = json.loads(path.read_bytes())
    match document.get("format"):
        case "certkern.enclosure.v1":
            return enclosure_claim(path)
        case "certkern.monotone.v1":
            return graph_claim(document["graph"], "monotone", "monotone")
        case _:
            return graph_claim(document, "graph", "well-shaped")


def main(cases: list[Path]) -> None:
    """Print the claim digest of every bundle and document."""
    for case in cases:
        print(case, bundle_claim(case) if case.is_dir() else document_claim(case))


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
