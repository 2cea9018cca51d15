"""A table-driven mutator of accepted cases, and the comparison of two checkers on what it makes.

    python -m certkern_oracles.mutate --binary CERTKERN CASE … [--each N] [--seed N] [--family NAME] [--keep DIR]

Each mutant is one edit from an accepted case: a bundle, or a graph by itself. The reference and the built checker
must give it the same verdict. Edits of a document that a digest covers are judged twice, without new digests and
bound again.
"""

import argparse
import collections
import math
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from . import reference
from . import reference_graph as graphs
from .mutate_edits import (
    COMPARISON, FLIPPED, NUMBER, STRICT, any_byte, attribute, bound_sets, Case, certificate_edit, child_order,
    coefficient, digest_character, digest_spelling, double, drop, entry_member, every, exchanged, exchanged_digests,
    extra_file, files, header_length, hint, Inapplicable, json_text, key_twice, last_digit, leaf_dropped,
    leaf_for_subtree, listed_threshold, manifest_edit, member, metadata, more_axes, moved, name_twice, node_edit,
    one, one_step, one_ulp, other_axes, other_format, other_kind, other_kind_of_bundle, other_parent, other_shape,
    other_variable, output_ids, pick, point, point_length, precision, producer_string, property_edit, provenance,
    region_end, renamed, row_bound, row_edit, split_dropped, strictness, swapped_parents, tensor_dropped,
    tensor_file, text_edit, tree_edit, trees, ulp, unknown_attribute, unused, weight, without,
)  # fmt: skip
from .reference_read import Rejected, read_json

ACCEPTED, UNPROVED, MALFORMED, LIMIT = range(4)  # exit codes
UNSUPPORTED = 69  # of the reference alone: no verdict

# The table -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """`document`: the edit changes what a digest covers. `holds`: why a mutant may still be accepted; None says that
    none may. `codes`: where given, the only codes of a refusal."""

    edit: object
    document: bool = False
    holds: str = None
    codes: tuple = ()


NEW = "another proposition, which the checker proved anew; the digest names it"
SLOPE = "any slope in [0, 1] gives a lower line of a relu"
BETA = "any multiplier ≥ 0 gives a true inequality"
COVER = "the children of any split cover its region, and every leaf was proved again"
FEWER = "a hint that is left out has a default"
IGNORED = "the format says that it carries no meaning"

SLOPES, MULTIPLIERS = r"leaf\.\d+\.slope|bounds\..*\.(lower|upper)", r"leaf\.(rows|splits)\.multiplier"
TINY = 2.0**-149

FAMILIES = {
    "graph.kind": Family(node_edit(other_kind), True, NEW),
    "graph.parent": Family(node_edit(other_parent), True, NEW),
    "graph.parents-swapped": Family(node_edit(swapped_parents), True, NEW),
    "graph.output": Family(output_ids, True, NEW),
    "graph.shape": Family(node_edit(other_shape), True),
    "graph.rank": Family(node_edit(more_axes), True, NEW),
    "graph.attribute": Family(node_edit(attribute), True, NEW),
    "graph.unknown-attribute": Family(node_edit(unknown_attribute), True, codes=("json.unknown-key",)),
    "graph.producer-string": Family(node_edit(producer_string), False, IGNORED),
    "payload.ulp": Family(weight(ulp), True, NEW),
    "payload.sign": Family(weight(lambda x, dtype, rng: -x), True, NEW),
    "payload.larger": Family(weight(lambda x, dtype, rng: x + pick(rng, (-8, -1, 1, 8))), True, NEW),
    "payload.byte": Family(any_byte("payload"), True, NEW),
    "region.end": Family(property_edit(region_end), True, NEW),
    "region.number": Family(text_edit(NUMBER, last_digit), True, NEW),
    "row.bound": Family(row_edit(row_bound), True, NEW),
    "row.sign": Family(row_edit(coefficient(lambda c, rng: -c)), True, NEW),
    "row.coefficient": Family(row_edit(coefficient(moved)), True, NEW),
    "row.strict": Family(row_edit(strictness), True, NEW),
    "row.variable": Family(row_edit(other_variable), True, NEW),
    "row.dropped": Family(property_edit(lambda p, rng: drop(pick(rng, p["unsafe"]), rng)), True, NEW),
    "row.doubled": Family(property_edit(lambda p, rng: double(pick(rng, p["unsafe"]), rng)), True, NEW),
    "disjunct.dropped": Family(property_edit(lambda p, rng: drop(p["unsafe"], rng)), True, NEW),
    "disjunct.doubled": Family(property_edit(lambda p, rng: double(p["unsafe"], rng)), True, NEW),
    "vnnlib.operator": Family(text_edit("[<>]=?(?= )", lambda t, rng: FLIPPED[t]), True, NEW),
    "vnnlib.strict": Family(text_edit("[<>]=?(?= )", lambda t, rng: STRICT[t]), True, NEW),
    "vnnlib.dropped": Family(text_edit(COMPARISON, lambda t, rng: ""), True, NEW),
    "vnnlib.doubled": Family(text_edit(COMPARISON, lambda t, rng: f"(and {t} {t})"), True, NEW),
    "vnnlib.and-or": Family(text_edit(r"\b(and|or)\b", lambda t, rng: {"and": "or", "or": "and"}[t]), True, NEW),
    "vnnlib.comment": Family(text_edit(r"\(assert", lambda t, rng: ";" + t), True, NEW),
    "hint.slope-outside": Family(hint(SLOPES, one(1.5, -0.5, -TINY, 2.0, 1 + 2.0**-23)), codes=("hint.domain",)),
    "hint.slope-nan": Family(hint(SLOPES, one(math.nan, math.inf, -math.inf)), codes=("hint.domain",)),
    "hint.slope-end": Family(hint(SLOPES, one(0.0, 1.0, -0.0, TINY)), False, SLOPE),
    "hint.slopes-zero": Family(hint(SLOPES, every(0.0)), False, SLOPE),
    "hint.slopes-one": Family(hint(SLOPES, every(1.0)), False, SLOPE),
    "hint.exchanged": Family(hint(f"{SLOPES}|{MULTIPLIERS}", exchanged), False, f"{SLOPE}; {BETA}"),
    "hint.beta-negative": Family(hint(MULTIPLIERS, one(-1.0, -TINY)), codes=("hint.domain",)),
    "hint.beta-nan": Family(hint(MULTIPLIERS, one(math.nan, math.inf)), codes=("hint.domain",)),
    "hint.beta-huge": Family(hint(MULTIPLIERS, one(2.0**100, 3.0e38)), False, BETA),
    "hint.beta-zero": Family(hint(MULTIPLIERS, one(0.0, -0.0)), False, BETA),
    "hint.beta-ulp": Family(hint(MULTIPLIERS, one_ulp), False, BETA),
    "hint.row-index": Family(hint(r"leaf\.rows\.index", one_step), False, BETA),
    "hint.depth": Family(hint(r"leaf\.splits\.depth", one_step), False, BETA),
    "hint.offset": Family(hint(r"leaf\.(rows|splits)\.offset", one_step), False, BETA),
    "hint.columns": Family(hint(r".*\.(columns|rows)", one_step), False, SLOPE),
    "hint.left-out": Family(without(r"leaf\.(\d+|rows|splits)\.|bounds\.\d+\.\d+\."), False, FEWER),
    "tree.threshold-ulp": Family(hint(r"threshold\.value", one_ulp), False, COVER),
    "tree.threshold": Family(hint(r"threshold\.value", one(-1.0, 0.5, 1e30)), False, COVER),
    "tree.threshold-nan": Family(hint(r"threshold\.value", one(math.nan, math.inf)), codes=("tensors.not-finite",)),
    "tree.threshold-index": Family(hint(r"tree\.threshold", one_step), False, COVER),
    "tree.coordinate": Family(hint(r"tree\.coordinate", one_step), False, COVER),
    "tree.node": Family(hint(r"tree\.node", one_step), False, COVER),
    "tree.kind": Family(hint(r"tree\.kind", one(0, 1, 2)), False, codes=("tree.malformed", "tree.literal")),
    "tree.bounds": Family(hint(r"tree\.bounds", one_step), False, "bounds are recomputed wherever they are asked for"),
    "tree.bounds-left-out": Family(without(r"tree\.bounds"), False, FEWER),
    "tree.left-out": Family(without(r"tree\."), False, FEWER),
    "tree.offset": Family(hint(r"tree\.offset", one_step)),
    "tree.child-order": Family(tree_edit(child_order), False, COVER),
    "tree.leaf-dropped": Family(tree_edit(leaf_dropped), codes=("tree.malformed",)),
    "tree.leaf-for-subtree": Family(tree_edit(leaf_for_subtree), False, COVER),
    "tree.split-dropped": Family(tree_edit(split_dropped), False, COVER),
    "cert.trees": Family(certificate_edit(trees), False, COVER),
    "cert.threshold": Family(certificate_edit(listed_threshold), False, COVER),
    "cert.precision": Family(certificate_edit(precision), False, "the kernel rounds outward at any precision"),
    "cert.bounds": Family(certificate_edit(bound_sets), False, "bounds of any kind are recomputed"),
    "cert.format": Family(certificate_edit(other_format), codes=("bundle.format",)),
    "cert.member": Family(certificate_edit(member), False, FEWER),
    "cert.point": Family(certificate_edit(point), False, "another point, evaluated exactly"),
    "cert.point-length": Family(certificate_edit(point_length), codes=("hint.shape",)),
    "bundle.digest": Family(manifest_edit(digest_character)),
    "bundle.digest-spelling": Family(manifest_edit(digest_spelling), codes=("bundle.digest",)),
    "bundle.digests-exchanged": Family(manifest_edit(exchanged_digests)),
    "bundle.kind": Family(manifest_edit(other_kind_of_bundle)),
    "bundle.files": Family(manifest_edit(files)),
    "bundle.member": Family(manifest_edit(member)),
    "bundle.extra-file": Family(extra_file, codes=("bundle.file",)),
    "bundle.provenance": Family(manifest_edit(provenance), False, IGNORED),
    "json.cut": Family(json_text(lambda data, rng: data[: rng.randrange(len(data.rstrip()))])),
    "json.trailing": Family(json_text(lambda data, rng: data + b"{}"), codes=("json.trailing",)),
    "json.encoding": Family(json_text(lambda data, rng: data.replace(b'"', b'"\xff', 1)), codes=("json.encoding",)),
    "json.key-twice": Family(json_text(key_twice), codes=("json.duplicate-key",)),
    "tensors.dtype": Family(entry_member("dtype", lambda d, rng: pick(rng, {"F16", "F32", "U32", "F64", "I8"} - {d}))),
    "tensors.shape": Family(entry_member("shape", other_axes)),
    "tensors.offsets": Family(entry_member("data_offsets", lambda e, rng: [n + pick(rng, (-1, 1, 4)) for n in e])),
    "tensors.name-twice": Family(tensor_file(name_twice), codes=("tensors.duplicate",)),
    "tensors.renamed": Family(tensor_file(renamed)),
    "tensors.dropped": Family(tensor_file(tensor_dropped), False, FEWER),
    "tensors.unused": Family(tensor_file(unused)),
    "tensors.trailing": Family(tensor_file(lambda e, h, b, rng: (h, b + b"\0")), codes=("tensors.layout",)),
    "tensors.cut": Family(tensor_file(lambda e, h, b, rng: (h, b[:-1] if b else pick(rng, ())))),
    "tensors.metadata": Family(tensor_file(metadata), False, IGNORED),
    "tensors.header-length": Family(header_length),
}


@dataclass(frozen=True)
class Mutant:
    """`unbound`: a document was edited and the digests are those of the accepted case."""

    name: str
    case: Case
    unbound: bool


def mutants(path, each, seed, families=None):
    """Up to `each` different mutants of every family, and of both ways to bind where it edits documents."""
    original = Case(path)
    for family in families or FAMILIES:
        rng, seen = random.Random(f"{seed}/{Path(path).name}/{family}"), [original.files]
        for _ in range(4 * each):  # an edit may not apply, or give what was seen
            if len(seen) > each:
                break
            case = original.copy()
            try:
                FAMILIES[family].edit(case, rng)
            except Inapplicable:
                continue
            if case.files in seen:
                continue
            seen.append(case.files)
            if not FAMILIES[family].document or not case.folder:
                yield Mutant(family, case, False)
                continue
            yield Mutant(family, case, True)
            bound = case.copy()
            try:
                bound.bind()
            except Rejected:
                continue  # malformed: no digest to bind to
            yield Mutant(family, bound, False)


# Judging -------------------------------------------------------------------------------------------------------------


def judge_reference(path):
    """Exit code and verdict line of the reference."""
    try:
        kind, _, claim = reference.check(path)
        return ACCEPTED, f"s ACCEPTED {reference.PROPOSITIONS[kind]} {claim}"
    except Rejected as error:
        if error.code.startswith("limit."):
            return LIMIT, f"s LIMIT {error.code[6:]}"
        return UNPROVED if error.code in reference.NOT_PROVED else MALFORMED, f"s REJECTED {error.code}"
    except graphs.Unsupported as error:
        return UNSUPPORTED, str(error)


def judge_binary(binary):
    def judge(path):
        done = subprocess.run([binary, "check", "--quiet", path], capture_output=True, text=True, check=False)
        return done.returncode, (done.stdout.splitlines() or [""])[-1]

    return judge


def accept_all(_):
    """A control: it accepts everything."""
    return ACCEPTED, "s ACCEPTED unsat " + "0" * 64


def reject_all(_):
    """A control: it refuses everything."""
    return MALFORMED, "s REJECTED json.syntax"


def violation(case, rng, samples):
    """A point that contradicts the proposition of an accepted case, by exact evaluation; None if none was found."""
    graph, prop = case.read()
    if prop is None:
        return None
    program = graphs.program(graph)
    if case.kind == "witness":
        x = [reference.rational(n) for n in read_json(case.bytes("certificate"))["x"]]
        inside = len(x) == len(prop.box) and all(a <= n <= b for n, (a, b) in zip(x, prop.box))
        return None if inside and reference.is_unsafe(graph, program, prop, x) else x
    for _ in range(samples):
        steps = pick(rng, (1, 2, 3, 64))  # 1: corners
        x = [a + (b - a) * Fraction(rng.randint(0, steps), steps) for a, b in prop.box]
        if reference.is_unsafe(graph, program, prop, x):
            return x
    return None


@dataclass(frozen=True)
class Judged:
    mutant: Mutant
    reference: tuple
    other: tuple

    @property
    def same_class(self):
        return self.reference[0] == self.other[0]

    @property
    def same_line(self):
        return self.reference == self.other


def judge(mutant, other):
    with tempfile.TemporaryDirectory() as place:
        path = mutant.case.write(place)
        return Judged(mutant, judge_reference(path), other(path))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--binary", required=True, help="the built checker")
    parser.add_argument("--each", type=int, default=2, help="mutants of each family and case")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--keep", help="a folder for the mutants with different verdicts")
    options = parser.parse_args(arguments)
    table, apart = collections.defaultdict(collections.Counter), 0
    for path in options.cases:
        for mutant in mutants(path, options.each, options.seed, options.family):
            judged = judge(mutant, judge_binary(options.binary))
            names = {ACCEPTED: "accepted", UNPROVED: "unproved", MALFORMED: "malformed", LIMIT: "limit"}
            table[mutant.name][names.get(judged.reference[0], "not decided by the reference")] += 1
            if judged.same_line or judged.reference[0] == UNSUPPORTED:
                continue
            apart += not judged.same_class
            print("CLASS" if not judged.same_class else "code", Path(path).name, mutant.name, judged.reference[1], "|",
                  *judged.other, flush=True)  # fmt: skip
            if options.keep:
                kept = Path(options.keep) / f"{Path(path).name}-{mutant.name}-{apart}"
                kept.mkdir(parents=True, exist_ok=True)
                mutant.case.write(kept)
    for name, counts in table.items():
        print(f"{name:28}", *(f"{count} {key}" for key, count in counts.items()))
    print(sum(sum(c.values()) for c in table.values()), "mutants,", apart, "with different classes")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
