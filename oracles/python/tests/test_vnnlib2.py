"""VNN-LIB 2.0 by an independent reader and by the kernel: the same digests of region and unsafe set.

The first version is read by the reference. The second is brought to it by `vnnlib2`; the files are written here, by hand and from the public
examples of the first version. Comparisons need the built checker.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from certkern_oracles import reference, reference_graph
from certkern_oracles.reference_read import read_json, read_property
from certkern_oracles.vnnlib2 import first_version

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared/data"
BINARY = Path(os.environ.get("CERTKERN", ROOT / "target/release/certkern"))
NEEDS_BINARY = unittest.skipUnless(BINARY.is_file(), "SKIPPED: no built certkern")

HEAD = "(vnnlib-version <2.0>) ; of tensors\n(declare-network n (declare-input X Real {x}) {y})\n"
# Shapes of the input and of the outputs, by name, and assertions beside the box [0, 1].
BY_HAND = [
    ([2, 3], {"Y": [2, 2]}, "(assert (<= Y[1,0] (+ X[1,2] (* 2 Y [0, 1]))))"),
    ([1, 2, 2], {"Y": [3], "z": []}, "(assert (or (> z Y[2]) (== z 0.5) (!= Y[0] z)))"),
    ([1], {"A": [2, 1], "B": [1, 2]}, "(assert (and (<= A[1,0] B[0,1]) (>= X[0] 0.25)))"),
]


def places(shape):
    """The indices of a tensor, in row-major order."""
    found = [()]
    for extent in shape:
        found = [(*index, i) for index in found for i in range(extent)]
    return found


def element(name, index):
    return f"{name}[{','.join(map(str, index))}]" if index else name


def graph(inputs, outputs):
    """A graph of one input and of these outputs, each the sum of the input repeated."""
    nodes = [{"id": 0, "kind": "input", "parents": [], "shape": inputs}, {"id": 1, "kind": "sum", "parents": [0], "shape": []}]
    for shape in outputs:
        nodes.append({"id": len(nodes), "kind": "broadcast_to", "parents": [1], "shape": shape, "from_shape": [], "to_shape": shape})
    return {"format": "torchlean.ir.v1", "input_id": 0, "output_ids": list(range(2, len(nodes))), "nodes": nodes}


def by_kernel(inputs, outputs, text):
    """The digests of region and unsafe set that the checker prints."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "graph.json", Path(folder) / "spec.vnnlib"]
        files[0].write_text(json.dumps(graph(inputs, outputs)))
        files[1].write_text(text)
        done = subprocess.run([BINARY, "digest", "--format", "json", *files], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr
    return {role: json.loads(done.stdout)["digests"][role] for role in ("input", "output")}


def by_reader(inputs, outputs, text):
    """The same by the reference, from a property of the first version."""
    document = read_json(json.dumps(graph(inputs, outputs)).encode())
    found = reference.digests(reference_graph.read_graph(document), read_property("spec.vnnlib", text.encode()))
    return {role: found[role] for role in ("input", "output")}


def boxed(x, names, assertion):
    """A file of the second version with the box [0, 1]."""
    outputs = " ".join(f"(declare-output {name} Real {shape})" for name, shape in names.items())
    box = "".join(f"(assert (and (>= {element('X', i)} 0) (<= {element('X', i)} 1)))\n" for i in places(x))
    return HEAD.format(x=x, y=outputs) + box + assertion


def in_tensors(text):
    """A public example of the first version about an input of shape [1, n] and an output of shape [m, 1], and these shapes."""
    n, m = (len(re.findall(rf"\(declare-const {letter}_", text)) for letter in "XY")
    body = re.sub(r"\(declare-const [^)]*\)", "", re.sub(r";[^\n]*", "", text))
    body = re.sub(r"\bX_(\d+)", r"X[0,\1]", re.sub(r"\bY_(\d+)", r"Y[\1,0]", body)).replace("(= ", "(== ")
    return [1, n], [m, 1], HEAD.format(x=[1, n], y=f"(declare-output Y Real {[m, 1]})") + body


@NEEDS_BINARY
class Readers(unittest.TestCase):
    def test_by_hand(self):
        for x, names, assertion in BY_HAND:
            with self.subTest(assertion=assertion):
                text, outputs = boxed(x, names, assertion), list(names.values())
                self.assertEqual(by_kernel(x, outputs, text), by_reader(x, outputs, first_version(text)))

    def test_order_matters(self):
        """A reader in column-major order would not agree: the test can fail."""
        x, names, assertion = BY_HAND[0]
        text = boxed(x, names, assertion)
        turned = first_version(text.replace("X[1,2] (*", "X[0,1] (*"))
        self.assertNotEqual(by_kernel(x, list(names.values()), text), by_reader(x, list(names.values()), turned))
        self.assertIn("declared with shape [3, 2]", by_kernel(x, list(names.values()), text.replace("Real [2, 3]", "Real [3, 2]")))

    def test_public_examples(self):
        if not SHARED.is_dir():
            if os.environ.get("CERTKERN_REQUIRE_SHARED") == "1":
                self.fail("../shared is absent")
            self.skipTest("SKIPPED: ../shared is absent")
        count = 0
        for folder in ("vnncomp_test", "acasxu"):
            for path in sorted((SHARED / folder / "vnnlib").glob("*.vnnlib")):
                original = path.read_text()
                x, y, text = in_tensors(original)
                with self.subTest(path=path.name):
                    expected = by_reader(x, [y], original)
                    self.assertEqual(by_reader(x, [y], first_version(text)), expected)
                    self.assertEqual(by_kernel(x, [y], original), expected)
                    self.assertEqual(by_kernel(x, [y], text), expected)
                count += 1
        print(f"\nVNN-LIB 2.0 by both readers: {count} public examples")
        self.assertGreater(count, 5)


if __name__ == "__main__":
    unittest.main()
