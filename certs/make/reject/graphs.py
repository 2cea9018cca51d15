"""Cases of `graph.*`."""

from __future__ import annotations

from bundle import tensor
from digests import Tensor
from reject.case import PAYLOAD, Maker, accepted, swapped

CHAPTER = "chapter"
CONVOLUTION = "convolution"
TORCHLEAN = "torchlean"
EXTENDED = "extended"
INPUT = '{"id": 0, "kind": "input", "parents": [], "shape": [1, 4]}'
RELU = '{"id": 1, "kind": "relu", "parents": [0], "shape": [1, 4]}'
SUM = '{"id": 2, "kind": "sum", "parents": [1], "shape": []}'


def cases(make: Maker) -> None:
    """All cases of this module."""
    order(make)
    operators(make)
    attributes(make)
    shapes(make)
    numbers(make)
    superset(make)
    opaque(make)
    domains(make)


def order(make: Maker) -> None:
    """Format, ids, parents, input and outputs."""
    make.document(
        "graph.format", "version", CHAPTER, "torchlean.ir.v1", "torchlean.ir.v2", "the format torchlean.ir.v2"
    )
    make.document(
        "graph.format",
        "params",
        CHAPTER,
        "torchlean.ir.v1",
        "torchlean.params.v1",
        "the format of another document",
    )
    make.document(
        "graph.format", "space", CHAPTER, "torchlean.ir.v1", "torchlean.ir.v1 ", "a space after the format"
    )
    nodes = f"\n  {INPUT},\n  {RELU},\n  {SUM}\n"
    make.document("graph.empty", "nodes", CHAPTER, nodes, "", "no nodes")
    code = "graph.id-order"
    make.document(code, "from_one", CHAPTER, '"id": 2', '"id": 3', "the last id is one too high")
    make.document(code, "twice", CHAPTER, '"id": 1', '"id": 0', "an id twice")
    make.document(code, "swapped", CHAPTER, f"{INPUT},\n  {RELU}", f"{RELU},\n  {INPUT}", "two nodes swapped")
    code = "graph.parent-order"
    make.document(code, "later", CHAPTER, '"parents": [0]', '"parents": [2]', "a parent that is a later node")
    make.document(
        code, "itself", CHAPTER, '"parents": [0]', '"parents": [1]', "a node that is its own parent"
    )
    make.document(code, "no_node", CHAPTER, '"parents": [0]', '"parents": [7]', "a parent that is no node")
    code = "graph.input"
    make.document(code, "other_id", CHAPTER, '"input_id": 0', '"input_id": 1', "`input_id` names the relu")
    make.document(code, "no_node", CHAPTER, '"input_id": 0', '"input_id": 3', "`input_id` names no node")
    make.document(
        code,
        "two",
        CHAPTER,
        RELU,
        RELU.replace('"relu", "parents": [0]', '"input", "parents": []'),
        "a second input",
    )
    make.document(
        code,
        "none",
        CHAPTER,
        INPUT,
        INPUT.replace('"input"', '"const"').replace("4]", '4], "values": [1, 2, 3, 4]'),
        "a const in place of the input",
    )
    code = "graph.output"
    make.document(
        code, "no_node", CHAPTER, '"output_ids": [2]', '"output_ids": [3]', "an output that is no node"
    )
    make.document(code, "none", CHAPTER, '"output_ids": [2]', '"output_ids": []', "no output")
    make.document(
        code,
        "both_spellings",
        CHAPTER,
        '"output_ids": [2]',
        '"output_ids": [2], "output_id": 2',
        "outputs in both spellings",
    )


def operators(make: Maker) -> None:
    """Unknown operators and the number of parents."""
    code = "graph.unsupported-op"
    make.document(code, "sort", CHAPTER, '"relu"', '"sort"', "the operator sort")
    make.document(code, "capital", CHAPTER, '"relu"', '"ReLU"', "relu with capital letters")
    make.document(code, "empty", CHAPTER, '"relu"', '""', "an operator without a name")
    make.document(code, "tan", CHAPTER, '"relu"', '"tan"', "an operator outside the table")
    code = "graph.arity"
    make.document(
        code, "relu_of_two", CHAPTER, '"parents": [0]', '"parents": [0, 0]', "a relu of two parents"
    )
    make.document(code, "relu_of_none", CHAPTER, '"parents": [0]', '"parents": []', "a relu without parents")
    make.document(code, "add_of_one", CHAPTER, '"relu"', '"add"', "an add of one parent")
    make.document(
        code, "sub_of_three", "numbers", '"parents": [1, 2]', '"parents": [1, 2, 2]', "a sub of three parents"
    )
    make.document(
        code, "concat_of_one", CONVOLUTION, '"parents": [6, 6]', '"parents": [6]', "a concat of one parent"
    )
    make.document(
        code,
        "const_of_one",
        "numbers",
        '"const", "parents": []',
        '"const", "parents": [1]',
        "a const with a parent",
    )


def attributes(make: Maker) -> None:
    """`graph.attribute`."""
    code = "graph.attribute"
    edits = {
        "missing": (', "axis": 1}', "}", "a concat without its axis"),
        "wrong_type": ('"axis": 1}', '"axis": "1"}', "an axis that is a string"),
        "negative": ('"axis": 1}', '"axis": -1}', "an axis of -1"),
        "number_for_list": ('"perm": [0, 2, 3, 1]', '"perm": 0', "a permutation that is a number"),
        "perm_repeats": (
            '"perm": [0, 2, 3, 1]',
            '"perm": [0, 2, 3, 3]',
            "a permutation that repeats an axis",
        ),
        "stride_zero": ('"stride": [2, 2]', '"stride": [2, 0]', "a stride of 0"),
        "stride_huge": ('"stride": [2, 2]', '"stride": [2, 18446744073709551615]', "a stride beyond every input"),
        "dilation_huge": ('"dilation": [1, 1]', '"dilation": [1, 2147483649]', "a dilation beyond every input"),
        "dilation_zero": ('"dilation": [1, 1]', '"dilation": [0, 1]', "a dilation of 0"),
        "kernel_of_three": ('"kernel": [2, 2]', '"kernel": [2, 2, 1]', "a kernel of three axes for two"),
        "padding_of_one": ('"padding": [1, 0]', '"padding": [1]', "a padding of one axis for two"),
        "groups_zero": ('"groups": 2', '"groups": 0', "no groups"),
        "groups_do_not_divide": ('"groups": 2', '"groups": 3', "three groups for two channels"),
        "input_spatial_short": (
            '"input_spatial": [3, 3]',
            '"input_spatial": [3]',
            "one spatial axis for two",
        ),
    }
    for name, (old, new, words) in edits.items():
        make.document(code, name, CONVOLUTION, old, new, words)
    make.document(
        code, "tuple", "numbers", '"value_kind": "tensor"', '"value_kind": "tuple"', "a value that is a tuple"
    )
    make.document(
        code, "value_kind", "numbers", '"value_kind": "tensor"', '"value_kind": "x"', "a value that is neither"
    )


def shapes(make: Maker) -> None:
    """`graph.shape-rule` and `graph.shape-mismatch`."""
    code = "graph.shape-rule"
    make.document(code, "no_elements", CHAPTER, INPUT, INPUT.replace("4]", "0]"), "an input without elements")
    make.document(
        code, "in_dim", "numbers", '"in_dim": 3', '"in_dim": 4', "`in_dim` is not the parent's last axis"
    )
    make.document(
        code,
        "sub_of_other_shapes",
        "numbers",
        '"shape": [1, 2], "value_shape": [1, 2]',
        '"shape": [2], "value_shape": [2]',
        "a sub of the shapes [1, 2] and [2]",
    )
    edits = {
        "channel_axis": ('"channel_axis": 1', '"channel_axis": 0', "the channel axis is that of the batch"),
        "in_channels": ('"in_channels": 2', '"in_channels": 4', "four channels of a parent with two"),
        "input_spatial": (
            '"input_spatial": [3, 3]',
            '"input_spatial": [3, 4]',
            "spatial axes that the parent does not have",
        ),
        "kernel_too_large": ('"kernel": [2, 2]', '"kernel": [2, 5]', "a kernel wider than the padded input"),
        "perm_short": ('"perm": [0, 2, 3, 1]', '"perm": [0, 2, 1]', "a permutation of three axes of four"),
        "transpose_axis": ('"axis2": 1', '"axis2": 2', "an axis that the parent does not have"),
        "concat_other_axis": ('"parents": [6, 6]', '"parents": [6, 5]', "a concat of the shapes [4, 2] and [2, 4] along axis 1"),
        "concat_axis": ('"axis": 1}', '"axis": 2}', "an axis that the parents do not have"),
        "reshape_elements": ('"out_shape": [2, 4]', '"out_shape": [2, 5]', "a reshape of 8 elements to 10"),
        "reshape_from": ('"in_shape": [8]', '"in_shape": [4, 2]', "`in_shape` is not the parent's shape"),
        "broadcast": ('"to_shape": [2, 4, 4]', '"to_shape": [2, 4, 3]', "a broadcast of 4 to 3"),
        "broadcast_from": (
            '"from_shape": [4, 4]',
            '"from_shape": [1, 4]',
            "`from_shape` is not the parent's shape",
        ),
        "flatten_from": (
            '"value_shape": [1, 2, 2, 2]',
            '"value_shape": [8]',
            "`value_shape` is not the parent's shape",
        ),
    }
    for name, (old, new, words) in edits.items():
        make.document(code, name, CONVOLUTION, old, new, words)
    code = "graph.shape-mismatch"
    make.document(
        code, "relu", CHAPTER, RELU, RELU.replace("[1, 4]", "[1, 5]"), "a relu of [1, 4] that declares [1, 5]"
    )
    make.document(code, "sum", CHAPTER, '"shape": []', '"shape": [1]', "a sum that declares [1]")
    make.document(
        code, "rank", CHAPTER, RELU, RELU.replace("[1, 4]", "[4]"), "a relu of [1, 4] that declares [4]"
    )
    make.document(
        code, "flatten", CONVOLUTION, '"shape": [8]', '"shape": [1, 8]', "a flatten that keeps an axis"
    )
    make.document(
        code,
        "conv",
        CONVOLUTION,
        '"padding_after": [0, 1]',
        '"padding_after": [0, 3]',
        "more padding than the declared shape has room for",
    )
    make.document(code, "concat", CONVOLUTION, '"axis": 1}', '"axis": 0}', "a concat along the other axis")


def numbers(make: Maker) -> None:
    """`graph.payload`."""
    code = "graph.payload"
    make.document(code, "absent", "numbers", ', "bias": [0.25, -7]', "", "a linear node without bias")
    make.document(
        code, "row_short", "numbers", "[1e2, -0.0, 3]", "[1e2, -0.0]", "a row of two numbers for three"
    )
    make.document(
        code,
        "transposed",
        "numbers",
        "[[0.5, -1, 2e-1], [1e2, -0.0, 3]]",
        "[[0.5, 1e2], [-1, -0.0], [2e-1, 3]]",
        "a weight that is transposed",
    )
    make.document(code, "flat_short", "numbers", "[0.25, -7]", "[0.25]", "a bias of one number for two")
    make.document(
        code, "nested_deeper", "numbers", "[0.25, -7]", "[[0.25], [-7]]", "a bias nested one deeper"
    )
    make.document(
        code,
        "out_dim",
        "numbers",
        '"out_dim": 2,\n   "weight": [[0.5, -1, 2e-1], [1e2, -0.0, 3]]',
        '"out_dim": 2,\n   "weight": [[0.5, -1, 2e-1]]',
        "a weight of one row for two",
    )
    make.document(
        code,
        "off_the_block",
        CONVOLUTION,
        "[[0, 0], [0, 0]]], [[[0, 0]",
        "[[0, 0], [0, 1e-300]]], [[[0, 0]",
        "a weight between channels of two groups",
    )

    def given_twice(tensors: dict[str, Tensor]) -> None:
        tensors["1.bias"] = tensor("F64", [2], [0, 0])

    make.tensors(
        code, "given_twice", "shared_tree", PAYLOAD, given_twice, "a bias in the node and in the payload file"
    )

    def without_bias(tensors: dict[str, Tensor]) -> None:
        del tensors["3.bias"]

    make.tensors(
        code, "absent_in_file", "small_relu", PAYLOAD, without_bias, "a bias taken out of the payload file"
    )

    def transposed(tensors: dict[str, Tensor]) -> None:
        weight = tensors["1.weight"]
        tensors["1.weight"] = Tensor(weight.dtype, weight.shape[::-1], weight.data)

    make.tensors(
        code,
        "shape_in_file",
        "small_relu",
        PAYLOAD,
        transposed,
        "a weight of the payload file with its axes swapped",
    )


def superset(make: Maker) -> None:
    """Operators beyond the first ones, of both formats."""
    make.document(
        "graph.unsupported-op",
        "extension",
        EXTENDED,
        "certkern.ir.v1",
        "torchlean.ir.v1",
        "operators of certkern.ir.v1 in torchlean.ir.v1",
    )
    make.document(
        "json.unknown-key",
        "extension",
        TORCHLEAN,
        '"kernel": [2],',
        '"kernel": [2], "count_include_pad": true,',
        "an attribute of certkern.ir.v1 in torchlean.ir.v1",
    )
    for key, words in {
        '"padding_mode": "reflect"': "a padding that is not of zeros",
        '"ceil_mode": true': "an extent that is rounded up",
        '"divisor_override": 2': "a divisor of its own",
    }.items():
        name = key.split('"')[1]
        make.document(
            "json.unknown-key", name, TORCHLEAN, '"kernel": [2],', f'"kernel": [2], {key},', words
        )
    make.document(
        "json.unknown-key",
        "training",
        TORCHLEAN,
        '"channels": 2,',
        '"channels": 2, "training": true,',
        "a batch norm that is being trained",
    )
    edits = {
        "graph.payload": {
            "eps_zero": (TORCHLEAN, '"eps": 0.001', '"eps": 0', "a batch norm with eps 0"),
            "eps_negative": (TORCHLEAN, '"eps": 1e-05', '"eps": -1e-05', "a layer norm with eps below 0"),
            "var_negative": (TORCHLEAN, '"var": [0, 2]', '"var": [0, -2]', "a variance below 0"),
            "mask_half": (TORCHLEAN, "[1, 1, 0, 0]", "[1, 0.5, 0, 0]", "a mask of a half"),
            "mask_empty": (TORCHLEAN, "[1, 0, 0, 0]]]", "[0, 0, 0, 0]]]", "a line that is masked throughout"),
            "clip_crossed": (EXTENDED, '"low": -1, "high": 6', '"low": -1, "high": -2', "ends that cross"),
            "selu_gamma": (EXTENDED, '"gamma": 1.0625', '"gamma": 0', "a selu with gamma 0"),
            "where_two": (EXTENDED, "[0, 0, 1]]]", "[0, 0, 2]]]", "a mask of 2"),
            "pad_value": (EXTENDED, ', "value": -1.5', "", "a pad without its value"),
        },
        "graph.attribute": {
            "axes_twice": (TORCHLEAN, '"axes": [2, 0]', '"axes": [2, 2]', "an axis that is reduced twice"),
            "keepdim_number": (TORCHLEAN, '"keepdim": true', '"keepdim": 1', "a Boolean that is a number"),
            "heads": (TORCHLEAN, '"num_heads": 1', '"num_heads": 3', "three heads of an embedding of four"),
            "batch_first": (TORCHLEAN, '"batch_first": true', '"batch_first": false', "the batch is second"),
            "dropout": (TORCHLEAN, '"dropout_zero": true', '"dropout_zero": false', "attention with dropout"),
            "weights": (TORCHLEAN, '"index": 0', '"index": 1', "the weights of attention"),
            "not_a_tuple": (TORCHLEAN, '"tuple", ', '"tensor", ', "attention whose value is a tensor"),
            "pool_kernel_zero": (TORCHLEAN, '"kernel": [2]', '"kernel": [0]', "a window without places"),
            "slice_backwards": (EXTENDED, '"stop": [2, 3]', '"stop": [1, 3]', "a slice that ends at its start"),
            "slice_lengths": (EXTENDED, '"stop": [2, 3]', '"stop": [2]', "fewer ends than starts of a slice"),
            "split_index": (EXTENDED, '"index": 1', '"index": 2', "a third piece of two"),
        },
        "graph.shape-rule": {
            "reduction_axis": (TORCHLEAN, '"axes": [2, 0]', '"axes": [3, 0]', "an axis beyond the rank"),
            "softmax_axis": (
                TORCHLEAN, '"softmax", "parents": [0], "shape": [1, 2, 4], "axis": 2',
                '"softmax", "parents": [0], "shape": [1, 2, 4], "axis": 3', "an axis beyond the rank",
            ),
            "channels": (TORCHLEAN, '"channels": 2', '"channels": 3', "three channels of a parent with two"),
            "window_in_padding": (TORCHLEAN, '"padding": [1]', '"padding": [3]', "a window in the padding"),
            "attention_of_matrix": (
                TORCHLEAN, '"parents": [0, 0, 0]', '"parents": [0, 0, 17]', "values of another embedding",
            ),
            "tuple_as_tensor": (
                TORCHLEAN, '"mse_loss", "parents": [21, 11]', '"mse_loss", "parents": [20, 11]',
                "a tuple where a tensor is expected",
            ),
            "item_of_tensor": (
                TORCHLEAN, '"tuple_getitem", "parents": [20]', '"tuple_getitem", "parents": [0]',
                "a component of a tensor",
            ),
            "probability": (
                TORCHLEAN, '"bernoulli_mask", "parents": [22]', '"bernoulli_mask", "parents": [23]',
                "a probability that is no scalar",
            ),
            "epsilon": (TORCHLEAN, '"parents": [1, 2]', '"parents": [1, 1]', "an epsilon that is no scalar"),
            "inner": (TORCHLEAN, '"parents": [15, 16]', '"parents": [0, 16]', "4 columns times 2 rows"),
            "transposed_padding": (
                EXTENDED, '"stride": [2], "padding": [0], "dilation": [1], "groups": 1, "channel_axis": 1, "in_channels": 2',
                '"stride": [2], "padding": [4], "dilation": [1], "groups": 1, "channel_axis": 1, "in_channels": 2',
                "a transposed convolution of which the padding leaves nothing",
            ),
            "gather_index": (EXTENDED, '"indices": [3, 0]', '"indices": [4, 0]', "a place beyond the axis"),
            "split_sizes": (EXTENDED, '"sizes": [1, 1]', '"sizes": [1, 2]', "pieces of three for an axis of two"),
            "squeeze": (EXTENDED, '"axes": [0, 2]', '"axes": [0, 3]', "an axis beyond the rank"),
        },
        "graph.shape-mismatch": {
            "expand": (EXTENDED, '"to_shape": [2, 3]', '"to_shape": [0, 3]', "an axis of length 0"),
            "pool": (TORCHLEAN, '"stride": [2], "padding": [0]', '"stride": [1], "padding": [0]', "a shorter step"),
            "keepdim": (TORCHLEAN, '"keepdim": true', '"keepdim": false', "an axis that vanishes, yet is declared"),
        },
    }  # fmt: skip
    for code, named in edits.items():
        for name, (sibling, old, new, words) in named.items():
            make.document(code, name, sibling, old, new, words)
    make.document(
        "graph.output", "tuple", TORCHLEAN, '"output_id": 24', '"output_id": 20', "a tuple for the output"
    )
    make.document(
        "graph.arity", "add_n_of_none", EXTENDED, '"add_n", "parents": [16, 15, 0]', '"add_n", "parents": []',
        "a sum of nothing",
    )  # fmt: skip


def opaque(make: Maker) -> None:
    """`graph.opaque`: well-shaped graphs of which no values are known."""
    text = accepted("small_relu")["graph.json"]
    for kind in ("sign", "floor"):
        changed = swapped(swapped(text, "torchlean.ir.v1", "certkern.ir.v1"), "relu", kind)
        changes = {"graph.json": changed}
        make.files("graph.opaque", kind, "small_relu", changes, f"{kind} for relu, bound again", again=True)


def domains(make: Maker) -> None:
    """`domain.unproved`, and what is not true of operators that are defined."""
    lower = '"lower": [1, 1, 1, 1, 1, 1, 1, 1]'
    for name, end, words in [
        ("log", "-8", "a logarithm of what may be below 0"),
        ("div", '"1/2"', "a divisor that may be 0, and a logarithm too"),
    ]:
        wider = lower.replace("[1", f"[{end}").replace(", 1", f", {end}")
        make.text("domain.unproved", name, "domains", "property.json", lower, wider, f"{words}, bound again", again=True)
    edits = {
        "domains_bound": ("domains", '"1/2"', '"5/4"', "a bound that the first output passes"),
        "attention_bound": ("attention", '"-5/2"', '"-5/4"', "a bound that the attention passes"),
        "layernorm_bound": ("attention", '"-1/2"', '"3/4"', "a bound that the layer norm passes"),
    }
    for name, (sibling, old, new, words) in edits.items():
        text = accepted(sibling)["property.json"].replace(old.encode(), new.encode(), 1)
        make.files("leaf.unproved", name, sibling, {"property.json": text}, f"{words}, bound again", again=True)
