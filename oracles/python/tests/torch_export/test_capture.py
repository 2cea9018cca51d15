"""Modules against the meaning of their graphs: PyTorch in binary64 beside numpy in binary64.

python -m unittest discover -s tests/torch_export -t tests/torch_export      (from oracles/python)
"""

from __future__ import annotations

import copy
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from certkern_oracles.torch_export import Captured, capture
from checker import BINARY, run, write
from evaluator import evaluate
from torch import nn


def filled(module: nn.Module, seed: int = 1) -> nn.Module:
    """The module with random numbers everywhere, statistics and ones too."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if tensor.is_floating_point():
                tensor.copy_(torch.rand(tensor.shape) + 0.25 if "var" in name else torch.randn(tensor.shape) / 2)
    return module


def function(body, *tensors):
    """A module of a function, with parameters `p0`, `p1`, …"""

    class Function(nn.Module):
        def __init__(self):
            super().__init__()
            for number, tensor in enumerate(tensors):
                self.register_parameter(f"p{number}", nn.Parameter(tensor))

        def forward(self, x):
            return body(x, *[getattr(self, f"p{number}") for number in range(len(tensors))])

    return Function().eval()


class Case(unittest.TestCase):
    def compare(self, module: nn.Module, *shape: int, positive: bool = False) -> Captured:
        """Captures the module and compares it, run in binary64, with its graph at random points. The checker must find the graph well-shaped."""
        captured = capture(module, shape)
        if BINARY.is_file():
            with tempfile.TemporaryDirectory() as folder:
                run("digest", *write(captured, Path(folder)))
        payload = {name: tensor.numpy() for name, tensor in captured.payload.items()}
        double = copy.deepcopy(module).double()
        for seed in range(3):
            x = torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 2
            x = x.abs() + 0.1 if positive else x
            with torch.no_grad():
                wanted = double(x.clone())
            wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
            found = evaluate(captured.graph, payload, x.numpy())
            self.assertEqual(len(found), len(wanted))
            for ours, theirs in zip(found, wanted):
                np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-9, atol=1e-9)
        return captured

    def kinds(self, captured: Captured) -> list[str]:
        return [node["kind"] for node in captured.graph["nodes"]]


class Checker(unittest.TestCase):
    def test_there_is_one(self):
        if not BINARY.is_file():
            self.skipTest("SKIPPED: no built certkern reads the graphs")


class Networks(Case):
    def test_mlp(self):
        net = filled(nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4, bias=False), nn.Tanh(), nn.Linear(4, 2))).eval()
        captured = self.compare(net, 2, 3)
        self.assertEqual(self.kinds(captured), ["input", "linear", "relu", "linear", "tanh", "linear"])
        self.assertEqual(captured.graph["format"], "torchlean.ir.v1")
        self.assertTrue(torch.equal(captured.payload["1.weight"], net[0].weight))
        self.assertTrue(torch.equal(captured.payload["3.bias"], torch.zeros(4)))

    def test_cnn(self):
        net = filled(nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1, stride=2), nn.BatchNorm2d(4, eps=1e-12), nn.ReLU(), nn.MaxPool2d(2, padding=1), nn.Dropout(0.5),
            nn.Conv2d(4, 4, (2, 1), groups=2, dilation=(1, 2), bias=False), nn.AvgPool2d(2, stride=1, padding=1), nn.Flatten(), nn.Linear(48, 3),
        )).eval()  # fmt: skip
        captured = self.compare(net, 1, 2, 8, 8)
        self.assertEqual(self.kinds(captured), ["input", "conv", "batch_norm_eval", "relu", "max_pool", "conv", "avg_pool", "reshape", "linear"])
        self.assertEqual(captured.payload["2.eps"].item(), 1e-12)
        self.assertEqual(captured.payload["2.eps"].dtype, torch.float64)
        grouped = captured.payload["5.weight"]
        self.assertEqual(list(grouped.shape), [4, 4, 2, 1])
        self.assertEqual(grouped[:2, 2:].count_nonzero() + grouped[2:, :2].count_nonzero(), 0)

    def test_residual_with_changes_in_place(self):
        class Residual(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Conv2d(3, 3, 3, padding="same"), nn.Conv2d(3, 3, 2, padding="same")
                self.norm, self.relu = nn.BatchNorm2d(3), nn.ReLU(inplace=True)

            def forward(self, x):
                y = self.second(self.relu(self.norm(self.first(x))))
                y += x
                return self.relu(y), x.mean((2, 3))

        captured = self.compare(filled(Residual()).eval(), 1, 3, 5, 5)
        self.assertIn("batch_norm_eval", self.kinds(captured))

    def test_layer_norm_and_softmax(self):
        net = filled(nn.Sequential(nn.LayerNorm(6, eps=1e-3), nn.Softmax(-1), nn.LayerNorm((4, 6), elementwise_affine=False), nn.Softmax(0))).eval()
        captured = self.compare(net, 2, 4, 6)
        self.assertEqual(self.kinds(captured), ["input", "layernorm", "softmax", "layernorm", "softmax"])
        self.assertEqual([captured.graph["nodes"][k]["axis"] for k in (1, 2, 3, 4)], [2, 2, 1, 0])

    def test_attention(self):
        class Attention(nn.Module):
            def __init__(self, heads, **options):
                super().__init__()
                self.attention, self.options = nn.MultiheadAttention(4, heads, batch_first=True), options

            def forward(self, x):
                return self.attention(x, x, x, **self.options)[0]

        mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
        for heads in (1, 2):
            for options in ({}, {"need_weights": False}, {"need_weights": False, "attn_mask": mask}):
                with self.subTest(heads=heads, options=options):
                    captured = self.compare(filled(Attention(heads, **options)).eval(), 1, 3, 4)
                    kind = "hard_masked_softmax" if "attn_mask" in options else "softmax"
                    self.assertEqual(self.kinds(captured).count(kind), 1)

    def test_attention_by_hand(self):
        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k, self.v = (nn.Linear(4, 5) for _ in range(3))
                self.register_buffer("hidden", torch.ones(3, 3, dtype=torch.bool).triu(1), persistent=False)

            def forward(self, x):
                scores = self.q(x) @ self.k(x).transpose(-2, -1) / 5**0.5
                return scores.masked_fill(self.hidden, float("-inf")).softmax(-1) @ self.v(x)

        captured = self.compare(filled(Head()).eval(), 2, 3, 4)
        self.assertEqual(captured.payload[f"{self.kinds(captured).index('const')}.values"].item(), 5**0.5)

    def test_attention_masks(self):
        keep = torch.tensor([[True, False, True], [True, True, False], [False, False, True]])
        for mask in (keep, torch.zeros(3, 3).masked_fill(~keep, float("-inf")), torch.randn(3, 3)):
            self.compare(
                function(lambda x, m=mask: F.scaled_dot_product_attention(x, x, x, attn_mask=m.to(x.dtype) if m.is_floating_point() else m)),
                1,
                2,
                3,
                4,
            )
        self.compare(function(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=0.3)), 2, 3, 4)

    def test_transformer_layer(self):
        layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, activation="gelu", norm_first=True)
        self.compare(filled(layer).eval(), 1, 3, 4)


class Operators(Case):
    def test_elementwise(self):
        bodies = [
            torch.sigmoid, torch.tanh, torch.exp, torch.sin, torch.cos, torch.abs, torch.neg, torch.erf, F.silu, F.mish, F.hardswish, F.gelu, torch.square,
            torch.expm1, F.logsigmoid, F.relu6, F.hardsigmoid, F.elu, F.selu, F.leaky_relu, F.hardtanh, torch.reciprocal,
            lambda x: F.gelu(x, approximate="tanh"), lambda x: F.elu(x, 0.7), lambda x: F.leaky_relu(x, 0.3), lambda x: x.clamp(min=0),
            lambda x: x.clamp(min=-0.5), lambda x: x.clamp(max=0.5), lambda x: x.clamp(-0.1, 0.2), lambda x: 1 - x, lambda x: x * 2 + 0.1,
            lambda x: x / 3 - 4, lambda x: x**2, lambda x: 2 / x, lambda x: torch.maximum(x, -x), lambda x: torch.minimum(x, x * x),
            lambda x: torch.where(torch.tensor([True, False, True]), x, 0.5 * x), lambda x: x.masked_fill(torch.tensor([True, False, False]), 3.0),
            lambda x: x.detach() * x, lambda x: x / (1 + x.abs()),
        ]  # fmt: skip
        for body in bodies:
            with self.subTest(body=getattr(body, "__name__", body)):
                self.compare(function(body), 2, 3)
        for body in (torch.log, torch.sqrt, torch.rsqrt, torch.log1p, lambda x: x**-1.5):
            with self.subTest(body=getattr(body, "__name__", body)):
                self.compare(function(body), 2, 3, positive=True)

    def test_softplus_where_its_threshold_is_a_rounding(self):
        captured = capture(function(F.softplus), (2,))
        self.assertEqual(self.kinds(captured), ["input", "softplus"])
        self.compare(function(lambda x: F.softplus(x, threshold=40)), 4)

    def test_prelu(self):
        for shape, slopes in (((2, 3, 2), 3), ((2, 3), 1), ((4,), 1)):
            captured = self.compare(function(F.prelu, torch.randn(slopes)), *shape)
            self.assertEqual(len(captured.payload["1.slope"]), shape[1] if len(shape) > 1 else shape[0])

    def test_layout(self):
        bodies = [
            lambda x: x.flatten(), lambda x: x.flatten(1), lambda x: x.view(4, 6), lambda x: x.unsqueeze(0).squeeze(0).reshape(-1),
            lambda x: x.permute(2, 0, 1),
            lambda x: x.transpose(0, -1), lambda x: x.mT, lambda x: x[0].T, lambda x: x[0].t(), lambda x: x[:, 1:], lambda x: x[..., ::2],
            lambda x: x[:, -1],
            lambda x: torch.cat([x, x * 2, torch.zeros(0, dtype=x.dtype)], 1) if x.dim() == 1 else torch.cat([x, 2 * x], -1),
            lambda x: torch.stack([x, -x], 1), lambda x: x.chunk(2, -1)[1], lambda x: x.split(3, 2), lambda x: x.split([1, 2], 1)[1],
            lambda x: x.unbind(1)[2],
            lambda x: x.expand(2, 2, 3, 4) + x, lambda x: x.repeat(2, 1, 3), lambda x: x.flip(0, 2), lambda x: x[:, torch.tensor([2, 0, -1])],
            lambda x: x.index_select(2, torch.tensor([3, 3])), lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (0, 1, 2, 0), value=0.5),
            lambda x: F.interpolate(x, scale_factor=2), lambda x: x.unflatten(2, (2, 2)), lambda x: x.narrow(1, 1, 2), lambda x: x.swapaxes(0, 1),
            lambda x: x + torch.arange(4, dtype=x.dtype), lambda x: x * torch.eye(4, dtype=x.dtype)[1:].T.t(), lambda x: torch.zeros_like(x) + x,
        ]  # fmt: skip
        for place, body in enumerate(bodies):
            with self.subTest(place=place):
                self.compare(function(body), 2, 3, 4)

    def test_products(self):
        torch.manual_seed(3)
        vector, matrix, batch = torch.randn(4), torch.randn(4, 5), torch.randn(2, 4, 3)
        self.assertEqual(self.kinds(self.compare(function(lambda x, w: x @ w, matrix), 2, 3, 4)), ["input", "linear"])
        for body, *tensors in (
            (lambda x, w: x @ w, vector), (lambda x, w: x @ w, batch), (lambda x, w: w.mT @ x.mT, batch), (lambda x: x @ x.mT,),
            (lambda x, w, b: torch.addmm(b, x[0], w), matrix, torch.randn(5)), (lambda x, w, b: torch.addmm(b, x[0], w), matrix, torch.randn(3, 5)),
            (lambda x, w: torch.baddbmm(x[:, :, :3], x, w), batch), (lambda x: torch.bmm(x, x.mT),), (lambda x: F.linear(x, x[0]),),
            (lambda x, w: F.linear(x, w * 2, w[:, 0]), matrix.T.contiguous()), (lambda x: x[0] @ x[0, 0],), (lambda x: torch.mv(x[0], x[1, 0]),),
        ):  # fmt: skip
            with self.subTest(shapes=[list(t.shape) for t in tensors]):
                self.compare(function(body, *tensors), 2, 3, 4)

    def test_convolutions(self):
        for net, shape in (
            (nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), (2, 4, 9)), (nn.Conv1d(2, 3, 2), (2, 5)),
            (nn.Conv3d(1, 2, 2, padding=(1, 0, 1)), (1, 1, 3, 4, 3)), (nn.Conv2d(2, 2, (4, 3), padding="same", dilation=(1, 2)), (1, 2, 6, 7)),
            (nn.Conv2d(2, 2, 2, padding="valid"), (1, 2, 3, 3)),
            (nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, dilation=2), (1, 4, 5)),
            (nn.ConvTranspose2d(2, 3, (2, 3), stride=(2, 1)), (2, 2, 3, 3)),
        ):  # fmt: skip
            with self.subTest(net=net):
                self.compare(filled(net).eval(), *shape)

    def test_pools(self):
        for net, *shape in (
            (nn.MaxPool1d(3, stride=2, padding=1), 2, 3, 8), (nn.MaxPool2d(3, dilation=2, padding=1), 1, 2, 9, 7), (nn.MaxPool3d(2), 1, 1, 4, 5, 4),
            (nn.MaxPool2d(2, ceil_mode=True), 1, 1, 5, 4), (nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), 1, 1, 6, 7),
            (nn.AvgPool1d(2), 1, 2, 7),
            (nn.AvgPool2d(3, stride=2, padding=1), 1, 2, 5, 6), (nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False), 1, 2, 5, 6),
            (nn.AvgPool2d(2, ceil_mode=True), 1, 1, 4, 4), (nn.AvgPool3d(2), 1, 1, 2, 4, 2), (nn.AdaptiveAvgPool2d(1), 1, 3, 4, 5),
            (nn.AdaptiveAvgPool2d((2, 5)), 1, 3, 4, 5),
        ):  # fmt: skip
            with self.subTest(net=net, shape=shape):
                self.compare(net.eval(), *shape)
        self.assertEqual(capture(nn.MaxPool2d(2), (1, 1, 4, 4)).graph["format"], "torchlean.ir.v1")
        self.assertEqual(capture(nn.MaxPool2d(2, ceil_mode=True), (1, 1, 5, 5)).graph["format"], "certkern.ir.v1")

    def test_reductions(self):
        for body in (
            lambda x: x.sum(), lambda x: x.sum(1), lambda x: x.sum((0, -1), keepdim=True), lambda x: x.mean(), lambda x: x.mean((1, 2)),
            lambda x: x.amax(-1),
            lambda x: x.amin((0, 1), keepdim=True), lambda x: x.max(), lambda x: x.min() + x, lambda x: F.log_softmax(x, 1),
            lambda x: F.mse_loss(x, x * x),
        ):  # fmt: skip
            self.compare(function(body), 2, 3, 4)


class Interfaces(Case):
    def test_outputs_keep_their_order(self):
        captured = self.compare(function(lambda x: [torch.tanh(x), x, {"a": torch.sin(x)}["a"], x]), 3)
        self.assertEqual(captured.graph["output_ids"], [1, 0, 2, 0])

    def test_a_parameter_may_be_an_output(self):
        self.compare(function(lambda x, p: (x + p, p), torch.tensor([1.5, -2.0])), 2)

    def test_tied_parameters_and_unused_ones(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second, self.unused = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
                self.second.weight = self.first.weight
                self.register_buffer("shift", torch.ones(3))
                self.register_buffer("idle", torch.ones(3))

            def forward(self, x):
                _ = self.unused(x).sort()
                return self.second(self.first(x)) + self.shift + self.shift

        captured = self.compare(filled(Tied()).eval(), 1, 3)
        self.assertTrue(torch.equal(captured.payload["1.weight"], captured.payload["2.weight"]))
        self.assertEqual(self.kinds(captured).count("const"), 1)
        self.assertEqual(set(captured.notes), {f"{name} is left out: no output depends on it" for name in
                                               ("parameter unused.weight", "parameter unused.bias", "buffer idle")})  # fmt: skip

    def test_bits_survive(self):
        odd = torch.tensor([5e-324, -0.0, 1e-45, 1.7976931348623157e308, 2.0**-1030, -1 / 3], dtype=torch.float64)
        layer = nn.Linear(3, 2, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(odd.reshape(2, 3))
            layer.bias.copy_(odd[:2])
        captured = capture(layer, (3,))
        self.assertEqual(captured.payload["1.weight"].view(torch.int64).tolist(), odd.view(torch.int64).reshape(2, 3).tolist())
        header, body = captured.payload_bytes(), odd[:2].numpy().tobytes() + odd.numpy().tobytes()
        self.assertTrue(header.endswith(body))

    def test_numbers_of_the_source_are_binary64(self):
        captured = capture(function(lambda x: x * 0.1), (2,))
        self.assertEqual((captured.payload["1.values"].dtype, captured.payload["1.values"].item()), (torch.float64, 0.1))

    def test_frozen_arguments(self):
        class Two(nn.Module):
            def forward(self, x, scale, shift=None):
                return x * scale if shift is None else x * scale + shift

        scale, shift = torch.tensor([2.0, 3.0]), torch.tensor([0.5, 0.25])
        captured = capture(Two(), (2,), {"scale": scale, "shift": shift})
        x = np.array([1.0, -1.0])
        np.testing.assert_array_equal(evaluate(captured.graph, {n: t.numpy() for n, t in captured.payload.items()}, x)[0], [2.5, -2.75])


if __name__ == "__main__":
    unittest.main()
