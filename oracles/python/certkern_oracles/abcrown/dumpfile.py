"""The raw format `abdump-0` on disk: a manifest and a safetensors file, written while the search runs.

Rows are appended to one part file for each tensor, so memory does not grow with the number of leaves. At the end the parts become
`tensors.safetensors`, and `manifest.json` is put in place last: a folder without it holds no finished dump. The manifest says how many
bytes the tensor file has and what its SHA-256 is.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

FORMAT = "abdump-0"
MANIFEST = "manifest.json"
TENSORS = "tensors.safetensors"
PARTS = ".partial"
"""The folder inside a dump that holds the parts of a run that has not ended."""
_BLOCK = 1 << 20
_TYPES = {"F32": np.dtype("<f4"), "I32": np.dtype("<i4")}


class DumpError(Exception):
    """What is wrong with a dump, or with an array that is to go into one."""


def plain(name: str, array: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """The type name and the array as it is written: little-endian, rows first, float32 or int32.

    float16 is widened, which is exact. float64 and integers are narrowed only where no value changes (NaN stays NaN); anything else is
    a DumpError, since a bound or a box that moved by rounding is another bound or box.
    """
    array = np.asarray(array)
    kind = {"f": "F32", "i": "I32", "u": "I32", "b": "I32"}.get(array.dtype.kind)
    if kind is None:
        raise DumpError(f"{name}: elements of type {array.dtype} have no place in a dump")
    with np.errstate(over="ignore"):
        # Not ascontiguousarray: that would turn a number without axes into a row.
        written = np.asarray(array, dtype=_TYPES[kind], order="C")
    if not np.array_equal(written.astype(array.dtype), array, equal_nan=kind == "F32"):
        raise DumpError(f"{name}: {array.dtype} values that {kind} cannot hold exactly (was the run in double precision?)")
    return kind, written


class _Part:
    """One tensor on its way: its type, the shape of one row, and how many rows there are (None: a whole tensor)."""

    def __init__(self, path: Path, kind: str, shape: tuple[int, ...], rows: int | None) -> None:
        self.path, self.kind, self.shape, self.rows = path, kind, shape, rows
        self.file: BinaryIO = path.open("wb")

    @property
    def full_shape(self) -> list[int]:
        """The shape of the tensor."""
        return list(self.shape) if self.rows is None else [self.rows, *self.shape]


class DumpWriter:
    """Writes one dump into `folder`, which is made if it is absent. An earlier dump stays until this one is finished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._scratch = folder / PARTS
        self._parts: dict[str, _Part] = {}
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        self._leaves = (self._scratch / "leaves").open("wb")
        self.leaves = 0

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write a whole tensor; an earlier one of that name is replaced."""
        if name in self._parts:
            self._parts.pop(name).file.close()
        kind, array = plain(name, array)
        part = self._part(name, kind, array.shape, None)
        part.file.write(array.tobytes())

    def append(self, name: str, rows: NDArray[Any]) -> None:
        """Add rows along the first axis of a tensor. All rows of a tensor have one shape and one type."""
        kind, rows = plain(name, rows)
        part = self._parts.get(name) or self._part(name, kind, rows.shape[1:], 0)
        if part.rows is None or part.kind != kind or part.shape != rows.shape[1:]:
            raise DumpError(f"{name}: rows of shape {list(rows.shape[1:])} after rows of shape {list(part.shape)}")
        part.file.write(rows.tobytes())
        part.rows += len(rows)

    def add_leaf(self, entry: dict[str, Any]) -> None:
        """Add a leaf to the manifest; its id is the number of leaves before it."""
        text = json.dumps({"id": self.leaves, **entry}, separators=(",", ":"))
        self._leaves.write((b",\n" if self.leaves else b"\n") + text.encode())
        self.leaves += 1

    def first_rows(self, name: str, rows: int) -> None:
        """Keep only the first rows of a tensor, for one whose rows turned out to be all the same."""
        part = self._parts[name]
        part.file.truncate(rows * int(np.prod(part.shape, dtype=int)) * _TYPES[part.kind].itemsize)
        part.rows = rows

    def finish(self, manifest: dict[str, Any]) -> None:
        """Put `tensors.safetensors` and then `manifest.json` in place, and remove the parts."""
        self._leaves.close()
        for part in self._parts.values():
            part.file.close()
        size, digest = self._write_tensors(self._scratch / TENSORS)
        self._write_manifest({**manifest, "tensors_bytes": size, "tensors_sha256": digest})
        # Without a manifest there is no dump, so the two files never belong to different runs.
        (self.folder / MANIFEST).unlink(missing_ok=True)
        for name in (TENSORS, MANIFEST):
            os.replace(self._scratch / name, self.folder / name)
        shutil.rmtree(self._scratch)

    def discard(self) -> None:
        """Remove what was written; an earlier dump in the folder stays."""
        for file in (self._leaves, *(part.file for part in self._parts.values())):
            file.close()
        shutil.rmtree(self._scratch)

    def _part(self, name: str, kind: str, shape: tuple[int, ...], rows: int | None) -> _Part:
        part = _Part(self._scratch / f"t{len(list(self._scratch.iterdir()))}", kind, shape, rows)
        self._parts[name] = part
        return part

    def _write_tensors(self, path: Path) -> tuple[int, str]:
        header: dict[str, Any] = {}
        end = 0
        names = sorted(self._parts)
        for name in names:
            part = self._parts[name]
            begin, end = end, end + part.path.stat().st_size
            header[name] = {"dtype": part.kind, "shape": part.full_shape, "data_offsets": [begin, end]}
        text = json.dumps(header, separators=(",", ":")).encode()
        digest = hashlib.sha256()
        with path.open("wb") as out:
            blocks: list[Iterable[bytes]] = [[len(text).to_bytes(8, "little") + text]]
            blocks += [_blocks(self._parts[name].path) for name in names]
            for block in (block for source in blocks for block in source):
                digest.update(block)
                out.write(block)
            return out.tell(), digest.hexdigest()

    def _write_manifest(self, manifest: dict[str, Any]) -> None:
        head = json.dumps({"format": FORMAT, **manifest}, separators=(",", ":"))
        with (self._scratch / MANIFEST).open("wb") as out:
            out.write(head[:-1].encode() + b',"leaves":[')
            for block in _blocks(self._scratch / "leaves"):
                out.write(block)
            out.write(b"]}\n")


def _blocks(path: Path) -> Iterable[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def read_dump(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The manifest and the tensors of a finished dump.

    A DumpError says what is missing: a run that was cut off, a tensor file of another length or another run, one that is no safetensors
    file."""
    if not (folder / MANIFEST).is_file():
        cut = " The run that wrote it was cut off." if (folder / PARTS).exists() else ""
        raise DumpError(f"{folder} holds no finished dump: {MANIFEST} is missing.{cut}")
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        tensors = (folder / TENSORS).read_bytes()
    except ValueError as error:
        raise DumpError(f"{folder}: {MANIFEST} is no JSON object, or is cut off: {error}") from error
    except OSError as error:
        raise DumpError(f"{folder}: {error}") from error
    if not isinstance(manifest, dict):
        raise DumpError(f"{folder}: {MANIFEST} is no JSON object, or is cut off")
    if manifest.get("format") != FORMAT:
        raise DumpError(f"{folder}: the format is {manifest.get('format')!r}, not {FORMAT!r}")
    wanted = manifest.get("tensors_bytes", len(tensors))
    if len(tensors) != wanted:
        raise DumpError(f"{folder}: {TENSORS} has {len(tensors)} bytes where the manifest says {wanted}; the file is cut off")
    if manifest.get("tensors_sha256", hashlib.sha256(tensors).hexdigest()) != hashlib.sha256(tensors).hexdigest():
        raise DumpError(f"{folder}: {TENSORS} is not the file that the manifest was written with")
    return manifest, _read_tensors(folder, tensors)


def _read_tensors(folder: Path, data: bytes) -> dict[str, NDArray[Any]]:
    begin = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:begin]) if len(data) >= begin else None
        header.pop("__metadata__", None)
        arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            if begin + last > len(data):
                raise DumpError(f"{folder}: {TENSORS} ends inside the tensor {name}; the file is cut off")
            arrays[name] = np.frombuffer(data[begin + first : begin + last], _TYPES[entry["dtype"]]).reshape(entry["shape"])
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise DumpError(f"{folder}: {TENSORS} is no safetensors file of float32 and int32 tensors, or is cut off") from error
    return arrays
