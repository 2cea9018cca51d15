"""Why a model is not imported, as data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Refused(Exception):
    """A model, or a part of it, that the contract does not cover.

    `reason` says what is wrong, `way_out` what its owner can do, `where` names the part; the driver fills that in."""

    def __init__(self, reason: str, way_out: str = "", where: str = "") -> None:
        super().__init__(reason, way_out, where)
        self.reason, self.way_out, self.where = reason, way_out, where

    def __str__(self) -> str:
        text = f"{self.where}: {self.reason}" if self.where else self.reason
        return f"{text}; {self.way_out}" if self.way_out else text


def require(condition: object, reason: str, way_out: str = "") -> None:
    """Refuses unless the condition holds."""
    if not condition:
        raise Refused(reason, way_out)


@contextlib.contextmanager
def located(where: str) -> Iterator[None]:
    """Names the part of the model in refusals that do not name one yet."""
    try:
        yield
    except Refused as refused:
        raise Refused(refused.reason, refused.way_out, refused.where or where) from None
