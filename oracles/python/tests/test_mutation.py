"""Mutants of every accepted case: the reference and the built checker must say the same of each.

Needs `target/release/certkern`, or its path in CERTKERN; without it the tests are skipped. SEED in the environment
changes the mutants; `python -m certkern_oracles.mutate` makes more of them.
"""

import collections
import os
import random
import sys
import time
import unittest
from pathlib import Path

from certkern_oracles import mutate, reference
from certkern_oracles.mutate import ACCEPTED, FAMILIES, LIMIT, MALFORMED, UNPROVED, UNSUPPORTED
from certkern_oracles.mutate_edits import Case
from certkern_oracles.reference_read import Rejected

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("CERTKERN", ROOT / "target/release/certkern"))
SEED = os.environ.get("SEED", "1")
SMALL = 2000  # tree nodes times bytes of payload: every family
MOST = 60  # seconds for all mutants; what is left out is counted
# Larger cases get one mutant of these, whose accepted and unproved ones cost the reference seconds.
SAMPLED = ("hint.slope-end", "hint.exchanged", "tree.threshold-ulp", "tree.child-order", "payload.ulp", "row.bound")
# … and of every family of which no mutant may be accepted: the reference refuses those before any leaf.
REFUSED = tuple(name for name, family in FAMILIES.items() if family.holds is None)

# Where a mutant has two faults, the code is that of the one met first; (reference, built checker): what they are.
TWO_FAULTS = {
    ("json.unknown-key", "graph.attribute"): "the attributes of the old operator, one missing of the new",
    ("json.unknown-key", "graph.input"): "the attributes of the old operator, a second input",
    ("graph.arity", "graph.attribute"): "parents and attributes of the old operator",
    ("property.syntax", "property.unsupported"): "`(assert or` that a comment has cut off",
    ("tensors.shape", "hint.shape"): "a shape that neither the offsets nor the certificate have",
}
# The built checker reads the multipliers of a leaf when it comes to it, and may have stopped at an earlier leaf.
LATER_LEAF = ("hint.shape", "leaf.unproved")


def cases():
    """The accepted cases of the kinds that the reference has."""
    return sorted(path for kind in reference.PROPOSITIONS for path in (ROOT / "certs/accept" / kind).iterdir())


def size(path):
    """Tree nodes times bytes of payload: what a run of the reference costs."""
    case = Case(path)
    if case.kind != "leaves":
        return 0
    nodes = case.tensors("hints").get("tree.kind", ["U8", [1]])[1][0] if "hints" in case.manifest["files"] else 1
    return nodes * len(case.bytes("payload"))


def claim_line(path):
    """The verdict line of the accepted case, by the digests that it names (the corpus tests check these)."""
    if path.is_file():
        return mutate.judge_reference(path)[1]
    manifest = Case(path).manifest
    digests = {role: manifest["digests"][role] for role in ("graph", "payload", "input", "output")}
    kind = manifest["kind"]
    return f"s ACCEPTED {reference.PROPOSITIONS[kind]} {reference.claim_digest(kind, digests)}"


def code(line):
    return line.split(" ")[2] if line.count(" ") > 1 else line


def disagreement(judged):
    """What is wrong with the two verdicts; None if they agree, but for two faults in one mutant."""
    if judged.same_line or judged.reference[0] == UNSUPPORTED:
        return None
    codes = (code(judged.reference[1]), code(judged.other[1]))
    if codes == LATER_LEAF or (judged.same_class and codes in TWO_FAULTS):
        return None
    return f"{judged.reference[1]} by the reference, {judged.other} by the other"


def well_formed(case):
    """Whether the documents are good by themselves and together: only the digests can be at fault."""
    try:
        graph, prop = case.read()
    except Rejected:
        return False
    return (len(prop.box), prop.outputs) == (graph.nodes[graph.input_id].size, len(graph.outputs))


def outcome(judged, original):
    """What is wrong with the verdict of a mutant that is itself as its family says; None if nothing."""
    mutant, (exit_code, line) = judged.mutant, judged.reference
    family = FAMILIES[mutant.name]
    if exit_code == UNSUPPORTED:
        return None
    if mutant.unbound:
        return None if code(line).startswith("bind.") or not well_formed(mutant.case) else f"not bound, yet {line}"
    if exit_code != ACCEPTED:
        return f"{line} for {family.codes}" if family.codes and code(line) not in family.codes else None
    if family.holds is None:
        return f"none of this family may be accepted: {line}"
    if (line == original) == family.document:
        return f"the claim names another proposition than was checked: {line}"
    return None


def is_read(path):
    """Whether the reference reads a case; it does not know every operator."""
    try:
        Case(path).read()
    except Rejected as error:
        print(f"SKIPPED: {path.name}: the reference says {error}", file=sys.stderr)
        return False
    return True


class Mutation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Every mutant is judged once."""
        if not BINARY.is_file():
            print(f"SKIPPED: no built certkern ({BINARY.name} is absent)", file=sys.stderr)
            raise unittest.SkipTest("no built certkern")
        for kind in sorted({path.name for path in (ROOT / "certs/accept").iterdir()} - set(reference.PROPOSITIONS)):
            print(f"SKIPPED: certs/accept/{kind}: the reference does not know this kind", file=sys.stderr)
        cls.began, cls.judged, cls.left_out = time.monotonic(), [], 0
        binary, sizes = mutate.judge_binary(BINARY), {path: size(path) for path in cases() if is_read(path)}
        small = [(path, mutant) for path in sizes if sizes[path] <= SMALL for mutant in mutate.mutants(path, 2, SEED)]
        large = [(path, mutant) for path in sizes if sizes[path] > SMALL
                 for mutant in mutate.mutants(path, 1, SEED, (*REFUSED, *sample(path)))]  # fmt: skip
        for path, mutant in small + large:
            if time.monotonic() - cls.began > MOST:
                cls.left_out += 1
                continue
            cls.judged.append((path, mutate.judge(mutant, binary)))

    def test_both_say_the_same(self):
        for path, judged in self.judged:
            with self.subTest(case=path.name, family=judged.mutant.name):
                self.assertIsNone(disagreement(judged))

    def test_each_family_as_the_table_says(self):
        original = {path: claim_line(path) for path in cases()}
        for path, judged in self.judged:
            with self.subTest(case=path.name, family=judged.mutant.name):
                self.assertIsNone(outcome(judged, original[path]))

    def test_no_violation_of_what_is_accepted(self):
        """The propositions that both accept are true at points drawn at random, exactly."""
        rng, checked = random.Random(SEED), 0
        for path, judged in self.judged:
            if judged.reference[0] == ACCEPTED:
                with self.subTest(case=path.name, family=judged.mutant.name):
                    self.assertIsNone(mutate.violation(judged.mutant.case, rng, 20 if size(path) <= SMALL else 3))
                checked += 1
        self.assertGreater(checked, 80)

    def test_numbers(self):
        """Every family and every class occurs; the numbers are printed."""
        table = collections.defaultdict(collections.Counter)
        for _, judged in self.judged:
            table[judged.mutant.name][judged.reference[0]] += 1
        self.assertEqual(set(FAMILIES) - set(table), set())
        total = sum(table.values(), collections.Counter())
        self.assertGreater(total[ACCEPTED], 80)
        self.assertGreater(total[UNPROVED], 20)
        self.assertGreater(total[MALFORMED], 300)
        same = sum(judged.same_line for _, judged in self.judged)
        print(f"\nmutants: {len(self.judged)} of {len(table)} families, {same} with the same verdict; accepted "
              f"{total[ACCEPTED]}, unproved {total[UNPROVED]}, malformed {total[MALFORMED]}, limits {total[LIMIT]}; "
              f"left out for time {self.left_out}", file=sys.stderr)  # fmt: skip
        unknown = collections.Counter(j.reference[1] for _, j in self.judged if j.reference[0] == UNSUPPORTED)
        for reason, count in sorted(unknown.items()):
            print(f"SKIPPED: {count} mutants, {reason}", file=sys.stderr)
        for name in sorted(table):
            if table[name][ACCEPTED]:
                print(f"  accepted {table[name][ACCEPTED]:3} {name:24} {FAMILIES[name].holds}", file=sys.stderr)

    def test_the_controls_are_caught(self):
        """A checker that accepts everything and one that refuses everything differ from the reference on mutants of
        every class: on what it accepts too, for the one names the wrong claim."""
        for control, expected in ((mutate.accept_all, {ACCEPTED, UNPROVED, MALFORMED}),
                                  (mutate.reject_all, {ACCEPTED, UNPROVED, MALFORMED})):  # fmt: skip
            found = {j.reference[0] for _, j in self.judged
                     if disagreement(mutate.Judged(j.mutant, j.reference, control(None)))}  # fmt: skip
            self.assertGreaterEqual(found, expected, control.__name__)

    def test_a_violation_is_found(self):
        """The sample finds a false proposition: the region of the unsafe set is all of it."""
        case = Case(ROOT / "certs/accept/leaves/shared_tree")
        document = case.json("property")
        document["unsafe"][0] = [{"y": {"0": -1}, "bound": 1000, "strict": False}]
        case.put_json("property", document)
        self.assertIsNotNone(mutate.violation(case, random.Random(SEED), 1))


def sample(path):
    """Two of the families that cost seconds, in turn."""
    return random.Random(f"{SEED}/{path.name}").sample(SAMPLED, 2)


if __name__ == "__main__":
    unittest.main()
