"""Enclosures: digests, the files of TorchLean's oracle, Arb balls there and back, random expressions against Arb.

    python -m unittest tests.test_enclosure      (in oracles/python)

Comparisons with the built checker need `target/release/certkern`, or its path in CERTKERN; those with Arb need python-flint. Without them they are skipped.
"""

import copy
import json
import os
import random
import subprocess
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from certkern_oracles import enclosure
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
            back = arb_of(value["mid"], value["rad"])
            self.assertEqual((back.mid().man_exp(), back.rad().man_exp()), (ball.mid().man_exp(), ball.rad().man_exp()))

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
