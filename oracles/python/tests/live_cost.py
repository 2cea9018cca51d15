"""What the hook costs: the same search with and without it, in turns.

  python tests/live_cost.py --abcrown PATH --work FOLDER [--pairs N] -- ARGUMENTS OF ABCROWN

Needs the environment of α,β-CROWN. Both kinds of run have the options that the hook sets. Each run is a process of its own on one thread;
counted is the time on the processor from the reading of the arguments to the finished dump, without the imports, and how much of that was
spent in the hook's own functions. On a busy machine the second number is the steadier one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
PACKAGE = HERE.parents[1]


IN_HOOK = [0.0]


def watch() -> None:
    """Count the time that the hook's own functions take; none of them calls another of them, or the tool."""
    from certkern_oracles.abcrown import boxes, hook, leaves, record

    owners = [(record.RootRecord, "step"), (record.LeafRecord, "step"), (leaves.LeafWriter, "add"), (boxes.BoxWriter, "add")]
    for owner, name in [*owners, (hook.Recording, "_write_root"), (hook.Recording, "finish")]:
        inner = getattr(owner, name)

        def timed(*positional: Any, inner: Any = inner) -> Any:
            start = time.process_time()
            try:
                return inner(*positional)
            finally:
                IN_HOOK[0] += time.process_time() - start

        setattr(owner, name, timed)


def search(checkout: Path, rest: list[str], out: Path | None) -> None:
    """One search, recorded in `out` if that is given; the last line printed is what it took."""
    from certkern_oracles.abcrown import __main__ as command
    from certkern_oracles.abcrown import settings

    modules = command.load(checkout)
    command.load = lambda _: modules
    on_processor, on_the_wall = time.process_time(), time.perf_counter()
    if out is not None:
        watch()
        command.main(["--abcrown", str(checkout), "--out", str(out), "--", *rest])
    else:
        main, config = modules["abcrown"], modules["arguments"].Config
        handler = main.vnnlibHandler

        def decide(*positional: Any, **named: Any) -> Any:
            made = handler(*positional, **named)
            settings.resolve_auto(config, math.prod(made.input_shape[1:]))
            settings.apply_for_split(config, keep=False)
            return made

        main.vnnlibHandler = decide
        verifier = main.ABCROWN(args=rest)
        settings.apply(config, keep=False)
        verifier.main()
    taken = {
        "processor": time.process_time() - on_processor,
        "in the hook": IN_HOOK[0],
        "wall": time.perf_counter() - on_the_wall,
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(taken))


def measure(arguments: argparse.Namespace, rest: list[str], out: Path | None) -> dict[str, float]:
    """A search in a process of its own."""
    own = ["--out", str(out)] if out else []
    command = [sys.executable, str(HERE), "--abcrown", str(arguments.abcrown.resolve()), *own, "--", *rest]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


def main() -> None:
    """All pairs, or, as a child, one search."""
    place = sys.argv.index("--")
    rest = sys.argv[place + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--abcrown", type=Path, required=True, help="the checkout of α,β-CROWN")
    parser.add_argument("--work", type=Path, help="a folder for the dump")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(sys.argv[1:place])
    if arguments.work is None:
        search(arguments.abcrown, rest, arguments.out)
        return
    dump = arguments.work / "dump"
    taken: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
    for _ in range(arguments.pairs):
        for kind, out in (("without", None), ("with", dump)):
            taken[kind].append(measure(arguments, rest, out))
            print(kind, {name: round(value, 2) for name, value in taken[kind][-1].items()}, flush=True)
    medians = {kind: {name: statistics.median(run[name] for run in runs) for name in runs[0]} for kind, runs in taken.items()}
    for name in medians["with"]:
        print(f"{name}: {medians['without'][name]:.2f} -> {medians['with'][name]:.2f}")
    manifest = json.loads((dump / "manifest.json").read_text())
    leaves = max(len(manifest["leaves"]), manifest["counts"]["boxes"], 1)
    size = sum((dump / name).stat().st_size for name in ("manifest.json", "tensors.safetensors"))
    print(f"{manifest['status']}, {leaves} leaves, {size / leaves:.0f} bytes for each")


if __name__ == "__main__":
    main()
