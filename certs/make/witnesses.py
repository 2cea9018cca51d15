"""Bundles of kind `witness` from `certs/misread`: `python3 witnesses.py NETS OUT`, where NETS/<case> holds the imported network.

The point is that of `counterexample.txt`. One more is a point in sevenths for the network of `shared_tree.py`, and two are of networks whose
values are not rational."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import shared_tree
from bundle import Files, bound, safetensors, write

MISREAD = Path(__file__).resolve().parents[1] / "misread"
CASES = ["constant_minus_x", "or_of_boxes", "two_matmuls"]
ROLES = ["graph", "payload", "input", "output"]


def manifest(property_name: str) -> bytes:
    """A manifest whose digests are not yet computed."""
    files = {
        "graph": "graph.json",
        "payload": "payload.safetensors",
        "property": property_name,
        "certificate": "cert.json",
    }
    zeros = dict.fromkeys(ROLES, "0" * 64)
    document = {"format": "certkern.bundle.v1", "kind": "witness", "files": files, "digests": zeros}
    return (json.dumps(document, indent=1) + "\n").encode()


def certificate(point: list[str]) -> bytes:
    """The point."""
    return (json.dumps({"format": "certkern.witness.v1", "x": point}) + "\n").encode()


def misread(network: Path, case: str) -> Files:
    """The counterexample of a misreading."""
    lines = (MISREAD / case / "counterexample.txt").read_text().splitlines()
    return bound(
        {
            "bundle.json": manifest("property.vnnlib"),
            "graph.json": (network / "graph.json").read_bytes(),
            "payload.safetensors": (network / "payload.safetensors").read_bytes(),
            "property.vnnlib": (MISREAD / case / "property.vnnlib").read_bytes(),
            "cert.json": certificate([line.split(" = ")[1] for line in lines if line.startswith("X_")]),
        }
    )


def sevenths() -> Files:
    """At x = (-4/7, 1) of `shared_tree`: a = (3/7, 0), u = (-4/7, 3/7), so y = (-3/7, 6/7), where the bound of y1 is 6/7."""
    files = shared_tree.files()
    del files["cert.safetensors"]
    meaning = (
        files["property.json"].replace(b'"2/3"', b'"6/7"').replace(b'"strict": true', b'"strict": false')
    )
    changes = {
        "bundle.json": manifest("property.json"),
        "property.json": meaning,
        "cert.json": certificate(["-4/7", "1"]),
    }
    return bound(files | changes)


SIGMOID_TANH = b"""\
{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [3], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [2]},
  {"id": 1, "kind": "linear", "parents": [0], "shape": [2], "weight": [[1, 1], [1, -1]], "bias": [0, 0.5]},
  {"id": 2, "kind": "sigmoid", "parents": [1], "shape": [2]},
  {"id": 3, "kind": "tanh", "parents": [2], "shape": [2]}
]}
"""
ABOVE_AND_BELOW = b"""\
{"format": "certkern.property.v1", "outputs": 2, "lower": [-1, -1], "upper": [1, 1],
 "unsafe": [[{"y": {"0": 1, "1": -1}, "bound": 0, "strict": false}, {"y": {"0": -1}, "bound": "-0.5582313732", "strict": true}]]}
"""
TANH = b"""\
{"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
  {"id": 0, "kind": "input", "parents": [], "shape": [1]},
  {"id": 1, "kind": "tanh", "parents": [0], "shape": [1]}
]}
"""
AT_ZERO = b"""\
{"format": "certkern.property.v1", "outputs": 1, "lower": [-1], "upper": [1],
 "unsafe": [[{"y": {"0": 1}, "bound": 0, "strict": false}]]}
"""


def functions(graph: bytes, meaning: bytes, point: list[str]) -> Files:
    """A network without a payload."""
    return bound(
        {
            "bundle.json": manifest("property.json"),
            "graph.json": graph,
            "payload.safetensors": safetensors({}),
            "property.json": meaning,
            "cert.json": certificate(point),
        }
    )


def sigmoid_tanh() -> Files:
    """At x = (1/3, 1/5) it is y = (tanh sigmoid 8/15, tanh sigmoid 19/30) = (0.55823137324328658..., 0.57385035968452838...), by mpmath 1.3.0."""
    return functions(SIGMOID_TANH, ABOVE_AND_BELOW, ["1/3", "1/5"])


def tanh_at_zero() -> Files:
    """y = tanh x at x = 0, where y = 0 is the bound of a closed row."""
    return functions(TANH, AT_ZERO, ["0"])


def main(networks: Path, out: Path) -> None:
    """Write every case."""
    for case in CASES:
        write(out / case, misread(networks / case, case))
    write(out / "sevenths", sevenths())
    write(out / "sigmoid_tanh", sigmoid_tanh())
    write(out / "tanh_at_zero", tanh_at_zero())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python3 witnesses.py NETS OUT")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
