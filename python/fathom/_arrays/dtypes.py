"""Element types: of results, and as callers name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

DType = np.dtype[Any]
DTypes = Sequence[DType]
Shape = tuple[int, ...]

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
SQUARES = (np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(np.float64))
INDICES = (np.dtype(np.int32), np.dtype(np.int64))

BFLOAT16 = np.dtype([("bfloat16", "V2")])
"""NumPy has no bfloat16; this stands in."""

READABLE = frozenset("?bBhHiIlLqQfd")
"""Element types that the library reads, by NumPy's characters."""


class Kind(NamedTuple):
    """A result: the name of its argument, and the element types that it may have, the usual one first."""

    name: str
    allowed: DTypes

    def check(self, shape: Shape, dtype: DType, expected: Shape, wanted: npt.DTypeLike | None) -> None:
        """Raises TypeError or ValueError if the caller's array cannot take the result."""
        if shape != expected:
            raise ValueError(f"{self.name} has the shape {shape}; it must have {expected}")
        if dtype not in self.allowed:
            raise TypeError(f"{self.name} has the dtype {dtype}; it must have {' or '.join(map(str, self.allowed))}")
        if wanted is not None and dtype != named(wanted, self.allowed):
            raise TypeError(
                f"{self.name} has the dtype {dtype}, but dtype is {named(wanted, self.allowed)}; give one of them"
            )


MASKS = Kind("out", (np.dtype(np.bool_), np.dtype(np.uint8)))
DISTANCES = Kind("out", FLOATS)
SQUARED = Kind("out", SQUARES)
NEAREST = Kind("out", INDICES)
COORDINATES = Kind("indices_out", INDICES)


def named(dtype: npt.DTypeLike, allowed: DTypes) -> DType:
    """The dtype asked for, in NumPy's or another library's words."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        try:
            found = np.dtype(str(dtype).rpartition(".")[2])  # such as torch.float32
        except TypeError:
            raise TypeError(f"dtype must be a dtype, not {dtype!r}") from None
    if found not in allowed:
        raise TypeError(f"dtype is {found}; it must be {' or '.join(map(str, allowed))}")
    return found


def for_squares(shape: Sequence[int], spacing: Any) -> DType:
    """The narrowest type that holds all squared distances within a shape exactly."""
    if spacing is not None and not np.all(np.asarray(spacing) == 1):
        return SQUARES[2]
    return SQUARES[0] if sum((extent - 1) ** 2 for extent in shape) < 2**32 - 1 else SQUARES[1]


def for_indices(shape: Sequence[int]) -> DType:
    """The narrowest type that holds all linear indices into a shape."""
    elements = 1
    for extent in shape:
        elements *= extent
    return INDICES[0] if elements < 2**31 else INDICES[1]
