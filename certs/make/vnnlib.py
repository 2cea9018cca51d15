"""The part of VNN-LIB 1.0 that these cases use: linear rows under `and` and `or`, numbers as exact fractions."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Row:
    """`Σ x[i]·X_i + Σ y[j]·Y_j ≤ bound` (`<` where `strict`)."""

    x: dict[int, Fraction]
    y: dict[int, Fraction]
    bound: Fraction
    strict: bool = False

    def holds(self, inputs: list[Fraction], outputs: list[Fraction]) -> bool:
        """Whether the row is satisfied at a point, exactly."""
        value = sum(c * inputs[i] for i, c in self.x.items()) + sum(c * outputs[j] for j, c in self.y.items())
        return value < self.bound if self.strict else value <= self.bound


@dataclass(frozen=True)
class Property:
    """The unsafe set: a disjunction of conjunctions of rows, in document order."""

    inputs: int
    outputs: int
    disjuncts: list[list[Row]] = field(repr=False)

    def box(self) -> tuple[list[Fraction], list[Fraction]]:
        """Per input the hull over the disjuncts of the bounds given by rows on that input alone."""
        hulls = [self.disjunct_box(d) for d in range(len(self.disjuncts))]
        lower = [min(h[0][i] for h in hulls) for i in range(self.inputs)]
        upper = [max(h[1][i] for h in hulls) for i in range(self.inputs)]
        return lower, upper

    def disjunct_box(self, d: int) -> tuple[list[Fraction], list[Fraction]]:
        """The bounds that disjunct d gives each input; an input without both is an error."""
        lower: dict[int, Fraction] = {}
        upper: dict[int, Fraction] = {}
        for row in self.disjuncts[d]:
            if row.y or len(row.x) != 1:
                continue
            ((i, c),) = row.x.items()
            if c > 0:
                upper[i] = min(upper.get(i, row.bound / c), row.bound / c)
            else:
                lower[i] = max(lower.get(i, row.bound / c), row.bound / c)
        indices = range(self.inputs)
        return [lower[i] for i in indices], [upper[i] for i in indices]

    def output_rows(self, d: int) -> list[Row]:
        """The rows of disjunct d that are on outputs alone."""
        return [row for row in self.disjuncts[d] if row.y and not row.x]

    def unsafe(self, inputs: list[Fraction], outputs: list[Fraction]) -> bool:
        """Whether a point is in the unsafe set, exactly."""
        return any(all(row.holds(inputs, outputs) for row in rows) for rows in self.disjuncts)


def parse(text: str) -> Property:
    """Read a property; anything outside the supported part is an error."""
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text))
    stack: list[list] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (commands,) = stack
    names = [c[1] for c in commands if c[0] == "declare-const"]
    formulas = [_disjuncts(c[1]) for c in commands if c[0] == "assert"]
    if len(names) + len(formulas) != len(commands):
        raise ValueError("a command other than declare-const and assert")
    return Property(
        inputs=sum(n.startswith("X_") for n in names),
        outputs=sum(n.startswith("Y_") for n in names),
        disjuncts=_product(formulas),
    )


def _product(formulas: list[list[list[Row]]]) -> list[list[Row]]:
    """The conjunction of formulas in disjunctive form, the first formula's index running slowest."""
    return [[row for part in choice for row in part] for choice in itertools.product(*formulas)]


def _disjuncts(formula: list) -> list[list[Row]]:
    match formula:
        case ["or", *parts]:
            return [rows for part in parts for rows in _disjuncts(part)]
        case ["and", *parts]:
            return _product([_disjuncts(part) for part in parts])
        case [("<=" | "<" | ">=" | ">") as relation, left, right]:
            if relation in (">=", ">"):
                left, right = right, left
            return [[_row(left, right, strict=relation in ("<", ">"))]]
        case _:
            raise ValueError(f"unsupported formula {formula}")


def _row(left: str, right: str, *, strict: bool) -> Row:
    x: dict[int, Fraction] = {}
    y: dict[int, Fraction] = {}
    bound = Fraction(0)
    for atom, sign in ((left, 1), (right, -1)):
        if atom.startswith(("X_", "Y_")):
            terms = x if atom[0] == "X" else y
            index = int(atom[2:])
            terms[index] = terms.get(index, Fraction(0)) + sign
        else:
            bound -= sign * Fraction(atom)
    return Row(x, y, bound, strict)


def declarations(inputs: int, outputs: int) -> list[str]:
    """The lines that declare `X_0 …` and `Y_0 …`."""
    names = [f"X_{i}" for i in range(inputs)] + [f"Y_{j}" for j in range(outputs)]
    return [f"(declare-const {name} Real)" for name in names]


def box_assertions(bounds: list[tuple[str, str]]) -> list[str]:
    """Two lines for each input, its decimal bounds being `(lower, upper)`."""
    lines: list[str] = []
    for i, (lower, upper) in enumerate(bounds):
        lines += [f"(assert (<= X_{i} {upper}))", f"(assert (>= X_{i} {lower}))"]
    return lines
