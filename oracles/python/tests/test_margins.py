"""The room that true claims have, by which `tests/certmutants` shows that claims near them are true: the reference
accepts each claim with its margin added to the bounds of all rows about outputs.
"""

import json
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from certkern_oracles import reference
from certkern_oracles.mutate_edits import Case

ROOT = Path(__file__).resolve().parents[3]
# Its functions are not known to the reference; the claim with its margin is proved in tests/certmutants itself.
BEYOND = {"leaves/small_tanh"}


def strengthened(case, margin):
    """The case with its property as JSON, the margin added."""
    prop = case.read()[1]

    def row(r):
        x, y = ({str(i): str(c) for (side, i), c in r.terms if side == own} for own in "xy")
        return {"x": x, "y": y, "bound": str(r.bound + (margin if y else 0)), "strict": r.strict}

    document = {"format": "certkern.property.v1", "outputs": prop.outputs, "lower": [str(a) for a, _ in prop.box],
                "upper": [str(b) for _, b in prop.box], "unsafe": [[row(r) for r in rows] for rows in prop.unsafe]}  # fmt: skip
    manifest = case.manifest
    del case.files[manifest["files"]["property"]]
    manifest["files"]["property"] = "property.json"
    case.put_json("manifest", manifest)
    case.put_json("property", document)
    case.bind()
    return case


class Margins(unittest.TestCase):
    def test_claims_with_their_margins_are_proved(self):
        margins = json.loads((ROOT / "tests/certmutants/margins.json").read_text())
        self.assertGreaterEqual(len(margins), 5)
        for name, margin in margins.items():
            if name in BEYOND:
                print(f"{name}: functions that the reference does not know", file=sys.stderr)
                continue
            with self.subTest(case=name), tempfile.TemporaryDirectory() as place:
                case = strengthened(Case(ROOT / "certs/accept" / name), Fraction(margin))
                self.assertEqual(reference.check(case.write(place))[0], "leaves")

    def test_a_margin_that_is_too_large_is_refused(self):
        name = "leaves/small_relu"
        with tempfile.TemporaryDirectory() as place:
            case = strengthened(Case(ROOT / "certs/accept" / name), Fraction(1))
            with self.assertRaises(reference.Rejected):
                reference.check(case.write(place))


if __name__ == "__main__":
    unittest.main()
