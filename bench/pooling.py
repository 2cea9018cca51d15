"""Bounds at the root of networks with pooling and padding: those that `certkern check` accepts, and those of auto_LiRPA.

    python bench/pooling.py --abcrown PATH --certkern BINARY [--only NAME] [--seeds N]

`PATH` is a checkout of α,β-CROWN with its submodule auto_LiRPA, in whose environment this runs; `BINARY` is a built checker.
Networks are made here, with seeded numbers, and go to a graph by `certkern_oracles.torch_export`. auto_LiRPA bounds the outputs by
plain CROWN in float64 on the CPU. A claim of kind `bound` states these bounds moved apart by a part t of their width, and its
certificate asks for default slopes alone. The least t, to 1/1024, at which the checker accepts is what the kernel is wider by, at most,
over all outputs; a t below zero says that it is narrower. Shown are the most and the median over the seeds.

Fails where an accepted bound is wider by more than 5 %, and says where auto_LiRPA refuses a network, or is refuted by a point.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracles/python"))

from certkern_oracles.abcrown.hook import find
from certkern_oracles.torch_export import capture

MARGIN = 0.05
"""How much wider than those of auto_LiRPA the kernel's bounds may be."""

RESOLUTION = 1 / 1024
"""Steps of t."""

NARROWEST = -0.9

Vector = torch.Tensor


def convolutions(first: nn.Module, second: nn.Module, features: int, stride: int = 1) -> nn.Sequential:
    """Two convolutions with zero padding, each followed by ReLU and pooling, and a dense layer."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=stride, padding=1), nn.ReLU(), first,
        nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), second,
        nn.Flatten(), nn.Linear(features, 5),
    )  # fmt: skip


NETWORKS: dict[str, tuple[Callable[[], nn.Sequential], tuple[int, ...]]] = {
    "max 2": (lambda: convolutions(nn.MaxPool2d(2), nn.MaxPool2d(2), 24), (1, 1, 8, 8)),
    "max 3": (lambda: convolutions(nn.MaxPool2d(3), nn.MaxPool2d(3), 6), (1, 1, 9, 9)),
    "max 2, padding 1": (lambda: convolutions(nn.MaxPool2d(2, padding=1), nn.MaxPool2d(2), 24), (1, 1, 8, 8)),
    "max 3, stride 2": (lambda: convolutions(nn.MaxPool2d(3, stride=2), nn.MaxPool2d(3), 6), (1, 1, 9, 9)),
    "average 2": (lambda: convolutions(nn.AvgPool2d(2), nn.AvgPool2d(2), 24), (1, 1, 8, 8)),
    "average 3, stride 2, padding 1": (
        lambda: convolutions(nn.AvgPool2d(3, 2, padding=1), nn.AvgPool2d(3, 2, padding=1), 24),
        (1, 1, 8, 8),
    ),
    "average 3, padding 1 left out": (
        lambda: convolutions(nn.AvgPool2d(3, 2, padding=1, count_include_pad=False), nn.AvgPool2d(2), 24),
        (1, 1, 8, 8),
    ),
    "max 2, average 2": (lambda: convolutions(nn.MaxPool2d(2), nn.AvgPool2d(2), 24), (1, 1, 8, 8)),
    "average 2, max 2": (lambda: convolutions(nn.AvgPool2d(2), nn.MaxPool2d(2), 24), (1, 1, 8, 8)),
    "max 2 before ReLU": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=2), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(100, 12), nn.ReLU(), nn.Linear(12, 5)
        ),
        (1, 1, 8, 8),
    ),
}
RADII = (1 / 256, 1 / 64, 1 / 16)


def made(name: str, seed: int) -> tuple[nn.Sequential, Vector]:
    """The network in float64 and the centre of the region, multiples of 1/256, so that ends of the box are exact in both."""
    torch.manual_seed(seed)
    build, shape = NETWORKS[name]
    network = build().double().eval()
    return network, torch.randint(0, 257, shape).double() / 256


def by_auto_lirpa(network: nn.Module, centre: Vector, radius: float) -> tuple[Vector, Vector]:
    """Lower and upper bounds of the outputs by plain CROWN."""
    lirpa = importlib.import_module("auto_LiRPA")
    module = lirpa.BoundedModule(network, torch.zeros_like(centre), device="cpu")
    box = lirpa.PerturbationLpNorm(norm=float("inf"), x_L=centre - radius, x_U=centre + radius)
    with torch.no_grad():
        lower, upper = module.compute_bounds(x=(lirpa.BoundedTensor(centre, box),), method="CROWN")
    return lower.reshape(-1), upper.reshape(-1)


def beyond(network: nn.Module, centre: Vector, radius: float, ends: tuple[Vector, Vector]) -> float:
    """How far outputs at random corners and points of the box lie outside of these bounds, relative to their width."""
    lower, upper = ends
    shape = (2000, *centre.shape[1:])
    steps = torch.cat([torch.randint(0, 2, shape) * 2.0 - 1, torch.rand(shape) * 2 - 1])
    with torch.no_grad():
        outputs = network(centre + radius * steps).reshape(len(steps), -1)
    return float((torch.maximum(lower - outputs, outputs - upper) / (upper - lower)).max())


class Claims:
    """Bundles of kind `bound` about one network and one region."""

    def __init__(self, binary: Path, folder: Path, network: nn.Module, centre: Vector, radius: float) -> None:
        self.binary, self.folder = binary, folder
        captured = capture(network, tuple(centre.shape))
        (folder / "graph.json").write_text(captured.graph_json(), encoding="utf-8")
        (folder / "payload.safetensors").write_bytes(captured.payload_bytes())
        flat = centre.reshape(-1)
        self.region = {"lo": (flat - radius).tolist(), "hi": (flat + radius).tolist()}

    def accepted(self, ends: tuple[Vector, Vector], apart: float, arith: str) -> tuple[bool, int]:
        """Whether the bounds moved apart are accepted, and how many entries the exact tier decided."""
        lower, upper = ends
        move = (upper - lower) * apart / 2
        files = {
            "region.json": self.region,
            "bound.json": {"format": "torchlean.bound.v1", "lower": (lower - move).tolist(), "upper": (upper + move).tolist()},
            "cert.json": {"format": "certkern.leaves.v1", "trees": [0] * (2 * len(lower)), "bounds": ["plain"]},
        }
        names = {"graph": "graph.json", "payload": "payload.safetensors", "region": "region.json", "bound": "bound.json"}
        manifest = {"format": "certkern.bundle.v1", "kind": "bound", "files": names | {"certificate": "cert.json"}, "digests": {}}
        for name, document in (files | {"bundle.json": manifest}).items():
            (self.folder / name).write_text(json.dumps(document), encoding="utf-8")
        manifest["digests"] = json.loads(self.said("digest", "--format", "json"))["digests"]
        (self.folder / "bundle.json").write_text(json.dumps(manifest), encoding="utf-8")
        report = json.loads(self.said("check", "--format", "json", "--arith", arith, "--jobs", "1").splitlines()[0])["report"]
        if report["verdict"] not in ("accepted", "unproved"):
            raise SystemExit(f"the checker refuses a bundle: {report}")
        counts = report.get("counts", {})
        return report["verdict"] == "accepted", counts.get("exact", 0)

    def said(self, *arguments: str) -> str:
        command = [str(self.binary), *arguments, str(self.folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def wider(self, ends: tuple[Vector, Vector], arith: str) -> tuple[float, int]:
        """The least t that is accepted, to the resolution, and what the exact tier decided there; infinite if MARGIN is not enough."""
        good, exact = self.accepted(ends, MARGIN, arith)
        if not good:
            return float("inf"), exact
        low, high = round(NARROWEST / RESOLUTION), round(MARGIN / RESOLUTION)
        while high - low > 1:
            middle = (low + high) // 2
            good, found = self.accepted(ends, middle * RESOLUTION, arith)
            low, high, exact = (low, middle, found) if good else (middle, high, exact)
        return high * RESOLUTION, exact


def main(arguments: list[str]) -> int:
    """The exit status for these arguments."""
    parser = argparse.ArgumentParser(prog="python bench/pooling.py", allow_abbrev=False)
    parser.add_argument("--abcrown", type=Path, metavar="PATH", required=True, help="a checkout of α,β-CROWN with its submodule auto_LiRPA")
    parser.add_argument("--certkern", type=Path, metavar="BINARY", required=True, help="a built checker")
    parser.add_argument("--only", metavar="NAME", default="", help="the networks with NAME in their names")
    parser.add_argument("--seeds", type=int, metavar="N", default=3, help="seeds 0, 1, … of each network")
    own = parser.parse_args(arguments)
    find(own.abcrown.resolve())
    torch.set_default_dtype(torch.float64)
    print("| network | radius | seeds | mean width | wider in the filter: most, median | in the exact tier | decided by the filter | remarks |")
    print("|---|---|---|---|---|---|---|---|")
    failed = False
    for name in (name for name in NETWORKS if own.only in name):
        for radius in RADII:
            widths, tiers, by_filter, entries, remarks = [], {"auto": [], "exact": []}, 0, 0, set()
            start = time.process_time()
            for seed in range(own.seeds):
                network, centre = made(name, seed)
                try:
                    ends = by_auto_lirpa(network, centre, radius)
                except Exception as error:  # whatever its operators raise
                    remarks.add(f"auto_LiRPA: {type(error).__name__}: {str(error).splitlines()[0]}")
                    continue
                outside = beyond(network, centre, radius, ends)
                if outside > 0:
                    remarks.add("a point refutes auto_LiRPA's bounds")
                    continue
                widths.append(float((ends[1] - ends[0]).mean()))
                with tempfile.TemporaryDirectory() as folder:
                    claims = Claims(own.certkern.resolve(), Path(folder), network, centre, radius)
                    for arith, found in tiers.items():
                        wider, exact = claims.wider(ends, arith)
                        found.append(wider)
                        if arith == "auto":
                            entries, by_filter = entries + 2 * len(ends[0]), by_filter + 2 * len(ends[0]) - exact
            print(f"{name}, {radius}: {time.process_time() - start:.0f} s", file=sys.stderr)
            if not widths:
                print(f"| {name} | 1/{round(1 / radius)} | 0 | | | | | {'; '.join(sorted(remarks))} |", flush=True)
                continue
            most = {arith: max(found) for arith, found in tiers.items()}
            failed |= max(most.values()) > MARGIN
            cells = " | ".join(f"{100 * max(found):+.1f} %, {100 * statistics.median(found):+.1f} %" for found in tiers.values())
            share = f"{by_filter} of {entries}"
            mean = sum(widths) / len(widths)
            print(f"| {name} | 1/{round(1 / radius)} | {len(widths)} | {mean:.4g} | {cells} | {share} | {'; '.join(sorted(remarks))} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
