"""Replay a dump in float64 and say whether its leaves close and cover: `python check_dump.py DUMP…`.

The folder holds one ONNX file, one VNN-LIB file, `manifest.json` and `tensors.safetensors`. Bounds are made on the
decimal box of the property (joined with the float32 box), in float64 without directed rounding: a check of the dump
and of how its format is read, no proof."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vnnlib
from branch import bound_box, widened
from crown import Bounds, Box, StartSlopes, backward, intermediate_bounds, no_pull
from dump import Tensors, boxes, read_tensors
from networks import Array, Network, read_network


class DumpError(Exception):
    """The dump does not fit its property, or does not cover it."""


@dataclass(frozen=True)
class Summary:
    """What a replay found. A margin is the bound minus the right-hand side, of the row that closes a leaf.

    `relative` is the smallest margin over the largest |C·y - rhs| at the centre of the box."""

    kind: str
    leaves: int
    open_leaves: int
    worst_margin: float
    relative: float
    notes: dict[str, object]


@dataclass(frozen=True)
class Dump:
    """A dump, its network and its property, the float32 root box and the box to prove."""

    manifest: dict
    tensors: Tensors
    network: Network
    meaning: vnnlib.Property
    root: Box
    box: Box

    @property
    def rows(self) -> Array:
        """The rows of the specification."""
        return self.tensors["spec/C"].reshape(-1, self.meaning.outputs)

    @property
    def rhs(self) -> Array:
        """The right-hand sides of the rows."""
        return self.tensors["spec/rhs"].reshape(-1)

    @property
    def pre(self) -> list[str]:
        """The pre-activation nodes in order."""
        return [node["inputs"][0] for node in self.manifest["nodes"] if node["type"] == "BoundRelu"]

    @property
    def act(self) -> list[str]:
        """The ReLU nodes in order."""
        return [node["name"] for node in self.manifest["nodes"] if node["type"] == "BoundRelu"]


def read_dump(folder: Path) -> Dump:
    """Read a dump; the specification must be that of the property, rounded to float32."""
    (model,) = folder.glob("*.onnx")
    (prop,) = folder.glob("*.vnnlib")
    manifest = json.loads((folder / "manifest.json").read_text())
    tensors = read_tensors(folder / "tensors.safetensors")
    network = read_network(model)
    meaning = vnnlib.parse(prop.read_text())
    root, box = boxes(meaning)
    stored = tensors["spec/x_L"].reshape(-1), tensors["spec/x_U"].reshape(-1)
    if not (np.array_equal(stored[0], root.lower) and np.array_equal(stored[1], root.upper)):
        raise DumpError("spec/x_L or spec/x_U is not the box of the property")
    dump = Dump(manifest, tensors, network, meaning, root, box)
    expected = [row for d in range(len(meaning.disjuncts)) for row in meaning.output_rows(d)]
    if [len(meaning.output_rows(d)) for d in range(len(meaning.disjuncts))] != disjunct_sizes(dump):
        raise DumpError("spec/or_spec_size does not fit the disjuncts of the property")
    for c, rhs, row in zip(dump.rows, dump.rhs, expected, strict=True):
        dense = [float(row.y.get(j, 0)) for j in range(meaning.outputs)]
        if not np.array_equal(c, dense) or rhs != np.float32(float(row.bound)):
            raise DumpError("spec/C or spec/rhs is not a row of the property")
    return dump


def disjunct_sizes(dump: Dump) -> list[int]:
    """The numbers of AND-ed rows."""
    return dump.tensors["spec/or_spec_size"].tolist()


def scale(dump: Dump) -> float:
    """The largest |C·y - rhs| at the centre of the box."""
    centre = dump.network((0.5 * (dump.box.lower + dump.box.upper))[None])[0]
    return float(np.abs(dump.rows @ centre - dump.rhs).max())


def check(folder: Path) -> Summary:
    """Replay a dump of either kind."""
    dump = read_dump(folder)
    return check_boxes(dump) if dump.manifest["counts"]["boxes"] else check_relu_leaves(dump)


def check_boxes(dump: Dump) -> Summary:
    """The boxes tile the root exactly, and in each of them some row closes."""
    lower = dump.tensors["box/x_L"].reshape(-1, len(dump.root.lower))
    upper = dump.tensors["box/x_U"].reshape(-1, len(dump.root.lower))
    if not tiles(dump.root, lower, upper):
        raise DumpError("the boxes do not tile the root box")
    margins: list[float] = []
    rows_used: set[int] = set()
    drift = 0.0
    for low, high, reported in zip(lower, upper, dump.tensors["box/lb"]):
        bound, _ = bound_box(dump.network, dump.rows, widened(low, high, dump.root, dump.box))
        closing = int(np.argmax(bound - dump.rhs))
        rows_used.add(closing)
        margins.append(float(bound[closing] - dump.rhs[closing]))
        drift = max(drift, float(np.max(bound - reported)))
    notes = {"rows that close": sorted(rows_used), "replay minus reported, at most": drift}
    return Summary(
        "box", len(margins), sum(m <= 0 for m in margins), min(margins), min(margins) / scale(dump), notes
    )


def tiles(root: Box, lower: Array, upper: Array) -> bool:
    """Whether boxes tile the root, found by cutting along a plane that no box crosses until one box is left.

    Tilings made by bisection always have such a plane. Ends are compared exactly."""
    tasks = [(root.lower, root.upper, np.arange(len(lower)))]
    while tasks:
        low, high, inside = tasks.pop()
        if len(inside) == 1:
            (only,) = inside
            if not (np.array_equal(lower[only], low) and np.array_equal(upper[only], high)):
                return False
            continue
        found = _cutting_plane(low, high, lower[inside], upper[inside])
        if found is None:
            return False
        axis, place = found
        below = upper[inside, axis] <= place
        below_high, above_low = high.copy(), low.copy()
        below_high[axis] = above_low[axis] = place
        tasks += [(low, below_high, inside[below]), (above_low, high, inside[~below])]
    return True


def _cutting_plane(low: Array, high: Array, lower: Array, upper: Array) -> tuple[int, float] | None:
    """An axis and a place strictly inside the region that no box crosses, with boxes on both sides."""
    for axis in range(len(low)):
        for place in np.unique(lower[:, axis]):
            if not low[axis] < place < high[axis]:
                continue
            below, above = upper[:, axis] <= place, lower[:, axis] >= place
            if np.all(below ^ above) and below.any() and above.any():
                return axis, float(place)
    return None


Signs = dict[tuple[str, int], int]


def tree_depth(leaves: list[Signs]) -> int | None:
    """The depth of the tree of splits that has exactly these leaves; None where there is none.

    The leaves are those of a tree iff one of them is alone and unsplit, or all split on a common neuron and those on
    either side of it are again the leaves of a tree."""
    if len(leaves) == 1 and not leaves[0]:
        return 0
    if not leaves:
        return None
    for variable in sorted(set.intersection(*(set(leaf) for leaf in leaves))):
        sides = []
        for sign in (1, -1):
            side = [
                {v: s for v, s in leaf.items() if v != variable} for leaf in leaves if leaf[variable] == sign
            ]
            sides.append(tree_depth(side))
        depths = [depth for depth in sides if depth is not None]
        if len(depths) == 2:
            return 1 + max(depths)
    return None


def given_slopes(dump: Dump, own: Bounds) -> list[StartSlopes]:
    """`best_alpha` for each pre-activation layer; neurons without a stored slope have the default one."""
    return [_slopes_of_start(dump, own, name, start) for start, name in enumerate(dump.pre)]


def _slopes_of_start(dump: Dump, own: Bounds, name: str, layers: int) -> StartSlopes:
    keys = [f"best_alpha/{dump.act[k]}/{name}" for k in range(layers)]
    if not keys or f"{keys[0]}/rows" not in dump.tensors:
        return StartSlopes(np.arange(0), [], [])
    rows = dump.tensors[f"{keys[0]}/rows"]
    sides: tuple[list[Array], list[Array]] = ([], [])
    for k, key in enumerate(keys):
        if not np.array_equal(dump.tensors[f"{key}/rows"], rows):
            raise DumpError(f"{key}/rows differs from the rows of the first layer")
        for side, values in zip(sides, dump.tensors[f"{key}/val"]):
            dense = np.tile(own.default_slopes(k), (len(rows), 1))
            dense[:, dump.tensors[f"{key}/cols"]] = values
            side.append(np.clip(dense, 0.0, 1.0))
    return StartSlopes(rows, *sides)


def check_relu_leaves(dump: Dump) -> Summary:
    """Each disjunct is closed at the root or by the leaves of a tree, on bounds made again from the stored slopes.

    The notes say how many leaves stay open with plain CROWN bounds, and the worst margin with the claimed bounds."""
    own, _ = intermediate_bounds(dump.network, dump.box)
    bounds, _ = intermediate_bounds(dump.network, dump.box, given=given_slopes(dump, own))
    claimed = Bounds(
        [dump.tensors[f"root/interm/{name}/l"].reshape(-1) for name in dump.pre],
        [dump.tensors[f"root/interm/{name}/u"].reshape(-1) for name in dump.pre],
    )
    by_disjunct = _leaves_by_disjunct(dump)
    depths: dict[int, int] = {}
    closed_at_root: dict[int, tuple[str, float]] = {}
    for d, (first, last) in enumerate(_row_ranges(dump)):
        if not by_disjunct[d]:
            closed_at_root[d] = _closed_at_root(dump, bounds, first, last)
            continue
        signs = [_signs(dump.manifest["leaves"][i]) for i in by_disjunct[d]]
        depth = tree_depth(signs)
        if depth is None:
            raise DumpError(f"the leaves of disjunct {d} are not those of a tree")
        depths[d] = depth
    margins, reported = _margins(dump, bounds), _margins(dump, claimed)
    drift = [
        m - max(np.array(leaf["lb"]) - leaf["rhs"]) for m, leaf in zip(reported, dump.manifest["leaves"])
    ]
    plain = _margins(dump, own)
    notes = {
        "leaves of each tree": {d: len(by_disjunct[d]) for d in depths},
        "depths": depths,
        "closed at the root": closed_at_root,
        "worst margin with claimed bounds": min(reported),
        "replay minus reported, with claimed bounds": (float(min(drift)), float(max(drift))),
        "open with plain CROWN bounds": sum(m <= 0 for m in plain),
        "positive multipliers": sum(
            s["beta"] > 0 for leaf in dump.manifest["leaves"] for s in leaf["splits"]
        ),
    }
    return Summary(
        "relu", len(margins), sum(m <= 0 for m in margins), min(margins), min(margins) / scale(dump), notes
    )


def _row_ranges(dump: Dump) -> list[tuple[int, int]]:
    """For each disjunct its range of rows."""
    ends = np.cumsum([0, *disjunct_sizes(dump)]).tolist()
    return list(itertools.pairwise(ends))


def _leaves_by_disjunct(dump: Dump) -> list[list[int]]:
    """The leaves of each disjunct, told by their rows."""
    ranges = _row_ranges(dump)
    groups: list[list[int]] = [[] for _ in ranges]
    for i, rows in enumerate(dump.tensors.get("leaf/C", np.zeros((0, 1, 1)))):
        (d,) = [d for d, (a, b) in enumerate(ranges) if np.array_equal(dump.rows[a:b], rows)]
        groups[d].append(i)
    return groups


def _closed_at_root(dump: Dump, bounds: Bounds, first: int, last: int) -> tuple[str, float]:
    """How a disjunct without leaves is closed, by plain slopes or by those of the output rows, and its margin."""
    hidden = dump.network.hidden
    plain = [bounds.default_slopes(k) for k in range(hidden)]
    rows, rhs = dump.rows[first:last], dump.rhs[first:last]
    pull = no_pull(dump.network)
    margin = float(np.max(backward(dump.network, hidden, rows, dump.box, bounds, plain, pull).lower - rhs))
    if margin > 0:
        return "plain", margin
    slopes = _slopes_of_start(dump, bounds, dump.manifest["final_name"], hidden)
    root_rows = dump.tensors["root/C"].reshape(-1, dump.meaning.outputs)
    for row, value in zip(rows, rhs):
        for place, index in enumerate(slopes.rows):
            if np.array_equal(root_rows[index], row):
                chosen = [s[place : place + 1] for s in slopes.lower]
                found = backward(dump.network, hidden, row[None], dump.box, bounds, chosen, pull)
                if found.lower[0] > value:
                    return "slopes", float(found.lower[0] - value)
    raise DumpError(f"rows {first} to {last} have no leaves and do not close at the root")


def _signs(leaf: dict) -> Signs:
    signs = {(split["layer"], split["neuron"]): split["sign"] for split in leaf["splits"]}
    if len(signs) != len(leaf["splits"]):
        raise DumpError(f"leaf {leaf['id']} splits a neuron twice")
    return signs


def _margins(dump: Dump, bounds: Bounds) -> list[float]:
    """The best margin of each leaf over its rows, with its stored slopes and multipliers."""
    return [float(np.max(margins)) for margins in row_margins(dump, bounds)]


def row_margins(dump: Dump, bounds: Bounds) -> list[Array]:
    """The margin of each row of each leaf, with its stored slopes and multipliers."""
    hidden = dump.network.hidden
    columns = [dump.tensors[f"leaf_alpha_cols/{act}"] for act in dump.act]
    margins: list[Array] = []
    for i, leaf in enumerate(dump.manifest["leaves"]):
        signs, pull, slopes = no_pull(dump.network), no_pull(dump.network), []
        for split in leaf["splits"]:
            layer, neuron = dump.pre.index(split["layer"]), split["neuron"]
            if split["point"] != 0.0 or split["sign"] not in (1, -1):
                raise DumpError(f"leaf {i} has a split that is none of a ReLU")
            signs[layer][neuron] = split["sign"]
            pull[layer][neuron] = split["sign"] * max(split["beta"], 0.0)
        clamped = bounds.clamped(signs)
        rows = dump.tensors["leaf/C"][i]
        for k in range(hidden):
            dense = np.tile(clamped.default_slopes(k), (len(rows), 1))
            dense[:, columns[k]] = dump.tensors[f"leaf_alpha/{dump.act[k]}"][i]
            slopes.append(np.clip(dense, 0.0, 1.0))
        found = backward(dump.network, hidden, rows, dump.box, clamped, slopes, pull)
        margins.append(found.lower - leaf["rhs"])
    return margins


def report(folder: Path, say: Callable[[str], None] = print) -> bool:
    """Check one dump, say what was found, and whether every leaf closes."""
    found = check(folder)
    say(
        f"{folder.name}: {found.kind}, {found.leaves} leaves, {found.open_leaves} open, "
        f"worst margin {found.worst_margin:.6g} (relative {found.relative:.3g})"
    )
    for name, value in found.notes.items():
        say(f"  {name}: {value}")
    return found.open_leaves == 0


if __name__ == "__main__":
    sys.exit(0 if all([report(Path(argument)) for argument in sys.argv[1:]]) else 1)
