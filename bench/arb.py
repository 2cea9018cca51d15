"""What Arb takes for the functions of the kernel, through python-flint, without what the calls through python-flint cost.

    arb.py      for each request on standard input, a JSON object on a line, one on standard output

A request is `{"function": name, "bits": b, "points": [["m", e], …]}` for points m·2^e, with `"values": true` where the balls are wanted too. The answer
has the processor seconds of a value (`arb_s`) and of a call (`call_s`), and the balls as `[m, e, r, f]` for m·2^e ± r·2^f. A call is measured as `x.mid()`, which
copies an exact number; a function that Arb has not is put together from what it has, and as many calls are subtracted as it makes."""

from __future__ import annotations

import json
import sys
import time
from fractions import Fraction

try:
    import flint
except ImportError:
    flint = None

FUNCTIONS = {
    "exp": ("x.exp()", 1),
    "expm1": ("x.expm1()", 1),
    "log": ("x.log()", 1),
    "log1p": ("x.log1p()", 1),
    "log2": ("x.log() / ln2()", 3),
    "sqrt": ("x.sqrt()", 1),
    "rsqrt": ("x.rsqrt()", 1),
    "inv": ("one / x", 1),
    "sin": ("x.sin()", 1),
    "cos": ("x.cos()", 1),
    "tan": ("x.tan()", 1),
    "asin": ("x.asin()", 1),
    "acos": ("x.acos()", 1),
    "atan": ("x.atan()", 1),
    "sinh": ("x.sinh()", 1),
    "cosh": ("x.cosh()", 1),
    "tanh": ("x.tanh()", 1),
    "asinh": ("x.asinh()", 1),
    "acosh": ("x.acosh()", 1),
    "atanh": ("x.atanh()", 1),
    "erf": ("x.erf()", 1),
    "erfc": ("x.erfc()", 1),
    "sigmoid": ("one / (one + (-x).exp())", 4),
    "softplus": ("x.exp().log1p()", 2),
    "silu": ("x / (one + (-x).exp())", 4),
    "gelu": ("x * (-x / two.sqrt()).erfc() / two", 6),
    "gelu_tanh": ("x / (one + (-(eight / pi()).sqrt() * (x + cubic * x**three)).exp())", 12),
    "mish": ("x * x.exp().log1p().tanh()", 4),
    "power 1/3": ("x**third", 1),
    "power -7/5": ("x**fractional", 1),
    "power 3": ("x**three", 1),
    "elu 3/2": ("alpha * x.expm1()", 2),
    "celu 3/7": ("beta * (x / beta).expm1()", 3),
    "selu 1673/1000 21/20": ("gamma * (delta * x.expm1())", 3),
}
"""By name and parameters: the value of `x`, and how many calls it makes. ELU and its like at negative arguments."""

ENOUGH = 0.002
"""Seconds that a measurement takes at least."""


def rational(text: str) -> flint.arb:
    value = Fraction(text)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def loop(body: str) -> callable:
    """A function that runs `body` for each point, so many times."""
    names = {"one": flint.arb(1), "two": flint.arb(2), "three": flint.arb(3), "eight": flint.arb(8), "ln2": flint.arb.const_log2, "pi": flint.arb.pi}
    numbers = {"cubic": "0.044715", "third": "1/3", "fractional": "-7/5", "alpha": "3/2", "beta": "3/7", "gamma": "21/20", "delta": "1673/1000"}
    names |= {name: rational(text) for name, text in numbers.items()}
    exec(f"def run(points, times):\n for _ in range(times):\n  for x in points:\n   {body}\n", names)
    return names["run"]


def seconds(body: str, points: list) -> float:
    """For one point."""
    run, times = loop(body), 1
    while True:
        start = time.process_time()
        run(points, times)
        spent = time.process_time() - start
        if spent >= ENOUGH:
            return spent / times / len(points)
        times *= 2


def answer(request: dict) -> dict:
    """One request."""
    flint.ctx.prec = request["bits"]
    points = [flint.arb(flint.arf((int(m), e))) for m, e in request["points"]]
    body, calls = FUNCTIONS[request["function"]]
    empty = seconds("pass", points)
    call = seconds("x.mid()", points) - empty
    found = {"arb_s": seconds(body, points) - empty - calls * call, "call_s": call}
    if request.get("values"):
        values = [eval(body, {"x": x}) for x in points]
        parts = [(*value.mid().man_exp(), *value.rad().man_exp()) for value in values]
        found["values"] = [[str(part) for part in ball] for ball in parts]
    return found


def main() -> None:
    for line in sys.stdin:
        found = {"unsupported": "python-flint is absent"} if flint is None else answer(json.loads(line))
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
