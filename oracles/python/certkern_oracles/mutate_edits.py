"""Accepted cases in memory, and the single edits that `mutate` makes of them.

An edit is a function of a case and a source of random numbers; it raises `Inapplicable` where it finds nothing to
edit. What it leaves behind need not be well-formed.
"""

import json
import math
import re
import struct
from fractions import Fraction
from pathlib import Path

from . import reference
from . import reference_graph as graphs
from .reference_read import FORMATS, read_json, read_tensors


class Inapplicable(Exception):
    """The case has nothing that the family edits."""


def pick(rng, items):
    items = list(items)
    if not items:
        raise Inapplicable
    return rng.choice(items)


# Cases in memory -----------------------------------------------------------------------------------------------------


class Case:
    """The files of a case by name; a family edits them in place."""

    def __init__(self, path):
        path = Path(path)
        self.folder = path.is_dir()
        listed = sorted(path.iterdir()) if self.folder else [path]
        self.files = {p.name: p.read_bytes() for p in listed}

    def copy(self):
        other = Case.__new__(Case)
        other.folder, other.files = self.folder, dict(self.files)
        return other

    @property
    def manifest(self):
        if not self.folder:
            raise Inapplicable
        return json.loads(self.files["bundle.json"])

    @property
    def kind(self):
        return self.manifest["kind"] if self.folder else "graph"

    def name(self, role):
        if role == "manifest":
            return "bundle.json" if self.folder else pick(None, ())
        if not self.folder:
            return next(iter(self.files)) if role == "graph" else pick(None, ())
        return self.manifest["files"].get(role) or pick(None, ())

    def bytes(self, role):
        return self.files[self.name(role)]

    def put(self, role, data):
        self.files[self.name(role)] = data

    def json(self, role):
        return json.loads(self.bytes(role))

    def put_json(self, role, document):
        self.put(role, json.dumps(document).encode())

    def tensors(self, role):
        """name: [type, shape, bytes], in order of the file."""
        return {name: [t.dtype, list(t.shape), t.data] for name, t in read_tensors(self.bytes(role)).items()}

    def put_tensors(self, role, tensors):
        header, body = {}, b""
        for name, (dtype, shape, data) in tensors.items():
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
            body += data
        self.put_parts(role, header, body)

    def parts(self, role):
        """Header and body of a safetensors file."""
        data = self.bytes(role)
        (length,) = struct.unpack("<Q", data[:8])
        return json.loads(data[8 : 8 + length]), data[8 + length :]

    def put_parts(self, role, header, body):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self.put(role, struct.pack("<Q", len(text)) + text + body)

    def write(self, place):
        """The path of the case, written under the folder `place`."""
        for name, data in self.files.items():
            (Path(place) / name).write_bytes(data)
        return Path(place) if self.folder else Path(place) / next(iter(self.files))

    def read(self):
        """Graph and property (None for kind `graph`) by the reference; raises `Rejected`."""
        graph = graphs.read_graph(read_json(self.bytes("graph")))
        if not self.folder:
            graphs.read_payload(graph, {})
            return graph, None
        graphs.read_payload(graph, read_tensors(self.bytes("payload")))
        return graph, reference.read_property(self.name("property"), self.bytes("property"))

    def bind(self):
        """Writes the digests of the documents as they are now."""
        graph, prop = self.read()
        manifest = self.manifest
        manifest["digests"] = reference.digests(graph, prop)
        self.put_json("manifest", manifest)


# Values --------------------------------------------------------------------------------------------------------------


def ulp(value, dtype, rng):
    """A neighbour of a float of the type."""
    if dtype == "F64":
        return math.nextafter(value, pick(rng, (-math.inf, math.inf)))
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    step = pick(rng, (-1, 1)) if bits & 0x7FFFFFFF else 1
    return struct.unpack("<f", struct.pack("<I", bits + step))[0]


def last_digit(text, rng):
    """A decimal, a quotient or a hexadecimal with its last digit moved by one."""
    step = pick(rng, (-1, 1))
    match = re.fullmatch(r"(-?)(0[xX])?([0-9a-fA-F]*?)(\.?)([0-9a-fA-F]*)((?:[pPeE][-+]?[0-9]+|/[0-9]+)?)", text)
    sign, base, whole, point, rest, tail = match.groups(default="")
    digits = int(whole + rest, 16 if base else 10) * (-1 if sign else 1) + step
    moved = format(abs(digits), "x" if base else "d").zfill(len(rest) + 1)
    at = len(moved) - len(rest)
    return ("-" if digits < 0 else "") + base + moved[:at] + point + moved[at:] + tail


def unpack(tensor):
    dtype, shape, data = tensor
    return list(struct.unpack(f"<{math.prod(shape)}{FORMATS[dtype]}", data))


def pack(tensor, values):
    """The tensor with these values; one axis is made to fit."""
    dtype, shape, _ = tensor
    shape = [len(values)] if len(shape) == 1 else shape
    return [dtype, shape, struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)]


# Edits of the graph and its payload ----------------------------------------------------------------------------------


def node_edit(edit):
    """One node of the graph, by `edit(node, nodes, rng)`."""

    def apply(case, rng):
        document = case.json("graph")
        edit(pick(rng, document["nodes"]), document["nodes"], rng)
        case.put_json("graph", document)

    return apply


def other_kind(node, _, rng):
    swaps = {"relu": ["detach", "tanh"], "add": ["sub"], "sub": ["add"], "detach": ["relu"]}
    kinds = [k for k in graphs.OPERATORS if k != node["kind"]]
    node["kind"] = pick(rng, swaps.get(node["kind"], kinds))


def other_parent(node, nodes, rng):
    place = pick(rng, range(len(node["parents"])))
    node["parents"][place] = pick(rng, [n for n in range(len(nodes)) if n != node["parents"][place]])


def swapped_parents(node, _, rng):
    parents = node["parents"]
    if len(set(parents)) < 2:
        raise Inapplicable
    parents.reverse()


def other_shape(node, _, rng):
    axis = pick(rng, range(len(node["shape"])))
    node["shape"][axis] = pick(rng, (0, node["shape"][axis] + 1, 1 << 31))


def more_axes(node, _, rng):
    node["shape"].insert(pick(rng, (0, len(node["shape"]))), 1)


def attribute(node, _, rng):
    key = pick(rng, [k for k, v in node.items() if k not in ("id", "kind", "parents", "shape", *graphs.COMMON)
                     and k not in ("weight", "bias", "values")])  # fmt: skip
    if isinstance(node[key], list):
        node[key] = pick(rng, ([n + 1 for n in node[key]], node[key][:-1], node[key] + [1]))
    else:
        node[key] = pick(rng, (node[key] + 1, 0))


def unknown_attribute(node, _, rng):
    node[pick(rng, ("alpha", "axis_", "in_dims"))] = 1


def producer_string(node, _, rng):
    node["onnx_name"] = pick(rng, ("another", "", "é"))


def output_ids(case, rng):
    document = case.json("graph")
    ids, count = document.pop("output_ids", None) or [document.pop("output_id")], len(document["nodes"])
    others = [[n] for n in range(count + 1) if [n] != ids]
    document["output_ids"] = pick(rng, [*others, [], ids + ids, [-1]])
    case.put_json("graph", document)


def weight(change):
    """One float of the payload, in its file or in a node, by `change(value, type, rng)`."""

    def apply(case, rng):
        document = case.json("graph")
        inside = [(n, f) for n in document["nodes"] for f in ("weight", "bias", "values") if f in n]
        tensors = case.tensors("payload") if case.folder else {}
        place = pick(rng, [*inside, *tensors])
        if isinstance(place, str):
            values = unpack(tensors[place])
            k = pick(rng, range(len(values)))
            values[k] = change(values[k], tensors[place][0], rng)
            tensors[place] = pack(tensors[place], values)
            case.put_tensors("payload", tensors)
            return
        node, name = place
        items = node[name]
        while isinstance(items[0], list):
            items = pick(rng, items)
        k = pick(rng, range(len(items)))
        items[k] = change(float(items[k]), "F64", rng)
        case.put_json("graph", document)

    return apply


def any_byte(role):
    """One byte of the tensors themselves."""

    def apply(case, rng):
        header, body = case.parts(role)
        k = pick(rng, range(len(body)))
        case.put_parts(role, header, body[:k] + bytes([body[k] ^ (1 << rng.randrange(8))]) + body[k + 1 :])

    return apply


# Edits of the property -----------------------------------------------------------------------------------------------


def property_edit(edit):
    """The property in its JSON form (a VNN-LIB file is brought to it), by `edit(document, rng)`."""

    def apply(case, rng):
        _, prop = case.read()
        if prop is None:
            raise Inapplicable
        document = {"format": "certkern.property.v1", "outputs": prop.outputs,
                    "lower": [str(low) for low, _ in prop.box], "upper": [str(high) for _, high in prop.box],
                    "unsafe": [[{**{side: {str(v[1]): str(c) for v, c in row.terms if v[0] == side} for side in "xy"},
                                 "bound": str(row.bound), "strict": row.strict} for row in d]
                               for d in prop.unsafe]}  # fmt: skip
        edit(document, rng)
        manifest = case.manifest
        del case.files[manifest["files"]["property"]]
        manifest["files"]["property"] = "property.json"
        case.put_json("manifest", manifest)
        case.put_json("property", document)

    return apply


def moved(number, rng):
    return str(Fraction(number) + pick(rng, (-1, 1)) * Fraction(1, 10 ** pick(rng, (0, 1, 3, 9, 18))))


def region_end(document, rng):
    ends = document[pick(rng, ("lower", "upper"))]
    k = pick(rng, range(len(ends)))
    ends[k] = moved(ends[k], rng)


def row_edit(edit):
    """One row, by `edit(row, rows, rng)`."""

    def apply(document, rng):
        rows = pick(rng, document["unsafe"])
        edit(pick(rng, rows), rows, rng)

    return property_edit(apply)


def row_bound(row, _, rng):
    row["bound"] = moved(row["bound"], rng)


def coefficient(change):
    def edit(row, _, rng):
        side, index = pick(rng, [(side, i) for side in "xy" for i in row[side]])
        row[side][index] = str(change(Fraction(row[side][index]), rng))

    return edit


def strictness(row, _, rng):
    row["strict"] = not row["strict"]


def other_variable(row, _, rng):
    side, index = pick(rng, [(side, i) for side in "xy" for i in row[side]])
    row[side][str(int(index) + 1)] = row[side].pop(index)


def drop(items, rng):
    items.pop(pick(rng, range(len(items))))


def double(items, rng):
    items.insert(rng.randrange(len(items) + 1), pick(rng, items))


def text_edit(pattern, replacement):
    """One place of a VNN-LIB file that the pattern finds, by `replacement(text, rng)`."""

    def apply(case, rng):
        if not case.name("property").endswith(".vnnlib"):
            raise Inapplicable
        text = case.bytes("property").decode()
        match = pick(rng, re.finditer(pattern, text))
        case.put("property", (text[: match.start()] + replacement(match[0], rng) + text[match.end() :]).encode())

    return apply


NUMBER = r"(?<=[ (])-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?=[ )])"
COMPARISON = r"\((?:<=|>=|<|>) [^()]+\)"
FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "<="}
STRICT = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "=": "<"}

# Edits of the certificate --------------------------------------------------------------------------------------------


def hint(pattern, change):
    """One tensor of the hints whose name matches, by `change(values, rng, tensor)`, which returns the values."""

    def apply(case, rng):
        tensors = case.tensors("hints")
        name = pick(rng, [n for n, t in tensors.items() if re.fullmatch(pattern, n) and t[2]])
        tensors[name] = pack(tensors[name], change(unpack(tensors[name]), rng, tensors[name]))
        case.put_tensors("hints", tensors)

    return apply


def one(*values):
    """One element becomes one of these."""

    def change(items, rng, _):
        k = pick(rng, range(len(items)))
        items[k] = pick(rng, [v for v in values if v != items[k] or math.isnan(v)])
        return items

    return change


def every(value):
    return lambda items, rng, _: [value] * len(items)


def one_ulp(items, rng, tensor):
    k = pick(rng, range(len(items)))
    items[k] = ulp(items[k], tensor[0], rng)
    return items


def one_step(items, rng, _):
    k = pick(rng, range(len(items)))
    items[k] = items[k] - 1 if items[k] and rng.random() < 0.5 else items[k] + 1
    return items


def exchanged(items, rng, tensor):
    """Two leaves (rows of a table, elements of a list) change places."""
    rows, width = tensor[1][0], math.prod(tensor[1][1:])
    lines = [items[k * width : (k + 1) * width] for k in range(rows)]
    a, b = pick(rng, [(a, b) for a in range(rows) for b in range(a) if lines[a] != lines[b]])
    lines[a], lines[b] = lines[b], lines[a]
    return [x for line in lines for x in line]


def without(pattern):
    """The tensors whose names match are left out, one group of them."""

    def apply(case, rng):
        tensors = case.tensors("hints")
        group = pick(rng, sorted({m[0] for n in tensors if (m := re.match(pattern, n))}))
        case.put_tensors("hints", {n: t for n, t in tensors.items() if not n.startswith(group)})

    return apply


TREE = [f"tree.{column}" for column in ("kind", "node", "coordinate", "threshold", "bounds")]


def tree_edit(edit):
    """The nodes of one tree as lists (kind, node, coordinate, threshold[, bounds]), by `edit(nodes, rng)`."""

    def apply(case, rng):
        tensors = case.tensors("hints")
        if "tree.offset" not in tensors:
            raise Inapplicable
        offset, columns = unpack(tensors["tree.offset"]), [c for c in TREE if c in tensors]
        nodes = [list(n) for n in zip(*(unpack(tensors[c]) for c in columns))]
        t = pick(rng, range(len(offset) - 1))
        new = edit(nodes[offset[t] : offset[t + 1]], rng)
        grown = len(new) - (offset[t + 1] - offset[t])
        nodes[offset[t] : offset[t + 1]] = new
        tensors["tree.offset"] = pack(tensors["tree.offset"], offset[: t + 1] + [n + grown for n in offset[t + 1 :]])
        for k, column in enumerate(columns):
            tensors[column] = pack(tensors[column], [n[k] for n in nodes])
        case.put_tensors("hints", tensors)

    return apply


def subtree_end(nodes, k):
    """The place after the subtree that begins at k."""
    missing = 1
    while missing:
        missing += 1 if nodes[k][0] else -1
        k += 1
    return k


def splits(nodes):
    return [k for k, node in enumerate(nodes) if node[0]]


def child_order(nodes, rng):
    k = pick(rng, [k for k in splits(nodes) if len(nodes) > 1])
    middle = subtree_end(nodes, k + 1)
    end = subtree_end(nodes, middle)
    return nodes[: k + 1] + nodes[middle:end] + nodes[k + 1 : middle] + nodes[end:]


def leaf_dropped(nodes, rng):
    k = pick(rng, [k for k, node in enumerate(nodes) if not node[0]])
    return nodes[:k] + nodes[k + 1 :]


def leaf_for_subtree(nodes, rng):
    k = pick(rng, splits(nodes))
    return nodes[:k] + [[0] * len(nodes[k])] + nodes[subtree_end(nodes, k) :]


def split_dropped(nodes, rng):
    """One child stands for the split."""
    k = pick(rng, splits(nodes))
    middle = subtree_end(nodes, k + 1)
    kept = pick(rng, (nodes[k + 1 : middle], nodes[middle : subtree_end(nodes, middle)]))
    return nodes[:k] + kept + nodes[subtree_end(nodes, k) :]


def certificate_edit(edit):
    """cert.json, by `edit(document, rng)`."""

    def apply(case, rng):
        document = case.json("certificate")
        before = json.dumps(document)
        edit(document, rng)
        if json.dumps(document) == before:
            raise Inapplicable
        case.put_json("certificate", document)

    return apply


def trees(document, rng):
    if "trees" not in document:
        raise Inapplicable
    listed = document["trees"]
    k = rng.randrange(len(listed))
    changed = [listed[:k] + [n] + listed[k + 1 :] for n in range(max(listed) + 2) if n != listed[k]]
    document["trees"] = pick(rng, [*changed, listed[:-1], listed + [0], []])


def listed_threshold(document, rng):
    items = document.get("thresholds", [])
    k = pick(rng, range(len(items)))
    items[k] = last_digit(str(items[k]), rng)


def precision(document, rng):
    if "trees" not in document:
        raise Inapplicable
    document["precision"] = pick(rng, (0, 1, 2, 3, 5, 16, 17, -3, 2.5, "3"))


def bound_sets(document, rng):
    sets = document.get("bounds", [])
    k = pick(rng, range(len(sets)))
    document["bounds"] = pick(rng, (sets[:k] + [{"plain": "slopes", "slopes": "plain"}[sets[k]]] + sets[k + 1 :],
                                    sets[:-1], sets + ["slopes"], sets[:k] + ["best"] + sets[k + 1 :]))  # fmt: skip


def point(document, rng):
    k = pick(rng, range(len(document.get("x", []))))
    document["x"][k] = pick(rng, (last_digit(str(document["x"][k]), rng), moved(document["x"][k], rng)))


def point_length(document, rng):
    x = document.get("x") or pick(rng, ())
    document["x"] = pick(rng, (x[:-1], x + [0], []))


def other_format(document, rng):
    document["format"] = pick(rng, ("certkern.leaves.v2", "certkern.bundle.v1", "", "certkern.leaves.v1 "))


# Edits of the manifest, of JSON and of safetensors -------------------------------------------------------------------


def manifest_edit(edit):
    def apply(case, rng):
        manifest = case.manifest
        edit(manifest, rng)
        case.put_json("manifest", manifest)

    return apply


def digest_character(manifest, rng):
    role = pick(rng, manifest["digests"])
    text, k = manifest["digests"][role], rng.randrange(64)
    manifest["digests"][role] = text[:k] + pick(rng, [c for c in "0123456789abcdef" if c != text[k]]) + text[k + 1 :]


def digest_spelling(manifest, rng):
    role = pick(rng, manifest["digests"])
    text = manifest["digests"][role]
    manifest["digests"][role] = pick(rng, (text[:-1] + "G", text + "0", text[:-1], "F" + text[1:], ""))


def exchanged_digests(manifest, rng):
    a, b = rng.sample(sorted(manifest["digests"]), 2)
    digests = manifest["digests"]
    digests[a], digests[b] = digests[b], digests[a]


def other_kind_of_bundle(manifest, rng):
    manifest["kind"] = pick(rng, [k for k in ("leaves", "witness", "graph", "leaf") if k != manifest["kind"]])


def files(manifest, rng):
    listed = manifest["files"]
    role = pick(rng, listed)
    listed[role] = pick(rng, ("absent.json", "../" + listed[role], "bundle.json", "./" + listed[role], "",
                              *(n for r, n in listed.items() if r != role)))  # fmt: skip


def member(document, rng):
    """A member is left out, or one too many."""
    parts = [document] + [v for v in document.values() if isinstance(v, dict)]
    part = pick(rng, [p for p in parts if "producer" not in p])
    if rng.random() < 0.5:
        part["another"] = 1
    else:
        part.pop(pick(rng, [k for k in part if k != "provenance"]))


def extra_file(case, rng):
    _ = case.manifest
    case.files[pick(rng, ("note.txt", ".hidden", "cert2.json"))] = b"{}"


def provenance(manifest, rng):
    manifest["provenance"] = {"producer": pick(rng, ("someone", "é"))}


JSON_ROLES = ("graph", "certificate", "manifest")


def json_text(edit):
    """The text of one JSON file, by `edit(data, rng)`."""

    def apply(case, rng):
        role = pick(rng, JSON_ROLES if case.folder else ("graph",))
        case.put(role, edit(case.bytes(role), rng))

    return apply


def key_twice(data, rng):
    match = pick(rng, re.finditer(rb'"[a-z_]+": ?("[^"]*"|[0-9]+),', data))
    return data[: match.end()] + match[0] + data[match.end() :]


def tensor_file(edit):
    """One entry of the header of a safetensors file and the body, by `edit(entry, header, body, rng)`, which returns
    the header (or its bytes) and the body."""

    def apply(case, rng):
        role = pick(rng, [r for r in ("payload", "hints") if case.folder and r in case.manifest["files"]])
        header, body = case.parts(role)
        case.put_parts(role, *edit(header[pick(rng, header)], header, body, rng))

    return apply


def entry_member(key, change):
    def edit(entry, header, body, rng):
        entry[key] = change(entry[key], rng)
        return header, body

    return tensor_file(edit)


def other_axes(shape, rng):
    """Another number of elements; the same with more axes, in the end more than the budget; more elements than that."""
    others = (shape + [2], [0], shape[1:] + [7], shape + [1], shape + [1] * 17, [1 << 63])
    return pick(rng, [other for other in others if other != shape])


def tensor_dropped(entry, header, body, rng):
    """The tensor with its bytes."""
    a, b = entry["data_offsets"]
    kept = {n: e for n, e in header.items() if e is not entry}
    for other in kept.values():
        ends = other["data_offsets"]
        other["data_offsets"] = [n - (b - a) if n >= b and ends is not entry["data_offsets"] else n for n in ends]
    return kept, body[:a] + body[b:]


def name_twice(entry, header, body, rng):
    name = next(n for n, e in header.items() if e is entry)
    return (json.dumps(header)[:-1] + f", {json.dumps(name)}: {json.dumps(entry)}}}").encode(), body


def renamed(entry, header, body, rng):
    change = pick(rng, (lambda n: "0" + n, lambda n: n + "s", lambda n: n.upper(), lambda n: "7." + n))
    return {change(n) if e is entry else n: e for n, e in header.items()}, body


def unused(entry, header, body, rng):
    name = pick(rng, ("extra", "0.weight", "leaf.1.slope", "bounds.9.1.rows"))
    return {**header, name: {"dtype": "F32", "shape": [0], "data_offsets": [len(body)] * 2}}, body


def metadata(entry, header, body, rng):
    return {"__metadata__": {"format": pick(rng, ("pt", "np"))}, **header}, body


def header_length(case, rng):
    role = pick(rng, [r for r in ("payload", "hints") if case.folder and r in case.manifest["files"]])
    data = case.bytes(role)
    (length,) = struct.unpack("<Q", data[:8])
    wrong = pick(rng, (0, length - 1, length + 1, length + 8, len(data), 1 << 40, (1 << 64) - 1))
    case.put(role, struct.pack("<Q", wrong) + data[8:])
