"""Arrays in and out: any kind goes in, the same kind comes out. The one place that knows about kinds and devices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._core import DeviceError

# Element types of the library, by NumPy's characters.
_CHARACTERS = frozenset("?bBhHiIlLqQfd")
# Devices of DLPack whose memory the processor reads: its own, and pinned by CUDA or ROCm.
_HOST = frozenset((1, 3, 11))
_CUDA = frozenset((2, 13))

Host = npt.NDArray[Any]


class Source(NamedTuple):
    """An input, readable by the library."""

    array: Host
    give_back: Callable[[Host], Any] | None
    """Turns a result into the input's kind of array; None: NumPy it is."""


def take(x: Any, name: str) -> Source:
    """An input of any kind, without a copy where its rows are contiguous and its elements native.

    Else it is copied once: reversed or strided rows (Fortran order of more than one axis among them), foreign byte
    order, and float16, which becomes float32.

    Raises
    ------
    TypeError
        It is no array, or holds what has no order: complex numbers, text, objects.
    DeviceError
        It lies on a device that this build cannot reach.
    """
    if type(x) is np.ndarray:
        return Source(_readable(x, name), None)
    check_device(x, name)
    return Source(_readable(_host_array(x, name), name), _way_back(x))


def take_values(x: Any, name: str) -> Source:
    """An input whose elements are carried, not read: of any type of fixed size, in native byte order.

    Raises
    ------
    TypeError
        It is no array, or holds objects.
    DeviceError
        It lies on a device that this build cannot reach.
    """
    check_device(x, name)
    array = _host_array(x, name)
    if array.dtype.hasobject:
        raise TypeError(f"{name} holds objects; it must hold elements of a fixed size")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return Source(array, _way_back(x))


def check_device(x: Any, name: str) -> None:
    """Raises DeviceError if an array lies where this build cannot reach it."""
    device = getattr(x, "__dlpack_device__", None)
    kind = int(device()[0]) if device is not None else 2 if hasattr(x, "__cuda_array_interface__") else 1
    if kind in _CUDA:
        raise DeviceError(
            f"{name} lies on a CUDA device, and this build of Fathom has no CUDA; copy it to the host first"
        )
    if kind not in _HOST:
        raise DeviceError(f"{name} lies on a device that Fathom does not know (DLPack type {kind}); copy it to the host")


def _host_array(x: Any, name: str) -> Host:
    try:
        if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
            return np.asarray(x)
        return np.from_dlpack(x)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"{name} must be an array of numbers: {error}") from error


def _readable(array: Host, name: str) -> Host:
    dtype = array.dtype
    if dtype.char not in _CHARACTERS:
        if dtype.char != "e":
            raise TypeError(f"{name} has the dtype {dtype}; it must be bool, integer or float of up to 64 bits")
        array = array.astype(np.float32)
    elif not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    return array if has_rows(array) else np.ascontiguousarray(array)


def has_rows(array: Host) -> bool:
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


def _way_back(x: Any) -> Callable[[Host], Any] | None:
    """How x's library makes an array of its own from a NumPy array, by the array API standard or by habit."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return None
    namespace = getattr(x, "__array_namespace__", None)
    library = namespace() if namespace else sys.modules.get(type(x).__module__.partition(".")[0])
    from_dlpack: Callable[[Host], Any] | None = getattr(library, "from_dlpack", None)
    return from_dlpack


def take_output(out: Any, name: str) -> Host:
    """The memory behind an output array of any kind, as NumPy sees it.

    Raises
    ------
    TypeError
        It is no array whose memory can be shared.
    ValueError
        It is read-only.
    DeviceError
        It lies on a device that this build cannot reach.
    """
    if type(out) is np.ndarray:
        array = out
    else:
        check_device(out, name)
        array = _shared_memory(out, name)
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only; give an array that can be written")
    return array


def _shared_memory(out: Any, name: str) -> Host:
    if isinstance(out, np.ndarray):
        return np.asarray(out)
    if not hasattr(out, "__dlpack__") and not hasattr(out, "__array_interface__"):
        raise TypeError(f"{name} must be an array, not {type(out).__name__}")
    array = np.asarray(out)
    seen = np.from_dlpack(out) if hasattr(out, "__dlpack__") else array
    if array.ctypes.data != seen.ctypes.data:
        raise TypeError(f"{name} must be an array whose memory can be shared; {type(out).__name__} gives copies")
    return array
