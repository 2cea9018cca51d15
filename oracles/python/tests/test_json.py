"""Every document that the kernel's JSON reader accepts, Python's json accepts with the same value: exact numbers, strings, order and names of
members. The documents are those of the repository, the JSON test suite, and seeded mutants of both.

The kernel's values come from the example `json` of `certkern-wire`. SEED in the environment changes the mutants.
"""

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import unittest
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SUITE = ROOT / "../shared/data/jsontestsuite/test_parsing"
SEED = os.environ.get("SEED", "1")
MUTANTS = 20_000
LONGEST = 1500
"""Longer documents are read as they are and not mutated."""
# What other readers take for JSON, or trip over.
PARTS = [b"NaN", b"Infinity", b"-Infinity", b"1.", b".5", b"01", b"+1", b"-", b"1e", b"1e5", b"1E+2", b"-0", b"-0.0", b"1e-1100", b"1e1100", b"1e1101",
         b"9" * 400, b"0." + b"3" * 60, b"0x10", b"1_000", b"'a'", b"\"\\ud834\\udd1e\"", b"\"\\ud800\"", b"\"\\udc00\\ud800\"", b"\"\\u0000\"", b"\"\xc3\xa9\"",
         b"\"\xc3\"", b"\"\xed\xa0\x80\"", b"\"\x7f\"", b"\"\t\"", b"\"\\/\\b\\f\"", b"\"\\x41\"", b"\xef\xbb\xbf", b"\x00", b"\x0c", b"\x0b", b"\xc2\xa0", b"/**/", b"//\n",
         b",", b",,", b"[]", b"{}", b"[", b"]", b"}", b"null", b"nul", b"True", b"{\"a\":1,\"a\":2}", b"{\"a\":1,\"\\u0061\":2}", b"\"a\":1", b":", b" ", b"\r\n"]  # fmt: skip


def repository():
    """The JSON documents of the repository, and the headers of its safetensors files."""
    for folder in ("certs", "schemas", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix == ".json" and path.stat().st_size < 20_000:
                yield path.read_bytes()
            if path.suffix == ".safetensors":
                data = path.read_bytes()
                length = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else 0
                if 0 < length < 20_000:
                    yield data[8 : 8 + length]


def mutants(documents, rng):
    short = [document for document in documents if len(document) <= LONGEST]
    for _ in range(MUTANTS):
        data = bytearray(rng.choice(short))
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(data) + 1)
            end = min(len(data), at + rng.randrange(6))
            way = rng.randrange(6)
            if way < 3:
                data[at : end if way else at] = rng.choice(PARTS)
            elif way == 3:
                del data[at:end]
            elif way == 4:
                data[at:at] = data[at:end]
            elif at < len(data):
                data[at] ^= 1 << rng.randrange(8)
        yield bytes(data)


class Repeated(Exception):
    """A name that stands twice in an object."""


def members(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Repeated
    return dict(pairs)


def other(constant):
    raise ValueError(f"{constant} is no JSON")


def number(text):
    """Exactly; zero for an exponent that no document may have, which would take forever."""
    exponent = text.lower().partition("e")[2]
    return Fraction(Decimal(text)) if not exponent or abs(int(exponent)) < 3000 else Fraction(0)


def read(data):
    """The value by Python's json, strict: no NaN, no name twice, UTF-8 alone."""
    return json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_int=Fraction, parse_constant=other,
                      parse_float=number)  # fmt: skip


def shown(value):
    """As the example writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, str):
        return '"' + value.encode("utf-8").hex()
    if isinstance(value, list):
        return "[" + ",".join(map(shown, value)) + "]"
    return "{" + ",".join(f"{shown(key)}:{shown(item)}" for key, item in value.items()) + "}"


def kernel(documents):
    command = ["cargo", "run", "--quiet", "--package", "certkern-wire", "--example", "json"]
    lines = "".join(document.hex() + "\n" for document in documents)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.splitlines()


@unittest.skipIf(shutil.which("cargo") is None, "SKIPPED: no cargo")
class Json(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rng = random.Random(SEED)
        documents = list(dict.fromkeys(repository()))
        if SUITE.is_dir():
            documents += [path.read_bytes() for path in sorted(SUITE.glob("*.json"))]
        else:
            print("SKIPPED: ../shared is absent", file=sys.stderr)
        cls.originals = len(documents)
        made = dict.fromkeys(mutants(documents, rng))
        cls.documents = documents + list(made)
        cls.kernel = kernel(cls.documents)

    def test_what_is_accepted_has_the_same_value(self):
        self.assertEqual(len(self.kernel), len(self.documents))
        accepted = [0, 0]
        for place, (document, found) in enumerate(zip(self.documents, self.kernel)):
            if found.startswith("refused "):
                continue
            accepted[place >= self.originals] += 1
            with self.subTest(document=document[:200]):
                self.assertEqual(found, shown(read(document)))
        print(f"\n{self.originals} documents, {accepted[0]} accepted; {len(self.documents) - self.originals} mutants, {accepted[1]} accepted", file=sys.stderr)
        self.assertGreater(accepted[0], 500)
        self.assertGreater(accepted[1], 3000)

    def test_what_python_reads_is_refused_for_a_reason_alone(self):
        """A budget, or a lone half of a surrogate pair."""
        reasons = {}
        for document, found in zip(self.documents, self.kernel):
            if not found.startswith("refused "):
                continue
            try:
                read(document)
            except (ValueError, Repeated, RecursionError):
                continue
            reasons.setdefault(found.split(" ")[1], document)
        self.assertLessEqual(set(reasons), {"json.encoding", "limit.digits", "limit.exponent", "limit.json-depth"}, reasons)
        self.assertIn("limit.exponent", reasons)

    def test_a_difference_is_seen(self):
        self.assertNotEqual(shown(read(b"[0.1]")), shown([Fraction(0.1)]))
        self.assertNotEqual(shown(read(b'{"a":1,"b":2}')), shown(read(b'{"b":2,"a":1}')))
        self.assertRaises(Repeated, read, b'{"a":1,"\\u0061":2}')
        self.assertRaises(ValueError, read, b"[NaN]")


if __name__ == "__main__":
    unittest.main()
