"""Arrays of any other library that hands its memory on by DLPack or __cuda_array_interface__, such as JAX.

Such libraries have no current stream, and some have arrays that cannot be written. So the work goes on the stream that
the caller gives, else on the default stream; new arrays are memory of Fathom's; and the call waits for the work before
it hands them over.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ... import _core
from ..dtypes import BFLOAT16, DType, Shape

DTYPES = {code: np.dtype(name) for name, code in _core.DTYPES.items()}
_CODES = {dtype: code for code, dtype in DTYPES.items()}
_DEFAULT_STREAM = 1  # DLPack's word for it


class Memory:
    """Device memory of Fathom's, for libraries that have no way to take it over: it speaks both protocols itself."""

    def __init__(self, owner: Any, shape: Shape, dtype: DType, device: int) -> None:
        self._owner = owner
        self.shape = shape
        self.dtype = dtype
        self._device = device

    def __dlpack__(self, **options: Any) -> Any:
        return self._owner.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        address = _core.DeviceArray.held(self._owner, 0).address
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (address, False), "strides": None, "version": 3,
        }


class Foreign:
    """A library of which only the protocols are known."""

    def __init__(self, module: Any) -> None:
        self.name: str = getattr(module, "__name__", "an unknown library")
        self._module = module

    def device(self, x: Any) -> int:
        if hasattr(x, "__dlpack_device__"):
            return int(x.__dlpack_device__()[1])
        return _core.device_of(_interface(x)["data"][0])

    def shape(self, x: Any) -> Shape:
        return tuple(x.shape if hasattr(x, "shape") else _interface(x)["shape"])

    def dtype(self, x: Any) -> DType:
        given = x.dtype if hasattr(x, "dtype") else _interface(x)["typestr"]
        if str(given) == "bfloat16":
            return BFLOAT16
        dtype: DType = np.dtype(given)
        return dtype

    def current_stream(self, device: int) -> int:
        return 0

    def on(self, device: int, stream: int | None) -> AbstractContextManager[Any]:
        return nullcontext()

    def will_use(self, x: Any, device: int, stream: int) -> None:
        """The call waits until the work is done."""

    def has_rows(self, x: Any) -> bool:
        strides = None if hasattr(x, "__dlpack__") else _interface(x).get("strides")
        size = self.dtype(x).itemsize
        return strides is None or len(strides) == 0 or strides[-1] == size

    def is_dense(self, x: Any) -> bool:
        return hasattr(x, "__dlpack__") or _interface(x).get("strides") is None

    def is_writable(self, x: Any) -> bool:
        return hasattr(x, "__cuda_array_interface__") and not _interface(x)["data"][1]

    def dense(self, x: Any, dtype: DType | None) -> Any:
        if dtype is not None and hasattr(x, "astype"):
            return x.astype(dtype)
        raise TypeError(f"arrays of {self.name} must be dense and of an element type that Fathom reads; copy it first")

    def empty(self, shape: Shape, dtype: DType, near: Any) -> Any:
        code = _CODES.get(dtype)
        if code is None:
            raise TypeError(f"arrays of {self.name} must hold bool, integers, float32 or float64 here, not {dtype}")
        device = self.device(near)
        return Memory(_core.device_memory(shape, code, device), shape, dtype, device)

    def copy(self, source: Any, target: Any) -> None:
        raise TypeError(f"arrays of {self.name} must be dense to be written")

    def describe(self, x: Any, stream: int) -> _core.DeviceArray:
        if isinstance(x, Memory):
            return _core.DeviceArray.held(x.__dlpack__(), stream)
        if hasattr(x, "__dlpack__"):
            return _core.DeviceArray.held(x.__dlpack__(stream=stream or _DEFAULT_STREAM), stream)
        interface = _interface(x)
        if interface.get("stream") is not None:
            _core.wait_for(interface["stream"])
        dtype, shape = self.dtype(x), tuple(interface["shape"])
        strides = interface.get("strides") or _dense_strides(shape, dtype.itemsize)
        steps = tuple(stride // dtype.itemsize for stride in strides)
        return _core.DeviceArray(interface["data"][0], _CODES.get(dtype, -1), shape, steps, stream)

    def give(self, x: Any, stream: int) -> Any:
        _core.wait_for(stream)
        return self.adopt(x) if isinstance(x, Memory) else x

    def adopt(self, memory: Memory) -> Any:
        from_dlpack = getattr(self._module, "from_dlpack", None)
        return memory if from_dlpack is None else from_dlpack(memory)


def _interface(x: Any) -> dict[str, Any]:
    interface: dict[str, Any] = x.__cuda_array_interface__
    return interface


def _dense_strides(shape: Shape, step: int) -> Shape:
    strides = []
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))
