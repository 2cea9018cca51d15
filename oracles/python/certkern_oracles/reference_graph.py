"""Graphs of the reference: `torchlean.ir.v1`, its payload, and what the operators mean (schemas/SPEC.md, section 1)."""

import functools
import itertools
import math
import struct
from collections import namedtuple
from fractions import Fraction

from .reference_read import Number, Rejected, Tensor, binary64, natural, require, typed, within

MEMBERS = {"id": natural, "kind": str, "parents": [natural], "shape": [natural]}
COMMON = ("value_kind", "debug_target", "onnx_op_type", "onnx_name")

FUNCTIONS = ("sigmoid", "tanh", "softplus", "sin", "cos")  # without rational values: read here, and not decided


class Unsupported(Exception):
    """What the reference gives no verdict on."""


# Operators -----------------------------------------------------------------------------------------------------------


def permuted(a, _, items):
    """What belongs to the axes of the parent, in the order of `permute` and `transpose`."""
    order = list(a.get("perm", range(len(items))))
    require(sorted(order) == list(range(len(order))), "graph.attribute", "not a permutation")
    require(max(a.get("axis1", -1), a.get("axis2", -1)) < len(items) == len(order), "graph.shape-rule", "axes")
    if "axis1" in a:
        order[a["axis1"]], order[a["axis2"]] = a["axis2"], a["axis1"]
    return [items[i] for i in order]


def concatenated(a, _, *parents):
    rest = [p[: a["axis"]] + p[a["axis"] + 1 :] for p in parents]
    good = all(a["axis"] < len(p) for p in parents) and rest == rest[:1] * len(rest)
    return good and [*rest[0][: a["axis"]], sum(p[a["axis"]] for p in parents), *rest[0][a["axis"] :]]


def convolved(a, _, parent):
    """floor((in + before + after − ((kernel − 1)·dilation + 1)) / stride) + 1 for each spatial axis."""
    rank, axis, groups = a["spatial_rank"], a["channel_axis"], a["groups"]
    a.setdefault("padding_after", a["padding"])
    a.setdefault("input_spatial", parent[axis + 1 :])
    lists = [a[name] for name in ("input_spatial", "padding", "padding_after", "kernel", "dilation", "stride")]
    positive = [rank, *a["kernel"], *a["stride"], *a["dilation"], groups, a["in_channels"], a["out_channels"]]
    good = all(len(items) == rank for items in lists) and all(positive) and max(a["stride"] + a["dilation"]) <= 1 << 31
    require(good and a["in_channels"] % groups == a["out_channels"] % groups == 0, "graph.attribute", "of a conv")
    spatial = [(n + p + q - (k - 1) * d - 1) // s + 1 for n, p, q, k, d, s in zip(*lists)]
    good = len(parent) == axis + rank + 1 and parent[axis:] == [a["in_channels"], *a["input_spatial"]]
    return good and min(spatial) > 0 and [*parent[:axis], a["out_channels"], *spatial]


def broadcast(a, _, parent):
    good = a["from_shape"] == parent and len(parent) <= len(a["to_shape"])
    return good and all(n in (1, m) for n, m in zip(parent[::-1], a["to_shape"][::-1])) and a["to_shape"]


N, L = natural, [natural]
CONV = {"spatial_rank": N, "kernel": L, "stride": L, "padding": L, "padding_after?": L, "dilation": L, "groups": N,
        "channel_axis": N, "in_channels": N, "out_channels": N, "input_spatial?": L}  # fmt: skip
# kind: (least and most parents, attributes (? may be left out), payload fields and their axes, shape rule). A rule
# gives the shape, or False, from attributes and the shapes of the node and the parents; it adds attributes left out.
OPERATORS = {
    "input": (0, 0, {}, {}, lambda a, own: own),
    "const": (0, 0, {"value_shape?": L}, {"values": ["value_shape"]}, lambda a, own: a.setdefault("value_shape", own)),
    **dict.fromkeys(("add", "sub"), (2, 2, {}, {}, lambda a, own, p, q: p == q and p)),
    **dict.fromkeys(("relu", "detach", *FUNCTIONS), (1, 1, {}, {}, lambda a, own, p: p)),
    "sum": (1, 1, {}, {}, lambda a, own, p: []),
    "linear": (1, 1, {"in_dim?": N, "out_dim?": N}, {"weight": ["out_dim", "in_dim"], "bias": ["out_dim"]},
               lambda a, own, p: p != [] and a.setdefault("in_dim", p[-1]) == p[-1]
               and [*p[:-1], a.setdefault("out_dim", own[-1] if own else 0)]),
    "conv": (1, 1, CONV, {"weight": ["out_channels", "in_channels", "kernel"], "bias": ["out_channels"]}, convolved),
    "flatten": (1, 1, {"value_shape?": L}, {}, lambda a, _, p: a.setdefault("value_shape", p) == p and [math.prod(p)]),
    "reshape": (1, 1, {"in_shape?": L, "out_shape?": L}, {},
                lambda a, own, p: a.setdefault("in_shape", p) == p
                and math.prod(a.setdefault("out_shape", own)) == math.prod(p) and a["out_shape"]),
    "permute": (1, 1, {"perm": L}, {}, permuted),
    "transpose": (1, 1, {"axis1": N, "axis2": N}, {}, permuted),
    "concat": (2, math.inf, {"axis": N}, {}, concatenated),
    "broadcast_to": (1, 1, {"from_shape": L, "to_shape": L}, {}, broadcast),
}  # fmt: skip

# Graphs --------------------------------------------------------------------------------------------------------------

# `raw`: the JSON members; `attributes`, with the defaults written out, and `payload`, tensors, by name
Node = namedtuple("Node", "kind parents shape size raw attributes payload")
# `outputs`: the coordinates y_0, y_1, …: pairs (node, flat coordinate), output by output
Graph = namedtuple("Graph", "input_id output_ids nodes outputs")


def read_graph(document):
    """A graph that is well-shaped; its payload is read by `read_payload`."""
    require("format" in typed(document, dict), "json.missing-key", "format")
    require(typed(document["format"], str) == "torchlean.ir.v1", "graph.format")
    require(not {"output_id", "output_ids"} <= document.keys(), "graph.output", "outputs in both spellings")
    if "output_id" in document:
        document = {"output_ids": [document["output_id"]], **{k: v for k, v in document.items() if k != "output_id"}}
    members = {"format": str, "input_id": natural, "output_ids": [natural], "nodes": list}
    _, input_id, output_ids, listed = typed(document, members).values()
    nodes = []
    for raw in listed:
        kind = typed(typed(raw, dict).get("kind", ""), str)
        _, _, attributes, payload, _ = OPERATORS.get(kind, OPERATORS["input"])
        own = {*attributes, *payload} if kind in OPERATORS else raw.keys() - {*MEMBERS, *COMMON}
        spec = {f"{name.removesuffix('?')}?": object for name in own} | {f"{name}?": str for name in COMMON} | MEMBERS
        *_, kind, parents, shape = typed(raw, spec).values()
        nodes.append(Node(kind, parents, shape, math.prod(shape), raw, {}, {}))
    require(nodes, "graph.empty")
    require([natural(node.raw["id"]) for node in nodes] == list(range(len(nodes))), "graph.id-order")
    require(all(p < i for i, node in enumerate(nodes) for p in node.parents), "graph.parent-order")
    require([i for i, node in enumerate(nodes) if node.kind == "input"] == [input_id], "graph.input")
    require(output_ids and max(output_ids) < len(nodes), "graph.output")
    require(all(node.kind in OPERATORS for node in nodes), "graph.unsupported-op")
    for node, total in zip(nodes, itertools.accumulate(node.size for node in nodes)):
        check_shape(node, [nodes[p].shape for p in node.parents])
        within(total, "graph-elements")
    return Graph(input_id, output_ids, nodes, [(v, i) for v in output_ids for i in range(nodes[v].size)])


def check_shape(node, parents):
    """Premise: the shapes of the parents. Conclusion: operator, arity and attributes are good, and `node.shape` is the
    shape that the operator gives; `node.attributes` holds every attribute."""
    least, most, attributes, payload, rule = OPERATORS[node.kind]
    require(least <= len(parents) <= most, "graph.arity")
    require(node.raw.get("value_kind", "tensor") == "tensor", "graph.attribute", "value_kind")
    within(len(node.shape), "rank")
    within(node.size, "elements")
    given = {name: node.raw[name] for name in node.raw.keys() - {*MEMBERS, *COMMON, *payload}}
    try:
        node.attributes.update(typed(given, attributes))
    except Rejected as error:
        raise Rejected("graph.attribute", str(error)) from None
    shape = rule(node.attributes, node.shape, *parents)
    require(shape is not False and all(node.shape), "graph.shape-rule", "the rule, or an axis of length 0")
    require(shape == node.shape, "graph.shape-mismatch", f"{shape} for {node.shape}")


# Payload -------------------------------------------------------------------------------------------------------------


def read_payload(graph, tensors):
    """Every payload field of every node, from the node or the file, with its shape and finite; no tensor unused."""
    tensors = dict(tensors)
    for i, node in enumerate(graph.nodes):
        a = node.attributes
        for name, axes in OPERATORS[node.kind][3].items():
            shape = tuple(n for axis in axes for n in (a[axis] if isinstance(a[axis], list) else [a[axis]]))
            key = f"{i}.{name}"
            require((name in node.raw) != (key in tensors), "graph.payload", f"{key} is missing, or stands twice")
            if name in node.raw:
                flat = isinstance(node.raw[name], list) and all(isinstance(item, Number) for item in node.raw[name])
                values = [binary64(n) for n in leaves(node.raw[name], (math.prod(shape),) if flat else shape)]
                tensors[key] = Tensor("F64", shape, struct.pack(f"<{len(values)}d", *values), values)
            tensor = node.payload[name] = tensors.pop(key)
            require(tensor.dtype in ("F32", "F64"), "tensors.dtype", key)
            require(tensor.shape == shape, "graph.payload", f"shape of {key}")
            require(all(map(math.isfinite, tensor.values)), "tensors.not-finite", key)
        if node.kind == "conv":
            weight, m, n = node.payload["weight"], a["out_channels"] // a["groups"], a["in_channels"] // a["groups"]
            good = all(w == 0 or o // m == c // n for (o, c, *_), w in zip(places(weight.shape), weight.values))
            require(good, "graph.payload", "off the block")
    require(not tensors, "tensors.unused", ", ".join(tensors))


def leaves(item, axes):
    """The leaves of a nested array of this shape."""
    if axes:
        require(len(typed(item, list)) == axes[0], "graph.payload", "length")
        return [leaf for part in item for leaf in leaves(part, axes[1:])]
    require(not isinstance(item, list), "graph.payload", "nested too deep")
    return [item]


# Meaning -------------------------------------------------------------------------------------------------------------


# value[i] = constant[i] + Σ over terms (parent, scale, rows): scale · Σ over (j, w) in rows[i]: w · parent[j], with
# integers w and scale > 0
Affine = namedtuple("Affine", "constant terms")


def integers(values):
    """Integers and one rational scale with value = integer · scale, exactly."""
    fractions = [Fraction(v) for v in values]
    common = math.lcm(*(f.denominator for f in fractions))
    return [f.numerator * (common // f.denominator) for f in fractions], Fraction(1, common)


def places(shape):
    """The places of a tensor, row-major."""
    return list(itertools.product(*map(range, shape)))


def program(graph):
    """What each node denotes: None for the input, the parent for a relu, else an Affine."""
    return [meaning(node, [graph.nodes[p] for p in node.parents]) for node in graph.nodes]


def meaning(node, sources):
    if node.kind in FUNCTIONS:
        raise Unsupported(f"reference: operator {node.kind} not supported")
    if node.kind in ("input", "relu"):
        return node.parents[0] if sources else None
    if node.kind == "const":
        return Affine([Fraction(x) for x in node.payload["values"].values], [])
    if node.kind in ("linear", "conv"):
        return contraction(node, sources[0].shape)
    terms = [(p, Fraction(1), [[(j, -1 if node.kind == "sub" and k == 1 else 1) for j in row] for row in rows])
             for k, (p, rows) in enumerate(zip(node.parents, summed(node, [s.shape for s in sources])))]  # fmt: skip
    return Affine([Fraction(0)] * node.size, terms)


def summed(node, shapes):
    """For each parent: for each coordinate of the node the coordinates of the parent whose sum it holds."""
    a, shape = node.attributes, shapes[0]
    if node.kind == "sum":
        return [[range(math.prod(shape))]]
    if node.kind == "concat":
        widths = [math.prod(shape[a["axis"] :]) for shape in shapes]
        outer = range(math.prod(node.shape[: a["axis"]]))
        cells = [(k, i * width + j) for i in outer for k, width in enumerate(widths) for j in range(width)]
        return [[[j] if k == own else [] for k, j in cells] for own in range(len(shapes))]
    at = {place: j for j, place in enumerate(places(shape))}
    if node.kind == "broadcast_to":
        aligned = (place[len(place) - len(shape) :] for place in places(node.shape))
        return [[[at[tuple(min(i, n - 1) for i, n in zip(place, shape))]] for place in aligned]]
    # the coordinates of the parent in the order of where they go
    return [[[at[place]] for place in sorted(at, key=lambda place: permuted(a, shape, place))]] * len(shapes)


def contraction(node, source):
    """A conv: output o at place q reads channel c at q·stride + k·dilation − padding, zero outside. A linear is one
    without spatial axes, its channels on the last axis."""
    a, bias, weight = node.attributes, node.payload["bias"].values, node.payload["weight"]
    (weights, scale), taps = integers(weight.values), places(weight.shape[1:])
    axis, at = a.get("channel_axis", len(source) - 1), {place: j for j, place in enumerate(places(source))}
    geometry = [a.get(name, []) for name in ("stride", "dilation", "padding")]

    @functools.cache
    def reads(batch, q):
        """For each tap the coordinate of the parent, None where that is outside."""
        spatial = ([x * s + t * d - p for x, t, s, d, p in zip(q, tap, *geometry)] for _, *tap in taps)
        return [at.get((*batch, c, *place)) for (c, *_), place in zip(taps, spatial)]

    constant, rows = [], []
    for place in places(node.shape):
        row = weights[place[axis] * len(taps) : (place[axis] + 1) * len(taps)]
        rows.append([(j, w) for j, w in zip(reads(place[:axis], place[axis + 1 :]), row) if w and j is not None])
        constant.append(Fraction(bias[place[axis]]))
    return Affine(constant, [(node.parents[0], scale, rows)])
