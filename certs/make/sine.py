"""`sine`: y = sin x on [-1, 1], unsafe where y >= 0.8415. `python3 sine.py OUT` writes the bundle.

sin 1 = 0.84147… . The upper line of slope 0 proves it. With the slopes that the kernel takes where none are given, the line is lowest in the
middle of the interval and above 0.8415 at 1."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundle import Files, bound, safetensors, tensor, write
from shared_tree import MANIFEST

GRAPH = """\
{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [1]},
  {"id": 1, "kind": "sin", "parents": [0], "shape": [1]}
]}
"""

PROPERTY = """\
{"format": "certkern.property.v1", "outputs": 1, "lower": ["-1"], "upper": ["1"],
 "unsafe": [[{"y": {"0": -1}, "bound": "-0.8415", "strict": false}]]}
"""

HINTS = {
    "leaf.1.columns": tensor("U32", [1], [0]),
    "leaf.1.slope": tensor("F32", [1, 1], [0]),
    "leaf.1.high": tensor("F32", [1, 1], [0]),
}


def files() -> Files:
    """The bundle."""
    texts = {
        "bundle.json": MANIFEST,
        "graph.json": GRAPH,
        "property.json": PROPERTY,
        "cert.json": json.dumps({"format": "certkern.leaves.v1", "trees": [0]}) + "\n",
    }
    data = {name: text.encode() for name, text in texts.items()}
    return bound(data | {"payload.safetensors": safetensors({}), "cert.safetensors": safetensors(HINTS)})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 sine.py OUT")
    write(Path(sys.argv[1]), files())
