"""Modules run by PyTorch beside the kernel's value of their graphs, in float32 and float64, each within the bound of a run in that format.

The bound is that of `docs/numbers.md`, "Runs in floats": it is known beforehand, from the graph and the point alone. Each probe is also
shown to notice what it is there for: with an ε, a mask or a weight altered the same outputs lie outside.

python -m unittest discover -s tests/torch_export -t tests/torch_export      (from oracles/python)
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import math
import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import torch
from certkern_oracles.torch_export import Captured, capture, probe
from certkern_oracles.torch_export.__main__ import main
from checker import BINARY, NEEDED, run, write
from test_capture import filled
from torch import nn

TINY = 1e-12


class TinyMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.second(torch.tanh(torch.relu(self.first(x))))


class TinyAffineLayerNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 6), nn.LayerNorm(6)

    def forward(self, x):
        return self.norm(self.linear(x))


class TinyLayerNormEpsilon(nn.Module):
    """The variance of its input is about as small as its ε."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6, eps=TINY)

    def forward(self, x):
        return self.norm(x * 2**-20)


class TinyBatchNormEpsilon(nn.Module):
    """Its running variance is about as small as its ε."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, eps=TINY)

    def forward(self, x):
        return self.norm(x * 2**-20)


class TinyAttention(nn.Module):
    """An attention block, with a mask that hides the later places if it is `masked`."""

    def __init__(self, masked):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(4, 4) for _ in range(4))
        self.norm, self.masked = nn.LayerNorm(4), masked
        self.register_buffer("later", torch.ones(3, 3, dtype=torch.bool).triu(1))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1) / 2.0
        scores = scores.masked_fill(self.later, -math.inf) if self.masked else scores
        return self.norm(x + self.out(scores.softmax(-1) @ self.v(x)))


def seeded(module):
    """The module with the same random numbers each time; statistics as small as the ε where that is tiny."""
    module = filled(module, seed=7).eval()
    if isinstance(module, TinyBatchNormEpsilon):
        module.norm.running_var.mul_(TINY)
        module.norm.running_mean.mul_(2**-20)
    return module


PROBES = {
    "TinyMLP": (TinyMLP, (2, 4)),
    "TinyAffineLayerNorm": (TinyAffineLayerNorm, (2, 4)),
    "TinyLayerNormEpsilon": (TinyLayerNormEpsilon, (2, 6)),
    "TinyBatchNormEpsilon": (TinyBatchNormEpsilon, (3, 4)),
    "attention": (lambda: TinyAttention(False), (1, 3, 4)),
    "mask": (lambda: TinyAttention(True), (1, 3, 4)),
}


@NEEDED
class Parity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def captured(self, name: str, dtype: torch.dtype) -> tuple[nn.Module, Captured, Path]:
        """A module in a type, its graph, and the file of its outputs at the point of the probe."""
        make, shape = PROBES[name]
        module = seeded(make()).to(dtype)
        document = self.folder / "probe.json"
        document.write_text(probe.probe(module, probe.point(module, shape)))
        return module, capture(module, shape), document

    def compared(self, captured: Captured, document: Path) -> dict:
        """The comparison that `certkern eval` makes; its exit status says the same."""
        folder = self.folder / "net"
        write(captured, folder)
        done = subprocess.run([BINARY, "eval", folder, "--probe", document, "--format", "json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        comparison = json.loads(done.stdout)["comparison"]
        self.assertEqual(done.returncode, 0 if comparison["within"] else 1)
        self.assertEqual(comparison["evidence"], "compared")
        return comparison

    def test_outputs_lie_within_the_bound(self):
        for name in PROBES:
            for dtype, unit in ((torch.float32, 2**-24), (torch.float64, 2**-53)):
                with self.subTest(probe=name, dtype=dtype):
                    _, captured, document = self.captured(name, dtype)
                    comparison = self.compared(captured, document)
                    worst = max(comparison["numbers"], key=lambda number: number["difference"] / number["bound"])
                    difference, bound = worst["difference"], worst["bound"]
                    print(f"parity: {name} {comparison['arith']}: {len(comparison['numbers'])} numbers, at worst {difference:.1e} of {bound:.1e}")
                    self.assertTrue(comparison["within"], worst)
                    # A bound is a matter of rounding: some hundred units at the sizes that these modules have.
                    self.assertLess(max(number["bound"] for number in comparison["numbers"]), 4000 * unit)

    def altered(self, name: str, dtype: torch.dtype, kind: str, field: str, change) -> bool:
        """Whether the module's outputs still lie within the bound once a field of the first node of this kind is changed."""
        _, captured, document = self.captured(name, dtype)
        place = [node["kind"] for node in captured.graph["nodes"]].index(kind)
        key = f"{place}.{field}"
        payload = {**captured.payload, key: change(captured.payload[key].clone())}
        self.assertFalse(torch.equal(payload[key], captured.payload[key]))
        self.assertTrue(self.compared(captured, document)["within"])
        return self.compared(replace(captured, payload=payload), document)["within"]

    def test_alterations_are_noticed(self):
        def shown(mask):
            mask[0, 0, 1] = 1
            return mask

        def hidden(mask):
            mask[0, 2, 1] = 0
            return mask

        for name, kind, field, change in (
            ("TinyMLP", "linear", "bias", torch.zeros_like),
            ("TinyMLP", "linear", "weight", lambda weight: weight.flip(1)),
            ("TinyAffineLayerNorm", "layernorm", "gamma", lambda gamma: gamma.roll(1)),
            ("TinyAffineLayerNorm", "layernorm", "eps", lambda eps: eps * 0 + TINY),
            ("TinyLayerNormEpsilon", "layernorm", "eps", lambda eps: eps * 0 + 1e-5),
            ("TinyLayerNormEpsilon", "layernorm", "eps", lambda eps: eps * 2),
            ("TinyBatchNormEpsilon", "batch_norm_eval", "eps", lambda eps: eps * 0 + 1e-5),
            ("TinyBatchNormEpsilon", "batch_norm_eval", "eps", lambda eps: eps * 2),
            ("attention", "linear", "weight", lambda weight: weight.mT.contiguous()),
            ("attention", "layernorm", "eps", lambda eps: eps * 100),
            ("mask", "hard_masked_softmax", "mask", shown),
            ("mask", "hard_masked_softmax", "mask", hidden),
        ):
            for dtype in (torch.float32, torch.float64):
                with self.subTest(probe=name, field=field, dtype=dtype):
                    self.assertFalse(self.altered(name, dtype, kind, field, change))

    def test_an_epsilon_of_another_type_is_noticed_in_float64(self):
        for name, kind in (("TinyLayerNormEpsilon", "layernorm"), ("TinyBatchNormEpsilon", "batch_norm_eval")):
            with self.subTest(probe=name):
                self.assertFalse(self.altered(name, torch.float64, kind, "eps", lambda eps: eps.float().double()))

    def test_the_command_writes_probes(self):
        (self.folder / "net.py").write_text("from test_parity import TinyAffineLayerNorm, seeded\nnet = seeded(TinyAffineLayerNorm())\n")
        out, document = self.folder / "net", self.folder / "probe.json"
        arguments = [f"{self.folder / 'net.py'}:net", "--shape", "2,4", "--probe", str(document), "-o", str(out)]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(arguments), 0)
        self.assertIn("numbers lie within the bound of a run in float32", run("eval", out, "--probe", document))
        # The same point each time, and the module's own outputs.
        written = json.loads(document.read_text())
        module = seeded(TinyAffineLayerNorm())
        x = torch.tensor(written["x"])
        self.assertTrue(torch.equal(x, probe.point(module, (2, 4))))
        self.assertEqual(torch.tensor(written["y"]).tolist(), module(x).flatten().tolist())

    def test_a_report_records_the_comparison(self):
        for name in ("TinyMLP", "TinyAffineLayerNorm"):
            with self.subTest(probe=name):
                module, captured, document = self.captured(name, torch.float32)
                bundle = self.bundle(captured, PROBES[name][1])
                lines = run("check", bundle, "--probe", document, "--format", "json").splitlines()
                self.assertTrue(lines[-1].startswith("s ACCEPTED bound "), lines[-1])
                evidence = {part["name"]: part["evidence"] for part in json.loads(lines[0])["report"]["assumptions"]}
                self.assertEqual((evidence["probes"], evidence["model"]), ("compared", "assumed"))
                # The same theorem says nothing of a module with other numbers.
                other = copy.deepcopy(module)
                with torch.no_grad():
                    next(other.parameters()).mul_(1.001)
                document.write_text(probe.probe(other, probe.point(other, PROBES[name][1])))
                done = subprocess.run([BINARY, "check", bundle, "--probe", document], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (2, "s REJECTED bind.graph"))

    def bundle(self, captured: Captured, shape: tuple[int, ...]) -> Path:
        """A bundle that claims wide bounds near the origin."""
        bundle = self.folder / "bundle"
        write(captured, bundle)
        outputs = sum(math.prod(captured.graph["nodes"][place]["shape"]) for place in captured.graph["output_ids"])
        files = {
            "region": {"center": [0] * math.prod(shape), "eps": 0.01},
            "bound": {"format": "torchlean.bound.v1", "lower": [-100] * outputs, "upper": [100] * outputs},
            "certificate": {"format": "certkern.leaves.v1", "trees": [0] * (2 * outputs)},
        }
        names = {role: f"{role}.json" for role in files} | {"graph": "graph.json", "payload": "payload.safetensors"}
        for role, contents in files.items():
            (bundle / names[role]).write_text(json.dumps(contents))
        digests = dict.fromkeys(("graph", "payload", "input", "output"), "0" * 64)
        for _ in range(2):
            manifest = {"format": "certkern.bundle.v1", "kind": "bound", "files": names, "digests": digests}
            (bundle / "bundle.json").write_text(json.dumps(manifest))
            digests = dict(line.split() for line in run("digest", bundle).splitlines())
        return bundle


if __name__ == "__main__":
    unittest.main()
