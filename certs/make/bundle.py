"""Bundles as folders of bytes: safetensors out, a manifest whose digests are computed by `digests.py`."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

from digests import Tensor, bundle_digests

Files = dict[str, bytes]
"""The files of a bundle by name."""

MANIFEST = "bundle.json"
CODES = {"F32": "f", "F64": "d", "U32": "I", "U8": "B"}


def tensor(dtype: str, shape: list[int], values: list[float]) -> Tensor:
    """A tensor of these elements."""
    if math.prod(shape) != len(values):
        raise ValueError(f"{len(values)} elements for the shape {shape}")
    return Tensor(dtype, shape, struct.pack(f"<{len(values)}{CODES[dtype]}", *values))


def elements(value: Tensor) -> list[float]:
    """The elements of a tensor."""
    code = CODES[value.dtype]
    return list(struct.unpack(f"<{len(value.data) // struct.calcsize(code)}{code}", value.data))


def safetensors(tensors: dict[str, Tensor]) -> bytes:
    """A safetensors file of these tensors in their order."""
    header: dict[str, dict] = {}
    end = 0
    for name, value in tensors.items():
        header[name] = {
            "dtype": value.dtype,
            "shape": value.shape,
            "data_offsets": [end, end + len(value.data)],
        }
        end += len(value.data)
    return framed(
        json.dumps(header, separators=(",", ":")).encode(), b"".join(t.data for t in tensors.values())
    )


def framed(header: bytes, data: bytes) -> bytes:
    """A safetensors file of this header and this data."""
    return len(header).to_bytes(8, "little") + header + data


def split(file: bytes) -> tuple[bytes, bytes]:
    """The header and the data of a safetensors file."""
    begin = 8 + int.from_bytes(file[:8], "little")
    return file[8:begin], file[begin:]


def bound(files: Files) -> Files:
    """The same files with the digests of the documents in the manifest."""
    manifest = json.loads(files[MANIFEST])
    computed = bundle_digests(files.__getitem__, manifest["files"])
    text = files[MANIFEST].decode()
    for role, digest in manifest["digests"].items():
        text = text.replace(f'"{role}":"{digest}"', f'"{role}":"{computed[role]}"')
        text = text.replace(f'"{role}": "{digest}"', f'"{role}": "{computed[role]}"')
    if json.loads(text)["digests"] != computed:
        raise ValueError("the manifest does not take the digests")
    return files | {MANIFEST: text.encode()}


def read(folder: Path) -> Files:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def write(folder: Path, files: Files) -> None:
    """Write a bundle."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
