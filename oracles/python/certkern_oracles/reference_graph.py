"""Graphs of the reference: `torchlean.ir.v1`, its payload, and what the operators mean (schemas/SPEC.md, section 1)."""

import itertools
import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction

from .reference_read import (
    MAX_ELEMENTS, MAX_RANK, Number, Rejected, Tensor, binary64, fields, natural, require, typed,
)  # fmt: skip

MAX_GRAPH_ELEMENTS = 1 << 22  # of all nodes together

COMMON = ("value_kind", "debug_target", "onnx_op_type", "onnx_name")
CONV = "spatial_rank kernel* stride* padding* padding_after*? dilation* groups channel_axis in_channels out_channels"
# kind: (least and most parents, attributes (* a list, ? may be left out), payload fields)
OPERATORS = {
    "input": (0, 0, "", ""),
    "const": (0, 0, "value_shape*?", "values"),
    "add": (2, 2, "", ""),
    "sub": (2, 2, "", ""),
    "relu": (1, 1, "", ""),
    "linear": (1, 1, "in_dim? out_dim?", "weight bias"),
    "conv": (1, 1, CONV + " input_spatial*?", "weight bias"),
    "flatten": (1, 1, "value_shape*?", ""),
    "reshape": (1, 1, "in_shape*? out_shape*?", ""),
    "permute": (1, 1, "perm*", ""),
    "transpose": (1, 1, "axis1 axis2", ""),
    "concat": (2, math.inf, "axis", ""),
    "broadcast_to": (1, 1, "from_shape* to_shape*", ""),
    "sum": (1, 1, "", ""),
    "detach": (1, 1, "", ""),
}


@dataclass
class Node:
    kind: str
    parents: list
    shape: list
    raw: dict  # the JSON members
    attributes: dict = field(default_factory=dict)  # with the defaults written out
    payload: dict = field(default_factory=dict)  # field: Tensor

    @property
    def size(self):
        return math.prod(self.shape)


@dataclass
class Graph:
    input_id: int
    output_ids: list
    nodes: list

    @property
    def outputs(self):
        """The coordinates y_0, y_1, …: pairs (node, flat coordinate), output by output."""
        return [(v, i) for v in self.output_ids for i in range(self.nodes[v].size)]


def read_graph(document):
    """A graph that is well-shaped; its payload is read by `read_payload`."""
    typed(document, dict)
    require("format" in document, "json.missing-key", "format")
    require(typed(document["format"], str) == "torchlean.ir.v1", "graph.format")
    require(not {"output_id", "output_ids"} <= document.keys(), "graph.output", "outputs in both spellings")
    outputs = "output_id" if "output_id" in document else "output_ids"
    fields(document, ("format", "input_id", outputs, "nodes"))
    input_id, output_ids = natural(document["input_id"]), document[outputs]
    output_ids = [natural(n) for n in (typed(output_ids, list) if outputs == "output_ids" else [output_ids])]
    nodes, ids = [], []
    for raw in typed(document["nodes"], list):
        operator = OPERATORS.get(typed(typed(raw, dict).get("kind", ""), str))
        if operator:
            own = [name.rstrip("*?") for name in operator[2].split()] + operator[3].split()
            fields(raw, ("id", "kind", "parents", "shape"), (*COMMON, *own))
        for key in ("id", "kind", "parents", "shape"):
            require(key in raw, "json.missing-key", key)
        for key in COMMON:
            typed(raw.get(key, ""), str)
        ids.append(natural(raw["id"]))
        parents, shape = ([natural(n) for n in typed(raw[key], list)] for key in ("parents", "shape"))
        nodes.append(Node(typed(raw["kind"], str), parents, shape, raw))
    graph = Graph(input_id, output_ids, nodes)
    require(nodes, "graph.empty")
    require(ids == list(range(len(nodes))), "graph.id-order")
    require(all(p < i for i, node in enumerate(nodes) for p in node.parents), "graph.parent-order")
    require([i for i, node in enumerate(nodes) if node.kind == "input"] == [input_id], "graph.input")
    require(output_ids and max(output_ids) < len(nodes), "graph.output")
    for node in nodes:
        require(node.kind in OPERATORS, "graph.unsupported-op", node.kind)
    total = 0
    for node in nodes:
        check_shape(node, [nodes[p].shape for p in node.parents])
        total += node.size
        require(total <= MAX_GRAPH_ELEMENTS, "limit.graph-elements")
    return graph


def check_shape(node, parents):
    """Premise: the shapes of the parents. Conclusion: operator, arity and attributes are good, and `node.shape` is the
    shape that the operator gives; `node.attributes` holds every attribute."""
    least, most, attributes, _ = OPERATORS[node.kind]
    require(least <= len(parents) <= most, "graph.arity")
    require(node.raw.get("value_kind", "tensor") == "tensor", "graph.attribute", "value_kind")
    require(len(node.shape) <= MAX_RANK, "limit.rank")
    require(node.size <= MAX_ELEMENTS, "limit.elements")
    for spec in attributes.split():
        name = spec.rstrip("*?")
        if name in node.raw:
            node.attributes[name] = read_attribute(node.raw[name], "*" in spec)
        else:
            require("?" in spec, "graph.attribute", f"{name} is missing")
    shape = infer(node, node.attributes, parents[0] if parents else [], parents)
    require(all(node.shape), "graph.shape-rule", "an axis of length 0")
    require(shape == node.shape, "graph.shape-mismatch", f"{shape} for {node.shape}")


def read_attribute(value, is_list):
    try:
        return [natural(n) for n in typed(value, list)] if is_list else natural(value)
    except Rejected as error:
        raise Rejected("graph.attribute", str(error)) from None


def infer(node, a, parent, parents):
    """The shape of the operator's value; attributes that are left out are added to `a`."""
    kind, rank, rule = node.kind, len(parent), "graph.shape-rule"
    if kind in ("input", "const"):
        return a.setdefault("value_shape", node.shape) if kind == "const" else node.shape
    if kind in ("add", "sub"):
        require(parents[0] == parents[1], rule, "equal shapes")
        return parent
    if kind in ("relu", "detach"):
        return parent
    if kind == "sum":
        return []
    if kind == "linear":
        require(rank, rule, "a last axis")
        require(a.setdefault("in_dim", parent[-1]) == parent[-1], rule, "in_dim")
        return parent[:-1] + [a.setdefault("out_dim", node.shape[-1] if node.shape else 0)]
    if kind == "conv":
        return infer_conv(a, parent)
    if kind == "flatten":
        require(a.setdefault("value_shape", parent) == parent, rule, "value_shape")
        return [math.prod(parent)]
    if kind == "reshape":
        require(a.setdefault("in_shape", parent) == parent, rule, "in_shape")
        require(math.prod(a.setdefault("out_shape", node.shape)) == math.prod(parent), rule, "elements")
        return a["out_shape"]
    if kind == "permute":
        require(sorted(a["perm"]) == list(range(len(a["perm"]))), "graph.attribute", "not a permutation")
        require(len(a["perm"]) == rank, rule, "perm")
        return [parent[i] for i in a["perm"]]
    if kind == "transpose":
        require(max(a["axis1"], a["axis2"]) < rank, rule, "axis")
        return [parent[i] for i in swapped(rank, a)]
    if kind == "concat":
        axis = a["axis"]
        require(axis < rank and all(len(p) == rank for p in parents), rule, "axis")
        rest = [p[:axis] + p[axis + 1 :] for p in parents]
        require(all(r == rest[0] for r in rest), rule, "other axes")
        return parent[:axis] + [sum(p[axis] for p in parents)] + parent[axis + 1 :]
    require(a["from_shape"] == parent, rule, "from_shape")
    target = a["to_shape"]
    require(rank <= len(target), rule, "broadcast")
    require(all(n in (1, m) for n, m in zip(reversed(parent), reversed(target))), rule, "broadcast")
    return target


def swapped(rank, a):
    axes = list(range(rank))
    axes[a["axis1"]], axes[a["axis2"]] = a["axis2"], a["axis1"]
    return axes


def infer_conv(a, parent):
    """floor((in + before + after − ((kernel − 1)·dilation + 1)) / stride) + 1 for each spatial axis."""
    rule, rank, axis = "graph.shape-rule", a["spatial_rank"], a["channel_axis"]
    spatial = parent[axis + 1 :]
    a.setdefault("padding_after", a["padding"])
    a.setdefault("input_spatial", spatial)
    for name in ("kernel", "stride", "padding", "padding_after", "dilation", "input_spatial"):
        require(len(a[name]) == rank, "graph.attribute", name)
    positive = [rank, *a["kernel"], *a["stride"], *a["dilation"], a["groups"], a["in_channels"], a["out_channels"]]
    require(all(positive), "graph.attribute", "a zero")
    require(max(a["stride"] + a["dilation"]) <= 1 << 31, "graph.attribute", "a stride or dilation above 2^31")
    require(a["in_channels"] % a["groups"] == a["out_channels"] % a["groups"] == 0, "graph.attribute", "groups")
    require(axis + rank + 1 == len(parent), rule, "channel_axis")
    require(parent[axis] == a["in_channels"] and spatial == a["input_spatial"], rule, "channels or spatial axes")
    result = []
    lists = ("input_spatial", "kernel", "stride", "dilation", "padding", "padding_after")
    for n, k, s, d, p, q in zip(*(a[name] for name in lists)):
        require(n + p + q >= (k - 1) * d + 1, rule, "kernel")
        result.append((n + p + q - (k - 1) * d - 1) // s + 1)
    return parent[:axis] + [a["out_channels"]] + result


# Payload -------------------------------------------------------------------------------------------------------------


def payload_shape(node, name):
    a = node.attributes
    if node.kind == "const":
        return tuple(node.shape)
    if name == "bias":
        return (a["out_dim"] if node.kind == "linear" else a["out_channels"],)
    if node.kind == "linear":
        return (a["out_dim"], a["in_dim"])
    return (a["out_channels"], a["in_channels"], *a["kernel"])


def read_payload(graph, tensors):
    """Every payload field of every node, from the node or the file, with its shape and finite; no tensor unused."""
    used = set()
    for i, node in enumerate(graph.nodes):
        for name in OPERATORS[node.kind][3].split():
            shape, key = payload_shape(node, name), f"{i}.{name}"
            require(not (name in node.raw and key in tensors), "graph.payload", f"{key} twice")
            require(name in node.raw or key in tensors, "graph.payload", f"{key} is missing")
            if name in node.raw:
                values = [binary64(n) for n in flat_items(node.raw[name], shape)]
                node.payload[name] = Tensor("F64", shape, struct.pack(f"<{len(values)}d", *values))
                continue
            used.add(key)
            require(tensors[key].dtype in ("F32", "F64"), "tensors.dtype", key)
            require(tensors[key].shape == shape, "graph.payload", f"shape of {key}")
            require(all(map(math.isfinite, tensors[key].values)), "tensors.not-finite", key)
            node.payload[name] = tensors[key]
        if node.kind == "conv":
            a = node.attributes
            place = itertools.product(*map(range, node.payload["weight"].shape))
            for (o, c, *_), w in zip(place, node.payload["weight"].values):
                block = o * a["groups"] // a["out_channels"] == c * a["groups"] // a["in_channels"]
                require(block or w == 0, "graph.payload", "off the block")
    require(used == tensors.keys(), "tensors.unused", str(tensors.keys() - used))


def flat_items(value, shape):
    """The leaves of a nested array of this shape, or of a flat one."""

    def nested(item, axes):
        if not axes:
            require(not isinstance(item, list), "graph.payload", "nested too deep")
            return [item]
        require(isinstance(item, list), "json.type", "an array is expected")
        require(len(item) == axes[0], "graph.payload", "length")
        return [leaf for part in item for leaf in nested(part, axes[1:])]

    flat = isinstance(value, list) and all(isinstance(item, Number) for item in value)
    return nested(value, (math.prod(shape),) if flat else shape)


# Meaning -------------------------------------------------------------------------------------------------------------


@dataclass
class Affine:
    """value[i] = constant[i] + Σ over terms (parent, scale, rows): scale · Σ over (j, w) in rows[i]: w · parent[j],
    with integers w."""

    constant: list
    terms: list


def integers(values):
    """Integers and one rational scale with value = integer · scale, exactly."""
    fractions = [Fraction(v) for v in values]
    common = math.lcm(*(f.denominator for f in fractions))
    return [f.numerator * (common // f.denominator) for f in fractions], Fraction(1, common)


def strides(shape):
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def meaning(graph, v):
    """What node `v` denotes: None for the input, the parent for a relu, else an Affine."""
    node = graph.nodes[v]
    if node.kind == "input":
        return None
    if node.kind == "relu":
        return node.parents[0]
    zero = [Fraction(0)] * node.size
    if node.kind == "const":
        return Affine([Fraction(x) for x in node.payload["values"].values], [])
    if node.kind in ("linear", "conv"):
        rows, biases = (linear_rows if node.kind == "linear" else conv_rows)(graph, node)
        weights, scale = integers(node.payload["weight"].values)
        bias = [Fraction(x) for x in node.payload["bias"].values]
        rows = [[(j, weights[k]) for j, k in row if weights[k]] for row in rows]
        return Affine([bias[b] for b in biases], [(node.parents[0], scale, rows)])
    if node.kind in ("add", "sub"):
        same = [[(i, 1)] for i in range(node.size)]
        signs = (Fraction(1), Fraction(-1 if node.kind == "sub" else 1))
        return Affine(zero, [(p, sign, same) for p, sign in zip(node.parents, signs)])
    if node.kind == "concat":
        terms, axis = [], node.attributes["axis"]
        inner, at = math.prod(node.shape[axis + 1 :]), 0
        for p in node.parents:
            rows, width = [[] for _ in zero], graph.nodes[p].shape[axis] * inner
            for j in range(graph.nodes[p].size):
                rows[j // width * node.shape[axis] * inner + at + j % width].append((j, 1))
            terms.append((p, Fraction(1), rows))
            at += width
        return Affine(zero, terms)
    source = graph.nodes[node.parents[0]]
    if node.kind == "sum":
        rows = [[(j, 1) for j in range(source.size)]]
    else:
        rows = [[(j, 1)] for j in index_map(node, source)]
    return Affine(zero, [(node.parents[0], Fraction(1), rows)])


def program(graph):
    return [meaning(graph, v) for v in range(len(graph.nodes))]


def index_map(node, source):
    """For each coordinate of the node the coordinate of its one parent that it repeats."""
    if node.kind not in ("permute", "transpose", "broadcast_to"):
        return list(range(node.size))
    steps = strides(source.shape)
    if node.kind == "broadcast_to":
        steps = [0 if n == 1 else step for n, step in zip(source.shape, steps)]
        steps = [0] * (len(node.shape) - len(steps)) + steps
    else:
        a = node.attributes
        steps = [steps[i] for i in (a["perm"] if node.kind == "permute" else swapped(len(steps), a))]
    return [sum(i * s for i, s in zip(place, steps)) for place in itertools.product(*map(range, node.shape))]


def linear_rows(graph, node):
    """Rows as pairs (coordinate of the parent, place in the weight), and the place of each bias."""
    outer, inner = node.attributes["out_dim"], node.attributes["in_dim"]
    rows, biases = [], []
    for i in range(node.size):
        o, batch = i % outer, i // outer
        rows.append([(batch * inner + c, o * inner + c) for c in range(inner)])
        biases.append(o)
    return rows, biases


def conv_rows(graph, node):
    """As `linear_rows`: output o at place q reads channel c at q·stride + k·dilation − padding, zero outside."""
    a, axis = node.attributes, node.attributes["channel_axis"]
    source = graph.nodes[node.parents[0]].shape
    steps, kernel = strides(source), [a["in_channels"], *a["kernel"]]
    rows, biases = [], []
    for place in itertools.product(*map(range, node.shape)):
        batch = sum(i * s for i, s in zip(place[:axis], steps))
        o, row = place[axis], []
        for k, (c, *taps) in enumerate(itertools.product(*map(range, kernel))):
            lists = (place[axis + 1 :], a["stride"], taps, a["dilation"], a["padding"])
            at = [q * s + t * d - p for q, s, t, d, p in zip(*lists)]
            if all(0 <= x < n for x, n in zip(at, a["input_spatial"])):
                inside = sum(x * s for x, s in zip([c, *at], steps[axis:]))
                row.append((batch + inside, o * math.prod(kernel) + k))
        rows.append(row)
        biases.append(o)
    return rows, biases
