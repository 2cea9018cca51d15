"""Small networks with a counterexample that a misreading hides: `python misreadings.py OUT`.

Each case is OUT/<case>/{net.onnx, property.vnnlib, counterexample.txt}. The property is false as the documents stand;
read in the wrong way that the case names, it is true. Both are verified in exact fractions before anything is written:
the first at the counterexample (and against onnx.reference), the second by exact interval bounds of the misread one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

import vnnlib
from networks import write_model

Interval = tuple[Fraction, Fraction]
Vector = list[Interval]
Step = Callable[[Vector], Vector]


def matmul(matrix: list[list[int]]) -> Step:
    """`x @ matrix`; interval bounds of each entry are exact for x in a box."""

    def apply(x: Vector) -> Vector:
        result: Vector = []
        for column in zip(*matrix, strict=True):
            terms = [(min(a * w, b * w), max(a * w, b * w)) for (a, b), w in zip(x, column, strict=True)]
            result.append((sum((t[0] for t in terms), Fraction(0)), sum((t[1] for t in terms), Fraction(0))))
        return result

    return apply


def constant_minus(constant: int) -> Step:
    """`constant - x`."""
    return lambda x: [(constant - b, constant - a) for a, b in x]


def minus_constant(constant: int) -> Step:
    """`x - constant`."""
    return lambda x: [(a - constant, b - constant) for a, b in x]


def relu(x: Vector) -> Vector:
    """`max(x, 0)`."""
    return [(max(a, Fraction(0)), max(b, Fraction(0))) for a, b in x]


def run(steps: list[Step], x: Vector) -> Vector:
    """The composition of the steps."""
    for step in steps:
        x = step(x)
    return x


@dataclass(frozen=True)
class Case:
    """One case: the ONNX nodes and constants, their meaning and the misread one, and the counterexample.

    `misread_text` is the property as misread (the same text where the network is what is misread)."""

    name: str
    nodes: list[onnx.NodeProto]
    constants: dict[str, list]
    meaning: list[Step]
    misread: list[Step]
    text: str
    misread_text: str
    point: list[Fraction]
    sentence: str


def node(operator: str, inputs: list[str], output: str) -> onnx.NodeProto:
    """A node named after its output."""
    return helper.make_node(operator, inputs, [output], f"{output}_{operator}")


def declared(inputs: int, lines: list[str]) -> str:
    """A property text with one output."""
    return "\n".join([*vnnlib.declarations(inputs, 1), *lines, ""])


def relu_case(name: str, lines: list[str], misread_lines: list[str], point: int, sentence: str) -> Case:
    """A case on the network y = relu(x)."""
    return Case(
        name,
        [node("Relu", ["x"], "y")],
        {},
        [relu],
        [relu],
        declared(1, lines),
        declared(1, misread_lines),
        [Fraction(point)],
        sentence,
    )


def cases() -> list[Case]:
    """All cases."""
    first, second = [[-1, 0], [0, 1]], [[1], [1]]
    two_matmuls = declared(2, vnnlib.box_assertions([("-1", "0"), ("0", "1")]) + ["(assert (>= Y_0 1.5))"])
    subtraction = declared(1, vnnlib.box_assertions([("0", "1")]) + ["(assert (>= Y_0 0.5))"])
    unit_box = vnnlib.box_assertions([("0", "1")])
    wide_box = vnnlib.box_assertions([("-1", "1")])
    boxes = ["    (and (>= X_0 2) (<= X_0 3))", "    (and (>= X_0 0) (<= X_0 1))"]
    above = "(assert (>= Y_0 1.5))"
    return [
        Case(
            "two_matmuls",
            [node("MatMul", ["x", "A"], "a"), node("MatMul", ["a", "B"], "b"), node("Relu", ["b"], "y")],
            {"A": first, "B": second},
            [matmul(first), matmul(second), relu],
            [matmul(second), relu],
            two_matmuls,
            two_matmuls,
            [Fraction(-1), Fraction(1)],
            "The network is y = relu(x A B) = relu(-x_0 + x_1). Without the first of the two MatMul nodes it would be "
            "relu(x_0 + x_1) <= 1.",
        ),
        Case(
            "constant_minus_x",
            [node("Sub", ["c", "x"], "d"), node("Relu", ["d"], "y")],
            {"c": [[1]]},
            [constant_minus(1), relu],
            [minus_constant(1), relu],
            subtraction,
            subtraction,
            [Fraction(0)],
            "The network is y = relu(1 - x_0). Read as relu(x_0 - 1) it would be 0 on the whole box.",
        ),
        relu_case(
            "or_of_boxes",
            ["(assert (or", *boxes, "))", above],
            [*vnnlib.box_assertions([("0", "1")]), above],
            2,
            "The network is y = relu(x_0); the input lies in the first box. In the last box alone y <= 1.",
        ),
        relu_case(
            "commented_assertion",
            [*wide_box, "; (assert (<= X_0 0))", "(assert (>= Y_0 0.5))"],
            [*wide_box, "(assert (<= X_0 0))", "(assert (>= Y_0 0.5))"],
            1,
            "The network is y = relu(x_0). The commented line is no assertion; were it one, y would be 0 on the whole "
            "box.",
        ),
        relu_case(
            "or_of_outputs",
            [*unit_box, "(assert (or", "    (and (<= Y_0 -1))", "    (and (>= Y_0 0.5))", "))"],
            [*unit_box, "(assert (<= Y_0 -1))"],
            1,
            "The network is y = relu(x_0). The first disjunct (y <= -1) is empty; the second (y >= 1/2) is not.",
        ),
    ]


def verify(case: Case, model: Path) -> list[Fraction]:
    """The exact outputs at the counterexample, after all that the module says was verified."""
    meaning = vnnlib.parse(case.text)
    outputs = [low for low, _ in run(case.meaning, [(value, value) for value in case.point])]
    lower, upper = meaning.box()
    inside = all(a <= x <= b for a, x, b in zip(lower, case.point, upper, strict=True))
    if not (inside and meaning.unsafe(case.point, outputs)):
        raise ValueError(f"{case.name}: the point is no counterexample")
    fed = np.array([[float(value) for value in case.point]], dtype=np.float32)
    (seen,) = ReferenceEvaluator(onnx.load(model)).run(None, {"x": fed})
    if [Fraction(float(value)) for value in seen[0]] != outputs:
        raise ValueError(f"{case.name}: onnx.reference gives {seen}")
    misread = vnnlib.parse(case.misread_text)
    for d in range(len(misread.disjuncts)):
        bounds = run(case.misread, list(zip(*misread.disjunct_box(d), strict=True)))
        if not any(_refuted(row, bounds) for row in misread.output_rows(d)):
            raise ValueError(f"{case.name}: the misread property is not proved by interval bounds")
    return outputs


def _refuted(row: vnnlib.Row, bounds: Vector) -> bool:
    """Whether a row on outputs fails everywhere in the bounds."""
    return sum(min(c * bounds[j][0], c * bounds[j][1]) for j, c in row.y.items()) > row.bound


def write(folder: Path, case: Case) -> None:
    """Verify a case and write its files."""
    folder.mkdir(parents=True, exist_ok=True)
    constants = {name: np.array(value, dtype=np.float64) for name, value in case.constants.items()}
    model = folder / "net.onnx"
    shape = (1, len(case.point))
    write_model(model, case.nodes, constants, "x", shape, ("y", 1), opset=13, producer="certkern-make")
    outputs = verify(case, model)
    (folder / "property.vnnlib").write_text(case.text)
    values = [f"X_{i} = {value}" for i, value in enumerate(case.point)]
    values += [f"Y_{j} = {value}" for j, value in enumerate(outputs)]
    (folder / "counterexample.txt").write_text("\n".join([*values, case.sentence, ""]))


def main(out: Path) -> None:
    """Write every case."""
    for case in cases():
        write(out / case.name, case)
        print(case.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python misreadings.py OUT")
    main(Path(sys.argv[1]))
