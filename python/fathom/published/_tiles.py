"""The published kernels of tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import ArrayLike
from .._arrays.take import on_host
from .._common.options import Backend, backend_number, choose
from .._common.progress import Progress, listener

_REPEATS = {
    "basic": 0, "indexed": 1, "pointer": 2, "repeater-loop": 3, "modulo": 4, "shared": 5, "repeater-grid": 6,
}  # fmt: skip
_LATTICES = {"target-loop": 0, "uv-loop": 1, "uv-exchange": 2}
_NEARS = {"white": 0, "distance-check": 1, "neighbour-check": 2, "improved": 3, "black": 4}


@dataclass(frozen=True)
class Tile:
    """What a kernel of tiles made, and what it took."""

    pixels: npt.NDArray[np.float32]
    phases: dict[str, float]
    """Seconds that each phase took, on a device with the copies there and back."""
    backend: str
    device: str | None
    """Name of the device that did the work; None: the processor did, on one thread."""

    @property
    def seconds(self) -> float:
        """Of all phases."""
        return math.fsum(self.phases.values())


def repeat(
    repeater: ArrayLike,
    shape: Sequence[int],
    *,
    variant: Literal["basic", "indexed", "pointer", "repeater-loop", "modulo", "shared", "repeater-grid"] = "modulo",
    backend: Backend | None = None,
    progress: Progress = None,
) -> Tile:
    """A small tile again and again along both axes: case 1 of Pellet's slides.

    Parameters
    ----------
    repeater : array, shape (height, width)
        In the processor's memory; as float32.
    shape : (int, int)
        Of the result; up to 1,048,576 along each axis.
    variant : str
        "basic", "indexed", "pointer" and "repeater-loop" are loops of the processor. "modulo" has a thread for each
        pixel of the result, as has "shared", in which one of each block copies the repeater into shared memory – "the
        mistake"; "repeater-grid" has one for each pixel of the repeater.
    backend : {None, "auto", "cpu", "cuda"}
        Where to compute; None and "auto": on a device, if there is one and the variant is not a loop of the processor.
    progress : bool or callable, optional
        As for :func:`fathom.distance_transform`.

    Returns
    -------
    Tile

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`fathom.distance_transform`.

    Notes
    -----
    Source: Pellet, "Some super-simple benchmarked GPU kernels that nobody really cares about – yet are relevant for my
    activity".

    Examples
    --------
    >>> from fathom import published
    >>> published.repeat([[1, 2, 3]], (2, 5), backend="cpu").pixels
    array([[1., 2., 3., 1., 2.],
           [1., 2., 3., 1., 2.]], dtype=float32)
    """
    number = choose(_REPEATS, variant, "variant")
    return _run(_core.published_repeat, _floats(repeater, "repeater"), _shape(shape), (number,), backend, progress)


def lattice(
    repeater: ArrayLike,
    shape: Sequence[int],
    u: Sequence[int],
    v: Sequence[int],
    *,
    variant: Literal["target-loop", "uv-loop", "uv-exchange"] = "target-loop",
    backend: Backend | None = None,
    progress: Progress = None,
) -> Tile:
    """Copies of a small tile at all i u + j v: case 2 of Pellet's slides. Pixels that are 0 cover nothing.

    Parameters
    ----------
    repeater, shape, backend, progress
        As for :func:`repeat`.
    u, v : (int, int)
        Steps (y, x), not parallel.
    variant : {"target-loop", "uv-loop", "uv-exchange"}
        "target-loop" has a thread for each pixel of the result, which is the mean of all that covers it. The others
        have one for each copy, which writes its pixels, or exchanges them atomically: where copies overlap the last one
        wins on the processor, and any on a device.

    Returns
    -------
    Tile

    Examples
    --------
    >>> from fathom import published
    >>> published.lattice([[1, 3]], (2, 5), (0, 1), (1, 0), backend="cpu").pixels[0]
    array([2., 2., 2., 2., 2.], dtype=float32)
    """
    arguments = (_pair(u, "u"), _pair(v, "v"), choose(_LATTICES, variant, "variant"))
    return _run(_core.published_lattice, _floats(repeater, "repeater"), _shape(shape), arguments, backend, progress)


def near(
    source: ArrayLike,
    max_distance: int,
    *,
    variant: Literal["improved", "white", "distance-check", "neighbour-check", "black"] = "improved",
    backend: Backend | None = None,
    progress: Progress = None,
) -> Tile:
    """Distances to white pixels, those that are not 0, that are near: case 3 of Pellet's slides.

    Parameters
    ----------
    source : array, shape (height, width)
        In the processor's memory.
    max_distance : int
        1 to 4096; beyond it the result is +inf.
    variant : {"improved", "white", "distance-check", "neighbour-check", "black"}
        "white": a thread for each white pixel, which lowers the distances around it atomically; "distance-check": but
        where they are lower already; "neighbour-check": nor if its four neighbours are white; "improved": nor on the
        sides where its neighbour is. "black": a thread for each black pixel, which looks for white ones around it.
    backend, progress
        As for :func:`repeat`.

    Returns
    -------
    Tile

    Examples
    --------
    >>> from fathom import published
    >>> published.near([[0, 0, 0, 1, 0]], 2, backend="cpu").pixels
    array([[inf,  2.,  1.,  0.,  1.]], dtype=float32)
    """
    number = choose(_NEARS, variant, "variant")
    white = (on_host(source, "source").array != 0).astype(np.float32)
    return _run(_core.published_near, white, white.shape, (index(max_distance), number), backend, progress)


def _run(
    call: Any,
    given: npt.NDArray[np.float32],
    shape: tuple[int, ...],
    arguments: tuple[Any, ...],
    backend: Backend | None,
    progress: Progress,
) -> Tile:
    pixels = np.empty(shape, np.float32)
    told = call(given, pixels, *arguments, backend_number(backend), listener(progress))
    return Tile(pixels, told[2], told[0], told[1])


def _floats(x: Any, name: str) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(on_host(x, name).array, np.float32)


def _shape(shape: Sequence[int]) -> tuple[int, int]:
    pair = _pair(shape, "shape")
    if min(pair) < 0:
        raise ValueError(f"shape is {pair}; its extents must be 0 or more")
    return pair


def _pair(values: Sequence[int], name: str) -> tuple[int, int]:
    whole = tuple(index(value) for value in values)
    if len(whole) != 2:
        raise ValueError(f"{name} has {len(whole)} numbers; give two, of rows and columns")
    return whole[0], whole[1]
