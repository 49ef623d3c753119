"""Arrays of any kind, taken for what they are."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from .cuda import CudaInput
from .given import plain
from .host import HostInput
from .kinds import Input
from .places import lies_on_cuda

AnyInput = Union[HostInput, CudaInput]


def take(x: Any, name: str, stream: Any = None) -> Input:
    """An input of any kind, whose elements the library reads.

    It is not copied where its rows are contiguous and its elements native. Else it is copied once: reversed or strided
    rows (Fortran order of more than one axis among them), foreign byte order, and float16 and bfloat16, which become
    float32.

    Raises
    ------
    TypeError
        It is no array, or not one of numbers that have an order: see _given.py.
    ValueError
        A stream is given for an array on the host.
    DeviceError
        It lies on a device that cannot be reached.
    """
    if stream is None and type(x) is np.ndarray:  # most arrays: without a further call
        return HostInput.of_numbers(x, name)
    x = plain(x)
    if _on_host(x, name, stream):
        return HostInput.of_numbers(x, name)
    return CudaInput.of_numbers(x, name, stream)


def take_values(x: Any, name: str, stream: Any = None) -> AnyInput:
    """An input whose elements are carried, not read: of any type of fixed size. Errors as :func:`take`."""
    x = plain(x)
    if _on_host(x, name, stream):
        return HostInput.of_values(x, name)
    return CudaInput.of_values(x, name, stream)


def on_host(x: Any, name: str) -> HostInput:
    """An input whose elements the library reads in the processor's memory.

    Raises
    ------
    TypeError
        It is no array of numbers.
    ValueError, DeviceError
        It lies on a device.
    """
    if lies_on_cuda(x, name):
        raise ValueError(f"{name} lies on a CUDA device, and this works on the host alone; copy it to the host")
    return HostInput.of_numbers(x, name)


def _on_host(x: Any, name: str, stream: Any) -> bool:
    if type(x) is not np.ndarray and lies_on_cuda(x, name):
        return False
    if stream is not None:
        raise ValueError(f"stream is for arrays on a CUDA device; {name} lies on the host")
    return True
