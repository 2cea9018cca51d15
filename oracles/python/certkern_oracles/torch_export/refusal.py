"""Why a module, or a state dictionary, was not carried over."""

from __future__ import annotations

CODES = {
    "export": "torch.export cannot capture the module",
    "input": "not exactly one input that is a tensor of binary32 or binary64 numbers",
    "dynamic-shape": "an axis without a fixed length",
    "empty": "a tensor without elements",
    "output": "an output that is no tensor of the module's numbers",
    "training": "a layer in training mode",
    "mutation": "the input or a buffer is changed in place",
    "operator": "an operator that the graph language does not have",
    "argument": "an argument that the graph language cannot express",
    "padding-mode": "padding by something else than one number",
    "projection": "a part of a tuple that has no place in a graph",
    "constant": "a computed tensor where a parameter must stand",
    "dtype": "numbers of another type than the module's",
    "not-finite": "NaN or an infinity",
    "state.missing": "a key of the module that the state dictionary lacks",
    "state.extra": "a key that the module does not have",
    "state.shape": "a tensor of another shape",
    "state.dtype": "a tensor of another type",
    "state.not-finite": "NaN or an infinity among the numbers",
    "state.tied": "different numbers for one tensor of several names",
    "state.file": "a file that is no state dictionary",
}


class Refused(Exception):
    """What was found (`code`, one of `CODES`), where, and what the user can do. `others` are further faults of the same document."""

    def __init__(self, code: str, place: str, what: str, way_out: str, others: tuple[Refused, ...] = ()) -> None:
        if code not in CODES:
            raise KeyError(code)
        self.code, self.place, self.what, self.way_out, self.others = code, place, what, way_out, others
        super().__init__("\n".join([f"{code}: {place}: {what}; {way_out}", *map(str, others)]))

    @classmethod
    def together(cls, faults: list[Refused]) -> Refused:
        """One error of several; the first gives the code."""
        first, *others = faults
        return cls(first.code, first.place, first.what, first.way_out, tuple(others))
