"""Arrays in the processor's memory: NumPy's, lists, and whatever shares its memory with NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .dtypes import FLOATS, INDICES, READABLE, DType, DTypes, Kind, Shape
from .given import Labelled, as_numpy, is_narrow, is_of, plain, readable_type, refuse, way_back
from .kinds import Output
from .places import lies_on_cuda

Array = npt.NDArray[Any]
_DOUBLE = 2.0**53
"""Beyond this float64 does not hold all integers."""
_LINE = 64
"""Bytes of a line of the processor's caches."""
_LARGE = 1 << 20
"""Bytes of a result from which on its place in lines is worth the call."""

GiveBack = Callable[[Array], Any]


class HostInput:
    """An input that NumPy can read, and what makes results of its kind."""

    __slots__ = ("_give_back", "array", "shape")
    device = None

    def __init__(self, array: Array, give_back: GiveBack | None) -> None:
        self.array = array
        self._give_back = give_back
        """Turns a result into the input's kind of array; None: NumPy it is."""
        self.shape: Shape = array.shape

    @property
    def dtype(self) -> DType:
        return self.array.dtype

    @staticmethod
    def of_numbers(x: Any, name: str) -> HostInput:
        """Elements that the library reads; see :func:`fathom._arrays.take.take`."""
        if type(x) is not np.ndarray:
            return HostInput(_readable(as_numpy(x, name), name), way_back(x))
        dtype = x.dtype
        if x.flags.carray and dtype.char in READABLE and dtype.isnative:  # most arrays; a short call shall stay short
            return HostInput(x, None)
        return HostInput(_readable(x, name), None)

    @staticmethod
    def of_values(x: Any, name: str) -> HostInput:
        """Elements that are carried, in native byte order."""
        array = as_numpy(x, name, carried=True)
        if array.dtype.hasobject:
            raise TypeError(f"{name} holds objects; it must hold elements of a fixed size")
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        return HostInput(array, way_back(x, carried=True))

    def within(self, leading: int, ranges: Sequence[tuple[int, int]]) -> HostInput:
        if not isinstance(self._give_back, Labelled):
            return self
        return HostInput(self.array, self._give_back.within(leading, ranges))

    def numbers(self, name: str) -> HostInput:
        return HostInput(_readable(self.array, name), self._give_back)

    def coordinates(self, name: str, dense: bool) -> HostInput:
        array = self.array
        if array.ndim == 0:
            raise ValueError(f"{name} is a number; it must have one coordinate per axis")
        if is_narrow(array.dtype):
            array = array.astype(FLOATS[0])
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise TypeError(f"{name} has the dtype {array.dtype}; coordinates are integers or floats of up to 64 bits")
        array = array.astype(_coordinate_type(array, name), copy=False)
        if not has_rows(array) or (dense and not array.flags.c_contiguous):
            array = np.ascontiguousarray(array)
        return HostInput(array, None if isinstance(self._give_back, Labelled) else self._give_back)

    def exactly(self, dtype: DType, name: str) -> HostInput:
        given = self.array
        if given.dtype == dtype:
            return self
        finite = np.isfinite(given)
        if not finite.all():
            first = np.argwhere(~finite)[0][0]
            raise ValueError(f"site {first} has a coordinate that is not finite; leave such points out")
        with np.errstate(over="ignore", invalid="ignore"):
            same = given.astype(dtype)
        if np.array_equal(same, given):
            return HostInput(same, self._give_back)
        limits = np.iinfo(dtype.name) if dtype.kind == "i" else np.finfo(dtype.name)
        if given.min() < limits.min or given.max() > limits.max:
            raise ValueError(
                f"{name} has values beyond those of {dtype}, the dtype of the set; make a set of {given.dtype}"
            )
        raise ValueError(
            f"{name} has values that {dtype}, the dtype of the set, does not hold exactly; "
            f"convert them yourself: {name}.astype({dtype})"
        )

    def reals(self, name: str, allowed: DTypes) -> HostInput:
        dtype = self.dtype
        if dtype.kind not in "iuf":
            raise TypeError(f"{name} has the dtype {dtype}; it must hold integers or floats")
        return HostInput(np.asarray(self.array, dtype if dtype in allowed else allowed[-1], order="C"), self._give_back)

    def reshaped(self, shape: Shape) -> HostInput:
        return HostInput(self.array.reshape(shape), self._give_back)

    def maker(self) -> HostInput:
        """Makes results of the same kind, and keeps no elements."""
        return HostInput(np.empty(0), self._give_back)

    def output(self, shape: Shape, dtype: DType) -> HostOutput:
        return HostOutput(_empty(shape, dtype), None, None, self._give_back)

    def given(self, array: Array) -> Any:
        """A copy of this kind."""
        out = self.output(array.shape, array.dtype)
        out.memory[...] = array
        return out.finish()

    def output_into(self, out: Any, kind: Kind, shape: Shape, dtype: npt.DTypeLike | None) -> HostOutput:
        result = _over(out, kind, shape, dtype, has_rows)
        if result.target is not None and np.may_share_memory(result.target, self.array):
            raise ValueError(f"{kind.name} shares memory with the input; give an array of its own")
        return result

    def output_over(self, out: Any, kind: Kind) -> HostOutput:
        return _over(out, kind, self.shape, None, lambda array: array.flags.c_contiguous)

    @property
    def memory(self) -> Array:
        return self.array

    @property
    def bytes(self) -> Array:
        return _bytes(self.array)

    def check_place(self, x: Any, name: str) -> None:
        check_on_host(x, name)

    def beside(self, x: Any, name: str) -> HostInput:
        check_on_host(x, name)
        return HostInput.of_numbers(x, name)

    def copied(self, dtype: DType, out: Any = None) -> HostOutput:
        kind = Kind("out", (dtype,))
        result = self.output(self.shape, dtype) if out is None else self.output_into(out, kind, self.shape, None)
        result.memory[...] = self.array
        return result

    def indices(self, name: str, noun: str) -> HostInput:
        return HostInput(as_indices(self.array, name, noun), None)

    def at(self, stream: Any) -> HostInput:
        """What makes results of this kind in the order of the caller's stream, if one is given."""
        if stream is not None:
            raise ValueError("stream is for arrays on a CUDA device; the mesh lies on the host")
        return self

    def downloaded(self) -> Array:
        """A copy in the host's memory."""
        return self.array.copy()

    def undefined(self) -> HostInput | None:
        if self.dtype.kind in "fc" or is_narrow(self.dtype):
            return HostInput(_readable(np.isnan(self.array), "x"), None)
        if self.dtype.kind in "mM":
            return HostInput(_readable(np.isnat(self.array), "x"), None)
        return None

    def dense(self, result: Output) -> HostInput:
        array = np.ascontiguousarray(self.array).reshape(self.shape)
        memory = result.memory
        if np.may_share_memory(memory, array) and memory.ctypes.data != array.ctypes.data:
            array = array.copy()
        return HostInput(array, self._give_back)


class HostOutput:
    """A result on its way into the caller's array or a new one."""

    __slots__ = ("_give_back", "_given", "memory", "target")

    def __init__(self, memory: Array, given: Any, array: Array | None, give_back: GiveBack | None) -> None:
        self.memory = memory
        self._given = given
        self.target = array
        """The memory of the caller's array; written at the end where the library cannot do it itself."""
        self._give_back = give_back

    @property
    def bytes(self) -> Array:
        return _bytes(self.memory)

    def finish(self) -> Any:
        if self.target is not None:
            if self.memory is not self.target:
                self.target[...] = self.memory
            return self._given
        return self.memory if self._give_back is None else self._give_back(self.memory)


def as_indices(x: Any, name: str, noun: str) -> npt.NDArray[np.int64]:
    """Indices, of which each is called `noun`: one, or an array of them. Copied: once they have been checked they must
    not change any more."""
    indices = np.atleast_1d(as_numpy(x, name))
    if indices.ndim != 1:
        raise ValueError(f"{name} has the shape {indices.shape}; it must have (n,)")
    if indices.dtype.kind not in "iu" and indices.size > 0:
        raise TypeError(f"{name} has the dtype {indices.dtype}; indices are integers")
    if indices.dtype == np.uint64 and indices.size > 0 and indices.max() >= 2**63:
        raise ValueError(f"there is no {noun} {indices.max()}")
    return np.array(indices, INDICES[1], order="C")


def _readable(array: Array, name: str) -> Array:
    array = array.astype(readable_type(array.dtype, name), copy=False)
    return array if has_rows(array) else np.ascontiguousarray(array)


def _coordinate_type(array: Array, name: str) -> DType:
    if array.dtype.kind == "f":
        return FLOATS[1] if array.dtype.itemsize == 8 else FLOATS[0]
    limits = np.iinfo(np.int32)
    if np.can_cast(array.dtype, np.int32) or array.size == 0:
        return INDICES[0]
    least, most = int(array.min()), int(array.max())
    if limits.min <= least and most <= limits.max:
        return INDICES[0]
    if max(-least, most) > _DOUBLE:
        raise ValueError(f"{name} has coordinates beyond 2⁵³, which float64 does not hold")
    return FLOATS[1]


def _empty(shape: Shape, dtype: DType) -> Array:
    """As np.empty; what is too large for the caches begins at a line of them, where results are streamed at best."""
    size = math.prod(shape) * dtype.itemsize
    if size < _LARGE:
        return np.empty(shape, dtype)
    memory = np.empty(size + _LINE, np.uint8)
    begin = -memory.ctypes.data % _LINE
    return memory[begin : begin + size].view(dtype).reshape(shape)


def has_rows(array: Array) -> bool:
    """Whether the last axis is contiguous and the others go in whole, aligned elements."""
    flags = array.flags
    if flags.c_contiguous:
        return flags.aligned
    size = array.itemsize
    return (
        flags.aligned
        and (array.shape[-1] <= 1 or array.strides[-1] == size)
        and all(stride % size == 0 for stride in array.strides)
    )


def _over(
    out: Any, kind: Kind, shape: Shape, dtype: npt.DTypeLike | None, fits: Callable[[Array], bool]
) -> HostOutput:
    """The caller's array for a result; where it does not fit the library, by way of another."""
    array = _writable(out, kind.name)
    kind.check(array.shape, array.dtype.newbyteorder("="), shape, dtype)
    direct = fits(array) and array.dtype.isnative
    return HostOutput(array if direct else np.empty(shape, array.dtype.newbyteorder("=")), out, array, None)


def _writable(out: Any, name: str) -> Array:
    """The memory behind the caller's array, as NumPy sees it."""
    array = out if type(out) is np.ndarray else _shared_memory(out, name)
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only; give an array that can be written")
    return array


def check_on_host(x: Any, name: str) -> None:
    if lies_on_cuda(x, name):
        raise ValueError(f"{name} lies on a CUDA device, but the input on the host; give an array on the host")


def _shared_memory(out: Any, name: str) -> Array:
    refuse(out, name)
    if isinstance(out, np.ndarray):
        return np.asarray(out)
    if is_of(out, "xarray", "DataArray"):
        return np.asarray(out.values)
    out = plain(out)
    check_on_host(out, name)
    if not hasattr(out, "__dlpack__") and not hasattr(out, "__array_interface__"):
        raise TypeError(f"{name} must be an array, not {type(out).__name__}")
    array = np.asarray(out)
    seen = np.from_dlpack(out) if hasattr(out, "__dlpack__") else array
    if array.ctypes.data != seen.ctypes.data:
        raise TypeError(f"{name} must be an array whose memory can be shared; {type(out).__name__} gives copies")
    return array


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)
