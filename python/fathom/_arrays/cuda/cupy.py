"""CuPy's arrays."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import numpy as np

from ... import _core
from ..dtypes import DType, Shape
from .foreign import Memory

_CODES = {np.dtype(name): code for name, code in _core.DTYPES.items()}


class _Address:
    """A stream of which the address is known."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


class Cupy:
    """CuPy; the module is given, since importing it is the caller's affair."""

    name = "CuPy"

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._cuda = cupy.cuda

    def device(self, x: Any) -> int:
        return int(x.data.device_id)

    def shape(self, x: Any) -> Shape:
        return tuple(x.shape)

    def dtype(self, x: Any) -> DType:
        dtype: DType = x.dtype
        return dtype

    def current_stream(self, device: int) -> int:
        return int(self._cuda.get_current_stream(device).ptr)

    def on(self, device: int, stream: int | None) -> AbstractContextManager[Any]:
        if stream is None and self._cuda.runtime.getDevice() == device:
            return nullcontext()
        context = ExitStack()
        context.enter_context(self._cuda.Device(device))
        if stream is not None:
            context.enter_context(self._stream(device, stream))
        return context

    def _stream(self, device: int, stream: int) -> Any:
        if hasattr(self._cuda.Stream, "from_external"):  # CuPy 14 and newer
            return self._cuda.Stream.from_external(_Address(stream))
        return self._cuda.ExternalStream(stream, device)

    def will_use(self, x: Any, device: int, stream: int) -> None:
        """CuPy has no way to say it: whoever gives a stream keeps the array until the work is done."""

    def has_rows(self, x: Any) -> bool:
        if x.flags.c_contiguous:
            return True
        size = x.itemsize
        rows: bool = x.shape[-1] <= 1 or x.strides[-1] == size
        return rows and all(stride % size == 0 for stride in x.strides)

    def is_dense(self, x: Any) -> bool:
        return bool(x.flags.c_contiguous)

    def is_writable(self, x: Any) -> bool:
        return True

    def dense(self, x: Any, dtype: DType | None) -> Any:
        return self._cupy.ascontiguousarray(x if dtype is None else x.astype(dtype))

    def empty(self, shape: Shape, dtype: DType, near: Any) -> Any:
        return self._cupy.empty(shape, dtype)

    def copy(self, source: Any, target: Any) -> None:
        target[...] = source

    def describe(self, x: Any, stream: int) -> _core.DeviceArray:
        size = x.itemsize
        strides = tuple(stride // size for stride in x.strides)
        return _core.DeviceArray(x.data.ptr, _CODES.get(x.dtype, -1), x.shape, strides, stream)

    def adopt(self, memory: Memory) -> Any:
        return self._cupy.from_dlpack(memory)

    def give(self, x: Any, stream: int) -> Any:
        return x
