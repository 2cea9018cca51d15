"""Cases of `tensors.*`: what is wrong with a safetensors file, and with a tensor of one."""

from __future__ import annotations

from bundle import elements, framed, safetensors, split, tensor
from digests import Tensor, read_safetensors
from reject.case import HINTS, PAYLOAD, Maker, accepted, swapped

SMALL = "small_relu"
SHARED = "shared_tree"
Tensors = dict[str, Tensor]


def cases(make: Maker) -> None:
    """All cases of this module."""
    headers(make)
    layout(make)
    entries(make)
    missing(make)


def headers(make: Maker) -> None:
    """`tensors.header`, and JSON faults in the header."""
    code = "tensors.header"
    file = accepted(SMALL)[PAYLOAD]
    header, data = split(file)

    def case(name: str, content: bytes, words: str) -> None:
        make.files(code, name, SMALL, {PAYLOAD: content}, words)

    case("no_bytes", b"", "all bytes cut off")
    case("seven_bytes", file[:7], "all but seven bytes cut off")
    case("longer_than_file", (10**6).to_bytes(8, "little") + file[8:], "a header longer than the file")
    case(
        "eight_spaces",
        framed(header + b" " * (8 + -len(header) % 8), data),
        "eight spaces or more after the header",
    )
    case(
        "unaligned_spaces",
        framed(header + b" " * (-len(header) % 8 + 1 if len(header) % 8 != 7 else 3), data),
        "spaces that do not align the header",
    )
    case("space_before", framed(b" " + header, data), "a space before the header")
    case("line_break", framed(header + b"\n", data), "a line break after the header")
    case("array", framed(b"[" + header + b"]", data), "an array for the header")
    case(
        "three_offsets",
        framed(swapped(header, '"data_offsets":[0,', '"data_offsets":[0,0,'), data),
        "three offsets for two",
    )
    make.files(
        "limit.header-bytes",
        "length",
        SMALL,
        {PAYLOAD: (100_000_001).to_bytes(8, "little") + file[8:]},
        "a header of 100000001 bytes",
    )
    for code, name, old, new, words in [
        (
            "json.unknown-key",
            "tensor",
            '"dtype":',
            '"device":"cuda","dtype":',
            "an unknown field of a tensor",
        ),
        ("json.missing-key", "tensor", '"dtype":"F32",', "", "a tensor without its type"),
        ("json.type", "metadata", "{", '{"__metadata__":{"epoch":3},', "a number in the metadata"),
        (
            "json.number",
            "offset",
            '"data_offsets":[0,',
            '"data_offsets":[-0.5,',
            "an offset that is no natural number",
        ),
    ]:
        make.files(
            code, name, SMALL, {PAYLOAD: framed(header.replace(old.encode(), new.encode(), 1), data)}, words
        )
    first = header[: header.index(b"}") + 1].lstrip(b"{")
    code = "tensors.duplicate"
    make.files(
        code, "twice", SMALL, {PAYLOAD: framed(b"{" + first + b"," + header[1:], data)}, "a tensor twice"
    )
    escaped = first.replace(b'"1.', b'"\\u0031.', 1)
    make.files(
        code,
        "escaped",
        SMALL,
        {PAYLOAD: framed(b"{" + escaped + b"," + header[1:], data)},
        "a tensor twice, once with an escape in its name",
    )


def layout(make: Maker) -> None:
    """`tensors.layout`."""
    code = "tensors.layout"
    file = accepted(SMALL)[PAYLOAD]
    header, data = split(file)

    def case(name: str, content: bytes, words: str) -> None:
        make.files(code, name, SMALL, {PAYLOAD: content}, words)

    case("trailing", file + b"\0", "one byte after the last tensor")
    case("cut_short", file[:-1], "the last byte cut off")
    case("hole_at_start", framed(_shifted(file, 4), b"\0" * 4 + data), "four bytes before the first tensor")
    case("overlap", _overlap(file), "two tensors that share their bytes")
    case(
        "reversed",
        framed(swapped(header, '"data_offsets":[0,16]', '"data_offsets":[16,0]'), data),
        "a range that ends before it begins",
    )
    case(
        "beyond",
        framed(swapped(header, '"data_offsets":[0,16]', '"data_offsets":[0,1000000]'), data),
        "a range that reaches beyond the file",
    )
    make.files(
        code,
        "hints_trailing",
        SHARED,
        {HINTS: accepted(SHARED)[HINTS] + b"\0"},
        "one byte after the last hint",
    )


def _shifted(file: bytes, by: int) -> bytes:
    """The header with all ranges moved."""
    end = by
    parts = []
    for name, value in read_safetensors(file).items():
        parts.append(
            f'"{name}":{{"dtype":"{value.dtype}","shape":{value.shape},"data_offsets":[{end},{end + len(value.data)}]}}'
        )
        end += len(value.data)
    return ("{" + ",".join(parts) + "}").encode()


def _overlap(file: bytes) -> bytes:
    """A file in which the bias of node 1 is the first row of its weight."""
    tensors = read_safetensors(file)
    header, data = split(safetensors({"1.weight": tensors["1.weight"], **tensors}))
    begin = len(tensors["1.weight"].data)
    size = len(tensors["1.bias"].data)
    old = f'"1.bias":{{"dtype":"F32","shape":[4],"data_offsets":[{begin},{begin + size}]}}'
    new = f'"1.bias":{{"dtype":"F32","shape":[4],"data_offsets":[0,{size}]}}'
    return framed(swapped(header, old, new), data)


def entries(make: Maker) -> None:
    """`tensors.dtype`, `tensors.shape` and `tensors.not-finite`."""
    code = "tensors.dtype"
    header, data = split(accepted(SMALL)[PAYLOAD])
    for name, dtype, words in [
        ("unknown", "F33", "a type that does not exist"),
        ("integers", "I32", "a weight of integers"),
        ("lower_case", "f32", "a type in small letters"),
    ]:
        content = framed(header.replace(b'"F32"', f'"{dtype}"'.encode(), 1), data)
        make.files(code, name, SMALL, {PAYLOAD: content}, words)

    def retyped(name: str, dtype: str) -> object:
        def edit(tensors: Tensors) -> None:
            tensors[name] = tensor(dtype, tensors[name].shape, elements(tensors[name]))

        return edit

    make.tensors(
        code, "kind", SHARED, HINTS, retyped("tree.kind", "U32"), "the kinds of tree nodes with 32 bits"
    )
    make.tensors(code, "node", SHARED, HINTS, retyped("tree.node", "F32"), "the nodes of splits as floats")
    make.tensors(
        code,
        "slope",
        SHARED,
        HINTS,
        lambda t: t.update({"leaf.4.slope": Tensor("U32", [7, 2], t["leaf.4.slope"].data)}),
        "slopes as integers",
    )
    code = "tensors.shape"
    make.files(
        code,
        "bytes",
        SMALL,
        {PAYLOAD: framed(header.replace(b'"shape":[4]', b'"shape":[5]', 1), data)},
        "a shape that its bytes do not fill",
    )

    def reshaped(name: str, shape: list[int]) -> object:
        def edit(tensors: Tensors) -> None:
            tensors[name] = Tensor(tensors[name].dtype, shape, tensors[name].data)

        return edit

    for name, tensor_name, shape, words in [
        ("node", "tree.node", [1, 6], "the nodes of splits as a matrix"),
        ("slope", "leaf.4.slope", [2, 7], "slopes with their axes swapped"),
        ("bounds", "bounds.1.3.2.upper", [2], "slopes of a bound set as a vector"),
    ]:
        make.tensors(code, name, SHARED, HINTS, reshaped(tensor_name, shape), words)

    def longer(tensors: Tensors) -> None:
        tensors["leaf.rows.offset"] = tensor("U32", [9], [*elements(tensors["leaf.rows.offset"]), 10])

    make.tensors(code, "offsets", SHARED, HINTS, longer, "one offset more than entries")

    def shorter(tensors: Tensors) -> None:
        tensors["leaf.4.slope"] = tensor("F32", [6, 2], elements(tensors["leaf.4.slope"])[:12])

    make.tensors(code, "entry_missing", SHARED, HINTS, shorter, "slopes of one entry less")
    code = "tensors.not-finite"

    def set_first(name: str, value: float) -> object:
        def edit(tensors: Tensors) -> None:
            old = tensors[name]
            tensors[name] = tensor(old.dtype, old.shape, [value, *elements(old)[1:]])

        return edit

    nan, infinity = float("nan"), float("inf")
    make.tensors(code, "nan_weight", SMALL, PAYLOAD, set_first("1.weight", nan), "a weight that is NaN")
    make.tensors(
        code, "infinite_bias", SMALL, PAYLOAD, set_first("3.bias", infinity), "a bias that is an infinity"
    )
    make.tensors(
        code, "nan_threshold", SMALL, HINTS, set_first("threshold.value", nan), "a threshold that is NaN"
    )
    make.tensors(
        code,
        "infinite_threshold",
        SMALL,
        HINTS,
        set_first("threshold.value", -infinity),
        "a threshold that is minus infinity",
    )


def missing(make: Maker) -> None:
    """`tensors.missing` and `tensors.unused`."""

    def without(name: str) -> object:
        return lambda tensors: tensors.pop(name)

    def renamed(old: str, new: str) -> object:
        def edit(tensors: Tensors) -> None:
            tensors[new] = tensors.pop(old)

        return edit

    code = "tensors.missing"
    for name in [
        "tree.kind",
        "tree.node",
        "tree.coordinate",
        "tree.threshold",
        "leaf.rows.index",
        "leaf.splits.multiplier",
        "leaf.4.slope",
        "bounds.1.3.2.upper",
    ]:
        make.tensors(code, name.replace(".", "_"), SHARED, HINTS, without(name), f"without `{name}`")
    code = "tensors.unused"
    one = tensor("F32", [1], [1])
    make.tensors(
        code, "payload", SMALL, PAYLOAD, lambda t: t.update({"2.weight": one}), "a weight for a relu"
    )
    make.tensors(
        code,
        "payload_node",
        SMALL,
        PAYLOAD,
        lambda t: t.update({"9.weight": one}),
        "a weight for a node that does not exist",
    )
    make.tensors(
        code,
        "leading_zero",
        SMALL,
        PAYLOAD,
        lambda t: t.update({"01.weight": t["1.weight"]}),
        "a weight under an id with a leading zero",
    )
    make.tensors(
        code,
        "hint",
        SHARED,
        HINTS,
        lambda t: t.update({"leaf.lower_bound": one}),
        "a bound that the certificate states",
    )
    make.tensors(
        code,
        "misspelled",
        SHARED,
        HINTS,
        renamed("leaf.splits.offset", "leaf.split.offset"),
        "a misspelled tensor",
    )
    make.tensors(
        code, "columns", SHARED, HINTS, without("leaf.2.columns"), "slopes whose coordinates are absent"
    )
    make.tensors(
        "tensors.shape",
        "no_trees",
        SMALL,
        HINTS,
        without("tree.offset"),
        "without `tree.offset`: one leaf, and hints for two",
    )
    make.text(code, "plain_set", SHARED, "cert.json", '"slopes"', '"plain"', "slopes for a plain bound set")
    make.tensors(
        code,
        "set_beyond",
        SHARED,
        HINTS,
        renamed("bounds.1.3.rows", "bounds.2.3.rows"),
        "rows of a bound set that does not exist",
    )
