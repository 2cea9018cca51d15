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


def rational(text):
    value = Fraction(text)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def normal(x):
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def gelu_tanh(x):
    return x * sigmoid((8 / flint.arb.pi()).sqrt() * (x + rational("0.044715") * x**3))


def mish(x):
    n = x.exp() * (x.exp() + 2)
    return x * n / (n + 2)


def below(x, left, right=lambda x: x):
    return left(x) if x < 0 else right(x)


def ramp(x, start, end, left, middle, right):
    return left(x) if x <= start else right(x) if x >= end else middle(x)


"""The functions by name and parameters. What Arb lacks is put together from what it has."""
FUNCTIONS = {
    "sqrt": lambda x: x.sqrt(),
    "rsqrt": lambda x: x.rsqrt(),
    "inv": lambda x: 1 / x,
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "log2": lambda x: x.log() / flint.arb.const_log2(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "asin": lambda x: x.asin(),
    "acos": lambda x: x.acos(),
    "atan": lambda x: x.atan(),
    "sinh": lambda x: x.sinh(),
    "cosh": lambda x: x.cosh(),
    "tanh": lambda x: x.tanh(),
    "asinh": lambda x: x.asinh(),
    "acosh": lambda x: x.acosh(),
    "atanh": lambda x: x.atanh(),
    "sigmoid": sigmoid,
    "softplus": lambda x: x.exp().log1p(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "gelu": lambda x: x * normal(x),
    "gelu_tanh": gelu_tanh,
    "silu": lambda x: x * sigmoid(x),
    "mish": mish,
    "softsign": lambda x: x / (1 + abs(x)),
    "power 3": lambda x: x**3,
    "power -2": lambda x: x**-2,
    "power 1/3": lambda x: x ** rational("1/3"),
    "power -7/5": lambda x: x ** rational("-7/5"),
    "elu 3/2": lambda x: below(x, lambda x: rational("3/2") * x.expm1()),
    "celu 3/7": lambda x: below(x, lambda x: rational("3/7") * (x / rational("3/7")).expm1()),
    "selu 1673/1000 21/20": lambda x: rational("21/20") * below(x, lambda x: rational("1.673") * x.expm1()),
    "leaky_relu 1/100": lambda x: below(x, lambda x: x / 100),
    "prelu 1/4": lambda x: below(x, lambda x: x / 4),
    "clip -1/2 3/4": lambda x: ramp(x, -0.5, 0.75, lambda _: rational("-1/2"), lambda x: x, lambda _: rational("3/4")),
    "hard_sigmoid 1/6 1/2": lambda x: ramp(x, -3, 3, lambda _: rational(0), lambda x: (x + 3) / 6, lambda _: rational(1)),
    "hard_swish": lambda x: ramp(x, -3, 3, lambda _: rational(0), lambda x: x * (x + 3) / 6, lambda x: x),
}
POSITIVE = {"sqrt", "rsqrt", "log", "log1p", "log2", "power", "acosh"}
CONSTANTS = {
    "pi": lambda: flint.arb.pi(),
    "e": lambda: flint.arb.const_e(),
    "ln2": lambda: flint.arb.const_log2(),
    "gamma": lambda: flint.arb.const_euler(),
}


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
                theirs = CONSTANTS[name]()
            else:
                x = flint.arb(flint.arf(at))
                self.assertTrue(x.is_exact())
                theirs = FUNCTIONS[name](x)
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
