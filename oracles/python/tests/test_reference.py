"""Tests of the reference: the corpus of certs/, hand-computed cases of the rules, random problems.

    python -m unittest discover -s oracles/python/tests -t oracles/python      (from the root of the repository)

Comparisons with the built checker need `target/release/certkern`, or its path in CERTKERN; without it they are skipped.
"""

import ast
import contextlib
import io
import itertools
import json
import os
import random
import struct
import subprocess
import tempfile
import tokenize
import unittest
from fractions import Fraction as F
from pathlib import Path

from certkern_oracles import reference, reference_graph
from certkern_oracles.reference_read import (
    FORMATS, Number, Rejected, Row, binary64, natural, rational, read_json, read_property,
)  # fmt: skip

ROOT = Path(__file__).resolve().parents[3]
CERTS = ROOT / "certs"
BINARY = Path(os.environ.get("CERTKERN", ROOT / "target/release/certkern"))
NEEDS_BINARY = unittest.skipUnless(BINARY.is_file(), "SKIPPED: no built certkern")


# Cases with operators that the reference does not decide.
BEYOND = {"small_tanh": "tanh", "sine": "sin", "sigmoid_tanh": "sigmoid", "tanh_at_zero": "tanh"}
BEYOND_REJECTED = {f"{code}/tanh_{name}": "tanh" for code, name in (
    ("leaf.unproved", "high_left_out"), ("leaf.unproved", "high_zero"), ("hint.domain", "high_nan"),
    ("tensors.shape", "high"), ("tensors.unused", "high_misspelled"))}  # fmt: skip
BEYOND_REJECTED |= {"limit.function-bits/periods": "sin", "leaf.unproved/sine_default": "sin", "witness.property/again_touching": "tanh",
                    "witness.property/again_billionth": "sigmoid", "witness.undecided/equal_outputs": "sigmoid"}  # fmt: skip
def kinds(schema):
    """Every kind that a part of the schema of graphs names."""
    if isinstance(schema, list):
        return {kind for part in schema for kind in kinds(part)}
    if not isinstance(schema, dict):
        return set()
    named = schema.get("kind")
    own = {named.get("const"), *named.get("enum", ())} - {None} if isinstance(named, dict) else set()
    return own.union(*(kinds(part) for part in schema.values()))


# Operators that the reference does not know: cases with one are passed over.
UNKNOWN = kinds(json.loads((ROOT / "schemas/graph.schema.json").read_text())) - reference_graph.OPERATORS.keys()


def unknown_operator(path):
    """The first operator of a graph that the reference does not know, or exact numbers; `None` if it knows all, or if there is no graph to be read."""
    try:
        document = json.loads((path / "graph.json" if path.is_dir() else path).read_bytes())
        if any(isinstance(node.get("bias"), list) and isinstance(node["bias"][0], str) for node in document["nodes"]):
            return "exact numbers"
        return next((node["kind"] for node in document["nodes"] if node["kind"] in UNKNOWN), None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return None


def not_supported(operator):
    return 69, f"reference: operator {operator} not supported"


def run(arguments):
    """The exit code and the verdict line of the reference."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = reference.main([str(a) for a in arguments])
    return code, out.getvalue().splitlines()[-1]


def run_binary(path):
    done = subprocess.run([BINARY, "check", path], capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout.splitlines() or [""])[-1]


def accepted_cases():
    return sorted(path for kind in reference.PROPOSITIONS for path in (CERTS / "accept" / kind).iterdir())


def rejected_cases():
    """(code, path, further arguments) of each case."""
    for folder in sorted(p for p in (CERTS / "reject").iterdir() if p.is_dir()):
        for path in sorted(p for p in folder.iterdir() if p.suffix != ".args"):
            side = folder / f"{path.name.removesuffix('.json')}.args"
            yield folder.name, path, side.read_text().split() if side.exists() else []


def is_beyond(path):
    """Whether a case is of a kind that the reference does not know: enclosures, bounds of outputs or of nodes, monotonicity."""
    file = path if path.is_file() else path / "bundle.json"
    document = file.read_bytes() if file.is_file() else b""
    marks = (b'"certkern.enclosure.v1"', b'"certkern.monotone.v1"', b'"torchlean.bound.v1"', b'"kind": "bound"', b'"kind": "nodes"')
    return any(mark in document for mark in marks)


class Corpus(unittest.TestCase):
    def test_accepted(self):
        for path in accepted_cases():
            with self.subTest(path=path.name):
                if operator := unknown_operator(path):
                    print(f"\nSKIPPED: {path.name}: operator {operator}")
                    continue
                code, verdict = run([path])
                if path.name in BEYOND:
                    self.assertEqual((code, verdict), not_supported(BEYOND[path.name]))
                    print(f"\nSKIPPED: {path.name}: {verdict}")
                    continue
                self.assertEqual((code, verdict[:11]), (0, "s ACCEPTED "), verdict)
                if path.is_dir():
                    _, digests, _ = reference.check(path)
                    self.assertEqual(digests, json.loads((path / "bundle.json").read_text())["digests"])

    @NEEDS_BINARY
    def test_accepted_as_the_binary_does(self):
        for path in accepted_cases():
            if operator := BEYOND.get(path.name, unknown_operator(path)):
                print(f"\nSKIPPED: {path.name}: operator {operator}")
                continue
            with self.subTest(path=path.name):
                self.assertEqual(run([path]), run_binary(path))

    def test_rejected(self):
        """The class of every case; the exact code too, except among limits, which SPEC.md does not list."""
        os.chdir(ROOT)  # the arguments are paths from there
        cases = exact = skipped = beyond = unknown = 0
        for code, path, arguments in rejected_cases():
            if "--onnx" in arguments or is_beyond(path) or code == "property.shape":
                skipped += 1
                continue
            with self.subTest(code=code, path=path.name):
                expected = f"s LIMIT {code[6:]}" if code.startswith("limit.") else f"s REJECTED {code}"
                kind = 3 if code.startswith("limit.") else 1 if code in reference.NOT_PROVED else 2
                name = f"{code}/{path.name}"
                if unknown_operator(path):
                    unknown += 1
                    continue
                got, verdict = run([path, *arguments])
                if name in BEYOND_REJECTED:
                    self.assertEqual((got, verdict), not_supported(BEYOND_REJECTED[name]))
                    beyond += 1
                    continue
                cases, exact = cases + 1, exact + (verdict == expected)
                self.assertEqual(got, kind, verdict)
                if kind != 3:
                    self.assertEqual(verdict, expected)
        print(f"\nrejected: {cases} cases, {exact} with the exact code\nSKIPPED: {skipped} cases of enclosures, of bounds, of VNN-LIB 2.0, or with --onnx; "
              f"{beyond} with operators that the reference does not support ({', '.join(BEYOND_REJECTED)}); "
              f"{unknown} with operators that it does not know")
        self.assertEqual(beyond, len(BEYOND_REJECTED))


def code_lines(source):
    """How many lines hold code: not blank, not a comment, not part of a docstring."""
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {n for t in tokens if t.type not in layout for n in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


class Size(unittest.TestCase):
    MOST = 700  # a stranger is to read the reference in an afternoon

    def test_counter(self):
        """Each kind of line once; a string of two lines that is no docstring counts."""
        sample = '"""One\ntwo."""\n\n# three\ndef f():\n    """Four."""\n    return """a\nb"""  # five\n'
        self.assertEqual(code_lines(sample), 3)

    def test_reference_is_short(self):
        files = sorted(Path(reference.__file__).parent.glob("reference*.py"))
        self.assertEqual(len(files), 3)
        counts = {path.name: code_lines(path.read_text(encoding="utf-8")) for path in files}
        self.assertLessEqual(sum(counts.values()), self.MOST, counts)
        for path in files:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                self.assertLessEqual(len(line), 120, f"{path.name}:{number}")


class SharedDumps(unittest.TestCase):
    """The two smallest dumps of foreign runs, converted afresh, through both checkers."""

    DUMPS = ROOT.parent / "shared/data/abcrown_dumps"
    SMALLEST = ("digits_conv_1402_0.1_relusplit", "digits_conv_1403_0.08_relusplit")

    @NEEDS_BINARY
    def test_smallest(self):
        if not self.DUMPS.is_dir():
            if os.environ.get("CERTKERN_REQUIRE_SHARED") == "1":
                self.fail("../shared is absent")
            self.skipTest("SKIPPED: ../shared is absent")
        for name in self.SMALLEST:
            with self.subTest(dump=name), tempfile.TemporaryDirectory() as folder:
                dump, bundle = self.DUMPS / name, Path(folder) / "bundle"
                (net,), (prop,) = dump.glob("*.onnx"), dump.glob("*.vnnlib")
                command = [BINARY, "import", "abcrown", dump, "--onnx", net, "--property", prop, "-o", bundle]
                subprocess.run(command, capture_output=True, check=True)
                code, verdict = run([bundle, "--property", prop])
                self.assertEqual((code, verdict), run_binary(bundle))
                self.assertEqual(verdict[:17], "s ACCEPTED unsat ")


def graph_of(nodes, outputs):
    """A graph from (kind, parents, shape, members) with its payload in the nodes."""
    listed = [{"id": i, "kind": k, "parents": p, "shape": s, **m} for i, (k, p, s, m) in enumerate(nodes)]
    return {"format": "torchlean.ir.v1", "input_id": 0, "output_ids": outputs, "nodes": listed}


def read(document):
    graph = reference_graph.read_graph(read_json(json.dumps(document).encode()))
    reference_graph.read_payload(graph, {})
    return graph


def linear(parent, weight, bias):
    return ("linear", [parent], [len(bias)], {"weight": weight, "bias": bias})


def safetensors(tensors):
    header, body = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def write_bundle(folder, document, prop, certificate, hints):
    """A bundle of kind `leaves` with good digests."""
    folder, graph, stated = Path(folder), read(document), json.dumps(prop).encode()
    digests = reference.digests(graph, read_property("property.json", stated))
    files = {"graph": "graph.json", "payload": "payload.safetensors", "property": "property.json",
             "certificate": "cert.json", "hints": "cert.safetensors"}  # fmt: skip
    manifest = {"format": "certkern.bundle.v1", "kind": "leaves", "files": files, "digests": digests}
    for name, data in (("bundle.json", json.dumps(manifest).encode()), ("graph.json", json.dumps(document).encode()),
                       ("payload.safetensors", safetensors({})), ("property.json", stated),
                       ("cert.json", json.dumps(certificate).encode()),
                       ("cert.safetensors", safetensors(hints))):  # fmt: skip
        (folder / name).write_bytes(data)


def prop_of(lower, upper, outputs, *disjuncts):
    """Disjuncts of rows (x, y, bound, strict) with coefficients by coordinate."""
    unsafe = [[{"x": {str(i): str(c) for i, c in x.items()}, "y": {str(i): str(c) for i, c in y.items()},
                "bound": str(b), "strict": s} for x, y, b, s in rows] for rows in disjuncts]  # fmt: skip
    return {"format": "certkern.property.v1", "outputs": outputs, "lower": [str(n) for n in lower],
            "upper": [str(n) for n in upper], "unsafe": unsafe}  # fmt: skip


def tree(*nodes):
    """One tree from preorder (node, coordinate, threshold index), None at a leaf."""
    flat = [(0, 0, 0) if n is None else n for n in nodes]
    tensors = {"tree.offset": ("U32", [2], [0, len(flat)]),
               "tree.kind": ("U8", [len(flat)], [int(n is not None) for n in nodes])}  # fmt: skip
    for k, name in enumerate(("node", "coordinate", "threshold")):
        tensors[f"tree.{name}"] = ("U32", [len(flat)], [n[k] for n in flat])
    return tensors


# y = relu(x − 1/4) − relu(−x) on [−1, 1]; the arguments lie in [−5/4, 3/4] and [−1, 1]
KINK = graph_of([("input", [], [1], {}), linear(0, [[1], [-1]], [-0.25, 0]), ("relu", [1], [2], {}),
                 linear(2, [[1, -1]], [0])], [3])  # fmt: skip


class Rules(unittest.TestCase):
    def setUp(self):
        graph = read(KINK)
        self.program = reference_graph.program(graph)
        bounds = [[(F(-1), F(1))]]
        for v in (1, 2, 3):
            bounds.append(reference.ibp(self.program[v], bounds))
        self.bounds = bounds

    def least(self, sign, slopes):
        return reference.back(self.program, self.bounds, {3: {0: F(sign)}}, F(0), {2: slopes})

    def test_ibp(self):
        self.assertEqual(self.bounds[1], [(F(-5, 4), F(3, 4)), (F(-1), F(1))])
        self.assertEqual(self.bounds[3], [(F(-1), F(3, 4))])

    def test_lines(self):
        self.assertEqual(reference.relu_line(F(-5, 4), F(3, 4), False, None), (F(3, 8), F(15, 32)))
        s, b = reference.relu_line(F(-1, 3), F(1), False, None)  # 3/4 is exact; the line touches at both ends
        self.assertEqual((s, b), (F(3, 4), F(1, 4)))
        s, b = reference.relu_line(F(-2), F(1), False, F(1, 2))  # 1/3 is rounded down, the constant pays for it
        self.assertTrue(F(1, 3) - F(1, 2**40) < s < F(1, 3) and s + b == 1 and -2 * s + b > 0)
        self.assertEqual(reference.relu_line(F(-1), F(2), True, None), (1, 0))
        self.assertEqual(reference.relu_line(F(-1), F(1), True, None), (0, 0))  # u > −l fails
        self.assertEqual(reference.relu_line(F(0), F(1), False, F(1, 2)), (1, 0))
        self.assertEqual(reference.relu_line(F(-1), F(0), True, F(1, 2)), (0, 0))

    def test_back(self):
        # below: 0 − (−x/2 + 1/2) at x = −1; with slope a at the first relu −5a/4 more
        self.assertEqual(self.least(1, {}), -1)
        self.assertEqual(self.least(1, {0: F(1, 2)}), F(-13, 8))
        # above: 3x/8 + 3/8 at x = 1; with slope a at the second relu a·x more
        self.assertEqual(-self.least(-1, {}), F(3, 4))
        self.assertEqual(-self.least(-1, {1: F(1, 2)}), F(5, 4))
        # an entry at an inner node counts: y − relu(x − 1/4) = −relu(−x) ≥ x/2 − 1/2
        value = reference.back(self.program, self.bounds, {3: {0: F(1)}, 2: {0: F(-1)}}, F(0), {})
        self.assertEqual(value, -1)

    def test_beta_and_empty(self):
        row = lambda b, strict: Row([((3, 0), F(1))], b, strict)
        closed = lambda *weighted: reference.refuted(self.program, self.bounds, weighted, {})
        self.assertTrue(closed((row(F(-9, 8), False), F(1))))
        self.assertFalse(closed((row(F(-1), False), F(1))))  # y = −1 at x = −1
        self.assertTrue(closed((row(F(-1), True), F(1))))
        self.assertFalse(closed((row(F(-1), True), F(0))))  # 0 ≥ 0 by no row says nothing
        # y ≥ −1/2 + x/2 + …: with x ≥ 0, that is −x ≤ 0, and β = 1/2 it is ≥ −1/2
        self.assertTrue(closed((row(F(-5, 8), False), F(1)), (Row([((0, 0), -1)], F(0), False), F(1, 2))))
        self.assertFalse(closed((row(F(-5, 8), False), F(1)), (Row([((0, 0), 1)], F(0), False), F(1, 2))))

    def test_assume(self):
        least = lambda v, i, tau: Row([((v, i), -1)], -tau, False)  # v_i ≥ τ
        most = lambda v, i, tau: Row([((v, i), 1)], tau, False)
        child = reference.assume(self.bounds, least(1, 0, F(1, 3)))
        self.assertEqual(child[1][0], (F(1, 3), F(3, 4)))
        self.assertEqual(reference.assume(self.bounds, most(1, 0, F(1, 3)))[1][0], (F(-5, 4), F(1, 3)))
        self.assertEqual(self.bounds[1][0], (F(-5, 4), F(3, 4)))  # no leak to the sibling
        point = [[(F(1, 3), F(1, 3))]]
        for literal in (least, most):  # a fixed input at the threshold leaves neither child empty
            self.assertFalse(reference.is_empty(reference.assume(point, literal(0, 0, F(1, 3)))))
        self.assertTrue(reference.is_empty(reference.assume(point, least(0, 0, F(1, 2)))))

    def test_conv_is_cross_correlation(self):
        document = json.loads((CERTS / "accept/graph/convolution.json").read_text())
        graph = read(document)
        x = [F(n) for n in range(1, 19)]
        conv = reference.value_at(reference_graph.program(graph)[:2], x)[1]
        # channel 0, padding one row above and one column right, stride 2: at (0, 0) the taps are 0, 0, x00/2, 2·x01
        self.assertEqual(conv[:4], [F(1, 2) + 4, F(3, 2), 4 - 5 + F(7, 2) + 16, 6 + F(9, 2)])

    def test_numbers(self):
        self.assertEqual([rational(t) for t in ("1/3", "0x1.8p-3", "-0.5e1")], [F(1, 3), F(3, 16), F(-5)])
        self.assertEqual(str(binary64(Number("-0"))), "-0.0")
        self.assertEqual(binary64(Number("9007199254740993")), 9007199254740992.0)
        self.assertEqual(natural(Number("1e1")), 10)
        for bad in ("1/0", "+1", "0x1.8", " 1", "1.", "1/-3", ""):
            self.assertRaises(Rejected, rational, bad)

    def test_vnnlib_order(self):
        declared = b"(declare-const X_0 Real)(declare-const Y_0 Real)(assert (and (<= X_0 1) (>= X_0 (- 1))))"
        asserted = b"(assert (or (< Y_0 1) (= Y_0 (* 2 X_0))))(assert (or (<= Y_0 3) (>= Y_0 4)))"
        prop = read_property("property.vnnlib", declared + asserted)
        bounds = [[row.bound for row in disjunct[2:]] for disjunct in prop.unsafe]
        self.assertEqual(bounds, [[1, 3], [1, -4], [0, 0, 3], [0, 0, -4]])
        self.assertEqual(prop.box, [(-1, 1)])


class Bundles(unittest.TestCase):
    def verdict(self, document, prop, certificate, hints):
        with tempfile.TemporaryDirectory() as folder:
            write_bundle(folder, document, prop, {"format": "certkern.leaves.v1", **certificate}, hints)
            got = run([folder])
            if BINARY.is_file():
                self.assertEqual(got, run_binary(folder))
            return got[0]

    def test_rounding_of_a_threshold(self):
        """y = |x| on [τ, 1], unsafe y ≤ τ: x = τ is a counterexample at the threshold, unless the row is open."""
        tent = graph_of([("input", [], [1], {}), linear(0, [[1], [-1]], [0, 0]), ("relu", [1], [2], {}),
                         linear(2, [[1, 1]], [0])], [3])  # fmt: skip
        for tau in (F(1, 3), F(1, 10), F(1, 2)):
            hints = tree((0, 0, 0), None, None)
            for strict, expected in ((False, 1), (True, 0)):
                prop = prop_of([tau], [1], 1, [({}, {0: 1}, tau, strict)])
                got = self.verdict(tent, prop, {"trees": [0], "thresholds": [str(tau)]}, hints)
                self.assertEqual(got, expected, (tau, strict))

    def test_bounds_do_not_leak_to_another_disjunct(self):
        """The first disjunct has x ≥ 1/2, the second is satisfiable at x = −1 only without that row."""
        first = [({0: -1}, {}, F(-1, 2), False), ({}, {0: 1}, F(-1, 2), False)]
        second = [({}, {0: 1}, F(-7, 8), False)]
        self.assertEqual(self.verdict(KINK, prop_of([-1], [1], 1, first), {"trees": [0]}, tree(None)), 0)
        self.assertEqual(self.verdict(KINK, prop_of([-1], [1], 1, first, second), {"trees": [0, 0]}, tree(None)), 1)

    def test_leaves_of_a_split(self):
        """y > −1 + 1/8 fails only for x < −7/8; the sibling does not profit from its literal."""
        prop = prop_of([-1], [1], 1, [({}, {0: 1}, F(-7, 8), False)])
        self.assertEqual(self.verdict(KINK, prop, {"trees": [0], "thresholds": [0]}, tree((1, 1, 0), None, None)), 1)
        prop = prop_of([F(-3, 4)], [1], 1, [({}, {0: 1}, F(-7, 8), False)])
        self.assertEqual(self.verdict(KINK, prop, {"trees": [0], "thresholds": [0]}, tree((1, 1, 0), None, None)), 0)

    def test_random(self):
        """Random networks: a bisection for the largest bound that is proved. A bound that a sampled point reaches is
        refused; the built checker, where present, says the same at every step."""
        rng = random.Random(20)
        for number in range(40):
            width = rng.randint(1, 3)
            layers = [("input", [], [2], {})]
            for size in (width, rng.randint(1, 3)):
                before = layers[-1][2][0]
                weight = [[rng.randint(-8, 8) / 4 for _ in range(before)] for _ in range(size)]
                layers += [linear(len(layers) - 1, weight, [rng.randint(-4, 4) / 4 for _ in range(size)])]
                layers += [("relu", [len(layers) - 1], [size], {})]
            layers += [linear(len(layers) - 1, [[rng.randint(-8, 8) / 4 for _ in range(layers[-1][2][0])]], [0])]
            document = graph_of(layers, [len(layers) - 1])
            program = reference_graph.program(read(document))
            samples = itertools.product([F(k, 4) for k in range(-4, 5)], repeat=2)
            reached = min(reference.value_at(program, list(x))[-1][0] for x in samples)
            hints = tree((1, rng.randrange(width), 0), (0, 0, 0), None, None, None)
            certificate = {"trees": [0], "thresholds": [0]}
            low, high = reached - 64, reached
            for _ in range(12):
                middle = (low + high) / 2
                prop = prop_of([-1, -1], [1, 1], 1, [({}, {0: 1}, middle, False)])
                if self.verdict(document, prop, certificate, hints):
                    high = middle
                else:
                    low = middle
            closed = prop_of([-1, -1], [1, 1], 1, [({}, {0: 1}, reached, False)])
            self.assertEqual(self.verdict(document, closed, certificate, hints), 1, number)


if __name__ == "__main__":
    unittest.main()
