"""Streams, as any library has them."""

from __future__ import annotations

from typing import Any


def handle_of(stream: Any) -> int:
    """What a cudaStream_t holds.

    Raises
    ------
    TypeError, ValueError
        It is no stream.
    """
    if isinstance(stream, int) and not isinstance(stream, bool):
        if stream < 0:
            raise ValueError(f"stream is {stream}; a stream's address is 0 or more")
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int(protocol()[1])
    for attribute in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    raise TypeError(
        f"stream must be a stream of PyTorch or CuPy, its address, or have __cuda_stream__, not {type(stream).__name__}"
    )
