"""PyTorch's tensors."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ... import _core
from ..dtypes import BFLOAT16, DType, Shape
from .foreign import Memory

_AS_IT_IS = nullcontext()


class Torch:
    """PyTorch; the module is given, since importing it is the caller's affair."""

    name = "PyTorch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._empty_like = torch.empty_like
        known = {name: np.dtype(name) for name in (*_core.DTYPES, "float16", "complex64", "complex128")}
        known["bfloat16"] = BFLOAT16
        self._numpy = {getattr(torch, name): dtype for name, dtype in known.items() if hasattr(torch, name)}
        self._own = {dtype: own for own, dtype in self._numpy.items()}
        # What PyTorch's own compilers use: ten times as quick as making a Stream to ask it.
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self._raw_stream = raw or (lambda device: torch.cuda.current_stream(device).cuda_stream)
        self._codes = {own: _core.DTYPES.get(dtype.name, -1) for own, dtype in self._numpy.items()}

    def device(self, x: Any) -> int:
        return int(x.get_device())

    def shape(self, x: Any) -> Shape:
        return tuple(x.shape)

    def dtype(self, x: Any) -> DType:
        dtype = self._numpy.get(x.dtype)
        if dtype is None:
            raise TypeError(f"tensors of {x.dtype} are not supported")
        return dtype

    def current_stream(self, device: int) -> int:
        stream: int = self._raw_stream(device)
        return stream

    def on(self, device: int, stream: int | None) -> AbstractContextManager[Any]:
        if stream is None:
            return _AS_IT_IS  # tensors say on which device they lie, and each device has its current stream
        context: AbstractContextManager[Any] = self._torch.cuda.stream(self._stream(device, stream))
        return context

    def _stream(self, device: int, stream: int) -> Any:
        cuda = self._torch.cuda
        return cuda.ExternalStream(stream, device=device) if stream else cuda.default_stream(device)

    def will_use(self, x: Any, device: int, stream: int) -> None:
        x.record_stream(self._stream(device, stream))

    def has_rows(self, x: Any) -> bool:
        return (x.is_contiguous() or x.shape[-1] <= 1 or x.stride(-1) == 1) and not x.is_neg()

    def is_dense(self, x: Any) -> bool:
        return bool(x.is_contiguous()) and not x.is_neg() and not x.is_conj()

    def is_writable(self, x: Any) -> bool:
        return not x.is_neg()

    def dense(self, x: Any, dtype: DType | None) -> Any:
        x = x.detach().resolve_conj().resolve_neg()
        return (x if dtype is None else x.to(self._own[dtype])).contiguous()

    def empty(self, shape: Shape, dtype: DType, near: Any) -> Any:
        own = self._own.get(dtype)
        if own is None:
            raise TypeError(f"this version of PyTorch has no {dtype}")
        if near.shape == shape and near.is_contiguous():
            return self._empty_like(near, dtype=own)  # the quickest of PyTorch's ways by half
        return near.new_empty(shape, dtype=own)

    def copy(self, source: Any, target: Any) -> None:
        target.detach().copy_(source)

    def describe(self, x: Any, stream: int) -> _core.DeviceArray:
        return _core.DeviceArray(x.data_ptr(), self._codes[x.dtype], x.shape, x.stride(), stream)

    def adopt(self, memory: Memory) -> Any:
        return self._torch.from_dlpack(memory)

    def give(self, x: Any, stream: int) -> Any:
        return x
