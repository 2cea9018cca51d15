"""The writer of dumps, byte by byte, without PyTorch. `python -m unittest` in `oracles/python` runs it."""

from __future__ import annotations

import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import numpy as np
    from certkern_oracles.abcrown import settings
    from certkern_oracles.abcrown.dumpfile import DumpError, DumpWriter, plain, read_dump
    from certkern_oracles.abcrown.leaves import real_rows
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
