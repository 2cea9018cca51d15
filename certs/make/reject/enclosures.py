"""Cases of kind `enclosure`: lying answers, queries that mean nothing, values that are not defined."""

from __future__ import annotations

import json
from fractions import Fraction

from digests import query_digest
from reject.case import CERTS, Case, Maker, swapped

TANH, FUNCTIONS, RATIONAL, ORACLE = "tanh", "functions", "rational", "oracle_unary"


def enclosure(name: str) -> bytes:
    """An accepted enclosure."""
    return (CERTS / "accept" / "enclosure" / f"{name}.json").read_bytes()


def bound(document: bytes) -> bytes:
    """The same certificate with the digest of its query computed again."""
    numbers = json.loads(document, parse_float=Fraction, parse_int=Fraction)
    return swapped(document, numbers["answer"]["query"], query_digest(numbers["query"]))


def cases(make: Maker) -> None:
    """All cases of this module."""

    def case(code: str, name: str, sibling: str, old: str, new: str, words: str, *, again: bool = False) -> None:
        document = swapped(enclosure(sibling), old, new)
        words = f"{words}, bound again" if again else words
        content = bound(document) if again else document
        make.cases.append(Case(code, name, f"enclosure/{sibling}", words, content))

    bindings(case)
    words = "against an ONNX file, though there is no network in it"
    args = ("--onnx", "certs/dumps/small_relu/net.onnx")
    make.cases.append(Case("bundle.format", "enclosure_onnx", f"enclosure/{TANH}", words, enclosure(TANH), args))
    queries(case)
    answers(case)
    claims(case)
    domains(case)
    limits(case)


def bindings(case) -> None:
    """`bind.query`."""
    code = "bind.query"
    first = json.loads(enclosure(TANH))["query"]["nodes"][0]["numbers"][0]
    digest = json.loads(enclosure(TANH))["answer"]["query"]
    case(code, "other_function", FUNCTIONS, '"tanh"', '"sin"', "the query is for another function")
    case(code, "other_number", TANH, f'["{first}"]', f'["{Fraction(first) + Fraction(1, 10**9)}"]', "another argument")
    case(code, "outputs_swapped", FUNCTIONS, '"outputs": [8, 10,', '"outputs": [10, 8,', "two outputs swapped")
    case(code, "ends", ORACLE, '"-3/2", "1/4"', '"-3/2", "1/5"', "another upper end")
    case(code, "parameter", FUNCTIONS, '["1/3"]}', '["1/2"]}', "another exponent")
    case(code, "digest", TANH, digest, digest[:-1] + ("1" if digest[-1] == "0" else "0"), "the last digit of the digest")
    case(code, "zeros", TANH, digest, "0" * 64, "zeros for the digest")


def queries(case) -> None:
    """`enclosure.query`."""
    code = "enclosure.query"
    case(code, "swapped_ends", ORACLE, '"-3/2", "1/4"', '"1/4", "-3/2"', "the ends of an interval swapped")
    case(code, "itself", ORACLE, '"args": [0]', '"args": [1]', "a node that is its own argument")
    case(code, "later", FUNCTIONS, '"op": "mul", "args": [2, 3]', '"op": "mul", "args": [2, 7]', "an argument that is a later node")
    case(code, "unknown", ORACLE, '"sigmoid"', '"logistic"', "a function that is not known")
    case(code, "two_arguments", ORACLE, '"args": [0]', '"args": [0, 0]', "a function of two arguments")
    case(code, "number", ORACLE, '"args": [0]', '"args": [0], "numbers": ["1"]', "a number that the function does not take")
    case(code, "no_exponent", FUNCTIONS, ', "numbers": ["1/3"]', "", "a power without an exponent")
    case(code, "one_end", ORACLE, '"-3/2", "1/4"', '"-3/2"', "an interval with one end")
    case(code, "no_outputs", ORACLE, '"outputs": [1]', '"outputs": []', "no outputs")
    case(code, "output_beyond", ORACLE, '"outputs": [1]', '"outputs": [2]', "an output that is no node")
    case(code, "unused", ORACLE, '"outputs": [1]', '"outputs": [0]', "a node that no output uses")


def answers(case) -> None:
    """`enclosure.answer`."""
    code = "enclosure.answer"
    rad = json.loads(enclosure(TANH))["answer"]["values"][0][2]
    head, value = '"status": "ok",\n   "precision": 64', enclosure(TANH).decode().split('"values": [\n')[1].split(",\n")[0]
    case(code, "negative_radius", TANH, f'"{rad}"', f'"-{rad}"', "a radius below zero")
    case(code, "error_with_values", TANH, head, head.replace("ok", "error"), "the status `error` with values")
    case(code, "precision_more", TANH, head, head.replace("64", "128"), "more bits than were asked for")
    case(code, "precision_less", TANH, head, head.replace("64", "53"), "fewer bits than were asked for")
    case(code, "precision_none", TANH, head, '"status": "ok"', "no word of the bits that were asked for")
    case(code, "precision_unasked", FUNCTIONS, '"status": "ok"', head, "bits that were not asked for")
    case(code, "value_missing", TANH, f"{value},\n", "", "a value too few")
    case(code, "value_more", TANH, f"{value},\n", f"{value},\n{value},\n", "a value too many")
    case(code, "three_integers", TANH, f'"{rad}", ', "", "three of Arb's integers")


def claims(case) -> None:
    """`enclosure.refuted` and `enclosure.unproved`."""
    code = "enclosure.refuted"
    value = json.loads(enclosure(TANH))["answer"]["values"][0]
    half = [*value[:3], str(int(value[3]) - 1)]
    below = [str(int(value[0]) - 1), *value[1:]]
    case(code, "half_the_radius", TANH, _listed(value), _listed(half), "half the radius")
    case(code, "one_unit", TANH, _listed(value), _listed(below), "a midpoint of one unit less")
    mid = json.loads(enclosure(FUNCTIONS))["answer"]["values"][1]["mid"]
    case(code, "decimal_units", FUNCTIONS, mid, str(int(mid) + 3), "a midpoint of three units more, where the radius is two")
    case(code, "digit", FUNCTIONS, '"0.5204998', '"0.5204988', "one digit of a midpoint")
    case(code, "sign", FUNCTIONS, '"mid": "-11811', '"mid": "11811', "another sign")
    case(code, "half_a_range", ORACLE, '"rad": "1898', '"rad": "949', "half the radius of a range")
    case(code, "binary64", RATIONAL, '"-54767/66192"', '"1.1726039400531787"', "what binary64 gives for Rump's polynomial")
    less = Fraction(17, 140) - Fraction(1, 10**300)
    case(code, "by_a_hair", RATIONAL, '"17/140"', f'"{less}"', "a range that leaves its ball by 10^-300")
    case(code, "other_function", FUNCTIONS, '"erf"', '"sin"', "the value of erf for that of sin", again=True)
    code = "enclosure.unproved"
    case(code, "budget", FUNCTIONS, '"precision": 256', '"precision": 64', "64 bits for balls of 200 bits")
    same = '"op": "sub", "args": [26, 26]'
    case(code, "same_number_twice", RATIONAL, '"op": "mul", "args": [26, 27]', same, "x - x, whose range is wide", again=True)


def _listed(value: list[str]) -> str:
    """A ball by Arb's integers as it stands in a document."""
    return ", ".join(f'"{part}"' for part in value)


def domains(case) -> None:
    """`enclosure.undefined`."""
    code = "enclosure.undefined"
    for name, function, words in [
        ("log", "log", "the logarithm of an interval that holds zero"),
        ("sqrt", "sqrt", "the root of an interval that reaches below zero"),
        ("inverse", "inv", "the inverse of an interval that holds zero"),
    ]:
        case(code, name, ORACLE, '"sigmoid"', f'"{function}"', words, again=True)
    old, new = '"-3/2", "1/4"]},\n    {"op": "sigmoid"', '"3/2", "8/5"]},\n    {"op": "tan"'
    case(code, "pole", ORACLE, old, new, "tan across a pole", again=True)
    old, new = '"op": "div", "args": [0, 13]', '"op": "div", "args": [13, 1]'
    case(code, "division", FUNCTIONS, old, new, "a division by an interval that holds zero", again=True)
    old, new = '"op": "add", "args": [6, 0]', '"op": "sub", "args": [0, 6]'
    case(code, "log_below_zero", FUNCTIONS, old, new, "the logarithm of a negative number", again=True)
    case(code, "zero", RATIONAL, '["33096"]', '["0"]', "a division by zero", again=True)


def limits(case) -> None:
    """Budgets."""
    code = "limit.precision"
    case(code, "kernel", FUNCTIONS, '"precision": 256', '"precision": 1000000000', "10^9 bits for the kernel")
    old = '"precision": 64,\n   "nodes"'
    case(code, "query", TANH, old, old.replace("64", "1000000000"), "10^9 bits asked for")
    old = '"-3/2", "1/4"]},\n    {"op": "sigmoid", "args": [0]}],\n   "outputs": [1]'
    new = '"1e6", "2e6"]},\n    {"op": "exp", "args": [0]},\n    {"op": "exp", "args": [1]}],\n   "outputs": [2]'
    case("limit.magnitude", "exp_of_exp", ORACLE, old, new, "exp(exp(10^6))", again=True)
