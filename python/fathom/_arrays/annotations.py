"""What callers may give, for the reader of types: any library's arrays, streams and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Union

import numpy.typing as npt


class SpeaksDLPack(Protocol):
    """As PyTorch's tensors, and arrays of CuPy and JAX."""

    @property
    def __dlpack__(self) -> Callable[..., Any]: ...


class HasArrayInterface(Protocol):
    """As images of Pillow's."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class HasArray(Protocol):
    """As xarray's DataArrays."""

    @property
    def __array__(self) -> Callable[..., Any]: ...


class HasCudaArrayInterface(Protocol):
    """As arrays of Numba's on CUDA devices."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class HasCudaStream(Protocol):
    """As streams of cuda.core's."""

    @property
    def __cuda_stream__(self) -> Callable[[], tuple[int, int]]: ...


class TorchStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...


class CupyStream(Protocol):
    @property
    def ptr(self) -> int: ...


Array = Union[npt.NDArray[Any], SpeaksDLPack, HasArray, HasArrayInterface, HasCudaArrayInterface]
"""An array, on the host or on a device, whose memory can be written."""
ArrayLike = Union[npt.ArrayLike, Array]
"""An array on the host or on a device, or what NumPy makes one of, such as nested lists."""
Stream = Union[int, HasCudaStream, TorchStream, CupyStream, None]
"""A CUDA stream, or its address; None: the current one of the array's library."""
