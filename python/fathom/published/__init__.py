"""Distance transforms as they were published: to call, to read, and to measure beside the library's own.

Each function is one algorithm. To have distances use :func:`fathom.distance_transform`, which is exact, and faster than
all of these. Each file in ``src/published`` of the source names the paper and where the code departs from it.

>>> import numpy as np
>>> from fathom import published
>>> found = published.jfa(np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], np.uint8), backend="cpu")
>>> found.distances[0].astype(int).tolist()
[2, 2, 2]
>>> found.exact, found.error.wrong, list(found.phases)
(False, 0, ['rounds'])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import ArrayLike
from .._arrays.dtypes import FLOATS, for_indices, named
from .._arrays.take import on_host
from .._common.options import Backend, backend_number, check_names, thread_count
from .._common.progress import Progress, listener
from .._grid.options import Sites, site_rule, sites_among
from ._band import BandError, PublishedBand, mauch, naive, octree
from ._map_reduce import Reduced, map_reduce
from ._tiles import Tile, lattice, near, repeat

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "BandError",
    "Error",
    "Published",
    "PublishedBand",
    "Reduced",
    "Tile",
    "brute",
    "jfa",
    "lattice",
    "map_reduce",
    "mauch",
    "naive",
    "near",
    "octree",
    "pba",
    "proximate",
    "repeat",
    "skw",
]

Access = Literal["vtv-vtv", "vv-hh", "hh-vv", "vh-vh", "hv-hv"]


class Error(NamedTuple):
    """How far a result is from the exact one."""

    wrong: int
    """Elements whose site is not a nearest one."""
    share: float
    """Of all elements."""
    largest: float
    """By which a distance is too large, in elements."""


@dataclass(frozen=True)
class Published:
    """What an algorithm found, and what it took."""

    distances: npt.NDArray[Any]
    """To the site that was found, in elements; +inf without one."""
    nearest: npt.NDArray[Any]
    """Linear index of that site in the input, int32 or int64; -1 without one."""
    exact: bool
    """Whether the algorithm finds nearest sites always."""
    phases: dict[str, float]
    """Seconds that each phase took, on a device without the copies there and back."""
    error: Error | None
    """Measured beside the exact result, for algorithms that are not exact."""
    backend: str
    device: str | None
    """Name of the device that did the work; None: the processor did."""

    @property
    def seconds(self) -> float:
        """Of all phases."""
        return math.fsum(self.phases.values())


class Options(TypedDict, total=False):
    """What all algorithms on images and volumes take: see :func:`pba`."""

    sites: Sites
    dtype: npt.DTypeLike
    backend: Backend | None
    threads: int | None
    progress: Progress


def pba(
    x: ArrayLike, *, m1: int = 16, m2: int = 16, m3: int = 4, slice: int | None = None, **options: Unpack[Options]
) -> Published:
    """Parallel Banding: exact.

    Parameters
    ----------
    x : array, shape (height, width) or (depth, height, width)
        In the processor's memory; up to 32,768 elements along each axis of an image, and up to 1,023, 2,048 and 2,048 of
        a volume.
    m1, m2 : int
        Bands in which a line is swept, 1 to 32, and bands that are merged.
    m3 : int
        Elements of a line that threads of a device colour at a time, 1 to 32.
    slice : int, optional
        Of a volume, this slice alone, in the memory of an image.
    **options
        `sites` (without "labels"), `dtype` (float32 or float64), `backend` (None and "auto": a device, if there is one),
        `threads` and `progress`, as for :func:`fathom.distance_transform`.

    Returns
    -------
    Published
        Distances are those of :func:`fathom.distance_transform`; of equally near sites the one with the lower coordinate
        along the last axis that was worked on is found.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`fathom.distance_transform`.

    Notes
    -----
    Cost O(N), and O(m3 N) at worst. Source: Cao, Tang, Mohamed & Tan, "Parallel Banding Algorithm to Compute Exact
    Distance Transform with the GPU", 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import published
    >>> published.pba(np.array([[0, 1, 1, 1, 0]]), backend="cpu").nearest
    array([[0, 0, 0, 4, 4]], dtype=int32)
    """
    chosen = None if slice is None else index(slice)
    return _run("pba", x, options, bands=(index(m1), index(m2), index(m3)), chosen=chosen)


def proximate(x: ArrayLike, *, access: Access = "vtv-vtv", **options: Unpack[Options]) -> Published:
    """Proximate points of columns: exact.

    Parameters
    ----------
    x : array, shape (height, width)
        As for :func:`pba`.
    access : {"vtv-vtv", "vv-hh", "hh-vv", "vh-vh", "hv-hv"}
        How a device's threads read and write the image in both steps: along columns (v), which neighbours do together,
        or rows (h), or along columns with the result transposed (t). The processor does hv-hv.
    **options
        As for :func:`pba`.

    Notes
    -----
    Cost O(N). Source: Man, Uda, Ito & Nakano, "Accelerating Computation of Euclidean Distance Map using the GPU with
    Efficient Memory Access", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import published
    >>> published.proximate(np.array([[0, 1, 1, 1, 0]]), backend="cpu").distances
    array([[0., 1., 2., 1., 0.]], dtype=float32)
    """
    return _run("proximate", x, options, access=access)


def jfa(x: ArrayLike, *, more_rounds: int = 0, measure_error: bool = True, **options: Unpack[Options]) -> Published:
    """Jump flooding: approximate.

    Parameters
    ----------
    x, **options
        As for :func:`pba`.
    more_rounds : {0, 1, 2}
        Rounds with short steps that follow: JFA, JFA+1, JFA+2.
    measure_error : bool
        Compare with the exact result; takes a transform of the library's own.

    Notes
    -----
    Cost O(N log n). Source: Rong & Tan, "Jump Flooding in GPU with Applications to Voronoi Diagram and Distance
    Transform", 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import published
    >>> published.jfa(np.array([[0, 1, 1, 1, 0]]), backend="cpu").error
    Error(wrong=0, share=0.0, largest=0.0)
    """
    return _run("jfa", x, options, more_rounds=index(more_rounds), measure_error=measure_error)


def skw(x: ArrayLike, *, measure_error: bool = True, **options: Unpack[Options]) -> Published:
    """Sweeps of vectors, which Cao et al. call SKW: approximate.

    Parameters
    ----------
    x, measure_error, **options
        As for :func:`jfa`.

    Notes
    -----
    Cost O(N); a line of elements waits for the one before it. Source: Schneider, Kraus & Westermann, "GPU-Based Real-Time
    Discrete Euclidean Distance Transforms with Precise Error Bounds", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import published
    >>> list(published.skw(np.array([[0, 1, 1, 1, 0]]), backend="cpu").phases)
    ['sweeps along y', 'sweeps along x']
    """
    return _run("skw", x, options, measure_error=measure_error)


def brute(x: ArrayLike, **options: Unpack[Options]) -> Published:
    """Every element against every site: exact.

    Parameters
    ----------
    x, **options
        As for :func:`pba`.

    Returns
    -------
    Published
        Of equally near sites the one with the lowest index is found, as everywhere else in Fathom.

    Notes
    -----
    Cost O(N · sites).

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import published
    >>> published.brute(np.array([[0, 1, 1, 1, 0]]), backend="cpu").nearest
    array([[0, 0, 0, 4, 4]], dtype=int32)
    """
    return _run("brute", x, options)


def _run(
    algorithm: str,
    x: Any,
    options: Options,
    *,
    bands: tuple[int, int, int] = (16, 16, 4),
    chosen: int | None = None,
    access: str = "vtv-vtv",
    more_rounds: int = 0,
    measure_error: bool = False,
) -> Published:
    check_names(options, Options, algorithm)
    given = on_host(x, "x")
    rule, value = site_rule(sites_among(x, options.get("sites", "zero")))
    plain = _core.Options(
        rule, value, _core.METRICS["euclidean"], (), (), math.inf, False, _core.SURFACES["faces"], (),
        backend_number(options.get("backend")), thread_count(options.get("threads")),
    )  # fmt: skip
    shape = given.shape if chosen is None else given.shape[1:]
    distances = np.empty(shape, named(options.get("dtype", "float32"), FLOATS))
    nearest = np.empty(shape, for_indices(given.shape))
    told = _core.published_distance(
        given.array, len(given.shape), plain, distances, nearest, listener(options.get("progress")), algorithm, bands,
        chosen, access, more_rounds, measure_error,
    )  # fmt: skip
    error = told.pop("error")
    return Published(distances, nearest, error=None if error is None else Error(*error), **told)
