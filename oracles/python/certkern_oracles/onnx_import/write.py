"""A graph as `graph.json` and `payload.safetensors` (schemas/SPEC.md, sections 1 and 2)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .model import Imported

TORCHLEAN = {
    "input", "const", "add", "sub", "mul_elem", "max_elem", "min_elem", "detach", "relu", "abs", "sigmoid", "tanh", "softplus", "exp",
    "sin", "cos", "sqrt", "log", "inv", "linear", "matmul", "conv", "max_pool", "avg_pool", "batch_norm_eval", "layernorm", "softmax",
    "reduce_sum", "reduce_mean", "reshape", "permute", "concat", "broadcast_to",
}  # fmt: skip
"""The operators made here that `torchlean.ir.v1` has."""

POOLING = {"padding_after": "padding", "dilation": 1, "count_include_pad": True}
"""Attributes of pooling that it does not have, with their defaults: another attribute, or a number."""


def documents(imported: Imported) -> tuple[dict, dict[str, np.ndarray]]:
    """The graph as a JSON object, and the tensors of the payload by name."""
    nodes, tensors, known = [], {}, True
    for i, node in enumerate(imported.nodes):
        attributes = dict(node.attributes)
        if node.kind in ("max_pool", "avg_pool"):
            for name in POOLING.keys() & attributes.keys():
                default = attributes["padding"] if name == "padding_after" else POOLING[name]
                if attributes[name] in (default, [default] * len(attributes["kernel"])):
                    del attributes[name]
            known &= not POOLING.keys() & attributes.keys()
        known &= node.kind in TORCHLEAN
        nodes.append({"id": i, "kind": node.kind, "parents": node.parents, "shape": list(node.shape), **attributes})
        tensors |= {f"{i}.{name}": array for name, array in node.fields.items()}
    version = "torchlean.ir.v1" if known else "certkern.ir.v1"
    return {"format": version, "input_id": 0, "output_ids": imported.outputs, "nodes": nodes}, tensors


def safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    """A safetensors file of float32 and float64 tensors."""
    header, pieces, begin = {}, [], 0
    for name, array in tensors.items():
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        dtype = {"float32": "F32", "float64": "F64"}[array.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, begin + len(data)]}
        pieces.append(data)
        begin += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(pieces)


def write(imported: Imported, folder: Path) -> None:
    """Writes both files; a folder that holds anything else is an error."""
    folder.mkdir(parents=True, exist_ok=True)
    graph, tensors = documents(imported)
    files = {"graph.json": json.dumps(graph).encode() + b"\n", "payload.safetensors": safetensors(tensors)}
    others = sorted(path.name for path in folder.iterdir() if path.name not in files)
    if others:
        raise FileExistsError(f"{folder} holds {others[0]}")
    for name, data in files.items():
        (folder / name).write_bytes(data)
