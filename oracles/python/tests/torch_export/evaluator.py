"""What graphs mean, in numpy and binary64: written from schemas/SPEC.md, section 1, without a look at how graphs are made."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

UNARY = {
    "relu": lambda x: np.maximum(x, 0), "abs": np.abs, "neg": np.negative, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
    "softplus": lambda x: np.log(1 + np.exp(x)), "exp": np.exp, "sin": np.sin, "cos": np.cos, "erf": np.vectorize(math.erf), "sqrt": np.sqrt,
    "log": np.log, "inv": lambda x: 1 / x, "hard_swish": lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6,
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2, "silu": lambda x: x / (1 + np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log(1 + np.exp(x))), "sign": np.sign, "floor": np.floor, "detach": lambda x: x, "sum": np.sum,
}  # fmt: skip
BINARY = {
    "add": np.add, "sub": np.subtract, "mul_elem": np.multiply, "div": np.divide, "max_elem": np.maximum, "min_elem": np.minimum,
    "matmul": np.matmul,
}  # fmt: skip
REDUCTIONS = {"reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min}


def evaluate(graph: dict[str, Any], payload: dict[str, np.ndarray], x: np.ndarray) -> list[np.ndarray]:
    """The outputs. Every declared shape is asserted, every payload tensor is used."""
    values: list[np.ndarray] = []
    for node in graph["nodes"]:
        prefix = f"{node['id']}."
        numbers = {name.removeprefix(prefix): a.astype(np.float64) for name, a in payload.items() if name.startswith(prefix)}
        value = np.asarray(x if node["kind"] == "input" else meaning(node, [values[p] for p in node["parents"]], numbers))
        assert list(value.shape) == node["shape"], (node, value.shape)
        values.append(value)
    assert {int(name.split(".")[0]) for name in payload} <= set(range(len(values)))
    return [values[place] for place in graph["output_ids"]]


def meaning(node: dict[str, Any], parents: list[np.ndarray], n: dict[str, np.ndarray]) -> np.ndarray:
    """The value of one node."""
    kind, p = node["kind"], parents[0] if parents else None
    if kind in UNARY:
        return UNARY[kind](p)
    if kind in BINARY:
        assert kind == "matmul" or parents[0].shape == parents[1].shape
        return BINARY[kind](*parents)
    if kind in REDUCTIONS:
        return REDUCTIONS[kind](p, axis=tuple(node["axes"]), keepdims=node["keepdim"])
    return globals()[f"mean_{kind}"](node, p, n) if kind not in ("concat", "where", "mse_loss") else several(node, parents, n)


def several(node: dict[str, Any], parents: list[np.ndarray], n: dict[str, np.ndarray]) -> np.ndarray:
    if node["kind"] == "concat":
        return np.concatenate(parents, axis=node["axis"])
    return np.where(n["mask"] == 1, *parents) if node["kind"] == "where" else np.mean((parents[0] - parents[1]) ** 2)


def mean_const(node, p, n):
    return n["values"]


def mean_linear(node, p, n):
    assert n["weight"].shape == (node["out_dim"], node["in_dim"]) and p.shape[-1] == node["in_dim"]
    return p @ n["weight"].T + n["bias"]


def mean_flatten(node, p, n):
    assert node["value_shape"] == list(p.shape)
    return p.reshape(-1)


def mean_reshape(node, p, n):
    assert node["in_shape"] == list(p.shape)
    return p.reshape(node["out_shape"])


def mean_permute(node, p, n):
    return np.transpose(p, node["perm"])


def mean_transpose(node, p, n):
    return np.swapaxes(p, node["axis1"], node["axis2"])


def mean_broadcast_to(node, p, n):
    assert node["from_shape"] == list(p.shape)
    return np.broadcast_to(p, node["to_shape"])


def mean_slice(node, p, n):
    steps = node.get("step", [1] * p.ndim)
    assert all(0 <= a < b <= s for a, b, s in zip(node["start"], node["stop"], p.shape))
    return p[tuple(slice(a, b, c) for a, b, c in zip(node["start"], node["stop"], steps))]


def mean_gather(node, p, n):
    taken = np.take(p, node["indices"], axis=node["axis"])
    shape = [*p.shape[: node["axis"]], *node["indices_shape"], *p.shape[node["axis"] + 1 :]]
    return taken.reshape(shape)


def mean_pad(node, p, n):
    return np.pad(p, list(zip(node["padding"], node["padding_after"])), constant_values=float(n["value"]))


def mean_upsample(node, p, n):
    for axis, scale in enumerate(node["scale"]):
        p = np.repeat(p, scale, axis=axis)
    return p


def mean_softmax(node, p, n):
    e = np.exp(p)
    return e / e.sum(axis=node["axis"], keepdims=True)


def mean_hard_masked_softmax(node, p, n):
    assert n["mask"].shape == p.shape and n["mask"].any(axis=node["axis"]).all()
    e = np.exp(p) * n["mask"]
    return e / e.sum(axis=node["axis"], keepdims=True)


def mean_batch_norm_eval(node, p, n):
    axis = node["channel_axis"]
    assert p.shape[axis] == node["channels"] and n["eps"] > 0
    view = [-1 if a == axis else 1 for a in range(p.ndim)]
    gamma, beta, mean, var = (n[name].reshape(view) for name in ("gamma", "beta", "mean", "var"))
    return gamma * (p - mean) / np.sqrt(var + n["eps"]) + beta


def mean_layernorm(node, p, n):
    axes = tuple(range(node["axis"], p.ndim))
    assert n["gamma"].shape == p.shape[node["axis"] :]
    m, v = p.mean(axis=axes, keepdims=True), p.var(axis=axes, keepdims=True)
    return n["gamma"] * (p - m) / np.sqrt(v + n["eps"]) + n["beta"]


def mean_pow(node, p, n):
    return p ** float(n["exponent"])


def mean_leaky_relu(node, p, n):
    return np.where(p >= 0, p, n["alpha"] * p)


def mean_elu(node, p, n):
    return np.where(p >= 0, p, n["alpha"] * (np.exp(p) - 1))


def mean_selu(node, p, n):
    return n["gamma"] * np.where(p >= 0, p, n["alpha"] * (np.exp(p) - 1))


def mean_prelu(node, p, n):
    slope = n["slope"].reshape([-1 if a == node["channel_axis"] else 1 for a in range(p.ndim)])
    assert n["slope"].shape == (p.shape[node["channel_axis"]],)
    return np.where(p >= 0, p, slope * p)


def mean_clip(node, p, n):
    return np.minimum(np.maximum(p, n["low"]), n["high"])


def places(*extents: int) -> Any:
    return itertools.product(*map(range, extents))


def mean_conv(node, p, n):
    """Place by place: out[o, q] = bias + Σ weight[o, c, k] · in[c, q·stride + k·dilation − padding]."""
    first, spatial = node["channel_axis"], node["input_spatial"]
    assert list(p.shape[first:]) == [node["in_channels"], *spatial]
    assert n["weight"].shape == (node["out_channels"], node["in_channels"], *node["kernel"])
    flat = p.reshape(-1, *p.shape[first:])
    out = np.zeros((len(flat), node["out_channels"], *node["shape"][first + 1 :])) + n["bias"].reshape(-1, *[1] * len(spatial))
    for q in places(*out.shape[2:]):
        for k in places(*node["kernel"]):
            at = tuple(a * s + b * d - o for a, b, s, d, o in zip(q, k, node["stride"], node["dilation"], node["padding"]))
            if all(0 <= a < e for a, e in zip(at, spatial)):
                out[(slice(None), slice(None), *q)] += flat[(slice(None), slice(None), *at)] @ n["weight"][(slice(None), slice(None), *k)].T
    after = node.get("padding_after", node["padding"])
    for extent, e, b, a, k, d, s in zip(out.shape[2:], spatial, node["padding"], after, node["kernel"], node["dilation"], node["stride"]):
        assert extent == (e + b + a - (k - 1) * d - 1) // s + 1
    return out.reshape(node["shape"])


def mean_conv_transpose(node, p, n):
    """out[o, y] = bias + Σ weight[i, o, k] · in[i, x] over y = x·stride + k·dilation − padding."""
    first, spatial = node["channel_axis"], node["input_spatial"]
    flat = p.reshape(-1, *p.shape[first:])
    extents = node["shape"][first + 1 :]
    out = np.zeros((len(flat), node["out_channels"], *extents)) + n["bias"].reshape(-1, *[1] * len(spatial))
    for x in places(*spatial):
        for k in places(*node["kernel"]):
            at = tuple(a * s + b * d - o for a, b, s, d, o in zip(x, k, node["stride"], node["dilation"], node["padding"]))
            if all(0 <= a < e for a, e in zip(at, extents)):
                out[(slice(None), slice(None), *at)] += flat[(slice(None), slice(None), *x)] @ n["weight"][(slice(None), slice(None), *k)]
    return out.reshape(node["shape"])


def windows(node, p):
    """For each place of the result the numbers of its window that lie inside, and the number of all its places."""
    rank = node["spatial_rank"]
    extents, steps = p.shape[-rank:], node.get("dilation", [1] * rank)
    out = np.empty(tuple(node["shape"]), dtype=object)
    for q in places(*node["shape"]):
        lead, spatial = q[:-rank], q[-rank:]
        inside = []
        for k in places(*node["kernel"]):
            at = tuple(a * s + b * d - o for a, b, s, d, o in zip(spatial, k, node["stride"], steps, node["padding"]))
            if all(0 <= a < e for a, e in zip(at, extents)):
                inside.append(p[(*lead, *at)])
        out[q] = inside
    after = node.get("padding_after", node["padding"])
    for extent, e, b, a, k, d, s in zip(node["shape"][-rank:], extents, node["padding"], after, node["kernel"], steps, node["stride"]):
        assert extent == (e + b + a - (k - 1) * d - 1) // s + 1
    return out


def mean_max_pool(node, p, n):
    return np.vectorize(max, otypes=[float])(windows(node, p))


def mean_avg_pool(node, p, n):
    whole = math.prod(node["kernel"])
    every = node.get("count_include_pad", True)
    return np.vectorize(lambda inside: sum(inside) / (whole if every else len(inside)), otypes=[float])(windows(node, p))
