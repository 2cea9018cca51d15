"""The command: run α,β-CROWN from the user's own checkout and leave a dump."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import settings
from .dumpfile import DumpError, DumpWriter, read_dump
from .hook import Recording, load
from .root import HookError, check_norm

EPILOG = """
An example:

  python -m certkern_oracles.abcrown --abcrown ~/alpha-beta-CROWN --out dump -- --config my.yaml --device cpu
  certkern import abcrown dump --onnx net.onnx --property property.vnnlib -o bundle
  certkern check bundle --onnx net.onnx --property property.vnnlib

Everything after -- goes to abcrown.py as it is; relative paths are relative to where you are. The checkout is not edited.
One run makes one dump of one instance: with a list of instances choose one by --start and --end.

Some options of α,β-CROWN close leaves in ways that leave no proof, and some lose the numbers that a proof needs. By default
these are switched off, and each is named when the run starts. With --keep-settings nothing is changed; a dump made under an
option whose leaves cannot be justified is marked as partial, and importing it fails where the proof has a hole.

Exit status: that of α,β-CROWN; 2 if the run cannot be recorded.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments before `--`."""
    made = argparse.ArgumentParser(
        prog="python -m certkern_oracles.abcrown",
        usage="%(prog)s --abcrown PATH --out DUMP [--keep-settings] -- ARGUMENTS OF ABCROWN...",
        description="Run α,β-CROWN and dump every closed leaf, so that its answer can be certified.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--abcrown", type=Path, metavar="PATH", help="a checkout of α,β-CROWN with its submodule auto_LiRPA")
    made.add_argument("--out", type=Path, metavar="DUMP", help="the folder to write manifest.json and tensors.safetensors into")
    group = made.add_mutually_exclusive_group()
    group.add_argument("--safe-settings", action="store_true", help="switch off what cannot be justified or replayed (the default)")
    group.add_argument("--keep-settings", action="store_true", help="change no option of α,β-CROWN; the dump may be partial")
    made.add_argument("--list-settings", action="store_true", help="list the options that are switched, with the reasons, and stop")
    made.add_argument("--inspect", type=Path, metavar="DUMP", help="say what a dump holds and whether it is whole, and stop")
    return made


def list_settings() -> None:
    """Print the table of options."""
    for switch in settings.SWITCHES:
        kind = "for a closer replay" if switch.justified else "else leaves cannot be justified"
        print(f"{switch.path} -> {switch.value!r}\n    {kind}: {switch.why}")
    print("solver.bound_prop_method -> 'crown' with input splits, else 'alpha-crown'\n    the slopes of other methods are not dumped")
    print("general.sparse_interm -> False with input splits\n    bounds of a box depend on the other boxes of its batch")


def inspect(folder: Path) -> int:
    """Print what a dump holds; 0 if it is complete, 1 if it is partial."""
    manifest, tensors = read_dump(folder)
    counts = manifest.get("counts", {})
    print(f"status {manifest.get('status', 'unknown to this dump')}, {counts.get('relu_leaves', 0)} leaves, {counts.get('boxes', 0)} boxes")
    print(f"{len(tensors)} tensors, {sum(tensor.nbytes for tensor in tensors.values())} bytes")
    for line in manifest.get("unjustified", []):
        print(f"not justified: {line}")
    return 0 if manifest.get("complete", True) else 1


def say(line: str) -> None:
    """Tell the user something, apart from what α,β-CROWN prints."""
    print(f"certkern: {line}", file=sys.stderr, flush=True)


def record(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Run α,β-CROWN under the hook."""
    modules = load(arguments.abcrown.resolve())
    verifier = modules["abcrown"].ABCROWN(args=rest)
    config = modules["arguments"].Config
    check_norm(settings.read(config, "specification.norm"))
    recording = Recording(DumpWriter(arguments.out), modules, config, keep=arguments.keep_settings, say=say)
    recording.note(settings.apply(config, keep=arguments.keep_settings))
    recording.install()
    try:
        verifier.main()
    finally:
        recording.finish()


def main(arguments: list[str]) -> int:
    """The exit status for these arguments."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    own, rest = parser().parse_args(arguments[:place]), arguments[place + 1 :]
    try:
        if own.list_settings:
            list_settings()
            return 0
        if own.inspect is not None:
            return inspect(own.inspect)
        if own.abcrown is None or own.out is None:
            parser().error("--abcrown and --out are needed; --help has an example")
        if not rest:
            parser().error("the arguments of abcrown.py are missing; they stand after --")
        record(own, rest)
    except (HookError, DumpError) as error:
        say(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
