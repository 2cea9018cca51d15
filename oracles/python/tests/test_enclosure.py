"""Enclosures: digests, the files of TorchLean's oracle, Arb balls there and back, random expressions against Arb.

    python -m unittest tests.test_enclosure      (in oracles/python)

Comparisons with the built checker need `target/release/certkern`, or its path in CERTKERN; those with Arb need python-flint. Without them they are skipped.
"""

import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from certkern_oracles import arb, enclosure
from certkern_oracles.enclosure import Expressions, Unreadable, answer, arb_integers, arb_of, certificate, from_oracle, text

try:
    import flint
except ModuleNotFoundError:
    flint = None

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("CERTKERN", ROOT / "target/release/certkern"))
NEEDS_BINARY = unittest.skipUnless(BINARY.is_file(), "SKIPPED: no built certkern")
NEEDS_ARB = unittest.skipUnless(flint, "SKIPPED: python-flint is absent")


def oracle(name):
    return [json.loads((ROOT / f"certs/oracle/{name}.{part}.json").read_text()) for part in ("request", "answer")]


def ask(query, folder, *options, tool=None):
    """The run of `certkern oracle` on a query, answered by Arb in this interpreter, which need not be the python3 of PATH; and its report."""
    path = Path(folder) / "query.json"
    path.write_text(json.dumps(query))
    tool = tool or ["--tool", sys.executable, "--", "-m", "certkern_oracles.arb"]
    command = [BINARY, "oracle", path, "--format", "json", *options, *tool]
    home = os.environ | {"PYTHONPATH": str(ROOT / "oracles/python")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=home)
    return done, json.loads(done.stdout.splitlines()[0])["report"] if done.stdout else None


def check(document, folder):
    """(code of the report or its proposition, report)."""
    path = Path(folder) / "claim.json"
    path.write_text(text(document))
    done = subprocess.run([BINARY, "check", "--format", "json", path], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout.splitlines()[0])["report"]
    return report.get("code", report.get("proposition")), report


class Files(unittest.TestCase):
    def test_files_of_the_oracle_become_the_accepted_certificates(self):
        for name in ("unary", "expr", "mlp"):
            with self.subTest(name=name):
                made = text(from_oracle(*oracle(name), 200))
                self.assertEqual(made, (ROOT / f"certs/accept/enclosure/oracle_{name}.json").read_text())

    def test_main_reads_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "claim.json"
            files = [str(ROOT / f"certs/oracle/mlp.{part}.json") for part in ("request", "answer")]
            self.assertEqual(enclosure.main([*files, "-o", str(out), "--prec-bits", "200"]), 0)
            self.assertEqual(out.read_text(), (ROOT / "certs/accept/enclosure/oracle_mlp.json").read_text())

    def test_the_digest_of_the_worked_example(self):
        example = json.loads((ROOT / "schemas/example/enclosure.json").read_text())
        self.assertEqual(enclosure.query_digest(example["query"]), example["answer"]["query"])
        self.assertIn(example["answer"]["query"], (ROOT / "schemas/SPEC.md").read_text())

    def test_answers_to_something_else_are_refused(self):
        edits = {
            "unary": [
                lambda q, a: a.update(func="tanh"),
                lambda q, a: q.update(func="tanh"),
                lambda q, a: q.update(func="gamma"),
                lambda q, a: a.update(status="error"),
                lambda q, a: a["input"].update(lo="1/4", hi="-3/2"),
                lambda q, a: a["input"].update(hi="1/5"),
                lambda q, a: a.pop("output"),
                lambda q, a: a["output"]["ball"].pop("rad"),
                lambda q, a: q.update(kind="ternary"),
                lambda q, a: q.update(lo="one"),
            ],
            "expr": [
                lambda q, a: q["vars"].pop("y"),
                lambda q, a: q["expr"].update(op="pow"),
                lambda q, a: q["expr"]["args"].pop(),
                lambda q, a: q.update(expr=[]),
            ],
            "mlp": [
                lambda q, a: q["layers"][0]["b"].pop(),
                lambda q, a: q["layers"][0]["W"][1].pop(),
                lambda q, a: q["layers"][0].update(act="gelu"),
                lambda q, a: a["output"].pop("vector"),
            ],
        }
        for name, changes in edits.items():
            for number, change in enumerate(changes):
                with self.subTest(name=name, number=number):
                    request, reply = copy.deepcopy(oracle(name))
                    change(request, reply)
                    with self.assertRaises(ValueError):
                        from_oracle(request, reply, 200)

    def test_a_deep_expression_is_walked(self):
        root = {"var": "x"}
        for _ in range(100_000):
            root = {"op": "neg", "args": [root]}
        request = {"kind": "expr", "vars": {"x": {"lo": "1", "hi": "1"}}, "expr": root}
        reply = {"status": "ok", "func": "expr", "output": {"ball": {"mid": "1", "rad": "0", "exp": "0"}}}
        self.assertEqual(len(from_oracle(request, reply)["query"]["nodes"]), 100_001)
        while "args" in root:  # the interpreter frees nested objects by recursion
            root = root.pop("args")[0]

    @NEEDS_BINARY
    def test_lies_that_only_the_kernel_sees(self):
        def precision(reply):
            reply["ctx"]["prec_bits"] = 400

        def negative(reply):
            reply["output"]["ball"]["rad"] = "-" + reply["output"]["ball"]["rad"]

        def half(reply):
            ball = reply["output"]["ball"]
            ball["rad"] = str(int(ball["rad"]) // 2)

        def beyond(reply):
            reply["ctx"]["prec_bits"] = 10**9

        with tempfile.TemporaryDirectory() as folder:
            for change, code in ((precision, "enclosure.answer"), (negative, "enclosure.answer"), (half, "enclosure.refuted"), (beyond, "limit.precision")):
                with self.subTest(change=change.__name__):
                    request, reply = oracle("unary")
                    change(reply)
                    self.assertEqual(check(from_oracle(request, reply, 200), folder)[0], code)
            request, reply = oracle("unary")
            request["lo"], request["hi"] = request["hi"], request["lo"]
            reply["input"]["lo"], reply["input"]["hi"] = reply["input"]["hi"], reply["input"]["lo"]
            self.assertEqual(check(from_oracle(request, reply, 200), folder)[0], "enclosure.query")


@NEEDS_ARB
@NEEDS_BINARY
class Arb(unittest.TestCase):
    def test_balls_come_back_as_they_went(self):
        """Arb → file → kernel → file → Arb, midpoint and radius exactly."""
        source, balls = random.Random(1), []
        expressions, outputs = Expressions(), []
        for bits in (53, 64, 200, 1000):
            flint.ctx.prec = bits
            for name in ("tanh", "exp", "sin", "log", "atan", "erf"):
                x = Fraction(source.randint(1, 10**6), 10**5)
                outputs.append(expressions.add(name, expressions.add("rational", numbers=(x,))))
                balls.append(getattr(flint.arb(flint.fmpq(x.numerator, x.denominator)), name)())
        query = expressions.query(outputs)
        with tempfile.TemporaryDirectory() as folder:
            code, report = check(certificate(query, answer(query, [arb_integers(ball) for ball in balls])), folder)
        self.assertEqual(code, "enclosure", report)
        for ball, value in zip(balls, report["values"], strict=True):
            self.assert_same(ball, value)

    def assert_same(self, ball, value):
        """The ball of a report is this one, to the last bit of midpoint and radius."""
        back = arb_of(value["mid"], value["rad"])
        self.assertEqual((back.mid().man_exp(), back.rad().man_exp()), (ball.mid().man_exp(), ball.rad().man_exp()))

    def test_balls_of_the_tool_come_back_as_arb_made_them(self):
        """Arb → answer → certificate → kernel → report → Arb, and Arb → answer → certificate → Arb."""
        source, expressions, outputs, made = random.Random(3), Expressions(), [], []
        bits = 113
        flint.ctx.prec = bits
        for name in ("tanh", "exp", "sin", "log", "atan", "erf", "gamma"):
            for _ in range(5):
                x = Fraction(source.randint(1, 10**6), 10**5)
                if name == "gamma":
                    outputs.append(expressions.add("mul", expressions.add("gamma"), expressions.add("rational", numbers=(x,))))
                    made.append(flint.arb.const_euler() * flint.arb(flint.fmpq(x.numerator, x.denominator)))
                else:
                    outputs.append(expressions.add(name, expressions.add("rational", numbers=(x,))))
                    made.append(getattr(flint.arb(flint.fmpq(x.numerator, x.denominator)), name)())
        with tempfile.TemporaryDirectory() as folder:
            claim = Path(folder) / "claim.json"
            done, report = ask(expressions.query(outputs, bits), folder, "-o", claim)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            written = json.loads(claim.read_text())["answer"]["values"]
        for ball, value, (m, e, r, f) in zip(made, report["values"], written, strict=True):
            self.assert_same(ball, value)
            self.assertEqual([(int(m), int(e)), (int(r), int(f))], [ball.mid().man_exp(), ball.rad().man_exp()])

    def test_every_function_of_the_tool_is_one_of_the_kernel(self):
        """At points, and on intervals on both sides of 0 and around it; where Arb has no ball, a function is not defined."""
        choices = {"power": [["-2/3"], ["3"], ["5/7"]], "elu": [["3/2"]], "celu": [["3/7"]], "selu": [["5/3", "21/20"]], "prelu": [["7/4"]]}
        choices |= {"hard_sigmoid": [["1/6", "1/2"]], "leaky_relu": [["1/100"]], "clip": [["-1/3", "3/4"]]}
        applied = [{"op": name, "args": [0], "numbers": numbers} for name in arb.FUNCTIONS for numbers in choices.get(name, [[]])]
        ranges = "1/3 1/3, 1/3 1/2, 0x1.8p-2 0x1.8p-2, -2/3 -1/5, -1/7 1/7, 0 5/6, 4 21/5, -21/5 -4"
        accepted = dict.fromkeys(arb.FUNCTIONS, 0)
        with tempfile.TemporaryDirectory() as folder:
            for ends in ranges.split(", "):
                for node in applied:
                    nodes = [{"op": "interval", "numbers": ends.split()}, node]
                    query = {"format": enclosure.QUERY, "precision": 100, "nodes": nodes, "outputs": [1]}
                    (ball,) = arb.values(query)
                    if ball.is_finite():
                        code, report = check(certificate(query, answer(query, [arb_integers(ball)]), 512), folder)
                        self.assertIn(code, ("enclosure", "enclosure.unproved", "enclosure.undefined"), (node, ends, report))
                        accepted[node["op"]] += code == "enclosure"
        total = len(applied) * len(ranges.split(", "))
        print(f"\nfunctions on intervals: {sum(accepted.values())} of {total} accepted")
        self.assertGreaterEqual(min(accepted.values()), 1, accepted)
        self.assertGreater(sum(accepted.values()), total * 3 // 4, accepted)

    def test_ten_thousand_in_one_process(self):
        source, expressions = random.Random(4), Expressions()
        points = [Fraction(source.randint(-5000, 5000), source.randint(1, 1000)) for _ in range(10_000)]
        query = expressions.query([expressions.add("tanh", expressions.add("rational", numbers=(x,))) for x in points], 64)
        with tempfile.TemporaryDirectory() as folder:
            started = Path(folder) / "started"
            script = 'echo x >> "$0"; exec "$1" -m certkern_oracles.arb'
            done, report = ask(query, folder, tool=["--tool", "sh", "--", "-c", script, started, sys.executable])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual((len(report["values"]), started.read_text()), (10_000, "x\n"))
            print(f"\nten thousand: {json.loads(done.stdout.splitlines()[0])['seconds']:.2f} s")

    def test_what_the_tool_refuses(self):
        """No query: status 2, and the complaint is shown. No ball: an answer that the kernel refuses."""
        with tempfile.TemporaryDirectory() as folder:
            done, report = ask({"format": "certkern.enclosure-query.v2", "nodes": [], "outputs": []}, folder)
            self.assertEqual((done.returncode, report), (2, None))
            self.assertIn("exit status: 2", done.stderr)
            self.assertIn("    the query cannot be answered: the format is 'certkern.enclosure-query.v2'", done.stderr)
            one, minus = {"op": "rational", "numbers": ["1"]}, {"op": "rational", "numbers": ["-1"]}
            undefined = {"format": enclosure.QUERY, "nodes": [minus, {"op": "log", "args": [0]}], "outputs": [1]}
            done, report = ask(undefined, folder)
            self.assertEqual((done.returncode, report["code"]), (2, "enclosure.answer"))
            self.assertIn("undefined", done.stdout)
            for node in ({"op": "logg", "args": [0]}, {"op": "log"}, {"op": "log", "args": [7]}, {"op": "elu", "args": [0], "numbers": ["x"]}):
                done, report = ask({"format": enclosure.QUERY, "nodes": [one, node], "outputs": [1]}, folder)
                self.assertEqual((done.returncode, report), (2, None), node)

    @unittest.skipUnless(shutil.which("python3"), "SKIPPED: no python3")
    def test_the_default_tool(self):
        query = {"format": enclosure.QUERY, "nodes": [{"op": "pi"}], "outputs": [0]}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "python3").symlink_to(sys.executable)
            modules = os.pathsep.join([str(ROOT / "oracles/python"), *sys.path])
            home = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": modules}
            path = Path(folder) / "query.json"
            path.write_text(json.dumps(query))
            done = subprocess.run([BINARY, "oracle", path, "--quiet"], capture_output=True, text=True, check=False, env=home)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, "^s ACCEPTED enclosure [0-9a-f]{64}\n$")

    def test_random_expressions(self):
        """A ball that misses Arb's value at a point of the intervals is never accepted; one around the value of a point is never refuted."""
        source, seen = random.Random(2), {}
        flint.ctx.prec = 400
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(150):
                expressions, outputs, value = self.expression(source)
                if not value.is_finite() or abs(value) > 10**40:
                    continue
                query = expressions.query(outputs)
                slack = flint.arb(10) ** source.randint(-60, 1)
                around = flint.arb(value.mid(), slack)
                beside = flint.arb(value.mid() + 2 * slack, slack / 2)
                for ball, never in ((around, "enclosure.refuted"), (beside, "enclosure")):
                    code, report = check(certificate(query, answer(query, [arb_integers(ball)]), 512), folder)
                    wide = any(node["op"] == "interval" for node in query["nodes"])
                    if never == "enclosure" or not wide:
                        self.assertNotEqual(code, never, report)
                    seen[code] = seen.get(code, 0) + 1
        print(f"\nrandom expressions: {seen}")
        self.assertGreater(min(seen.get("enclosure", 0), seen.get("enclosure.refuted", 0)), 30)

    def expression(self, source):
        """Some expression, its output, and Arb's value at a point of its intervals."""
        expressions, values = Expressions(), []
        add = expressions.add
        for _ in range(3):
            lo = Fraction(source.randint(-400, 400), source.randint(1, 300))
            width = Fraction(source.randint(0, 10) * source.randint(0, 1), 10 ** source.randint(0, 9))
            x = lo + width * Fraction(source.randint(0, 8), 8)
            place = add("interval", numbers=(lo, lo + width)) if width else add("rational", numbers=(lo,))
            values.append((place, flint.arb(flint.fmpq(x.numerator, x.denominator))))
        values += [(add("pi"), flint.arb.pi()), (add("gamma"), flint.arb.const_euler())]
        for _ in range(source.randint(2, 9)):
            (i, x), (j, y) = source.choice(values[-4:]), source.choice(values)
            op = source.choice(["add", "sub", "mul", "div", "neg", "exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "atan", "erf", "sinh", "power"])
            if op in ("exp", "sinh") and not abs(x) < 50:
                continue
            match op:
                case "add" | "sub" | "mul" | "div":
                    value = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}[op]
                    place = add(op, i, j)
                case "neg":
                    place, value = add(op, i), -x
                case "power":
                    n = source.randint(-3, 4)
                    place, value = add(op, i, numbers=(n,)), x**n
                case _:
                    place, value = add(op, i), getattr(x, op)()
            values.append((place, value))
        return expressions, [values[-1][0]], values[-1][1]


if __name__ == "__main__":
    unittest.main()
