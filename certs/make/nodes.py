"""Bounds of every node of the graph of `bounds.py`. `python3 nodes.py OUT` writes the bundles.

On [-1, 1]^2 node 1 is (x0, x1 + 1, 1 - x0), of which only x0 has both signs. The relu of x0 lies above 0 and below (x0 + 1)/2; the others are the identity. So

    node 2   0 <= v0 <= (x0 + 1)/2,   v1 = x1 + 1,   v2 = 1 - x0
    node 3   x1/2 <= y0 <= (x0 + x1 + 1)/2,   y1 = -x0

`transcript` has these, and the intervals that come of them, all of which are attained. `foreign` has wider ones, as another tool leaves them. `slopes` has the
line x0/4 below v0, for which the hints give the slope. `disk` has x0^2 + x1^2 <= 1 for its region: on it y0 <= 1/2 + sqrt(1/2) = 1.20710678118654752440...
Its manifest names what lies outside the graph."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bounds import GRAPH, ROLES
from bundle import Files, bound, safetensors, tensor, write

MANIFEST = {
    "format": "certkern.bundle.v1",
    "kind": "nodes",
    "files": {
        "graph": "graph.json",
        "payload": "payload.safetensors",
        "region": "region.json",
        "nodes": "nodes.json",
        "certificate": "cert.json",
    },
    "digests": dict.fromkeys(ROLES, "0" * 64),
}
BOX = '{"lo": [-1, -1], "hi": [1, 1]}\n'
DISK = '{"ball": "l2", "center": [0, 0], "radius": 1}\n'
OUTSIDE = ["normalisation: the pixels were divided by 255", "argmax: the class is that of the larger output"]

TRANSCRIPT = """\
{"format": "certkern.nodes.v1", "nodes": [
 {"id": 0, "ibp": {"lo": [-1, -1], "hi": [1, 1]}},
 {"id": 1, "ibp": {"lo": [-1, 0, 0], "hi": [1, 2, 2]},
  "crown": {"loA": [[1, 0], [0, 1], [-1, 0]], "loC": [0, 1, 1], "hiA": [[1, 0], [0, 1], [-1, 0]], "hiC": [0, 1, 1]}},
 {"id": 2, "ibp": {"lo": [0, 0, 0], "hi": [1, 2, 2]},
  "crown": {"loA": [[0, 0], [0, 1], [-1, 0]], "loC": [0, 1, 1], "hiA": [["1/2", 0], [0, 1], [-1, 0]], "hiC": [0.5, 1, 1]}},
 {"id": 3, "ibp": {"lo": [-0.5, -1], "hi": [1.5, 1]},
  "crown": {"loA": [[0, 0.5], [-1, 0]], "loC": [0, 0], "hiA": [[0.5, 0.5], [-1, 0]], "hiC": ["1/2", 0]}},
 {"id": 4, "ibp": {"lo": [-0.5, -1], "hi": [1.5, 1]}}
]}
"""
FOREIGN = """\
{"format": "certkern.nodes.v1", "nodes": [
 {"id": 1, "ibp": {"lo": [-1.0000001, -1e-7, -1e-7], "hi": [1.0000001, 2.0000002, 2.0000002]}},
 {"id": 2, "crown": {"loA": [[0, 0], [0, 0.99], [-1, 0]], "loC": [-1e-30, 0.99, 0.9999999], "hiA": [[0.5, 0.125], [0, 1], [-1, 0]], "hiC": [0.625, 1.0000001, 1.0000001]}},
 {"id": 4, "ibp": {"lo": [-2, -2], "hi": [2, 2]}, "crown": {"loA": [[0, 0.25], [-1, 0]], "loC": [-0.25, 0], "hiA": [[0.5, 0.5], [-1, 0]], "hiC": [0.5000001, 0]}}
]}
"""
SLOPES = """\
{"format": "certkern.nodes.v1", "nodes": [
 {"id": 2, "crown": {"loA": [[0.25, 0], [0, 1], [-1, 0]], "loC": [0, 1, 1], "hiA": [[0.5, 0], [0, 1], [-1, 0]], "hiC": [0.5, 1, 1]}}
]}
"""
ON_DISK = """\
{"format": "certkern.nodes.v1", "nodes": [
 {"id": 3, "ibp": {"lo": [-0.5, -1], "hi": [1.2071067811865476, 1]}}
]}
"""
# The slope of v0 from below; v1, v2 and the upper bounds need none.
QUARTER = {
    "leaf.2.columns": tensor("U32", [1], [0]),
    "leaf.2.slope": tensor("F32", [6, 1], [0.25, 0, 0, 0, 0, 0]),
}


def files(region: str, nodes: str, bounds: int, manifest: dict, hints: dict) -> Files:
    """The bundle with so many bounds, which share one tree."""
    tensors = {"cert.safetensors": safetensors(hints)} if hints else {}
    manifest = MANIFEST | {"files": MANIFEST["files"] | {"hints": name for name in tensors}} | manifest
    texts = {
        "bundle.json": json.dumps(manifest, indent=1) + "\n",
        "graph.json": GRAPH,
        "region.json": region,
        "nodes.json": nodes,
        "cert.json": json.dumps({"format": "certkern.leaves.v1", "trees": [0] * bounds}) + "\n",
    }
    data = {name: text.encode() for name, text in texts.items()}
    return bound(data | {"payload.safetensors": safetensors({})} | tensors)


CASES = {
    "transcript": (BOX, TRANSCRIPT, 2 * (2 + 3 + 3 + 3 + 3 + 2 + 2 + 2), {}, {}),
    "foreign": (BOX, FOREIGN, 2 * (3 + 3 + 2 + 2), {}, {}),
    "slopes": (BOX, SLOPES, 2 * 3, {}, QUARTER),
    "disk": (DISK, ON_DISK, 2 * 2, {"outside": OUTSIDE}, {}),
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 nodes.py OUT")
    for name, case in CASES.items():
        write(Path(sys.argv[1]) / name, files(*case))
