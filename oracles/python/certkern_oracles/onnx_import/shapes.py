"""Operators that move elements, take shapes, or reduce axes. Of constants most are folded."""

from __future__ import annotations

import math

import numpy as np

from .elementwise import Rule
from .operation import Operation
from .refusal import Refused, require
from .values import FLOATS, TYPES, Computed, Constant, Shape, Value, cast_exactly, common_shape, constant, finite, one_type, type_name

# ---- constants and shapes ----


def constant_node(op: Operation) -> Value:
    require(len(op.attributes) == 1, "it has not one value")
    (name,) = op.attributes
    if name == "value":
        return constant(op.attribute(name, "tensor").t)
    require(op.opset >= 12, f"attribute {name} is not understood before operator set 12")
    match name:
        case "value_float":
            return finite(op.number(name, 0.0))
        case "value_floats":
            return finite(np.array(op.attribute(name, "floats").floats, dtype=np.float32))
        case "value_int":
            return Constant(np.array(op.int(name, 0), dtype=np.int64))
        case "value_ints":
            return Constant(np.array(op.ints(name), dtype=np.int64))
    raise Refused(f"attribute {name} is not understood", "store the constant as a tensor")


def constant_of_shape(op: Operation) -> Value:
    shape = op.integers(0, "shape")
    require(all(extent >= 0 for extent in shape), f"{shape} is no shape")
    found = op.attribute("value", "tensor")
    number = np.zeros((), np.float32) if found is None else constant(found.t).array
    require(number.size == 1, "its value is not one number")
    return Constant(np.broadcast_to(number.reshape(()), shape))


def shape_of(op: Operation) -> Value:
    shape = op.input(0).shape
    start, end = op.int("start", 0), op.int("end", len(shape))
    return Constant(np.array(shape[slice(start, end)], dtype=np.int64))


def size_of(op: Operation) -> Value:
    return Constant(np.array(math.prod(op.input(0).shape), dtype=np.int64))


def cast(op: Operation) -> Value:
    op.ignore("saturate")
    x, number = op.input(0), op.int("to", 0)
    require(number in TYPES, f"a cast to {type_name(number)} is not understood", "cast to float32 or float64")
    dtype = TYPES[number]
    if isinstance(x, Constant):
        return Constant(cast_exactly(x.array, dtype))
    require(dtype in FLOATS, f"a computed value is cast to {dtype}", "cast to float32 or float64")
    return Computed(op.graph.hand_on(x).place, x.shape, dtype)


# ---- the same elements in another shape ----


def reshaped(op: Operation, x: Value, shape: list[int]) -> Value:
    """The same elements row by row."""
    require(math.prod(x.shape) == math.prod(shape), f"{list(x.shape)} and {shape} have not the same number of elements")
    if isinstance(x, Constant):
        return Constant(x.array.reshape(shape))
    return op.graph.add("reshape", [x], tuple(shape), in_shape=list(x.shape), out_shape=shape)


def reshape(op: Operation) -> Value:
    x, target = op.input(0), op.integers(1, "shape")
    literal = op.flag("allowzero")
    require(min(target, default=0) >= -1 and target.count(-1) <= 1, f"{target} is no shape")
    for i, extent in enumerate(target):
        if extent == 0 and not literal:
            require(i < len(x.shape), f"{target} takes axis {i} of {list(x.shape)}")
            target[i] = x.shape[i]
    if -1 in target:
        rest = math.prod(extent for extent in target if extent != -1)
        require(rest and math.prod(x.shape) % rest == 0, f"{list(x.shape)} does not fit into {target}")
        target[target.index(-1)] = math.prod(x.shape) // rest
    return reshaped(op, x, target)


def flatten(op: Operation) -> Value:
    x, axis = op.input(0), op.int("axis", 1)
    # The end is a place to cut at, too.
    axis = len(x.shape) if axis == len(x.shape) else op.axis(axis, len(x.shape))
    return reshaped(op, x, [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])


def listed_axes(op: Operation, since: int) -> list[int] | None:
    """The axes, from an attribute before the set `since`, then from the second input; None where they are absent."""
    if op.opset < since:
        return op.ints("axes")
    return op.integers(1, "axes") if op.optional(1) else None


def squeeze(op: Operation) -> Value:
    x, axes = op.input(0), listed_axes(op, 13)
    lone = [i for i, extent in enumerate(x.shape) if extent == 1]
    places = lone if axes is None else op.axes(axes, len(x.shape))
    require(set(places) <= set(lone), f"axes {axes} of {list(x.shape)} are not all of extent 1")
    return reshaped(op, x, [extent for i, extent in enumerate(x.shape) if i not in places])


def unsqueeze(op: Operation) -> Value:
    x, axes = op.input(0), listed_axes(op, 13)
    require(axes is not None, "its axes are absent")
    rank = len(x.shape) + len(axes)
    places, rest = op.axes(axes, rank), iter(x.shape)
    return reshaped(op, x, [1 if i in places else next(rest) for i in range(rank)])


def transpose(op: Operation) -> Value:
    x, perm = op.input(0), op.ints("perm")
    rank = len(x.shape)
    perm = list(range(rank))[::-1] if perm is None else perm
    require(sorted(perm) == list(range(rank)), f"perm {perm} is no permutation of {rank} axes")
    if isinstance(x, Constant):
        return Constant(x.array.transpose(perm))
    return op.graph.add("permute", [x], tuple(x.shape[i] for i in perm), perm=perm)


# ---- parts and wholes ----


def with_extent(shape: Shape, axis: int, extents: Shape) -> Shape:
    """The shape with other extents in the place of an axis."""
    return (*shape[:axis], *extents, *shape[axis + 1 :])


def concat(op: Operation) -> Value:
    inputs = op.all_inputs()
    one_type(*inputs)
    require("axis" in op.attributes, "axis is absent")
    axis = op.axis(op.int("axis", 0), len(inputs[0].shape))
    others = {with_extent(value.shape, axis, ()) if axis < len(value.shape) else None for value in inputs}
    ranks = {len(value.shape) for value in inputs}
    require(len(others) == len(ranks) == 1, f"the shapes {', '.join(str(list(v.shape)) for v in inputs)} differ off axis {axis}")
    if len(inputs) == 1:
        return op.graph.hand_on(inputs[0])
    if all(isinstance(value, Constant) for value in inputs):
        return Constant(np.concatenate([value.array for value in inputs], axis))
    shape = with_extent(inputs[0].shape, axis, (sum(value.shape[axis] for value in inputs),))
    return op.graph.add("concat", [op.graph.node_of(value) for value in inputs], shape, axis=axis)


def split_sizes(op: Operation, extent: int) -> list[int]:
    """The sizes of the parts."""
    parts = len(op.live)
    sizes = op.ints("split") if op.opset < 13 else op.integers(1, "split") if op.optional(1) else None
    if op.opset >= 18:
        named = op.int("num_outputs", 0)
        require((sizes is None) == ("num_outputs" in op.attributes), "it has not one of split and num_outputs")
        if sizes is None:
            require(named == parts, f"num_outputs is {named} and it has {parts} outputs")
            part = -(-extent // parts)
            return [part] * (parts - 1) + [extent - part * (parts - 1)]
    if sizes is None:
        require(extent % parts == 0, f"an extent of {extent} has no {parts} equal parts")
        return [extent // parts] * parts
    return sizes


def split(op: Operation) -> list[Value | None]:
    x = op.input(0)
    axis = op.axis(op.int("axis", 0), len(x.shape))
    sizes = split_sizes(op, x.shape[axis])
    require(len(sizes) == len(op.live) and min(sizes) >= 0 and sum(sizes) == x.shape[axis],
            f"parts {sizes} are not {len(op.live)} that fill an extent of {x.shape[axis]}")  # fmt: skip
    if isinstance(x, Constant):
        if len(sizes) == 1:
            return [op.graph.hand_on(x)]
        return [Constant(part) for part in np.split(x.array, np.cumsum(sizes)[:-1].tolist(), axis)]
    require(min(sizes) > 0, "a part has no elements")
    if len(sizes) == 1:
        return [op.graph.hand_on(x)]
    results: list[Value | None] = []
    for index, (size, live) in enumerate(zip(sizes, op.live, strict=True)):
        shape = with_extent(x.shape, axis, (size,))
        results.append(op.graph.add("split", [x], shape, axis=axis, sizes=sizes, index=index) if live else None)
    return results


def slice_lists(op: Operation) -> tuple[list[int], list[int], list[int] | None, list[int] | None]:
    """Starts, ends, axes and steps."""
    if op.opset < 10:
        starts, ends = op.ints("starts"), op.ints("ends")
        require(starts is not None and ends is not None, "starts or ends are absent")
        return starts, ends, op.ints("axes"), None
    kinds = ("int32", "int64")
    starts, ends = op.integers(1, "starts", kinds), op.integers(2, "ends", kinds)
    axes, steps = (op.integers(i, what, kinds) if op.optional(i) else None for i, what in ((3, "axes"), (4, "steps")))
    return starts, ends, axes, steps


def slice_ranges(op: Operation, shape: Shape) -> dict[int, range]:
    """The places taken of each axis that is named. As ONNX clamps them."""
    starts, ends, axes, steps = slice_lists(op)
    axes = op.axes(list(range(len(starts))) if axes is None else axes, len(shape))
    steps = [1] * len(starts) if steps is None else steps
    require(len(starts) == len(ends) == len(axes) == len(steps), "starts, ends, axes and steps are not of one length")
    require(all(steps), "a step is 0")
    ranges = {}
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        n = shape[axis]
        low, high = (0, n) if step > 0 else (-1, n - 1)
        start, end = (place + n if place < 0 else place for place in (start, end))
        ranges[axis] = range(min(max(start, 0), high), min(max(end, low), high), step)
        require(len(ranges[axis]) > 0, "its result has no elements")
    return ranges


def slice_(op: Operation) -> Value:
    x = op.input(0)
    ranges = slice_ranges(op, x.shape)
    if isinstance(x, Constant):
        array = x.array
        for axis, places in ranges.items():
            array = np.take(array, list(places), axis)
        return Constant(array)
    forward = {axis: places for axis, places in ranges.items() if places.step > 0}
    result = x
    if forward or len(forward) == len(ranges):
        whole = [forward.get(i, range(n)) for i, n in enumerate(x.shape)]
        start, stop, step = ([getattr(places, end) for places in whole] for end in ("start", "stop", "step"))
        result = op.graph.add("slice", [x], tuple(map(len, whole)), start=start, stop=stop, step=step)
    for axis, places in sorted((axis, places) for axis, places in ranges.items() if places.step < 0):
        result = gathered(op, result, axis, list(places), (len(places),))
    return result


def gathered(op: Operation, x: Computed, axis: int, indices: list[int], shape: Shape) -> Computed:
    return op.graph.add("gather", [x], with_extent(x.shape, axis, shape), axis=axis, indices=indices, indices_shape=list(shape))


def gather(op: Operation) -> Value:
    x, indices = op.input(0), op.constant(1, "indices")
    require(indices.dtype in ("int32", "int64"), "its indices are no int32 or int64")
    axis = op.axis(op.int("axis", 0), len(x.shape))
    n = x.shape[axis]
    places = indices.integers()
    require(all(-n <= place < n for place in places), f"an index is none of {n}")
    places = [place % n for place in places]
    if isinstance(x, Constant):
        return Constant(np.take(x.array, np.array(places, dtype=np.int64).reshape(indices.shape), axis))
    return gathered(op, x, axis, places, indices.shape)


def expand(op: Operation) -> Value:
    x, target = op.input(0), op.integers(1, "shape")
    require(min(target, default=1) >= 0, f"{target} is no shape")
    shape = common_shape(x.shape, tuple(target))
    if shape == x.shape:
        return op.graph.hand_on(x)
    return Constant(np.broadcast_to(x.array, shape)) if isinstance(x, Constant) else op.graph.spread(x, shape)


def pad(op: Operation) -> Value:
    x = op.input(0)
    rank = len(x.shape)
    require(op.text("mode", "constant") == "constant", "its mode is not constant", "export with mode constant")
    if op.opset < 11:
        both, value = op.ints("pads"), op.number("value", 0.0)
        require(both is not None, "pads are absent")
    else:
        both, value = op.integers(1, "pads"), np.zeros((), x.dtype)
        if op.optional(2):
            number = op.constant(2, "constant_value")
            one_type(x, number)
            require(number.array.size == 1, "its constant_value is not one number")
            value = number.array.reshape(())
    axes = op.integers(3, "axes", ("int32", "int64")) if op.opset >= 18 and op.optional(3) else None
    places = list(range(rank)) if axes is None else op.axes(axes, rank)
    require(len(both) == 2 * len(places), f"pads {both} are not two for each of {len(places)} axes")
    require(min(both, default=0) >= 0, "a pad is below 0", "export the cut as a Slice")
    if not any(both):
        return op.graph.hand_on(x)
    before, after = [0] * rank, [0] * rank
    for i, place in enumerate(places):
        before[place], after[place] = both[i], both[len(places) + i]
    shape = tuple(n + b + a for n, b, a in zip(x.shape, before, after, strict=True))
    return op.graph.add("pad", [op.graph.node_of(x)], shape, {"value": value}, padding=before, padding_after=after)


# ---- larger by whole factors ----


def whole_factors(scales: list[float]) -> list[int]:
    """The factors, which are whole."""
    require(all(scale >= 1 and scale == int(scale) for scale in scales), f"factors {scales} are not whole and at least 1")
    return [int(scale) for scale in scales]


def enlarged(op: Operation, x: Value, scale: list[int]) -> Value:
    require(op.text("mode", "nearest") == "nearest", "its mode is not nearest", "export with mode nearest")
    require(len(scale) == len(x.shape), f"{len(scale)} factors are not one for each of {len(x.shape)} axes")
    shape = tuple(n * factor for n, factor in zip(x.shape, scale, strict=True))
    return op.graph.add("upsample", [op.graph.node_of(x)], shape, scale=scale)


def scales_input(op: Operation, i: int) -> list[int]:
    """The factors of an input."""
    scales = op.constant(i, "scales")
    require(scales.dtype == "float32" and len(scales.shape) == 1, "its scales are no list of float32")
    return whole_factors(scales.array.tolist())


def upsample(op: Operation) -> Value:
    if op.opset >= 9:
        return enlarged(op, op.input(0), scales_input(op, 1))
    found = op.attribute("scales", "floats")
    require(found is not None, "scales are absent")
    return enlarged(op, op.input(0), whole_factors(list(found.floats)))


def holds_anything(value: Value | None) -> bool:
    """Whether an optional input is there and has elements."""
    return value is not None and math.prod(value.shape) > 0


def resize(op: Operation) -> Value:
    x = op.input(0)
    if op.opset < 11:
        return enlarged(op, x, scales_input(op, 1))
    by_scales, by_sizes = holds_anything(op.optional(2)), holds_anything(op.optional(3))
    require(by_scales != by_sizes, "it has not one of scales and sizes")
    op.ignore("cubic_coeff_a")
    require(not op.flag("antialias") and not op.flag("exclude_outside"), "antialias or exclude_outside is set")
    require(op.number("extrapolation_value", 0.0) == 0, "extrapolation_value is not 0")
    transform = op.text("coordinate_transformation_mode", "half_pixel")
    rounding = op.text("nearest_mode", "round_prefer_floor")
    halves = transform in ("half_pixel", "pytorch_half_pixel") and rounding in ("round_prefer_floor", "round_prefer_ceil")
    require(halves or (transform, rounding) == ("asymmetric", "floor"), f"{transform} with {rounding} is not understood",
            "export with asymmetric and floor")  # fmt: skip
    if by_scales:
        return enlarged(op, x, scales_input(op, 2))
    sizes = op.integers(3, "sizes")
    good = len(sizes) == len(x.shape) and all(n and size >= n and size % n == 0 for size, n in zip(sizes, x.shape, strict=True))
    require(good, f"sizes {sizes} are not multiples of {list(x.shape)}")
    return enlarged(op, x, [size // n for size, n in zip(sizes, x.shape, strict=True)])


# ---- reductions ----


def reduction(kind: str, since: int) -> Rule:
    """A reduction whose axes are an input from the set `since` on."""

    def rule(op: Operation) -> Value:
        x, axes = op.input(0), listed_axes(op, since)
        rank = len(x.shape)
        keep = op.flag("keepdims", True)
        noop = op.flag("noop_with_empty_axes")
        places = sorted({op.axis(axis, rank) for axis in axes or []})
        if not places:
            if noop or rank == 0:
                return op.graph.hand_on(x)
            places = list(range(rank))
        kept = ((1 if i in places else n, i) for i, n in enumerate(x.shape))
        shape = tuple(n for n, i in kept if keep or i not in places)
        return op.graph.add(kind, [op.graph.node_of(x)], shape, axes=places, keepdim=keep)

    return rule


OPERATORS = {
    "Constant": (1, constant_node),
    "ConstantOfShape": (9, constant_of_shape),
    "Shape": (1, shape_of),
    "Size": (1, size_of),
    "Cast": (6, cast),
    "Reshape": (5, reshape),
    "Flatten": (1, flatten),
    "Squeeze": (1, squeeze),
    "Unsqueeze": (1, unsqueeze),
    "Transpose": (1, transpose),
    "Concat": (4, concat),
    "Split": (2, split),
    "Slice": (1, slice_),
    "Gather": (1, gather),
    "Expand": (8, expand),
    "Pad": (2, pad),
    "Upsample": (7, upsample),
    "Resize": (10, resize),
    "ReduceSum": (1, reduction("reduce_sum", 13)),
    "ReduceMean": (1, reduction("reduce_mean", 18)),
    "ReduceMax": (1, reduction("reduce_max", 18)),
    "ReduceMin": (1, reduction("reduce_min", 18)),
}
