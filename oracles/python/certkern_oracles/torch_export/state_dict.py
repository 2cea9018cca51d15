"""State dictionaries: read, matched exactly against a module, loaded, written."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import nn

from .refusal import Refused
from .tensors import decode, encode, raw_bytes, replace_file


def load(path: Path) -> object:
    """What `torch.save` wrote, tensors and plain values alone. Raises `Refused` ("state.file")."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        text = (str(error).splitlines() or [type(error).__name__])[0]
        way_out = "save the state dictionary alone: torch.save(net.state_dict(), FILE)"
        raise Refused("state.file", str(path), f"not read ({text})", way_out) from error


def read_state_dict(path: Path, key: str | None = None) -> dict[str, torch.Tensor]:
    """The tensors of a `.safetensors` file, or of one written by `torch.save`; of the latter the entry `key`, if one is given.

    Raises `Refused` ("state.file").
    """
    if path.suffix == ".safetensors":
        return decode(path.read_bytes(), str(path))
    found = load(path)
    if key is not None:
        if not isinstance(found, Mapping) or key not in found:
            names = ", ".join(map(str, found)) if isinstance(found, Mapping) else "none: it is no dictionary"
            raise Refused("state.file", str(path), f"has no entry {key!r}", f"choose one of {names}")
        found = found[key]
    if not isinstance(found, Mapping) or not all(isinstance(value, torch.Tensor) for value in found.values()):
        inner = [str(name) for name, value in found.items() if isinstance(value, Mapping)] if isinstance(found, Mapping) else []
        way_out = f"name the entry: --state-dict-key {inner[0]}" if inner else "save the state dictionary alone"
        raise Refused("state.file", str(path), "holds something else than tensors by name", way_out)
    return {str(name): value for name, value in found.items()}


def match(module: nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Conclusion: `state` has the keys of the module and no others, each with the module's shape and type, and every number is finite.

    Raises `Refused` with the first fault, and all others in it: "state.missing", "state.extra", "state.shape", "state.dtype",
    "state.not-finite", "state.tied" (two names of one tensor with different bits).
    """
    own = module.state_dict(keep_vars=True)
    missing = [name for name in own if name not in state]
    faults = [Refused("state.missing", name, "is not in the state dictionary", "export it from the same class") for name in missing]
    extra = [name for name in state if name not in own]
    prefixed = bool(extra) and all(name.startswith("module.") for name in extra)
    hint = "strip the prefix `module.`" if prefixed else "leave it out, or use the class that has it"
    faults += [Refused("state.extra", name, "is no tensor of the module", hint) for name in extra]
    first_names: dict[tuple[object, ...], str] = {}
    for name, wanted in own.items():
        if name not in state:
            continue
        found = state[name]
        if found.shape != wanted.shape:
            what = f"{list(found.shape)} instead of {list(wanted.shape)}"
            faults.append(Refused("state.shape", name, what, "build the module with the sizes of the file"))
        elif found.dtype != wanted.dtype:
            what = f"{found.dtype} instead of {wanted.dtype}"
            faults.append(Refused("state.dtype", name, what, "convert the file or the module; nothing is rounded here"))
        elif found.is_floating_point() and not bool(torch.isfinite(found).all()):
            faults.append(Refused("state.not-finite", name, "holds NaN or an infinity", "repair the file"))
        else:
            memory = (wanted.data_ptr(), wanted.shape, wanted.stride())
            other = first_names.setdefault(memory, name) if wanted.numel() else name
            if raw_bytes(state[other]) != raw_bytes(found):
                what = f"is the same tensor as {other} in the module, but not in the file"
                faults.append(Refused("state.tied", name, what, "untie them in the module"))
    if faults:
        raise Refused.together(faults)


def load_into(module: nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Match, then copy every bit. Raises `Refused` as `match`; the module is unchanged then."""
    match(module, state)
    with torch.no_grad():
        for name, own in module.state_dict(keep_vars=True).items():
            own.copy_(state[name])


def write_state_dict(module: nn.Module, path: Path) -> None:
    """Write the state dictionary of a module as a `.safetensors` file. Raises `Refused` ("state.not-finite", "dtype")."""
    state = module.state_dict()
    faults = [Refused("state.not-finite", name, "holds NaN or an infinity", "repair the module")
              for name, tensor in state.items() if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all())]  # fmt: skip
    if faults:
        raise Refused.together(faults)
    replace_file(path, encode(state))
