"""Answers to queries of enclosures by Arb, through python-flint: the default tool of `certkern oracle`.

    python3 -m certkern_oracles.arb < query.json > answer.json

One process answers all outputs of a query. Nothing here is trusted: the kernel computes its own balls. Standard output is the answer and nothing
else; where there is no query to answer, it stays empty and the status is 2. An output that Arb cannot enclose makes an answer with the status
`undefined`, which the kernel refuses.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

from certkern_oracles.enclosure import QUERY, Unreadable, answer, arb_integers, exact

try:
    import flint
except ImportError:
    flint = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from flint import arb

PRECISION = 64
"""Bits, where a query asks for none."""


# ---- the functions of the kernel; what Arb lacks is put together from what it has ----


def number(value: Fraction) -> arb:
    """A ball around a rational."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def hull(lower: Fraction, upper: Fraction) -> arb:
    """A ball around an interval."""
    return number(lower).union(number(upper))


def _sigmoid(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


def _gelu(x: arb) -> arb:
    return x * (-x / flint.arb(2).sqrt()).erfc() / 2


def _gelu_tanh(x: arb) -> arb:
    return x * _sigmoid((8 / flint.arb.pi()).sqrt() * (x + number(Fraction("0.044715")) * x**3))


def _mish(x: arb) -> arb:
    n = x.exp() * (x.exp() + 2)
    return x * n / (n + 2)


def _joined(x: arb, left: Callable[[arb], arb]) -> arb:
    """`left` below 0, and `x` itself from there on."""
    if x < 0:
        return left(x)
    if x >= 0:
        return x
    zero = flint.arb(0)
    return left(x.lower().union(zero)).union(zero.union(x.upper()))


def _clipped(x: arb, low: arb, high: arb) -> arb:
    return x.max(low).min(high)


def _power(x: arb, exponent: Fraction) -> arb:
    if exponent.denominator == 1:
        return x ** int(exponent)
    if exponent > 0 and x.contains(0):
        # The root of what lies at 0 or above; Arb has none where the ball reaches below.
        upper = x.upper()
        return flint.arb(0).union(upper ** number(exponent)) if upper > 0 else flint.arb(0)
    return x ** number(exponent)


FUNCTIONS: dict[str, Callable[..., arb]] = {
    "sqrt": lambda x: x.sqrt() if x > 0 else _power(x, Fraction(1, 2)),
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
    "sigmoid": _sigmoid,
    "softplus": lambda x: x.exp().log1p(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "silu": lambda x: x * _sigmoid(x),
    "mish": _mish,
    "softsign": lambda x: x / (1 + abs(x)),
    "power": _power,
    "elu": lambda x, alpha: _joined(x, lambda x: number(alpha) * x.expm1()),
    "celu": lambda x, alpha: _joined(x, lambda x: number(alpha) * (x / number(alpha)).expm1()),
    "selu": lambda x, alpha, gamma: number(gamma) * _joined(x, lambda x: number(alpha) * x.expm1()),
    "leaky_relu": lambda x, slope: _joined(x, lambda x: number(slope) * x),
    "prelu": lambda x, slope: _joined(x, lambda x: number(slope) * x),
    "clip": lambda x, low, high: _clipped(x, number(low), number(high)),
    "hard_sigmoid": lambda x, alpha, beta: _clipped(number(alpha) * x + number(beta), flint.arb(0), flint.arb(1)),
    "hard_swish": lambda x: x * _clipped(x + 3, flint.arb(0), flint.arb(6)) / 6,
}
"""By name: of a ball and the numbers of the node."""

LEAVES: dict[str, Callable[..., arb]] = {
    "rational": number,
    "interval": hull,
    "pi": lambda: flint.arb.pi(),
    "e": lambda: flint.arb.const_e(),
    "ln2": lambda: flint.arb.const_log2(),
    "gamma": lambda: flint.arb.const_euler(),
}
"""Without arguments, by name: of the numbers of the node."""

ARITHMETIC: dict[str, Callable[..., arb]] = {
    "neg": lambda x: -x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}

OPERATIONS = FUNCTIONS | LEAVES | ARITHMETIC


# ---- queries ----


def values(query: dict) -> list[arb]:
    """A ball for each output of a query, by Arb's operations in the precision that is asked for."""
    kept = flint.ctx.prec
    flint.ctx.prec = max(query.get("precision", PRECISION), 2)
    try:
        found: list[arb] = []
        for node in query["nodes"]:
            arguments = [found[place] for place in node.get("args", [])]
            found.append(OPERATIONS[node["op"]](*arguments, *map(exact, node.get("numbers", []))))
        return [found[place] for place in query["outputs"]]
    finally:
        flint.ctx.prec = kept


def answered(query: dict) -> dict:
    """The answer to a query.

    Its status is `undefined` where Arb has no ball for an output: outside the domain of a function, or too wide."""
    try:
        if query["format"] != QUERY:
            raise Unreadable(f"the format is {query['format']!r}, not {QUERY}")
        balls = values(query)
        if all(ball.is_finite() for ball in balls):
            return answer(query, [arb_integers(ball) for ball in balls])
        return answer(query, []) | {"status": "undefined"}
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def main() -> int:
    """From standard input to standard output."""
    if flint is None:
        print("python-flint is absent: pip install 'oracles/python[arb]', or name another interpreter", file=sys.stderr)
        return 1
    sys.set_int_max_str_digits(0)
    try:
        # Numbers stay the text that they are.
        reply = answered(json.loads(sys.stdin.buffer.read(), parse_float=str, parse_int=int))
    except (ValueError, ArithmeticError, RecursionError) as error:
        print(f"the query cannot be answered: {error}", file=sys.stderr)
        return 2
    json.dump(reply, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
