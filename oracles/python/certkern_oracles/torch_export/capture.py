"""From a module to a graph: `torch.export`, then one pass over its nodes."""

from __future__ import annotations

import inspect
import json
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from .builder import Builder, Constant, Node, Several, Shape
from .folding import fold
from .operators import translate
from .refusal import Refused
from .tensors import encode

FLOATS = (torch.float32, torch.float64)
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*(?:\n +(?P<text>[^\n]*))?')


@dataclass(frozen=True)
class Captured:
    """A graph, its payload, and what the user should know. `payload` has the names and shapes of `schemas/SPEC.md`."""

    graph: dict[str, Any]
    payload: dict[str, torch.Tensor]
    notes: tuple[str, ...]

    def graph_json(self) -> str:
        """The document, one node to a line."""
        nodes = ",\n".join(json.dumps(node) for node in self.graph["nodes"])
        head = json.dumps({name: value for name, value in self.graph.items() if name != "nodes"})
        return f'{head[:-1]}, "nodes": [\n{nodes}\n]}}\n'

    def payload_bytes(self) -> bytes:
        """The safetensors file."""
        return encode(self.payload)


def capture(module: nn.Module, shape: Sequence[int], frozen: Mapping[str, torch.Tensor] | None = None) -> Captured:
    """The graph of a module for an input of this shape, in the mode in which the module is; `frozen` are the values of further arguments
    of `forward`, by name.

    Raises `Refused`.
    """
    frozen = dict(frozen or {})
    example = torch.zeros(tuple(shape), dtype=number_type(module))
    name = free_argument(module, frozen)
    call = ((), {name: example, **frozen}) if frozen else ((example,), {})
    try:
        with torch.no_grad():
            program = torch.export.export(module, *call)
    except Exception as error:  # whatever torch raises while it runs the user's code
        text = next((line.strip() for line in str(error).splitlines() if line.strip()), "it says nothing")
        raise Refused("export", type(module).__name__, f"torch.export fails: {type(error).__name__}: {text}",
                      "make the module one that torch.export can capture; control flow must not depend on numbers") from error  # fmt: skip
    return capture_program(program, frozen)


def number_type(module: nn.Module) -> torch.dtype:
    """The one type of the floating-point parameters and buffers; binary32 if there are none."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    types = {tensor.dtype: name for name, tensor in tensors if tensor.is_floating_point()}
    for dtype, name in types.items():
        if dtype not in FLOATS:
            raise Refused("dtype", name, f"numbers of type {dtype}", "convert the module: .float() or .double()")
    if len(types) > 1:
        raise Refused("dtype", ", ".join(types.values()), "numbers of both binary32 and binary64", "convert the module: .float() or .double()")
    return next(iter(types), torch.float32)


def free_argument(module: nn.Module, frozen: Mapping[str, torch.Tensor]) -> str:
    """The name of the one argument of `forward` that is not frozen."""
    parameters = inspect.signature(module.forward).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in frozen]
    known = {p.name for p in parameters}
    unknown = [name for name in frozen if name not in known]
    if unknown:
        raise Refused("input", type(module).__name__, f"forward has no argument {unknown[0]!r}", f"choose one of {', '.join(sorted(known))}")
    if len(needed) > 1:
        raise Refused("input", type(module).__name__, f"forward takes {', '.join(needed)}", "give all but one a value: --freeze NAME=FILE")
    names = needed or [p.name for p in parameters if p.name not in frozen]
    if not names:
        raise Refused("input", type(module).__name__, "forward takes no input", "a graph has exactly one")
    return names[0]


def capture_program(program: ExportedProgram, frozen: Mapping[str, torch.Tensor] | None = None) -> Captured:
    """The graph of an exported program. Raises `Refused`."""
    for node in program.graph.nodes:
        refuse_training(node)
    if any(changes_in_place(node) for node in program.graph.nodes):
        # PyTorch's own rewriting: the same values without changes in place, operators left whole.
        program = program.run_decompositions({})
    refuse_mutation(program)
    return Interpretation(program, dict(frozen or {})).run()


def schema_arguments(node: fx.Node) -> Iterator[tuple[str, Any]]:
    """The arguments of a call that are given, by the names of the schema."""
    arguments = node.target._schema.arguments if hasattr(node.target, "_schema") else []
    for place, argument in enumerate(arguments):
        yield argument.name, node.args[place] if place < len(node.args) else node.kwargs.get(argument.name, argument.default_value)


def refuse_training(node: fx.Node) -> None:
    """A layer that normalises by its batch, or drops at random, is no function of the input."""
    if any(name in ("training", "train") and value is True for name, value in schema_arguments(node)):
        raise Refused("training", place_of(node), "the layer is in training mode, or has no running statistics",
                      "call .eval() on the module, or pass --eval; keep track_running_stats=True")  # fmt: skip


def changes_in_place(node: fx.Node) -> bool:
    """Whether a call changes one of its arguments."""
    return node.op == "call_function" and hasattr(node.target, "_schema") and node.target._schema.is_mutable


def refuse_mutation(program: ExportedProgram) -> None:
    """Outputs that are written back to the input or a buffer."""
    for spec in program.graph_signature.output_specs:
        if spec.kind != OutputKind.USER_OUTPUT:
            raise Refused("mutation", str(spec.target), "is changed in place by forward", "copy it first: x = x.clone()")
    for node in program.graph.nodes:
        if changes_in_place(node):
            raise Refused("mutation", place_of(node), "changes its argument in place", "use the form without the underscore")


def place_of(node: fx.Node) -> str:
    """The node, and where in the user's source it comes from."""
    shown = f"node {node.name} ({node.target})"
    inside = str(Path(torch.__file__).parent)
    frames = [frame for frame in FRAME.finditer(node.meta.get("stack_trace") or "") if not frame["file"].startswith(inside)]
    if not frames:
        return shown
    frame = frames[-1]
    text = f" `{frame['text'].strip()}`" if frame["text"] else ""
    return f"{shown}, {Path(frame['file']).name}:{frame['line']}{text}"


def fixed_shape(node: fx.Node, tensor: torch.Tensor) -> Shape:
    """The shape of a tensor of the program."""
    if not all(isinstance(extent, int) for extent in tensor.shape):
        raise Refused("dynamic-shape", place_of(node), f"shape {list(tensor.shape)}", "export without dynamic_shapes, once for each shape")
    return tuple(tensor.shape)


class Interpretation:
    """One pass over the live nodes of a program, in its order."""

    def __init__(self, program: ExportedProgram, frozen: dict[str, torch.Tensor]) -> None:
        self.program, self.frozen = program, frozen
        self.specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
        self.values: dict[fx.Node, Any] = {}
        self.input = self.the_input()
        self.g = Builder(self.input.meta["val"].dtype)

    def the_input(self) -> fx.Node:
        """The one placeholder that is an input."""
        given = [node for node in self.program.graph.nodes if node.op == "placeholder" and self.is_input(node)]
        if len(given) != 1:
            names = ", ".join(node.name for node in given) or "none"
            raise Refused("input", "forward", f"{len(given)} inputs ({names})", "a graph has exactly one: freeze the others with --freeze NAME=FILE")
        tensor = given[0].meta.get("val")
        if not isinstance(tensor, torch.Tensor) or tensor.dtype not in FLOATS:
            kind = tensor.dtype if isinstance(tensor, torch.Tensor) else type(tensor).__name__
            raise Refused("input", f"input {given[0].name}", f"is {kind}", "the input is one tensor of binary32 or binary64 numbers")
        return given[0]

    def is_input(self, node: fx.Node) -> bool:
        """Whether a placeholder is an input that nobody has frozen."""
        return self.specs[node.name].kind == InputKind.USER_INPUT and node.name not in self.frozen

    def run(self) -> Captured:
        """The graph, its payload, and notes."""
        live = self.live()
        shape = fixed_shape(self.input, self.input.meta["val"])
        self.g.place = place_of(self.input)
        self.values[self.input] = self.g.add("input", [], shape)
        for node in self.program.graph.nodes:
            if node in live and node not in self.values:
                self.g.place, self.g.origin = place_of(node), f"{node.name}: {node.target}"
                self.values[node] = self.known(node) if node.op == "placeholder" else self.value(node)
        outputs = self.outputs()
        graph = {
            "format": "certkern.ir.v1" if self.g.extended else "torchlean.ir.v1",
            "input_id": 0,
            "output_ids": outputs,
            "nodes": self.g.nodes,
        }
        return Captured(graph, self.g.payload, tuple(self.notes(live)))

    def live(self) -> set[fx.Node]:
        """What the outputs depend on."""
        live: set[fx.Node] = set()
        waiting = [node for node in self.program.graph.nodes if node.op == "output"]
        while waiting:
            for node in waiting.pop().all_input_nodes:
                if node not in live:
                    live.add(node)
                    waiting.append(node)
        return live

    def known(self, node: fx.Node) -> Constant:
        """A parameter, a buffer, a constant of the source, a frozen argument."""
        spec = self.specs[node.name]
        if node.name in self.frozen:
            return Constant(self.frozen[node.name].detach().cpu(), node.name)
        tensor = self.program.state_dict.get(spec.target)
        tensor = self.program.constants.get(spec.target) if tensor is None else tensor
        if not isinstance(tensor, torch.Tensor):
            raise self.g.refuse("input", f"{node.name} is no tensor", "keep everything that forward uses in tensors")
        return Constant(tensor.detach().cpu(), str(spec.target))

    def value(self, node: fx.Node) -> Any:
        """The value of a call."""
        if node.op != "call_function":
            raise self.g.refuse("operator", f"a node of kind {node.op} is not carried", "write it with tensors alone")
        args, kwargs = (fx.node.map_arg(part, self.values.__getitem__) for part in (node.args, node.kwargs))
        if node.target is operator.getitem:
            return self.part(*args)
        constant = fold(node, args, kwargs)
        if constant is not None:
            return Constant(constant, node.name)
        result = node.meta.get("val")
        tensors = [item for item in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(item, torch.Tensor)]
        shapes = [fixed_shape(node, tensor) for tensor in tensors]
        known = translate(self.g, node.target, shapes[0] if shapes else (), args, kwargs)
        if isinstance(known, Several):
            return known
        if tensors[0].dtype != self.g.dtype:
            raise self.g.refuse(
                "dtype", f"the result is of type {tensors[0].dtype}, the input of {self.g.dtype}", "stay with one type; leave dtype= out"
            )
        return known

    def part(self, value: Any, index: int) -> Any:
        """A part of a tuple."""
        make = value.parts[index] if isinstance(value, Several) else None
        if make is None:
            raise self.g.refuse("projection", f"part {index} of a tuple", "use the tensor that can be carried")
        return make()

    def outputs(self) -> list[int]:
        """The outputs in the order in which forward returns them."""
        (output,) = [node for node in self.program.graph.nodes if node.op == "output"]
        found: list[int] = []
        for number, item in enumerate(output.args[0]):
            self.g.place, self.g.origin = f"output {number}", ""
            value = self.values.get(item) if isinstance(item, fx.Node) else None
            if isinstance(value, Constant) and value.tensor.dtype != self.g.dtype:
                raise self.g.refuse("output", f"a constant of type {value.tensor.dtype}", "return tensors of the module's numbers")
            if not isinstance(value, (Node, Constant)):
                raise self.g.refuse("output", f"{item!r} is no tensor of the graph", "return tensors of the module's numbers")
            found.append(self.g.node(value).id)
        return found

    def notes(self, live: set[fx.Node]) -> Iterator[str]:
        """What was left out. A tensor of several names is there if one of them is."""
        kinds = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer"}
        memory = {value.tensor.data_ptr() for value in self.values.values() if isinstance(value, Constant)}
        for node in self.program.graph.nodes:
            if node.op == "placeholder" and node not in live:
                spec = self.specs[node.name]
                tensor = self.known(node).tensor if spec.kind in kinds else None
                # Integers count batches, and the like.
                if tensor is not None and tensor.is_floating_point() and tensor.data_ptr() not in memory:
                    yield f"{kinds[spec.kind]} {spec.target} is left out: no output depends on it"
                elif node is self.input:
                    yield "no output depends on the input"
