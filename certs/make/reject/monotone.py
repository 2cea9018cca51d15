"""Cases of kind `monotone`: networks that fall somewhere, or that are not known to rise."""

from __future__ import annotations

from reject.case import CERTS, Case, Maker, swapped

SIBLING = "torchlean"


def cases(make: Maker) -> None:
    """All cases of this module."""
    document = (CERTS / "accept" / "monotone" / f"{SIBLING}.json").read_bytes()
    weight = document.split(b'"weight":[["')[2].split(b'"')[0]
    old = b'"weight":[["' + weight + b'"'

    def case(code: str, name: str, old: bytes, new: bytes, words: str) -> None:
        make.cases.append(Case(code, name, f"monotone/{SIBLING}", words, swapped(document, old, new)))

    case("monotone.unproved", "weight", old, b'"weight":[["-1/1000000"', "a weight below zero")
    case("monotone.unproved", "function", b'"kind":"relu"', b'"kind":"sin"', "a function that rises and falls")
    case("json.unknown-key", "monotone_inputs", b'"format":"certkern.monotone.v1"', b'"format":"certkern.monotone.v1","inputs":[0]', "inputs of its own choice")
    case("json.type", "monotone_exact", b'"format":"certkern.ir.v1"', b'"format":"torchlean.ir.v1"', "exact numbers in the smaller language")
