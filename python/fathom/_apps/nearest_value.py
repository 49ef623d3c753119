"""Values carried from the nearest site: labels grown, gaps filled, any element's from anywhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._arrays.annotations import Array, ArrayLike, Numbers, SameType, Stream, overload
from .._arrays.given import as_numpy
from .._arrays.take import take_values
from .._common.options import Backend, Metric, Spacing, choose
from .._common.progress import Progress, listener
from .._grid.call import Call
from .._grid.options import Border, Settings, Sites, sites_among

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._arrays.annotations import ImageOptions
    from .._grid.options import SiteOptions

    class GrowthOptions(ImageOptions, total=False):
        metric: Metric
        border: Border
        ties: Literal["first", "lowest"]
        out: Array | None

    class GapOptions(ImageOptions, total=False):
        metric: Metric
        border: Border
        max_distance: float | None
        out: Array | None

    class AllocationOptions(SiteOptions, total=False):
        out: Array | None

_TIES = {"first": 0, "lowest": 1}


@overload
def expand_labels(labels: SameType, distance: float = ..., **options: Unpack[GrowthOptions]) -> SameType: ...
@overload
def expand_labels(labels: Numbers, distance: float = ..., **options: Unpack[GrowthOptions]) -> npt.NDArray[Any]: ...
@overload
def expand_labels(labels: ArrayLike, distance: float = ..., **options: Unpack[GrowthOptions]) -> Any: ...
def expand_labels(
    labels: ArrayLike,
    distance: float = math.inf,
    *,
    spacing: Spacing = None,
    metric: Metric = "euclidean",
    border: Border = "open",
    ties: Literal["first", "lowest"] = "first",
    ndim: int | None = None,
    out: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Grow labels into the background, each element taking the label that is nearest.

    Parameters
    ----------
    labels : array of bool, integers or floats, shape (*batch, *space)
        0 is background; NaN is a label.
    distance : float
        How far labels grow, in the unit of the spacing; everywhere if not given.
    ties : {"first", "lowest"}
        Of equally near labels the one whose element has the lowest linear index, or the lowest one, wherever it lies:
        then results turn and flip with the labels. "lowest" is for integers, Euclidean distances and open borders; it
        is ``morphology.dilation(labels, distance, labels=True)``, and takes longer.
    spacing, metric, border, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.
    out : array, optional
        Where to put the result; of the shape and dtype of `labels`, which it may be but with "lowest".

    Returns
    -------
    array, shape and dtype of `labels`
        The same kind of array as `labels`.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Cost: one distance transform with nearest sites, and a gather; with ties="lowest" two transforms of the box around
    each label. Source: as ``skimage.segmentation.expand_labels``, but for the choice among equally near labels.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.expand_labels(np.array([[5, 0, 0, 0, 0, 7]]), distance=1)
    array([[5, 5, 0, 0, 7, 7]])
    >>> fathom.expand_labels(np.array([7, 0, 5])), fathom.expand_labels(np.array([7, 0, 5]), ties="lowest")
    (array([7, 7, 5]), array([7, 5, 5]))
    """
    if choose(_TIES, ties, "ties"):
        if metric != "euclidean" or border != "open":
            raise ValueError('ties="lowest" is for the Euclidean metric and open borders; leave them out')
        from ..morphology import dilation

        return dilation(
            labels, distance, labels=True, spacing=spacing, ndim=ndim, out=out, backend=backend, threads=threads,
            stream=stream, progress=progress,
        )
    settings = Settings("nonzero", spacing, metric, border, distance, backend, threads)
    values = take_values(labels, "labels", stream)
    # Background beyond the distance has no nearest site and keeps its value: 0.
    return Call(values.numbers("labels"), ndim, None, settings, listener(progress)).carry(values, out)


@overload
def fill_nearest(x: SameType, missing: ArrayLike | None = None, **options: Unpack[GapOptions]) -> SameType: ...
@overload
def fill_nearest(x: Numbers, missing: ArrayLike | None = None, **options: Unpack[GapOptions]) -> npt.NDArray[Any]: ...
@overload
def fill_nearest(x: ArrayLike, missing: ArrayLike | None = None, **options: Unpack[GapOptions]) -> Any: ...
def fill_nearest(
    x: ArrayLike,
    missing: ArrayLike | None = None,
    *,
    spacing: Spacing = None,
    metric: Metric = "euclidean",
    border: Border = "open",
    max_distance: float | None = None,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Fill missing elements with the value of the nearest element that is there.

    Parameters
    ----------
    x : array of any dtype with elements of fixed size, shape (*batch, *space)
        Values.
    missing : array, shape of `x`, optional
        Nonzero where a value is missing. If not given, NaN (NaT) is. What a masked array of NumPy's masks is missing in
        any case.
    spacing, metric, border, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.
    max_distance : float, optional
        Elements farther from any value stay as they are.
    out : array, optional
        Where to put the result; of the shape and dtype of `x`, which it may be.

    Returns
    -------
    array, shape and dtype of `x`
        The same kind of array as `x`. Of equally near values, the one with the lowest linear index. Where nothing is
        there to take from, elements stay as they are; in a masked array, masked.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Cost: one distance transform with nearest sites, and a gather.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.fill_nearest(np.array([[1.0, np.nan, np.nan, 4.0]]))
    array([[1., 1., 4., 4.]])
    >>> fathom.fill_nearest(np.array([[3, -1, -1, 8]]), missing=np.array([[0, 1, 1, 0]]))
    array([[3, 3, 8, 8]])
    """
    if isinstance(x, np.ma.MaskedArray):
        where: dict[str, Any] = {
            "spacing": spacing, "metric": metric, "border": border, "max_distance": max_distance, "ndim": ndim,
            "backend": backend, "threads": threads, "stream": stream,
        }
        gaps = _gaps_of_masked(x, missing)
        into = out.data if isinstance(out, np.ma.MaskedArray) else out
        filled = fill_nearest(x.data, gaps, out=into, progress=progress, **where)
        # The mask goes the way of the values: it stays where there is none to take.
        mask = fill_nearest(np.ma.getmaskarray(x), gaps, **where)
        if isinstance(out, np.ma.MaskedArray):
            out.mask = mask
        return np.ma.MaskedArray(filled, mask) if out is None else out
    values = take_values(x, "x", stream)
    gaps = values.undefined() if missing is None else values.beside(missing, "missing")
    if gaps is None:
        raise TypeError(f"missing must be given: x has the dtype {values.dtype}, which has no NaN")
    if gaps.shape != values.shape:
        raise ValueError(f"missing has the shape {gaps.shape}; it must have {values.shape}, as x")
    settings = Settings("zero", spacing, metric, border, max_distance, backend, threads)
    return Call(gaps, ndim, None, settings, listener(progress)).carry(values, out)


@overload
def allocation(x: SameType, **options: Unpack[AllocationOptions]) -> SameType: ...
@overload
def allocation(x: Numbers, **options: Unpack[AllocationOptions]) -> npt.NDArray[Any]: ...
@overload
def allocation(x: ArrayLike, **options: Unpack[AllocationOptions]) -> Any: ...
def allocation(
    x: ArrayLike,
    *,
    sites: Sites = "nonzero",
    spacing: Spacing = None,
    metric: Metric = "euclidean",
    border: Border = "open",
    max_distance: float | None = None,
    ndim: int | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Value of the site nearest to each element, as geographic information systems allocate cells.

    Distances are straight: nothing is in the way, and no way costs more than another (geodesic and cost distances are
    not what Fathom does).

    Parameters
    ----------
    x : array of bool, integers or floats, shape (*batch, *space)
        Values, of which some are sites.
    sites, spacing, metric, border, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`; by default all but 0 are sites.
    max_distance : float, optional
        Elements farther from all sites keep their value.
    out : array, optional
        Where to put the result; of the shape and dtype of `x`, which it may be.

    Returns
    -------
    array, shape and dtype of `x`
        The same kind of array as `x`. Of equally near sites, the one with the lowest linear index.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    See Also
    --------
    direction : which way the site is

    Notes
    -----
    Cost: one distance transform with nearest sites, and a gather. Source: as Esri's Euclidean Allocation.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.allocation(np.array([[3, 1, 1, 1, 8]]), sites=">2")
    array([[3, 3, 3, 8, 8]])
    """
    settings = Settings(sites_among(x, sites), spacing, metric, border, max_distance, backend, threads)
    values = take_values(x, "x", stream)
    return Call(values.numbers("x"), ndim, None, settings, listener(progress)).carry(values, out)


def _gaps_of_masked(x: Any, missing: Any) -> Any:
    mask = np.ma.getmaskarray(x)
    if missing is None:
        return mask | (x.data != x.data) if x.dtype.kind in "fcmM" else mask
    given = as_numpy(missing, "missing")
    if given.shape != x.shape:
        raise ValueError(f"missing has the shape {given.shape}; it must have {x.shape}, as x")
    return mask | (given != 0)
