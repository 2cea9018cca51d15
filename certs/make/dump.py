"""Raw dumps of a search in the format `abdump-0`: `manifest.json` and `tensors.safetensors`.

Node names follow what the auto_LiRPA graph of such a network looks like: `/0` the input, then buffers and parameters,
then the operators in order, each pre-activation named `/input`, `/input-3`, `/input-7`, …"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from branch import BoxSearch, Leaf, ReluSearch, Root
from crown import Bounds, Box, StartSlopes
from networks import Array, Network, as_float32
from vnnlib import Property

Tensors = dict[str, NDArray]
TYPES = {"F32": np.dtype("<f4"), "I32": np.dtype("<i4")}


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write safetensors: names sorted, data in that order without gaps, rows first, the header not padded."""
    header: dict[str, dict] = {}
    parts: list[bytes] = []
    end = 0
    for name in sorted(tensors):
        array = tensors[name]
        kind = "I32" if array.dtype.kind == "i" else "F32"
        part = np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [end, end + len(part)]}
        parts.append(part)
        end += len(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def read_tensors(path: Path) -> Tensors:
    """Read safetensors of float32 (given back as float64) and int32 tensors."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors: Tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        array = np.frombuffer(data[begin + first : begin + last], dtype=TYPES[entry["dtype"]])
        array = array.reshape(entry["shape"])
        tensors[name] = array.astype(np.float64) if entry["dtype"] == "F32" else array
    return tensors


@dataclass(frozen=True)
class Names:
    """The node list of the manifest, and which nodes the bounds speak of."""

    nodes: list[dict]
    input: str
    pre: list[str]
    act: list[str]
    final: str


def name_nodes(network: Network, *, mean: bool) -> Names:
    """The graph as auto_LiRPA would list it; with `mean` a constant is subtracted from the input first."""
    nodes: list[dict] = []
    place = 0

    def add(
        kind: str, inputs: list[str], shape: list[int], perturbed: bool = False, name: str | None = None
    ) -> str:
        nonlocal place
        name = name or f"/{place}"
        nodes.append({"name": name, "type": kind, "inputs": inputs, "perturbed": perturbed, "shape": shape})
        place += 1
        return name

    shape = list(network.input_shape)
    value = source = add("BoundInput", [], shape, True)
    buffers = [add("BoundBuffers", [], shape)] if mean else []
    place += 2 * len(network.layers) + len(buffers)
    parameters = [
        (add("BoundParams", [], list(weight.shape)), add("BoundParams", [], list(bias.shape)))
        for weight, bias in network.layers
    ]
    for buffer in buffers:
        value = add("BoundSub", [value, buffer], shape, True)
    if len(shape) > 2:
        sizes = []
        for _ in shape:
            asked = add("BoundShape", [value], [len(shape)])
            sizes.append(add("BoundGather", [asked, add("BoundConstant", [], [])], []))
        product = add("BoundMul", [sizes[1], add("BoundConstant", [], [])], [])
        for size in sizes[2:]:
            product = add("BoundMul", [product, size], [])
        ends = [
            add("BoundUnsqueeze", [end, add("BoundConstant", [], [1])], [1]) for end in (sizes[0], product)
        ]
        target = add("BoundConcat", ends, [2])
        value = add("BoundReshape", [value, target], [1, int(np.prod(shape))], True)
    pre: list[str] = []
    act: list[str] = []
    for k, (_, bias) in enumerate(network.layers):
        hidden = k < network.hidden
        name = None if not hidden else "/input" if k == 0 else f"/input-{4 * k - 1}"
        width = [1, len(bias)]
        value = add("BoundLinear", [value, *parameters[k]], width, True, name)
        if hidden:
            pre.append(value)
            value = add("BoundRelu", [value], width, True)
            act.append(value)
    return Names(nodes, source, pre, act, value)


def boxes(meaning: Property) -> tuple[Box, Box]:
    """The box of a property rounded to the nearest float32 values, and that joined with the exact one.

    The first is what the search bisects. The second contains both the exact box and the first."""
    lower, upper = meaning.box()
    low, high = (
        np.array([_float64(e, -np.inf) for e in lower]),
        np.array([_float64(e, np.inf) for e in upper]),
    )
    nearest = Box(as_float32(np.array(lower, dtype=float)), as_float32(np.array(upper, dtype=float)))
    return nearest, Box(np.minimum(low, nearest.lower), np.maximum(high, nearest.upper))


def _float64(value: Fraction, toward: float) -> float:
    """The nearest float64, moved one step towards `toward` where it is not exact."""
    nearest = float(value)
    return nearest if Fraction(nearest) == value else float(np.nextafter(nearest, toward))


@dataclass(frozen=True)
class Spec:
    """The rows `C · y ≤ rhs` of the unsafe set, the number of AND-ed rows in each disjunct, and the float32 box."""

    rows: Array
    rhs: Array
    sizes: list[int]
    box: Box


def _common_tensors(network: Network, names: Names, spec: Spec, root_rows: Array, bounds: Bounds) -> Tensors:
    """The tensors `spec/*` and `root/*` but for `root/lb`."""
    x_lower, x_upper = (end.reshape(network.input_shape) for end in (spec.box.lower, spec.box.upper))
    tensors: Tensors = {
        "spec/C": spec.rows[None],
        "spec/rhs": spec.rhs[None],
        "spec/or_spec_size": np.array(spec.sizes, dtype=np.int32),
        "spec/x_L": x_lower,
        "spec/x_U": x_upper,
        "root/C": root_rows[None],
        "root/x_L": x_lower,
        "root/x_U": x_upper,
        f"root/interm/{names.input}/l": x_lower,
        f"root/interm/{names.input}/u": x_upper,
    }
    for name, lower, upper in zip(names.pre, bounds.lower, bounds.upper):
        tensors |= {f"root/interm/{name}/l": lower[None], f"root/interm/{name}/u": upper[None]}
    return tensors


def _manifest(names: Names, counts: dict[str, int]) -> dict:
    """The keys that every manifest has."""
    zero = dict.fromkeys(
        ["relu_leaves", "relu_open_seen", "update_bounds_calls", "interm_mismatch", "boxes", "box_open_seen"],
        0,
    )
    inputs = [n["name"] for n in names.nodes if n["type"] in ("BoundInput", "BoundBuffers", "BoundParams")]
    return {
        "format": "abdump-0",
        "root_alpha": [],
        "best_alpha": [],
        "fast_path_initial_crown": False,
        "nodes": names.nodes,
        "final_name": names.final,
        "input_name": inputs,
        "norm": "inf",
        "counts": zero | counts,
        "leaves": [],
    }


def _write(folder: Path, manifest: dict, tensors: Tensors) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest))
    write_tensors(folder / "tensors.safetensors", tensors)


def write_relu_dump(
    folder: Path, network: Network, names: Names, spec: Spec, root: Root, search: ReluSearch
) -> None:
    """Write the dump of a ReLU-split search whose disjuncts are single rows."""
    rows = spec.rows[root.tree_rows]
    tensors = _common_tensors(network, names, spec, rows, root.bounds)
    lower = np.full(len(spec.rows), np.inf)
    lower[root.tree_rows] = root.output.lower
    tensors["root/lb"] = lower[None]
    manifest = _manifest(
        names,
        {
            "relu_leaves": len(search.leaves),
            "relu_open_seen": search.open_seen,
            "update_bounds_calls": search.rounds,
        },
    )
    plain = [
        np.broadcast_to(root.bounds.default_slopes(k), s.shape) for k, s in enumerate(root.output.slopes)
    ]
    output = StartSlopes(np.arange(len(rows)), root.output.slopes, plain)
    columns = [np.flatnonzero(root.bounds.unstable(k)) for k in range(network.hidden)]
    for k, act in enumerate(names.act):
        pre = names.pre[k]
        width = len(root.bounds.lower[k])
        for start, slopes in zip([*names.pre[k + 1 :], names.final], [*root.slopes[k + 1 :], output]):
            count = len(slopes.rows)
            dense = start == names.final
            shape = [2, count if dense else count + 1, 1, width]
            manifest["root_alpha"].append(
                {
                    "act": act,
                    "type": "BoundRelu",
                    "pre": pre,
                    "start": start,
                    "shape": shape,
                    "rows": not dense,
                }
            )
            if count == 0:
                continue
            manifest["best_alpha"].append(
                {"act": act, "pre": pre, "start": start, "rows": count, "cols": len(columns[k])}
            )
            prefix = f"best_alpha/{act}/{start}"
            tensors[f"{prefix}/rows"] = slopes.rows.astype(np.int32)
            tensors[f"{prefix}/cols"] = columns[k].astype(np.int32)
            tensors[f"{prefix}/val"] = np.stack(
                [slopes.lower[k][:, columns[k]], slopes.upper[k][:, columns[k]]]
            )
        tensors[f"leaf_alpha/{act}"] = np.stack([leaf.slopes[k][:, columns[k]] for leaf in search.leaves])
        tensors[f"leaf_alpha_cols/{act}"] = columns[k].astype(np.int32)
    tensors["leaf/C"] = np.stack([rows[leaf.row : leaf.row + 1] for leaf in search.leaves])
    rhs = spec.rhs[root.tree_rows]
    manifest["leaves"] = [
        _leaf_entry(i, leaf, names, float(rhs[leaf.row])) for i, leaf in enumerate(search.leaves)
    ]
    _write(folder, manifest, tensors)


def _leaf_entry(place: int, leaf: Leaf, names: Names, rhs: float) -> dict:
    """A leaf of the manifest; its splits are grouped by layer, in split order within a layer."""
    return {
        "id": place,
        "lb": [float(np.float32(leaf.lower))],
        "lb_tool": [float(np.float32(leaf.inherited))],
        "rhs": [rhs],
        "splits": [
            {
                "layer": names.pre[layer],
                "neuron": neuron,
                "sign": sign,
                "point": 0.0,
                "beta": float(leaf.multipliers[layer][0, neuron]),
            }
            for layer, neuron, sign in sorted(leaf.splits, key=lambda split: split[0])
        ],
    }


def write_box_dump(
    folder: Path, network: Network, names: Names, spec: Spec, bounds: Bounds, search: BoxSearch
) -> None:
    """Write the dump of an input-split search with one disjunct; `bounds` are the intermediate bounds of the root."""
    tensors = _common_tensors(network, names, spec, spec.rows, bounds)
    shape = (len(search.leaves), *network.input_shape)
    tensors |= {
        "root/lb": search.root_bound[None],
        "box/C": spec.rows[None],
        "box/rhs": spec.rhs[None],
        "box/lb": np.stack([leaf.bound for leaf in search.leaves]),
        "box/x_L": np.stack([leaf.lower for leaf in search.leaves]).reshape(shape),
        "box/x_U": np.stack([leaf.upper for leaf in search.leaves]).reshape(shape),
    }
    manifest = _manifest(names, {"boxes": len(search.leaves), "box_open_seen": search.open_seen})
    del manifest["best_alpha"]
    _write(folder, manifest, tensors)
