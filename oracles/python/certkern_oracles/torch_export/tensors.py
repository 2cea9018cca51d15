"""Safetensors files of PyTorch tensors, bit for bit: tensors in order of their names, no holes, no metadata."""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping
from pathlib import Path

import torch

from .refusal import Refused

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The elements, row-major, little endian."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def encode(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """The bytes of a file that holds these tensors."""
    header, parts, end = {}, [], 0
    for name in sorted(tensors):
        data, tensor = raw_bytes(tensors[name]), tensors[name]
        if tensor.dtype not in NAMES:
            raise Refused("dtype", name, f"{tensor.dtype} has no place in a safetensors file", "convert the tensor")
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [end, end + len(data)]}
        parts.append(data)
        end += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def decode(data: bytes, place: str) -> dict[str, torch.Tensor]:
    """The tensors of a file.

    Raises `Refused` ("state.file") if the bytes are no such file, if a name stands twice, or if the tensors do not tile it.
    """

    def bad(what: str) -> Refused:
        return Refused("state.file", place, what, "write it again, for example by safetensors.torch.save_file")

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            raise bad("a name stands twice")
        return dict(pairs)

    try:
        (size,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + size].decode(), object_pairs_hook=once)
        header.pop("__metadata__", None)
        body, tensors, end = data[8 + size :], {}, 0
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            dtype, shape, (start, stop) = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
            if start != end or stop - start != math.prod(shape) * dtype.itemsize or stop > len(body):
                raise bad(f"the bytes of {name} do not fit its shape or the file")
            part = torch.frombuffer(bytearray(body[start:stop]), dtype=torch.uint8) if stop > start else torch.zeros(0, dtype=torch.uint8)
            tensors[name], end = part.view(dtype).reshape(shape), stop
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise bad(f"no safetensors file ({type(error).__name__}: {error})") from error
    if end != len(body):
        raise bad("bytes that belong to no tensor")
    return tensors


def replace_file(path: Path, data: bytes) -> None:
    """Write a file that nobody sees half written."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
