"""Cases of `tree.*`, `hint.*` and `leaf.*`."""

from __future__ import annotations

from collections.abc import Callable

from bundle import elements, tensor
from digests import Tensor
from reject.case import HINTS, PAYLOAD, Maker
from reject.witness import witness

SMALL = "small_relu"
SHARED = "shared_tree"
TANH = "small_tanh"
Tensors = dict[str, Tensor]
Edit = Callable[[Tensors], None]
TREE = ["tree.kind", "tree.node", "tree.coordinate", "tree.threshold", "tree.bounds"]


def cases(make: Maker) -> None:
    """All cases of this module."""
    trees(make)
    literals(make)
    hints(make)
    domains(make)
    unproved(make)
    bound_again(make)
    curved(make)


def to(name: str, place: int, value: float) -> Edit:
    """Sets one element."""

    def edit(tensors: Tensors) -> None:
        values = elements(tensors[name])
        values[place] = value
        tensors[name] = tensor(tensors[name].dtype, tensors[name].shape, values)

    return edit


def whole(name: str, values: list[float]) -> Edit:
    """Sets a vector."""

    def edit(tensors: Tensors) -> None:
        tensors[name] = tensor(tensors[name].dtype, [len(values)], values)

    return edit


def steps(change: Callable[[list[float]], list[float]], offsets: list[int] | None = None) -> Edit:
    """Changes every column of the trees alike, and the offsets."""

    def edit(tensors: Tensors) -> None:
        for name in TREE:
            whole(name, change(elements(tensors[name])))(tensors)
        if offsets is not None:
            whole("tree.offset", offsets)(tensors)

    return edit


def trees(make: Maker) -> None:
    """`tree.malformed`."""
    code = "tree.malformed"

    def case(name: str, edit: Edit, words: str) -> None:
        make.tensors(code, name, SHARED, HINTS, edit, words)

    case("leaf_missing", steps(lambda t: t[:4] + t[5:], [0, 4, 5]), "the last leaf of the first tree dropped")
    case(
        "leaf_left_over",
        steps(lambda t: [*t[:5], 0, t[5]], [0, 6, 7]),
        "a leaf more at the end of the first tree",
    )
    case("split_for_leaf", to("tree.kind", 4, 1), "the last leaf of the first tree is a split")
    case("leaf_for_split", to("tree.kind", 0, 0), "the first split is a leaf")
    case("kind", to("tree.kind", 4, 2), "a node of kind 2")
    case("no_nodes", steps(lambda t: [*t[:5]], [0, 5, 5]), "a tree without nodes")
    case("offset_start", to("tree.offset", 0, 1), "the first offset is 1")
    case("offset_end", to("tree.offset", 2, 5), "the last offset is one too low")
    case("offset_beyond", to("tree.offset", 2, 7), "the last offset is one too high")
    case("offsets_descend", whole("tree.offset", [0, 6, 5, 6]), "offsets that descend")
    case("offsets_back", whole("tree.offset", [0, 5, 3, 6]), "a second offset that goes back behind a whole tree")
    case("one_offset", whole("tree.offset", [0]), "one offset, so no tree")
    case("offset_inside", to("tree.offset", 1, 4), "an offset inside the first tree")
    case("bound_set", to("tree.bounds", 5, 3), "a bound set that does not exist")
    for name, new, words in [
        ("disjunct_without_tree", "[0, 0]", "a disjunct without a tree"),
        ("disjunct_too_many", "[0, 0, 1, 1]", "a tree for a fourth disjunct"),
        ("tree_unused", "[0, 0, 0]", "a tree that no disjunct uses"),
        ("tree_beyond", "[0, 1, 2]", "a tree that does not exist"),
    ]:
        make.text(code, name, SHARED, "cert.json", "[0, 0, 1]", new, words)
    depth = 4097

    def deep(tensors: Tensors) -> None:
        kinds = [1] * depth + [0] * (depth + 1)
        for name in TREE:
            whole(name, kinds if name == "tree.kind" else [0] * len(kinds))(tensors)
        whole("tree.offset", [0, len(kinds)])(tensors)

    make.tensors("limit.tree-depth", "deep", SMALL, HINTS, deep, "a tree of 4097 splits on one path")


def literals(make: Maker) -> None:
    """`tree.literal`."""
    code = "tree.literal"

    def case(name: str, edit: Edit, words: str) -> None:
        make.tensors(code, name, SHARED, HINTS, edit, words)

    case("threshold", to("tree.threshold", 1, 2), "a threshold beyond the two")
    case("threshold_far", to("tree.threshold", 1, 2**32 - 1), "a threshold of 2^32 - 1")
    case("coordinate", to("tree.coordinate", 1, 2), "a coordinate beyond the two of its node")
    case("node", to("tree.node", 1, 6), "a split on a node that does not exist")
    make.text(
        code, "thresholds", SHARED, "cert.json", '["1/3", 0]', '["1/3"]', "a threshold taken out of the list"
    )


def hints(make: Maker) -> None:
    """`hint.shape`."""
    code = "hint.shape"

    def case(name: str, edit: Edit, words: str) -> None:
        make.tensors(code, name, SHARED, HINTS, edit, words)

    def renamed(old: str, new: str) -> Edit:
        def edit(tensors: Tensors) -> None:
            for name in [n for n in tensors if n.startswith(old)]:
                tensors[new + name.removeprefix(old)] = tensors.pop(name)

        return edit

    case("offsets_descend", to("leaf.rows.offset", 1, 4), "offsets of rows that descend")
    case("offset_start", to("leaf.rows.offset", 0, 1), "the first offset of rows is 1")
    case("offset_end", to("leaf.rows.offset", 7, 9), "the last offset of rows is one too low")
    case("multipliers_short", whole("leaf.rows.multiplier", [1] * 9), "a multiplier less than rows")
    case("row_beyond", to("leaf.rows.index", 0, 1), "a row that the disjunct does not have")
    case("depth_beyond", to("leaf.splits.depth", 0, 2), "a split deeper than the leaf")
    case("columns_descend", whole("leaf.4.columns", [1, 0]), "coordinates that descend")
    case("columns_repeat", whole("leaf.4.columns", [1, 1]), "a coordinate twice")
    case("columns_beyond", whole("leaf.4.columns", [0, 2]), "a coordinate that the node does not have")
    case("no_activation", renamed("leaf.4.", "leaf.3."), "slopes for a linear node")
    case("no_node", renamed("leaf.4.", "leaf.6."), "slopes for a node that does not exist")
    case(
        "start", renamed("bounds.1.3.", "bounds.1.2."), "a bound set for a relu, which is no argument of one"
    )
    case("rows_beyond", whole("bounds.1.3.rows", [2]), "a bound set for a coordinate that does not exist")
    case(
        "set_activation",
        renamed("bounds.1.3.2.", "bounds.1.3.5."),
        "a bound set with slopes of a linear node",
    )


def domains(make: Maker) -> None:
    """`hint.domain`."""
    code = "hint.domain"
    nan, infinity = float("nan"), float("inf")
    for name, tensor_name, place, value, words in [
        ("slope_above", "leaf.2.slope", 0, 1.5, "a slope of 3/2"),
        ("slope_just_above", "leaf.2.slope", 0, 1.0000000000000002, "a slope of 1 + 2^-52"),
        ("slope_below", "leaf.4.slope", 0, -0.25, "a slope of -1/4"),
        ("slope_just_below", "leaf.2.slope", 2, -5e-324, "a slope of -2^-1074"),
        ("slope_nan", "leaf.4.slope", 0, nan, "a slope that is NaN"),
        ("slope_infinite", "leaf.4.slope", 0, infinity, "a slope that is an infinity"),
        ("slope_last_entry", "leaf.4.slope", 13, 2, "a slope of 2 in the last entry"),
        ("set_slope_above", "bounds.1.3.2.lower", 0, 1.5, "a slope of 3/2 in a bound set"),
        ("set_slope_below", "bounds.1.3.2.upper", 0, -1, "a slope of -1 in a bound set"),
        ("set_slope_nan", "bounds.1.3.2.upper", 1, nan, "a slope in a bound set that is NaN"),
        ("row_negative", "leaf.rows.multiplier", 0, -1, "a row with the multiplier -1"),
        ("row_nan", "leaf.rows.multiplier", 0, nan, "a multiplier that is NaN"),
        ("row_infinite", "leaf.rows.multiplier", 9, infinity, "a multiplier that is an infinity"),
        ("split_negative", "leaf.splits.multiplier", 0, -1, "a split with the multiplier -1"),
        ("split_nan", "leaf.splits.multiplier", 0, nan, "a multiplier of a split that is NaN"),
    ]:
        make.tensors(code, name, SHARED, HINTS, to(tensor_name, place, value), words)


def unproved(make: Maker) -> None:
    """`leaf.unproved`: hints that are well formed and prove nothing."""
    code = "leaf.unproved"

    def case(name: str, edit: Edit, words: str) -> None:
        make.tensors(code, name, SHARED, HINTS, edit, words)

    def zeros(name: str) -> Edit:
        return lambda tensors: tensors.update(
            {name: tensor(tensors[name].dtype, tensors[name].shape, [0] * len(elements(tensors[name])))}
        )

    case("split_multiplier", zeros("leaf.splits.multiplier"), "the multiplier of the split is 0")
    case("row_multipliers", zeros("leaf.rows.multiplier"), "all multipliers of rows are 0")
    case(
        "one_row",
        to("leaf.rows.multiplier", 1, 0),
        "one of two rows that are needed together has the multiplier 0",
    )
    case("huge_multiplier", to("leaf.splits.multiplier", 0, 3e38), "a multiplier of 3e38 for the split")
    case("slopes", zeros("leaf.2.slope"), "all slopes of the first relu are 0")
    case("set_slopes", zeros("bounds.1.3.2.upper"), "all slopes of a bound set are 0")
    case("set_not_applied", to("tree.bounds", 5, 1), "the bound set without slopes for the one with slopes")
    case("no_bounds", to("tree.bounds", 5, 0), "no bound set at the second tree")
    case("other_split", to("tree.coordinate", 1, 0), "a split on the other coordinate")

    def swapped(tensors: Tensors) -> None:
        values = elements(tensors["leaf.2.slope"])
        values[:4] = [*values[2:4], *values[:2]]
        tensors["leaf.2.slope"] = tensor("F64", [7, 2], values)

    case("entries_swapped", swapped, "the slopes of two entries swapped")

    def children(tensors: Tensors) -> None:
        offsets = elements(tensors["leaf.splits.offset"])
        tensors["leaf.splits.offset"] = tensor("U32", [8], [offsets[0], 1, *[1] * 6])

    case("leaves_swapped", children, "the hint for one leaf of a split given to the other")

    def root(tensors: Tensors) -> None:
        for name in [n for n in tensors if n.startswith("leaf.")]:
            del tensors[name]
        for name in TREE:
            tensors[name] = tensor(tensors[name].dtype, [1], [0])
        tensors["tree.offset"] = tensor("U32", [2], [0, 1])
        tensors["tree.bounds"] = tensor("U32", [1], [1])

    make.tensors(code, "no_splits", SMALL, HINTS, root, "a tree of one leaf")
    make.text(code, "threshold", SHARED, "cert.json", '["1/3", 0]', '["1/3", 10]', "a threshold of 10 for 0")


def bound_again(make: Maker) -> None:
    """`leaf.unproved`: documents that were changed and bound again, so that the proposition is false."""
    code = "leaf.unproved"
    for name, file, old, new, words in [
        (
            "again_first_bias",
            "graph.json",
            '[1, 0.5]], "bias": [0, 0]',
            '[1, 0.5]], "bias": [0, 1]',
            "a bias of 1 for 0",
        ),
        ("again_weight", "graph.json", "[[1, -1], [-1, 2]]", "[[2, -1], [-1, 2]]", "a weight of 2 for 1"),
        ("again_region", "property.json", '"upper": [1,', '"upper": [2,', "a larger region"),
        ("again_bound", "property.json", '"-9/4"', '"-2"', "a bound that y0 reaches"),
        (
            "again_bound_closed",
            "property.json",
            '"2/3", "strict": true',
            '"4/5", "strict": false',
            "a closed row that holds where the other does",
        ),
        ("again_other_output", "property.json", '{"y": {"0": "1"}', '{"y": {"1": "1"}', "the other output"),
    ]:
        make.text(code, name, SHARED, file, old, new, words + ", bound again", again=True)
    for name, old, new, words in [
        ("again_vnnlib_bound", "(<= Y_0 -0.5)", "(<= Y_0 0.5)", "an output bound of 1/2"),
        ("again_vnnlib_direction", "(<= Y_0 -0.5)", "(>= Y_0 -0.5)", "the other direction"),
    ]:
        make.text(code, name, SMALL, "property.vnnlib", old, new, words + ", bound again", again=True)
    words = "a larger region, bound again: true, but not proved with these hints"
    make.text(
        code, "wider_region", SMALL, "property.vnnlib", "(>= X_0 -1)", "(>= X_0 -10)", words, again=True
    )

    def lowered(tensors: Tensors) -> None:
        old = tensors["3.bias"]
        tensors["3.bias"] = tensor(old.dtype, old.shape, [elements(old)[0] - 2])

    make.tensors(
        code, "again_bias", SMALL, PAYLOAD, lowered, "the last bias lowered by 2, bound again", again=True
    )
    for case in make.cases:
        false = case.name.startswith("again_") and case.code == code
        if false and (isinstance(case.content, bytes) or witness(case.content) is None):
            raise ValueError(f"{case.name}: no counterexample on the grid")


def curved(make: Maker) -> None:
    """Slopes of upper lines, of a function that bends both ways."""
    upper = ["leaf.2.high", "leaf.4.high"]

    def case(code: str, name: str, edit: Edit, words: str) -> None:
        make.tensors(code, f"tanh_{name}", TANH, HINTS, edit, words)

    def left_out(tensors: Tensors) -> None:
        for name in upper:
            del tensors[name]

    def zero(tensors: Tensors) -> None:
        tensors.update({name: tensor("F32", [2, 8], [0] * 16) for name in upper})

    def shorter(tensors: Tensors) -> None:
        tensors[upper[0]] = tensor("F32", [2, 7], elements(tensors[upper[0]])[:14])

    def misspelled(tensors: Tensors) -> None:
        tensors["leaf.2.upper"] = tensors.pop(upper[0])

    case("leaf.unproved", "high_left_out", left_out, "upper lines of tanh at leaves with the default slopes")
    case("leaf.unproved", "high_zero", zero, "upper lines of tanh at leaves with slopes 0")
    case("hint.domain", "high_nan", to(upper[1], 9, float("nan")), "a slope of an upper line that is NaN")
    case("tensors.shape", "high", shorter, "slopes of upper lines for seven of eight columns")
    case("tensors.unused", "high_misspelled", misspelled, "slopes of upper lines under another name")
    make.text(
        "limit.function-bits",
        "periods",
        "sine",
        "property.json",
        '"upper": ["1"]',
        '"upper": ["1e5"]',
        "a sine over thousands of periods, bound again",
        again=True,
    )
    make.tensors(
        "leaf.unproved",
        "sine_default",
        "sine",
        HINTS,
        lambda tensors: tensors.clear(),
        "the default slopes for the upper line of a sine",
    )
