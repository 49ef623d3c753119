"""The integer medial axis, and the balls it tells of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import _core
from .._arrays.annotations import (
    Array, ArrayLike, HostArray, Integers, Masks, No, Out, SameKind, Singles, Stream, Yes, overload,
)  # fmt: skip
from .._arrays.dtypes import DISTANCES, MASKS, NEAREST, for_indices
from .._arrays.kinds import Output
from .._common.options import Backend, Spacing, choose, number
from .._common.progress import Progress
from .images import Images

Pruning = Literal["constant", "linear", "square_root"]
Ties = Literal["both", "thin"]

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._arrays.annotations import ImageOptions

    class PruningOptions(ImageOptions, total=False):
        pruning: Pruning
        gamma: float
        ties: Ties

    class AxisOptions(PruningOptions, total=False):
        return_distance: bool
        return_nearest: bool
        return_witness: bool


@overload
def medial_axis(
    x: HostArray, *, return_distance: No = False, return_nearest: No = False, return_witness: No = False,
    out: None = None, **options: Unpack[PruningOptions],
) -> Masks: ...
@overload
def medial_axis(
    x: HostArray, *, return_distance: Yes, return_nearest: No = False, return_witness: No = False,
    out: None = None, **options: Unpack[PruningOptions],
) -> tuple[Masks, Singles]: ...
@overload
def medial_axis(
    x: HostArray, *, return_distance: No = False, return_nearest: Yes, return_witness: No = False,
    out: None = None, **options: Unpack[PruningOptions],
) -> tuple[Masks, Integers]: ...
@overload
def medial_axis(
    x: SameKind, *, return_distance: No = False, return_nearest: No = False, return_witness: No = False,
    out: None = None, **options: Unpack[PruningOptions],
) -> SameKind: ...
@overload
def medial_axis(
    x: SameKind, *, return_distance: Yes, return_nearest: No = False, return_witness: No = False,
    out: None = None, **options: Unpack[PruningOptions],
) -> tuple[SameKind, SameKind]: ...
@overload
def medial_axis(
    x: SameKind, *, return_distance: No = False, return_nearest: Yes, return_witness: No = False,
    out: None = None, **options: Unpack[PruningOptions],
) -> tuple[SameKind, SameKind]: ...
@overload
def medial_axis(
    x: ArrayLike, *, return_distance: No = False, return_nearest: No = False, return_witness: No = False,
    out: Out, **options: Unpack[PruningOptions],
) -> Out: ...
@overload
def medial_axis(x: ArrayLike, *, out: Array | None = None, **options: Unpack[AxisOptions]) -> Any: ...
def medial_axis(
    x: ArrayLike,
    *,
    pruning: Pruning = "constant",
    gamma: float = 0,
    ties: Ties = "both",
    return_distance: bool = False,
    return_nearest: bool = False,
    return_witness: bool = False,
    spacing: Spacing = None,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Integer medial axis: elements of an object between two parts of the background that are about equally near.

    Of two neighbours m and n along an axis, with the nearest zeros f and g, one belongs to it if f and g are more
    than a step along one axis apart, and |f - g|² is more than

    - ``"constant"``: gamma²;
    - ``"linear"``: gamma² |m - f + n - g|², so that what is seen under too small an angle goes, near or far;
    - ``"square_root"``: h |m - f + n - g| + 2 <m - n, f - g> + C h², with h = |m - n| and C = 1, in volumes 1.5: what
      bends of the boundary by one element make goes. `gamma` has no meaning.

    It is m if <f - g, f + g - m - n> ≥ 0, and n if it is ≤ 0: that one in which the middle between f and g lies.

    Parameters
    ----------
    x : array, shape (*batch, *space), 1 to 3 axes of space
        As for :func:`distance_transform`. Nonzero elements are the object; NaN is nonzero. Nothing lies outside of the
        array.
    pruning : {"constant", "linear", "square_root"}
        What is kept: see above. That the axis is as connected as the object is not promised.
    gamma : float
        For constant pruning in the unit of the spacing (where that is 1, the published default of 1 is as 0), for
        linear pruning without a unit.
    ties : {"both", "thin"}
        What is taken where the middle between the zeros is that between m and n: both, as published, which gives an
        axis of two elements where the width is even; or the one with the lower linear index.
    return_distance, return_nearest, return_witness : bool
        Also give the distance to the nearest zero; its linear index; and, on the axis, that of the zero on the other
        side: of those neighbours' that make the element part of the axis, the farthest from its own.
    out : array, optional
        Where to put the axis: bool or uint8; not `x`.
    spacing, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.

    Returns
    -------
    axis : array of bool, shape of `x`
        The same kind of array as `x` (`out`, if given).
    distance : array of float32
        With `return_distance`: in the unit of the spacing; +inf without a zero.
    nearest, witness : array of int32 or int64
        With `return_nearest` and `return_witness`, in that order: linear indices in the image, -1 where there is none.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Cost O(N): the nearest sites, and a test of each pair of neighbours. Exact: where spacings are equal integers
    decide, but for the bounds of linear and square-root pruning; these, and all where spacings differ, are computed
    in float64. Source: Hesselink & Roerdink 2008.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> mask = np.zeros((7, 9), int)
    >>> mask[1:6, 1:8] = 1
    >>> fathom.medial_axis(mask, gamma=1.5).astype(int)
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 1, 0],
           [0, 0, 1, 0, 0, 0, 1, 0, 0],
           [0, 0, 0, 1, 1, 1, 0, 0, 0],
           [0, 0, 1, 0, 0, 0, 1, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 1, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0]])
    """
    images = Images(x, "x", ndim, spacing, backend, threads, progress, stream=stream)
    axis = images.output(out, MASKS)
    distance = images.output(None, DISTANCES) if return_distance else None
    nearest, witness = (
        images.output(None, NEAREST, usual=for_indices(images.space)) if wanted else None
        for wanted in (return_nearest, return_witness)
    )
    choices = (choose(_core.PRUNINGS, pruning, "pruning"), number(gamma, "gamma"), _is_thin(ties))
    images.run(_core.medial_axis, *choices, axis, distance, nearest, witness)
    return _finished(axis, distance, nearest, witness)


@overload
def medial_axis_of_nearest(
    nearest: HostArray, *, return_witness: No = False, out: None = None, **options: Unpack[PruningOptions]
) -> Masks: ...
@overload
def medial_axis_of_nearest(
    nearest: HostArray, *, return_witness: Yes, out: None = None, **options: Unpack[PruningOptions]
) -> tuple[Masks, Integers]: ...
@overload
def medial_axis_of_nearest(
    nearest: SameKind, *, return_witness: No = False, out: None = None, **options: Unpack[PruningOptions]
) -> SameKind: ...
@overload
def medial_axis_of_nearest(
    nearest: SameKind, *, return_witness: Yes, out: Array | None = None, **options: Unpack[PruningOptions]
) -> tuple[SameKind, SameKind]: ...
@overload
def medial_axis_of_nearest(
    nearest: ArrayLike, *, return_witness: No = False, out: Out, **options: Unpack[PruningOptions]
) -> Out: ...
@overload
def medial_axis_of_nearest(
    nearest: ArrayLike, *, return_witness: bool = False, out: Array | None = None, **options: Unpack[PruningOptions]
) -> Any: ...
def medial_axis_of_nearest(
    nearest: ArrayLike,
    *,
    pruning: Pruning = "constant",
    gamma: float = 0,
    ties: Ties = "both",
    return_witness: bool = False,
    spacing: Spacing = None,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """The medial axis from nearest sites that are there already: to prune again, in a small part of the time.

    Parameters
    ----------
    nearest : array of int32 or int64, shape (*batch, *space)
        Linear indices of the nearest zeros, as :func:`medial_axis` and :func:`nearest_site` give them, for the same
        spacing.
    pruning, gamma, ties, return_witness, out
        As for :func:`medial_axis`.
    spacing, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.

    Returns
    -------
    axis, witness
        As :func:`medial_axis`.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Cost: one test of each pair of neighbours. Source: Hesselink & Roerdink 2008.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> mask = np.zeros((64, 64), np.uint8)
    >>> mask[4:60, 4:60] = np.random.default_rng(0).random((56, 56)) > 0.001
    >>> axis, nearest = fathom.medial_axis(mask, return_nearest=True)
    >>> [int(fathom.medial_axis_of_nearest(nearest, gamma=gamma).sum()) for gamma in (0, 4, 16)]
    [261, 253, 145]
    """
    images = Images(nearest, "nearest", ndim, spacing, backend, threads, progress, stream=stream)
    axis = images.output(out, MASKS)
    witness = images.output(None, NEAREST, usual=for_indices(images.space)) if return_witness else None
    choices = (choose(_core.PRUNINGS, pruning, "pruning"), number(gamma, "gamma"), _is_thin(ties))
    images.run(_core.medial_axis_of_nearest, *choices, axis, witness)
    return _finished(axis, witness)


@overload
def axis_balls(axis: HostArray, nearest: ArrayLike, *, out: None = None, **options: Unpack[ImageOptions]) -> Masks: ...
@overload
def axis_balls(
    axis: SameKind, nearest: ArrayLike, *, out: None = None, **options: Unpack[ImageOptions]
) -> SameKind: ...
@overload
def axis_balls(axis: ArrayLike, nearest: ArrayLike, *, out: Out, **options: Unpack[ImageOptions]) -> Out: ...
@overload
def axis_balls(
    axis: ArrayLike, nearest: ArrayLike, *, out: Array | None = None, **options: Unpack[ImageOptions]
) -> Any: ...
def axis_balls(
    axis: ArrayLike,
    nearest: ArrayLike,
    *,
    spacing: Spacing = None,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """What the balls around a medial axis cover: the object, but for what was pruned.

    Around each element of the axis that is the open ball which its nearest zero bounds. Balls lie within the object.
    They cover nearly all of it, not all, where nothing is pruned and background surrounds it; towards the array's
    end, behind which there is nothing, an object has no axis.

    Parameters
    ----------
    axis : array, shape (*batch, *space)
        Nonzero elements are on the axis.
    nearest : array of int32 or int64, shape of `axis`
        As :func:`medial_axis` gives it, for the same spacing.
    out
        As for :func:`medial_axis`.
    spacing, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.

    Returns
    -------
    array of bool, shape of `axis`
        The same kind of array as `axis` (`out`, if given).

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Cost: for each ball of the axis a test of its elements, many at a time. Source: Hesselink & Roerdink 2008.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> mask = np.zeros((7, 9), bool)
    >>> mask[1:6, 1:8] = True
    >>> axis, nearest = fathom.medial_axis(mask, return_nearest=True)
    >>> bool((fathom.axis_balls(axis, nearest) == mask).all())
    True
    """
    images = Images(axis, "axis", ndim, spacing, backend, threads, progress, stream=stream)
    result = images.output(out, MASKS)
    images.run(_core.axis_balls, images.beside(nearest, "nearest"), result)
    return result.finish()


def _is_thin(ties: str) -> bool:
    return choose({"both": 0, "thin": 1}, ties, "ties") == 1


def _finished(*outputs: Output | None) -> Any:
    """The result, or a tuple of those that are wanted."""
    results = [output.finish() for output in outputs if output is not None]
    return tuple(results) if len(results) > 1 else results[0]
