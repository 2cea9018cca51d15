"""What the graphs of the ONNX importer mean, in numpy and binary64, for tests: written from schemas/SPEC.md, section 1."""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "detach": lambda x: x, "relu": lambda x: np.maximum(x, 0), "abs": np.abs, "neg": np.negative, "sigmoid": sigmoid, "tanh": np.tanh,
    "softplus": lambda x: np.logaddexp(0, x), "exp": np.exp, "sin": np.sin, "cos": np.cos, "erf": erf, "sqrt": np.sqrt, "log": np.log,
    "inv": lambda x: 1 / x, "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6, "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2,
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "gelu_tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
}  # fmt: skip
FOLDS = {"add": np.add, "sub": np.subtract, "mul_elem": np.multiply, "div": np.divide, "max_elem": np.maximum, "min_elem": np.minimum,
         "add_n": np.add, "max_n": np.maximum, "min_n": np.minimum}  # fmt: skip
REDUCTIONS = {"reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min}


def on_axis(values, axis, rank):
    """A vector along one axis of many."""
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def padded(a, x, filler):
    """The value with the padding of its windows."""
    widths = [(0, 0)] * (x.ndim - a["spatial_rank"]) + list(zip(a["padding"], a.get("padding_after", a["padding"])))
    return np.pad(x, widths, constant_values=filler)


def views(a, x, extents):
    """For each place of the kernel the elements that it meets, one for each window."""
    dilation = a.get("dilation", [1] * a["spatial_rank"])
    for place in np.ndindex(*a["kernel"]):
        sides = zip(place, dilation, a["stride"], extents)
        yield place, x[(..., *(slice(k * d, k * d + (o - 1) * s + 1, s) for k, d, s, o in sides))]


def conv(a, shape, x, weight, bias):
    over = views(a, padded(a, x, 0), shape[2:])
    total = sum(np.einsum("nc...,oc->no...", view, weight[(..., *place)]) for place, view in over)
    return total + on_axis(bias, 1, len(shape))


def conv_transpose(a, shape, x, weight, bias):
    full = np.zeros((x.shape[0], shape[1], *(n + sum(p) for n, p in zip(shape[2:], zip(a["padding"], a["padding_after"])))))
    for place, view in views(a, full, x.shape[2:]):
        view += np.einsum("ni...,io->no...", x, weight[(..., *place)])
    cut = (slice(p, p + n) for p, n in zip(a["padding"], shape[2:]))
    return full[(..., *cut)] + on_axis(bias, 1, len(shape))


def pool(a, shape, x, kind):
    extents = shape[2:]
    if kind == "max_pool":
        return np.max([view for _, view in views(a, padded(a, x, -np.inf), extents)], axis=0)
    total = sum(view for _, view in views(a, padded(a, x, 0), extents))
    places = padded(a, np.ones_like(x), float(a.get("count_include_pad", True)))
    return total / sum(view for _, view in views(a, places, extents))


def batch_norm(a, x, f):
    gamma, beta, mean, var = (on_axis(f[name], a["channel_axis"], x.ndim) for name in ("gamma", "beta", "mean", "var"))
    return gamma * (x - mean) / np.sqrt(var + f["eps"]) + beta


def layernorm(a, x, f):
    axes = tuple(range(a["axis"], x.ndim))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return f["gamma"] * (x - mean) / np.sqrt(var + f["eps"]) + f["beta"]


def softmax(a, x, _):
    e = np.exp(x - x.max(a["axis"], keepdims=True))
    return e / e.sum(a["axis"], keepdims=True)


def leaky(x, slope):
    return np.where(x >= 0, x, slope * x)


def elu(a, x, f):
    return np.where(x >= 0, x, f["alpha"] * np.expm1(x))


def split(a, x, _):
    begin = sum(a["sizes"][: a["index"]])
    return np.take(x, range(begin, begin + a["sizes"][a["index"]]), a["axis"])


def upsample(a, x, _):
    for axis, factor in enumerate(a["scale"]):
        x = np.repeat(x, factor, axis)
    return x


ONE = {
    "linear": lambda a, x, f: x @ f["weight"].T + f["bias"],
    "leaky_relu": lambda a, x, f: leaky(x, f["alpha"]),
    "prelu": lambda a, x, f: leaky(x, on_axis(f["slope"], a["channel_axis"], x.ndim)),
    "elu": elu,
    "selu": lambda a, x, f: f["gamma"] * elu(a, x, f),
    "clip": lambda a, x, f: np.clip(x, f["low"], f["high"]),
    "hard_sigmoid": lambda a, x, f: np.clip(f["alpha"] * x + f["beta"], 0, 1),
    "pow": lambda a, x, f: x ** f["exponent"],
    "batch_norm_eval": batch_norm,
    "layernorm": layernorm,
    "softmax": softmax,
    "permute": lambda a, x, f: x.transpose(a["perm"]),
    "reshape": lambda a, x, f: x.reshape(a["out_shape"]),
    "broadcast_to": lambda a, x, f: np.broadcast_to(x, a["to_shape"]),
    "slice": lambda a, x, f: x[tuple(map(slice, a["start"], a["stop"], a["step"]))],
    "split": split,
    "gather": lambda a, x, f: np.take(x, np.array(a["indices"]).reshape(a["indices_shape"]), a["axis"]),
    "pad": lambda a, x, f: np.pad(x, list(zip(a["padding"], a["padding_after"])), constant_values=f["value"]),
    "upsample": upsample,
    "global_avg_pool": lambda a, x, f: x.mean(tuple(range(-a["spatial_rank"], 0)), keepdims=True),
}


def value(node, parents, fields):
    """The value of one node."""
    kind = node["kind"]
    if kind == "const":
        return fields["values"]
    if kind in UNARY:
        return UNARY[kind](*parents)
    if kind in FOLDS:
        return FOLDS[kind].reduce(parents)
    if kind in REDUCTIONS:
        return REDUCTIONS[kind](parents[0], tuple(node["axes"]), keepdims=node["keepdim"])
    match kind:
        case "matmul":
            return np.matmul(*parents)
        case "where":
            return np.where(fields["mask"] == 1, *parents)
        case "concat":
            return np.concatenate(parents, node["axis"])
        case "conv":
            return conv(node, node["shape"], *parents, fields["weight"], fields["bias"])
        case "conv_transpose":
            return conv_transpose(node, node["shape"], *parents, fields["weight"], fields["bias"])
        case "max_pool" | "avg_pool":
            return pool(node, node["shape"], *parents, kind)
    return ONE[kind](node, parents[0], fields)


def outputs(graph, tensors, x):
    """The values of the outputs; every node has the shape that it states and every tensor its node."""
    fields = [{} for _ in graph["nodes"]]
    for name, array in tensors.items():
        place, field = name.split(".")
        fields[int(place)][field] = array.astype(np.float64)
    values = []
    for node in graph["nodes"]:
        found = x.astype(np.float64) if node["kind"] == "input" else value(node, [values[p] for p in node["parents"]], fields[node["id"]])
        if list(found.shape) != node["shape"]:
            raise AssertionError(f"node {node['id']}, {node['kind']}: {node['shape']} is stated, {list(found.shape)} computed")
        values.append(found)
    return [values[place] for place in graph["output_ids"]]
