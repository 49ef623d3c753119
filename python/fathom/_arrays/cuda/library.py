"""What the package needs of a library of CUDA arrays, and which library an array belongs to."""

from __future__ import annotations

import functools
import sys
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, Protocol

from ... import _core
from ..dtypes import DType, Shape
from .foreign import Foreign, Memory


class Library(Protocol):
    """Arrays are the library's own, on one device. Whatever computes is put on the current stream; see :meth:`on`."""

    name: str

    def device(self, x: Any) -> int:
        """Number of the device."""
        ...

    def shape(self, x: Any) -> Shape: ...

    def dtype(self, x: Any) -> DType:
        """The element type in NumPy's words."""
        ...

    def current_stream(self, device: int) -> int:
        """Address of the stream that the caller works on."""
        ...

    def on(self, device: int, stream: int | None) -> AbstractContextManager[Any]:
        """Makes a device and a stream the current ones; None: the device's current stream."""
        ...

    def will_use(self, x: Any, device: int, stream: int) -> None:
        """Says that a stream, maybe not the current one, will read an array."""

    def has_rows(self, x: Any) -> bool:
        """Whether the last axis is contiguous and the others go in whole elements."""
        ...

    def is_dense(self, x: Any) -> bool:
        """Whether it is row-major without gaps."""
        ...

    def is_writable(self, x: Any) -> bool: ...

    def dense(self, x: Any, dtype: DType | None) -> Any:
        """A dense array with the same elements, or, with a dtype, the nearest ones of it."""
        ...

    def empty(self, shape: Shape, dtype: DType, near: Any) -> Any:
        """A dense array to be written, on the device of another."""
        ...

    def copy(self, source: Any, target: Any) -> None:
        """Copies elements."""

    def describe(self, x: Any, stream: int) -> _core.DeviceArray:
        """The array for the compiled part, in the order of a stream."""
        ...

    def adopt(self, memory: Memory) -> Any:
        """An array over memory that nobody writes any more."""
        ...

    def give(self, x: Any, stream: int) -> Any:
        """What the caller gets for an array made by :meth:`empty`."""
        ...


def library_of(x: Any) -> Library:
    """The library of an array on a CUDA device."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return _torch(torch)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return _cupy(cupy)
    namespace = getattr(x, "__array_namespace__", None)
    return _foreign(namespace() if namespace else sys.modules.get(type(x).__module__.partition(".")[0]))


@functools.lru_cache(maxsize=None)
def _torch(module: ModuleType) -> Library:
    from .torch import Torch

    return Torch(module)


@functools.lru_cache(maxsize=None)
def _cupy(module: ModuleType) -> Library:
    from .cupy import Cupy

    return Cupy(module)


@functools.lru_cache(maxsize=None)
def _foreign(module: ModuleType | None) -> Library:
    return Foreign(module)
