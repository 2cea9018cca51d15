"""The pass that `certkern check` makes over a bundle of kind `leaves`, in float64 numpy, as a user of numpy writes it.

No bound here is a proof: nothing is rounded outward. The replay reads the bundle itself, computes bounds at the roots
(intervals, then CROWN rows with default slopes, then with given slopes) and one backward pass for each entry, many
entries at once.

    replay.py BUNDLE           one run; prints a JSON object
    replay.py --serve BUNDLE   one run for each line on standard input; answers each with a JSON object on a line

Two forms of certificate are understood: splits of ReLU arguments at 0 with bounds at the roots, and boxes (splits of
the input) each with bounds of its own. Needs numpy alone. Seconds are those of the processor."""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from pathlib import Path

import numpy as np

BATCH = 128
"""Entries, or rows of bounds, that are worked on at once: their arrays stay in the processor's cache."""

ROW_BYTES = 1 << 18
"""The most bytes of an array of rows, for wide networks."""


class Unsupported(Exception):
    """A bundle of another form."""


# --- reading ---------------------------------------------------------------------------------------------------------

TYPES = {"F32": "<f4", "F64": "<f8", "U32": "<u4", "U8": "u1"}


def tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file, mapped."""
    raw = np.memmap(path, mode="r", dtype=np.uint8)
    length = int(raw[:8].view("<u8")[0])
    header = json.loads(raw[8 : 8 + length].tobytes())
    header.pop("__metadata__", None)
    data = raw[8 + length :]
    found = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        found[name] = np.frombuffer(data[start:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return found


def number(value: str | int | float) -> float:
    """A number of a property."""
    if isinstance(value, str) and "/" in value:
        top, bottom = value.split("/")
        return int(top) / int(bottom)
    if isinstance(value, str) and "x" in value:
        return float.fromhex(value)
    return float(value)


class Property:
    """A box and, for each disjunct, its rows `y·Y ≤ bound`; `places[d]` has for each of its rows, those on inputs
    included, the place among these."""

    def __init__(self, path: Path) -> None:
        text = path.read_text()
        if path.suffix == ".json":
            self._json(json.loads(text))
        else:
            self._vnnlib(text)

    def _json(self, document: dict) -> None:
        self.lower = np.array([number(v) for v in document["lower"]])
        self.upper = np.array([number(v) for v in document["upper"]])
        self.disjuncts = []
        for rows in document["unsafe"]:
            found = []
            for row in rows:
                if not row.get("y"):
                    raise Unsupported("a row without an output")
                if row.get("x"):
                    raise Unsupported("a row with inputs and outputs")
                found.append(({int(k): number(v) for k, v in row["y"].items()}, number(row["bound"])))
            self.disjuncts.append(found)
        self.places = [np.arange(len(rows)) for rows in self.disjuncts]

    def _vnnlib(self, text: str) -> None:
        """One box in assertions of its own, and rows that compare two atoms, under `or` and `and`."""
        lower: dict[int, float] = {}
        upper: dict[int, float] = {}
        disjuncts: list[list] = [[]]
        stack: list[list] = [[]]
        for token in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text)):
            if token == "(":
                stack.append([])
            elif token == ")":
                done = stack.pop()
                stack[-1].append(done)
            else:
                stack[-1].append(token)
        for command in stack[0]:
            if command[0] != "assert":
                continue
            choices = self._formula(command[1])
            if len(choices) == 1 and len(choices[0]) == 1 and not choices[0][0][1]:
                ((inputs, _, bound),) = choices[0]
                ((index, sign),) = inputs.items()
                if sign > 0:
                    upper[index] = min(bound, upper.get(index, bound))
                else:
                    lower[index] = max(-bound, lower.get(index, -bound))
                disjuncts = [rows + [None] for rows in disjuncts]
                continue
            if any(inputs for rows in choices for inputs, _, _ in rows):
                raise Unsupported("a disjunct with a box of its own")
            disjuncts = [rows + [(y, bound) for _, y, bound in more] for rows in disjuncts for more in choices]
        self.lower = np.array([lower[i] for i in range(len(lower))])
        self.upper = np.array([upper[i] for i in range(len(upper))])
        self.disjuncts = [[row for row in rows if row] for rows in disjuncts]
        self.places = [np.cumsum([row is not None for row in rows]) - 1 for rows in disjuncts]

    def _formula(self, formula: list) -> list[list[tuple[dict[int, float], dict[int, float], float]]]:
        if formula[0] == "or":
            return [rows for part in formula[1:] for rows in self._formula(part)]
        if formula[0] == "and":
            product: list[list] = [[]]
            for part in formula[1:]:
                product = [rows + more for rows in product for more in self._formula(part)]
            return product
        if formula[0] not in ("<=", ">=", "<", ">") or any(isinstance(side, list) for side in formula[1:]):
            raise Unsupported(f"the formula {formula[0]}")
        left, right = formula[1:] if formula[0][0] == "<" else formula[:0:-1]
        inputs: dict[int, float] = {}
        outputs: dict[int, float] = {}
        bound = 0.0
        for atom, sign in ((left, 1.0), (right, -1.0)):
            if atom[:2] in ("X_", "Y_"):
                terms = inputs if atom[0] == "X" else outputs
                terms[int(atom[2:])] = terms.get(int(atom[2:]), 0.0) + sign
            else:
                bound -= sign * float(atom)
        return [[(inputs, outputs, bound)]]


# --- the network -----------------------------------------------------------------------------------------------------


class Identity:
    """A linear map between shapes of one size."""

    def __init__(self, sign: float = 1.0) -> None:
        self.sign = sign

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        return rows if self.sign > 0 else -rows

    def interval(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (lower, upper) if self.sign > 0 else (-upper, -lower)


class Dense:
    """`W` on the whole of a value."""

    def __init__(self, weight: np.ndarray) -> None:
        self.weight = weight.astype(np.float64)
        self.magnitude = np.abs(self.weight)

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        return rows @ self.weight

    def interval(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        centre, radius = (lower + upper) * 0.5 @ self.weight.T, (upper - lower) * 0.5 @ self.magnitude.T
        return centre - radius, centre + radius


class Convolution:
    """A zero-padded cross-correlation in two dimensions."""

    def __init__(self, node: dict, weight: np.ndarray, before: list[int], after: list[int]) -> None:
        if node["spatial_rank"] != 2 or node["groups"] != 1 or node["dilation"] != [1, 1]:
            raise Unsupported("a convolution with groups or dilation")
        self.before, self.after = tuple(before[-3:]), tuple(after[-3:])
        self.stride, self.kernel = node["stride"], node["kernel"]
        self.start = node["padding"]
        self.end = node.get("padding_after", node["padding"])
        self.weight = weight.astype(np.float64)
        channels = self.weight.shape[1] * self.kernel[0] * self.kernel[1]
        self.matrix = self.weight.reshape(-1, channels)
        # [in·k·k, out], contiguous: the form in which a row is taken back.
        self.back = np.ascontiguousarray(self.matrix.T)

    def _padded(self) -> tuple[int, int]:
        return tuple(size + a + b for size, a, b in zip(self.before[1:], self.start, self.end))

    def _window(self, i: int, j: int) -> tuple[slice, slice]:
        rows, columns = self.after[1:]
        si, sj = self.stride
        return slice(i, i + si * (rows - 1) + 1, si), slice(j, j + sj * (columns - 1) + 1, sj)

    def adjoint(self, rows: np.ndarray) -> np.ndarray:
        count = len(rows)
        inner, (high, wide) = self.before[0], self._padded()
        spread = np.matmul(self.back, rows.reshape(count, self.after[0], -1))
        spread = spread.reshape(count, inner, *self.kernel, *self.after[1:])
        found = np.zeros((count, inner, high, wide))
        for i in range(self.kernel[0]):
            for j in range(self.kernel[1]):
                found[:, :, *self._window(i, j)] += spread[:, :, i, j]
        found = found[:, :, self.start[0] : high - self.end[0], self.start[1] : wide - self.end[1]]
        return found.reshape(count, -1)

    def _forward(self, matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
        count, inner = len(values), self.before[0]
        (top, left), (bottom, right) = self.start, self.end
        padded = np.pad(values.reshape(count, *self.before), ((0, 0), (0, 0), (top, bottom), (left, right)))
        columns = [
            padded[:, :, *self._window(i, j)] for i in range(self.kernel[0]) for j in range(self.kernel[1])
        ]
        columns = np.stack(columns, axis=2).reshape(count, inner * len(columns), -1)
        return np.matmul(matrix, columns).reshape(count, -1)

    def interval(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        centre = self._forward(self.matrix, (lower + upper) * 0.5)
        radius = self._forward(np.abs(self.matrix), (upper - lower) * 0.5)
        return centre - radius, centre + radius


class Node:
    """A value: `sum of maps of parents + bias`, the positive part of an argument, or the input."""

    def __init__(self, kind: str, width: int) -> None:
        self.kind, self.width = kind, width
        self.terms: list[tuple[int, Identity | Dense | Convolution]] = []
        self.bias: np.ndarray | None = None
        self.argument = 0


def network(graph: dict, payload: dict[str, np.ndarray]) -> list[Node]:
    """The nodes of a graph, numbered as there."""
    nodes: list[Node] = []
    for node in graph["nodes"]:
        kind, parents, shape = node["kind"], node["parents"], node["shape"]
        made = Node("affine", int(np.prod(shape)))
        weight, bias = (payload.get(f"{node['id']}.{field}") for field in ("weight", "bias"))
        if (kind in ("linear", "conv") and weight is None) or "values" in node:
            raise Unsupported("numbers in the nodes")
        match kind:
            case "input":
                made.kind = "input"
            case "relu":
                made.kind, made.argument = "relu", parents[0]
            case "const":
                made.bias = payload[f"{node['id']}.values"].ravel().astype(np.float64)
            case "linear":
                if nodes[parents[0]].width != weight.shape[1]:
                    raise Unsupported("a linear node on many rows")
                made.terms, made.bias = [(parents[0], Dense(weight))], bias.astype(np.float64)
            case "conv":
                before = graph["nodes"][parents[0]]["shape"]
                made.terms = [(parents[0], Convolution(node, weight, before, shape))]
                made.bias = np.repeat(bias.astype(np.float64), made.width // len(bias))
            case "add":
                made.terms = [(parent, Identity()) for parent in parents]
            case "sub":
                made.terms = [(parents[0], Identity()), (parents[1], Identity(-1.0))]
            case "flatten" | "reshape" | "detach":
                made.terms = [(parents[0], Identity())]
            case _:
                raise Unsupported(f"the operator {kind}")
        nodes.append(made)
    return nodes


# --- bounds and lines ------------------------------------------------------------------------------------------------

Bounds = dict[int, tuple[np.ndarray, np.ndarray]]
"""Lower and upper ends by node, `[scopes, width]`."""


class Lines:
    """Of one ReLU: slopes of the lower and of the upper line, the height of the upper; all `[scopes, 1, width]`."""

    def __init__(self, lower: np.ndarray, upper: np.ndarray) -> None:
        lower, upper = lower[:, None], upper[:, None]
        self.open = (lower < 0) & (upper > 0)
        self.chord = np.where(self.open, upper / np.where(self.open, upper - lower, 1.0), lower >= 0)
        self.height = np.where(self.open, -self.chord * lower, 0.0)
        self.low = np.where(self.open, upper > -lower, self.chord)


def interval_bounds(nodes: list[Node], lower: np.ndarray, upper: np.ndarray) -> Bounds:
    """Interval bounds of every node on boxes `[scopes, inputs]`."""
    bounds: Bounds = {}
    for place, node in enumerate(nodes):
        if node.kind == "input":
            bounds[place] = lower, upper
        elif node.kind == "relu":
            low, high = bounds[node.argument]
            bounds[place] = np.maximum(low, 0.0), np.maximum(high, 0.0)
        else:
            low = np.zeros((len(lower), node.width))
            high = low
            if node.bias is not None:
                low, high = low + node.bias, high + node.bias
            for parent, step in node.terms:
                below, above = step.interval(*bounds[parent])
                low, high = low + below, high + above
            bounds[place] = low, high
    return bounds


class Pass:
    """Backward passes over scopes with one region and one set of lines each. `rows` are `[scopes, rows, width]`."""

    def __init__(self, nodes: list[Node], lower: np.ndarray, upper: np.ndarray) -> None:
        self.nodes, self.centre, self.radius = nodes, (lower + upper)[:, None] * 0.5, (upper - lower)[:, None] * 0.5
        self.lines: dict[int, Lines] = {}

    def bound(self, start: int, row: np.ndarray, low: dict[int, np.ndarray]) -> np.ndarray:
        """Lower bounds `[scopes, rows]` of `row · value of start`; `low` are slopes of lower lines
        `[scopes, rows, width]` where they are not those of the lines."""
        waiting = {start: row}
        constant = np.zeros(row.shape[:2])
        for place in range(start, 0, -1):
            row = waiting.pop(place, None)
            if row is None:
                continue
            node = self.nodes[place]
            if node.kind == "relu":
                lines = self.lines[place]
                negative = np.minimum(row, 0.0)
                constant += (negative * lines.height).sum(axis=2)
                slope = low.get(place, lines.low)
                self._add(waiting, node.argument, (row - negative) * slope + negative * lines.chord)
            else:
                self._affine(waiting, node, row, constant)
        (row,) = waiting.values()
        row = row.reshape(*constant.shape, -1)
        return constant + (row * self.centre - np.abs(row) * self.radius).sum(axis=2)

    @staticmethod
    def _add(waiting: dict[int, np.ndarray], place: int, row: np.ndarray) -> None:
        waiting[place] = waiting[place] + row if place in waiting else row

    def _affine(self, waiting: dict[int, np.ndarray], node: Node, row: np.ndarray, constant: np.ndarray) -> None:
        flat = row.reshape(-1, node.width)
        if node.bias is not None:
            constant += (flat @ node.bias).reshape(constant.shape)
        for parent, step in node.terms:
            self._add(waiting, parent, step.adjoint(flat).reshape(*constant.shape, -1))


def apply_bounds(nodes: list[Node], lower: np.ndarray, upper: np.ndarray, given: dict) -> tuple[Bounds, Pass, int]:
    """A bound set on boxes `[scopes, inputs]`: intervals, then rows with default slopes, then rows with the slopes in
    `given`; also how many rows were bounded."""
    bounds = interval_bounds(nodes, lower, upper)
    back = Pass(nodes, lower, upper)
    rows = 0
    for place, node in enumerate(nodes):
        if node.kind != "relu":
            continue
        start = node.argument
        low, high = (ends.copy() for ends in bounds[start])
        unknown = np.flatnonzero(((low < 0) & (high > 0)).any(axis=0))
        rows += len(unknown)
        _tighten(back, start, unknown, low, high, None)
        if start in given:
            _tighten(back, start, given[start]["rows"], low, high, given[start]["slopes"])
        bounds[start] = low, high
        back.lines[place] = Lines(low, high)
    return bounds, back, rows


def _tighten(
    back: Pass, start: int, rows: np.ndarray, low: np.ndarray, high: np.ndarray, slopes: dict | None
) -> None:
    """Intersects the ends `low`, `high` of the coordinates `rows` with a pass from each side."""
    scopes, width = low.shape
    widest = max(node.width for node in back.nodes[: start + 1])
    block = max(1, min(BATCH, ROW_BYTES // (8 * widest * scopes)))
    for first in range(0, len(rows), block):
        part = rows[first : first + block].astype(np.int64)
        units = np.zeros((scopes, len(part), width))
        units[:, np.arange(len(part)), part] = 1.0
        below, above = {}, {}
        for act, (columns, lower, upper) in (slopes or {}).items():
            lines = back.lines[act]
            for found, values in ((below, lower), (above, upper)):
                full = np.repeat(lines.low.astype(np.float64), len(part), axis=1)
                full[:, :, columns] = values[first : first + block]
                found[act] = np.where(lines.open, full, lines.chord)
        low[:, part] = np.maximum(low[:, part], back.bound(start, units, below))
        high[:, part] = np.minimum(high[:, part], -back.bound(start, -units, above))


# --- trees -----------------------------------------------------------------------------------------------------------


class Trees:
    """Split trees in preorder, as arrays over all their nodes."""

    def __init__(self, hints: dict[str, np.ndarray]) -> None:
        self.offset = hints.get("tree.offset", np.array([0, 1])).astype(np.int64)
        count = int(self.offset[-1])
        self.kind = hints.get("tree.kind", np.zeros(count, np.uint8))
        self.node, self.coordinate, self.threshold = (
            hints.get(f"tree.{name}", np.zeros(count, np.uint32)) for name in ("node", "coordinate", "threshold")
        )
        self.leaves = np.flatnonzero(self.kind == 0)
        # A subtree ends where the number of open places first falls below what it was before it.
        change = np.where(self.kind == 1, 1, -1)
        after = np.cumsum(change)
        before = after - change
        order = np.argsort(after, kind="stable")
        key = (after[order] + count + 1) * (count + 1) + order
        splits = np.flatnonzero(self.kind == 1)
        first = splits + 1
        ends = order[np.searchsorted(key, (before[first] - 1 + count + 1) * (count + 1) + first)]
        self.parent = np.full(count, -1)
        self.parent[first] = splits
        self.parent[ends + 1] = splits
        self.above = np.zeros(count, bool)
        self.above[first] = True
        self.depth = np.zeros(count, np.int64)
        level = np.full(len(self.offset) - 1, -1)
        nodes = self.offset[:-1]
        children = np.full((2, count), -1)
        children[0, splits], children[1, splits] = first, ends + 1
        depth = 0
        while len(nodes):
            self.depth[nodes] = depth
            nodes = nodes[self.kind[nodes] == 1]
            nodes = children[:, nodes].ravel()
            depth += 1

    def paths(self, leaves: np.ndarray) -> np.ndarray:
        """For each leaf the nodes on its way from the root, children of splits: `[leaves, depth]`, filled up with -1."""
        depth = self.depth[leaves]
        found = np.full((len(leaves), max(int(depth.max(initial=0)), 1)), -1)
        here, at = np.arange(len(leaves)), leaves
        while len(here):
            inner = self.depth[at] > 0
            here, at = here[inner], at[inner]
            found[here, self.depth[at] - 1] = at
            at = self.parent[at]
        return found


# --- one run ---------------------------------------------------------------------------------------------------------


class Replay:
    """A bundle, read."""

    def __init__(self, folder: Path) -> None:
        files = json.loads((folder / "bundle.json").read_text())["files"]
        graph = json.loads((folder / files["graph"]).read_text())
        self.nodes = network(graph, tensors(folder / files["payload"]))
        (self.output,) = graph["output_ids"]
        self.property = Property(folder / files["property"])
        certificate = json.loads((folder / files["certificate"]).read_text())
        self.hints = tensors(folder / files["hints"]) if "hints" in files else {}
        self.sets = certificate.get("bounds", ["plain"])
        self.trees = Trees(self.hints)
        self.thresholds = np.concatenate(
            [
                self.hints.get("threshold.value", np.zeros(0)).astype(np.float64),
                np.array([number(v) for v in certificate.get("thresholds", [])]),
            ]
        )
        self.entries = self._entries(certificate["trees"])
        self.acts = {node.argument: place for place, node in enumerate(self.nodes) if node.kind == "relu"}

    def _entries(self, trees: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Leaf (a node of the trees) and disjunct of each entry."""
        leaves, disjuncts = [], []
        for tree in range(len(self.trees.offset) - 1):
            own = np.array([d for d, t in enumerate(trees) if t == tree])
            first, end = self.trees.offset[tree : tree + 2]
            inside = self.trees.leaves[(self.trees.leaves >= first) & (self.trees.leaves < end)]
            leaves.append(np.repeat(inside, len(own)))
            disjuncts.append(np.tile(own, len(inside)))
        return np.concatenate(leaves), np.concatenate(disjuncts)

    def run(self) -> dict:
        """The least bound over all entries; the property holds if it is above zero."""
        start = time.process_time()
        split = np.unique(self.trees.node[self.trees.kind == 1])
        if any(self.nodes[int(node)].kind == "input" for node in split):
            least, rows = self._boxes()
            root = 0.0
        else:
            least, rows, root = self._splits()
        return {
            "leaves": len(self.trees.leaves),
            "entries": len(self.entries[0]),
            "rows": rows,
            "root_s": root,
            "pass_s": time.process_time() - start,
            "bound": least,
        }

    def _forms(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """What is bounded for each entry: rows over the outputs `[entries, tries, outputs]` and constants
        `[entries, tries]`. A try that an entry does not have repeats its first."""
        disjuncts = self.entries[1][part]
        width = self.nodes[self.output].width
        table = self.property.disjuncts
        tries = max(len(rows) for rows in table)
        alone, bounds = np.zeros((len(table), tries, width)), np.zeros((len(table), tries))
        for d, rows in enumerate(table):
            for r in range(tries):
                terms, bounds[d, r] = rows[r if r < len(rows) else 0]
                for output, coefficient in terms.items():
                    alone[d, r, output] = coefficient
        if "leaf.rows.offset" not in self.hints:
            return alone[disjuncts], -bounds[disjuncts]
        offset = self.hints["leaf.rows.offset"][part.start : part.stop + 1].astype(np.int64)
        counts = np.diff(offset)
        if (counts == 0).any():
            raise Unsupported("an entry without multipliers beside others with them")
        index = self.hints["leaf.rows.index"][offset[0] : offset[-1]]
        beta = self.hints["leaf.rows.multiplier"][offset[0] : offset[-1]].astype(np.float64)
        entry = np.repeat(np.arange(len(counts)), counts)
        places = np.zeros((len(table), max(len(own) for own in self.property.places)), np.int64)
        for d, own in enumerate(self.property.places):
            places[d, : len(own)] = own
        place = places[disjuncts[entry], index]
        row, constant = np.zeros((len(counts), 1, width)), np.zeros((len(counts), 1))
        np.add.at(row[:, 0], entry, beta[:, None] * alone[disjuncts[entry], place])
        np.add.at(constant[:, 0], entry, -beta * bounds[disjuncts[entry], place])
        return row, constant

    def _given(self) -> dict:
        """The slopes of the first bound set, by start."""
        given = {}
        for name, rows in self.hints.items():
            match name.split("."):
                case ["bounds", "0", start, "rows"]:
                    prefix = f"bounds.0.{start}."
                    acts = [n.split(".")[3] for n in self.hints if n.startswith(prefix) and n.endswith(".columns")]
                    slopes = {
                        int(act): tuple(self.hints[f"{prefix}{act}.{field}"] for field in FIELDS)
                        for act in acts
                    }
                    given[int(start)] = {"rows": rows, "slopes": slopes}
        return given

    def _splits(self) -> tuple[float, int, float]:
        """Trees of splits of ReLU arguments at 0, bounds at their root."""
        chosen = self.hints.get("tree.bounds")
        roots = self.trees.offset[:-1]
        if chosen is not None and (chosen[roots] != 1).any() | (np.count_nonzero(chosen) != len(roots)):
            raise Unsupported("bounds below a root")
        split = self.trees.kind == 1
        if (self.thresholds[self.trees.threshold[split]] != 0).any():
            raise Unsupported("a ReLU that is split elsewhere than at zero")
        if any(int(node) not in self.acts for node in np.unique(self.trees.node[split])):
            raise Unsupported("a split of a value that is no argument of a ReLU")
        start = time.process_time()
        lower, upper = self.property.lower[None], self.property.upper[None]
        bounds, back, rows = apply_bounds(self.nodes, lower, upper, self._given())
        root = time.process_time() - start
        widest = max(node.width for node in self.nodes)
        batch = max(1, min(BATCH, ROW_BYTES // (8 * widest)))
        least = np.inf
        for first in range(0, len(self.entries[0]), batch):
            part = slice(first, min(first + batch, len(self.entries[0])))
            least = min(least, float(self._leaf_pass(back, part).min()))
        return least, rows, root

    def _leaf_pass(self, back: Pass, part: slice) -> np.ndarray:
        """The best bound of each entry of `part`: the pass of the root with own slopes, multipliers and signs."""
        leaves, count = self.entries[0][part], part.stop - part.start
        rows, constant = self._forms(part)
        tries = rows.shape[1]
        row = np.ascontiguousarray(rows.reshape(count * tries, -1))
        constant = constant.reshape(-1).copy()
        literals = self._literals(leaves, part)
        waiting = {self.output: row}
        for place in range(self.output, 0, -1):
            row = waiting.pop(place, None)
            if row is None:
                continue
            node = self.nodes[place]
            if node.kind != "relu":
                back._affine(waiting, node, row, constant)
                continue
            lines = back.lines[place]
            slope = np.repeat(lines.low[0].astype(np.float64), count, axis=0)
            columns = self.hints.get(f"leaf.{place}.columns")
            if columns is not None:
                inside = lines.open[0, 0, columns]
                slope[:, columns[inside]] = self.hints[f"leaf.{place}.slope"][part][:, inside]
            gap = lines.chord[0] - slope
            entry, at, above, pull = literals.get(node.argument, EMPTY)
            slope[entry, at] = above
            gap[entry, at] = 0.0
            if tries > 1:
                slope, gap = np.repeat(slope, tries, axis=0), np.repeat(gap, tries, axis=0)
                entry, at, pull = self._spread(entry, at, pull, tries)
            negative = np.minimum(row, 0.0)
            constant += negative @ lines.height[0, 0]
            # A neuron that was split has no height.
            np.subtract.at(constant, entry, negative[entry, at] * lines.height[0, 0, at])
            row = row * slope
            negative *= gap
            row += negative
            np.add.at(row, (entry, at), pull)
            Pass._add(waiting, node.argument, row)
        (row,) = waiting.values()
        found = constant + row @ back.centre[0, 0] - np.abs(row) @ back.radius[0, 0]
        return found.reshape(count, tries).max(axis=1)

    @staticmethod
    def _spread(entry: np.ndarray, at: np.ndarray, pull: np.ndarray, tries: int) -> tuple[np.ndarray, ...]:
        entry = (entry[:, None] * tries + np.arange(tries)).ravel()
        return entry, np.repeat(at, tries), np.repeat(pull, tries)

    def _literals(self, leaves: np.ndarray, part: slice) -> dict[int, tuple[np.ndarray, ...]]:
        """The splits above the leaves by the node that is split: entry, coordinate, whether above zero, and what the
        row gains there."""
        paths = self.trees.paths(leaves)
        multiplier = np.zeros(paths.shape)
        if "leaf.splits.offset" in self.hints:
            offset = self.hints["leaf.splits.offset"][part.start : part.stop + 1].astype(np.int64)
            entry = np.repeat(np.arange(len(leaves)), np.diff(offset))
            inside = slice(offset[0], offset[-1])
            depth = self.hints["leaf.splits.depth"][inside]
            np.add.at(multiplier, (entry, depth), self.hints["leaf.splits.multiplier"][inside])
        entry, depth = np.nonzero(paths >= 0)
        child, multiplier = paths[entry, depth], multiplier[entry, depth]
        split, above = self.trees.parent[child], self.trees.above[child]
        node, at = self.trees.node[split], self.trees.coordinate[split]
        pull = np.where(above, -multiplier, multiplier)
        found = {}
        for argument in np.unique(node):
            here = node == argument
            found[int(argument)] = entry[here], at[here], above[here], pull[here]
        return found

    def _boxes(self) -> tuple[float, int]:
        """Boxes, each with bounds of its own."""
        chosen = self.hints.get("tree.bounds")
        leaf = self.trees.kind == 0
        if self.sets != ["plain"] or chosen is None or (chosen[leaf] != 1).any():
            raise Unsupported("boxes without plain bounds of their own")
        if any(self.nodes[int(node)].kind != "input" for node in np.unique(self.trees.node[~leaf])):
            raise Unsupported("boxes split elsewhere than at the input")
        if "leaf.splits.offset" in self.hints or any(name.endswith(".slope") for name in self.hints):
            raise Unsupported("boxes with slopes or multipliers of splits")
        least, rows = np.inf, 0
        widest = max(node.width for node in self.nodes)
        batch = max(1, ROW_BYTES // (8 * widest * widest))
        for first in range(0, len(self.entries[0]), batch):
            part = slice(first, min(first + batch, len(self.entries[0])))
            leaves = self.entries[0][part]
            lower = np.repeat(self.property.lower[None], len(leaves), axis=0)
            upper = np.repeat(self.property.upper[None], len(leaves), axis=0)
            paths = self.trees.paths(leaves)
            for depth in range(paths.shape[1]):
                entry = np.flatnonzero(paths[:, depth] >= 0)
                child = paths[entry, depth]
                split = self.trees.parent[child]
                at, above = self.trees.coordinate[split], self.trees.above[child]
                cut = self.thresholds[self.trees.threshold[split]]
                lower[entry[above], at[above]] = np.maximum(lower[entry[above], at[above]], cut[above])
                upper[entry[~above], at[~above]] = np.minimum(upper[entry[~above], at[~above]], cut[~above])
            _, back, more = apply_bounds(self.nodes, lower, upper, {})
            form, constant = self._forms(part)
            bound = back.bound(self.output, form, {}) + constant
            least, rows = min(least, float(bound.max(axis=1).min())), rows + more
        return least, rows


FIELDS = ("columns", "lower", "upper")

EMPTY = tuple(np.zeros(0, kind) for kind in (np.int64, np.int64, bool, np.float64))


def answer(folder: Path) -> dict:
    """One run, reading included."""
    start = time.process_time()
    try:
        replay = Replay(folder)
        read = time.process_time() - start
        found = replay.run()
    except Unsupported as error:
        return {"unsupported": str(error)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"read_s": read, "seconds": time.process_time() - start, "peak_mb": peak}


def main() -> None:
    match sys.argv[1:]:
        case ["--serve", folder]:
            for _ in sys.stdin:
                print(json.dumps(answer(Path(folder))), flush=True)
        case [folder]:
            print(json.dumps(answer(Path(folder))))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
