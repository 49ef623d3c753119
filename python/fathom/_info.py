"""What this build is and what it found."""

from __future__ import annotations

from typing import NamedTuple

from . import _core


class Info(NamedTuple):
    """Version, build and machine, as :func:`fathom.info` finds them."""

    version: str
    """Version of the package and the library in it."""
    instruction_sets: tuple[str, ...]
    """Instruction sets that the CPU code can use here; it takes the last one."""
    threads: int
    """Processors that this process may use: the number of threads unless a call says otherwise."""
    backends: tuple[str, ...]
    """Backends of this build."""
    devices: tuple[str, ...]
    """CUDA devices that this process can use, by name."""


def info() -> Info:
    """Version, build and devices.

    Returns
    -------
    Info
        A named tuple.

    Examples
    --------
    >>> import fathom
    >>> fathom.info().version == fathom.__version__
    True
    >>> 'baseline' in fathom.info().instruction_sets
    True
    """
    backends = ("cpu", "cuda") if _core.HAS_CUDA else ("cpu",)
    devices = tuple(_core.device_names())
    return Info(_core.VERSION, tuple(_core.instruction_sets()), _core.available_threads(), backends, devices)


def release_threads() -> None:
    """Ends the worker threads that Fathom keeps between calls; a later call starts them again.

    Must not run while another thread is inside a call of Fathom.

    Examples
    --------
    >>> import fathom
    >>> fathom.release_threads()
    """
    _core.release_threads()


def release_device_memory() -> None:
    """Gives back the scratch that Fathom keeps of each CUDA device's memory between calls, at most 1/32 of it.

    What work on its way uses stays.

    Examples
    --------
    >>> import fathom
    >>> fathom.release_device_memory()
    """
    _core.release_device_memory()
