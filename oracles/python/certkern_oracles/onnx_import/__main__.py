"""The command line: exit code 0 written, 2 refused, 64 usage or a file that cannot be read or written."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .model import import_model, read_model, read_tensor
from .refusal import Refused, located
from .write import write


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def named_file(text: str) -> tuple[str, Path]:
    """NAME=FILE; a name may hold `=`."""
    name, found, path = text.rpartition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=FILE")
    return name, Path(path)


def main(arguments: list[str]) -> int:
    """Imports one model; returns the exit code."""
    parser = Parser(prog="python -m certkern_oracles.onnx_import", description="An ONNX model as graph.json and payload.safetensors")
    parser.add_argument("model", type=Path, metavar="MODEL.onnx")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", required=True, help="the folder to write")
    parser.add_argument("--freeze", type=named_file, metavar="NAME=FILE", action="append", default=[],
                        help="make an input the constant of a file, a serialized TensorProto")  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        frozen = {}
        for name, path in options.freeze:
            with located(str(path)):
                frozen[name] = read_tensor(path.read_bytes())
        write(import_model(read_model(options.model.read_bytes()), frozen), options.output)
    except Refused as refused:
        print(f"{options.model}: {refused}", file=sys.stderr)
        return 2
    except OSError as error:
        print(error, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
