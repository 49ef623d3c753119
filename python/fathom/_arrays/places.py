"""Where arrays lie."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from .. import _core
from .._core import DeviceError

# Devices of DLPack whose memory the processor reads: its own, and pinned by CUDA or ROCm.
_HOST = frozenset((1, 3, 11))
_CUDA = frozenset((2, 13))
_LOADED_BY = os.getpid()
"""The process that loaded the package: another one was forked from it."""


def lies_on_cuda(x: Any, name: str) -> bool:
    """Whether an array lies on a CUDA device.

    Raises
    ------
    DeviceError
        It does, and this build has no CUDA or the process no device, or it lies on a device of another kind.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor) and x.is_cuda and _core.HAS_CUDA:
        return True  # its __dlpack_device__() takes longer than all the rest
    device = getattr(x, "__dlpack_device__", None)
    if device is not None:
        kind = int(device()[0])
    else:
        kind = 2 if hasattr(x, "__cuda_array_interface__") else 1
    if kind in _HOST:
        return False
    if kind not in _CUDA:
        raise DeviceError(
            f"{name} lies on a device that Fathom does not know (DLPack type {kind}); copy it to the host"
        )
    if not _cuda_works():
        if _core.HAS_CUDA and os.getpid() != _LOADED_BY:
            raise DeviceError(
                f"{name} lies on a CUDA device, and this process was forked: it cannot use what was in use before; "
                "start it with the start method spawn of multiprocessing, or copy the array to the host first"
            )
        why = "this process can use none" if _core.HAS_CUDA else "this build of Fathom has no CUDA"
        raise DeviceError(f"{name} lies on a CUDA device, and {why}; copy it to the host first")
    return True


@functools.lru_cache(maxsize=None)
def _cuda_works() -> bool:
    return _core.HAS_CUDA and bool(_core.device_names())
