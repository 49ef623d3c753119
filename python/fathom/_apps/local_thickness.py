"""Local thickness, and porosimetry by the same balls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .. import _core
from .._arrays.annotations import Array, ArrayLike, Floats, HostArray, Out, SameKind, Singles, Stream, overload
from .._arrays.dtypes import DISTANCES
from .._common.options import Backend, Spacing
from .._common.progress import Progress
from .images import Images

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._arrays.annotations import ImageOptions


@overload
def local_thickness(
    x: HostArray, *, dtype: None = None, out: None = None, **options: Unpack[ImageOptions]
) -> Singles: ...
@overload
def local_thickness(
    x: HostArray, *, dtype: npt.DTypeLike | None, out: None = None, **options: Unpack[ImageOptions]
) -> Floats: ...
@overload
def local_thickness(
    x: SameKind, *, dtype: npt.DTypeLike | None = None, out: None = None, **options: Unpack[ImageOptions]
) -> SameKind: ...
@overload
def local_thickness(
    x: ArrayLike, *, dtype: npt.DTypeLike | None = None, out: Out, **options: Unpack[ImageOptions]
) -> Out: ...
@overload
def local_thickness(
    x: ArrayLike, *, dtype: npt.DTypeLike | None = None, out: Array | None = None, **options: Unpack[ImageOptions]
) -> Any: ...
def local_thickness(
    x: ArrayLike,
    *,
    spacing: Spacing = None,
    ndim: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Diameter of the largest ball inside the object that covers an element.

    With D(p) the distance from p to the nearest zero, that is twice the largest D(p) of those p with \\|x - p\\| <
    D(p).

    Parameters
    ----------
    x : array, shape (*batch, *space), 1 to 3 axes of space
        As for :func:`distance_transform`. Nonzero elements are the object; NaN is nonzero. Nothing lies outside of the
        array.
    dtype : dtype, optional
        float32 (default) or float64.
    out : array, optional
        Where to put the result; not `x`.
    spacing, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.

    Returns
    -------
    array of float32 or float64, shape of `x`
        The same kind of array as `x` (`out`, if given), in the unit of the spacing: 0 in the background, +inf where an
        image has no zero. Distances are between the centres of elements: a slab of n elements is n + 1 thick, and n
        where n is even, since no centre lies in its middle.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Exact: every ball counts with its own radius, and squared distances decide, in integers where the spacings are
    equal; where they differ, what lies within a relative 2⁻⁴⁰ of a ball's surface is not inside. Cost: a distance
    transform, and for each ball that no neighbour's contains a test of its elements, many at a time. Source:
    Hildebrand & Rüegsegger 1997.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.local_thickness(np.array([0, 1, 0, 1, 1, 1, 0, 1, 1, 0]))
    array([0., 2., 0., 4., 4., 4., 0., 2., 2., 0.], dtype=float32)
    """
    images = Images(x, "x", ndim, spacing, backend, threads, progress, stream=stream)
    result = images.output(out, DISTANCES, dtype)
    images.run(_core.local_thickness, result)
    return result.finish()


@overload
def porosimetry(
    x: HostArray, inlets: ArrayLike | None = None, *, dtype: None = None, out: None = None,
    **options: Unpack[ImageOptions],
) -> Singles: ...
@overload
def porosimetry(
    x: HostArray, inlets: ArrayLike | None = None, *, dtype: npt.DTypeLike | None, out: None = None,
    **options: Unpack[ImageOptions],
) -> Floats: ...
@overload
def porosimetry(
    x: SameKind, inlets: ArrayLike | None = None, *, dtype: npt.DTypeLike | None = None, out: None = None,
    **options: Unpack[ImageOptions],
) -> SameKind: ...
@overload
def porosimetry(
    x: ArrayLike, inlets: ArrayLike | None = None, *, dtype: npt.DTypeLike | None = None, out: Out,
    **options: Unpack[ImageOptions],
) -> Out: ...
@overload
def porosimetry(
    x: ArrayLike, inlets: ArrayLike | None = None, *, dtype: npt.DTypeLike | None = None, out: Array | None = None,
    **options: Unpack[ImageOptions],
) -> Any: ...
def porosimetry(
    x: ArrayLike,
    inlets: ArrayLike | None = None,
    *,
    spacing: Spacing = None,
    ndim: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Diameter of the largest ball that covers an element and gets there from an inlet.

    That is :func:`local_thickness` with D(p) replaced by the radius of the largest ball that comes to p from an
    inlet: the maximum over all paths of elements that share a face with the next, from an inlet to p, of the least D
    along the path, its ends included. A fluid that does not wet fills x once its pressure is what balls of this size
    need: the numbers are those of mercury porosimetry.

    Parameters
    ----------
    x : array, shape (*batch, *space)
        Nonzero elements are the pores.
    inlets : array, shape of `x`, optional
        Nonzero where balls may enter; all faces of each image, if not given.
    dtype, out
        As for :func:`local_thickness`.
    spacing, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.

    Returns
    -------
    array of float32 or float64, shape of `x`
        As :func:`local_thickness`, of which no value is exceeded; 0 where no ball gets.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Exact as :func:`local_thickness`. Cost: that, and a search for the widest path to each element: O(N log N) on one
    thread of the processor, a few passes over the array on a device.

    Examples
    --------
    A pore of five elements behind a throat of one, open to the left:

    >>> import numpy as np
    >>> import fathom
    >>> pores = np.array([[0, 0, 0, 0, 0, 0, 0],
    ...                   [0, 0, 1, 1, 1, 0, 0],
    ...                   [1, 1, 1, 1, 1, 0, 0],
    ...                   [0, 0, 1, 1, 1, 0, 0],
    ...                   [0, 0, 0, 0, 0, 0, 0]])
    >>> fathom.local_thickness(pores).astype(int)[2]
    array([2, 2, 4, 4, 4, 0, 0])
    >>> fathom.porosimetry(pores).astype(int)[2]
    array([2, 2, 2, 2, 2, 0, 0])
    """
    images = Images(x, "x", ndim, spacing, backend, threads, progress, stream=stream)
    entrances = None if inlets is None else images.beside(inlets, "inlets")
    result = images.output(out, DISTANCES, dtype)
    images.run(_core.porosimetry, entrances, result)
    return result.finish()
