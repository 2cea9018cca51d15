"""`attention`: two tokens of two numbers, self-attention and layer norm, on a small box; made with fixed numbers.

`python3 attention.py OUT` writes the bundle. Attention mixes the tokens, none of which has a number above 1.75: the first disjunct asks one of its numbers to be
at least 2.5. The first number of each token is above the second, so layer norm makes it positive: the second disjunct asks it to be at most -1/2."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundle import Files, bound, safetensors, write
from shared_tree import MANIFEST

EYE = [[1, 0], [0, 1]]
NODES = [
    {"kind": "input", "parents": [], "shape": [1, 2, 2]},
    {"kind": "multihead_attention", "parents": [0, 0, 0], "value_kind": "tuple",
     "tuple_shapes": [[1, 2, 2], [1, 2, 2]], "embed_dim": 2, "num_heads": 1, "batch_first": True,
     "dropout_zero": True, "bias": True, "scale": 0.5,
     **{f"{part}_weight": EYE for part in ("q", "k", "v", "out")},
     **{f"{part}_bias": [0, 0] for part in ("q", "k", "v", "out")}},
    {"kind": "tuple_getitem", "parents": [1], "shape": [1, 2, 2], "index": 0},
    {"kind": "layernorm", "parents": [2], "shape": [1, 2, 2], "axis": 2, "eps": 0.5, "gamma": [1, 1], "beta": [0, 0]},
    {"kind": "reduce_max", "parents": [2], "shape": [1], "axes": [1, 2], "keepdim": False},
    {"kind": "slice", "parents": [3], "shape": [1, 1, 1], "start": [0, 0, 0], "stop": [1, 1, 1]},
    {"kind": "reshape", "parents": [5], "shape": [1]},
]  # fmt: skip
PROPERTY = {
    "format": "certkern.property.v1",
    "outputs": 2,
    "lower": ["1", "1/2", "3/2", "1/2"],
    "upper": ["5/4", "3/4", "7/4", "3/4"],
    "unsafe": [
        [{"y": {"0": -1}, "bound": "-5/2", "strict": False}],
        [{"y": {"1": 1}, "bound": "-1/2", "strict": False}],
    ],
}


def files() -> Files:
    """The bundle."""
    nodes = ",\n  ".join(json.dumps({"id": i} | node) for i, node in enumerate(NODES))
    graph = f'{{"format": "certkern.ir.v1", "input_id": 0, "output_ids": [4, 6], "nodes": [\n  {nodes}]}}\n'
    texts = {
        "bundle.json": MANIFEST,
        "graph.json": graph,
        "property.json": json.dumps(PROPERTY) + "\n",
        "cert.json": json.dumps({"format": "certkern.leaves.v1", "trees": [0, 0]}) + "\n",
    }
    data = {name: text.encode() for name, text in texts.items()}
    return bound(data | {"payload.safetensors": safetensors({}), "cert.safetensors": safetensors({})})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 attention.py OUT")
    write(Path(sys.argv[1]), files())
