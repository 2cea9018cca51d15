"""The writer of dumps, byte by byte, without PyTorch. `python -m unittest` in `oracles/python` runs it."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import numpy as np
    from certkern_oracles.abcrown import __main__ as command
    from certkern_oracles.abcrown import hook, settings
    from certkern_oracles.abcrown.dumpfile import DumpError, DumpWriter, plain, read_dump
    from certkern_oracles.abcrown.leaves import real_rows
    from certkern_oracles.abcrown.record import array
    from certkern_oracles.abcrown.root import HookError, Spec
except ModuleNotFoundError as error:
    raise unittest.SkipTest(f"SKIPPED: {error}") from error


class DumpFile(unittest.TestCase):
    """Each test has an empty folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "dump"

    def tensors(self) -> tuple[dict, bytes]:
        """Header and data of the tensor file, read by hand."""
        data = (self.folder / "tensors.safetensors").read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        return json.loads(data[8 : 8 + size]), data[8 + size :]

    def test_rows_of_several_tensors_end_up_without_gaps_in_the_order_of_names(self) -> None:
        out = DumpWriter(self.folder)
        out.append("b", np.array([[1.0, 2.0]], dtype=np.float32))
        out.append("a", np.array([5], dtype=np.int64))
        out.append("b", np.array([[3.0, 4.0], [5.0, -0.0]], dtype=np.float32))
        out.append("a", np.array([-6], dtype=np.int32))
        out.put("c", np.float32(7.0))
        out.finish({})
        header, data = self.tensors()
        self.assertEqual(header["a"], {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]})
        self.assertEqual(header["b"], {"dtype": "F32", "shape": [3, 2], "data_offsets": [8, 32]})
        self.assertEqual(header["c"], {"dtype": "F32", "shape": [], "data_offsets": [32, 36]})
        self.assertEqual(data, struct.pack("<2i7f", 5, -6, 1.0, 2.0, 3.0, 4.0, 5.0, -0.0, 7.0))

    def test_arrays_laid_out_by_columns_are_written_by_rows(self) -> None:
        # 0 1 2 / 3 4 5 in memory as 0 3 1 4 2 5, and as a view with strides.
        by_columns = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
        view = np.arange(12, dtype=np.float32)[::2].reshape(2, 3).T
        out = DumpWriter(self.folder)
        out.put("whole", by_columns)
        out.append("rows", by_columns)
        out.put("view", view)
        out.finish({})
        header, data = self.tensors()
        parts = {name: struct.unpack("<6f", data[slice(*entry["data_offsets"])]) for name, entry in header.items()}
        self.assertEqual(parts["whole"], (0, 1, 2, 3, 4, 5))
        self.assertEqual(parts["rows"], (0, 1, 2, 3, 4, 5))
        self.assertEqual(parts["view"], (0, 6, 2, 8, 4, 10))
        self.assertEqual(header["view"]["shape"], [3, 2])

    def test_nan_and_infinity_keep_their_place(self) -> None:
        out = DumpWriter(self.folder)
        out.put("x", np.array([np.nan, np.inf, -np.inf, 1.0], dtype=np.float32))
        out.add_leaf({"lb": [float("nan"), float("inf")]})
        out.finish({})
        _, data = self.tensors()
        values = struct.unpack("<4f", data)
        self.assertNotEqual(values[0], values[0])
        self.assertEqual(values[1:], (float("inf"), float("-inf"), 1.0))
        # The spelling of Python's json, which the importer reads.
        self.assertIn('{"id":0,"lb":[NaN,Infinity]}', (self.folder / "manifest.json").read_text())

    def test_float16_is_widened_exactly(self) -> None:
        # 0x2e66 is 1638 / 2^14 (sign 0, exponent 11 - 15 - 10, significand 1024 + 614).
        half = np.frombuffer(struct.pack("<2H", 0x2E66, 0x7E00), dtype=np.float16)
        kind, array = plain("slopes", half)
        self.assertEqual((kind, array.dtype), ("F32", np.dtype("<f4")))
        self.assertEqual(float(array[0]), 1638 / 2**14)
        self.assertNotEqual(array[1], array[1])

    def test_numbers_that_would_be_rounded_are_refused(self) -> None:
        self.assertEqual(float(plain("x", np.array([0.5]))[1][0]), 0.5)
        for values in (np.array([0.1]), np.array([1e300]), np.array([2**31]), np.array([1 + 0j]), np.array(["a"])):
            with self.assertRaisesRegex(DumpError, "^slopes: "):
                plain("slopes", values)

    def test_rows_of_another_shape_are_refused(self) -> None:
        out = DumpWriter(self.folder)
        out.append("x", np.zeros((1, 2), dtype=np.float32))
        with self.assertRaisesRegex(DumpError, "x: rows of shape"):
            out.append("x", np.zeros((1, 3), dtype=np.float32))
        out.discard()

    def test_leaves_are_numbered_and_other_keys_stay(self) -> None:
        out = DumpWriter(self.folder)
        out.add_leaf({"rhs": [0.0]})
        out.add_leaf({"rhs": [1.5]})
        out.finish({"status": "safe"})
        manifest, tensors = read_dump(self.folder)
        self.assertEqual(manifest["leaves"], [{"id": 0, "rhs": [0.0]}, {"id": 1, "rhs": [1.5]}])
        self.assertEqual((manifest["format"], manifest["status"], tensors), ("abdump-0", "safe", {}))

    def test_equal_rows_can_be_cut_to_one(self) -> None:
        out = DumpWriter(self.folder)
        for _ in range(3):
            out.append("box/C", np.array([[[1.0, -1.0]]], dtype=np.float32))
        out.first_rows("box/C", 1)
        out.put("z", np.array([2.0], dtype=np.float32))
        out.finish({})
        header, data = self.tensors()
        self.assertEqual(header["box/C"], {"dtype": "F32", "shape": [1, 1, 2], "data_offsets": [0, 8]})
        self.assertEqual(data, struct.pack("<3f", 1.0, -1.0, 2.0))

    def test_a_run_that_was_cut_off_leaves_no_dump_and_keeps_the_earlier_one(self) -> None:
        out = DumpWriter(self.folder)
        out.append("x", np.zeros(1, dtype=np.float32))
        with self.assertRaisesRegex(DumpError, "manifest.json is missing. The run that wrote it was cut off"):
            read_dump(self.folder)
        out.finish({"status": "first"})
        later = DumpWriter(self.folder)
        later.append("x", np.zeros(9, dtype=np.float32))
        self.assertEqual(read_dump(self.folder)[0]["status"], "first")
        later.discard()
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["manifest.json", "tensors.safetensors"])

    def test_tensors_cut_off_or_of_another_run_are_recognised(self) -> None:
        out = DumpWriter(self.folder)
        out.put("x", np.arange(4, dtype=np.float32))
        out.finish({})
        path = self.folder / "tensors.safetensors"
        whole = path.read_bytes()
        for end in (0, 5, 20, len(whole) - 1):
            path.write_bytes(whole[:end])
            with self.assertRaisesRegex(DumpError, "cut off"):
                read_dump(self.folder)
        path.write_bytes(whole[:-1] + b"\x01")
        with self.assertRaisesRegex(DumpError, "is not the file that the manifest was written with"):
            read_dump(self.folder)
        # A dump of another writer has no length in its manifest; then the header tells.
        (self.folder / "manifest.json").write_text('{"format": "abdump-0"}')
        path.write_bytes(whole[:-1])
        with self.assertRaisesRegex(DumpError, "ends inside the tensor x"):
            read_dump(self.folder)
        (self.folder / "manifest.json").write_text('{"format": "abdump-1"}')
        with self.assertRaisesRegex(DumpError, "abdump-1"):
            read_dump(self.folder)


class Damage(unittest.TestCase):
    """Files of a finished dump after something happened to them: `read_dump` names the file and what is wrong with it."""

    def edited(self, name: str, edit: Callable[[bytes], bytes]) -> str:
        """The complaint about a dump in which one file was edited."""
        with tempfile.TemporaryDirectory() as folder:
            out = DumpWriter(Path(folder))
            out.put("x", np.arange(4, dtype=np.float32))
            out.add_leaf({"rhs": [0.0]})
            out.finish({"status": "safe"})
            path = Path(folder) / name
            path.write_bytes(edit(path.read_bytes()))
            with self.assertRaises(DumpError) as caught:
                read_dump(Path(folder))
            return str(caught.exception)

    def test_every_damage_is_named(self) -> None:
        tensors = "tensors.safetensors"
        for what, name, edit, wanted in [
            ("empty", "manifest.json", lambda data: b"", "manifest.json is no JSON object, or is cut off"),
            ("cut off", "manifest.json", lambda data: data[:40], "manifest.json is no JSON object, or is cut off"),
            ("no text", "manifest.json", lambda data: b"\xff" + data, "manifest.json is no JSON object, or is cut off"),
            ("a list", "manifest.json", lambda data: b"[]", "manifest.json is no JSON object, or is cut off"),
            ("a later format", "manifest.json", lambda data: data.replace(b"abdump-0", b"abdump-1"), "the format is 'abdump-1', not 'abdump-0'"),
            ("no format", "manifest.json", lambda data: data.replace(b'"format"', b'"Format"'), "the format is None, not 'abdump-0'"),
            ("cut off", tensors, lambda data: data[:-4], "tensors.safetensors has .* bytes where the manifest says .*; the file is cut off"),
            ("another number", tensors, lambda data: data[:-1] + b"\1", "tensors.safetensors is not the file that the manifest was written with"),
        ]:
            with self.subTest(f"{what}: {name}"):
                self.assertRegex(self.edited(name, edit), wanted)

    def test_every_damage_is_named_where_the_manifest_says_nothing_of_the_tensors(self) -> None:
        header = b'{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        good = struct.pack("<Q", len(header)) + header + bytes(8)
        for what, data, wanted in [
            ("empty", b"", "is no safetensors file"),
            ("a header of 2^63 bytes", good[:7] + b"\x80" + good[8:], "is no safetensors file"),
            ("another type", good.replace(b"F32", b"F16"), "is no safetensors file of float32 and int32"),
            ("another shape", good.replace(b"[2]", b"[3]"), "is no safetensors file"),
            ("backwards", good.replace(b"[0,8]", b"[8,0]"), "is no safetensors file"),
            ("below 0", good.replace(b"[0,8]", b"[-8,0]"), "is no safetensors file"),
            ("cut off", good[:-1], "ends inside the tensor x"),
        ]:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "manifest.json").write_text('{"format": "abdump-0"}')
                (Path(folder) / "tensors.safetensors").write_bytes(data)
                with self.assertRaisesRegex(DumpError, wanted):
                    read_dump(Path(folder))


class Device:
    """A tensor that is not in main memory: it gives its numbers only by way of `detach` and then `cpu`."""

    def __init__(self, values: np.ndarray, *, detached: bool = False, near: bool = False) -> None:
        self.values, self.detached, self.near = values, detached, near

    def detach(self) -> Device:
        return Device(self.values, detached=True, near=self.near)

    def cpu(self) -> Device:
        return Device(self.values, detached=self.detached, near=True)

    def numpy(self) -> np.ndarray:
        if not (self.detached and self.near):
            raise TypeError("this tensor is on a device, or has a gradient")
        return self.values

    def __getitem__(self, places: Any) -> Device:
        return Device(self.values[places], detached=self.detached, near=self.near)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("numpy took a tensor of a device for an array")


class Devices(unittest.TestCase):
    """Tensors of a device other than the processor."""

    def test_the_one_way_off_a_device_leaves_rows_in_order(self) -> None:
        found = array(Device(np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))))
        self.assertTrue(found.flags["C_CONTIGUOUS"])
        self.assertEqual(found.tolist(), [[0, 1, 2], [3, 4, 5]])
        with self.assertRaises(TypeError):
            Device(np.zeros(1)).numpy()

    def test_no_module_takes_another_way(self) -> None:
        # `array` in record.py is the only place that may ask a tensor for its memory.
        ways = {}
        for path in Path(hook.__file__).parent.glob("*.py"):
            ways[path.name] = path.read_text().count(".numpy()") + path.read_text().count("np.asarray(")
        self.assertEqual({name: count for name, count in ways.items() if count}, {"record.py": 1, "dumpfile.py": 2})

    def test_the_specification_comes_off_its_device(self) -> None:
        corners = SimpleNamespace(x_L=Device(np.zeros((1, 2), np.float32)), x_U=Device(np.ones((1, 2), np.float32)), norm=float("inf"))
        rows, rhs = Device(np.array([[[1.0, 0.0], [0.0, 1.0]]], np.float32)), Device(np.array([[0.5, 0.0]], np.float32))
        spec = Spec.of(SimpleNamespace(ptb=corners), rows, rhs, Device(np.array([1, 1])))
        self.assertEqual((spec.rhs.tolist(), spec.sizes.tolist(), spec.upper.tolist()), ([[0.5, 0.0]], [1, 1], [[1.0, 1.0]]))


class Refusals(unittest.TestCase):
    """Runs that cannot be recorded, told before or while they are bounded."""

    def test_regions_that_are_no_box(self) -> None:
        for norm in (1.0, 2.0):
            corners = SimpleNamespace(x_L=None, x_U=None, norm=norm)
            with self.assertRaisesRegex(HookError, f"^specification.norm = {norm:g}: .*--norm inf"):
                Spec.of(SimpleNamespace(ptb=corners), Device(np.ones((1, 1, 1))), Device(np.ones((1, 1))), None)

    def test_disjuncts_with_boxes_of_their_own(self) -> None:
        with self.assertRaisesRegex(HookError, "input boxes of their own.*Split the property into 3 files"):
            Spec.of(None, Device(np.ones((3, 1, 2))), Device(np.ones((3, 1))), None)


class Versions(unittest.TestCase):
    """Checkouts that are not the α,β-CROWN that the hook knows. Each is a few empty modules."""

    def load(self, files: dict[str, str]) -> str:
        """What the command says of a checkout with these files."""
        known, path = set(sys.modules), list(sys.path)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            said = io.StringIO()
            try:
                with contextlib.redirect_stderr(said):
                    self.assertEqual(command.main(["--abcrown", folder, "--out", f"{folder}/dump", "--", "--config", "x"]), 2)
            finally:
                sys.path[:] = path
                for name in set(sys.modules) - known:
                    del sys.modules[name]
            self.assertFalse((Path(folder) / "dump").exists())
            return said.getvalue()

    def test_what_is_missing_is_named(self) -> None:
        verifier = "complete_verifier"
        solver = "class LiRPANet:\n    build = drop_unused_alpha = 0\n"
        whole = {
            f"{verifier}/abcrown.py": "ABCROWN = vnnlibHandler = 0",
            f"{verifier}/arguments.py": "Config = 0",
            f"{verifier}/beta_CROWN_solver.py": solver,
            "auto_LiRPA/auto_LiRPA/__init__.py": "",
        }
        for what, files, wanted in [
            ("no checkout", {"README.md": ""}, "holds no complete_verifier/abcrown.py"),
            ("no submodule", {f"{verifier}/abcrown.py": ""}, "git submodule update --init"),
            ("no requirements", {**whole, f"{verifier}/abcrown.py": "import no_such_package"}, "No module named 'no_such_package'. Install"),
            ("another version", whole, "this version of α,β-CROWN has no beta_CROWN_solver.LiRPANet.update_bounds; "
             "the hook was written for α,β-CROWN 8250d5f with auto_LiRPA 9d100ec"),
        ]:
            with self.subTest(what):
                said = self.load(files)
                self.assertTrue(said.startswith("certkern: error: "), said)
                self.assertIn(wanted, said)


class Padding(unittest.TestCase):
    """Disjuncts of different sizes."""

    def test_rows_that_nothing_closes_become_the_first(self) -> None:
        coefficients = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        rows = real_rows(coefficients, np.array([0.5, 0.0, np.inf]), 4)
        self.assertEqual(rows.tolist(), [0, 1, 0, 0])
        # A row 0·y ≤ 1 is true everywhere, and no padding.
        self.assertEqual(real_rows(coefficients, np.array([0.5, 0.0, 1.0]), 3).tolist(), [0, 1, 2])


class Settings(unittest.TestCase):
    """The table of options, on a configuration of a few of them."""

    def setUp(self) -> None:
        self.config = {
            "general": {"complete_verifier": "bab-refine", "conv_mode": "patches"},
            "bab": {"cut": {"enabled": True}, "branching": {"method": "x", "input_split": {"enable": False, "input_dim_threshold": 20}}},
            "solver": {"start_save_best": 0.5, "bound_prop_method": "crown"},
        }

    def test_what_cannot_be_justified_is_named_and_switched_off(self) -> None:
        changes = settings.apply(self.config, keep=False)
        self.assertEqual(changes.unjustified, [])
        self.assertEqual(
            [line.split(" (")[0] for line in changes.changed],
            [
                "bab.cut.enabled: True -> False",
                "general.complete_verifier: 'bab-refine' -> 'bab'",
                "general.conv_mode: 'patches' -> 'matrix'",
                "solver.start_save_best: 0.5 -> -1",
            ],
        )
        self.assertEqual(self.config["bab"]["cut"], {"enabled": False})
        self.assertEqual(settings.apply(self.config, keep=False).changed, [])

    def test_kept_options_are_warned_of_and_stay(self) -> None:
        changes = settings.apply(self.config, keep=True)
        self.assertEqual(changes.changed, [])
        self.assertEqual([line.split(":")[0] for line in changes.unjustified], ["bab.cut.enabled = True", "general.complete_verifier = 'bab-refine'"])
        self.assertTrue(self.config["bab"]["cut"]["enabled"])

    def test_auto_never_means_mip(self) -> None:
        for size, by_input, method in ((5, True, "sb"), (64, False, "kfsb")):
            self.config["general"]["complete_verifier"] = "auto"
            self.assertEqual(len(settings.resolve_auto(self.config, size)), 1)
            self.assertEqual(self.config["bab"]["branching"]["input_split"]["enable"], by_input)
            self.assertEqual(self.config["bab"]["branching"]["method"], method)
            self.assertNotIn("refine", self.config["general"]["complete_verifier"])
        self.assertIn("alpha-crown", settings.apply_for_split(self.config, keep=False).changed[0])


if __name__ == "__main__":
    unittest.main()
