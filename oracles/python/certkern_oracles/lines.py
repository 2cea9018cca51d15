"""Bounds of a network over a box by auto_LiRPA, in float64 on the CPU, with the lines that it draws for S-shaped functions.

  python -m certkern_oracles.lines --abcrown PATH --onnx NET --box BOX --out FOLDER

`PATH` is a checkout of α,β-CROWN, in whose environment this runs. `BOX` is JSON with the lists `lower` and `upper` of rational numbers, as strings.
The folder gets

- `lines.json`: for each activation its type, the bounds of its arguments and, if it is S-shaped, the slopes of its lower and upper lines; the bounds of
  the outputs; seconds. The method is plain CROWN: every pass takes the same lines.
- `net.onnx` and `property.json`: the same network and box without the normalisation of the input (`Sub` and `Div` by one constant each) that a network
  may begin with; the box is its exact image. The unsafe set of the property means nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from .abcrown.hook import find
from .abcrown.root import HookError

S_SHAPED = ("BoundSigmoid", "BoundTanh")
ACTIVATIONS = ("BoundRelu", *S_SHAPED)
Ends = list[Fraction]


def without_normalisation(model: Any, box: tuple[Ends, Ends]) -> tuple[Any, tuple[Ends, Ends]]:
    """The model that is left when the first nodes `Sub` and `Div` are dropped, and the image of the box under these."""
    numpy_helper = importlib.import_module("onnx.numpy_helper")
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    first = next(i for i in graph.input if i.name not in constants)
    name = first.name
    for node in [n for n in graph.node if n.op_type != "Constant"]:
        if node.op_type not in ("Sub", "Div") or node.input[0] != name or constants[node.input[1]].size != 1:
            break
        number = Fraction(float(constants[node.input[1]].item()))
        if node.op_type == "Div" and number <= 0:
            raise HookError(f"the network divides its input by {number}")
        box = tuple([x - number if node.op_type == "Sub" else x / number for x in ends] for ends in box)  # type: ignore[assignment]
        name = node.output[0]
        graph.node.remove(node)
    for node in graph.node:
        node.input[:] = [first.name if used == name else used for used in node.input]
    used = {used for node in graph.node for used in node.input}
    for node in [n for n in graph.node if n.op_type == "Constant" and n.output[0] not in used]:
        graph.node.remove(node)
    return model, box


def bounds(onnx_model: Any, lower: Ends, upper: Ends) -> dict[str, Any]:
    """What `lines.json` holds."""
    torch, lirpa = importlib.import_module("torch"), importlib.import_module("auto_LiRPA")
    # Tables of tangent points are made in the default type.
    torch.set_default_dtype(torch.float64)
    initializers = {tensor.name for tensor in onnx_model.graph.initializer}
    dimensions = next(i for i in onnx_model.graph.input if i.name not in initializers).type.tensor_type.shape.dim
    shape = [dimension.dim_value or 1 for dimension in dimensions]
    model = importlib.import_module("onnx2pytorch").ConvertModel(onnx_model, experimental=True).double().eval()
    low, high = (torch.tensor([float(x) for x in ends]).reshape(shape) for ends in (lower, upper))
    module = lirpa.BoundedModule(model, torch.zeros(shape), device="cpu")
    perturbation = lirpa.PerturbationLpNorm(norm=float("inf"), x_L=low, x_U=high)
    start = time.process_time()
    with torch.no_grad():
        found = module.compute_bounds(x=(lirpa.BoundedTensor(low, perturbation),), method="CROWN")
    seconds = time.process_time() - start

    def listed(tensor: Any) -> list[float]:
        return tensor.detach().reshape(-1).tolist()  # type: ignore[no-any-return]

    activations = []
    for node in module.nodes():
        kind = type(node).__name__
        if kind in ACTIVATIONS:
            argument = node.inputs[0]
            entry = {"type": kind, "lower": listed(argument.lower), "upper": listed(argument.upper)}
            if kind in S_SHAPED:
                entry |= {"low": listed(node.lw), "high": listed(node.uw)}
            activations.append(entry)
    return {"activations": activations, "output": {"lower": listed(found[0]), "upper": listed(found[1])}, "seconds": seconds}


def main(arguments: list[str]) -> int:
    """The exit status for these arguments."""
    parser = argparse.ArgumentParser(prog="python -m certkern_oracles.lines", allow_abbrev=False)
    parser.add_argument("--abcrown", type=Path, metavar="PATH", required=True, help="a checkout of α,β-CROWN with its submodule auto_LiRPA")
    parser.add_argument("--onnx", type=Path, metavar="NET", required=True, help="the network")
    parser.add_argument("--box", type=Path, metavar="BOX", required=True, help="the region, as JSON")
    parser.add_argument("--out", type=Path, metavar="FOLDER", required=True, help="an existing folder")
    own = parser.parse_args(arguments)
    try:
        find(own.abcrown.resolve())
    except HookError as error:
        print(f"certkern: error: {error}", file=sys.stderr)
        return 2
    onnx = importlib.import_module("onnx")
    box = json.loads(own.box.read_text(encoding="utf-8"))
    lower, upper = ([Fraction(x) for x in box[end]] for end in ("lower", "upper"))
    found = bounds(onnx.load(own.onnx), lower, upper)
    model, ends = without_normalisation(onnx.load(own.onnx), (lower, upper))
    onnx.save(model, own.out / "net.onnx")
    outputs = len(found["output"]["lower"])
    unsafe = [[{"y": {"0": "1"}, "bound": "0", "strict": False}]]
    text = {"format": "certkern.property.v1", "outputs": outputs, "unsafe": unsafe}
    text |= {name: [str(x) for x in end] for name, end in zip(("lower", "upper"), ends, strict=True)}
    (own.out / "property.json").write_text(json.dumps(text), encoding="utf-8")
    (own.out / "lines.json").write_text(json.dumps(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
