"""Operators on single elements: activations, arithmetic, choices."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from .graph import Graph
from .operation import Operation
from .refusal import require
from .values import Computed, Constant, Value, cast_exactly, common_shape, fits, one_type

Rule = Callable[[Operation], Value]


def plain(kind: str) -> Rule:
    """An activation without numbers."""
    return lambda op: op.graph.add(kind, [op.graph.node_of(op.input(0))])


def with_numbers(kind: str, **defaults: float) -> Rule:
    """An activation with numbers from attributes."""

    def rule(op: Operation) -> Value:
        fields = {name: op.number(name, default) for name, default in defaults.items()}
        return op.graph.add(kind, [op.graph.node_of(op.input(0))], fields=fields)

    return rule


def gelu(op: Operation) -> Value:
    approximate = op.text("approximate", "none")
    require(approximate in ("none", "tanh"), f"approximate {approximate} is not known")
    return op.graph.add("gelu_tanh" if approximate == "tanh" else "gelu", [op.graph.node_of(op.input(0))])


def prelu(op: Operation) -> Value:
    x, slope = op.input(0), op.constant(1, "slope")
    one_type(x, slope)
    if slope.array.size == 1:
        return op.graph.add("leaky_relu", [op.graph.node_of(x)], fields={"alpha": slope.array.reshape(())})
    first = len(x.shape) - len(slope.shape)
    places = [first + i for i, extent in enumerate(slope.shape) if extent != 1]
    good = first >= 0 and len(places) == 1 and slope.array.size == x.shape[places[0]]
    require(good, f"a slope of shape {list(slope.shape)} is none for each channel of {list(x.shape)}",
            "use one slope, or one for each place of one axis")  # fmt: skip
    fields = {"slope": slope.array.reshape(-1)}
    return op.graph.add("prelu", [op.graph.node_of(x)], fields=fields, channel_axis=places[0])


def clip(op: Operation) -> Value:
    x = op.input(0)
    if op.opset < 11:
        limits = np.finfo(np.float32)
        ends: list[Constant | None] = [Constant(op.number("min", limits.min)), Constant(op.number("max", limits.max))]
    else:
        ends = [op.constant(i, what) if op.optional(i) else None for i, what in ((1, "min"), (2, "max"))]
        one_type(x, *ends)
    require(all(end is None or end.array.size == 1 for end in ends), "min and max are not one number each")
    low, high = ends
    if low and high:
        fields = {"low": low.array.reshape(()), "high": high.array.reshape(())}
        require(fields["low"] <= fields["high"], "min is above max")
        return op.graph.add("clip", [op.graph.node_of(x)], fields=fields)
    end = low or high
    if end is None:
        return op.graph.hand_on(x)
    node = op.graph.node_of(x)
    return op.graph.add("max_elem" if low else "min_elem", [node, op.graph.spread(end, x.shape)])


def spread_all(graph: Graph, values: list[Value]) -> list[Computed]:
    """All values in their common shape."""
    one_type(*values)
    shape = common_shape(*(value.shape for value in values))
    return [graph.spread(value, shape) for value in values]


def arithmetic(kind: str, exact: Callable[[int, int], int]) -> Rule:
    """Arithmetic on two tensors; of integer constants it is folded."""

    def rule(op: Operation) -> Value:
        first, second = op.input(0), op.input(1)
        if isinstance(first, Constant) and isinstance(second, Constant) and first.dtype in ("int32", "int64"):
            return folded(first, second, exact)
        return op.graph.add(kind, spread_all(op.graph, [first, second]))

    return rule


def folded(first: Constant, second: Constant, exact: Callable[[int, int], int]) -> Constant:
    """Arithmetic on integers, where the type holds every result."""
    one_type(first, second)
    shape = common_shape(first.shape, second.shape)
    pairs = zip(*(Constant(np.broadcast_to(c.array, shape)).integers() for c in (first, second)), strict=True)
    numbers = [exact(left, right) for left, right in pairs]
    require(all(fits(first.dtype, number) for number in numbers), f"a result is no {first.dtype}")
    return Constant(np.array(numbers, dtype=first.dtype).reshape(shape))


def truncated_quotient(left: int, right: int) -> int:
    """The quotient of integers, rounded towards 0."""
    require(right != 0, "an integer is divided by 0")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def power(op: Operation) -> Value:
    x, exponent = op.input(0), op.constant(1, "exponent")
    require(exponent.dtype != "bool", "its exponent is of type bool")
    shape = common_shape(x.shape, exponent.shape)
    numbers = np.broadcast_to(cast_exactly(exponent.array, x.dtype), shape).reshape(-1)
    require(numbers.size, "a value has no elements")
    base = op.graph.spread(x, shape)
    if (numbers == numbers[0]).all():
        return op.graph.add("pow", [base], fields={"exponent": numbers[0].reshape(())})
    row = op.graph.add("reshape", [base], (len(numbers),), in_shape=list(shape), out_shape=[len(numbers)])
    powers = []
    for i, number in enumerate(numbers):
        piece = op.graph.add("slice", [row], (1,), start=[i], stop=[i + 1], step=[1])
        powers.append(op.graph.add("pow", [piece], fields={"exponent": number.reshape(())}))
    joined = op.graph.add("concat", powers, (len(powers),), axis=0)
    return op.graph.add("reshape", [joined], shape, in_shape=[len(powers)], out_shape=list(shape))


def of_many(two: str, more: str) -> Rule:
    """A sum, a maximum or a minimum of all inputs."""

    def rule(op: Operation) -> Value:
        inputs = op.all_inputs()
        if len(inputs) == 1:
            return op.graph.hand_on(inputs[0])
        return op.graph.add(two if len(inputs) == 2 else more, spread_all(op.graph, inputs))

    return rule


def mean(op: Operation) -> Value:
    total = of_many("add", "add_n")(op)
    if len(op.inputs) == 1:
        return total
    count = op.graph.generated(np.full(total.shape, len(op.inputs), dtype=np.float32))
    return op.graph.add("div", [total, count])


def where(op: Operation) -> Value:
    condition, first, second = op.constant(0, "condition"), op.input(1), op.input(2)
    require(condition.dtype == "bool", "its condition is not of type bool")
    one_type(first, second)
    shape = common_shape(condition.shape, first.shape, second.shape)
    if isinstance(first, Constant) and isinstance(second, Constant):
        return Constant(np.where(condition.array, first.array, second.array))
    mask = np.broadcast_to(condition.array, shape).astype(np.float32)
    parents = [op.graph.spread(first, shape), op.graph.spread(second, shape)]
    return op.graph.add("where", parents, fields={"mask": mask})


def identity(op: Operation) -> Value:
    return op.graph.hand_on(op.input(0))


def dropout(op: Operation) -> Value:
    op.ignore("ratio", "seed")
    op.only_first_output()
    if op.opset >= 12 and op.optional(2):
        training = op.constant(2, "training_mode")
        require(training.dtype == "bool" and training.array.size == 1 and not training.array.any(), "it is in training",
                "export for inference")  # fmt: skip
    return op.graph.hand_on(op.input(0))


OPERATORS: dict[str, tuple[int, Rule]] = {
    **{name: (1, plain(kind)) for name, kind in {
        "Relu": "relu", "Abs": "abs", "Neg": "neg", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Reciprocal": "inv",
        "Sigmoid": "sigmoid", "Tanh": "tanh", "Softplus": "softplus"}.items()},
    "Sin": (7, plain("sin")),
    "Cos": (7, plain("cos")),
    "Erf": (9, plain("erf")),
    "HardSwish": (14, plain("hard_swish")),
    "Mish": (18, plain("mish")),
    "LeakyRelu": (1, with_numbers("leaky_relu", alpha=0.01)),
    "Elu": (1, with_numbers("elu", alpha=1.0)),
    "Selu": (6, with_numbers("selu", alpha=1.67326319217681884765625, gamma=1.05070102214813232421875)),
    "HardSigmoid": (1, with_numbers("hard_sigmoid", alpha=0.2, beta=0.5)),
    "Gelu": (20, gelu),
    "PRelu": (7, prelu),
    "Clip": (6, clip),
    "Add": (7, arithmetic("add", operator.add)),
    "Sub": (7, arithmetic("sub", operator.sub)),
    "Mul": (7, arithmetic("mul_elem", operator.mul)),
    "Div": (7, arithmetic("div", truncated_quotient)),
    "Pow": (7, power),
    "Sum": (8, of_many("add", "add_n")),
    "Max": (8, of_many("max_elem", "max_n")),
    "Min": (8, of_many("min_elem", "min_n")),
    "Mean": (8, mean),
    "Where": (9, where),
    "Identity": (1, identity),
    "Dropout": (7, dropout),
}  # fmt: skip
