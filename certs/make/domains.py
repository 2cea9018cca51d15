"""`domains`: batch norm with an irrational scale, pooling, a matrix product, and functions that are not defined everywhere.

`python3 domains.py OUT` writes the bundle. With x in [1, 1.125]^8: the batch norm gives (x - 0.5)/sqrt(1.75 + 0.25) + 1
on the first channel, in [1.353, 1.442], and 2(x - 0.5)/sqrt(2.25 + 0.25) on the second, in [0.632, 0.791]. An output is
the mean of three ln(max) + sqrt(max)/mean over windows, in [1.109, 1.254] and [0.547, 1.171]; the unsafe set asks one
to be at most 0.5, or both to be at least 8 together."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundle import Files, bound, safetensors, write
from shared_tree import MANIFEST

POOL = {"spatial_rank": 1, "kernel": [2], "stride": [2], "padding": [1], "padding_after": [1]}
NODES = [
    {"kind": "input", "parents": [], "shape": [1, 2, 4]},
    {"kind": "batch_norm_eval", "parents": [0], "shape": [1, 2, 4], "channel_axis": 1, "eps": 0.25, "gamma": [1, 2],
     "beta": [1, 0], "mean": [0.5, 0.5], "var": [1.75, 2.25]},
    {"kind": "max_pool", "parents": [1], "shape": [1, 2, 3], **POOL},
    {"kind": "avg_pool", "parents": [1], "shape": [1, 2, 3], **POOL, "count_include_pad": False},
    {"kind": "log", "parents": [2], "shape": [1, 2, 3]},
    {"kind": "sqrt", "parents": [2], "shape": [1, 2, 3]},
    {"kind": "div", "parents": [5, 3], "shape": [1, 2, 3]},
    {"kind": "add", "parents": [4, 6], "shape": [1, 2, 3]},
    {"kind": "const", "parents": [], "shape": [3, 1], "values": [[0.25], [0.5], [0.25]]},
    {"kind": "matmul", "parents": [7, 8], "shape": [1, 2, 1]},
]  # fmt: skip
PROPERTY = {
    "format": "certkern.property.v1",
    "outputs": 2,
    "lower": [1] * 8,
    "upper": ["9/8"] * 8,
    "unsafe": [
        [{"y": {"0": 1}, "bound": "1/2", "strict": False}],
        [{"y": {"1": 1}, "bound": "1/2", "strict": False}],
        [{"y": {"0": -1, "1": -1}, "bound": -8, "strict": False}],
    ],
}


def files() -> Files:
    """The bundle."""
    nodes = ",\n  ".join(json.dumps({"id": i} | node) for i, node in enumerate(NODES))
    graph = f'{{"format": "certkern.ir.v1", "input_id": 0, "output_ids": [9], "nodes": [\n  {nodes}]}}\n'
    texts = {
        "bundle.json": MANIFEST,
        "graph.json": graph,
        "property.json": json.dumps(PROPERTY) + "\n",
        "cert.json": json.dumps({"format": "certkern.leaves.v1", "trees": [0, 0, 0]}) + "\n",
    }
    data = {name: text.encode() for name, text in texts.items()}
    return bound(data | {"payload.safetensors": safetensors({}), "cert.safetensors": safetensors({})})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 domains.py OUT")
    write(Path(sys.argv[1]), files())
