"""Regions of sites, Lloyd's iteration and stippling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import Array, ArrayLike, HostArray, No, SameKind, Stream, Yes, overload
from .._arrays.dtypes import INDICES, Kind, Shape
from .._common.options import Backend, Spacing, number, whole
from .._common.progress import Progress
from .images import Images

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._arrays.annotations import CallOptions

    class RegionOptions(TypedDict, total=False):
        spacing: Spacing
        covariances: bool
        neighbours: bool
        out: Array | None
        backend: Backend | None
        threads: int | None
        stream: Stream
        progress: Progress

    class LloydOptions(CallOptions, total=False):
        iterations: int
        on_elements: bool
        supersample: int
        tolerance: float
        seed: int
        out: Array | None


Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Voronoi(NamedTuple):
    """Regions of sites, as :func:`fathom.voronoi` finds them. Positions are indices into the array."""

    regions: Any
    """int32, of the shape and kind of the array of sites: the number of each element's site; -1 if there is none."""
    sites: Integers
    """[n, ndim] indices of the sites, by number: in row-major order."""
    areas: Integers
    """[n] elements of each region."""
    masses: Floats
    """[n] sum of the weights."""
    centroids: Floats
    """[n, ndim] weighted mean of the elements' positions; NaN where a region has no weight."""
    covariances: Floats | None
    """[n, ndim, ndim] of the elements' positions, weighted; None unless asked for."""
    neighbours: Integers | None
    """[m, 2] numbers of sites whose regions touch, the lower first, ascending; None unless asked for."""
    lengths: Floats | None
    """[m] how long their boundary is: faces of elements, in the unit of the spacing."""


class Stipples(NamedTuple):
    """Dots, as :func:`fathom.stipple` places them."""

    positions: Floats
    """[*batch, n, 2] row and column; the middle of the first pixel is (0, 0)."""
    radii: Floats
    """[*batch, n] in pixels: a dot has the area of the ink of its region."""


@overload
def voronoi(
    sites: ArrayLike, weights: ArrayLike | None = None, *, ndim: None = None, **options: Unpack[RegionOptions]
) -> Voronoi: ...
@overload
def voronoi(
    sites: ArrayLike, weights: ArrayLike | None = None, *, ndim: int, **options: Unpack[RegionOptions]
) -> list[Voronoi]: ...
def voronoi(
    sites: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    spacing: Spacing = None,
    covariances: bool = False,
    neighbours: bool = False,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Voronoi | list[Voronoi]:
    """Voronoi regions of sites on a grid: what each holds, and which touch.

    Parameters
    ----------
    sites : array, shape (*batch, *space) with 1 to 3 axes of space
        Nonzero elements are sites; NaN is nonzero. Any kind of array that :func:`distance_transform` takes.
    weights : array, shape of `sites`, optional
        Weight of each element, where `sites` lies; 1 if not given. Integers from 0 to 65535 are taken as they are; of
        floats, finite and not negative, the largest is counted as 65535 and the others in proportion, rounded.
    spacing : float or sequence of float, optional
        Decides which site is nearest, and how long boundaries are; 1 if not given.
    covariances, neighbours : bool
        What else to find.
    out : array of int32 or int64, shape of `sites`, optional
        Where to put `regions`.
    stream : optional
        As for :func:`distance_transform`. The call waits for the tables.
    ndim, backend, threads, progress
        As for :func:`distance_transform`.

    Returns
    -------
    Voronoi
        A named tuple. An element belongs to its nearest site, of equally near ones to the first in row-major order.
        Sums are exact integers before they are divided. Tables are NumPy arrays. With `ndim`, a list of them, one for
        each image in row-major order, whose `regions` are parts of one array.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`; covariances of regions so large and heavy that their sums pass 64 bits.

    Notes
    -----
    Cost O(N). Source: Cao et al. 2010, section 6.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> found = fathom.voronoi(np.array([[1, 0, 0, 0, 1, 0]]), neighbours=True)
    >>> found.regions
    array([[0, 0, 0, 1, 1, 1]], dtype=int32)
    >>> found.areas.tolist(), found.centroids.tolist()
    ([3, 3], [[0.0, 1.0], [0.0, 4.0]])
    >>> found.neighbours.tolist(), found.lengths.tolist()
    ([[0, 1]], [1.0])

    Regions count elements as the weights say:

    >>> fathom.voronoi(np.array([1, 0, 0, 0]), np.array([0, 1, 1, 2])).centroids
    array([[2.25]])

    Two lines of one image each:

    >>> [found.areas.tolist() for found in fathom.voronoi(np.array([[1, 0, 0, 1], [0, 0, 1, 0]]), ndim=1)]
    [[2, 2], [4]]
    """
    images = Images(sites, "sites", ndim, spacing, backend, threads, progress, stream=stream)
    shape = images.given.shape
    regions = images.output(out, Kind("out", INDICES))
    weighed = None if weights is None else images.given.beside(weights, "weights")
    if weighed is not None and weighed.shape != shape:
        raise ValueError(f"weights has the shape {weighed.shape}; it must have that of sites, {shape}")
    tables = images.run(_core.voronoi, weighed, bool(covariances), bool(neighbours), regions)
    all_regions = regions.finish()
    if ndim is None:
        return _tables(all_regions, images.space, tables[0], covariances, neighbours)
    return [
        _tables(all_regions[item], images.space, table, covariances, neighbours)
        for item, table in zip(np.ndindex(images.batch), tables)
    ]


def _tables(regions: Any, space: Shape, found: tuple[Any, ...], covariances: bool, neighbours: bool) -> Voronoi:
    """`found`: of one image, as the library has it."""
    linear, areas, masses, firsts, seconds, scale, pairs, lengths = found
    at = np.column_stack(np.unravel_index(linear, space or (1,))).astype(np.int64, copy=False)
    with np.errstate(invalid="ignore"):
        mean = firsts / masses[:, None]
    return Voronoi(
        regions,
        at,
        areas,
        masses / scale,
        at + mean,
        _about_centroids(seconds, masses, mean) if covariances else None,
        pairs if neighbours else None,
        lengths if neighbours else None,
    )


def _about_centroids(seconds: Integers, masses: Integers, mean: Floats) -> Floats:
    axes = mean.shape[1]
    rows, columns = np.triu_indices(axes)
    about_sites = np.empty((len(masses), axes, axes))
    with np.errstate(invalid="ignore"):
        about_sites[:, rows, columns] = about_sites[:, columns, rows] = seconds / masses[:, None]
    return about_sites - mean[:, :, None] * mean[:, None, :]


def _whole(value: Any, name: str, bits: int = 31) -> int:
    """A whole number that the library's type holds."""
    result = whole(value, name)
    if not 0 <= result < 2**bits:
        raise ValueError(f"{name} is {result}; give a whole number from 0 to {2**bits - 1}")
    return result


@overload
def lloyd(
    weights: ArrayLike, sites: HostArray, *, return_energies: No = False, **options: Unpack[LloydOptions]
) -> Floats: ...
@overload
def lloyd(
    weights: ArrayLike, sites: HostArray, *, return_energies: Yes, **options: Unpack[LloydOptions]
) -> tuple[Floats, Any]: ...
@overload
def lloyd(
    weights: ArrayLike, sites: SameKind, *, return_energies: No = False, **options: Unpack[LloydOptions]
) -> SameKind: ...
@overload
def lloyd(
    weights: ArrayLike, sites: SameKind, *, return_energies: Yes, **options: Unpack[LloydOptions]
) -> tuple[SameKind, Any]: ...
@overload
def lloyd(
    weights: ArrayLike, sites: ArrayLike, *, return_energies: bool = False, **options: Unpack[LloydOptions]
) -> Any: ...
def lloyd(
    weights: ArrayLike,
    sites: ArrayLike,
    *,
    iterations: int = 100,
    on_elements: bool = False,
    supersample: int = 1,
    tolerance: float = 0.0,
    seed: int = 0,
    return_energies: bool = False,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Lloyd's iteration: moves sites to the weighted centroids of their Voronoi regions, again and again.

    Parameters
    ----------
    weights : array, shape (*batch, *space) with 1 to 3 axes of space
        Weight of each element, as for :func:`voronoi`; not all 0.
    sites : array, shape (*batch, n, ndim)
        Positions in indices, where `weights` lies; whole numbers for `on_elements`. At most as many as elements that
        have a weight.
    iterations : int
        How many at most; it ends when all sites are at rest.
    on_elements : bool
        Keep sites on elements: each centroid is rounded to the nearest, and the energy falls until no site moves.
        Otherwise positions are real, and come closer to the optimum.
    supersample : int
        For real positions: regions on a grid so many times as fine, 1 to 16.
    tolerance : float
        Real positions are at rest when none moves farther along an axis.
    seed : int
        Of new positions for sites whose region has no weight, drawn by weight; `on_elements` they stay where they are.
    return_energies : bool
        Also give the energies.
    ndim : int, optional
        As for :func:`voronoi`; each image from the same seed.
    out : array of float64, shape of `sites`, optional
        Where to put the positions; not `sites`.
    backend, threads, stream, progress
        As for :func:`voronoi`.

    Returns
    -------
    positions : array of float64, shape of `sites`
        The same kind of array as `sites` (`out`, if given).
    energies : array of float64
        With `return_energies`: the sum of weight times squared distance to the nearest site, before each iteration and
        after the last. With `ndim`, a list of them, one for each image in row-major order.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`voronoi`.

    Notes
    -----
    Cost O(N) an iteration. Of sites on one element the first has the region. Source: Lloyd 1982.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.lloyd(np.ones((3, 10)), [[0, 0], [0, 1]])
    array([[1., 2.],
           [1., 7.]])
    >>> positions, energies = fathom.lloyd(np.ones(10), [[0], [9]], on_elements=True, return_energies=True)
    >>> positions.tolist(), bool((np.diff(energies) <= 0).all())
    ([[2.0], [7.0]], True)
    """
    images = Images(weights, "weights", ndim, None, backend, threads, progress, stream=stream)
    given = images.given.beside(sites, "sites")
    if len(given.shape) != len(images.batch) + 2 or given.shape[:-2] != images.batch:
        wanted = ", ".join([*map(str, images.batch), "n", str(len(images.space))])
        raise ValueError(f"sites has the shape {given.shape}; it must have ({wanted})")
    moved = given.copied(np.dtype(np.float64), out)
    told = images.run(
        _core.lloyd,
        moved,
        _whole(iterations, "iterations"),
        bool(on_elements),
        _whole(supersample, "supersample"),
        number(tolerance, "tolerance"),
        _whole(seed, "seed", 64),
        bool(return_energies),
    )
    positions = moved.finish()
    if not return_energies:
        return positions
    energies = [one for one, _, _ in told]
    return positions, energies[0] if ndim is None else energies


def stipple(
    image: ArrayLike,
    dots: int,
    *,
    seed: int = 0,
    iterations: int = 100,
    tolerance: float = 0.1,
    gamma: float = 1.0,
    invert: bool = False,
    supersample: int | None = None,
    ndim: int | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Stipples:
    """Dots that draw a picture: a weighted centroidal Voronoi diagram of its tone.

    Parameters
    ----------
    image : array, shape (*batch, height, width)
        Tones: bool, uint8, uint16, or floats from 0 (black) to 1 (white).
    dots : int
        How many, of each image.
    seed : int
        Of the first positions, which are drawn by tone.
    iterations, tolerance
        Of Lloyd's iteration: how many at most, and how far, in pixels, no dot moves any more when it ends.
    gamma : float
        The ink of a pixel is (1 - tone) ** gamma; above 1, light tones lose dots.
    invert : bool
        Light dots for light tones: ink is tone ** gamma.
    supersample : int, optional
        Regions on a grid so many times as fine, 1 to 16; as the density of dots asks for if not given.
    ndim : int, optional
        2 for a batch of independent images along the axes before; each from the same seed.
    backend, threads, stream, progress
        As for :func:`voronoi`.

    Returns
    -------
    Stipples
        A named tuple of positions and radii; the areas of all dots are the picture's ink.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`voronoi`; no ink at all; more dots than elements with ink, on the finer grid: where `supersample` is
        not given, 16 times the pixels with ink.

    Notes
    -----
    The same bytes for a seed on every backend. Cost O(N) an iteration. Source: Secord 2002; dots have the area
    of their regions' ink instead of one size.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> tones = np.tile(np.linspace(0, 1, 60), (40, 1))  # black on the left, white on the right
    >>> positions, radii = fathom.stipple(tones, 200)
    >>> positions.shape, bool((positions[:, 1] < 30).mean() > 0.6)
    ((200, 2), True)
    >>> round(np.pi * (radii**2).sum()), round((1 - tones).sum())
    (1200, 1200)
    """
    images = Images(image, "image", ndim, None, backend, threads, progress, stream=stream)
    if supersample == 0:
        raise ValueError("supersample is 0; give 1 to 16, or None to have it chosen")
    positions, radii = images.run(
        _core.stipple,
        _whole(dots, "dots"),
        _whole(seed, "seed", 64),
        _whole(iterations, "iterations"),
        number(tolerance, "tolerance"),
        number(gamma, "gamma"),
        bool(invert),
        0 if supersample is None else _whole(supersample, "supersample"),
    )
    return Stipples(
        positions.reshape(*images.batch, *positions.shape[1:]), radii.reshape(*images.batch, *radii.shape[1:])
    )
