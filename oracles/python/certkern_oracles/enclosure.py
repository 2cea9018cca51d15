"""Enclosures as `certkern check` reads them: from Arb balls, and from the request and answer files of TorchLean's Arb oracle.

    python -m certkern_oracles.enclosure request.json answer.json -o claim.json [--prec-bits N]

Nothing here is trusted: the kernel computes its own balls. What the answer says of itself (`func`, `input`, `ctx`) must agree with the request; its
decimal strings are not read, since its ball is the claim."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

QUERY, ANSWER, CERTIFICATE = "certkern.enclosure-query.v1", "certkern.enclosure-answer.v1", "certkern.enclosure.v1"
FUNCTIONS = {"tanh", "exp", "log", "sqrt", "sin", "cos", "sigmoid"}
ARITHMETIC = {"add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1}


class Unreadable(ValueError):
    """Request and answer are no claim."""


# ---- documents ----


class Expressions:
    """Nodes under way; equal nodes are one, but each interval is a number of its own."""

    def __init__(self) -> None:
        self.nodes: list[dict] = []
        self._known: dict[str, int] = {}

    def add(self, op: str, *args: int, numbers: tuple[Fraction | int | str, ...] = ()) -> int:
        """The place of a node."""
        node: dict = {"op": op}
        if args:
            node["args"] = list(args)
        if numbers:
            node["numbers"] = [str(number) for number in numbers]
        key = json.dumps(node)
        if op == "interval" or key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return self._known[key]

    def query(self, outputs: list[int], precision: int | None = None) -> dict:
        """The query for these nodes; nodes that none of them uses are left out."""
        used, stack = set(), list(outputs)
        while stack:
            place = stack.pop()
            if place not in used:
                used.add(place)
                stack += self.nodes[place].get("args", [])
        places = {old: new for new, old in enumerate(sorted(used))}
        nodes = [dict(self.nodes[old]) for old in places]
        for node in nodes:
            if "args" in node:
                node["args"] = [places[old] for old in node["args"]]
        asked = {} if precision is None else {"precision": precision}
        return {"format": QUERY, **asked, "nodes": nodes, "outputs": [places[old] for old in outputs]}


def answer(query: dict, values: list) -> dict:
    """The answer with these balls, bound to its query."""
    asked = {"precision": query["precision"]} if "precision" in query else {}
    return {"format": ANSWER, "query": query_digest(query), "status": "ok", **asked, "values": values}


def certificate(query: dict, its_answer: dict, precision: int | None = None) -> dict:
    """Query and answer in one document; `precision` is the most that the kernel computes with."""
    most = {} if precision is None else {"precision": precision}
    return {"format": CERTIFICATE, **most, "query": query, "answer": its_answer}


def text(document: dict) -> str:
    """A document with a node or a value on each line."""

    def listed(items: list) -> str:
        return "[\n" + ",\n".join("    " + json.dumps(item) for item in items) + "]"

    def part(name: str, long: str) -> str:
        members = [f'"{key}": {listed(value) if key == long else json.dumps(value)}' for key, value in document[name].items()]
        return f'"{name}": {{\n   ' + ",\n   ".join(members) + "}"

    head = [f'"{key}": {json.dumps(document[key])}' for key in ("format", "precision") if key in document]
    return "{" + ",\n ".join([*head, part("query", "nodes"), part("answer", "values")]) + "}\n"


# ---- digests (schemas/SPEC.md, sections 6 and 9) ----


def _u64(value: int) -> bytes:
    return value.to_bytes(8, "little")


def _str(value: str) -> bytes:
    return _u64(len(value.encode())) + value.encode()


def _int(value: int) -> bytes:
    size = (abs(value).bit_length() + 7) // 8
    return b"\0" if value == 0 else (b"\1" if value > 0 else b"\2") + _u64(size) + abs(value).to_bytes(size, "little")


def _rat(value: Fraction) -> bytes:
    return _int(value.numerator) + _int(value.denominator)


def _list(items: list[bytes]) -> bytes:
    return _u64(len(items)) + b"".join(items)


_HEXADECIMAL = re.compile(r"(-?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)")


def exact(value: str | int | Fraction) -> Fraction:
    """The number that a JSON number, kept as its text, or a string spells: a decimal, `p/q`, or C99 hexadecimal."""
    if match := _HEXADECIMAL.fullmatch(str(value)):
        sign, whole, rest, exponent = match.groups()
        return Fraction(int(sign + whole + rest, 16)) * Fraction(2) ** (int(exponent) - 4 * len(rest))
    return Fraction(str(value))


def query_digest(query: dict) -> str:
    """The digest of a query."""
    nodes = [
        _str(node["op"])
        + _list([_u64(place) for place in node.get("args", [])])
        + _list([_rat(exact(number)) for number in node.get("numbers", [])])
        for node in query["nodes"]
    ]
    data = _str("certkern/query/1") + _list(nodes) + _list([_u64(place) for place in query["outputs"]])
    return hashlib.sha256(data).hexdigest()


# ---- Arb ----


def arb_integers(x: arb) -> list[str]:
    """Arb's four integers: `m·2^e ± r·2^f`. As strings, since readers of JSON elsewhere round numbers."""
    if not x.is_finite():
        raise Unreadable(f"{x} is no ball")
    return [str(part) for part in (*x.mid().man_exp(), *x.rad().man_exp())]


def arb_of(mid: str, rad: str) -> arb:
    """The ball of a report, exactly. Midpoint and radius are `p/q` with a power of two for `q`, the radius with at most 30 bits, as Arb's are."""
    from flint import arb, arf, ctx, fmpz  # noqa: PLC0415

    def dyadic(number: Fraction) -> arb:
        if number.denominator & (number.denominator - 1):
            raise Unreadable(f"{number} is no dyadic number")
        return arb(arf((fmpz(number.numerator), fmpz(1 - number.denominator.bit_length()))))

    midpoint, radius = Fraction(mid), Fraction(rad)
    kept = ctx.prec
    ctx.prec = max(kept, midpoint.numerator.bit_length() + 2, 64)
    try:
        # The constructor cuts a radius to 30 bits and adds a unit: half a unit less comes out right.
        unit = Fraction(2) ** ((radius.numerator.bit_length() - 1) - (radius.denominator.bit_length() - 1) - 29)
        ball = arb(dyadic(midpoint), dyadic(max(radius - unit / 2, Fraction(0))))
        mantissa, exponent = (int(part) for part in ball.rad().man_exp())
    finally:
        ctx.prec = kept
    if mantissa * Fraction(2) ** exponent != radius:
        raise Unreadable(f"{rad} is no radius of Arb")
    return ball


# ---- the files of TorchLean's oracle ----


def _number(value: object) -> Fraction:
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError) as error:
        raise Unreadable(f"{value!r} is no number") from error


def _interval(ends: dict) -> tuple[Fraction, Fraction]:
    return _number(ends["lo"]), _number(ends["hi"])


def _leaf(expressions: Expressions, lo: Fraction, hi: Fraction) -> int:
    return expressions.add("rational", numbers=(lo,)) if lo == hi else expressions.add("interval", numbers=(lo, hi))


def _expression(expressions: Expressions, variables: dict[str, int], root: dict) -> int:
    """The place of an expression; the walk keeps its own stack, for expressions of any depth."""
    done: list[int] = []
    stack: list[tuple[dict, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if "var" in node:
            if node["var"] not in variables:
                raise Unreadable(f"the variable {node['var']!r} has no interval")
            done.append(variables[node["var"]])
        elif "const" in node:
            done.append(expressions.add("rational", numbers=(_number(node["const"]),)))
        elif ready:
            count = len(node["args"])
            arguments = [done.pop() for _ in range(count)][::-1]
            done.append(expressions.add(node["op"], *arguments))
        else:
            op, args = node.get("op"), node.get("args", [])
            if len(args) != (ARITHMETIC | dict.fromkeys(FUNCTIONS, 1)).get(op):
                raise Unreadable(f"{op!r} of {len(args)} arguments")
            stack.append((node, True))
            stack += [(argument, False) for argument in reversed(args)]
    return done.pop()


def _network(expressions: Expressions, request: dict) -> list[int]:
    """The outputs of a network of dense layers."""
    ends = request["input"]
    values = [_leaf(expressions, _number(lo), _number(hi)) for lo, hi in zip(ends["lo"], ends["hi"], strict=True)]
    for layer in request["layers"]:
        rows = []
        for row, bias in zip(layer["W"], layer["b"], strict=True):
            total = expressions.add("rational", numbers=(_number(bias),))
            for weight, value in zip(row, values, strict=True):
                factor = expressions.add("rational", numbers=(_number(weight),))
                total = expressions.add("add", total, expressions.add("mul", factor, value))
            rows.append(_activated(expressions, layer.get("act"), total))
        values = rows
    return values


def _activated(expressions: Expressions, name: str | None, place: int) -> int:
    if name in (None, "", "none", "id", "identity", "linear"):
        return place
    if name == "relu":
        return expressions.add("leaky_relu", place, numbers=(0,))
    if name not in FUNCTIONS:
        raise Unreadable(f"the activation {name!r} is not known")
    return expressions.add(name, place)


def from_oracle(request: dict, reply: dict, prec_bits: int | None = None) -> dict:
    """The certificate that a request and its answer are.

    A precision is part of it where the request, or `prec_bits`, says what was asked; the kernel wants the answer to state the same."""
    try:
        return _from_oracle(request, reply, prec_bits)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def _from_oracle(request: dict, reply: dict, prec_bits: int | None) -> dict:
    expressions, kind = Expressions(), request["kind"]
    if kind == "unary":
        if request["func"] not in FUNCTIONS:
            raise Unreadable(f"the function {request['func']!r} is not known")
        outputs = [expressions.add(request["func"], _leaf(expressions, *_interval(request)))]
    elif kind == "expr":
        variables = {name: _leaf(expressions, *_interval(ends)) for name, ends in request["vars"].items()}
        outputs = [_expression(expressions, variables, request["expr"])]
    elif kind == "mlp":
        outputs = _network(expressions, request)
    else:
        raise Unreadable(f"requests of kind {kind!r} are not known")
    if reply["status"] != "ok":
        raise Unreadable(f"the answer has the status {reply['status']!r}")
    if reply.get("func", request.get("func", kind)) != request.get("func", kind):
        raise Unreadable(f"the answer is to {reply['func']!r}")
    if kind == "unary" and _interval(reply["input"]) != _interval(request):
        raise Unreadable("the answer is about another interval")
    found = reply["output"]["vector"] if kind == "mlp" else [reply["output"]]
    values = [{key: str(value["ball"][key]) for key in ("mid", "rad", "exp")} for value in found]
    asked = request.get("prec_bits", prec_bits)
    query = expressions.query(outputs, asked)
    its_answer = answer(query, values)
    if asked is not None:
        its_answer["precision"] = reply["ctx"]["prec_bits"]
    return certificate(query, its_answer)


def main(arguments: list[str] | None = None) -> int:
    """Read two files, write one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("request", type=Path)
    parser.add_argument("answer", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--prec-bits", type=int, help="the precision that was asked for; the answer must state it")
    options = parser.parse_args(arguments)
    try:
        # Numbers stay the text that they are.
        request, reply = (
            json.loads(path.read_text(), parse_float=str, parse_int=int) for path in (options.request, options.answer)
        )
        document = from_oracle(request, reply, options.prec_bits)
    except (OSError, ValueError, RecursionError) as error:
        print(f"{options.answer}: {error}", file=sys.stderr)
        return 2
    options.output.write_text(text(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
