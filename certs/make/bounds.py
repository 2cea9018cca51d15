"""`ramp`: y0 = relu(x0) + x1/2 and y1 = -x0 on [-1, 1]^2, with the bounds [-1/2, 3/2] and [-1, 1]. `python3 bounds.py OUT` writes the bundles.

On [-1, 1] the relu lies above 0 (the slope that the kernel takes, since u > -l does not hold) and below (x0 + 1)/2. So y0 >= x1/2 >= -1/2 and
y0 <= (x0 + 1 + x1)/2 <= 3/2. Both are attained: y0 = -1/2 at (-1, -1) and 3/2 at (1, 1). `around` is the same region by centre and radius.

The others are parts of that box. `diamond`, |x0| + |x1| <= 1: (x0 + 1 + x1)/2 <= 1, which y0 attains at (1, 0). `disk`, x0^2 + x1^2 <= 1:
(x0 + 1 + x1)/2 <= 1/2 + sqrt(1/2) = 1.20710678118654752440..., and y1 = -x0 lies in [-1, 1]. `half`, x0 + x1 <= 0: half of that constraint and (x0 + 1 + x1)/2 give
y0 <= 1/2, attained at (1, -1)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bundle import Files, bound, safetensors, tensor, write

ROLES = ["graph", "payload", "input", "output"]

GRAPH = """\
{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [4], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [2]},
  {"id": 1, "kind": "linear", "parents": [0], "shape": [3], "weight": [[1, 0], [0, 1], [-1, 0]], "bias": [0, 1, 1]},
  {"id": 2, "kind": "relu", "parents": [1], "shape": [3]},
  {"id": 3, "kind": "linear", "parents": [2], "shape": [2], "weight": [[1, 0.5, 0], [0, 0, 1]], "bias": [-0.5, -1]},
  {"id": 4, "kind": "detach", "parents": [3], "shape": [2]}
]}
"""
MANIFEST = {
    "format": "certkern.bundle.v1",
    "kind": "bound",
    "files": {
        "graph": "graph.json",
        "payload": "payload.safetensors",
        "region": "region.json",
        "bound": "bound.json",
        "certificate": "cert.json",
    },
    "digests": dict.fromkeys(ROLES, "0" * 64),
}
REGIONS = {
    "ramp": ('{"dim": 2, "lo": [-1, -1], "hi": [1, "1"]}\n', "1.5"),
    "around": ('{"center": [0, 0], "eps": 1}\n', "1.5"),
    "diamond": ('{"ball": "l1", "center": [0, 0], "radius": 1}\n', "1"),
    "disk": ('{"dim": 2, "ball": "l2", "center": [0, 0], "radius": "1"}\n', "1.2071067811865476"),
    "half": ('{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 1], "rhs": 0}]}\n', "0.5"),
}
# Of `half`, the entries in order: y0 and y1 from below, from above. The constraint comes after the one row of a disjunct.
CONSTRAINT = {
    "leaf.rows.offset": tensor("U32", [5], [0, 1, 3, 4, 5]),
    "leaf.rows.index": tensor("U32", [5], [0, 0, 1, 0, 0]),
    "leaf.rows.multiplier": tensor("F32", [5], [1, 1, 0.5, 1, 1]),
}


def files(region: str, upper: str) -> Files:
    """The bundle with this region and this upper bound of y0."""
    hints = {"cert.safetensors": safetensors(CONSTRAINT)} if "constraints" in region else {}
    manifest = MANIFEST | {"files": MANIFEST["files"] | {"hints": name for name in hints}}
    texts = {
        "bundle.json": json.dumps(manifest, indent=1) + "\n",
        "graph.json": GRAPH,
        "region.json": region,
        "bound.json": f'{{"format": "torchlean.bound.v1", "lower": [-0.5, -1], "upper": [{upper}, 1]}}\n',
        "cert.json": json.dumps({"format": "certkern.leaves.v1", "trees": [0, 0, 0, 0]}) + "\n",
    }
    data = {name: text.encode() for name, text in texts.items()}
    return bound(data | {"payload.safetensors": safetensors({})} | hints)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 bounds.py OUT")
    for name, (region, upper) in REGIONS.items():
        write(Path(sys.argv[1]) / name, files(region, upper))
