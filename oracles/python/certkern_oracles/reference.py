"""A second checker of certkern bundles, in exact fractions, written from schemas/SPEC.md for a suspicious reader.

    python -m certkern_oracles.reference PATH [--property FILE] [--json]

The last line is the verdict; exit codes: 0 accepted, 1 not proved, 2 malformed or unbound, 3 a limit, 64 usage.
The bytes are read in `reference_read`, operators are in `reference_graph`; here are the rules, the certificate and
the digests. Everything is exact but two roundings, both outward: bounds (`outward`) and slopes (`short`).
"""

import argparse
import hashlib
import json
import math
import re
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from . import reference_graph as graphs
from .reference_read import Number, Rejected, Row, cut, formatted, natural, rational, read_json, read_property
from .reference_read import read_tensors, require, typed, within

BOUND_GRID = 1 << 256  # bounds lie on the grid of 2^-256
SLOPE_GRID = 1 << 40  # slopes are rounded down to that of 2^-40: any slope in [0, 1] is good
NOT_PROVED = ("leaf.unproved", "witness.property", "witness.region")  # well formed and bound
PROPOSITIONS = {"graph": "well-shaped", "leaves": "unsat", "witness": "sat"}

# Digests (SPEC, section 6) -------------------------------------------------------------------------------------------


def signed(z):
    """The bytes of an integer of any size."""
    magnitude = abs(z).to_bytes((abs(z).bit_length() + 7) // 8, "little")
    return (b"\1" if z > 0 else b"\2") + canonical(len(magnitude)) + magnitude if z else b"\0"


# The bytes of a value by its type; an int is a natural number, a tuple is its parts only
CANONICAL = {
    bytes: bytes,
    bool: lambda value: bytes([value]),
    int: lambda value: value.to_bytes(8, "little"),
    str: lambda value: canonical(len(value.encode())) + value.encode(),
    Fraction: lambda value: signed(value.numerator) + signed(value.denominator),
    list: lambda items: canonical(len(items)) + b"".join(map(canonical, items)),
    tuple: lambda parts: b"".join(map(canonical, parts)),
}


def canonical(value):
    return CANONICAL[type(value)](value)


def digest(tag, *parts):
    return hashlib.sha256(canonical((f"certkern/{tag}/1", *parts))).hexdigest()


def digests(graph, prop=None):
    """The digest of each role."""
    nodes = [(n.kind, n.parents, n.shape, [(name, isinstance(a, list), a) for name, a in sorted(n.attributes.items())])
             for n in graph.nodes]  # fmt: skip
    tensors = [(i, name, f"binary{tensor.dtype[1:]}", list(tensor.shape), tensor.data)
               for i, node in enumerate(graph.nodes) for name, tensor in sorted(node.payload.items())]  # fmt: skip
    found = {"graph": digest("graph", graph.input_id, graph.output_ids, nodes), "payload": digest("payload", tensors)}
    if prop:
        unsafe = [[([(side == "y", i, c) for (side, i), c in row.terms], row.bound, row.strict) for row in rows]
                  for rows in prop.unsafe]  # fmt: skip
        output = digest("output", graph.output_ids, len(prop.box), prop.outputs, unsafe)
        found |= {"input": digest("input", prop.box), "output": output}
    return found


def claim_digest(kind, found):
    return digest("claim", kind, PROPOSITIONS[kind], *map(bytes.fromhex, found.values()))


# Rules (rules.md) ----------------------------------------------------------------------------------------------------


def outward(lower, upper):
    """Premise: lower ≤ v ≤ upper. Conclusion: the same for the grid points returned."""
    return Fraction(math.floor(lower * BOUND_GRID), BOUND_GRID), Fraction(math.ceil(upper * BOUND_GRID), BOUND_GRID)


def ibp(value, bounds, rounded=True):
    """IBP. Premise: `bounds[p]` hold for every parent p of the node. Conclusion: the bounds returned hold for it."""
    if isinstance(value, int):
        return [(max(low, Fraction(0)), max(high, Fraction(0))) for low, high in bounds[value]]
    result = []
    for i, c in enumerate(value.constant):
        terms = [(scale * w, bounds[p][j]) for p, scale, rows in value.terms for j, w in rows[i]]
        low, high = (c + sum(a * pair[side if a > 0 else 1 - side] for a, pair in terms) for side in (0, 1))
        result.append(outward(low, high) if rounded else (low, high))
    return result


def intersect(old, new):
    """Premise: both hold. Conclusion: so does the intersection; a pair (l, u) with l > u says that no x is left."""
    return [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(old, new)]


def interval_bounds(program, box, known=None, rounded=True):
    """IBP of every node on the box, intersected with what is known."""
    bounds = []
    for v, value in enumerate(program):
        fresh = box if value is None else ibp(value, bounds, rounded)
        bounds.append(intersect(known[v], fresh) if known else fresh)
    return bounds


def value_at(program, point):
    """PROGRAM. The exact values of all nodes at a point: their bounds on a box without width."""
    return [[low for low, _ in pairs] for pairs in interval_bounds(program, [(x, x) for x in point], rounded=False)]


def short(slope):
    return Fraction(math.floor(slope * SLOPE_GRID), SLOPE_GRID)


def relu_line(low, high, below, slope):
    """UNIVARIATE and LINES for relu. Premise: low ≤ z ≤ high, slope in [0, 1] or None. Conclusion: (s, b) such that
    s·z + b is a lower line of relu on [low, high] if `below`, else an upper line."""
    if low >= 0 or high <= 0:
        return Fraction(low >= 0), Fraction(0)
    if below:
        return Fraction(high > -low) if slope is None else short(slope), Fraction(0)
    s = short(high / (high - low))  # of any slope in [0, 1]: relu is convex, so the two ends decide
    return s, max(-s * low, high - s * high)


def back(program, bounds, row, constant, slopes):
    """BACK. Premise: `bounds` hold on X ∩ S. Conclusion: Σ row[v][i] · v_i + constant ≥ the number returned on X ∩ S.
    Nodes are removed in reverse order, so every consumer of a node is gone before the node itself; none is left."""
    rows = [defaultdict(int, row.get(v, {})) for v in range(len(program))]
    for v in reversed(range(len(program))):
        value, entries = program[v], {i: a for i, a in rows.pop().items() if a != 0}
        if value is None:  # the input: the least value over the box
            constant += sum(a * bounds[v][i][0 if a > 0 else 1] for i, a in entries.items())
        elif isinstance(value, int):
            for i, a in entries.items():
                s, b = relu_line(*bounds[value][i], a > 0, slopes.get(v, {}).get(i))
                rows[value][i] += a * s
                constant += a * b
        elif entries:
            constant += sum(a * value.constant[i] for i, a in entries.items())
            numbers, unit = graphs.integers(entries.values())
            for p, scale, matrix in value.terms:
                sums, factor = defaultdict(int), scale * unit
                for i, a in zip(entries, numbers):
                    for j, w in matrix[i]:
                        sums[j] += a * w
                for j, total in sums.items():
                    rows[p][j] += total * factor
    return constant


def intermediate(program, bounds, v, i, below, above):
    """INTERMEDIATE. Premise: `bounds` hold. Conclusion: the tighter bounds of coordinate i of node v hold."""
    low = back(program, bounds, {v: {i: Fraction(1)}}, Fraction(0), below)
    high = -back(program, bounds, {v: {i: Fraction(-1)}}, Fraction(0), above)
    return intersect([bounds[v][i]], [outward(low, high)])[0]


def assume(bounds, row):
    """LITERAL and SPLIT. Premise: `bounds` hold on X ∩ S. Conclusion: these hold where the literal does too."""
    v = row.terms[0][0][0]
    return bounds[:v] + [cut(bounds[v], [row], v)] + bounds[v + 1 :]


def is_empty(bounds):
    """EMPTY by bounds: strictly crossed ends leave no x."""
    return any(low > high for pairs in bounds for low, high in pairs)


def refuted(program, bounds, weighted, slopes):
    """BETA and EMPTY. Premise: `bounds` hold on X ∩ S; the rows r ≤ b (or <) of the disjunct and of S have β ≥ 0.
    Every point of X ∩ S in the disjunct makes Σ β·(r − b) ≤ 0 (< 0 where an open row has β > 0). Conclusion if True:
    the sum is ≥ a number that says otherwise, so there is no such point."""
    total, constant = defaultdict(lambda: defaultdict(Fraction)), Fraction(0)
    for row, beta in weighted:
        for (v, i), c in row.terms:
            total[v][i] += beta * c
        constant -= beta * row.bound
    least = back(program, bounds, total, constant, slopes)
    return least > 0 or (least >= 0 and any(beta > 0 and row.strict for row, beta in weighted))


def at_nodes(graph, rows):
    """The rows with (node, flat coordinate) for each variable."""
    places = {"x": [(graph.input_id, i) for i in range(graph.nodes[graph.input_id].size)], "y": graph.outputs}
    return [row._replace(terms=[(places[side][i], c) for (side, i), c in row.terms]) for row in rows]


def is_unsafe(graph, program, prop, point):
    """PROGRAM. Whether the point and its values lie in a disjunct, exactly."""
    values = value_at(program, point)
    sums = [[(sum(c * values[v][i] for (v, i), c in row.terms), row.bound, row.strict)
             for row in at_nodes(graph, rows)] for rows in prop.unsafe]  # fmt: skip
    return any(all(total < b or (total == b and not strict) for total, b, strict in rows) for rows in sums)


def check_witness(graph, prop, document):
    """WITNESS. Premise: the point lies in X and its values in a disjunct, exactly. Conclusion: the property fails."""
    point = formatted(document, "certkern.witness.v1", {"x": [rational]})["x"]
    require(len(point) == len(prop.box), "hint.shape", "a coordinate for each input")
    require(all(low <= x <= high for x, (low, high) in zip(point, prop.box)), "witness.region")
    require(is_unsafe(graph, graphs.program(graph), prop, point), "witness.property")


# Certificate of kind `leaves` (SPEC, section 5) ----------------------------------------------------------------------


class Hints(dict):
    """The tensors of cert.safetensors by name; each is taken out once, its type and shape checked."""

    def take(self, name, shape, dtypes=("U32",)):
        """The values of a tensor; None in `shape` stands for any length."""
        tensor = require(self.pop(name, None), "tensors.missing", name)
        require(tensor.dtype in dtypes, "tensors.dtype", name)
        good = len(tensor.shape) == len(shape) and all(m in (None, n) for m, n in zip(shape, tensor.shape))
        require(good, "tensors.shape", name)
        return tensor.values

    def numbers(self, name, shape, most=math.inf):
        """Slopes (most = 1) or multipliers: in [0, most]."""
        values = self.take(name, shape, ("F32", "F64"))
        require(all(0 <= x <= most and math.isfinite(x) for x in values), "hint.domain", name)
        return [Fraction(x) for x in values]

    def coordinates(self, name, size):
        """Ascending coordinates of a node of this size."""
        values = self.take(name, (None,))
        require(all(a < b for a, b in zip(values, [*values[1:], size])), "hint.shape", name)
        return values

    def numbered(self, pattern):
        """The numbers that stand for N in the names of this pattern, ascending."""
        grammar = re.compile(re.escape(pattern).replace("N", "(0|[1-9][0-9]{0,9})"))
        return sorted([int(n) for n in match.groups()] for match in map(grammar.fullmatch, self) if match)

    def slopes(self, prefix, suffixes, count, graph):
        """For each suffix `count` tables: slopes by relu with `<prefix>.<act>.columns` and coordinate."""
        tables = [[{} for _ in range(count)] for _ in suffixes]
        for (act,) in self.numbered(f"{prefix}.N.columns"):
            require(act < len(graph.nodes) and graph.nodes[act].kind == "relu", "hint.shape", f"{prefix}.{act}")
            columns = self.coordinates(f"{prefix}.{act}.columns", graph.nodes[act].size)
            for suffix, rows in zip(suffixes, tables):
                values = iter(self.numbers(f"{prefix}.{act}.{suffix}", (count, len(columns)), 1))
                for row in rows:
                    row[act] = dict(zip(columns, values))
        return tables

    def ragged(self, prefix, index, limits):
        """`<prefix>.offset`, `.<index>`, `.multiplier`: for each entry its pairs (index, multiplier)."""
        if f"{prefix}.offset" not in self:
            return [[] for _ in limits]
        offset = self.take(f"{prefix}.offset", (len(limits) + 1,))
        items, multipliers = self.take(f"{prefix}.{index}", (None,)), self.numbers(f"{prefix}.multiplier", (None,))
        good = offset[0] == 0 and list(offset) == sorted(offset) and offset[-1] == len(items) == len(multipliers)
        require(good, "hint.shape", prefix)
        ranges = [list(zip(items[a:b], multipliers[a:b])) for a, b in zip(offset, offset[1:])]
        require(all(i < n for pairs, n in zip(ranges, limits) for i, _ in pairs), "hint.shape", prefix)
        return ranges


def check_leaves(graph, prop, document, hints):
    """CASES, SPLIT and SCOPE. Conclusion: each disjunct is refuted by its tree, on X_d if the tree serves no other,
    else on X. Bounds were proved at the leaf or above it and used no row that other disjuncts lack. The leaves cover:
    the children of a split share τ."""
    program = graphs.program(graph)
    nodes, tables, entries = read_leaves(graph, prop, document, hints)
    for k, (group, split, chosen, depth) in enumerate(nodes):
        if depth == 0:  # a root; what is assumed below: bounds, None if no x is left, and literals
            box = cut(prop.box, prop.unsafe[group[0]] if len(group) == 1 else [], "x")
            stack = [(interval_bounds(program, box), [])]
        bounds, path = stack.pop()
        bounds = apply_set(program, bounds, tables[chosen - 1]) if bounds and chosen else bounds
        bounds = None if bounds and is_empty(bounds) else bounds
        if split:  # v ≤ τ, and −v ≤ −τ, which comes first and so is pushed last
            for sign in (1, -1):
                row = Row([(split[0], sign)], sign * split[1], False)
                stack.append((bounds and assume(bounds, row), [*path, row]))
            continue
        for d, entry in zip(group, entries):
            good = not bounds or closed(graph, program, bounds, path, prop.unsafe[d], *entry)
            require(good, "leaf.unproved", f"node {k}, disjunct {d}")


def closed(graph, program, bounds, path, rows, slopes, betas, splits):
    """Whether some combination of the rows of a disjunct, with splits of the path, refutes it at a leaf."""
    spoken = [i for i, r in enumerate(rows) if any(side == "y" for (side, _), _ in r.terms)] or range(len(rows))
    tries = [betas] if betas else [[(i, Fraction(1))] for i in spoken] or [[]]
    located, literals = at_nodes(graph, rows), [(path[i], beta) for i, beta in splits]
    return any(refuted(program, bounds, [(located[i], beta) for i, beta in row] + literals, slopes) for row in tries)


def apply_set(program, known, table):
    """A bound set on the region of a tree node. Only `known` bounds are used, which hold there, so what is returned
    holds there and below."""
    bounds = interval_bounds(program, known[program.index(None)], known)
    for start in sorted({value for value in program if isinstance(value, int)}):
        for i, below, above in [(i, {}, {}) for i in range(len(bounds[start]))] + table.get(start, []):
            if bounds[start][i][0] < 0 < bounds[start][i][1] and not is_empty(bounds):
                bounds[start][i] = intermediate(program, bounds, start, i, below, above)
    return bounds


def read_leaves(graph, prop, document, hints):
    """The nodes of all trees, the tables of the bound sets, and for each entry its slopes and the multipliers of rows
    and splits."""
    members = {"trees": [natural], "thresholds?": [rational], "bounds?": [str], "precision?": object}
    document = formatted(document, "certkern.leaves.v1", members)
    trees, sets = document["trees"], document.get("bounds", ["plain"])
    require(set(sets) <= {"plain", "slopes"}, "json.value", "bounds")
    # how the kernel rounds its rows; nothing is rounded so here
    require(2 <= natural(document.get("precision", Number("2"))) <= 16, "json.number", "precision")
    require(len(trees) == len(prop.unsafe) and max(trees) < len(set(trees)), "tree.malformed", "trees of disjuncts")
    listed = "tree.offset" in hints and "threshold.value" in hints
    floats = hints.take("threshold.value", (None,), ("F32", "F64")) if listed else ()
    require(all(map(math.isfinite, floats)), "tensors.not-finite", "threshold.value")
    groups = [[d for d, tree in enumerate(trees) if tree == t] for t in sorted(set(trees))]
    nodes = read_trees(graph, hints, groups, len(sets), [Fraction(x) for x in floats] + document.get("thresholds", []))
    tables = [{} for _ in sets]  # by argument of a relu: triples (coordinate, slopes below, slopes above)
    for s, start in hints.numbered("bounds.N.N.rows"):
        if s < len(sets) and sets[s] == "slopes":
            require(any(node.kind == "relu" and node.parents == [start] for node in graph.nodes), "hint.shape", start)
            rows, name = hints.coordinates(f"bounds.{s}.{start}.rows", graph.nodes[start].size), f"bounds.{s}.{start}"
            tables[s][start] = list(zip(rows, *hints.slopes(name, ("lower", "upper"), len(rows), graph)))
    entries = [(d, depth) for group, split, _, depth in nodes if not split for d in group]
    (slopes,) = hints.slopes("leaf", ("slope",), len(entries), graph)
    rows = hints.ragged("leaf.rows", "index", [len(prop.unsafe[d]) for d, _ in entries])
    splits = hints.ragged("leaf.splits", "depth", [depth for _, depth in entries])
    require(not hints, "tensors.unused", ", ".join(hints))
    return nodes, tables, zip(slopes, rows, splits)


def read_trees(graph, hints, groups, sets, thresholds):
    """The nodes of all trees in preorder: the disjuncts of the tree; ((node, coordinate), τ) of a split, None at a
    leaf; the bound set, from 1, or 0; the depth."""
    if "tree.offset" not in hints:  # one tree, which is a leaf
        require(len(groups) == 1, "tree.malformed", "no trees")
        return [(groups[0], None, min(1, sets), 0)]
    offset = hints.take("tree.offset", (None,))
    require(len(offset) == len(groups) + 1, "tree.malformed", "trees of cert.json and of tree.offset")
    kinds = hints.take("tree.kind", (None,), ("U8",))
    require(list(offset) == sorted({0, *offset, len(kinds)}), "tree.malformed", "offsets ascend from 0 to the end")
    columns = [hints.take(f"tree.{name}", (len(kinds),)) for name in ("node", "coordinate", "threshold")]
    applied = hints.take("tree.bounds", (len(kinds),)) if "tree.bounds" in hints else [None] * len(kinds)
    listed, nodes = list(zip(kinds, *columns, applied)), []
    for begin, end, group in zip(offset, offset[1:], groups):
        depths = [0]  # of the nodes to come
        for kind, v, i, t, chosen in listed[begin:end]:
            require(depths and kind <= 1, "tree.malformed", "nodes left over, or an unknown kind")
            depth = depths.pop()
            within(depth + kind, "tree-depth")
            require(kind == 1 or v == i == t == 0, "tree.malformed", "a literal at a leaf")
            if kind == 1:
                require(v < len(graph.nodes) and i < graph.nodes[v].size and t < len(thresholds), "tree.literal")
                depths += [depth + 1, depth + 1]
            chosen = (0 if depth else min(1, sets)) if chosen is None else chosen
            require(chosen <= sets, "tree.malformed", "bound set")
            nodes.append((group, ((v, i), thresholds[t]) if kind == 1 else None, chosen, depth))
        require(not depths, "tree.malformed", "a child is missing")
        within(max(depth for *_, depth in nodes[begin:]) * max(node.size for node in graph.nodes), "path-elements")
    return nodes


# Bundles (SPEC, section 4) -------------------------------------------------------------------------------------------


def read_bundle(folder):
    """kind, the bytes of each role with the name of its file, and the digests that the manifest names."""
    paths = {path.name: path for path in folder.iterdir()}
    require("bundle.json" in paths and all(p.is_file() and not p.is_symlink() for p in paths.values()), "bundle.file")
    members = {"kind": str, "files": object, "digests": object, "provenance?": object}
    manifest = formatted(read_json(paths["bundle.json"].read_bytes()), "certkern.bundle.v1", members)
    _, kind, files, expected, *provenance = manifest.values()
    require(kind in ("leaves", "witness"), "bundle.format", kind)
    files = typed(files, dict.fromkeys(("graph", "payload", "property", "certificate", "hints?"), str))
    good = sorted(["bundle.json", *files.values()]) == sorted(paths) and (kind == "leaves" or "hints" not in files)
    require(good, "bundle.file", "one role for each file, no hints of a witness")
    expected = typed(expected, dict.fromkeys(("graph", "payload", "input", "output"), str))
    require(all(re.fullmatch("[0-9a-f]{64}", value) for value in expected.values()), "bundle.digest")
    typed(provenance, [dict])  # believed by nobody
    return kind, {role: (name, paths[name].read_bytes()) for role, name in files.items()}, expected


def check(path, own_property=None):
    """The kind, the digests and the claim digest of what is accepted; raises `Rejected` otherwise."""
    kind, files, expected = read_bundle(path) if path.is_dir() else ("graph", {"graph": ("", path.read_bytes())}, {})
    graph = graphs.read_graph(read_json(files["graph"][1]))
    graphs.read_payload(graph, read_tensors(files["payload"][1]) if "payload" in files else {})
    if kind == "graph":
        return kind, digests(graph), claim_digest(kind, digests(graph))
    prop = read_property(*files["property"])
    require((len(prop.box), prop.outputs) == (graph.nodes[graph.input_id].size, len(graph.outputs)), "property.widths")
    found = digests(graph, prop)
    for role, value in expected.items():
        require(found[role] == value, f"bind.{role}", f"{value} is not {found[role]}")
    document = read_json(files["certificate"][1])
    typed(typed(document, dict).get("format", ""), str)
    if kind == "witness":
        check_witness(graph, prop, document)
    else:
        check_leaves(graph, prop, document, Hints(read_tensors(files["hints"][1]) if "hints" in files else {}))
    own = digests(graph, read_property(own_property.name, own_property.read_bytes()) if own_property else prop)
    for role in ("input", "output"):
        require(own[role] == found[role], f"bind.{role}", "the user's property")
    return kind, found, claim_digest(kind, found)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="reference", description=__doc__.splitlines()[0], exit_on_error=False)
    parser.add_argument("path", type=Path)
    parser.add_argument("--property", type=Path, help="the user's own property, to compare with that of the bundle")
    parser.add_argument("--json", action="store_true", help="print one JSON object before the verdict")
    try:
        options = parser.parse_args(arguments)
        kind, found, claim = check(options.path, options.property)
        code, verdict, report = 0, f"s ACCEPTED {PROPOSITIONS[kind]} {claim}", {"kind": kind, "claim": claim, **found}
    except Rejected as error:
        group, _, name = error.code.partition(".")
        code, report = 3 if group == "limit" else 1 if error.code in NOT_PROVED else 2, {"reason": str(error)}
        verdict = f"s LIMIT {name}" if group == "limit" else f"s REJECTED {error.code}"
    except graphs.Unsupported as error:
        code, verdict, report = 69, str(error), {}
    except (argparse.ArgumentError, OSError) as error:
        print(error, file=sys.stderr)
        return 64
    lines = (f"{role:8} {value}" for role, value in report.items())
    print(json.dumps({**report, "verdict": verdict, "exit": code}) if options.json else "\n".join(lines))
    print(verdict)
    return code


if __name__ == "__main__":
    sys.exit(main())
