"""The built checker: `target/release/certkern`, or its path in CERTKERN."""

from __future__ import annotations

import os
import subprocess
import unittest
from pathlib import Path

from certkern_oracles.torch_export import Captured

BINARY = Path(os.environ.get("CERTKERN", Path(__file__).resolve().parents[4] / "target/release/certkern"))
NEEDED = unittest.skipUnless(BINARY.is_file(), "SKIPPED: no built certkern")


def run(*arguments: object) -> str:
    """What the checker prints; it must succeed."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"certkern {arguments[0]}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def write(captured: Captured, folder: Path) -> tuple[Path, Path]:
    """Graph and payload in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    graph, payload = folder / "graph.json", folder / "payload.safetensors"
    graph.write_text(captured.graph_json())
    payload.write_bytes(captured.payload_bytes())
    return graph, payload
