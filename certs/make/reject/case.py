"""A case: an accepted sibling with one edit, and the code that it must be rejected with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bundle import Files, bound, read, safetensors
from digests import Tensor, read_safetensors

CERTS = Path(__file__).resolve().parents[2]
HINTS = "cert.safetensors"
PAYLOAD = "payload.safetensors"


@dataclass(frozen=True)
class Case:
    """One case; `content` is a bundle, or a document alone. `args` are further arguments of `certkern check`."""

    code: str
    name: str
    sibling: str
    words: str
    content: Files | bytes
    args: tuple[str, ...] = ()


def graph(name: str) -> bytes:
    """An accepted document of kind `graph`."""
    return (CERTS / "accept" / "graph" / f"{name}.json").read_bytes()


def accepted(name: str) -> Files:
    """An accepted bundle; of kind `leaves` unless the name says `kind/name`."""
    return read(CERTS / "accept" / placed(name))


def placed(name: str) -> str:
    """The path of an accepted bundle below `accept`."""
    return name if "/" in name else f"leaves/{name}"


def swapped(data: bytes, old: str | bytes, new: str | bytes) -> bytes:
    """The same bytes with the one occurrence of `old` replaced."""
    old, new = (part.encode() if isinstance(part, str) else part for part in (old, new))
    if data.count(old) != 1:
        raise ValueError(f"{old!r} stands {data.count(old)} times")
    return data.replace(old, new)


class Maker:
    """Makes cases from the siblings and keeps them."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def document(
        self, code: str, name: str, sibling: str, old: str | bytes, new: str | bytes, words: str
    ) -> None:
        """A graph with one text replaced."""
        self.whole(code, name, sibling, swapped(graph(sibling), old, new), words)

    def whole(self, code: str, name: str, sibling: str, content: bytes, words: str) -> None:
        """A graph in other bytes."""
        self.cases.append(Case(code, name, f"graph/{sibling}", words, content))

    def files(
        self,
        code: str,
        name: str,
        sibling: str,
        changes: dict[str, bytes | None],
        words: str,
        *,
        again: bool = False,
        args: tuple[str, ...] = (),
    ) -> None:
        """A bundle with files replaced, added or (`None`) left out; `again`: with digests computed again."""
        files = {n: d for n, d in (accepted(sibling) | changes).items() if d is not None}
        self.cases.append(Case(code, name, placed(sibling), words, bound(files) if again else files, args))

    def text(
        self,
        code: str,
        name: str,
        sibling: str,
        file: str,
        old: str | bytes,
        new: str | bytes,
        words: str,
        *,
        again: bool = False,
        args: tuple[str, ...] = (),
    ) -> None:
        """A bundle with one text replaced in one file."""
        changes = {file: swapped(accepted(sibling)[file], old, new)}
        self.files(code, name, sibling, changes, words, again=again, args=args)

    def tensors(
        self,
        code: str,
        name: str,
        sibling: str,
        file: str,
        edit: Callable[[dict[str, Tensor]], None],
        words: str,
        *,
        again: bool = False,
        args: tuple[str, ...] = (),
    ) -> None:
        """A bundle with the tensors of one file edited."""
        tensors = read_safetensors(accepted(sibling)[file])
        edit(tensors)
        self.files(code, name, sibling, {file: safetensors(tensors)}, words, again=again, args=args)


def manifest_digest(sibling: str, role: str) -> str:
    """A digest that the manifest of an accepted bundle names."""
    return json.loads(accepted(sibling)["bundle.json"])["digests"][role]
