"""Everything that is refused, each with the code and the words of its error."""

from __future__ import annotations

import unittest

import torch
import torch.nn.functional as F
from certkern_oracles.torch_export import Refused, capture, capture_program
from certkern_oracles.torch_export.refusal import CODES
from test_capture import function
from torch import nn


class Refusals(unittest.TestCase):
    def refused(self, module, shape, code, *words, frozen=None):
        with self.assertRaises(Refused) as caught:
            capture(module if isinstance(module, nn.Module) else function(module), shape, frozen)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        for word in words:
            self.assertIn(word, str(caught.exception))
        return str(caught.exception)

    def test_scaled_sums(self):
        self.refused(lambda x: torch.add(x, x, alpha=2), (2,), "argument", "aten.add.Tensor", "alpha=2", "x + alpha * y")
        self.refused(lambda x: torch.sub(x, x, alpha=3), (2,), "argument", "alpha=3")
        self.refused(lambda x: torch.addmm(x, x, x, beta=2), (2, 2), "argument", "beta=2")

    def test_types(self):
        for body in (
            lambda x: x.half(), lambda x: x.double(), lambda x: x.sum(dtype=torch.float64), lambda x: x.mean(dtype=torch.float64),
            lambda x: F.softmax(x, -1, dtype=torch.float64), lambda x: x.to(torch.int64), lambda x: x + torch.ones(2, dtype=torch.float64),
        ):  # fmt: skip
            self.refused(body, (2,), "dtype", "torch.float32")
        self.refused(lambda x: x.view(torch.int32), (2,), "operator", "aten.view.dtype")
        self.refused(lambda x: (x > 0) * x, (2,), "operator", "aten.gt.Scalar")
        self.refused(nn.Linear(2, 2).half(), (2,), "dtype", "torch.float16", ".float()")
        self.refused(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double()), (2,), "dtype", "both")

    def test_training_mode(self):
        for net in (
            nn.BatchNorm2d(2),
            nn.BatchNorm2d(2, track_running_stats=False).eval(),
            nn.Dropout(0.5),
            nn.Sequential(nn.BatchNorm2d(2), nn.ReLU(inplace=True)),
        ):
            self.refused(net, (1, 2, 3, 3), "training", ".eval()")

    def test_padding_modes(self):
        for mode in ("reflect", "replicate", "circular"):
            self.refused(nn.Conv2d(1, 1, 3, padding=1, padding_mode=mode), (1, 1, 4, 4), "padding-mode", repr(mode), "zeros")

    def test_pools(self):
        self.refused(nn.MaxPool2d(2, return_indices=True), (1, 1, 4, 4), "operator", "max_pool2d_with_indices", "return_indices")
        self.refused(nn.AvgPool2d(2, ceil_mode=True), (1, 1, 5, 5), "argument", "ceil_mode")
        self.refused(nn.AvgPool2d(2, divisor_override=3), (1, 1, 4, 4), "argument", "divisor_override=3", "multiply")
        self.refused(nn.AdaptiveAvgPool1d(2), (1, 1, 5), "argument", "windows of different sizes")

    def test_masks(self):
        for mask in (torch.tensor([[0.0, -torch.inf], [1.0, 0.0]]), torch.full((2, 2), -torch.inf)):
            self.refused(lambda x, m=mask: F.scaled_dot_product_attention(x, x, x, attn_mask=m), (1, 2, 2), "not-finite")
        self.refused(lambda x: x.masked_fill(torch.tensor([True, False]), -torch.inf), (2,), "output")
        self.refused(lambda x: x.masked_fill(torch.tensor([True, False]), -torch.inf) + 1, (2,), "not-finite", "softmax")
        self.refused(lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5), (1, 2, 2), "argument", "dropout_p=0.5")
        self.refused(lambda x: torch.where(x.detach() == x, x, x), (2,), "operator", "aten.eq")

    def test_projections(self):
        self.refused(lambda x: torch.sort(x).values, (2,), "operator", "aten.sort")
        self.refused(lambda x: x.topk(1)[0], (2,), "operator", "aten.topk")
        self.refused(lambda x: x.max(-1)[0], (2, 2), "operator", "aten.max.dim")
        self.refused(lambda x: x.argmax(), (2,), "operator", "aten.argmax", "scores")
        one = torch.ones(2)
        norm = torch.ops.aten._native_batch_norm_legit_no_training
        self.refused(
            lambda x: norm(x, one, one, one, one, 0.1, 1e-5)[0] + norm(x, one, one, one, one, 0.1, 1e-5)[1].sum(), (1, 2), "projection", "part 1"
        )

    def test_changes_in_place(self):
        class Counting(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", torch.zeros(2))

            def forward(self, x):
                self.seen += x
                return x + self.seen

        self.refused(Counting(), (2,), "mutation", "seen")
        self.refused(lambda x: x.relu_(), (2,), "mutation", "x")

    def test_parameters(self):
        self.refused(lambda x: F.conv1d(x, x[:, :, :1]), (1, 1, 3), "constant", "weight")
        self.refused(lambda x: F.prelu(x, x.sum()), (2,), "constant", "slope")
        self.refused(lambda x: F.layer_norm(x, (2,), eps=0.0), (2,), "argument", "eps=0.0")
        self.refused(lambda x: F.softplus(x, beta=2), (2,), "argument", "beta=2")
        self.refused(lambda x: F.softplus(x, threshold=5), (2,), "argument", "threshold=5")
        self.refused(lambda x: F.pad(x, (-1, 0)), (3,), "argument", "cuts")
        net = nn.Linear(2, 2)
        with torch.no_grad():
            net.weight[0, 0] = torch.nan
        self.refused(net, (2,), "not-finite")
        norm = nn.BatchNorm1d(1).eval()
        norm.running_var.fill_(-1)
        self.refused(norm, (1, 1), "argument", "variance")
        self.refused(lambda x: x * float("inf"), (2,), "not-finite", "inf")
        self.refused(lambda x: x * (2**53 + 1), (2,), "not-finite", "9007199254740993")

    def test_inputs(self):
        class Two(nn.Module):
            def forward(self, x, y):
                return x + y

        class Whole(nn.Module):
            def forward(self, x):
                return self.embed(x)

            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(3, 2)

        self.refused(Two(), (2,), "input", "x, y", "--freeze")
        self.refused(nn.Identity(), (2,), "input", "no argument 'z'", frozen={"z": torch.ones(1)})
        program = torch.export.export(Whole(), (torch.zeros(2, dtype=torch.int64),))
        with self.assertRaises(Refused) as caught:
            capture_program(program)
        self.assertEqual((caught.exception.code, "int64" in str(caught.exception)), ("input", True))
        program = torch.export.export(nn.ReLU(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("batch")},))
        with self.assertRaises(Refused) as caught:
            capture_program(program)
        self.assertEqual(caught.exception.code, "dynamic-shape")
        program = torch.export.export(Two(), (torch.zeros(2), torch.zeros(2)))
        with self.assertRaises(Refused) as caught:
            capture_program(program)
        self.assertEqual(caught.exception.code, "input")

    def test_outputs_and_shapes(self):
        self.refused(lambda x: (x, None), (2,), "output", "None")
        self.refused(lambda x: (x, 3), (2,), "output")
        self.refused(lambda x: (x, torch.arange(2)), (2,), "output", "int64")
        self.refused(lambda x: x[:, 2:], (1, 2), "empty")

    def test_what_torch_cannot_export(self):
        self.refused(lambda x: x if x.sum() > 0 else -x, (2,), "export", "torch.export")
        self.refused(lambda x: torch.rand(2) + x, (2,), "operator", "aten.rand")
        self.refused(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), (2,), "operator")

    def test_the_error_names_the_line(self):
        class Named(nn.Module):
            def forward(self, x):
                return torch.cumsum(x, 0)

        text = self.refused(Named(), (2,), "operator", "node cumsum (aten.cumsum.default)", "test_refusals.py:")
        self.assertIn("`return torch.cumsum(x, 0)`", text)

    def test_every_code_is_met_in_these_tests(self):
        text = "".join(open(__file__.replace("test_refusals", name)).read() for name in ("test_refusals", "test_state_dict"))
        self.assertEqual([code for code in CODES if f'"{code}"' not in text], [])


if __name__ == "__main__":
    unittest.main()
