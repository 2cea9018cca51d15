"""Every JSON document of `certs` against its schema, and the structural faults that a schema must see.

    python -m unittest tests.test_schemas      (in oracles/python; needs jsonschema)

Reports of the built checker need `target/release/certkern`, or its path in CERTKERN; without it that test is skipped.
"""

import copy
import json
import os
import subprocess
import unittest
from pathlib import Path

try:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource
except ModuleNotFoundError as error:
    raise unittest.SkipTest(f"SKIPPED: {error}") from error

ROOT = Path(__file__).resolve().parents[3]
CERTS = ROOT / "certs"
DUMPS = ROOT.parent / "shared/data/abcrown_dumps"
BINARY = Path(os.environ.get("CERTKERN", ROOT / "target/release/certkern"))
SCHEMAS = {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in sorted((ROOT / "schemas").glob("*.schema.json"))}
REGISTRY = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values())

# Codes of faults in the structure of a JSON document, with the exceptions among their cases, each with why no schema sees it.
STRUCTURAL = {
    "json.unknown-key": {
        "tensor": "in the header of a safetensors file",
        "extension.json": "an attribute that the larger of two formats knows",
    },
    "json.missing-key": {"tensor": "in the header of a safetensors file"},
    "json.type": {"metadata": "in the header of a safetensors file"},
    "json.value": {"ends": "the lengths of two lists differ", "ends_of_two_lengths": "the lengths of two lists differ",
                   "bounds_of_two_lengths": "the lengths of two lists differ",
                   "crown_row": "a row as long as the input", "constraint_of_three": "a row as long as the input"},
    "json.number": {
        "offset": "in the header of a safetensors file",
        "point.json": "to a schema 0.0 is an integer",
        "weight_rounds_to_infinity.json": "a good number, too large for binary64",
    },
    "bundle.format": {"enclosure_onnx.json": "a good document, against a file that it says nothing about",
                      "nodes_property": "a good bundle, against a file that it says nothing about"},
    "bundle.digest": {},
    "graph.format": {},
    "graph.empty": {},
    "graph.arity": {},
    "graph.attribute": {
        "groups_do_not_divide.json": "two attributes do not fit",
        "heads.json": "two attributes do not fit",
        "slice_backwards.json": "two attributes do not fit",
        "slice_lengths.json": "a list as long as another attribute",
        "split_index.json": "two attributes do not fit",
        "input_spatial_short.json": "a list as long as another attribute says",
        "kernel_of_three.json": "a list as long as another attribute says",
        "padding_of_one.json": "a list as long as another attribute says",
    },
    "graph.output": {"no_node.json": "an id that is no node", "tuple.json": "what a node makes that is the output"},
    "enclosure.answer": {
        "negative_radius.json": "the sign of a number in a string",
        "precision_less.json": "two fields that must agree",
        "precision_more.json": "two fields that must agree",
        "precision_none.json": "two fields that must agree",
        "precision_unasked.json": "two fields that must agree",
        "value_missing.json": "a list as long as another",
        "value_more.json": "a list as long as another",
    },
    "limit.precision": {},
    "graph.unsupported-op": {},
}
# Codes of JSON that a schema never sees: either it is no JSON at all, or a parser has dropped what is wrong.
BEFORE_SCHEMAS = {"json.syntax", "json.encoding", "json.trailing", "json.duplicate-key"}


def validator(name):
    return Draft202012Validator(SCHEMAS[name], registry=REGISTRY)


def faults(name, document):
    return [f"{fault.json_path}: {fault.message[:200]}" for fault in validator(name).iter_errors(document)]


def documents(case):
    """(schema, document) for each JSON file of a case: a graph, or a bundle of the kind and with the files that its manifest names."""
    if case.is_file():
        document = json.loads(case.read_text())
        formats = {"certkern.enclosure.v1": "enclosure", "certkern.monotone.v1": "monotone", "torchlean.bound.v1": "bound"}
        yield formats.get(document.get("format") if isinstance(document, dict) else None, "graph"), document
        return
    manifest = json.loads((case / "bundle.json").read_text())
    yield "bundle", manifest
    kind = manifest["kind"] if manifest["kind"] in ("leaves", "witness") else "leaves"
    for role, schema in (*((role, role) for role in ("graph", "property", "region", "bound", "nodes")), ("certificate", kind)):
        name = manifest["files"].get(role, "")
        if name.endswith(".json"):
            yield schema, json.loads((case / name).read_text())


def cases(verdict):
    """(folder, path) of each case."""
    for folder in sorted(path for path in (CERTS / verdict).iterdir() if path.is_dir()):
        for path in sorted(folder.iterdir()):
            if path.suffix != ".args":
                yield folder.name, path


def manifests(folder):
    return sorted(folder.glob("*/manifest.json"))


class Schemas(unittest.TestCase):
    def test_schemas_are_good_and_their_examples_too(self):
        self.assertEqual(
            sorted(SCHEMAS),
            ["abdump-0", "bound", "bundle", "counterexample", "enclosure", "enclosure-answer", "enclosure-query", "graph", "leaves", "monotone", "nodes", "probe", "property", "region", "report", "witness"],
        )
        for name, schema in SCHEMAS.items():
            with self.subTest(schema=name):
                self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
                Draft202012Validator.check_schema(schema)
                superset = ["certkern.ir.v1"] if name == "graph" else []
                form = {"enum": [schema["$id"], *superset]} if superset else {"const": schema["$id"]}
                if name != "region":  # whose documents name no format
                    self.assertEqual(schema["properties"]["format"], form)
                self.assertGreater(len(schema["examples"]), 0)
                for example in schema["examples"]:
                    self.assertEqual(faults(name, example), [])

    def test_numbers_are_spelled_alike_everywhere(self):
        spelled = {name: SCHEMAS[name]["$defs"]["number"] for name in ("property", "leaves", "witness", "counterexample", "probe", "enclosure-query", "enclosure-answer", "region", "bound", "nodes")}
        self.assertEqual(len({json.dumps(number) for number in spelled.values()}), 1)
        number = Draft202012Validator(spelled["property"])
        for good in (0, -1.5, "0", "-12.50e-3", "1/3", "-7/20", "0x1.8p-3", "-0X.8P+0", "0x1p0", "1e999"):
            self.assertTrue(number.is_valid(good), good)
        for bad in (None, True, [1], "", "+1", "1/0", "1/-3", "1/ 3", "0x1.8", "nan", "Infinity", "1.", ".5", "01", "0x.p1"):
            self.assertFalse(number.is_valid(bad), bad)

    def test_documents_of_accepted_cases(self):
        counts = {}
        for _, path in cases("accept"):
            for schema, document in documents(path):
                counts[schema] = counts.get(schema, 0) + 1
                with self.subTest(path=f"{path.parent.name}/{path.name}", schema=schema):
                    self.assertEqual(faults(schema, document), [])
        print(f"\naccepted documents: {counts}")
        for schema in ("bound", "nodes", "region", "bundle", "graph", "leaves", "witness", "property", "enclosure"):
            self.assertGreater(counts.get(schema, 0), 1, schema)

    def test_dumps(self):
        paths = manifests(CERTS / "dumps") + manifests(CERTS / "live")
        self.assertEqual(len(paths), 3 + 4)
        for path in paths:
            with self.subTest(path=path.parent.name):
                self.assertEqual(faults("abdump-0", json.loads(path.read_text())), [])

    def test_shared_dumps(self):
        if not DUMPS.is_dir():
            self.assertNotEqual(os.environ.get("CERTKERN_REQUIRE_SHARED"), "1", "../shared is absent")
            self.skipTest("SKIPPED: ../shared is absent")
        self.assertGreater(len(manifests(DUMPS)), 0)
        for path in manifests(DUMPS):
            with self.subTest(path=path.parent.name):
                self.assertEqual(faults("abdump-0", json.loads(path.read_text())), [])

    def test_structural_faults_do_not_validate(self):
        found, passed = {}, {}
        for code, path in cases("reject"):
            if code not in STRUCTURAL:
                continue
            found[code] = found.get(code, 0) + 1
            if not any(faults(schema, document) for schema, document in documents(path)):
                passed.setdefault(code, set()).add(path.name)
        self.assertEqual(sorted(found), sorted(STRUCTURAL))
        self.assertEqual(passed, {code: set(exceptions) for code, exceptions in STRUCTURAL.items() if exceptions})
        print(f"\nstructural faults: {sum(found.values())} cases, {sum(map(len, passed.values()))} beyond what a schema says")

    def test_every_fault_of_json_is_known_here(self):
        codes = {code for code, _ in cases("reject") if code.startswith("json.")}
        self.assertEqual(codes, BEFORE_SCHEMAS | {code for code in STRUCTURAL if code.startswith("json.")})

    def test_broken_dumps_do_not_validate(self):
        good = json.loads((CERTS / "dumps/small_relu/manifest.json").read_text())
        self.assertEqual(faults("abdump-0", good), [])
        edits = [lambda m, key=key: m.pop(key) for key in SCHEMAS["abdump-0"]["required"]]
        edits += [lambda m, key=key: m["leaves"][0].pop(key) for key in ("id", "lb", "rhs", "splits")]
        edits += [lambda m, value=value: m["leaves"][0]["splits"][0].update(value)
                  for value in ({"sign": 0}, {"beta": -0.5}, {"neuron": -1}, {"neuron": 1.5}, {"layer": 3}, {"point": "0"})]
        edits += [lambda m: m.update(norm=2), lambda m: m.update(format="abdump-1"), lambda m: m["nodes"][0].update(shape=[1, -2])]
        for number, edit in enumerate(edits):
            with self.subTest(edit=number):
                broken = copy.deepcopy(good)
                edit(broken)
                self.assertNotEqual(faults("abdump-0", broken), [])

    def test_counterexamples(self):
        self.assertEqual(faults("counterexample", {"format": "certkern.counterexample.v1", "x": [1, "0x1p-2"]}), [])
        for bad in ({"x": [1]}, {"format": "certkern.counterexample.v1"}, {"format": "certkern.counterexample.v2", "x": [1]},
                    {"format": "certkern.counterexample.v1", "x": [None]}, {"format": "certkern.counterexample.v1", "x": [1], "z": []},
                    {"format": "certkern.counterexample.v1", "x": {"0": 1}}):
            with self.subTest(document=bad):
                self.assertNotEqual(faults("counterexample", bad), [])

    @unittest.skipUnless(BINARY.is_file(), "SKIPPED: no built certkern")
    def test_reports_of_the_binary(self):
        chosen = {"accept": ("graph/chapter.json", "leaves/small_relu", "witness/sevenths", "enclosure/functions.json", "bound/half", "nodes/disk"),
                  "reject": ("bind.payload/digest", "json.type/strict", "leaf.unproved/again_bias", "limit.rank/shape.json", "witness.region/far",
                             "enclosure.refuted/by_a_hair.json", "enclosure.undefined/pole.json")}
        for verdict, paths in chosen.items():
            for path in paths:
                with self.subTest(path=path):
                    case = CERTS / verdict / path
                    self.assertTrue(case.exists())
                    done = subprocess.run([BINARY, "check", "--format", "json", case], capture_output=True, text=True, check=False)
                    report = json.loads(done.stdout.splitlines()[0])["report"]
                    self.assertEqual(faults("report", report), [])
                    self.assertEqual((report["exit_code"], report["line"]), (done.returncode, done.stdout.splitlines()[-1]))
                    self.assertEqual(report["verdict"] == "accepted", verdict == "accept")
                    # A report that says more or less than it may is seen.
                    self.assertNotEqual(faults("report", {**report, "tolerance": 0}), [])
                    self.assertNotEqual(faults("report", {key: value for key, value in report.items() if key != "line"}), [])


if __name__ == "__main__":
    unittest.main()
