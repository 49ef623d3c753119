"""Arrays on CUDA devices. Everything is put in the order of one stream: nothing here waits for the device, except for
libraries that have no notion of a current stream (see foreign.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ..dtypes import BFLOAT16, FLOATS, INDICES, READABLE, DType, DTypes, Kind, Shape
from ..kinds import Output
from ..places import lies_on_cuda
from .foreign import DTYPES, Memory
from .library import Library, library_of
from .stream import handle_of


class CudaInput:
    """An input on a CUDA device, and what makes results of its kind there."""

    __slots__ = ("_given_stream", "array", "device", "library", "shape", "stream")

    def __init__(self, library: Library, array: Any, device: int, given_stream: int | None) -> None:
        self.library = library
        self.array = array
        self.device = device
        self._given_stream = given_stream
        self.stream = library.current_stream(device) if given_stream is None else given_stream
        self.shape: Shape = library.shape(array)

    @property
    def dtype(self) -> DType:
        return self.library.dtype(self.array)

    @staticmethod
    def of_numbers(x: Any, name: str, stream: Any) -> CudaInput:
        """Elements that the library reads; see :func:`fathom._arrays.take.take`."""
        return CudaInput.of_values(x, name, stream).numbers(name)

    @staticmethod
    def of_values(x: Any, name: str, stream: Any) -> CudaInput:
        """Elements that are carried."""
        library = library_of(x)
        device = library.device(x)
        if stream is None:
            return CudaInput(library, x, device, None)
        handle = handle_of(stream)
        library.will_use(x, device, handle)
        return CudaInput(library, x, device, handle)

    def within(self, leading: int, ranges: Sequence[tuple[int, int]]) -> CudaInput:
        return self

    def numbers(self, name: str) -> CudaInput:
        """The same elements, so that the library can read them: here, or converted and copied."""
        dtype = self.dtype
        if dtype.char in READABLE and self.library.has_rows(self.array):
            return self
        if dtype.char not in READABLE and dtype.char != "e" and dtype != BFLOAT16:
            raise TypeError(f"{name} has the dtype {dtype}; it must be bool, integer or float of up to 64 bits")
        return self._copied(None if dtype.char in READABLE else FLOATS[0])

    def coordinates(self, name: str, dense: bool) -> CudaInput:
        dtype = self.dtype
        if not self.shape:
            raise ValueError(f"{name} is a number; it must have one coordinate per axis")
        if dtype in (INDICES[0], *FLOATS):
            fits = self.library.is_dense(self.array) if dense else self.library.has_rows(self.array)
            return self if fits else self._copied(None)
        if dtype.char == "e" or dtype == BFLOAT16:
            return self._copied(FLOATS[0])
        if dtype.kind not in "iu" or not np.can_cast(dtype, INDICES[0]):
            raise TypeError(
                f"{name} has the dtype {dtype}; coordinates on a device are float16, float32, float64 or integers that "
                "int32 holds; convert them first"
            )
        return self._copied(INDICES[0])

    def exactly(self, dtype: DType, name: str) -> CudaInput:
        if self.dtype != dtype:
            raise TypeError(
                f"{name} has the dtype {self.dtype}, the set {dtype}; on a device they must be the same: convert them"
            )
        return self

    def reals(self, name: str, allowed: DTypes) -> CudaInput:
        dtype = self.dtype
        if dtype in allowed:
            return self if self.library.is_dense(self.array) else self._copied(None)
        if dtype.kind not in "iuf" and dtype != BFLOAT16:
            raise TypeError(f"{name} has the dtype {dtype}; it must hold integers or floats")
        return self._copied(allowed[-1])

    def reshaped(self, shape: Shape) -> CudaInput:
        with self.library.on(self.device, self._given_stream):
            return CudaInput(self.library, self.array.reshape(shape), self.device, self._given_stream)

    def _copied(self, dtype: DType | None) -> CudaInput:
        with self.library.on(self.device, self._given_stream):
            copied = self.library.dense(self.array, dtype)
        return CudaInput(self.library, copied, self.device, self._given_stream)

    def output(self, shape: Shape, dtype: DType) -> CudaOutput:
        with self.library.on(self.device, self._given_stream):
            array = self.library.empty(shape, dtype, self.array)
        return CudaOutput(self, array, None)

    def output_into(self, out: Any, kind: Kind, shape: Shape, dtype: npt.DTypeLike | None) -> CudaOutput:
        return self._over(out, kind, shape, dtype, self.library.has_rows)

    def output_over(self, out: Any, kind: Kind) -> CudaOutput:
        return self._over(out, kind, self.shape, None, self.library.is_dense)

    def _over(
        self, out: Any, kind: Kind, shape: Shape, dtype: npt.DTypeLike | None, fits: Callable[[Any], bool]
    ) -> CudaOutput:
        """The caller's array for a result; where it does not fit the library, by way of another."""
        self.check_place(out, kind.name)
        kind.check(self.library.shape(out), self.library.dtype(out), shape, dtype)
        if not self.library.is_writable(out):
            raise ValueError(f"{kind.name} is read-only; give an array that can be written")
        if fits(out):
            return CudaOutput(self, out, None)
        with self.library.on(self.device, self._given_stream):
            array = self.library.empty(shape, self.library.dtype(out), self.array)
        return CudaOutput(self, array, out)

    def check_place(self, x: Any, name: str) -> None:
        """Raises if an array does not lie where the input does, or is of another kind."""
        here = f"CUDA device {self.device}"
        if not lies_on_cuda(x, name):
            raise ValueError(f"{name} lies on the host, but the input on {here}; give an array on {here}")
        library = library_of(x)
        if library is not self.library:
            raise TypeError(f"{name} is an array of {library.name}, but the input one of {self.library.name}")
        device = library.device(x)
        if device != self.device:
            raise ValueError(f"{name} lies on CUDA device {device}, but the input on {here}; give an array on {here}")

    @property
    def memory(self) -> _core.DeviceArray:
        return self.library.describe(self.array, self.stream)

    def beside(self, x: Any, name: str) -> CudaInput:
        self.check_place(x, name)
        return CudaInput.of_numbers(x, name, self._given_stream)

    def copied(self, dtype: DType, out: Any = None) -> CudaOutput:
        kind = Kind("out", (dtype,))
        result = self.output(self.shape, dtype) if out is None else self.output_into(out, kind, self.shape, None)
        with self.library.on(self.device, self._given_stream):
            self.library.copy(self.array, result.array)
        return result

    def indices(self, name: str, noun: str) -> CudaInput:
        if len(self.shape) > 1:
            raise ValueError(f"{name} has the shape {self.shape}; it must have (n,)")
        if self.dtype.kind not in "iu" and self.shape != (0,):
            raise TypeError(f"{name} has the dtype {self.dtype}; indices are integers")
        given = self if self.shape else self.reshaped((1,))
        if given.dtype != INDICES[1] or not given.library.is_dense(given.array):
            given = given._copied(INDICES[1])
        if given.dtype != INDICES[1]:
            raise TypeError(f"{given.library.name} makes no int64 of {name}; enable it there, or give a NumPy array")
        if self.dtype == np.uint64:
            given._refuse_wrapped(noun)
        return given

    def _refuse_wrapped(self, noun: str) -> None:
        """Looks for indices from 2⁶³ on among those that have become int64; waits for the device."""
        with self.library.on(self.device, self._given_stream):
            wrapped = self.array[self.array < 0]
            if len(wrapped) > 0:
                raise ValueError(f"there is no {noun} {int(wrapped.max()) + 2**64}")

    def at(self, stream: Any) -> CudaInput:
        handle = None if stream is None else handle_of(stream)
        return CudaInput(self.library, self.array, self.device, handle)

    def maker(self) -> CudaInput:
        one = self.output((1,), FLOATS[0]).finish()
        return CudaInput(self.library, one, self.device, None)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy, of makers."""
        return CudaInput.of_values, (self.array, "mesh", None)

    def downloaded(self) -> npt.NDArray[Any]:
        dense = self if self.library.is_dense(self.array) else self._copied(None)
        out = np.empty(self.shape, self.dtype)
        _core.download(dense.memory, out)
        return out

    def current(self) -> AbstractContextManager[Any]:
        """Makes the device and the stream the current ones."""
        return self.library.on(self.device, self.stream)

    def over(self, memory: tuple[Any, Shape, int]) -> Any:
        """An array over memory of Fathom's, which stays as long: its owner, shape and the number of its dtype."""
        owner, shape, dtype = memory
        return self.library.adopt(Memory(owner, shape, DTYPES[dtype], self.device))

    def undefined(self) -> CudaInput | None:
        if self.dtype.kind not in "fc" and self.dtype != BFLOAT16:
            return None
        with self.library.on(self.device, self._given_stream):
            return CudaInput(self.library, self.array != self.array, self.device, self._given_stream)

    def dense(self, result: Output) -> CudaInput:
        return self if self.library.is_dense(self.array) else self._copied(None)

    @property
    def bytes(self) -> _core.DeviceArray:
        return self.memory

    def finish(self, array: Any, given: Any) -> Any:
        """A result, once the work is in order: the caller's array, if there is one that is not written yet."""
        if given is None:
            return self.library.give(array, self.stream)
        with self.library.on(self.device, self._given_stream):
            self.library.copy(array, given)
        return given


class Pixels:
    """An array on a CUDA device that rasters are made of: complete, and its rows contiguous."""

    __slots__ = ("place", "view")

    def __init__(self, place: CudaInput) -> None:
        height, width = place.shape
        memory = place.library.describe(place.array, place.stream)
        if not place.library.has_rows(place.array) or memory.row_step < width:
            place = place._copied(None)
            memory = place.library.describe(place.array, place.stream)
        with place.library.on(place.device, place.stream):
            _core.wait_for(place.stream)  # whatever stream reads them
        self.place = place
        """Where results belong, too."""
        dtype = _core.DTYPES[place.dtype.name]
        self.view = (place.array, memory), memory.address, dtype, height, width, memory.row_step
        """As _core.read_graph() takes it: the first is kept as long as the pixels are needed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _pixels, (self.place.array,)


def _pixels(array: Any) -> Pixels:
    return Pixels(CudaInput.of_values(array, "the array", None))


class CudaOutput:
    """A result on its way into the caller's array or a new one."""

    __slots__ = ("_given", "_source", "array", "memory")

    def __init__(self, source: CudaInput, array: Any, given: Any) -> None:
        self._source = source
        self._given = given
        """The caller's array where the library cannot write into it itself."""
        self.array = array
        self.memory = source.library.describe(array, source.stream)

    @property
    def bytes(self) -> _core.DeviceArray:
        return self.memory

    def finish(self) -> Any:
        return self._source.finish(self.array, self._given)
