"""Which way the nearest site is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._arrays.annotations import Array, ArrayLike, HostArray, SameKind, Singles, Stream, overload
from .._arrays.dtypes import Kind
from .._common.options import Backend, Metric, Spacing
from .._common.progress import Progress
from .._grid.options import Border, Settings, Sites, make, sites_among
from .images import Images

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._grid.options import SiteOptions

    class Options(SiteOptions, total=False):
        out: Array | None

_DIRECTIONS = Kind("out", (np.dtype(np.float32),))


@overload
def direction(x: HostArray, **options: Unpack[Options]) -> Singles: ...
@overload
def direction(x: SameKind, **options: Unpack[Options]) -> SameKind: ...
@overload
def direction(x: ArrayLike, **options: Unpack[Options]) -> Any: ...
def direction(
    x: ArrayLike,
    *,
    sites: Sites = "zero",
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
    """Direction from each element to its nearest site, in degrees from north, clockwise.

    North is up, towards row 0; east is to the right. As in Esri's Euclidean Direction and in xarray-spatial, north is
    360, since 0 is kept for elements that are sites themselves.

    Parameters
    ----------
    x : array, shape (*batch, rows, columns)
        As for :func:`distance_transform`.
    sites, spacing, metric, border, max_distance, backend, threads, stream, progress
        As for :func:`distance_transform`. Directions are in units of the spacing; across a periodic border, the shorter
        way, of equally short ones to the south and east.
    ndim : int, optional
        2, if there are axes before rows and columns: a batch of independent maps.
    out : array of float32, shape of `x`, optional
        Where to put the result.

    Returns
    -------
    array of float32, shape of `x`
        The same kind of array as `x`. In (0, 360]: north 360, east 90, south 180, west 270; 0 where the element is a
        site, NaN where there is none within `max_distance`. Of equally near sites, to the one with the lowest linear
        index.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    See Also
    --------
    allocation : what is there

    Notes
    -----
    Cost: one distance transform with nearest sites. Source: directions as Esri's Euclidean Direction has them.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.direction(np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]]))
    array([[135., 180., 225.],
           [ 90.,   0., 270.],
           [ 45., 360., 315.]], dtype=float32)
    """
    images = Images(x, "x", ndim, None, backend, threads, progress, stream=stream)
    settings = Settings(sites_among(x, sites), spacing, metric, border, max_distance, backend, threads)
    result = images.output(out, _DIRECTIONS)
    images.run(_core.direction, make(settings, len(images.space), ()), result)
    return result.finish()
