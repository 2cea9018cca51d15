"""A module becomes a graph, the graph the source of a module by `certkern export torch`, and that one, in a process of its own, a graph again:
the digests must be the same."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import torch.nn.functional as F
from certkern_oracles.torch_export import capture
from checker import NEEDED, run, write
from test_capture import filled, function
from torch import nn

AGAIN = """
import sys
from certkern_oracles.torch_export.__main__ import main
for folder, shape in zip(sys.argv[1::2], sys.argv[2::2]):
    status = main([f"{folder}/model/model.py:Model", "--shape", shape, "--state-dict", f"{folder}/model/model.safetensors", "-o", f"{folder}/again"])
    if status:
        sys.exit(f"{folder}: {status}")
"""


def with_numbers(module: nn.Module, **numbers: list[float]) -> nn.Module:
    """The module with these numbers in front of its tensors."""
    state = module.state_dict()
    for name, values in numbers.items():
        tensor = state[name.replace("__", ".")]
        tensor.view(-1)[: len(values)] = torch.tensor(values, dtype=tensor.dtype)
    return module


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2, eps=1e-12)
        self.register_buffer("shift", torch.randn(2, 1, 1))

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x)), inplace=True) + x * self.shift
        return y.flatten(1), F.max_pool2d(y, 2, ceil_mode=True), 0.1 - y.mean((2, 3)), y


class Attention(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False, attn_mask=torch.ones(3, 3, dtype=torch.bool).triu(1))[0]


def modules():
    """(name, module, shape)."""
    yield "mlp", filled(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2, bias=False))), (2, 3)
    yield "bits", with_numbers(nn.Linear(3, 2), weight=[1e-45, -0.0, 3.4028234663852886e38, -1e-39, 0.1], bias=[-0.0, -1e-45]), (3,)
    double = nn.Linear(2, 2).double()
    yield "double_bits", with_numbers(double, weight=[5e-324, -0.0, 1.7976931348623157e308, 0.1], bias=[-5e-324, -0.0]), (2,)
    for eps in (1e-12, 5e-324, math.nextafter(1e-5, 1), 1e-3):
        yield f"batch_norm_{eps}", filled(nn.BatchNorm2d(3, eps=eps)), (1, 3, 2, 2)
        yield f"layer_norm_{eps}", filled(nn.LayerNorm((2, 3), eps=eps)), (4, 2, 3)
    yield "batch_norm_1d", filled(nn.BatchNorm1d(3, affine=False)), (2, 3)
    yield "residual", filled(Residual()), (1, 2, 3, 5)
    yield "one_head", filled(Attention(1)), (1, 3, 4)
    yield "two_heads", filled(Attention(2)), (2, 3, 4)
    yield "transformer", filled(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, activation="gelu")), (1, 3, 4)
    for number, (net, shape) in enumerate((
        (nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), (2, 4, 9)), (nn.Conv1d(2, 3, 2, bias=False), (2, 5)),
        (nn.Conv3d(1, 2, 2), (1, 1, 3, 4, 3)), (nn.Conv2d(2, 2, (4, 3), padding="same", dilation=(1, 2)), (1, 2, 6, 7)),
        (nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), (1, 4, 5)),
        (nn.MaxPool1d(3, 2, 1, dilation=2), (1, 2, 9)),
        (nn.MaxPool2d(3, 2, 1, ceil_mode=True), (1, 1, 6, 7)), (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (1, 2, 5, 6)),
        (nn.AvgPool1d(2), (1, 2, 7)),
        (nn.AdaptiveAvgPool2d(1), (1, 3, 4, 5)), (nn.PReLU(3), (2, 3)), (nn.Softmax(0), (3, 2)),
        (nn.Upsample(scale_factor=2), (1, 1, 2, 3)),
    )):  # fmt: skip
        yield f"layer_{number}", filled(net), shape
    for number, body in enumerate((
        torch.sigmoid, torch.tanh, torch.exp, torch.sin, torch.cos, torch.abs, torch.neg, torch.erf, F.silu, F.mish, F.hardswish, F.gelu, F.relu6,
        F.hardsigmoid,
        F.elu, F.selu, F.leaky_relu, torch.log, torch.sqrt, torch.reciprocal, F.softplus, torch.sign, torch.floor,
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: x**2 + 0.1 * x - 1e300, lambda x: -0.0 - x / 3 * 5e-324, lambda x: x.clamp(min=-0.5).clamp(max=0.1),
        lambda x: torch.maximum(x, x.sin()),
        lambda x: torch.minimum(x, x.T.T * 2), lambda x: x[:, 1:2].sum() + x[0, ::2], lambda x: torch.cat([x, x.detach()], 1).permute(1, 0),
        lambda x: x[:, torch.tensor([2, 0])], lambda x: x.index_select(0, torch.tensor([1, 1, 0])), lambda x: F.pad(x, (1, 2, 0, 1), value=0.1),
        lambda x: x.amax(0) + x.amin(1, keepdim=True), lambda x: x.mean(), lambda x: x.sum((0, 1)), lambda x: F.mse_loss(x, x * 2), lambda x: x @ x.T,
        lambda x: torch.where(torch.tensor([True, False, True]), x, torch.ones(3)), lambda x: (x.flatten(), x, x.transpose(0, 1), x.exp()),
        lambda x: x.reshape(3, 2).expand(4, 3, 2), lambda x: torch.tensor([1.5, 2.5, 0.1]) - x, lambda x: torch.ones(3),
    )):  # fmt: skip
        yield f"function_{number}", function(body), (2, 3)


@NEEDED
class RoundTrip(unittest.TestCase):
    def test_the_digests_are_the_same(self):
        with tempfile.TemporaryDirectory() as name:
            self.trip(Path(name))

    def trip(self, root: Path):
        cases, arguments = {}, []
        for name, module, shape in modules():
            captured = capture(module.eval(), shape)
            folder = root / name
            files = write(captured, folder)
            cases[name] = run("digest", *files)
            self.assertEqual(run("export", "torch", *files, "-o", folder / "model"), cases[name])
            arguments += [folder, ",".join(map(str, shape))]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", AGAIN, *map(str, arguments)], capture_output=True, text=True, check=False,
                              env=environment, cwd=root)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, digests in cases.items():
            with self.subTest(name=name):
                again = run("digest", root / name / "again/graph.json", root / name / "again/payload.safetensors")
                self.assertEqual(again, digests, (root / name / "model/model.py").read_text())
        self.assertGreater(len(cases), 70)


if __name__ == "__main__":
    unittest.main()
