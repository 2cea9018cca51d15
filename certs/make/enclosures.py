"""Accepted certificates of kind `enclosure`, and files as TorchLean's Arb oracle writes them; needs python-flint.

`python3 certs/make/enclosures.py OUT FILES` writes the certificates to OUT and the files of the oracle to FILES.
`python3 certs/make/enclosures.py --tanh N OUT.json` writes N claims on tanh at 64 bits, to measure how fast they are checked."""

from __future__ import annotations

import json
import random
import sys
from fractions import Fraction
from pathlib import Path

from flint import arb, ctx

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "oracles" / "python"))

from certkern_oracles.arb import hull, number  # noqa: E402
from certkern_oracles.enclosure import (  # noqa: E402
    Expressions,
    answer,
    arb_integers,
    certificate,
    from_oracle,
    text,
)

DIGITS = 50


def applied(name: str, lo: Fraction, hi: Fraction) -> arb:
    """A function on an interval: the union of the ends where it is monotone, else the ball of the interval."""
    if name == "sigmoid":
        return applied("tanh", lo / 2, hi / 2) / 2 + arb(1) / 2
    if name in ("sin", "cos"):
        return getattr(hull(lo, hi), name)()
    return getattr(number(lo), name)().union(getattr(number(hi), name)())


def tanh(count: int, seed: int) -> dict:
    """Claims on tanh at 64 bits. At 1/4 half of Arb's radius is too little, and a midpoint of one unit less is wrong; of the other arguments about
    half are binary64 numbers and half are fractions."""
    ctx.prec = 64
    source, expressions = random.Random(seed), Expressions()
    outputs, values = [], []
    for place in range(count):
        exact = source.random() < 0.5
        x = Fraction(source.uniform(-5, 5)) if exact else Fraction(source.randint(-5000, 5000), source.randint(1, 1000))
        x = x if place else Fraction(1, 4)
        outputs.append(expressions.add("tanh", expressions.add("rational", numbers=(x,))))
        values.append(arb_integers(number(x).tanh()))
    query = expressions.query(outputs, 64)
    return certificate(query, answer(query, values))


def ten(x: arb) -> dict[str, str]:
    """Three decimal integers."""
    mid, rad, exp = x.mid_rad_10exp(DIGITS)
    return {"mid": str(mid), "rad": str(rad), "exp": str(exp)}


def functions() -> dict:
    """Functions, constants and an interval, with balls in all spellings."""
    ctx.prec = 200
    expressions = Expressions()
    add = expressions.add
    half, x = add("rational", numbers=(Fraction(1, 2),)), add("interval", numbers=(Fraction(-1, 3), Fraction(5, 7)))
    pi, e, ln2, gamma = (add(name) for name in ("pi", "e", "ln2", "gamma"))
    logarithm = add("log", add("add", add("mul", pi, e), half))
    root = add("power", add("mul", ln2, gamma), numbers=(Fraction(1, 3),))
    outputs = [logarithm, root, add("tanh", x), add("erf", half), add("neg", add("div", half, add("sub", pi, e)))]
    balls = [
        arb_integers((arb.pi() * arb(1).exp() + arb(1) / 2).log()),
        ten((arb.const_log2() * arb.const_euler()).root(3)),
        arb_integers(applied("tanh", Fraction(-1, 3), Fraction(5, 7))),
        {"mid": "0.5204998778130465376827466538919645287", "rad": "1/10000000000000000000000000000000000000"},
        ten(-(arb(1) / 2) / (arb.pi() - arb(1).exp())),
    ]
    query = expressions.query(outputs)
    return certificate(query, answer(query, balls), 256)


def rational() -> dict:
    """Rump's polynomial, and ranges that touch the ends of their balls; the kernel needs no ball for them."""
    expressions = Expressions()
    add = expressions.add

    def rat(value: str) -> int:
        return add("rational", numbers=(Fraction(value),))

    def power(place: int, exponent: int) -> int:
        return add("power", place, numbers=(exponent,))

    a, b = rat("77617"), rat("33096")
    a2, b6 = power(a, 2), power(b, 6)
    inner = add("sub", add("mul", rat("11"), add("mul", a2, power(b, 2))), b6)
    inner = add("sub", add("sub", inner, add("mul", rat("121"), power(b, 4))), rat("2"))
    rump = add("add", add("mul", rat("333.75"), b6), add("mul", a2, inner))
    rump = add("add", rump, add("mul", rat("5.5"), power(b, 8)))
    rump = add("add", rump, add("div", a, add("mul", rat("2"), b)))
    x = add("interval", numbers=(Fraction(1, 3), Fraction(1, 2)))
    y = add("interval", numbers=(Fraction(-1, 5), Fraction(2, 7)))
    values = [{"mid": "-54767/66192", "rad": 0}, {"mid": "3/140", "rad": "17/140"}, {"mid": "1/7", "rad": "1/7"}]
    query = expressions.query([rump, add("mul", x, y), add("leaky_relu", y, numbers=(0,))])
    return certificate(query, answer(query, values))


def reply(func: str, x: arb | None, ends: dict | None, y: list[arb], vector: bool) -> dict:
    """An answer in the form of the oracle."""
    balls = [{"ball": ten(ball), "lo": ball.lower().str(DIGITS, radius=False), "hi": ball.upper().str(DIGITS, radius=False)} for ball in y]
    known = {"input": {**ends, "ball": ten(x)}} if x is not None else {}
    return {
        "status": "ok",
        "tool": "arb_oracle",
        "func": func,
        "ctx": {"prec_bits": ctx.prec, "digits": DIGITS},
        **known,
        "output": {"vector": balls} if vector else balls[0],
    }


def oracle() -> dict[str, tuple[dict, dict]]:
    """Requests and answers."""
    ctx.prec = 200
    unary = {"kind": "unary", "func": "sigmoid", "lo": "-3/2", "hi": "1/4"}
    lo, hi = Fraction(-3, 2), Fraction(1, 4)
    cases = {"unary": (unary, reply("sigmoid", hull(lo, hi), {"lo": "-3/2", "hi": "1/4"}, [applied("sigmoid", lo, hi)], vector=False))}
    # exp(-x·y)/(1 + x·x)
    product = {"op": "mul", "args": [{"var": "x"}, {"var": "y"}]}
    square = {"op": "mul", "args": [{"var": "x"}, {"var": "x"}]}
    expr = {
        "kind": "expr",
        "vars": {"x": {"lo": "1/10", "hi": "3/10"}, "y": {"lo": "2", "hi": "2"}},
        "expr": {
            "op": "div",
            "args": [{"op": "exp", "args": [{"op": "neg", "args": [product]}]}, {"op": "add", "args": [{"const": "1.0"}, square]}],
        },
    }
    x, y = hull(Fraction(1, 10), Fraction(3, 10)), arb(2)
    cases["expr"] = (expr, reply("expr", None, None, [(-(x * y)).exp() / (1 + x * x)], vector=False))
    mlp = {
        "kind": "mlp",
        "input": {"lo": ["-0.1", "0.4"], "hi": ["0.1", "0.5"]},
        "layers": [
            {"W": [["0.5", "-1.25"], ["1", "0.75"], ["-0.3", "0.2"]], "b": ["0.1", "0", "-0.7"], "act": "relu"},
            {"W": [["1", "-1", "0.5"], ["0.25", "2", "1"]], "b": ["0.05", "-0.2"], "act": "tanh"},
        ],
    }
    cases["mlp"] = (mlp, reply("mlp", None, None, network(mlp), vector=True))
    return cases


def network(mlp: dict) -> list[arb]:
    """The outputs in exact intervals, up to the last function."""
    ends = [(Fraction(lo), Fraction(hi)) for lo, hi in zip(mlp["input"]["lo"], mlp["input"]["hi"], strict=True)]
    for layer in mlp["layers"]:
        sums = []
        for row, bias in zip(layer["W"], layer["b"], strict=True):
            products = [sorted((Fraction(w) * lo, Fraction(w) * hi)) for w, (lo, hi) in zip(row, ends, strict=True)]
            sums.append((sum((p[0] for p in products), Fraction(bias)), sum((p[1] for p in products), Fraction(bias))))
        if layer["act"] == "tanh":
            return [applied("tanh", lo, hi) for lo, hi in sums]
        ends = [(max(lo, Fraction(0)), max(hi, Fraction(0))) for lo, hi in sums]
    raise ValueError("the last layer has no tanh")


def main(arguments: list[str]) -> None:
    """Write everything, or one large file."""
    if arguments[0] == "--tanh":
        Path(arguments[2]).write_text(text(tanh(int(arguments[1]), 5)))
        return
    out, files = map(Path, arguments)
    documents = {"tanh": tanh(12, 3), "functions": functions(), "rational": rational()}
    for name, (request, its_answer) in oracle().items():
        documents[f"oracle_{name}"] = from_oracle(request, its_answer, 200)
        files.mkdir(parents=True, exist_ok=True)
        for part, document in (("request", request), ("answer", its_answer)):
            (files / f"{name}.{part}.json").write_text(json.dumps(document, indent=1) + "\n")
    out.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        (out / f"{name}.json").write_text(text(document))


if __name__ == "__main__":
    main(sys.argv[1:])
