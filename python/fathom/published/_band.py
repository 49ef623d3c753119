"""Narrow bands as they were published."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy.typing as npt

from .. import _core
from .._arrays.annotations import ArrayLike
from .._arrays.dtypes import FLOATS, named
from .._arrays.host import HostInput
from .._common.options import Backend, backend_number, check_names, thread_count
from .._common.progress import Progress, listener
from .._mesh.band import Band
from .._mesh.lattice import LatticeOptions, lattice_of
from .._mesh.triangle_set import TriangleSet, positive

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ALGORITHMS = ("octree", "mauch", "naive")
_PASSES = ("points", "edges", "faces")


class BandError(NamedTuple):
    """How far a band is from the exact one."""

    missed: int
    """Points of the exact band that were not found."""
    share: float
    """Of the exact band's points."""
    farther: int
    """Points that were found, but with too large a distance."""
    largest: float
    """By which a distance is too large."""


@dataclass(frozen=True)
class PublishedBand:
    """What an algorithm found, and what it took."""

    band: Band
    exact: bool
    """Whether the algorithm is, with these options."""
    phases: dict[str, float]
    """Seconds that each pass took, on a device without the copies there and back."""
    visited: int
    """Points whose distance to a vertex, an edge, a face or a triangle was computed."""
    nodes: int
    """Of the octree: 32 bytes each, besides leaves of 8, one for each point."""
    error: BandError | None
    """Measured beside the exact band, if it was asked for."""
    backend: str
    device: str | None
    """Name of the device that did the work; None: the processor did."""

    @property
    def seconds(self) -> float:
        """Of all phases."""
        return math.fsum(self.phases.values())


class BandOptions(LatticeOptions, total=False):
    """What all algorithms on meshes take: see :func:`octree`."""

    band: float | None
    cutoff: float | None
    dtype: npt.DTypeLike
    threads: int | None
    progress: Progress


def octree(
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    corrected: bool = False,
    passes: Collection[str] = _PASSES,
    measure_tree: bool = False,
    measure_error: bool = True,
    backend: Backend | None = None,
    **options: Unpack[BandOptions],
) -> PublishedBand:
    """Points around vertices, edges and faces of a mesh, in an octree: approximate, or corrected.

    Parameters
    ----------
    vertices, faces
        As for :func:`fathom.mesh_distance`.
    corrected : bool
        Find also the points around the ends of edges, and those at the rim of balls, that the published algorithm misses.
    passes : collection of {"points", "edges", "faces"}
        Which of the three passes to make.
    measure_tree : bool
        Make all passes once more over the finished tree, and once more without one: phases "again" and "without tree".
    measure_error : bool
        Compare with the exact band; takes a band of the library's own.
    backend : {None, "auto", "cpu", "cuda"}
        None and "auto": a device, if there is one.
    **options
        `band` or `cutoff`, together with half a cell's diagonal up to 64 steps; `resolution`, `spacing`, `origin`,
        `shape` and `margin` of the lattice; `dtype`, `threads` and `progress`: as for :func:`fathom.mesh_distance`.

    Returns
    -------
    PublishedBand
        Its band has no sign. Corrected and with all passes, it is that of :func:`fathom.mesh_distance`.

    Notes
    -----
    Cost O(V r³ + length of edges · r² + boxes of faces) for a cutoff of r steps. Source: Landgraf, "Constructing 3D Distance
    Fields on GPUs", 2016.

    Examples
    --------
    >>> from fathom import published
    >>> corners, triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]]
    >>> found = published.octree(corners, triangle, spacing=0.25, cutoff=0.5, corrected=True, backend="cpu")
    >>> found.exact, found.error.missed, list(found.phases)
    (True, 0, ['points', 'edges', 'faces'])
    """
    unknown = set(passes) - set(_PASSES)
    if unknown:
        raise ValueError(f"passes has {min(unknown)!r}; there are 'points', 'edges' and 'faces'")
    wanted = ("points" in passes, "edges" in passes, "faces" in passes)
    choices = (bool(corrected), bool(measure_tree), bool(measure_error))
    return _run("octree", vertices, faces, options, backend, wanted, choices)


def mauch(vertices: ArrayLike, faces: ArrayLike, **options: Unpack[BandOptions]) -> PublishedBand:
    """Scan conversion of polyhedra around vertices, edges and faces, on the processor: exact.

    Parameters
    ----------
    vertices, faces, **options
        As for :func:`octree`, without a limit of the cutoff.

    Returns
    -------
    PublishedBand
        Its band has no sign, and is that of :func:`fathom.mesh_distance`.

    Notes
    -----
    Takes 8 bytes a point of the lattice. Source: Mauch, "A Fast Algorithm for Computing the Closest Point and Distance
    Transform", 2000.

    Examples
    --------
    >>> from fathom import published
    >>> corners, triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]]
    >>> found = published.mauch(corners, triangle, spacing=0.5, cutoff=0.5)
    >>> len(found.band), found.exact
    (28, True)
    """
    return _run("mauch", vertices, faces, options)


def naive(vertices: ArrayLike, faces: ArrayLike, **options: Unpack[BandOptions]) -> PublishedBand:
    """Every point of the lattice against every triangle, on the processor: exact.

    Parameters
    ----------
    vertices, faces, **options
        As for :func:`octree`, without a limit of the cutoff.

    Returns
    -------
    PublishedBand
        Its band has no sign, and is that of :func:`fathom.mesh_distance`.

    Examples
    --------
    >>> from fathom import published
    >>> corners, triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]]
    >>> found = published.naive(corners, triangle, spacing=0.5, cutoff=0.5)
    >>> len(found.band), found.exact
    (28, True)
    """
    return _run("naive", vertices, faces, options)


def _run(
    algorithm: str,
    vertices: Any,
    faces: Any,
    options: BandOptions,
    backend: Backend | None = "cpu",
    passes: tuple[bool, bool, bool] = (True, True, True),
    choices: tuple[bool, bool, bool] = (False, False, False),
) -> PublishedBand:
    check_names(options, BandOptions, algorithm)
    band, cutoff, threads = options.get("band"), options.get("cutoff"), options.get("threads")
    if (band is None) == (cutoff is None):
        raise ValueError(f"{'neither' if band is None else 'both'} of band and cutoff given; give one of them")
    mesh = TriangleSet(vertices, faces, sign="none", backend="cpu", threads=threads)
    like = mesh._like
    if not isinstance(like, HostInput):
        raise TypeError("vertices lies on a CUDA device; the published algorithms take arrays in the processor's memory")
    lattice = cast(LatticeOptions, {name: options.get(name) for name in LatticeOptions.__annotations__})
    step = max(lattice_of(mesh._set, lattice).spacing)
    reach = positive(cutoff, "cutoff") if band is None else positive(band, "band") * step
    points = lattice_of(mesh._set, lattice, cutoff=reach if lattice.get("margin") is None else None)
    kind = _core.DTYPES[named(options.get("dtype", "float32"), FLOATS).name]
    numbers = (_ALGORITHMS.index(algorithm), kind, backend_number(backend), thread_count(threads))
    found, told = _core.published_band(
        mesh.vertices, mesh.faces, points, reach, numbers, passes, choices, listener(options.get("progress"))
    )
    error = told.pop("error")
    return PublishedBand(Band(found, "none", like), error=None if error is None else BandError(*error), **told)
