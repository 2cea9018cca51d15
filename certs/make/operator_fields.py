"""Attributes with their defaults, and payload fields with their shapes, of every operator of `schemas/SPEC.md`, section 1."""

from __future__ import annotations

from collections.abc import Callable

Node = dict
Shape = list[int]

CONVOLUTION = (
    "spatial_rank kernel stride padding padding_after dilation groups channel_axis in_channels out_channels "
    "input_spatial"
)
POOLING = "spatial_rank kernel stride padding padding_after dilation"

ATTRIBUTES = {
    "const": "value_shape",
    "rand_uniform": "seed",
    "bernoulli_mask": "seed",
    "prelu": "channel_axis",
    "linear": "in_dim out_dim",
    "conv": CONVOLUTION,
    "conv_transpose": f"{CONVOLUTION} output_padding",
    "max_pool": POOLING,
    "avg_pool": f"{POOLING} count_include_pad",
    "global_avg_pool": "spatial_rank",
    "batch_norm_eval": "channel_axis channels",
    "layernorm": "axis",
    "softmax": "axis",
    "hard_masked_softmax": "axis",
    "reduce_sum": "axes keepdim",
    "reduce_mean": "axes keepdim",
    "reduce_max": "axes keepdim",
    "reduce_min": "axes keepdim",
    "flatten": "value_shape",
    "reshape": "in_shape out_shape",
    "squeeze": "axes",
    "unsqueeze": "axes",
    "permute": "perm",
    "transpose": "axis1 axis2",
    "concat": "axis",
    "broadcast_to": "from_shape to_shape",
    "expand": "to_shape",
    "slice": "start stop step",
    "split": "axis sizes index",
    "gather": "axis indices indices_shape",
    "pad": "padding padding_after",
    "upsample": "scale",
    "multihead_attention": "embed_dim num_heads batch_first dropout_zero bias",
    "tuple_getitem": "index",
}
"""The attributes of the operators that have some."""


def default(node: Node, name: str, parent: Shape) -> int | list[int]:
    """An attribute that is absent, by the shape of the first parent."""
    match name:
        case "value_shape":
            return node["shape"] if node["kind"] == "const" else parent
        case "in_shape":
            return parent
        case "out_shape":
            return node["shape"]
        case "in_dim":
            return parent[-1]
        case "out_dim":
            return node["shape"][-1]
        case "channels":
            return parent[node["channel_axis"]]
        case "padding_after":
            return node["padding"]
        case "input_spatial":
            return parent[node["channel_axis"] + 1 :]
        case "dilation":
            return [1] * len(node["kernel"])
        case "output_padding":
            return [0] * len(node["kernel"])
        case "step":
            return [1] * len(parent)
        case "indices_shape":
            return [len(node["indices"])]
        case "count_include_pad":
            return 1
    raise ValueError(f"{name} of {node['kind']} is absent")


def attributes(node: Node, parent: Shape) -> dict[str, int | list[int]]:
    """The attributes of a node with the defaults written out."""
    names = ATTRIBUTES.get(node["kind"], "").split()
    return {name: node[name] if name in node else default(node, name, parent) for name in names}


def one(_node: Node, _parent: Shape) -> Shape:
    """One number."""
    return []


def own(node: Node, _parent: Shape) -> Shape:
    """The shape of the node."""
    return node["shape"]


def channels(node: Node, parent: Shape) -> Shape:
    """One number for each channel."""
    return [parent[node["channel_axis"]]]


def out_channels(node: Node, _parent: Shape) -> Shape:
    """One number for each channel of the value."""
    return [node["out_channels"]]


def suffix(node: Node, parent: Shape) -> Shape:
    """The axes from `axis` on."""
    return parent[node["axis"] :]


def square(node: Node, _parent: Shape) -> Shape:
    """A map of an embedding to another."""
    return [node["embed_dim"]] * 2


def embedding(node: Node, _parent: Shape) -> Shape:
    """A vector of an embedding."""
    return [node["embed_dim"]]


FIELDS: dict[str, dict[str, Callable[[Node, Shape], Shape]]] = {
    "const": {"values": own},
    "pow": {"exponent": one},
    "leaky_relu": {"alpha": one},
    "elu": {"alpha": one},
    "prelu": {"slope": channels},
    "selu": {"alpha": one, "gamma": one},
    "clip": {"low": one, "high": one},
    "hard_sigmoid": {"alpha": one, "beta": one},
    "where": {"mask": own},
    "linear": {
        "weight": lambda node, parent: [node["shape"][-1], parent[-1]],
        "bias": lambda node, _: [node["shape"][-1]],
    },
    "conv": {
        "weight": lambda node, _: [node["out_channels"], node["in_channels"], *node["kernel"]],
        "bias": out_channels,
    },
    "conv_transpose": {
        "weight": lambda node, _: [node["in_channels"], node["out_channels"], *node["kernel"]],
        "bias": out_channels,
    },
    "batch_norm_eval": {"eps": one} | dict.fromkeys(("gamma", "beta", "mean", "var"), channels),
    "layernorm": {"eps": one, "gamma": suffix, "beta": suffix},
    "hard_masked_softmax": {"mask": own},
    "pad": {"value": one},
    "multihead_attention": {f"{part}_weight": square for part in ("q", "k", "v", "out")}
    | {f"{part}_bias": embedding for part in ("q", "k", "v", "out")}
    | {"scale": one},
}
"""The payload fields of the operators that have some."""


def shape(node: Node) -> Shape:
    """The shape of the value; of a tuple that of its first component."""
    return node["tuple_shapes"][0] if "tuple_shapes" in node else node["shape"]
