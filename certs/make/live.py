"""Networks and properties for live runs of α,β-CROWN: `python live.py OUT` writes OUT/<case>/{net.onnx,property.vnnlib,config.yaml}.

The dumps beside them come from a verifier that is no part of this project; `docs/alpha-beta-crown.md` has the commands. The convolutional
network is trained with PyTorch, which a machine that runs α,β-CROWN has.

- `digits_relusplit`: the MLP of `digits.py` with a larger radius; most of the nine disjuncts need a tree of ReLU splits.
- `digits_conv`: two convolutions and two matrices on the same images.
- `digits_root`: the MLP with a small radius; the optimised root closes everything.
- `control_boxsplit`: the network of `control.py` with two disjuncts of different sizes; needs many boxes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is loaded: sums must not depend on the number of threads

import control
import digits
import numpy as np
import vnnlib
from networks import Array, write_gemm_model, write_matmul_model, write_model
from onnx import helper

IMAGE = 1402
WIDE_BOX = [("-0.46", "0.28"), ("-0.31", "0.42"), ("-0.27", "0.47"), ("-0.282345678", "0.47"), ("-0.27", "0.467531864")]
"""About the box of `control.py`, which fewer boxes cover."""
CONFIG = """\
# The options of the live run. The hook adds those that it lists when the run starts.
general:
  device: cpu
attack:
  pgd_order: skip
solver:
  batch_size: {batch}
  bound_prop_method: {method}
bab:
  timeout: 600
  branching:
    method: {branching}
    input_split:
      enable: {by_input}
"""


def config(*, by_input: bool) -> str:
    """The options of a run with splits of the input or of ReLUs."""
    method, branching = ("crown", "sb") if by_input else ("alpha-crown", "kfsb")
    return CONFIG.format(batch=64, method=method, branching=branching, by_input=str(by_input).lower())


def write_digits(folder: Path, radius: str) -> None:
    """The MLP and the test image with this radius."""
    write_gemm_model(folder / "net.onnx", (1, 1, 8, 8), digits.trained_layers())
    write_digits_property(folder, radius)


def write_digits_property(folder: Path, radius: str) -> None:
    """The property of the test image, and the options for ReLU splits."""
    images, labels = digits.digits()
    text = digits.property_text(digits.decimal_bounds(images[IMAGE], radius), int(labels[IMAGE]))
    (folder / "property.vnnlib").write_text(text)
    (folder / "config.yaml").write_text(config(by_input=False))


def trained_convolutions() -> dict[str, Array]:
    """Weights and biases of two convolutions with stride 2 and two matrices, by the names of their initializers."""
    import torch

    torch.manual_seed(5)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, stride=1, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(4, 8, 4, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(128, 24),
        torch.nn.ReLU(),
        torch.nn.Linear(24, digits.CLASSES),
    )
    images, labels = digits.digits()
    inputs = torch.tensor(images[: digits.TRAINING_IMAGES], dtype=torch.float32).reshape(-1, 1, 8, 8)
    targets = torch.tensor(labels[: digits.TRAINING_IMAGES])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002, weight_decay=1e-4)
    for _ in range(30):
        for chosen in torch.randperm(len(inputs)).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[chosen]), targets[chosen]).backward()
            optimizer.step()
    return {name: value.detach().numpy().astype(np.float64) for name, value in model.state_dict().items()}


def write_digits_conv(folder: Path, radius: str) -> None:
    """The convolutional network and the test image with this radius."""
    weights = trained_convolutions()
    nodes = [
        helper.make_node("Conv", ["X", "0.weight", "0.bias"], ["c0"], "/0/Conv", kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1]),
        helper.make_node("Relu", ["c0"], ["r1"], "/1/Relu"),
        helper.make_node("Conv", ["r1", "2.weight", "2.bias"], ["c2"], "/2/Conv", kernel_shape=[4, 4], pads=[1] * 4, strides=[2, 2]),
        helper.make_node("Relu", ["c2"], ["r3"], "/3/Relu"),
        helper.make_node("Flatten", ["r3"], ["f4"], "/4/Flatten", axis=1),
        helper.make_node("Gemm", ["f4", "5.weight", "5.bias"], ["g5"], "/5/Gemm", alpha=1.0, beta=1.0, transB=1),
        helper.make_node("Relu", ["g5"], ["r6"], "/6/Relu"),
        helper.make_node("Gemm", ["r6", "7.weight", "7.bias"], ["Y"], "/7/Gemm", alpha=1.0, beta=1.0, transB=1),
    ]
    output = ("Y", digits.CLASSES)
    write_model(folder / "net.onnx", nodes, weights, "X", (1, 1, 8, 8), output, opset=13, producer="certkern-make")
    write_digits_property(folder, radius)


def write_control(folder: Path, cost: str) -> None:
    """The control network; unsafe is that heading 0 is cheapest, or that heading 1 costs at least `cost`."""
    write_matmul_model(folder / "net.onnx", (1, 1, 1, control.INPUTS), control.sensor_mean(), control.trained_layers())
    lines = vnnlib.declarations(control.INPUTS, control.HEADINGS) + vnnlib.box_assertions(WIDE_BOX)
    lines += ["(assert (or", "    (and (<= Y_0 Y_1) (<= Y_0 Y_2))", f"    (and (>= Y_1 {cost}))", "))", ""]
    (folder / "property.vnnlib").write_text("\n".join(lines))
    (folder / "config.yaml").write_text(config(by_input=True))


CASES = {
    "digits_relusplit": lambda folder: write_digits(folder, "0.13"),
    "digits_conv": lambda folder: write_digits_conv(folder, "0.12"),
    "digits_root": lambda folder: write_digits(folder, "0.097"),
    "control_boxsplit": lambda folder: write_control(folder, "1.2"),
}


def main(out: Path) -> None:
    """Write every case."""
    for name, write in CASES.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        write(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python live.py OUT")
    main(Path(sys.argv[1]))
