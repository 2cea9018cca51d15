"""Values of operators by PyTorch in float64, for kernel/graph/tests/operators.rs: `python3 operators.py OUT.json`.

Each case is a graph with its numbers in the nodes, an input, and the value of its last node.
"""

import json
import sys

import torch
import torch.nn.functional as F

torch.manual_seed(20261130)
torch.set_default_dtype(torch.float64)


def sample(*shape, low=-128, high=129):
    """Multiples of 1/64, which decimals spell exactly."""
    return torch.randint(low, high, shape) / 64


def positive(*shape):
    return sample(*shape, low=8, high=200)


class Graph:
    """A graph under way: nodes as JSON, each with its value."""

    def __init__(self, name, value):
        self.name, self.nodes, self.values = name, [], []
        self.input = value
        self.node("input", [], value)

    def node(self, kind, parents, result, /, **fields):
        own = {"id": len(self.nodes), "kind": kind, "parents": parents}
        if kind == "multihead_attention":
            own |= {"value_kind": "tuple", "tuple_shapes": [list(result.shape)]}
        else:
            own["shape"] = list(result.shape)
        fields = {key: f.tolist() if isinstance(f, torch.Tensor) else f for key, f in fields.items()}
        self.nodes.append(own | fields)
        self.values.append(result)
        return len(self.nodes) - 1

    def constant(self, value):
        return self.node("const", [], value, values=value)

    def halves(self):
        """The two halves of the input along its first axis."""
        size = self.input.shape[0] // 2
        parts = self.input.split(size)
        return [self.node("split", [0], part, axis=0, sizes=[size, size], index=i) for i, part in enumerate(parts)]

    def case(self):
        graph = {"format": "certkern.ir.v1", "input_id": 0, "output_ids": [len(self.nodes) - 1], "nodes": self.nodes}
        return {
            "name": self.name,
            "graph": graph,
            # Every digit of a large number: the shortest decimal is another number.
            "input": [int(x) if abs(x) >= 2**53 else x for x in self.input.flatten().tolist()],
            "expected": self.values[-1].flatten().tolist(),
        }


def unary(kind, function, at=None, /, **fields):
    graph = Graph(kind, sample(2, 5) if at is None else at)
    graph.node(kind, [0], function(graph.input), **fields)
    return graph


def elementwise():
    for kind, function in {
        "abs": torch.abs,
        "neg": torch.neg,
        "exp": torch.exp,
        "erf": torch.erf,
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "softplus": F.softplus,
        "sin": torch.sin,
        "cos": torch.cos,
        "relu": torch.relu,
        "detach": torch.detach,
    }.items():
        yield unary(kind, function)
    yield unary("hard_swish", F.hardswish, sample(2, 8) * 3)
    for kind, function in {"sqrt": torch.sqrt, "log": torch.log, "inv": torch.reciprocal}.items():
        yield unary(kind, function, positive(2, 5))
    for exponent in (0, 1, 2, 3):
        yield unary("pow", lambda x: x**exponent, exponent=exponent)
    for exponent in (-1, -2, 0.5, 1.5, -0.5):
        yield unary("pow", lambda x: x**exponent, positive(5), exponent=exponent)
    yield unary("leaky_relu", lambda x: F.leaky_relu(x, 0.01), alpha=0.01)
    yield unary("elu", lambda x: F.elu(x, 1.5), alpha=1.5)
    alpha, gamma = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    yield unary("selu", F.selu, alpha=alpha, gamma=gamma)
    yield unary("clip", lambda x: x.clamp(-0.75, 1.25), low=-0.75, high=1.25)
    yield unary("hard_sigmoid", lambda x: (0.2 * x + 0.5).clamp(0, 1), sample(2, 8) * 3, alpha=0.2, beta=0.5)
    slope = sample(3)
    x = sample(2, 3, 2)
    yield unary("prelu", lambda x: F.prelu(x, slope), x, channel_axis=1, slope=slope)
    mask = torch.tensor([[1, 0, 1], [0, 0, 1]])
    for kind, function in {
        "add": torch.add,
        "sub": torch.sub,
        "mul_elem": torch.mul,
        "div": torch.div,
        "max_elem": torch.maximum,
        "min_elem": torch.minimum,
    }.items():
        graph = Graph(kind, positive(4, 3))
        first, second = graph.halves()
        graph.node(kind, [first, second], function(graph.values[first], graph.values[second]))
        yield graph
        graph = Graph(f"{kind} with a constant", sample(2, 3))
        second = graph.constant(positive(2, 3))
        graph.node(kind, [0, second], function(graph.input, graph.values[second]))
        yield graph
        graph = Graph(f"{kind} of a constant", positive(2, 3))
        first = graph.constant(sample(2, 3))
        graph.node(kind, [first, 0], function(graph.values[first], graph.input))
        yield graph
    graph = Graph("where", sample(4, 3))
    first, second = graph.halves()
    value = torch.where(mask.bool(), graph.values[first], graph.values[second])
    graph.node("where", [first, second], value, mask=mask)
    yield graph
    for kind, function in {"add_n": torch.sum, "max_n": torch.amax, "min_n": torch.amin}.items():
        graph = Graph(kind, sample(4, 3))
        parents = [*graph.halves(), graph.constant(sample(2, 3))]
        graph.node(kind, parents, function(torch.stack([graph.values[p] for p in parents]), dim=0))
        yield graph
    graph = Graph("mul_elem of one", sample(2, 3))
    graph.node("mul_elem", [0, 0], graph.input**2)
    yield graph
    graph = Graph("safe_log", sample(2, 3))
    epsilon = graph.constant(torch.tensor(1e-6))
    graph.node("safe_log", [0, epsilon], torch.log(F.softplus(graph.input) + 1e-6))
    yield graph
    graph = Graph("mse_loss", sample(4, 3))
    first, second = graph.halves()
    graph.node("mse_loss", [first, second], F.mse_loss(graph.values[first], graph.values[second]))
    yield graph


def matmul():
    for left, right in [([3], [3]), ([2, 3], [3]), ([3], [3, 2]), ([2, 3], [3, 4]), ([2, 1, 2, 3], [2, 3, 2])]:
        x, y = sample(*left), sample(*right)
        value = torch.matmul(x, y)
        graph = Graph(f"matmul {left} {right}, the left constant", y)
        graph.node("matmul", [graph.constant(x), 0], value)
        yield graph
        graph = Graph(f"matmul {left} {right}, the right constant", x)
        graph.node("matmul", [0, graph.constant(y)], value)
        yield graph
        graph = Graph(f"matmul {left} {right}", torch.cat([x.flatten(), y.flatten()]))
        cut, sizes = x.numel(), [x.numel(), y.numel()]
        first = graph.node("split", [0], graph.input[:cut], axis=0, sizes=sizes, index=0)
        first = graph.node("reshape", [first], x)
        second = graph.node("split", [0], graph.input[cut:], axis=0, sizes=sizes, index=1)
        second = graph.node("reshape", [second], y)
        graph.node("matmul", [first, second], value)
        yield graph


def windows():
    for shape, kernel, stride, padding, dilation in [
        ((2, 7), [3], [2], [1], [1]),
        ((2, 3, 5, 6), [2, 3], [2, 1], [1, 1], [1, 2]),
        ((1, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1]),
    ]:
        rank = len(kernel)
        fields = {"spatial_rank": rank, "kernel": kernel, "stride": stride, "padding": padding}
        pool = {1: F.max_pool1d, 2: F.max_pool2d}[rank]
        value = lambda x: pool(x, kernel, stride, padding, dilation)
        yield unary("max_pool", value, sample(*shape), **fields, dilation=dilation)
        pool = {1: F.avg_pool1d, 2: F.avg_pool2d}[rank]
        for whole in (True, False):
            value = lambda x: pool(x, kernel, stride, padding, count_include_pad=whole)
            yield unary("avg_pool", value, sample(*shape), **fields, count_include_pad=whole)
    yield unary("global_avg_pool", lambda x: x.mean((1, 2), keepdim=True), sample(2, 3, 5), spatial_rank=2)
    for shape, out, kernel, stride, padding, more, dilation, groups in [
        ((1, 2, 4), 3, [3], [2], [1], [1], [1], 1),
        ((2, 2, 3, 4), 2, [2, 3], [1, 2], [0, 1], [0, 1], [2, 1], 2),
        ((1, 1, 2, 2), 1, [2, 2], [3, 1], [2, 0], [2, 0], [1, 1], 1),
    ]:
        inputs = shape[1]
        dense = torch.zeros(inputs, out, *kernel)
        weight = sample(inputs, out // groups, *kernel)
        for i in range(inputs):
            group = i // (inputs // groups)
            dense[i, group * (out // groups) : (group + 1) * (out // groups)] = weight[i]
        bias = sample(out)
        function = {1: F.conv_transpose1d, 2: F.conv_transpose2d}[len(kernel)]
        value = lambda x: function(x, weight, bias, stride, padding, more, groups, dilation)
        yield unary(
            "conv_transpose", value, sample(*shape), spatial_rank=len(kernel), kernel=kernel, stride=stride,
            padding=padding, output_padding=more, dilation=dilation, groups=groups, channel_axis=1,
            in_channels=inputs, out_channels=out, weight=dense, bias=bias,
        )  # fmt: skip


def normalisation():
    gamma, beta, mean = sample(3), sample(3), sample(3)
    for name, var, eps in [("irrational", positive(3), 1e-5), ("of squares", torch.tensor([0.0, 2.0, 8.75]), 0.25)]:
        value = lambda x: F.batch_norm(x, mean, var, gamma, beta, eps=eps)
        own = {"eps": eps, "gamma": gamma, "beta": beta, "mean": mean, "var": var, "channel_axis": 1}
        graph = unary("batch_norm_eval", value, sample(2, 3, 2, 2), **own)
        graph.name += f" {name}"
        yield graph
    for axis in (1, 2):
        shape = [2, 3, 4]
        gamma, beta = sample(*shape[axis:]), sample(*shape[axis:])
        value = lambda x: F.layer_norm(x, shape[axis:], gamma, beta, 1e-5)
        yield unary("layernorm", value, sample(*shape), axis=axis, eps=1e-5, gamma=gamma, beta=beta)
    for axis in range(3):
        yield unary("softmax", lambda x: x.softmax(axis), sample(2, 3, 4) * 4, axis=axis)
    yield unary("softmax", lambda x: x.softmax(0), sample(1, 3), axis=0)
    mask = torch.tensor([[1, 0, 1, 1], [0, 1, 0, 0]])
    value = lambda x: x.masked_fill(mask == 0, float("-inf")).softmax(1)
    yield unary("hard_masked_softmax", value, sample(2, 4), axis=1, mask=mask)
    for embed, heads in [(4, 1), (4, 2)]:
        layer = torch.nn.MultiheadAttention(embed, heads, batch_first=True).eval()
        graph = Graph(f"multihead_attention of {heads} heads", sample(2, 3, embed))
        x = graph.input
        value = layer(x, x, x)[0].detach()
        q, k, v = layer.in_proj_weight.detach().split(embed)
        layer.in_proj_bias.data.copy_(sample(3 * embed))
        layer.out_proj.bias.data.copy_(sample(embed))
        value = layer(x, x, x)[0].detach()
        qb, kb, vb = layer.in_proj_bias.detach().split(embed)
        attention = graph.node(
            "multihead_attention", [0, 0, 0], value, embed_dim=embed, num_heads=heads, batch_first=True,
            dropout_zero=True, bias=True, q_weight=q, k_weight=k, v_weight=v, q_bias=qb, k_bias=kb, v_bias=vb,
            out_weight=layer.out_proj.weight.detach(), out_bias=layer.out_proj.bias.detach(),
            scale=(embed / heads) ** -0.5,
        )  # fmt: skip
        graph.node("tuple_getitem", [attention], value, index=0)
        yield graph


def indexing():
    x = sample(2, 3, 4)
    for axes, keepdim in [([1], False), ([2, 0], True), ([0, 1, 2], False), ([2], True)]:
        for kind, function in {
            "reduce_sum": torch.sum,
            "reduce_mean": torch.mean,
            "reduce_max": torch.amax,
            "reduce_min": torch.amin,
        }.items():
            yield unary(kind, lambda x: function(x, dim=axes, keepdim=keepdim), x, axes=axes, keepdim=keepdim)
    yield unary("sum", torch.sum, x)
    yield unary("slice", lambda x: x[:, 1:3, 0:4:2], x, start=[0, 1, 0], stop=[2, 3, 4], step=[1, 1, 2])
    yield unary("slice", lambda x: x[1:2, 0:1, 1:4], x, start=[1, 0, 1], stop=[2, 1, 4])
    for i, part in enumerate(x.split([1, 3], 2)):
        yield unary("split", lambda _: part, x, axis=2, sizes=[1, 3], index=i)
    indices = torch.tensor([[2, 0], [2, 1]])
    value = lambda x: x[:, indices]
    yield unary("gather", value, x, axis=1, indices=[2, 0, 2, 1], indices_shape=[2, 2])
    yield unary("gather", lambda x: x[..., 3], x, axis=2, indices=[3], indices_shape=[])
    value = lambda x: F.pad(x, (3, 0, 0, 1, 1, 2), value=-1.5)
    yield unary("pad", value, x, padding=[1, 0, 3], padding_after=[2, 1, 0], value=-1.5)
    value = lambda x: F.interpolate(x, scale_factor=(2, 3), mode="nearest")
    yield unary("upsample", value, sample(1, 2, 2, 3), scale=[1, 1, 2, 3])
    yield unary("squeeze", lambda x: x.squeeze(2).squeeze(0), sample(1, 3, 1, 2), axes=[2, 0])
    yield unary("unsqueeze", lambda x: x[None, :, :, None], sample(2, 3), axes=[0, 3])
    yield unary("expand", lambda x: x.expand(2, 3, 4), sample(3, 1), to_shape=[2, 1, 4])


def far_from_zero():
    """A mean so large that the last bits of the scale tell: x - mean is small beside x."""
    mean = torch.tensor([2.0**60, -(2.0**60)])
    x = mean + torch.tensor([[256.0, -512.0], [-1024.0, 256.0]])
    gamma, beta, var = torch.tensor([1.0, 0.75]), torch.tensor([0.0, 2.0]), torch.tensor([1.5, 2.5])
    own = {"eps": 0.5, "gamma": gamma, "beta": beta, "mean": mean, "var": var, "channel_axis": 1}
    graph = unary("batch_norm_eval", lambda x: (x - mean) / torch.sqrt(var + 0.5) * gamma + beta, x, **own)
    graph.name += " far from zero"
    yield graph


def lone_places():
    """A window of which one place alone is no padding."""
    x = torch.tensor([[3.0, 1.0, 2.0]])
    value = lambda x: F.avg_pool1d(x, [2], [2], [1], count_include_pad=False)
    fields = {"spatial_rank": 1, "kernel": [2], "stride": [2], "padding": [1], "count_include_pad": False}
    yield unary("avg_pool", value, x, **fields)


def later():
    """What came after these: the cases before keep their numbers."""
    yield unary("mish", F.mish, sample(2, 8) * 2)
    yield from lone_places()


def main():
    groups = (elementwise, matmul, windows, normalisation, indexing, far_from_zero, later)
    cases = [graph.case() for group in groups for graph in group()]
    with open(sys.argv[1], "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    print(len(cases), "cases")


main()
