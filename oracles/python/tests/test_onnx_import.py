"""Tests of the ONNX importer in Python: small models of each operator, the networks of ../shared, the importer in Rust.

    python -m unittest discover -s oracles/python/tests -t oracles/python      (from the root of the repository)

Needs onnx and numpy. Expected values are those of onnx's ReferenceEvaluator or of onnx's own test data; digests are those of
certs/make/digests.py, which the kernel is held against. Comparisons with the built checker need `target/release/certkern`, or its
path in CERTKERN.
"""

import collections
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
    import onnx
    import onnx.version_converter
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator

    from certkern_oracles.onnx_import.__main__ import main
    from certkern_oracles.onnx_import.model import OPERATORS, import_model, read_model, read_tensor
    from certkern_oracles.onnx_import.refusal import Refused
    from certkern_oracles.onnx_import.write import write

    from . import graph_values
except ImportError as error:
    raise unittest.SkipTest(f"SKIPPED: {error}") from error

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT / "../shared/data"
BINARY = Path(os.environ.get("CERTKERN", ROOT / "target/release/certkern"))
NEEDS_BINARY = unittest.skipUnless(BINARY.is_file(), "SKIPPED: no built certkern")


sys.path.insert(0, str(ROOT / "certs/make"))

import digests  # noqa: E402


def rng():
    return np.random.default_rng(7)


def written(imported, folder):
    """The graph and the tensors as they were written, and the digests of both."""
    write(imported, Path(folder))
    graph = json.loads((Path(folder) / "graph.json").read_bytes())
    raw = digests.read_safetensors((Path(folder) / "payload.safetensors").read_bytes())
    types = {"F32": "<f4", "F64": "<f8"}
    tensors = {name: np.frombuffer(t.data, types[t.dtype]).reshape(t.shape) for name, t in raw.items()}
    return graph, tensors, (digests.graph_digest(graph), digests.payload_digest(graph, raw))


def through_files(imported):
    with tempfile.TemporaryDirectory() as folder:
        return written(imported, folder)


def model(opset, body, x, initializers=None, outputs="y", ir=9):
    """A model in onnx's text. `x` is its input, `float[2,3]` unless a type stands before the extents; initializers are
    arrays, or shapes of random ones."""
    x = x if "[" in x or x == "float" else f"float[{x}]"
    kind = x.split("[")[0]
    listed = ", ".join(f"{kind}[] {name}" for name in outputs.split())
    made = onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}]> g ({x} x) => ({listed}) {{ {body} }}')
    random = rng()
    for name, array in (initializers or {}).items():
        if isinstance(array, tuple):
            array = random.uniform(0.5, 1.5, array).astype({"float": np.float32, "double": np.float64}[kind])
        made.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return made


def structure(graph):
    """The nodes but the input: `kind(parents)`."""
    return " ".join(f"{n['kind']}({','.join(map(str, n['parents']))})" for n in graph["nodes"][1:])


I = lambda *values: np.array(values, np.int64)  # noqa: E731, E741
F = lambda *values: np.array(values, np.float32)  # noqa: E731
B = lambda *values: np.array(values, bool)  # noqa: E731

# (operator set, nodes, input, initializers, what is made[, outputs])
CASES = [
    *((13, f"y = {name}(x)", "2,3", {}, f"{kind}(0)") for name, kind in {
        "Relu": "relu", "Abs": "abs", "Neg": "neg", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Reciprocal": "inv", "Sigmoid": "sigmoid",
        "Tanh": "tanh", "Softplus": "softplus", "Sin": "sin", "Cos": "cos", "Erf": "erf", "LeakyRelu": "leaky_relu", "Elu": "elu",
        "Selu": "selu", "HardSigmoid": "hard_sigmoid", "Identity": "detach", "Dropout": "detach"}.items()),
    (14, "y = HardSwish(x)", "2,3", {}, "hard_swish(0)"),
    (18, "y = Mish(x)", "2,3", {}, "mish(0)"),
    (20, "y = Gelu(x)", "2,3", {}, "gelu(0)"),
    (20, 'y = Gelu<approximate = "tanh">(x)', "2,3", {}, "gelu_tanh(0)"),
    (13, "z = Neg(x) y = Elu<alpha = 0.3>(z)", "2,3", {}, "neg(0) elu(1)"),
    (13, "z = Neg(x) y = Selu<alpha = 0.3, gamma = 2.0>(z)", "2,3", {}, "neg(0) selu(1)"),
    (13, "y = HardSigmoid<alpha = 0.3, beta = 0.1>(x)", "2,3", {}, "hard_sigmoid(0)"),
    (13, "z = Neg(x) y = PRelu(z, w)", "2,3", {"w": (1,)}, "neg(0) leaky_relu(1)"),
    (13, "z = Neg(x) y = PRelu(z, w)", "2,3", {"w": (3,)}, "neg(0) prelu(1)"),
    (13, "z = Neg(x) y = PRelu(z, w)", "2,3,4", {"w": (3, 1)}, "neg(0) prelu(1)"),
    (6, "y = Clip<min = 0.5, max = 1.0>(x)", "2,3", {}, "clip(0)"),
    (6, "y = Clip<min = 0.5>(x)", "2,3", {}, "clip(0)"),
    (13, "y = Clip(x, a, b)", "2,3", {"a": np.float32(0.5), "b": np.float32(1)}, "clip(0)"),
    (13, "y = Clip(x, a)", "2,3", {"a": np.float32(0.5)}, "const() max_elem(0,1)"),
    (13, "y = Clip(x, , a)", "2,3", {"a": np.float32(0.5)}, "const() min_elem(0,1)"),
    (13, "y = Clip(x)", "2,3", {}, "detach(0)"),
    (13, "y = Add(x, w)", "2,3", {"w": (3,)}, "const() add(0,1)"),
    (13, "y = Add(x, w)", "2,1", {"w": (1, 3)}, "broadcast_to(0) const() add(1,2)"),
    (13, "y = Sub(w, x)", "2,3", {"w": (2, 1)}, "const() sub(1,0)"),
    (13, "y = Mul(x, x)", "2,3", {}, "mul_elem(0,0)"),
    (13, "y = Div(x, w)", "2,3", {"w": (2, 3)}, "const() div(0,1)"),
    (13, "z = Add(x, w) y = Mul(z, w)", "2,3", {"w": (3,)}, "const() add(0,1) mul_elem(2,1)"),
    (13, "v = Identity(w) z = Add(x, w) y = Mul(z, v)", "2,3", {"w": (3,)}, "const() add(0,1) mul_elem(2,1)"),
    (13, "z = Add(x, w) y = Concat<axis = 0>(z, w)", "2,3", {"w": (1, 3)}, "const() add(0,1) const() concat(2,3)"),
    (13, "y = Add(v, z) v = Relu(x) z = Exp(x)", "2,3", {}, "relu(0) exp(0) add(1,2)"),
    (13, "z = Exp(x) y = Relu(x)", "2,3", {}, "relu(0)"),
    (13, "y = Pow(x, w)", "2,3", {"w": I(2)}, "pow(0)"),
    (13, "y = Pow(x, w)", "2,1", {"w": F(0.5, 0.5)}, "broadcast_to(0) pow(1)"),
    (13, "y = Pow(x, w)", "1,2", {"w": F(2, 3)}, "reshape(0) slice(1) pow(2) slice(1) pow(4) concat(3,5) reshape(6)"),
    (13, "y = Sum(x, w)", "2,3", {"w": (3,)}, "const() add(0,1)"),
    (13, "y = Sum(x)", "2,3", {}, "detach(0)"),
    (13, "y = Sum(x, w, x)", "2,3", {"w": (3,)}, "const() add_n(0,1,0)"),
    (13, "y = Max(x, w)", "2,3", {"w": (3,)}, "const() max_elem(0,1)"),
    (13, "y = Max(w, x, w)", "2,3", {"w": (3,)}, "const() max_n(1,0,1)"),
    (13, "y = Min(x, w)", "2,3", {"w": (3,)}, "const() min_elem(0,1)"),
    (13, "y = Min(x, w, x)", "2,3", {"w": (3,)}, "const() min_n(0,1,0)"),
    (13, "y = Mean(x, w)", "2,3", {"w": (3,)}, "const() add(0,1) const() div(2,3)"),
    (13, "y = Mean(x, w, x)", "2,3", {"w": (3,)}, "const() add_n(0,1,0) const() div(2,3)"),
    (13, "y = Where(c, x, w)", "2,1", {"c": B(True, False, True), "w": (3,)}, "broadcast_to(0) const() where(1,2)"),
    (13, "y = MatMul(x, w)", "2,3", {"w": (3, 4)}, "linear(0)"),
    (13, "y = MatMul(x, w)", "3", {"w": (3, 4)}, "linear(0)"),
    (13, "y = MatMul(w, x)", "3", {"w": (2, 3)}, "linear(0)"),
    (13, "y = MatMul(w, x)", "2,3,4", {"w": (5, 3)}, "permute(0) linear(1) permute(2)"),
    (13, "y = MatMul(x, w)", "2,3", {"w": (2, 3, 4)}, "const() matmul(0,1)"),
    (13, "y = MatMul(x, w)", "2,3", {"w": (3,)}, "const() matmul(0,1)"),
    (13, "z = Relu(x) y = MatMul(x, z)", "3", {}, "relu(0) matmul(0,1)"),
    (13, "y = Gemm(x, w, c)", "2,3", {"w": (3, 4), "c": (4,)}, "linear(0)"),
    (13, "y = Gemm(x, w, c)", "2,3", {"w": (3, 4), "c": (1, 1)}, "linear(0)"),
    (13, "y = Gemm<transB = 1>(x, w)", "2,3", {"w": (4, 3)}, "linear(0)"),
    (13, "y = Gemm(x, w, c)", "2,3", {"w": (3, 4), "c": (2, 1)}, "linear(0) const() add(1,2)"),
    (13, "y = Gemm<transA = 1>(x, w, c)", "3,2", {"w": (3, 4), "c": (4,)}, "permute(0) linear(1)"),
    (13, "y = Gemm<transA = 1>(w, x)", "3,4", {"w": (3, 2)}, "const() matmul(1,0)"),
    (13, "y = Gemm<transB = 1>(w, x)", "4,3", {"w": (2, 3)}, "const() permute(0) matmul(1,2)"),
    (13, "y = Gemm<alpha = 0.5, beta = 0.25>(x, w, c)", "2,3", {"w": (3, 4), "c": (4,)},
     "linear(0) const() mul_elem(1,2) const() const() mul_elem(4,5) add(3,6)"),
    (13, "y = Gemm<beta = 0.25>(x, w)", "2,3", {"w": (3, 4)}, "linear(0)"),
    (13, "y = Gemm<beta = 0.25>(x, w, c)", "2,3", {"w": (3, 4), "c": (4,)}, "linear(0) const() const() mul_elem(2,3) add(1,4)"),
    (13, "y = Conv(x, w)", "1,2,5,5", {"w": (3, 2, 3, 3)}, "conv(0)"),
    (13, "y = Conv<group = 2, strides = [2], pads = [1, 2], dilations = [2]>(x, w, b)", "1,4,9", {"w": (6, 2, 3), "b": (6,)}, "conv(0)"),
    (13, 'y = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w)', "1,1,5,6", {"w": (1, 1, 3, 3)}, "conv(0)"),
    (13, 'y = Conv<auto_pad = "SAME_LOWER">(x, w)', "1,1,5", {"w": (1, 1, 2)}, "conv(0)"),
    (13, "y = ConvTranspose(x, w)", "1,2,3,3", {"w": (2, 3, 2, 2)}, "conv_transpose(0)"),
    (13, "y = ConvTranspose<strides = [3], dilations = [2], pads = [1, 0], output_padding = [2]>(x, w, b)", "1,2,3",
     {"w": (2, 3, 3), "b": (3,)}, "conv_transpose(0)"),
    (13, "y = MaxPool<kernel_shape = [2, 2]>(x)", "1,2,5,5", {}, "max_pool(0)"),
    (13, "y = MaxPool<kernel_shape = [3], strides = [2], pads = [1, 0], dilations = [2]>(x)", "1,2,9", {}, "max_pool(0)"),
    (13, "y = MaxPool<kernel_shape = [3], strides = [2], ceil_mode = 1>(x)", "1,2,6", {}, "max_pool(0)"),
    (22, "y = MaxPool<kernel_shape = [1], strides = [2], pads = [0, 0], ceil_mode = 1>(x)", "1,2,4", {}, "max_pool(0)"),
    (13, "y = AveragePool<kernel_shape = [2, 2], pads = [1, 1, 0, 0]>(x)", "1,2,5,5", {}, "avg_pool(0)"),
    (13, "y = AveragePool<kernel_shape = [2, 2], pads = [1, 1, 0, 0], count_include_pad = 1>(x)", "1,2,5,5", {}, "avg_pool(0)"),
    (19, "y = AveragePool<kernel_shape = [2], dilations = [3]>(x)", "1,2,7", {}, "avg_pool(0)"),
    (13, "y = AveragePool<kernel_shape = [3], strides = [2], ceil_mode = 1>(x)", "1,2,6", {}, "avg_pool(0)"),
    (13, "y = GlobalAveragePool(x)", "1,2,3,4", {}, "global_avg_pool(0)"),
    (13, "y = GlobalMaxPool(x)", "1,2,3,4", {}, "reduce_max(0)"),
    (13, "y = BatchNormalization<epsilon = 0.1>(x, a, b, m, v)", "2,3,4", {"a": (3,), "b": (3,), "m": (3,), "v": (3,)},
     "batch_norm_eval(0)"),
    (17, "y = LayerNormalization(x, a, b)", "2,3,4", {"a": (4,), "b": (4,)}, "layernorm(0)"),
    (17, "y = LayerNormalization<axis = 1, epsilon = 0.1>(x, a)", "2,3,4", {"a": (1, 4)}, "layernorm(0)"),
    (17, "y = LayerNormalization(x, a, b)", "2,3,4", {"a": (1, 1, 4), "b": (1, 1)}, "layernorm(0)"),
    (17, "y, m, v = LayerNormalization<axis = 1>(x, a)", "2,3,4", {"a": (3, 4)},
     "layernorm(0) reduce_mean(0) broadcast_to(2) sub(0,3) mul_elem(4,4) reduce_mean(5) const() add(6,7) pow(8)", "y m v"),
    (17, "y, m = LayerNormalization(x, a)", "2,3", {"a": (3,)}, "reduce_mean(0)", "m"),
    (13, "y = Softmax<axis = 0>(x)", "2,3", {}, "softmax(0)"),
    (11, "y = Softmax<axis = -1>(x)", "2,3,4", {}, "softmax(0)"),
    (11, "y = Softmax(x)", "2,3,4", {}, "reshape(0) softmax(1) reshape(2)"),
    (13, "y = LogSoftmax(x)", "2,3", {}, "softmax(0) log(1)"),
    (13, "y = ReduceSum(x, a)", "2,3,4", {"a": I(-1, 0)}, "reduce_sum(0)"),
    (13, "y = ReduceSum<keepdims = 0>(x)", "2,3,4", {}, "reduce_sum(0)"),
    (13, "y = ReduceSum<noop_with_empty_axes = 1>(x)", "2,3", {}, "detach(0)"),
    (13, "y = ReduceMean<axes = [1], keepdims = 0>(x)", "2,3,4", {}, "reduce_mean(0)"),
    (18, "y = ReduceMax<keepdims = 0>(x, a)", "2,3,4", {"a": I(1)}, "reduce_max(0)"),
    (13, "y = ReduceMin(x)", "2,3", {}, "reduce_min(0)"),
    (13, "y = Cast<to = 1>(x)", "2,3", {}, "detach(0)"),
    (13, "y = Reshape(x, a)", "2,3", {"a": I(0, -1, 1)}, "reshape(0)"),
    (13, "s = Shape(x) a = Gather<axis = 0>(s, i) b = Mul(a, t) y = Reshape(x, b)", "2,3", {"i": I(-1), "t": I(2)}, "reshape(0)"),
    (13, "z = Relu(x) s = Shape(z) y = Reshape(x, s)", "2,3", {}, "reshape(0)"),
    (13, "y = Flatten<axis = 2>(x)", "2,3,4", {}, "reshape(0)"),
    (13, "y = Flatten<axis = 0>(x)", "2,3", {}, "reshape(0)"),
    (13, "y = Squeeze(x)", "1,3,1", {}, "reshape(0)"),
    (13, "y = Squeeze(x, a)", "1,3,1", {"a": I()}, "reshape(0)"),
    (11, "y = Squeeze<axes = [-1]>(x)", "1,3,1", {}, "reshape(0)"),
    (13, "y = Unsqueeze(x, a)", "2,3", {"a": I(-1, 0)}, "reshape(0)"),
    (13, "y = Transpose(x)", "2,3,4", {}, "permute(0)"),
    (13, "y = Transpose<perm = [1, 2, 0]>(x)", "2,3,4", {}, "permute(0)"),
    (13, "v = Transpose(w) y = Add(x, v)", "2,3", {"w": (3, 2)}, "const() add(0,1)"),
    (13, "y = Concat<axis = -1>(x, w, x)", "2,3", {"w": (2, 1)}, "const() concat(0,1,0)"),
    (13, "y = Concat<axis = 0>(x)", "2,3", {}, "detach(0)"),
    (13, "a, b = Split<axis = 1>(x, s) y = Mul(b, b)", "2,3", {"s": I(1, 2)}, "split(0) mul_elem(1,1)"),
    (13, "y, z = Split(x)", "2,3", {}, "split(0) split(0)", "z y"),
    (18, "y, z = Split<num_outputs = 2>(x)", "5", {}, "split(0) split(0)", "y z"),
    (11, "y, z = Split<split = [1, 1]>(x)", "2,3", {}, "split(0) split(0)", "y z"),
    (13, "y = Slice(x, a, b)", "4,5", {"a": I(1, -2), "b": I(1000, 1000)}, "slice(0)"),
    (13, "y = Slice(x, a, b, c, d)", "4,5", {"a": I(-1), "b": I(-1000), "c": I(1), "d": I(-2)}, "gather(0)"),
    (13, "y = Slice(x, a, b, c, d)", "4,5", {"a": I(4, 0), "b": I(0, 4), "c": I(1, 0), "d": I(-1, 2)}, "slice(0) gather(1)"),
    (9, "y = Slice<starts = [1], ends = [-1], axes = [1]>(x)", "4,5", {}, "slice(0)"),
    (13, "y = Gather<axis = 1>(x, a)", "2,3", {"a": np.array([[0, -1], [1, 1]], np.int64)}, "gather(0)"),
    (13, "y = Gather(x, a)", "2,3", {"a": np.array(1, np.int32)}, "gather(0)"),
    (13, "y = Expand(x, a)", "3,1", {"a": I(2, 1, 4)}, "broadcast_to(0)"),
    (13, "y = Expand(x, a)", "3,1", {"a": I(1)}, "detach(0)"),
    (13, "y = Pad(x, a)", "2,3", {"a": I(0, 1, 2, 0)}, "pad(0)"),
    (13, "y = Pad(x, a, b)", "2,3", {"a": I(0, 1, 2, 0), "b": np.float32(3)}, "pad(0)"),
    (13, "y = Pad(x, a)", "2,3", {"a": I(0, 0, 0, 0)}, "detach(0)"),
    (18, "y = Pad(x, a, b, c)", "2,3", {"a": I(1, 2), "b": np.float32(3), "c": I(-1)}, "pad(0)"),
    (10, "y = Pad<pads = [0, 1, 2, 0], value = 0.5>(x)", "2,3", {}, "pad(0)"),
    (9, "y = Upsample(x, a)", "1,1,2,3", {"a": F(1, 1, 2, 3)}, "upsample(0)"),
    (13, "y = Resize(x, , a)", "1,1,2,3", {"a": F(1, 1, 2, 3)}, "upsample(0)"),
    (13, 'y = Resize<coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , , a)', "1,1,2,3",
     {"a": I(1, 1, 4, 3)}, "upsample(0)"),
    (13, "a = Constant<value_float = 2.5>() y = Mul(x, a)", "2,3", {}, "const() mul_elem(0,1)"),
    (13, "a = Size(x) b = Cast<to = 1>(a) y = Div(x, b)", "2,3", {}, "const() div(0,1)"),
    (13, "s = Shape(x) a = ConstantOfShape(s) y = Add(x, a)", "2,3", {}, "const() add(0,1)"),
    (13, "y = Identity(x)", "float", {}, "detach(0)"),
    (13, "y = Mul(x, w)", "double[2,3]", {"w": (3,)}, "const() mul_elem(0,1)"),
    (13, "y = LeakyRelu<alpha = 0.1>(x)", "double[2,3]", {}, "leaky_relu(0)"),
    (13, "y = Relu(w)", "2,3", {"w": (2,)}, "const() relu(1)"),
    (13, "z = Relu(x) y = Identity(w)", "2,3", {"w": (2,)}, "relu(0) const()", "z y"),
    (13, "z = Add(x, w) y = Identity(w)", "2,3", {"w": (2, 3)}, "const() add(0,1)", "z y z"),
    (13, "y = Relu(x)", "2,3", {}, "relu(0)", "y x"),
    (13, "y = Max(x, w, x)", "3", {"w": (2, 3)}, "broadcast_to(0) const() broadcast_to(0) max_n(1,2,3)"),
    (13, "y = Add(w, w)", "2", {"w": (2,)}, "const() add(1,1)"),
    (13, "v = Identity(w) y = Min(v, x, w)", "2,3", {"w": (3,)}, "const() min_n(1,0,1)"),
    (13, "v = Reshape(w, a) z = Add(x, w) y = Mul(z, v)", "2,3", {"w": (2, 3), "a": I(2, 3)}, "const() add(0,1) const() mul_elem(2,3)"),
    (13, "v = Concat<axis = 0>(w, w) y = Add(x, v)", "2,3", {"w": (1, 3)}, "const() add(0,1)"),
    (13, "y = Pad(x, a)", "double[2]", {"a": I(1, 0)}, "pad(0)"),
    (13, "y = Mean(x, w)", "double[2,3]", {"w": (3,)}, "const() add(0,1) const() div(2,3)"),
    (13, "y = Pow(x, w)", "double[2]", {"w": F(2, 2)}, "pow(0)"),
    (13, "y = Pow(w, a)", "2", {"w": (2, 1), "a": I(3)}, "const() pow(1)"),
    (13, "z = Cast<to = 11>(x) v = Mul(z, w) y = Cast<to = 1>(v)", "2", {"w": np.ones(2)}, "detach(0) const() mul_elem(1,2) detach(3)"),
    (13, "z = Neg(x) y = PRelu(z, w)", "2,3", {"w": (1, 1)}, "neg(0) leaky_relu(1)"),
    (13, "y = Gemm<transA = 1, transB = 1>(x, z) z = Exp(x)", "3,3", {}, "exp(0) permute(0) permute(1) matmul(2,3)"),
    (13, "y = Gemm<beta = 0.5>(x, w, x)", "3,3", {"w": (3, 3)}, "linear(0) const() mul_elem(0,2) add(1,3)"),
    (17, "y, m, v = LayerNormalization(x, a)", "2,1", {"a": (1,)},
     "reduce_mean(0) sub(0,1) mul_elem(2,2) reduce_mean(3) const() add(4,5) pow(6)", "v"),
    (11, "y = LogSoftmax(x)", "2,3,4", {}, "reshape(0) softmax(1) reshape(2) log(3)"),
    (13, "y = Split(x, a)", "3", {"a": I(3)}, "detach(0)"),
    (13, "y = Slice(x, a, a)", "2,3", {"a": I()}, "slice(0)"),
    (13, "y = ReduceSum(x)", "float", {}, "detach(0)"),
    (13, "y = ReduceSum(x, a)", "2,3", {"a": I()}, "reduce_sum(0)"),
    (13, "z = Neg(x) s = Shape(z) a = Slice(s, i, j) b = Concat<axis = 0>(a, k) y = Reshape(x, b)", "2,3,4",
     {"i": I(0), "j": I(1), "k": I(-1)}, "reshape(0)"),
    (13, "y = Resize(x, , a)", "1,2", {"a": F(1, 1)}, "upsample(0)"),
    (22, 'y = MaxPool<kernel_shape = [3], strides = [2], pads = [1, 1], ceil_mode = 1>(x)', "1,2,6", {}, "max_pool(0)"),
]  # fmt: skip

# (nodes, initializers, the numbers of `a`): folds, by hand
FOLDS = [
    ("a = Add(i, j)", {"i": I(1, 2), "j": I(3)}, [4, 5]),
    ("a = Sub(i, j)", {"i": I(7), "j": np.array([[1], [2]], np.int64)}, [[6], [5]]),
    ("b = Div(i, j) a = Add(b, k)", {"i": I(-7, 7, -7, 7), "j": I(2, 2, -2, -2), "k": I(3)}, [0, 6, 6, 0]),
    ("a = Mul(i, i)", {"i": np.array(-2, np.int32)}, 4),
    ("b = Cast<to = 1>(i) a = Cast<to = 6>(b)", {"i": I(3, 2)}, [3, 2]),
    ("b = Cast<to = 9>(i) a = Cast<to = 7>(b)", {"i": F(0, -0.0, 0.5)}, [0, 0, 1]),
    ("a = Constant<value_ints = [1, 2]>()", {}, [1, 2]),
    ("a = Constant<value_int = 3>()", {}, 3),
    ("b = Shape<start = -1>(x) a = Sub(b, i)", {"i": I(1)}, [9]),
    ("a = Shape<end = -1>(x)", {}, [1]),
    ("b = Shape(x) a = Sub(b, i)", {"i": I(1)}, [0, 9]),
    ("b = Unsqueeze(i, z) a = Concat<axis = 1>(b, b)", {"i": I(1, 2), "z": I(1)}, [[1, 1], [2, 2]]),
    ("b = Reshape(i, j) a = Transpose(b)", {"i": I(0, 1, 2, 3), "j": I(-1, 2)}, [[0, 2], [1, 3]]),
    ("b, a = Split(i)", {"i": I(0, 1, 2, 3)}, [2, 3]),
    ("a = Gather(i, j)", {"i": I(5, 6, 7), "j": np.array([[-1, 0]], np.int32)}, [[7, 5]]),
    ("a = Slice(i, p, q, z, s)", {"i": I(0, 1, 2, 3, 4), "p": I(9), "q": I(-9), "z": I(0), "s": I(-2)}, [4, 2, 0]),
    ("a = Where(c, i, j)", {"c": B(True, False), "i": I(1), "j": np.array([[2], [3]], np.int64)}, [[1, 2], [1, 3]]),
    ("b = Flatten<axis = 0>(i) a = Squeeze(b)", {"i": I(1, 2)}, [1, 2]),
    ("b = Expand(i, j) a = Dropout(b)", {"i": I(4), "j": I(2, 1)}, [[4], [4]]),
    ("a = ConstantOfShape<value = int64[1] {3}>(j)", {"j": I(2)}, [3, 3]),
]  # fmt: skip

# (operator set, nodes, input, initializers, what the refusal says)
REFUSED = [
    (13, "y = Foo(x)", "2,3", {}, "node 0, Foo 'y': this operator is not understood"),
    (6, "y = Add<broadcast = 1>(x, w)", "2,3", {"w": (3,)}, "in operator sets 7 to 22, not in 6"),
    (13, "y = Upsample(x, a)", "1,1,2,3", {"a": F(1, 1, 2, 2)}, "in operator sets 7 to 9, not in 13"),
    (13, "y = Relu<alpha = 1.0>(x)", "2,3", {}, "no attribute alpha"),
    (5, "y = Relu<consumed_inputs = [0]>(x)", "2,3", {}, "attribute consumed_inputs is not understood"),
    (23, "y = Relu(x)", "2,3", {}, "operator set 23 is none of 1 to 22"),
    (13, "y = Relu(x)", "2,N", {}, "input 'x': an extent after the first is open"),
    (13, "y = Relu(x)", "int64[2,3]", {}, "input 'x': it is of type int64"),
    (13, "y = Relu(z)", "2,3", {}, "'z': nothing makes it"),
    (13, "z = Add(x, y) y = Relu(z)", "2,3", {}, "nodes wait for each other: node 0"),
    (13, "y = Add(x, w)", "2,3", {"w": F(1, np.inf, 0)}, "'w': a number is infinite"),
    (13, "y = Add(x, w)", "2,3", {"w": np.ones(3, np.float16)}, "'w': constants of type float16 are not read"),
    (13, "y = Add(x, w)", "2,3", {"w": np.ones(3)}, "types float32 and float64"),
    (13, "y = Add(x, w)", "2,3", {"w": (2,)}, "do not broadcast"),
    (13, "y = Identity(w)", "2,3", {"w": I(1)}, "output 'y'"),
    (13, "y = Clip(x, a, b)", "2,3", {"a": np.float32(2), "b": np.float32(1)}, "min is above max"),
    (13, "y = PRelu(x, w)", "2,3", {"w": (2, 3)}, "none for each channel"),
    (13, "y = Pow(x, x)", "2,3", {}, "its exponent (input 1) is computed"),
    (13, "y = Where(c, x, x)", "2,3", {"c": F(1, 0, 1)}, "not of type bool"),
    (13, "a = Div(i, j) y = Reshape(x, a)", "2,3", {"i": I(6), "j": I(0)}, "node 0, Div 'a': an integer is divided by 0"),
    (13, "a = Mul(i, i) y = Reshape(x, a)", "2,3", {"i": I(1 << 32)}, "a result is no int64"),
    (13, "a = Cast<to = 1>(w) y = Add(x, a)", "2,3", {"w": I((1 << 24) + 1)}, "a number is none of float32"),
    (13, "a = Cast<to = 7>(w) y = Reshape(x, a)", "2,3", {"w": F(5.5)}, "a number is none of int64"),
    (13, "y = Cast<to = 7>(x)", "2,3", {}, "a computed value is cast to int64"),
    (13, "y = MatMul(x, w)", "2,3", {"w": (4, 3)}, "have no product"),
    (13, "y = Gemm(x, w, c)", "2,3", {"w": (3, 4), "c": (3,)}, "does not spread"),
    (10, "y = Gemm(x, w)", "2,3", {"w": (3, 4)}, "too few"),
    (13, "y = Conv(x, x)", "1,1,3", {}, "its weight (input 1) is computed"),
    (13, 'y = Conv<auto_pad = "VALID", pads = [1, 1]>(x, w)', "1,1,3", {"w": (1, 1, 2)}, "stands beside pads"),
    (13, "y = ConvTranspose<output_shape = [5]>(x, w)", "1,1,3", {"w": (1, 1, 2)}, "output_shape is not understood"),
    (13, "y = MaxPool<kernel_shape = [1], strides = [2], ceil_mode = 1>(x)", "1,2,4", {}, "starts beyond the values"),
    (13, "y = MaxPool<kernel_shape = [2], pads = [2, 0]>(x)", "1,2,4", {}, "a window lies in the padding"),
    (13, "y = AveragePool<kernel_shape = [3], strides = [2], ceil_mode = 1, count_include_pad = 1>(x)", "1,2,6", {}, "does not count"),
    (13, "z, y = MaxPool<kernel_shape = [2]>(x)", "1,2,4", {}, "an output other than the first is used"),
    (14, "y = BatchNormalization<training_mode = 1>(x, a, a, a, a)", "2,3", {"a": (3,)}, "it is in training"),
    (9, "y, m, v, s, t = BatchNormalization(x, a, a, a, a)", "2,3", {"a": (3,)}, "it is in training"),
    (10, "y = Softmax<axis = -1>(x)", "2,3", {}, "axis -1 is below 0 before operator set 11"),
    (13, "y = ReduceSum(x, a)", "2,3", {"a": I(2)}, "axis 2 is none of 2"),
    (13, "y = Reshape(x, a)", "2,3", {"a": I(4, -1)}, "does not fit"),
    (13, "y = Squeeze(x, a)", "2,3", {"a": I(0)}, "are not all of extent 1"),
    (13, "y, z = Split(x)", "3", {}, "no 2 equal parts"),
    (13, "y = Slice(x, a, a)", "4", {"a": I(1)}, "its result has no elements"),
    (13, "y = Gather(x, a)", "4", {"a": I(4)}, "an index is none of 4"),
    (13, 'y = Pad<mode = "edge">(x, a)', "4", {"a": I(1, 1)}, "its mode is not constant"),
    (13, "y = Pad(x, a)", "4", {"a": I(-1, 1)}, "a pad is below 0"),
    (13, "y = Resize(x, , a)", "1,1,2,3", {"a": F(1, 1, 1.5, 1)}, "are not whole"),
    (13, 'y = Resize<mode = "linear">(x, , a)', "1,1,2,3", {"a": F(1, 1, 2, 1)}, "its mode is not nearest"),
    (13, 'y = Resize<nearest_mode = "ceil">(x, , a)', "1,1,2,3", {"a": F(1, 1, 2, 1)}, "half_pixel with ceil"),
]  # fmt: skip


class Operators(unittest.TestCase):
    def test_nodes_and_values(self):
        seen = set()
        for opset, body, x, initializers, expected, *outputs in CASES:
            with self.subTest(body=body, opset=opset):
                made = model(opset, body, x, initializers, *outputs)
                graph, tensors, _ = through_files(import_model(made))
                self.assertEqual(structure(graph), expected)
                compare(self, made, graph, tensors)
                seen |= {node.op_type for node in made.graph.node}
        self.assertEqual(sorted(OPERATORS.keys() - seen), [])

    def test_folds(self):
        """What a `Gather` takes is what the fold gives."""
        for body, initializers, expected in FOLDS:
            with self.subTest(body=body):
                graph, _, _ = through_files(import_model(model(15, f"{body} y = Gather<axis = 1>(x, a)", "1,10", initializers)))
                node = graph["nodes"][-1]
                self.assertEqual(np.reshape(node["indices"], node["indices_shape"]).tolist(), expected)

    def test_refused(self):
        for opset, body, x, initializers, expected in REFUSED:
            with self.subTest(body=body, opset=opset), self.assertRaises(Refused) as caught:
                import_model(model(opset, body, x, initializers))
            self.assertIn(expected, str(caught.exception))

    def test_bits(self):
        """Weights keep their bits and their type; numbers of attributes are float32 in a float64 model, too."""
        weight = np.array([0x80000000, 0x00000001, 0x3DCCCCCD], np.uint32).view(np.float32).reshape(3, 1)
        _, tensors, _ = through_files(import_model(model(13, "y = MatMul(x, w)", "2,3", {"w": weight})))
        self.assertEqual(tensors["1.weight"].tobytes(), weight.tobytes())
        self.assertEqual((tensors["1.bias"].dtype, tensors["1.bias"].tobytes()), ("<f4", bytes(4)))
        body = "z = Gemm<alpha = 0.1>(x, w) y = LeakyRelu<alpha = 0.1>(z)"
        _, tensors, _ = through_files(import_model(model(13, body, "double[2,3]", {"w": (3, 1)})))
        found = {name: (array.dtype.str, array.shape) for name, array in tensors.items()}
        expected = {"1.weight": ("<f8", (1, 3)), "1.bias": ("<f8", (1,)), "2.values": ("<f4", (2, 1)), "4.alpha": ("<f4", ())}
        self.assertEqual(found, expected)
        self.assertEqual(tensors["4.alpha"].tobytes(), (0x3DCCCCCD).to_bytes(4, "little"))
        _, tensors, _ = through_files(import_model(model(13, "z = Mean(x, x) y = Pad(z, a)", "double[2]", {"a": I(1, 0)})))
        found = {name: (array.dtype.str, array.shape) for name, array in tensors.items()}
        self.assertEqual(found, {"2.values": ("<f4", (2,)), "4.value": ("<f8", ())})

    def test_exact_casts(self):
        """2²⁴ + 2 is a float32, −0 of a float64 keeps its sign, and 0.1 of a float64 is no float32."""
        body = "a = Cast<to = 1>(w) y = Add(x, a)"
        for number, bits in ((np.int64((1 << 24) + 2), 0x4B800001), (np.float64(-0.0), 0x80000000), (np.bool_(True), 0x3F800000)):
            _, tensors, _ = through_files(import_model(model(13, body, "float", {"w": number})))
            self.assertEqual(tensors["1.values"].tobytes(), bits.to_bytes(4, "little"))
        for number in (np.float64(0.1), np.float64(1e300), np.int64((1 << 62) + 1)):
            with self.assertRaises(Refused):
                import_model(model(13, body, "float", {"w": number}))

    def test_attributes(self):
        """Attributes by hand: a grouped convolution with SAME_LOWER, a Slice that ONNX clamps."""
        body = 'y = Conv<group = 2, strides = [2], auto_pad = "SAME_LOWER">(x, w)'
        graph, tensors, _ = through_files(import_model(model(13, body, "1,2,5", {"w": np.ones((2, 1, 4), np.float32)})))
        expected = {"spatial_rank": 1, "kernel": [4], "stride": [2], "padding": [2], "padding_after": [1], "dilation": [1], "groups": 2,
                    "channel_axis": 1, "in_channels": 2, "out_channels": 2, "input_spatial": [5]}  # fmt: skip
        self.assertEqual({name: graph["nodes"][1][name] for name in expected}, expected)
        self.assertEqual(tensors["1.weight"][:, :, 0].tolist(), [[1, 0], [0, 1]])
        body = "y = Slice(x, a, b, c, d)"
        lists = {"a": I(-9, 1), "b": I(9, 9), "c": I(0, 1), "d": I(3, 2)}
        graph, _, _ = through_files(import_model(model(13, body, "4,5", lists)))
        node = graph["nodes"][1]
        self.assertEqual((node["start"], node["stop"], node["step"], node["shape"]), ([0, 1], [4, 5], [3, 2], [2, 2]))
        lists = {"a": I(9, 9), "b": I(-9, -9), "c": I(1, 0), "d": I(-2, -1)}
        graph, _, _ = through_files(import_model(model(13, body, "2,3", lists)))
        found = [(node["kind"], node["axis"], node["indices"]) for node in graph["nodes"][1:]]
        self.assertEqual(found, [("gather", 0, [1, 0]), ("gather", 1, [2, 0])])

    def test_pooling_without_extensions(self):
        """Pooling that `torchlean.ir.v1` can say is said in it; zeros around a mean count only if they are asked for."""
        for attributes, version, counted in (
            ("pads = [1, 1]", "certkern.ir.v1", False),
            ("pads = [1, 1], count_include_pad = 1", "torchlean.ir.v1", True),
            ("pads = [0, 1], count_include_pad = 1", "certkern.ir.v1", True),
            ("strides = [2]", "torchlean.ir.v1", True),
        ):
            with self.subTest(attributes=attributes):
                body = f"y = AveragePool<kernel_shape = [2], {attributes}>(x)"
                graph, _, _ = through_files(import_model(model(13, body, "1,1,4")))
                found = graph["format"], graph["nodes"][1].get("count_include_pad", True)
                self.assertEqual(found, (version, counted))

    def test_grouped_transposed_convolution(self):
        """Two groups are two convolutions side by side (onnx's evaluator fails on groups)."""
        weight = rng().uniform(-1, 1, (4, 3, 3)).astype(np.float32)
        body = "y = ConvTranspose<group = 2, strides = [2]>(x, w)"
        graph, tensors, _ = through_files(import_model(model(13, body, "1,4,3", {"w": weight})))
        body = ("a, b = Split<axis = 1>(x) c = ConvTranspose<strides = [2]>(a, v) d = ConvTranspose<strides = [2]>(b, w) "
                "y = Concat<axis = 1>(c, d)")  # fmt: skip
        compare(self, model(13, body, "1,4,3", {"v": weight[:2], "w": weight[2:]}), graph, tensors)

    def test_inputs_and_outputs(self):
        text = '<ir_version: 9, opset_import: ["" : 13]> g (float[N,3] x, float[3] w) => (%s y) { y = Add(x, w) }'
        made = onnx.parser.parse_model(text % "float[M,3]")
        with self.assertRaisesRegex(Refused, "2 inputs are open"):
            import_model(made)
        tensor = numpy_helper.from_array(F(1, 2, 3))
        frozen = through_files(import_model(made, {"w": tensor}))
        self.assertEqual(frozen[0]["nodes"][0]["shape"], [1, 3])
        with self.assertRaisesRegex(Refused, r"'w': the shape \[3\] is declared, \[2\] found"):
            import_model(made, {"w": numpy_helper.from_array(F(1, 2))})
        with self.assertRaisesRegex(Refused, "'v' is frozen and is no input"):
            import_model(made, {"v": tensor})
        stored = with_initializers(made, {"w": tensor})
        self.assertEqual(through_files(import_model(stored))[2], frozen[2])
        for declared in ("float[2,3]", "float[3]", "double[1,3]"):
            with self.assertRaisesRegex(Refused, "output 'y': .* found"):
                import_model(onnx.parser.parse_model(text % declared), {"w": tensor})

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.onnx"
            onnx.save(model(13, "y = Relu(x)", "2,3"), path)
            self.assertEqual(main([str(path), "-o", f"{folder}/out"]), 0)
            self.assertEqual(sorted(p.name for p in (Path(folder) / "out").iterdir()), ["graph.json", "payload.safetensors"])
            made = model(13, "y = Relu(z) z = Add(x, w)", "2,3")
            made.graph.input.append(onnx.helper.make_tensor_value_info("w", 1, [3]))
            onnx.save(made, f"{folder}/open.onnx")
            (Path(folder) / "w.pb").write_bytes(numpy_helper.from_array(F(1, 2, 3)).SerializeToString())
            self.assertEqual(main([f"{folder}/open.onnx", "-o", f"{folder}/out", "--freeze", f"w={folder}/w.pb"]), 0)
            self.assertEqual(structure(json.loads((Path(folder) / "out/graph.json").read_bytes())), "const() add(0,1) relu(2)")
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(main([str(path), "-o", folder]), 64)
                path.write_bytes(b"no model")
                self.assertEqual(main([str(path), "-o", f"{folder}/out"]), 2)
            self.assertRegex(said.getvalue(), "holds net.onnx\n.*net.onnx: this is no ONNX model")


def with_initializers(made, tensors):
    """The model with constants for some of its inputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(made)
    for name, tensor in tensors.items():
        copy.graph.initializer.append(tensor)
        copy.graph.initializer[-1].name = name
    return copy


def for_reference(made):
    """The model as onnx's evaluator wants it: sorted, and without the sets before 15 of operators that it takes in their later meaning."""
    copy, known = onnx.ModelProto(), {""}
    copy.CopyFrom(made)
    known |= {value.name for value in (*made.graph.input, *made.graph.initializer)}
    waiting = list(made.graph.node)
    del copy.graph.node[:]
    while waiting:
        node = waiting.pop(next(i for i, node in enumerate(waiting) if known.issuperset(node.input)))
        copy.graph.node.append(node)
        known.update(node.output)
    changed = {"BatchNormalization", "Softmax", "LogSoftmax"} & {node.op_type for node in made.graph.node}
    return onnx.version_converter.convert_version(copy, 15) if changed and made.opset_import[0].version < 15 else copy


def compare(case, made, graph, tensors, x=None, expected=None):
    """The outputs of the graph are those of the model within what its floats lose."""
    if x is None:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(made.graph.input[0].type.tensor_type.elem_type)
        x = rng().uniform(0.1, 0.9, graph["nodes"][0]["shape"]).astype(dtype)
    if expected is None:
        initialized = {tensor.name for tensor in made.graph.initializer}
        (name,) = (value.name for value in made.graph.input if value.name not in initialized)
        with np.errstate(all="ignore"):
            expected = ReferenceEvaluator(for_reference(made)).run(None, {name: x})
    found = graph_values.outputs(graph, tensors, x)
    case.assertEqual(len(found), len(expected))
    for mine, other in zip(found, expected):
        scale = max(1.0, float(np.abs(other).max()))
        np.testing.assert_allclose(mine, other, rtol=0, atol=2e-5 * scale)
        case.assertEqual(mine.shape, np.shape(other))


def shared_models(case):
    """(path, model, the tensors that its further inputs are frozen to) of every network of ../shared."""
    if not SHARED.is_dir():
        if os.environ.get("CERTKERN_REQUIRE_SHARED") == "1":
            case.fail("../shared is absent")
        case.skipTest("SKIPPED: ../shared is absent")
    for path in sorted(SHARED.rglob("*.onnx")):
        made, frozen = read_model(path.read_bytes()), {}
        if "onnx_node" in path.parts:
            for i, value in enumerate(made.graph.input[1:], 1):
                frozen[value.name] = read_tensor((path.parent / f"test_data_set_0/input_{i}.pb").read_bytes())
        yield path, made, frozen


def shared_part(case):
    """The same models, for a test that does without them."""
    try:
        yield from shared_models(case)
    except unittest.SkipTest as skipped:
        print(f"\n{skipped}")


def networks_of_instances():
    """The network of each line of each `instances.csv` of ../shared, as a path from there."""
    found = []
    for table in sorted(SHARED.glob("*/instances.csv")):
        networks = (line.split(",")[0].strip() for line in table.read_text().splitlines() if line.strip())
        found += [str(Path(table.parent.name) / network) for network in networks]
    return found


# What is refused of ../shared, and why.
REFUSED_SHARED = {
    "controller_5_20": "in operator sets 7 to 22, not in 6",
    "dropout_training_mode_true": "it is in training",
    "squeeze_with_axes": "the shape [2, 3] is declared, [1, 2, 3] found",
    "unsqueeze": "the shape [1, 1, 2, 3] is declared, [1, 2, 1, 3] found",
    "multiInput_add": "2 inputs are open",
    "test_batchnorm_epsilon_training_mode": "it is in training",
    "test_batchnorm_example_training_mode": "it is in training",
    "test_edge_pad": "it is of type int32",
    "test_max_int64": "it is of type int64",
    "test_maxpool_with_argmax_2d_precomputed_strides": "an output other than the first is used",
    "test_min_int64": "it is of type int64",
    "test_pow_types_int32_int32": "it is of type int32",
    "test_pow_types_int64_float32": "it is of type int64",
    "test_reduce_sum_empty_set_non_reduced_axis_zero": "an extent after the first is open",
    "test_reflect_pad": "it is of type int32",
    "test_reshape_allowzero_reordered": "have not the same number of elements",
    "test_slice_start_out_of_bounds": "its result has no elements",
    "test_split_zero_size_splits_opset18": "are not 3 that fill an extent of 1",
}


class Networks(unittest.TestCase):
    def test_shared(self):
        """Every network is imported and means what it computes, or is refused for the reason that is listed."""
        counts, refused = collections.Counter(), {}
        for path, made, frozen in shared_models(self):
            name = path.parent.name if path.name == "model.onnx" else path.stem
            group = path.relative_to(SHARED).parts[0]
            with self.subTest(name=name):
                try:
                    imported = import_model(made, frozen)
                except Refused as error:
                    refused[name] = str(error)
                    self.assertIn(REFUSED_SHARED.get(name, "not listed"), str(error))
                    counts[group, "refused"] += 1
                    continue
                counts[group, "imported"] += 1
                graph, tensors, _ = through_files(imported)
                if group == "onnx_node":
                    folder = path.parent / "test_data_set_0"
                    read = lambda file: numpy_helper.to_array(read_tensor(file.read_bytes()))  # noqa: E731
                    wanted = [read(folder / f"output_{i}.pb") for i in range(len(made.graph.output))]
                    compare(self, made, graph, tensors, read(folder / "input_0.pb"), wanted)
                else:
                    compare(self, made, graph, tensors)
        self.assertEqual(refused.keys(), REFUSED_SHARED.keys())
        print("\nimported and refused:")
        for group in sorted({group for group, _ in counts}):
            print(f"  {group:20} {counts[group, 'imported']:4} {counts[group, 'refused']:4}")

    @NEEDS_BINARY
    def test_importer_in_rust(self):
        """Both importers give the same digests for the small models and the networks of ../shared."""
        models = [(f"{case[1]} in {case[0]}", model(*case[:4], *case[5:])) for case in CASES]
        models += [(f"{case[1]} in {case[0]}", model(*case[:4])) for case in REFUSED]
        models += [(str(path.relative_to(SHARED)), with_initializers(made, frozen)) for path, made, frozen in shared_part(self)]
        lists, agreed = collections.defaultdict(list), set()
        for name, made in models:
            theirs, said = rust_digests(made)
            try:
                ours = through_files(import_model(made))[2]
            except Refused as error:
                ours, said = None, str(error)
            with self.subTest(name=name):
                if ours and theirs:
                    self.assertEqual(ours, theirs)
                    agreed.add(name)
            lists[ours is not None, theirs is not None].append(f"{name}: {said}")
        print(f"\nboth importers {len(lists[True, True])}, only Python {len(lists[True, False])}, only Rust {len(lists[False, True])}, "
              f"neither {len(lists[False, False])}")  # fmt: skip
        if os.environ.get("CERTKERN_LIST"):
            print("\n".join(["only Python:", *lists[True, False], "only Rust:", *lists[False, True]]))
        self.assertGreater(len(lists[True, True]), 0)
        if SHARED.is_dir():
            of_instances = networks_of_instances()
            print(f"networks of instances: {sum(name in agreed for name in of_instances)} of {len(of_instances)} with the same digests from both")
            self.assertGreater(len(of_instances), 100)
            self.assertEqual(set(of_instances) - agreed, set())

    @NEEDS_BINARY
    def test_kernel_reads(self):
        """The kernel finds every graph well-shaped, its payload whole, and the digests those of certs/make/digests.py."""
        read, unknown = 0, 0
        models = [(case[1], import_model(model(*case[:4], *case[5:]))) for case in CASES]
        for path, made, frozen in shared_part(self):
            with contextlib.suppress(Refused):
                models.append((str(path.relative_to(SHARED)), import_model(made, frozen)))
        for name, imported in models:
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                _, _, expected = written(imported, folder)
                files = [f"{folder}/graph.json", f"{folder}/payload.safetensors"]
                command = [BINARY, "digest", "--format", "json", *files]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if "unsupported" in done.stderr:  # a checker from before these operators
                    unknown += 1
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                found = json.loads(done.stdout)["digests"]
                self.assertEqual((found["graph"], found["payload"]), expected)
                read += 1
        print(f"\nread by the kernel: {read} graphs")
        if unknown:
            print(f"SKIPPED: {unknown} graphs whose operators the built certkern does not know")


def rust_digests(made):
    """The digests that `certkern import onnx` prints, or None and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(made.SerializeToString())
        command = [BINARY, "import", "onnx", path, "-o", f"{folder}/out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        return None, done.stderr.strip()
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return tuple(re.search(rf"^{role} +([0-9a-f]{{64}})$", done.stdout, re.MULTILINE)[1] for role in ("graph", "payload")), ""


if __name__ == "__main__":
    unittest.main()
