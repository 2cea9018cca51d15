"""Windows over spatial axes: convolutions and pooling (docs/onnx.md, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .operation import Operation
from .refusal import require
from .values import Computed, Shape, Value, one_type


@dataclass(frozen=True)
class Windows:
    """Windows over the axes after the second, with the number of them on each axis. `grown`: `ceil_mode` added padding."""

    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    before: list[int]
    after: list[int]
    extents: list[int]
    grown: bool

    def attributes(self) -> dict[str, int | bool | list[int]]:
        return {"spatial_rank": len(self.kernel), "kernel": self.kernel, "stride": self.stride, "padding": self.before,
                "padding_after": self.after, "dilation": self.dilation}  # fmt: skip


def spatial_list(op: Operation, name: str, rank: int, default: int, least: int) -> list[int]:
    """An attribute with one number for each spatial axis."""
    found = op.ints(name)
    values = [default] * rank if found is None else found
    require(len(values) == rank and min(values) >= least, f"{name} {values} is not one number of at least {least} for each of {rank} axes")
    return values


def pads(op: Operation, rank: int) -> tuple[list[int], list[int], str]:
    """Padding before and after, and `auto_pad`."""
    both = op.ints("pads")
    both = [0] * (2 * rank) if both is None else both
    require(len(both) == 2 * rank and min(both) >= 0, f"pads {both} are not two numbers of at least 0 for each of {rank} axes")
    mode = op.text("auto_pad", "NOTSET")
    require(mode in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"), f"auto_pad {mode} is not known")
    require(mode == "NOTSET" or not any(both), f"auto_pad {mode} stands beside pads {both}", "give one of them")
    return both[:rank], both[rank:], mode


def windows(op: Operation, spatial: Shape, kernel: list[int], dilation: list[int], ceil: bool) -> Windows:
    """The windows of a kernel over spatial extents."""
    rank = len(spatial)
    stride = spatial_list(op, "strides", rank, 1, 1)
    before, after, mode = pads(op, rank)
    require(not (ceil and mode.startswith("SAME")), f"ceil_mode stands beside auto_pad {mode}")
    extents, grown = [], False
    for i, n in enumerate(spatial):
        reach = (kernel[i] - 1) * dilation[i] + 1
        if mode.startswith("SAME"):
            total = max((-(-n // stride[i]) - 1) * stride[i] + reach - n, 0)
            before[i] = total // 2 if mode == "SAME_UPPER" else total - total // 2
            after[i] = total - before[i]
        room = n + before[i] + after[i] - reach
        require(room >= 0, f"a window of {reach} is wider than {n} with its padding")
        extent = room // stride[i] + 1
        if ceil:
            extent = -(-room // stride[i]) + 1
            if (extent - 1) * stride[i] >= n + before[i]:
                require(op.opset >= 22, "the last window starts beyond the values, which sets before 22 leave open", "export with operator set 22")
                extent -= 1
            more = max((extent - 1) * stride[i] - room, 0)
            after[i] += more
            grown |= more > 0
        extents.append(extent)
    return Windows(kernel, stride, dilation, before, after, extents, grown)


def convolution_parts(op: Operation) -> tuple[Computed, np.ndarray, np.ndarray | None, int]:
    """The node of x, the weight, the bias if there is one, and the groups."""
    x, weight = op.input(0), op.constant(1, "weight")
    bias = op.constant(2, "bias") if op.optional(2) else None
    one_type(x, weight, bias)
    rank = len(x.shape) - 2
    require(1 <= rank <= 3, f"an input of shape {list(x.shape)} has not 1 to 3 spatial axes")
    require(len(weight.shape) == rank + 2 and weight.array.size, f"a weight of shape {list(weight.shape)} is none for it")
    kernel = op.ints("kernel_shape")
    require(kernel in (None, list(weight.shape[2:])), f"kernel_shape {kernel} is not that of the weight, {list(weight.shape[2:])}")
    groups = op.int("group", 1)
    require(groups >= 1, f"group is {groups}")
    return op.graph.node_of(x), weight.array, None if bias is None else bias.array, groups


def channels(found: int, wanted: int, bias: np.ndarray | None, outputs: int, dtype: np.dtype) -> np.ndarray:
    """The bias, zeros if there is none; the channels must fit."""
    require(found == wanted, f"{found} channels meet a weight for {wanted}")
    bias = np.zeros(outputs, dtype) if bias is None else bias
    require(bias.shape == (outputs,), f"a bias of shape {list(bias.shape)} is none for {outputs} channels")
    return bias


def conv(op: Operation) -> Value:
    x, weight, bias, groups = convolution_parts(op)
    outputs, block = weight.shape[:2]
    require(outputs % groups == 0, f"{outputs} output channels are not {groups} groups")
    bias = channels(x.shape[1], block * groups, bias, outputs, weight.dtype)
    dense = np.zeros((outputs, block * groups, *weight.shape[2:]), weight.dtype)
    for o in range(outputs):
        begin = o // (outputs // groups) * block
        dense[o, begin : begin + block] = weight[o]
    spatial = x.shape[2:]
    dilation = spatial_list(op, "dilations", len(spatial), 1, 1)
    over = windows(op, spatial, list(weight.shape[2:]), dilation, ceil=False)
    shape = (x.shape[0], outputs, *over.extents)
    return op.graph.add("conv", [x], shape, {"weight": dense, "bias": bias}, **over.attributes(), groups=groups, channel_axis=1,
                        in_channels=block * groups, out_channels=outputs, input_spatial=list(spatial))  # fmt: skip


def conv_transpose(op: Operation) -> Value:
    x, weight, bias, groups = convolution_parts(op)
    inputs, block = weight.shape[:2]
    outputs = block * groups
    require(inputs % groups == 0, f"{inputs} input channels are not {groups} groups")
    bias = channels(x.shape[1], inputs, bias, outputs, weight.dtype)
    dense = np.zeros((inputs, outputs, *weight.shape[2:]), weight.dtype)
    for i in range(inputs):
        begin = i // (inputs // groups) * block
        dense[i, begin : begin + block] = weight[i]
    spatial, kernel = x.shape[2:], list(weight.shape[2:])
    rank = len(spatial)
    stride, dilation = (spatial_list(op, name, rank, 1, 1) for name in ("strides", "dilations"))
    more = spatial_list(op, "output_padding", rank, 0, 0)
    require("output_shape" not in op.attributes, "output_shape is not understood", "export with pads and output_padding")
    before, after, mode = pads(op, rank)
    require(not mode.startswith("SAME"), f"auto_pad {mode} is not understood", "export with pads and output_padding")
    sides = zip(spatial, stride, before, after, kernel, dilation, more, strict=True)
    extents = [(n - 1) * s - b - a + (k - 1) * d + m + 1 for n, s, b, a, k, d, m in sides]
    require(min(extents) > 0, f"a value of spatial extents {extents} has no elements")
    return op.graph.add("conv_transpose", [x], (x.shape[0], outputs, *extents), {"weight": dense, "bias": bias}, spatial_rank=rank,
                        kernel=kernel, stride=stride, padding=before, padding_after=after, dilation=dilation, groups=groups, channel_axis=1,
                        in_channels=inputs, out_channels=outputs, input_spatial=list(spatial), output_padding=more)  # fmt: skip


def pooled(op: Operation, dilated: bool) -> tuple[Computed, Windows]:
    """The node of x and the windows of a pooling operator."""
    x = op.input(0)
    rank = len(x.shape) - 2
    require(rank >= 1, f"an input of shape {list(x.shape)} has no spatial axes")
    require(op.ints("kernel_shape") is not None, "kernel_shape is absent")
    kernel = spatial_list(op, "kernel_shape", rank, 1, 1)
    dilation = spatial_list(op, "dilations", rank, 1, 1) if dilated else [1] * rank
    over = windows(op, x.shape[2:], kernel, dilation, op.flag("ceil_mode"))
    return op.graph.node_of(x), over


def require_places(over: Windows, spatial: Shape) -> None:
    """Every window has a place inside."""
    for i, n in enumerate(spatial):
        for window in range(over.extents[i]):
            start = window * over.stride[i] - over.before[i]
            # The first place of the window that is not before the values.
            first = start if start >= 0 else start - start // over.dilation[i] * over.dilation[i]
            require(first < n and first <= start + (over.kernel[i] - 1) * over.dilation[i], "a window lies in the padding")


def max_pool(op: Operation) -> Value:
    op.ignore("storage_order")
    op.only_first_output()
    x, over = pooled(op, dilated=True)
    require_places(over, x.shape[2:])
    return op.graph.add("max_pool", [x], (*x.shape[:2], *over.extents), **over.attributes())


def average_pool(op: Operation) -> Value:
    x, over = pooled(op, dilated=op.opset >= 19)
    require_places(over, x.shape[2:])
    counted = op.flag("count_include_pad")
    require(not (counted and over.grown), "ceil_mode adds padding that count_include_pad does not count", "export without ceil_mode")
    whole = counted or not any(over.before + over.after)
    return op.graph.add("avg_pool", [x], (*x.shape[:2], *over.extents), **over.attributes(), count_include_pad=whole)


def global_average_pool(op: Operation) -> Value:
    x = op.input(0)
    rank = len(x.shape) - 2
    require(rank >= 1, f"an input of shape {list(x.shape)} has no spatial axes")
    return op.graph.add("global_avg_pool", [op.graph.node_of(x)], (*x.shape[:2], *[1] * rank), spatial_rank=rank)


def global_max_pool(op: Operation) -> Value:
    x = op.input(0)
    rank = len(x.shape) - 2
    require(rank >= 1, f"an input of shape {list(x.shape)} has no spatial axes")
    shape = (*x.shape[:2], *[1] * rank)
    return op.graph.add("reduce_max", [op.graph.node_of(x)], shape, axes=list(range(2, rank + 2)), keepdim=True)


OPERATORS = {
    "Conv": (1, conv),
    "ConvTranspose": (1, conv_transpose),
    "MaxPool": (1, max_pool),
    "AveragePool": (1, average_pool),
    "GlobalAveragePool": (1, global_average_pool),
    "GlobalMaxPool": (1, global_max_pool),
}
