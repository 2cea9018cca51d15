"""Enclosures of the kernel's elementary functions against Arb's, through python-flint, at random points.

The kernel's balls come from the example `enclose` of `certkern-core`. Two balls around one number are never disjoint, and the kernel's is at most four
times as wide as Arb's, unless both are far narrower than a unit in the last place.
"""

import random
import shutil
import subprocess
import sys
import unittest
from fractions import Fraction
from pathlib import Path

from certkern_oracles import arb

ROOT = Path(__file__).resolve().parents[3]
PRECISIONS = (53, 200, 1000)
"""Of each function at each precision."""
POINTS = 900
"""Where neither ball is wider than this part of a unit in the last place, Arb may be the narrower one by any factor."""
FINE = 4

try:
    import flint
except ImportError:
    flint = None


"""The functions by name and numbers."""
FUNCTIONS = """
    sqrt, rsqrt, inv, exp, expm1, log, log1p, log2, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, sigmoid, softplus,
    erf, erfc, gelu, gelu_tanh, silu, mish, softsign, power 3, power -2, power 1/3, power -7/5, elu 3/2, celu 3/7, selu 1673/1000 21/20,
    leaky_relu 1/100, prelu 1/4, clip -1/2 3/4, hard_sigmoid 1/6 1/2, hard_swish
"""
FUNCTIONS = [name.strip() for name in FUNCTIONS.split(",")]
POSITIVE = {"sqrt", "rsqrt", "log", "log1p", "log2", "power", "acosh"}
CONSTANTS = ["pi", "e", "ln2", "gamma"]


def point(source, name, bits):
    """`(mantissa, exponent)` of a number in the domain: short and long, mostly below 8 in magnitude, some much smaller, some up to 256."""
    length = source.choice([20, bits, bits])
    mantissa = source.getrandbits(length) | 1
    near = source.choice([0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 3])
    exponent = source.choice([near, near, near, -source.randrange(20), source.randrange(8)]) - length
    size = exponent + mantissa.bit_length()
    if name in ("asin", "acos", "atanh"):
        exponent -= max(size, 0)
    if name == "acosh":
        exponent += max(1 - size, 0)
    return (mantissa if name in POSITIVE else source.choice([1, -1]) * mantissa), exponent


def parts(ball):
    (m, e), (r, f) = ball.mid().man_exp(), ball.rad().man_exp()
    return int(m), int(e), int(r), int(f)


@unittest.skipIf(flint is None, "SKIPPED: python-flint is absent")
@unittest.skipIf(shutil.which("cargo") is None, "SKIPPED: cargo is absent")
class Enclosures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        source = random.Random(20240101)
        cls.cases = [(name, bits, point(source, name.split()[0], bits)) for name in FUNCTIONS for bits in PRECISIONS for _ in range(POINTS)]
        cls.cases += [(name, bits, None) for name in CONSTANTS for bits in (*PRECISIONS, 4000)]
        command = ["cargo", "run", "--quiet", "--package", "certkern-core", "--example", "enclose"]
        lines = []
        for name, bits, at in cls.cases:
            words = name.split()
            lines.append(" ".join(map(str, [words[0], bits, *(at or ()), *words[1:]])) + "\n")
        made = subprocess.run(command, cwd=ROOT, input="".join(lines), capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError(made.stderr)
        cls.balls = made.stdout.splitlines()

    def setUp(self):
        self.precision = flint.ctx.prec

    def tearDown(self):
        flint.ctx.prec = self.precision

    def test_balls_meet_those_of_arb_and_are_as_narrow(self):
        self.assertEqual(len(self.balls), len(self.cases))
        self.assertGreater(len(self.cases), 100_000)
        for (name, bits, at), line in zip(self.cases, self.balls, strict=True):
            flint.ctx.prec = bits
            if at is None:
                theirs = arb.LEAVES[name]()
            else:
                x = flint.arb(flint.arf(at))
                self.assertTrue(x.is_exact())
                words = name.split()
                theirs = arb.FUNCTIONS[words[0]](x, *map(Fraction, words[1:]))
            if not theirs.is_finite():
                continue
            case = (name, bits, at)
            self.assertEqual(len(line.split()), 4, (case, line))
            (m, e, r, f), (n, g, s, h) = map(int, line.split()), parts(theirs)
            low = min(e, f, g, h)
            m, r, n, s = m << (e - low), r << (f - low), n << (g - low), s << (h - low)
            self.assertLessEqual(abs(m - n), r + s, (case, "disjoint"))
            # From end to end at most 4 units of 2^-bits.
            self.assertLessEqual(2 * r << bits, 4 * abs(m), (case, "wide"))
            if r << (bits + FINE) > abs(m):
                self.assertLessEqual(r, 4 * s, (case, "wider than Arb's"))


if __name__ == "__main__":
    sys.exit(unittest.main())
