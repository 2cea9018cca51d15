"""Runs of α,β-CROWN that are no ReLU network in a box: what the hook writes for sigmoid and tanh, and what it refuses.

  python tests/live_other.py --abcrown PATH --certkern BINARY --work FOLDER

Needs the environment of α,β-CROWN, `certs/make` beside this folder and a built `certkern`. The networks are trained here. Bounds of the
dumped rows and leaves are made again in float64 from the dumped tangent points, splits and multipliers, as `schemas/abdump-0.md` says, on
the root bounds that the run claims, and may fall short of the reported ones by no more than 1e-4.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
PACKAGE = HERE.parents[1]
sys.path[:0] = [str(PACKAGE), str(HERE.parents[3] / "certs" / "make")]

import digits  # noqa: E402
import live  # noqa: E402
from certkern_oracles.abcrown.dumpfile import read_dump  # noqa: E402
from networks import Array, Layer, write_gemm_model, write_model  # noqa: E402

SIZES = [64, 20, 20, digits.CLASSES]
SHORT = 1e-4
Curve = Callable[[Array], Array]
CURVES: dict[str, tuple[Curve, Curve]] = {
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
    "Tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
}


def trained(kind: str) -> list[Layer]:
    """The layers of a network with this activation, after training on the digits."""
    import torch

    torch.manual_seed(3)
    torch.set_num_threads(1)
    parts: list[Any] = []
    for inputs, outputs in zip(SIZES, SIZES[1:]):
        parts += [torch.nn.Linear(inputs, outputs), getattr(torch.nn, kind)()]
    model = torch.nn.Sequential(*parts[:-1])
    images, labels = digits.digits()
    inputs, targets = torch.tensor(images[: digits.TRAINING_IMAGES], dtype=torch.float32), torch.tensor(labels[: digits.TRAINING_IMAGES])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(60):
        for chosen in torch.randperm(len(inputs)).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[chosen]), targets[chosen]).backward()
            optimizer.step()
    values = [value.detach().numpy().astype(np.float64) for value in model.state_dict().values()]
    return list(zip(values[::2], values[1::2]))


def write_curved(folder: Path, kind: str, radius: str) -> list[Layer]:
    """A network with this activation and the test image with this radius; the layers."""
    from onnx import helper

    layers = trained(kind)
    value, nodes, initializers = "f", [helper.make_node("Flatten", ["X"], ["f"], axis=1)], {}
    for place, (weight, bias) in enumerate(layers):
        initializers |= {f"w{place}": weight, f"b{place}": bias}
        last = place + 1 == len(layers)
        result = "Y" if last else f"z{place}"
        nodes.append(helper.make_node("Gemm", [value, f"w{place}", f"b{place}"], [result], f"/gemm{place}", transB=1))
        if not last:
            nodes.append(helper.make_node(kind, [result], [f"a{place}"], f"/act{place}"))
        value = f"a{place}"
    output = ("Y", digits.CLASSES)
    write_model(folder / "net.onnx", nodes, initializers, "X", (1, 1, 8, 8), output, opset=13, producer="certkern-make")
    live.write_digits_property(folder, radius)
    config = folder / "config.yaml"
    config.write_text(config.read_text().replace("method: kfsb", "method: nonlinear"))
    return layers


def lines(kind: str, low: Array, high: Array, tangents: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Slope and intercept of the lower and of the upper lines, from the four kinds of tangent points."""
    f, slope_at = CURVES[kind]
    chord = (f(high) - f(low)) / np.maximum(high - low, 1e-8)
    positive, negative = low >= 0, high <= 0
    both = ~positive & ~negative

    def line(use_chord: Array, point: Array) -> tuple[Array, Array]:
        slope = np.where(use_chord, chord, slope_at(point))
        return slope, np.where(use_chord, f(low) - slope * low, f(point) - slope * point)

    lower = line(positive | (both & (chord < slope_at(low))), np.where(negative, tangents[1], tangents[2]))
    upper = line(negative | (both & (chord < slope_at(high))), np.where(positive, tangents[0], tangents[3]))
    grid = low + (high - low) * np.linspace(0, 1, 101)[:, None]
    assert (lower[0] * grid + lower[1] <= f(grid) + 1e-5).all() and (upper[0] * grid + upper[1] >= f(grid) - 1e-5).all()
    return lower, upper


class Replay:
    """Bounds made again from a dump."""

    def __init__(self, folder: Path, kind: str, layers: list[Layer]) -> None:
        self.manifest, self.tensors = read_dump(folder)
        self.kind, self.layers = kind, layers
        self.act = [node["name"] for node in self.manifest["nodes"] if node["type"] == f"Bound{kind}"]
        self.pre = [node["inputs"][0] for node in self.manifest["nodes"] if node["type"] == f"Bound{kind}"]

    def real(self, name: str) -> Array:
        return self.tensors[name].astype(np.float64)

    def bound(self, row: Array, tangents: list[Array], splits: list[dict[str, Any]]) -> float:
        """The lower bound of `row` of the outputs under these splits."""
        weight, bias = self.layers[-1]
        constant, row = float(row @ bias), row @ weight
        for layer in reversed(range(len(self.pre))):
            name = self.pre[layer]
            low, high = (self.real(f"root/interm/{name}/{side}").reshape(-1) for side in "lu")
            own = [split for split in splits if split["layer"] == name]
            for split in own:
                if split["sign"] > 0:
                    low[split["neuron"]] = max(low[split["neuron"]], split["point"])
                else:
                    high[split["neuron"]] = min(high[split["neuron"]], split["point"])
            lower, upper = lines(self.kind, low, high, tangents[layer])
            constant += float((np.maximum(row, 0) * lower[1] + np.minimum(row, 0) * upper[1]).sum())
            row = np.maximum(row, 0) * lower[0] + np.minimum(row, 0) * upper[0]
            for split in own:
                row[split["neuron"]] -= split["sign"] * split["beta"]
                constant += split["sign"] * split["beta"] * split["point"]
            weight, bias = self.layers[layer]
            constant, row = constant + float(row @ bias), row @ weight
        low, high = (self.real(f"spec/x_{side}").reshape(-1) for side in "LU")
        return constant + float((np.maximum(row, 0) * low + np.minimum(row, 0) * high).sum())

    def root_shortfall(self) -> float:
        """How far the bounds of the optimised rows fall short of those that the run reports."""
        final, short = self.manifest["final_name"], []
        spec, lowest = self.real("spec/C")[0], self.real("root/lb")[0]
        for place, row in enumerate(self.real("root/C")[0]):
            tangents = [self.real(f"best_alpha/{act}/{final}/val")[0::2, place] for act in self.act]
            (index,) = np.flatnonzero((spec == row).all(axis=1))
            short.append(lowest[index] - self.bound(row, tangents, []))
        return max(short)

    def leaf_shortfall(self) -> float:
        """How far bounds of leaves fall short of those in the manifest."""
        short = []
        for leaf in self.manifest["leaves"]:
            tangents = [self.real(f"leaf_tangents/{act}")[leaf["id"], :, 0] for act in self.act]
            short.append(leaf["lb"][0] - self.bound(self.real("leaf/C")[leaf["id"], 0], tangents, leaf["splits"]))
        return max(short)


class Runs:
    """All cases; each says what it saw and is wrong if that is not what is wanted."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.wrong = 0

    def say(self, what: str, found: str, right: bool) -> None:
        self.wrong += not right
        print(f"{'ok   ' if right else 'WRONG'} {what}: {found}", flush=True)

    def folder(self, name: str) -> Path:
        folder = self.arguments.work / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def search(self, folder: Path, *options: str) -> tuple[int, str]:
        """Run the hook; its exit status and its last line."""
        command = [sys.executable, "-m", "certkern_oracles.abcrown", "--abcrown", str(self.arguments.abcrown.resolve())]
        command += ["--out", "dump", "--", "--config", "config.yaml", "--onnx_path", "net.onnx", "--vnnlib_path", "property.vnnlib", *options]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE)}
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        return ended.returncode, next((line for line in reversed(ended.stderr.splitlines()) if line.startswith("certkern: ")), ended.stderr)

    def curved(self, kind: str, radius: str, leaves: bool) -> None:
        folder = self.folder(f"{kind}_{radius}")
        layers = write_curved(folder, kind, radius)
        code, line = self.search(folder)
        replay = Replay(folder / "dump", kind, layers)
        count = len(replay.manifest["leaves"])
        short, points = replay.root_shortfall(), 0
        if count:
            short = max(short, replay.leaf_shortfall())
            points = sum(split["point"] != 0 for leaf in replay.manifest["leaves"] for split in leaf["splits"])
        found = f"{line.removeprefix('certkern: ')}; {points} splits away from 0; bounds short by at most {short:.1g}"
        self.say(f"{kind} {radius}", found, code == 0 and (count > 0) == leaves and (points > 0) == leaves and short < SHORT)
        command = [self.arguments.certkern, "import", "abcrown", "dump", "--onnx", "net.onnx", "--property", "property.vnnlib", "-o", "bundle"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        self.say("  its import", ended.stderr.strip()[:300] or "done", ended.returncode == 0)
        for arithmetic in ("auto", "exact"):
            command = [self.arguments.certkern, "check", "--quiet", "--arith", arithmetic, "bundle"]
            began = time.monotonic()
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            verdict = (ended.stdout.splitlines() or [""])[-1]
            self.say(f"  its check, {arithmetic}", f"{verdict[:40]} in {time.monotonic() - began:.1f} s", verdict.startswith("s ACCEPTED unsat "))

    def refused(self, name: str, wanted: str, prepare: Callable[[Path], None], *options: str) -> None:
        folder = self.folder(name)
        prepare(folder)
        code, line = self.search(folder, *options)
        self.say(name, line, code == 2 and wanted in line and not (folder / "dump" / "manifest.json").exists())


def small_ball(folder: Path) -> None:
    """A network and a box that the root closes."""
    live.write_digits(folder, "0.097")


def own_boxes(folder: Path) -> None:
    """Two disjuncts, each with an input box of its own."""
    write_gemm_model(folder / "net.onnx", (1, 2), [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    boxes = ["(and (>= X_0 {0}) (<= X_0 {1}) (>= X_1 0) (<= X_1 1) (<= Y_0 -1))".format(*ends) for ends in ((0, 1), (2, 3))]
    declared = [f"(declare-const {name} Real)" for name in ("X_0", "X_1", "Y_0")]
    (folder / "property.vnnlib").write_text("\n".join([*declared, "(assert (or", *boxes, "))", ""]))
    (folder / "config.yaml").write_text(live.config(by_input=False))


def main() -> int:
    """Run all cases; 1 if one ends otherwise than it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--abcrown", type=Path, required=True, help="the checkout of α,β-CROWN")
    parser.add_argument("--certkern", type=Path, required=True, help="the binary")
    parser.add_argument("--work", type=Path, required=True, help="a folder for networks and dumps")
    runs = Runs(parser.parse_args())
    for norm in ("1", "2"):
        runs.refused(f"norm_{norm}", f"specification.norm = {norm}: ", small_ball, "--norm", norm)
    runs.refused("own_boxes", "have input boxes of their own", own_boxes)
    runs.curved("Sigmoid", "0.0745", leaves=False)
    runs.curved("Tanh", "0.075", leaves=False)
    runs.curved("Sigmoid", "0.08", leaves=True)
    runs.curved("Tanh", "0.08", leaves=True)
    return min(runs.wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
