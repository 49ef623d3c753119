"""Pointwise distances by a map and a reduction, as published: around fathom/published/map_reduce.h."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import ArrayLike
from .._arrays.dtypes import FLOATS, INDICES, named
from .._arrays.take import on_host
from .._common.options import Backend, backend_number, thread_count
from .._common.progress import Progress, listener


@dataclass(frozen=True)
class Reduced:
    """What a map and a reduction found, and what they took."""

    distances: npt.NDArray[Any]
    """To the nearest site; +inf without one."""
    nearest: npt.NDArray[np.int64]
    """Index of that site; of equally near ones the lowest; -1 without one."""
    exact: bool
    """Whether no site was left out."""
    phases: dict[str, float]
    """Seconds that each phase took, on a device without the copies of the sites and the answers."""
    error: float | None
    """Of perforated sites: mean absolute percentage error of the distances."""
    tiles: int
    """N, into which the sites are divided."""
    intermediate_bytes: int
    """Between maps and reductions."""
    shares: tuple[float, ...]
    """Of the sites, of each of several devices."""
    backend: str
    device: str | None
    """Names of the devices that did the work; None: the processor did."""

    @property
    def seconds(self) -> float:
        """Of all phases."""
        return math.fsum(self.phases.values())


def map_reduce(
    sites: ArrayLike,
    queries: ArrayLike,
    *,
    kernels: int = 10,
    streams: int = 2,
    tile: int = 128,
    atomic: bool = False,
    every: int = 1,
    directions: ArrayLike | None = None,
    half_angle: float = math.pi,
    devices: Sequence[int] = (),
    dtype: npt.DTypeLike = "float32",
    backend: Backend | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Reduced:
    """Distances of points by a map and a reduction: exact, unless perforated.

    Parameters
    ----------
    sites : array, shape (n, d)
        As for :class:`fathom.SiteSet`, in the processor's memory. Integers are compared by squares of 32 bits.
    queries : array, shape (m, d)
        Where to ask.
    kernels : int
        K: parts of the sites, each mapped and reduced by kernels of its own.
    streams : int
        J: parts at work at a time, 1 to 64.
    tile : int
        Sites of a tile: a multiple of 32, up to 256.
    atomic : bool
        The map keeps the minimum by atomic operations, without a kernel that reduces.
    every : int
        Perforated: only every so-many-th site is looked at, and the error is measured.
    directions : array, shape (d,) or (m, d), optional
        Anisotropic: only sites within `half_angle`, in radians, of the direction.
    half_angle : float
        0 to pi.
    devices : sequence of int
        CUDA devices that share the sites, in proportion to their measured speeds; one may be named twice.
    dtype, backend, threads, progress
        As for :func:`pba`.

    Returns
    -------
    Reduced
        Distances and sites are those of :meth:`fathom.SiteSet.nearest` with the same options.

    Notes
    -----
    Cost O(n · m), and J · ⌈N / K⌉ · m numbers for N tiles. Source: Khan & Zahran, "Space-efficient Pointwise
    Computation of the Distance Transform on GPUs".

    Examples
    --------
    >>> from fathom import published
    >>> found = published.map_reduce([[0, 0, 0], [9, 0, 0]], [[7, 0, 0]], backend="cpu")
    >>> found.distances, found.nearest
    (array([2.], dtype=float32), array([1]))
    """
    given = on_host(sites, "sites").coordinates("sites", False)
    asked = on_host(queries, "queries").coordinates("queries", False)
    cone = None
    if directions is not None:
        cone = on_host(directions, "directions").reals("directions", FLOATS).array
        cone = cone.reshape(1, -1) if cone.ndim == 1 else cone
    shape = asked.shape[:1]
    distances, nearest = np.empty(shape, named(dtype, FLOATS)), np.empty(shape, INDICES[1])
    told = _core.map_reduce(
        given.array, asked.array, (cone, float(half_angle)), distances, nearest, listener(progress),
        (index(kernels), index(streams), index(tile)), atomic, index(every), [index(device) for device in devices],
        every != 1, backend_number(backend), thread_count(threads),
    )  # fmt: skip
    return Reduced(distances, nearest, **told)
