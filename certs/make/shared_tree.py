"""A small bundle for readers: three disjuncts, of which two share one tree. `python3 shared_tree.py OUT` writes it.

The network is x -> z -> a = relu(z) -> u -> b = relu(u) -> y with z = (x0 + x1, x0 + x1/2), u = (a0 + a1 - 1, a0 - a1) and
y = (b0 - b1, -b0 + 2 b1), on the square [-1, 1]^2.

- Disjunct 0 is y0 >= 9/4. Where u1 <= 0, y0 = b0 and b0 - u1 <= 2 a1 - 1 <= 2: that needs a multiplier for the split of u1.
- Disjunct 1 is y0 <= -2/5 and y1 < 2/3. Each row alone can hold; 2 y0 + y1 = b0 >= 0 refutes the two together.
- Disjunct 2 is y1 >= 7/2. It has a tree of one leaf, closed by the bounds of u1 that the slopes 1/2 give: at most 5/4, not 2.

The tree of disjuncts 0 and 1 splits x0 at 1/3, above that u1 at 0."""

from __future__ import annotations

import sys
from pathlib import Path

from bundle import Files, bound, safetensors, tensor, write

GRAPH = """\
{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [5], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [1, 2]},
  {"id": 1, "kind": "linear", "parents": [0], "shape": [1, 2], "weight": [[1, 1], [1, 0.5]], "bias": [0, 0]},
  {"id": 2, "kind": "relu", "parents": [1], "shape": [1, 2]},
  {"id": 3, "kind": "linear", "parents": [2], "shape": [1, 2], "weight": [[1, 1], [1, -1]], "bias": [-1, 0]},
  {"id": 4, "kind": "relu", "parents": [3], "shape": [1, 2]},
  {"id": 5, "kind": "linear", "parents": [4], "shape": [1, 2], "weight": [[1, -1], [-1, 2]], "bias": [0, 0]}
]}
"""

PROPERTY = """\
{"format": "certkern.property.v1", "outputs": 2, "lower": ["-1", -1], "upper": [1, "0x1p0"],
 "unsafe": [[{"y": {"0": -1}, "bound": "-9/4", "strict": false}],
            [{"y": {"0": "1"}, "bound": "-2/5", "strict": false}, {"x": {}, "y": {"1": 1}, "bound": "2/3", "strict": true}],
            [{"y": {"1": -1}, "bound": "-7/2", "strict": false}]]}
"""

CERTIFICATE = """\
{"format": "certkern.leaves.v1", "trees": [0, 0, 1], "thresholds": ["1/3", 0], "bounds": ["plain", "slopes"], "precision": 2}
"""

ZERO = "0" * 64
MANIFEST = f"""\
{{"format": "certkern.bundle.v1", "kind": "leaves",
 "files": {{"graph": "graph.json", "payload": "payload.safetensors", "property": "property.json",
           "certificate": "cert.json", "hints": "cert.safetensors"}},
 "digests": {{"graph": "{ZERO}",
             "payload": "{ZERO}",
             "input": "{ZERO}",
             "output": "{ZERO}"}},
 "provenance": {{"producer": "by hand"}}}}
"""

# In preorder: x0 at 1/3; above it u1 at 0, with fresh bounds; three leaves. Then the tree of one leaf.
HINTS = {
    "tree.offset": tensor("U32", [3], [0, 5, 6]),
    "tree.kind": tensor("U8", [6], [1, 1, 0, 0, 0, 0]),
    "tree.node": tensor("U32", [6], [0, 3, 0, 0, 0, 0]),
    "tree.coordinate": tensor("U32", [6], [0, 1, 0, 0, 0, 0]),
    "tree.threshold": tensor("U32", [6], [0, 1, 0, 0, 0, 0]),
    "tree.bounds": tensor("U32", [6], [1, 1, 0, 0, 0, 2]),
    # u1 = a0 - a1: from below the line of a0, from above that of a1.
    "bounds.1.3.rows": tensor("U32", [1], [1]),
    "bounds.1.3.2.columns": tensor("U32", [2], [0, 1]),
    "bounds.1.3.2.lower": tensor("F32", [1, 2], [0.5, 0]),
    "bounds.1.3.2.upper": tensor("F32", [1, 2], [0, 0.5]),
    # Seven entries: three leaves for disjuncts 0 and 1 each, one leaf for disjunct 2.
    "leaf.2.columns": tensor("U32", [2], [0, 1]),
    "leaf.2.slope": tensor("F64", [7, 2], [1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0]),
    "leaf.4.columns": tensor("U32", [2], [0, 1]),
    "leaf.4.slope": tensor("F32", [7, 2], [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    "leaf.rows.offset": tensor("U32", [8], [0, 1, 3, 4, 6, 7, 9, 10]),
    "leaf.rows.index": tensor("U32", [10], [0, 0, 1, 0, 0, 1, 0, 0, 1, 0]),
    "leaf.rows.multiplier": tensor("F32", [10], [1, 2, 1, 1, 2, 1, 1, 2, 1, 1]),
    "leaf.splits.offset": tensor("U32", [8], [0, 0, 0, 1, 1, 1, 1, 1]),
    "leaf.splits.depth": tensor("U32", [1], [1]),
    "leaf.splits.multiplier": tensor("F32", [1], [1]),
}


def files() -> Files:
    """The bundle."""
    return bound(
        {
            "bundle.json": MANIFEST.encode(),
            "graph.json": GRAPH.encode(),
            "payload.safetensors": safetensors({}),
            "property.json": PROPERTY.encode(),
            "cert.json": CERTIFICATE.encode(),
            "cert.safetensors": safetensors(HINTS),
        }
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 shared_tree.py OUT")
    write(Path(sys.argv[1]), files())
