"""A second checker of certkern bundles, in exact fractions, written from schemas/SPEC.md for a suspicious reader.

    python -m certkern_oracles.reference PATH [--property FILE] [--json]

The last line is the verdict; exit codes: 0 accepted, 1 not proved, 2 malformed or unbound, 3 a limit, 64 usage.
The bytes are read in `reference_read`, operators are in `reference_graph`; here are the rules, the certificate and
the digests. Everything is exact but two roundings, both outward: bounds (`outward`) and slopes of chords (`chord`).
"""

import argparse
import hashlib
import json
import math
import os
import re
import sys
from fractions import Fraction

from . import reference_graph as graphs
from .reference_read import (
    Rejected, fields, natural, rational, read_json, read_property_json, read_tensors, read_vnnlib, require, typed,
)  # fmt: skip

BOUND_BITS = 256  # bounds lie on the grid of 2^-256
SLOPE_BITS = 40  # slopes are rounded down to that of 2^-40: any slope in [0, 1] is good
MAX_TREE_DEPTH = 4096
MAX_PATH_ELEMENTS = 1 << 21  # splits on the deepest path times the width of the widest value
NOT_PROVED = ("leaf.unproved", "witness.property", "witness.region")  # well formed and bound

# Digests (SPEC, section 6) -------------------------------------------------------------------------------------------


def u64(n):
    return n.to_bytes(8, "little")


def text(s):
    return u64(len(s.encode())) + s.encode()


def sequence(items):
    items = list(items)
    return u64(len(items)) + b"".join(items)


def integer(z):
    if z == 0:
        return b"\0"
    magnitude = abs(z).to_bytes((abs(z).bit_length() + 7) // 8, "little")
    return (b"\1" if z > 0 else b"\2") + u64(len(magnitude)) + magnitude


def ratio(q):
    return integer(q.numerator) + integer(q.denominator)


def digest(tag, *parts):
    return hashlib.sha256(text(f"certkern/{tag}/1") + b"".join(parts)).hexdigest()


def graph_digest(graph):
    def attribute(name, value):
        body = b"\1" + sequence(map(u64, value)) if isinstance(value, list) else b"\0" + u64(value)
        return text(name) + body

    nodes = sequence(
        text(n.kind) + sequence(map(u64, n.parents)) + sequence(map(u64, n.shape))
        + sequence(attribute(*item) for item in sorted(n.attributes.items()))
        for n in graph.nodes
    )  # fmt: skip
    return digest("graph", u64(graph.input_id), sequence(map(u64, graph.output_ids)), nodes)


def payload_digest(graph):
    types = {"F32": "binary32", "F64": "binary64"}
    return digest("payload", sequence(
        u64(i) + text(name) + text(types[t.dtype]) + sequence(map(u64, t.shape)) + t.data
        for i, node in enumerate(graph.nodes) for name, t in sorted(node.payload.items())
    ))  # fmt: skip


def input_digest(prop):
    return digest("input", sequence(ratio(a) + ratio(b) for a, b in zip(prop.lower, prop.upper)))


def output_digest(graph, prop):
    def term(variable, coefficient):
        return (b"\0" if variable[0] == "x" else b"\1") + u64(variable[1]) + ratio(coefficient)

    def row(r):
        return sequence(term(*t) for t in r.terms) + ratio(r.bound) + bytes([r.strict])

    unsafe = sequence(sequence(map(row, disjunct)) for disjunct in prop.unsafe)
    return digest("output", sequence(map(u64, graph.output_ids)), u64(len(prop.lower)), u64(prop.outputs), unsafe)


def claim_digest(kind, digests):
    return digest("claim", text(kind), text(PROPOSITIONS[kind]), *map(bytes.fromhex, digests.values()))


# Rules (rules.md) ----------------------------------------------------------------------------------------------------


def outward(lower, upper):
    """Premise: lower ≤ v ≤ upper. Conclusion: the same for the grid points returned."""
    scale = 1 << BOUND_BITS
    return Fraction(math.floor(lower * scale), scale), Fraction(math.ceil(upper * scale), scale)


def ibp(value, bounds, size):
    """IBP. Premise: `bounds[p]` hold for every parent p of the node. Conclusion: the bounds returned hold for it."""
    if isinstance(value, int):
        return [(max(low, Fraction(0)), max(high, Fraction(0))) for low, high in bounds[value]]
    result = [[c, c] for c in value.constant]
    for p, scale, rows in value.terms:
        ends, unit = graphs.integers(end for pair in bounds[p] for end in pair)
        for i, row in enumerate(rows):
            for side in (0, 1):
                # a lower end takes the lower ends of the parent where the weight is ≥ 0
                total = sum(w * ends[2 * j + (side if w * scale > 0 else 1 - side)] for j, w in row)
                result[i][side] += total * scale * unit
    return [outward(*pair) for pair in result]


def intersect(old, new):
    """Premise: both hold. Conclusion: so does the intersection; a pair (l, u) with l > u says that no x is left."""
    return [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(old, new)]


def short(slope):
    return Fraction(math.floor(slope * (1 << SLOPE_BITS)), 1 << SLOPE_BITS)


def chord(low, high):
    """LINES. Premise: low < 0 < high. Conclusion: (s, b) with relu(z) ≤ s·z + b on [low, high], any s in [0, 1]:
    relu is convex, so the two ends decide."""
    s = short(high / (high - low))
    return s, max(-s * low, high - s * high)


def relu_line(low, high, below, slope):
    """UNIVARIATE for relu. Premise: low ≤ z ≤ high, slope in [0, 1] or None. Conclusion: (s, b) such that s·z + b is a
    lower line of relu on [low, high] if `below`, else an upper line."""
    if low >= 0:
        return Fraction(1), Fraction(0)
    if high <= 0:
        return Fraction(0), Fraction(0)
    if not below:
        return chord(low, high)
    return Fraction(high > -low) if slope is None else short(slope), Fraction(0)


def back(program, bounds, row, constant, slopes):
    """BACK. Premise: `bounds` hold on X ∩ S. Conclusion: Σ row[v][i] · v_i + constant ≥ the number returned on X ∩ S.
    Nodes are removed in reverse order, so every consumer of a node is gone before the node itself."""
    row = {v: dict(entries) for v, entries in row.items()}
    for v in range(len(program) - 1, -1, -1):
        entries, value = row.pop(v, {}), program[v]
        entries = {i: a for i, a in entries.items() if a != 0}
        if not entries:
            continue
        if value is None:  # the input: the least value over the box
            for i, a in entries.items():
                constant += a * bounds[v][i][0 if a > 0 else 1]
        elif isinstance(value, int):
            into, own = row.setdefault(value, {}), slopes.get(v, {})
            for i, a in entries.items():
                s, b = relu_line(*bounds[value][i], a > 0, own.get(i))
                into[i] = into.get(i, 0) + a * s
                constant += a * b
        else:
            constant += sum(a * value.constant[i] for i, a in entries.items())
            numbers, unit = graphs.integers(entries.values())
            for p, scale, rows in value.terms:
                sums = {}
                for i, a in zip(entries, numbers):
                    for j, w in rows[i]:
                        sums[j] = sums.get(j, 0) + a * w
                into = row.setdefault(p, {})
                for j, total in sums.items():
                    into[j] = into.get(j, 0) + total * scale * unit
    assert not any(row.values())
    return constant


def intermediate(program, bounds, v, i, slopes_below, slopes_above):
    """INTERMEDIATE. Premise: `bounds` hold. Conclusion: the tighter bounds of coordinate i of node v hold."""
    low = back(program, bounds, {v: {i: Fraction(1)}}, Fraction(0), slopes_below)
    high = -back(program, bounds, {v: {i: Fraction(-1)}}, Fraction(0), slopes_above)
    return intersect([bounds[v][i]], [outward(low, high)])[0]


def assume(bounds, literal):
    """LITERAL and SPLIT. Premise: `bounds` hold on X ∩ S. Conclusion: these hold where the literal does too."""
    v, i, threshold, at_least = literal
    low, high = bounds[v][i]
    clamped = (max(low, threshold), high) if at_least else (low, min(high, threshold))
    return bounds[:v] + [bounds[v][:i] + [clamped] + bounds[v][i + 1 :]] + bounds[v + 1 :]


def region(prop, d):
    """CASES. The box X_d: X cut by those rows of disjunct d that speak of a single input (closed; it may be empty)."""
    box = list(zip(prop.lower, prop.upper))
    for row in prop.unsafe[d]:
        if len(row.terms) == 1 and row.terms[0][0][0] == "x":
            ((_, i), c), (low, high) = row.terms[0], box[row.terms[0][0][1]]
            box[i] = (low, min(high, row.bound / c)) if c > 0 else (max(low, row.bound / c), high)
    return box


def is_empty(bounds):
    """EMPTY by bounds: strictly crossed ends leave no x."""
    return any(low > high for pairs in bounds for low, high in pairs)


def refuted(program, bounds, rows, literals, place, slopes):
    """BETA and EMPTY. Premise: `bounds` hold on X ∩ S; each (row, β) of the disjunct and each (literal, β) of S has
    β ≥ 0. Every point of X ∩ S in the disjunct makes Σ β·(row − bound) + Σ β·(τ − g, or g − τ) ≤ 0 (< 0 where an open
    row has β > 0). Conclusion if True: the sum is ≥ a number that says otherwise, so there is no such point."""
    total, constant = {}, Fraction(0)

    def add(v, i, a):
        entries = total.setdefault(v, {})
        entries[i] = entries.get(i, Fraction(0)) + a

    for row, beta in rows:
        for variable, c in row.terms:
            add(*place[variable], beta * c)
        constant -= beta * row.bound
    for (v, i, threshold, at_least), beta in literals:
        sign = -1 if at_least else 1
        add(v, i, sign * beta)
        constant -= sign * beta * threshold
    least = back(program, bounds, total, constant, slopes)
    return least > 0 or (least >= 0 and any(beta > 0 and row.strict for row, beta in rows))


def value_at(program, point):
    """PROGRAM. The exact values of all nodes at a point."""
    values = []
    for value in program:
        if value is None:
            values.append(point)
        elif isinstance(value, int):
            values.append([max(z, Fraction(0)) for z in values[value]])
        else:
            sums = list(value.constant)
            for p, scale, rows in value.terms:
                sums = [s + scale * sum(w * values[p][j] for j, w in row) for s, row in zip(sums, rows)]
            values.append(sums)
    return values


def holds(row, values, place):
    """Whether a row of the unsafe set holds at a point, exactly."""
    total = sum(c * values[place[variable][0]][place[variable][1]] for variable, c in row.terms)
    return total < row.bound if row.strict else total <= row.bound


def variable_places(graph, prop):
    """Where each variable of the property stands: (node, flat coordinate)."""
    x = {("x", i): (graph.input_id, i) for i in range(len(prop.lower))}
    return x | {("y", i): at for i, at in enumerate(graph.outputs)}


def check_witness(graph, prop, document):
    """WITNESS. Premise: the point lies in X and its values in a disjunct, exactly. Conclusion: the property fails."""
    certificate(document, "certkern.witness.v1", ("x",))
    point = [rational(number) for number in typed(document["x"], list)]
    require(len(point) == len(prop.lower), "hint.shape", "a coordinate for each input")
    inside = all(low <= x <= high for low, x, high in zip(prop.lower, point, prop.upper))
    require(inside, "witness.region")
    values, place = value_at(graphs.program(graph), point), variable_places(graph, prop)
    unsafe = any(all(holds(row, values, place) for row in disjunct) for disjunct in prop.unsafe)
    require(unsafe, "witness.property")


def certificate(document, form, needed, optional=()):
    """The members of cert.json, which is of the format of its kind."""
    require(isinstance(document, dict), "json.type")
    require(typed(document.get("format", form), str) == form, "bundle.format", "certificate")
    fields(document, ("format", *needed), optional)


# Certificate of kind `leaves` (SPEC, section 5) ----------------------------------------------------------------------


class Hints:
    """The tensors of cert.safetensors; each is taken once, with its type and shape checked."""

    def __init__(self, tensors):
        self.tensors, self.used = tensors, set()

    def take(self, name, shape, dtypes=("U32",), optional=False):
        """The values of a tensor; None in `shape` stands for any length."""
        if name not in self.tensors and optional:
            return None
        require(name in self.tensors, "tensors.missing", name)
        self.used.add(name)
        tensor = self.tensors[name]
        require(tensor.dtype in dtypes, "tensors.dtype", name)
        good = len(tensor.shape) == len(shape) and all(m in (None, n) for m, n in zip(shape, tensor.shape))
        require(good, "tensors.shape", name)
        return tensor.values

    def numbers(self, name, shape, most=math.inf, code="hint.domain"):
        """Slopes (most = 1) or multipliers: in [0, most]."""
        values = self.take(name, shape, ("F32", "F64"))
        require(all(0 <= x <= most and math.isfinite(x) for x in values), code, name)
        return [Fraction(x) for x in values]

    def coordinates(self, name, size):
        """Ascending coordinates of a node of this size."""
        values = self.take(name, (None,))
        require(all(a < b for a, b in zip(values, values[1:])), "hint.shape", name)
        require(not values or values[-1] < size, "hint.shape", name)
        return values

    def names(self, pattern):
        """The matches of the pattern among the names, in order of their numbers."""
        found = [m for name in self.tensors if (m := re.fullmatch(pattern.replace("N", "(0|[1-9][0-9]{0,9})"), name))]
        return sorted(found, key=lambda m: [int(n) for n in m.groups()])

    def slopes(self, prefix, suffixes, count, graph):
        """For each relu with `<prefix>.<act>.columns`: one table of slopes for each suffix and each of `count` rows."""
        tables = {suffix: [{} for _ in range(count)] for suffix in suffixes}
        for match in self.names(re.escape(prefix) + r"\.N\.columns"):
            act = int(match[1])
            require(act < len(graph.nodes) and graph.nodes[act].kind == "relu", "hint.shape", match[0])
            columns = self.coordinates(match[0], graph.nodes[act].size)
            for suffix in suffixes:
                values = self.numbers(f"{prefix}.{act}.{suffix}", (count, len(columns)), 1)
                for r in range(count):
                    tables[suffix][r][act] = dict(zip(columns, values[r * len(columns) : (r + 1) * len(columns)]))
        return tables

    def ragged(self, prefix, index, limits):
        """`<prefix>.offset`, `.<index>`, `.multiplier`: for each entry its pairs (index, multiplier)."""
        offset = self.take(f"{prefix}.offset", (len(limits) + 1,), optional=True)
        if offset is None:
            return [[] for _ in limits]
        items = self.take(f"{prefix}.{index}", (None,))
        multipliers = self.numbers(f"{prefix}.multiplier", (None,))
        ends = list(zip(offset, offset[1:]))
        good = offset[0] == 0 and all(a <= b for a, b in ends) and offset[-1] == len(items) == len(multipliers)
        require(good, "hint.shape", prefix)
        ranges = [list(zip(items[a:b], multipliers[a:b])) for a, b in ends]
        require(all(i < n for pairs, n in zip(ranges, limits) for i, _ in pairs), "hint.shape", prefix)
        return ranges


class Leaves:
    """A certificate of kind `leaves`, read and well-formed; `check` decides it."""

    def __init__(self, graph, prop, document, tensors):
        self.graph, self.prop = graph, prop
        self.arguments = sorted({n.parents[0] for n in graph.nodes if n.kind == "relu"})
        certificate(document, "certkern.leaves.v1", ("trees",), ("thresholds", "bounds", "precision"))
        self.tree_of = [natural(t) for t in typed(document["trees"], list)]
        listed = [rational(t) for t in typed(document.get("thresholds", []), list)]
        self.sets = [typed(kind, str) for kind in typed(document.get("bounds", ["plain"]), list)]
        require(all(kind in ("plain", "slopes") for kind in self.sets), "json.value", "bounds")
        if "precision" in document:  # how the kernel rounds rows; nothing is rounded so here
            require(2 <= natural(document["precision"]) <= 16, "json.number", "precision")
        require(len(self.tree_of) == len(prop.unsafe), "tree.malformed", "a tree for each disjunct")
        trees = len(set(self.tree_of))
        require(max(self.tree_of) < trees, "tree.malformed", "every tree is used")
        hints = Hints(tensors)
        floats = hints.take("threshold.value", (None,), ("F32", "F64"), optional=True) or ()
        require(all(map(math.isfinite, floats)), "tensors.not-finite", "threshold.value")
        self.read_trees(hints, trees, [Fraction(x) for x in floats] + listed)
        self.read_sets(hints)
        self.read_entries(hints)
        require(hints.used == tensors.keys(), "tensors.unused", str(tensors.keys() - hints.used))

    def read_trees(self, hints, trees, thresholds):
        """`self.trees`: of each tree the nodes in preorder: (literal, or None at a leaf; bound set or 0; depth)."""
        offset = hints.take("tree.offset", (None,), optional=True)
        if offset is None:  # one tree, which is a leaf
            require(trees == 1, "tree.malformed", "no trees")
            self.trees = [[(None, min(1, len(self.sets)), 0)]]
            return
        require(len(offset) == trees + 1, "tree.malformed", "trees of cert.json and of tree.offset")
        n = offset[-1]
        kinds = hints.take("tree.kind", (None,), ("U8",))
        require(offset[0] == 0 and n == len(kinds), "tree.malformed", "offsets")
        require(all(a < b for a, b in zip(offset, offset[1:])), "tree.malformed", "offsets")
        nodes, coordinates, indices = (hints.take(f"tree.{x}", (n,)) for x in ("node", "coordinate", "threshold"))
        applied = hints.take("tree.bounds", (n,), optional=True)
        self.trees = []
        for begin, end in zip(offset, offset[1:]):
            tree, open_depths = [], [0]
            for k in range(begin, end):
                require(open_depths, "tree.malformed", "nodes left over")
                depth, literal = open_depths.pop(), None
                place = (nodes[k], coordinates[k], indices[k])
                require(kinds[k] <= 1, "tree.malformed", "kind")
                require(depth + kinds[k] <= MAX_TREE_DEPTH, "limit.tree-depth")
                if kinds[k] == 0:
                    require(place == (0, 0, 0), "tree.malformed", "a literal at a leaf")
                else:
                    good = place[0] < len(self.graph.nodes) and place[1] < self.graph.nodes[place[0]].size
                    require(good, "tree.literal")
                    require(place[2] < len(thresholds), "tree.literal", "threshold")
                    literal = (place[0], place[1], thresholds[place[2]])
                    open_depths += [depth + 1, depth + 1]
                chosen = applied[k] if applied else min(1, len(self.sets)) if depth == 0 else 0
                require(chosen <= len(self.sets), "tree.malformed", "bound set")
                tree.append((literal, chosen, depth))
            require(not open_depths, "tree.malformed", "a child is missing")
            deepest, widest = max(depth for _, _, depth in tree), max(node.size for node in self.graph.nodes)
            require(deepest * widest <= MAX_PATH_ELEMENTS, "limit.path-elements")
            self.trees.append(tree)

    def read_sets(self, hints):
        """`self.tables[s][start]`: pairs (coordinate, slopes below, slopes above) of a set of kind `slopes`."""
        self.tables = [{} for _ in self.sets]
        for match in hints.names(r"bounds\.N\.N\.rows"):
            s, start = int(match[1]), int(match[2])
            if s < len(self.sets) and self.sets[s] == "slopes":
                require(start in self.arguments, "hint.shape", match[0])
                rows = hints.coordinates(match[0], self.graph.nodes[start].size)
                tables = hints.slopes(f"bounds.{s}.{start}", ("lower", "upper"), len(rows), self.graph)
                self.tables[s][start] = list(zip(rows, tables["lower"], tables["upper"]))

    def read_entries(self, hints):
        """`self.entries`: for each (tree, leaf, disjunct) its slopes and the multipliers of rows and splits."""
        places = [(t, number, d, depth) for t, tree in enumerate(self.trees)
                  for number, (literal, _, depth) in enumerate(tree) if literal is None
                  for d, tree_of_d in enumerate(self.tree_of) if tree_of_d == t]  # fmt: skip
        slopes = hints.slopes("leaf", ("slope",), len(places), self.graph)["slope"]
        rows = hints.ragged("leaf.rows", "index", [len(self.prop.unsafe[d]) for _, _, d, _ in places])
        splits = hints.ragged("leaf.splits", "depth", [depth for _, _, _, depth in places])
        self.entries = {place[:3]: entry for place, entry in zip(places, zip(slopes, rows, splits))}

    def check(self):
        """CASES. Each disjunct is refuted by its tree: on X_d if the tree serves no other disjunct, else on X."""
        program = graphs.program(self.graph)
        unproved = [at for t in range(len(self.trees)) for at in self.walk(program, t)]
        require(not unproved, "leaf.unproved", f"(tree, node, disjunct): {unproved[:5]}")

    def walk(self, program, t):
        """SPLIT and SCOPE. The entries that are not refuted on the regions of their leaves. Bounds were proved at the
        leaf or above it and used no row that other disjuncts lack. The leaves cover: children of a split share τ."""
        group = [d for d, tree in enumerate(self.tree_of) if tree == t]
        box = region(self.prop, group[0]) if len(group) == 1 else list(zip(self.prop.lower, self.prop.upper))
        place, empty = variable_places(self.graph, self.prop), is_empty([box])
        stack = [(None if empty else self.interval_bounds(program, box), [], empty)]
        for number, (literal, chosen, depth) in enumerate(self.trees[t]):
            bounds, path, empty = stack.pop()  # what is assumed: bounds, literals, and whether no x is left
            if not empty and chosen:
                bounds = self.apply_set(program, bounds, chosen)
                empty = is_empty(bounds)
            if literal is not None:
                for at_least in (False, True):  # the child with g ≥ τ comes first, so it is pushed last
                    child = bounds if empty else assume(bounds, (*literal, at_least))
                    stack.append((child, path + [(*literal, at_least)], empty or is_empty([child[literal[0]]])))
                continue
            for d in () if empty else group:
                slopes, betas, splits = self.entries[t, number, d]
                rows = self.prop.unsafe[d]
                spoken = [r for r in rows if any(variable[0] == "y" for variable, _ in r.terms)] or rows
                tries = [[(rows[i], beta) for i, beta in betas]] if betas else [[(r, Fraction(1))] for r in spoken]
                literals = [(path[k], beta) for k, beta in splits]
                if not any(refuted(program, bounds, r, literals, place, slopes) for r in tries or [[]]):
                    yield t, number, d

    def interval_bounds(self, program, box, known=None):
        """Interval bounds of every node on the box, intersected with what is known."""
        result = []
        for v, value in enumerate(program):
            if value is None:
                result.append(box)
                continue
            fresh = ibp(value, result, self.graph.nodes[v].size)
            result.append(intersect(known[v], fresh) if known else fresh)
        return result

    def apply_set(self, program, known, chosen):
        """Bound set `chosen` − 1 on the region of a tree node. Only `known` bounds are used, which hold there, so what
        is returned holds there and below."""
        bounds = self.interval_bounds(program, known[self.graph.input_id], known)
        table = self.tables[chosen - 1]
        for start in self.arguments:
            rows = [(i, {}, {}) for i in range(self.graph.nodes[start].size)] + table.get(start, [])
            for i, below, above in rows:
                if is_empty(bounds):
                    return bounds
                if bounds[start][i][0] < 0 < bounds[start][i][1]:
                    bounds[start] = list(bounds[start])
                    bounds[start][i] = intermediate(program, bounds, start, i, below, above)
        return bounds


# Bundles (SPEC, section 4) -------------------------------------------------------------------------------------------

ROLES = ("graph", "payload", "property", "certificate")
PROPOSITIONS = {"graph": "well-shaped", "leaves": "unsat", "witness": "sat"}


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def read_bundle(folder):
    """kind, the bytes of each role with the name of its file, and the digests that the manifest names."""
    names = os.listdir(folder)
    plain = all(os.path.isfile(p) and not os.path.islink(p) for p in (os.path.join(folder, n) for n in names))
    require(plain and "bundle.json" in names, "bundle.file", "plain files and a manifest")
    manifest = read_json(read_file(os.path.join(folder, "bundle.json")))
    require(isinstance(manifest, dict), "json.type")
    form = manifest.get("format", "certkern.bundle.v1")
    require(form == "certkern.bundle.v1", "bundle.format")
    fields(manifest, ("format", "kind", "files", "digests"), ("provenance",))
    kind = typed(manifest["kind"], str)
    require(kind in ("leaves", "witness"), "bundle.format", kind)
    files = {role: typed(name, str) for role, name in fields(manifest["files"], ROLES, ("hints",)).items()}
    require(kind == "leaves" or "hints" not in files, "bundle.file", "hints of a witness")
    require(set(files.values()) == set(names) - {"bundle.json"}, "bundle.file", "files of the folder")
    require(len(set(files.values())) == len(files), "bundle.file", "one file for two roles")
    digests = fields(manifest["digests"], ("graph", "payload", "input", "output"))
    for value in digests.values():
        require(re.fullmatch("[0-9a-f]{64}", typed(value, str)), "bundle.digest", value)
    typed(manifest.get("provenance", {}), dict)  # believed by nobody
    return kind, {role: (name, read_file(os.path.join(folder, name))) for role, name in files.items()}, digests


def read_property(name, data):
    return (read_property_json if name.endswith(".json") else read_vnnlib)(data)


def check(path, own_property=None):
    """The kind, the digests and the claim digest of what is accepted; raises `Rejected` otherwise."""
    if os.path.isdir(path):
        kind, files, expected = read_bundle(path)
    else:
        kind, files, expected = "graph", {"graph": (path, read_file(path))}, {}
    graph = graphs.read_graph(read_json(files["graph"][1]))
    graphs.read_payload(graph, read_tensors(files["payload"][1]) if "payload" in files else {})
    digests = {"graph": graph_digest(graph), "payload": payload_digest(graph)}
    if kind == "graph":
        return kind, digests, claim_digest(kind, digests)
    prop = read_property(*files["property"])
    widths = (len(prop.lower), prop.outputs)
    require(widths == (graph.nodes[graph.input_id].size, len(graph.outputs)), "property.widths", str(widths))
    digests |= {"input": input_digest(prop), "output": output_digest(graph, prop)}
    for role, value in expected.items():
        require(digests[role] == value, f"bind.{role}", f"{value} is not {digests[role]}")
    document = read_json(files["certificate"][1])
    if kind == "witness":
        check_witness(graph, prop, document)
    else:
        Leaves(graph, prop, document, read_tensors(files["hints"][1]) if "hints" in files else {}).check()
    if own_property is not None:
        own = read_property(own_property, read_file(own_property))
        require(input_digest(own) == digests["input"], "bind.input", "the user's property")
        require(output_digest(graph, own) == digests["output"], "bind.output", "the user's property")
    return kind, digests, claim_digest(kind, digests)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="reference", description=__doc__.splitlines()[0], exit_on_error=False)
    parser.add_argument("path")
    parser.add_argument("--property", help="the user's own property file, to compare with that of the bundle")
    parser.add_argument("--json", action="store_true", help="print one JSON object before the verdict")
    report = {}
    try:
        options = parser.parse_args(arguments)
        kind, digests, claim = check(options.path, options.property)
        code, verdict = 0, f"s ACCEPTED {PROPOSITIONS[kind]} {claim}"
        report = {"kind": kind, "claim": claim, **digests}
    except Rejected as error:
        limit = error.code.startswith("limit.")
        code = 3 if limit else 1 if error.code in NOT_PROVED else 2
        verdict = f"s LIMIT {error.code[6:]}" if limit else f"s REJECTED {error.code}"
        report = {"reason": str(error)}
    except (argparse.ArgumentError, OSError) as error:
        print(error, file=sys.stderr)
        return 64
    if options.json:
        print(json.dumps({**report, "verdict": verdict, "exit": code}))
    else:
        print(*(f"{role:8} {value}" for role, value in report.items()), sep="\n")
    print(verdict)
    return code


if __name__ == "__main__":
    sys.exit(main())
