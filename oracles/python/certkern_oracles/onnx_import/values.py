"""Values of a model: constants with their bits, and nodes of the graph. Nothing here computes in floats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from .refusal import Refused, require

TYPES = {
    TensorProto.FLOAT: "float32", TensorProto.DOUBLE: "float64", TensorProto.INT64: "int64", TensorProto.INT32: "int32",
    TensorProto.BOOL: "bool",
}  # fmt: skip
"""The element types of constants, by their number in ONNX."""

FLOATS = ("float32", "float64")

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant of one of `TYPES`. Two constants are the same value only if they are the same object."""

    array: np.ndarray

    @property
    def shape(self) -> Shape:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    def integers(self) -> list[int]:
        """The elements, which are integers, row by row."""
        return [int(value) for value in self.array.reshape(-1)]


@dataclass(frozen=True)
class Computed:
    """A node of the graph; `dtype` is the type that ONNX gives its value."""

    place: int
    shape: Shape
    dtype: str


Value = Constant | Computed


def type_name(number: int) -> str:
    """The name of an element type for messages."""
    return TensorProto.DataType.Name(number).lower() if number in TensorProto.DataType.values() else str(number)


def constant(tensor: TensorProto) -> Constant:
    """The constant that a tensor holds."""
    require(tensor.data_location != TensorProto.EXTERNAL, "its numbers are in another file", "store the model in one file")
    require(not tensor.HasField("segment"), "it is a segment of a tensor")
    require(tensor.data_type in TYPES, f"constants of type {type_name(tensor.data_type)} are not read",
            "use float32, float64, int64, int32 or bool")  # fmt: skip
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError) as error:
        raise Refused(f"its numbers do not fill its shape: {error}") from error
    require(array.dtype.name == TYPES[tensor.data_type] and array.shape == tuple(tensor.dims), "its numbers do not fill its shape")
    return finite(array)


def finite(array: np.ndarray) -> Constant:
    """The constant of these numbers, all of them finite."""
    require(array.dtype.name not in FLOATS or np.isfinite(array).all(), "a number is infinite or none at all")
    return Constant(array)


def common_shape(*shapes: Shape) -> Shape:
    """The shape that all broadcast to."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise Refused(f"the shapes {', '.join(map(str, map(list, shapes)))} do not broadcast") from None


def one_type(*values: Value | None) -> None:
    """The tensors of an operator are of one type."""
    found = sorted({value.dtype for value in values if value is not None})
    require(len(found) <= 1, f"its tensors are of the types {' and '.join(found)}")


def cast_exactly(array: np.ndarray, dtype: str) -> np.ndarray:
    """The same numbers in another type; a number that the type does not have is refused."""
    if array.dtype.name == dtype or array.dtype.name == "bool":
        return array.astype(dtype)
    if dtype == "bool":
        return array != 0
    if dtype in FLOATS and array.dtype.name in FLOATS:
        with np.errstate(over="ignore"):
            result = array.astype(dtype)
        good = (result == array).all()
    else:
        numbers = [value.item() for value in array.reshape(-1)]
        good = all(_holds(dtype, number) for number in numbers)
        result = np.array([int(number) for number in numbers] if good else 0, dtype=dtype)
        result = result.reshape(array.shape) if good else array
    require(good, f"a number is none of {dtype}", "store the constant in the type that it is cast to")
    return result


def _holds(dtype: str, number: int | float) -> bool:
    """Whether a number, of another kind than the type, is one of the type."""
    if dtype in FLOATS:
        odd = abs(number) // (number & -number) if number else 0  # |number| without its factors of two
        return odd.bit_length() <= (24 if dtype == "float32" else 53)
    return number == math.floor(number) and fits(dtype, int(number))


def fits(dtype: str, number: int) -> bool:
    """Whether an integer is one of the type."""
    bits = np.iinfo(dtype).bits
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def declared_shape(value: onnx.ValueInfoProto) -> list[int | None] | None:
    """The extents that a graph input or output declares, None where one is open; None where there is no shape."""
    require(value.type.HasField("tensor_type"), "it is no tensor")
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") and d.dim_value not in (0, -1) else None for d in tensor.shape.dim]
