"""Results of the native calls: which element types they have, where they go, and how they come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import Host, Source, has_rows, take_output

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
SQUARES = (np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(np.float64))
INDICES = (np.dtype(np.int32), np.dtype(np.int64))

DTypes = Sequence["np.dtype[Any]"]
Shape = tuple[int, ...]


def dtype_named(dtype: npt.DTypeLike, allowed: DTypes) -> np.dtype[Any]:
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


class Wanted(NamedTuple):
    """A result as the caller asked for it."""

    out: Any
    dtype: npt.DTypeLike | None
    allowed: DTypes
    name: str = "out"


class Output:
    """One result on its way: into the caller's array or a new one."""

    __slots__ = ("_given", "_given_array", "array")

    def __init__(self, wanted: Wanted, default: np.dtype[Any], shape: Shape, source: Source) -> None:
        dtype = default if wanted.dtype is None else dtype_named(wanted.dtype, wanted.allowed)
        self._given = wanted.out
        self._given_array: Host | None = None
        if wanted.out is None:
            self.array = np.empty(shape, dtype)
            return
        array = self._given_array = _checked(wanted, shape, source)
        if wanted.dtype is not None and array.dtype != dtype:
            raise TypeError(f"{wanted.name} has the dtype {array.dtype}, but dtype is {dtype}; give one of them")
        if not has_rows(array) or not array.dtype.isnative:
            array = np.empty(shape, array.dtype.newbyteorder("="))  # copied at the end
        self.array = array

    def finish(self, source: Source) -> Any:
        """The caller's array, or the new one as the input's kind of array."""
        if self._given_array is not None:
            if self.array is not self._given_array:
                self._given_array[...] = self.array
            return self._given
        return self.array if source.give_back is None else source.give_back(self.array)


def _checked(wanted: Wanted, shape: Shape, source: Source) -> Host:
    """The memory of the array that the caller gave."""
    name, allowed = wanted.name, wanted.allowed
    array = take_output(wanted.out, name)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; it must have {shape}")
    if array.dtype.newbyteorder("=") not in allowed:
        raise TypeError(f"{name} has the dtype {array.dtype}; it must have {' or '.join(map(str, allowed))}")
    if np.may_share_memory(array, source.array):
        raise ValueError(f"{name} shares memory with the input; give an array of its own")
    return array


def squares_dtype(shape: Sequence[int], spacing: Any) -> np.dtype[Any]:
    """The narrowest type that holds all squared distances within a shape exactly."""
    if spacing is not None and not np.all(np.asarray(spacing) == 1):
        return SQUARES[2]
    return SQUARES[0] if sum((extent - 1) ** 2 for extent in shape) < 2**32 - 1 else SQUARES[1]


def indices_dtype(shape: Sequence[int]) -> np.dtype[Any]:
    """The narrowest type that holds all linear indices into a shape."""
    elements = 1
    for extent in shape:
        elements *= extent
    return INDICES[0] if elements < 2**31 else INDICES[1]
