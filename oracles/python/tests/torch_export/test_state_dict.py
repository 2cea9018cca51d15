"""State dictionaries: exact matching, and files bit for bit. The command line too."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import tempfile
import unittest
from pathlib import Path

import torch
from certkern_oracles.torch_export import Refused, state_dict, tensors
from certkern_oracles.torch_export.__main__ import main
from torch import nn

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(2, 3), nn.BatchNorm1d(3)

    def forward(self, x):
        return torch.relu(self.norm(self.layer(x)))

class Scaled(nn.Module):
    def forward(self, x, by):
        return x * by

made = nn.Linear(2, 2)
number = 3
"""


class Matching(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.state = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}

    def refused(self, code, place, *words):
        with self.assertRaises(Refused) as caught:
            state_dict.load_into(self.net, self.state)
        self.assertEqual((caught.exception.code, caught.exception.place), (code, place))
        for word in words:
            self.assertIn(word, str(caught.exception))
        return caught.exception

    def test_the_same_is_loaded_bit_for_bit(self):
        odd = torch.tensor([[1e-45, -0.0], [3.4028234663852886e38, -1.1754943508222875e-38], [0.1, 1 / 3]])
        self.state["0.weight"] = odd
        state_dict.load_into(self.net, self.state)
        self.assertTrue(torch.equal(self.net[0].weight.view(torch.int32), odd.view(torch.int32)))

    def test_missing(self):
        del self.state["1.running_var"]
        self.refused("state.missing", "1.running_var")

    def test_extra(self):
        self.state["2.weight"] = torch.ones(1)
        self.refused("state.extra", "2.weight")

    def test_a_prefix_is_named(self):
        self.state = {f"module.{name}": tensor for name, tensor in self.state.items()}
        self.assertIn("strip the prefix", str(self.refused("state.missing", "0.weight")))

    def test_shape(self):
        self.state["0.weight"] = torch.ones(2, 3)
        self.refused("state.shape", "0.weight", "[2, 3] instead of [3, 2]")

    def test_type(self):
        self.state["0.bias"] = self.state["0.bias"].double()
        self.refused("state.dtype", "0.bias", "torch.float64 instead of torch.float32")

    def test_not_finite(self):
        for bad in (torch.nan, torch.inf, -torch.inf):
            self.state["0.bias"] = torch.tensor([0.0, bad, 0.0])
            self.refused("state.not-finite", "0.bias")

    def test_tied(self):
        self.net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
        self.net[1].weight = self.net[0].weight
        self.state = {"0.weight": torch.zeros(2, 2), "1.weight": -torch.zeros(2, 2)}
        self.refused("state.tied", "1.weight", "0.weight")

    def test_all_faults_are_told_and_nothing_is_loaded(self):
        before = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}
        self.state["0.weight"] += 1
        self.state["0.bias"] = torch.ones(4)
        self.state["1.weight"] = self.state["1.weight"].half()
        del self.state["1.bias"]
        error = self.refused("state.missing", "1.bias", "state.shape: 0.bias", "state.dtype: 1.weight")
        self.assertEqual(len(error.others), 2)
        for name, tensor in self.net.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]), name)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, path, *words, key=None):
        with self.assertRaises(Refused) as caught:
            state_dict.read_state_dict(path, key)
        self.assertEqual(caught.exception.code, "state.file")
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_the_bytes_of_a_file(self):
        data = tensors.encode({"b": torch.tensor([[1.0, -0.0]]), "a": torch.tensor(5, dtype=torch.int64)})
        (size,) = struct.unpack_from("<Q", data)
        self.assertEqual(json.loads(data[8 : 8 + size]), {
            "a": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}, "b": {"dtype": "F32", "shape": [1, 2], "data_offsets": [8, 16]}})  # fmt: skip
        self.assertEqual(data[8 + size :], struct.pack("<q2f", 5, 1.0, -0.0))

    def test_both_kinds_of_file(self):
        net = nn.BatchNorm1d(3).double()
        state_dict.write_state_dict(net, self.folder / "net.safetensors")
        torch.save(net.state_dict(), self.folder / "net.pt")
        torch.save({"epoch": 3, "model": net.state_dict()}, self.folder / "checkpoint.pt")
        for name, key in (("net.safetensors", None), ("net.pt", None), ("checkpoint.pt", "model")):
            state_dict.match(net, state_dict.read_state_dict(self.folder / name, key))
        self.refused(self.folder / "checkpoint.pt", "--state-dict-key model")
        self.refused(self.folder / "checkpoint.pt", "epoch, model", key="net")

    def test_numbers_that_are_not_finite_are_not_written(self):
        net = nn.Linear(1, 1)
        with torch.no_grad():
            net.bias.fill_(torch.inf)
        with self.assertRaises(Refused) as caught:
            state_dict.write_state_dict(net, self.folder / "net.safetensors")
        self.assertEqual((caught.exception.code, list(self.folder.iterdir())), ("state.not-finite", []))

    def test_broken_files(self):
        good = tensors.encode({"a": torch.ones(2)})

        def header(text: str) -> bytes:
            return struct.pack("<Q", len(text)) + text.encode() + bytes(8)

        entry = '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
        for data, word in (
            (b"", "no safetensors"), (good[:-1], "do not fit"), (good + b"x", "no tensor"), (header(f'{{"a":{entry},"a":{entry}}}'), "twice"),
            (header(f'{{"a":{entry},"b":{entry}}}'), "do not fit"), (header(f'{{"a":{entry.replace("[2]", "[3]")}}}'), "do not fit"),
            (header(f'{{"a":{entry.replace("F32", "X9")}}}'), "KeyError"), (header("[]"), "no safetensors"),
        ):  # fmt: skip
            path = self.folder / "bad.safetensors"
            path.write_bytes(data)
            self.refused(path, word)
        (self.folder / "bad.pt").write_bytes(b"no file of torch")
        self.refused(self.folder / "bad.pt")
        torch.save(torch.ones(2), self.folder / "tensor.pt")
        self.refused(self.folder / "tensor.pt", "something else")

    def command(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(argument) for argument in arguments])
            except SystemExit as error:
                code = error.code
        return code, out.getvalue(), err.getvalue()

    def test_the_command(self):
        net, out, state = self.folder / "net.py", self.folder / "out", self.folder / "state.safetensors"
        net.write_text(NET)
        code, said, _ = self.command(f"{net}:Net", "--shape", "1,2", "--eval", "-o", out, "--write-state-dict", state)
        self.assertEqual((code, said.splitlines()[-1]), (0, "input [1, 2], outputs [1, 3]"))
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["graph.json", "payload.safetensors"])
        graph, payload = json.loads((out / "graph.json").read_text()), tensors.decode((out / "payload.safetensors").read_bytes(), "payload")
        self.assertEqual([node["kind"] for node in graph["nodes"]], ["input", "linear", "batch_norm_eval", "relu"])
        numbers = tensors.decode(state.read_bytes(), "state")
        self.assertTrue(torch.equal(payload["1.weight"], numbers["layer.weight"]))
        # A network of its own numbers; then with those of the file.
        again = self.folder / "again"
        self.assertEqual(self.command(f"{net}:Net", "--shape", "1,2", "--eval", "-o", again)[0], 0)
        self.assertNotEqual((again / "payload.safetensors").read_bytes(), (out / "payload.safetensors").read_bytes())
        self.assertEqual(self.command(f"{net}:Net", "--shape", "1,2", "--eval", "--state-dict", state, "-o", again)[0], 0)
        self.assertEqual((again / "payload.safetensors").read_bytes(), (out / "payload.safetensors").read_bytes())

    def test_frozen_arguments(self):
        net, by, out = self.folder / "net.py", self.folder / "by.pt", self.folder / "out"
        net.write_text(NET)
        torch.save(torch.tensor([2.0, 3.0]), by)
        self.assertEqual(self.command(f"{net}:Scaled", "--shape", "2", "--freeze", f"by={by}", "-o", out)[0], 0)
        self.assertEqual(tensors.decode((out / "payload.safetensors").read_bytes(), "")["1.values"].tolist(), [2.0, 3.0])

    def test_a_frozen_argument_that_is_no_tensor(self):
        net, by, out = self.folder / "net.py", self.folder / "by.pt", self.folder / "out"
        net.write_text(NET)
        for data, word in ((b"no file of torch", "state.file"), (None, "holds 2 tensors")):
            if data is None:
                torch.save({"a": torch.ones(1), "b": torch.ones(1)}, by)
            else:
                by.write_bytes(data)
            code, _, said = self.command(f"{net}:Scaled", "--shape", "2", "--freeze", f"by={by}", "-o", out)
            self.assertEqual((code in (2, 64), word in said), (True, True), said)

    def test_refusals_and_wrong_usage(self):
        net, out = self.folder / "net.py", self.folder / "out"
        net.write_text(NET)
        code, _, said = self.command(f"{net}:Net", "--shape", "2,2", "-o", out)
        self.assertEqual((code, said.startswith("refused: training: ")), (2, True))
        for arguments, word in (
            ([f"{net}:Net", "--shape", "batch,2"], "fixed length"), ([f"{net}:Net", "--shape", "0,2"], "fixed length"),
            ([f"{net}:Absent", "--shape", "2"], "has no Absent"),
            ([f"{net}:number", "--shape", "2"], ""), (["no_such_module_here:Net", "--shape", "2"], "no_such_module_here"),
            ([f"{net}", "--shape", "2"], "MODULE:NAME"),
            ([f"{net}:made"], "--shape"), ([f"{net}:Scaled", "--shape", "2", "--freeze", "by"], "NAME=FILE"),
        ):  # fmt: skip
            code, _, said = self.command(*arguments, "-o", out)
            self.assertEqual((code, word in said), (64, True), (arguments, said))
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
