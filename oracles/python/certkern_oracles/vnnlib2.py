"""VNN-LIB 2.0 as VNN-LIB 1.0: elements of tensors become X_0, X_1, … and Y_0, Y_1, … in row-major order.

Untrusted; written from schemas/SPEC.md, section 3, to be held against the kernel's reader. The result is text for any reader of 1.0.
"""

from __future__ import annotations

import itertools
import re

VERSION = re.compile(r"\(\s*vnnlib-version\s+<2\.0>\s*\)")
TENSOR = re.compile(r"\(\s*declare-(input|output)\s+([A-Za-z]\w*)\s+Real\s*\[([\d\s,]*)\]\s*\)")
NETWORK = re.compile(rf"\(\s*declare-network\s+[A-Za-z]\w*((?:\s*{TENSOR.pattern})+)\s*\)")
ELEMENT = r"(?<![\w.])({names})(?:\s*\[([\d\s,]*)\])?(?![\w.\[])"


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of a list."""
    return tuple(int(number) for number in text.split(",")) if text.strip() else ()


def first_version(text: str) -> str:
    """The same property in the first version; what is not understood is a ValueError."""
    text = re.sub(r";[^\n\r]*", " ", text)
    version = VERSION.match(text.lstrip())
    network = NETWORK.search(text)
    if not version or not network:
        raise ValueError("no VNN-LIB 2.0 with one network of one input and its outputs")
    names: dict[tuple[str, tuple[int, ...]], str] = {}
    counts = {"X": 0, "Y": 0}
    for kind, name, shape in TENSOR.findall(network[1]):
        letter = "X" if kind == "input" else "Y"
        for index in itertools.product(*map(range, numbers(shape))):
            names[name, index] = f"{letter}_{counts[letter]}"
            counts[letter] += 1
    tensors = "|".join(sorted({re.escape(name) for name, _ in names}))

    def element(match: re.Match[str]) -> str:
        try:
            return names[match[1], numbers(match[2] or "")]
        except KeyError as error:
            raise ValueError(f"{match[0]} is no element") from error

    body = re.sub(ELEMENT.format(names=tensors), element, text[network.end() :])
    differs = re.compile(r"\(\s*!=\s+((?:[^()\s]+)|\([^()]*\))\s+((?:[^()\s]+)|\([^()]*\))\s*\)")
    body = differs.sub(r"(or (< \1 \2) (> \1 \2))", body)
    if "!=" in body:
        raise ValueError("`!=` of nested terms")
    declared = "".join(f"(declare-const {letter}_{i} Real)\n" for letter, count in counts.items() for i in range(count))
    return declared + body.replace("==", "=")
