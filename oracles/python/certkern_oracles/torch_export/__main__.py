"""The command: a PyTorch module as graph.json and payload.safetensors."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import NoReturn

import torch
from torch import nn

from .capture import capture
from .probe import point, probe
from .refusal import CODES, Refused
from .state_dict import load, load_into, read_state_dict, write_state_dict
from .tensors import replace_file

EPILOG = f"""
An example:

  python -m certkern_oracles.torch_export net.py:Net --shape 1,3,32,32 --eval --state-dict net.pt -o net
  certkern digest net/graph.json net/payload.safetensors      # reads both, so that a graph that is not well-shaped is told
  certkern eval net --probe probe.json                        # with --probe probe.json above: the kernel's values beside PyTorch's

MODULE:NAME is a module or a file, and in it a class or function that is called without arguments, or a module that stands there.
The input is one tensor of the shape; its type is that of the module's numbers. The module is captured in the mode in which it is:
--eval calls .eval() first. Numbers are written as the bits that they are, an eps or another Python number as the binary64 number that
it is. Outputs keep the order in which forward returns them.

A state dictionary must have the module's keys and no others, each with the module's shape and type, all numbers finite. It is read
from a .safetensors file, or from one of torch.save, of which only tensors are loaded.

What cannot be carried exactly is refused. The error begins with one of

{chr(10).join(f"  {code:<18} {what}" for code, what in CODES.items())}

Exit status: 0 written, 2 refused, 64 wrong usage.
"""


class UsageError(Exception):
    """Wrong arguments."""


class Parser(argparse.ArgumentParser):
    """One whose wrong usage has an exit status of its own."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments."""
    made = Parser(
        prog="python -m certkern_oracles.torch_export",
        description="Capture a PyTorch module through torch.export as graph.json and payload.safetensors.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("module", metavar="MODULE:NAME", help="where the module is, such as net.py:Net or package.nets:make")
    made.add_argument("--shape", required=True, metavar="N,N,…", help="the shape of the input, batch included")
    made.add_argument("--state-dict", type=Path, metavar="FILE", help="numbers to load, matched exactly")
    made.add_argument("--state-dict-key", metavar="KEY", help="the entry of the file that holds them")
    made.add_argument("--eval", action="store_true", help="call .eval() on the module")
    made.add_argument(
        "--freeze", action="append", default=[], metavar="NAME=FILE", help="a value for a further argument of forward: a file with one tensor"
    )
    made.add_argument(
        "--probe",
        type=Path,
        metavar="FILE",
        help="also run the module at one point, the same each time, and write point and outputs for certkern eval --probe",
    )
    made.add_argument("--write-state-dict", type=Path, metavar="FILE", help="also write the module's state dictionary, as .safetensors")
    made.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write graph.json and payload.safetensors into"
    )
    return made


def read_shape(text: str) -> tuple[int, ...]:
    """Positive numbers separated by commas."""
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f"--shape {text}: every axis has a fixed length, such as 1,3,32,32; capture a module once for each shape")
    return tuple(int(part) for part in parts)


def find_module(where: str) -> nn.Module:
    """The module that MODULE:NAME names."""
    source, _, name = where.rpartition(":")
    if not source or not name:
        raise UsageError(f"{where}: write MODULE:NAME, such as net.py:Net")
    sys.path.insert(0, str(Path.cwd()))
    try:
        if source.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(source).stem, source)
            if spec is None or spec.loader is None:
                raise UsageError(f"{source}: no Python file")
            found = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(found)
        else:
            found = importlib.import_module(source)
    except (ImportError, OSError) as error:
        raise UsageError(f"{source}: {error}") from error
    if not hasattr(found, name):
        raise UsageError(f"{source} has no {name}")
    made = getattr(found, name)
    made = made() if callable(made) and not isinstance(made, nn.Module) else made
    if not isinstance(made, nn.Module):
        raise UsageError(f"{where} gives {type(made).__name__}, no torch.nn.Module")
    return made


def one_tensor(text: str) -> tuple[str, torch.Tensor]:
    """NAME=FILE: a file with one tensor."""
    name, equals, file = text.partition("=")
    if not equals:
        raise UsageError(f"--freeze {text}: write NAME=FILE")
    path = Path(file)
    if path.suffix != ".safetensors":
        found = load(path)
        if isinstance(found, torch.Tensor):
            return name, found
    tensors = list(read_state_dict(path).values())
    if len(tensors) != 1:
        raise UsageError(f"{file} holds {len(tensors)} tensors; --freeze takes a file with one")
    return name, tensors[0]


def run(options: argparse.Namespace) -> None:
    """Do what the arguments say."""
    shape = read_shape(options.shape)
    module = find_module(options.module)
    if options.eval:
        module.eval()
    if options.state_dict is not None:
        load_into(module, read_state_dict(options.state_dict, options.state_dict_key))
    frozen = dict(map(one_tensor, options.freeze))
    captured = capture(module, shape, frozen)
    payload = captured.payload_bytes()
    probed = probe(module, point(module, shape), frozen) if options.probe is not None else None
    options.output.mkdir(parents=True, exist_ok=True)
    # The graph comes last: where it stands, its payload does.
    replace_file(options.output / "payload.safetensors", payload)
    replace_file(options.output / "graph.json", captured.graph_json().encode())
    if probed is not None:
        replace_file(options.probe, probed.encode())
    if options.write_state_dict is not None:
        write_state_dict(module, options.write_state_dict)
    for note in captured.notes:
        print(f"note: {note}", file=sys.stderr)
    nodes = captured.graph["nodes"]
    print(f"{options.output / 'graph.json'}: {captured.graph['format']}, {len(nodes)} nodes")
    print(f"input {list(shape)}, outputs {', '.join(str(nodes[place]['shape']) for place in captured.graph['output_ids'])}")


def main(arguments: list[str] | None = None) -> int:
    """The exit status of the command."""
    options = parser().parse_args(arguments)
    try:
        run(options)
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2
    except (UsageError, OSError) as error:
        print(error, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
