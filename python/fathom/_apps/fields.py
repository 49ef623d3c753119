"""Costmaps of robots, and textures of signed distance for shaders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import Array, ArrayLike, HostArray, Integers, No, Out, SameKind, Stream, Yes, overload
from .._arrays.dtypes import INDICES, Kind, for_indices, named
from .._common.options import Backend, number, whole
from .._common.progress import Progress
from .._grid.options import Sites, site_rule, sites_among
from .images import Images

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._arrays.annotations import CallOptions

    class CostOptions(CallOptions, total=False):
        scaling: float
        occupied: Sites | None
        unknown: Sites | None
        out: Array | None
        nearest_out: Array | None

    class TextureOptions(CallOptions, total=False):
        range: float
        pad: float
        invert: bool

_COST = Kind("out", (np.dtype(np.uint8),))
_NEAREST = Kind("nearest_out", INDICES)
_TEXTURE = Kind("out", tuple(np.dtype(t) for t in (np.uint8, np.uint16, np.float32, np.float64)))


@overload
def costmap(
    occupancy: HostArray, *, resolution: float, inscribed: float, inflation: float,
    return_nearest: No = False, **options: Unpack[CostOptions],
) -> npt.NDArray[np.uint8]: ...
@overload
def costmap(
    occupancy: HostArray, *, resolution: float, inscribed: float, inflation: float,
    return_nearest: Yes, **options: Unpack[CostOptions],
) -> tuple[npt.NDArray[np.uint8], Integers]: ...
@overload
def costmap(
    occupancy: SameKind, *, resolution: float, inscribed: float, inflation: float,
    return_nearest: No = False, **options: Unpack[CostOptions],
) -> SameKind: ...
@overload
def costmap(
    occupancy: SameKind, *, resolution: float, inscribed: float, inflation: float,
    return_nearest: Yes, **options: Unpack[CostOptions],
) -> tuple[SameKind, SameKind]: ...
@overload
def costmap(
    occupancy: ArrayLike, *, resolution: float, inscribed: float, inflation: float,
    return_nearest: bool = False, **options: Unpack[CostOptions],
) -> Any: ...
def costmap(
    occupancy: ArrayLike,
    *,
    resolution: float,
    inscribed: float,
    inflation: float,
    scaling: float = 10.0,
    occupied: Sites | None = None,
    unknown: Sites | None = None,
    return_nearest: bool = False,
    ndim: int | None = None,
    out: Array | None = None,
    nearest_out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Cost of being in each cell of a map, by the distance to the nearest obstacle and Nav2's formula.

    Parameters
    ----------
    occupancy : array, shape (*batch, *space)
        A map. Any kind of array that :func:`distance_transform` takes.
    resolution : float
        Size of a cell in metres.
    inscribed : float
        Radius in metres within which the robot touches an obstacle.
    inflation : float
        Radius in metres beyond which there is no cost.
    scaling : float
        How fast costs fall, per metre; at least 0.
    occupied, unknown : str or (str, number), optional
        Which cells are obstacles, and which are not known, as the `sites` of :func:`distance_transform` say it but for
        ``"labels"``. If not given: of int8, as occupancy grids are, ``">=100"`` and ``"==-1"``; else ``"nonzero"``, NaN
        too, and none. Of uint8 `occupied` must be given: ``">=254"`` of costmaps, whose unknown cells are ``"==255"``,
        ``"<=89"`` of images of maps, whose unknown ones are ``"==205"``, or ``"nonzero"``. Of `occupied` alone no cell
        is unknown.
    return_nearest : bool
        Also give the nearest obstacle of each cell.
    out, nearest_out : array, optional
        Where to put the results.
    ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.

    Returns
    -------
    costs : array of uint8, shape of `occupancy`
        255 where unknown, 254 where occupied, 253 up to the inscribed radius, whatever the inflation radius, else
        252 exp(-scaling (d - inscribed)), cut to a whole number, and 0 beyond the inflation radius. The same kind of
        array as `occupancy`.
    nearest : array of int32 or int64
        With `return_nearest`: the row-major index in its map of the nearest occupied cell; -1 if there is none.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    Cost O(N). Source: the inflation layer of Nav2; distances are exact, the inflation radius is not rounded to cells,
    and unknown cells near obstacles stay unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> cells = np.array([[100, 0, 0, 0, 0, -1]], np.int8)
    >>> fathom.costmap(cells, resolution=0.1, inscribed=0.1, inflation=0.35, scaling=3)
    array([[254, 253, 186, 138,   0, 255]], dtype=uint8)
    """
    if nearest_out is not None and not return_nearest:
        raise ValueError("nearest_out is given, but return_nearest is False; set it to True")
    images = Images(occupancy, "occupancy", ndim, None, backend, threads, progress, stream=stream)
    if occupied is None:
        if images.given.dtype == np.uint8:
            raise ValueError(
                "occupied must be given for uint8: '>=254' of costmaps, '<=89' of images of maps, or 'nonzero'"
            )
        is_grid = images.given.dtype == np.int8
        occupied = ">=100" if is_grid else "nonzero"
        unknown = "==-1" if is_grid and unknown is None else unknown
    costs = images.output(out, _COST)
    nearest = images.output(nearest_out, _NEAREST, None, for_indices(images.space)) if return_nearest else None
    images.run(
        _core.costmap,
        site_rule(sites_among(occupancy, occupied, "occupied"), "occupied"),
        None if unknown is None else site_rule(sites_among(occupancy, unknown, "unknown"), "unknown"),
        number(resolution, "resolution"),
        number(inscribed, "inscribed"),
        number(inflation, "inflation"),
        number(scaling, "scaling"),
        costs,
        nearest,
    )
    return costs.finish() if nearest is None else (costs.finish(), nearest.finish())


@overload
def sdf(
    coverage: HostArray, size: tuple[int, int] | None = None, *, dtype: None = None,
    out: None = None, **options: Unpack[TextureOptions],
) -> npt.NDArray[np.uint8]: ...
@overload
def sdf(
    coverage: HostArray, size: tuple[int, int] | None = None, *, dtype: npt.DTypeLike | None,
    out: None = None, **options: Unpack[TextureOptions],
) -> npt.NDArray[Any]: ...
@overload
def sdf(
    coverage: SameKind, size: tuple[int, int] | None = None, *, dtype: npt.DTypeLike | None = None,
    out: None = None, **options: Unpack[TextureOptions],
) -> SameKind: ...
@overload
def sdf(
    coverage: ArrayLike, size: tuple[int, int] | None = None, *, dtype: npt.DTypeLike | None = None,
    out: Out, **options: Unpack[TextureOptions],
) -> Out: ...
@overload
def sdf(
    coverage: ArrayLike, size: tuple[int, int] | None = None, *, dtype: npt.DTypeLike | None = None,
    out: Array | None = None, **options: Unpack[TextureOptions],
) -> Any: ...
def sdf(
    coverage: ArrayLike,
    size: tuple[int, int] | None = None,
    *,
    range: float = 8.0,
    pad: float = 0.0,
    invert: bool = False,
    dtype: npt.DTypeLike | None = None,
    ndim: int | None = None,
    out: Any = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Texture of signed distance from an image, for shaders that draw sharp outlines at any size.

    Parameters
    ----------
    coverage : array, shape (*batch, height, width)
        The share of each pixel that the object covers: bool, uint8, uint16, or floats from 0 to 1. Around the image is
        nothing.
    size : (int, int), optional
        Height and width of the texture; the image's and the padding's if not given. The image fills it as far as its
        proportions allow, in the middle.
    range : float
        Texels from the lowest value of the texture to the highest.
    pad : float
        Texels on each side that the image leaves free.
    invert : bool
        The object is what is dark.
    dtype : dtype, optional
        uint8 (default), uint16, float32 or float64.
    ndim : int, optional
        2 for a batch of independent images along the axes before, each with a texture of its own.
    out : array, optional
        Where to put the texture; its last two axes are the size.
    backend, threads, progress
        As for :func:`distance_transform`.
    stream : optional
        As for :func:`distance_transform`. The call waits for the image, not for the texture.

    Returns
    -------
    array, shape (*batch, height, width)
        ½ on the outline, 1 half a range inside, 0 half a range outside. Integers have 0 and 1 at the ends of their
        type, and are cut there; floats are not, and are -inf if there is no outline. The same kind of array as
        `coverage`.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Notes
    -----
    The outline passes through each pixel that is covered in part, at right angles to the gradient of coverage and such
    that it cuts off that share. Without partial coverage, distances to the faces of pixels are exact at their middles.
    Straight edges with exact coverage are met within 0.05 pixels, corners within half a pixel. Images that were blurred
    are no coverage. Source: Gustavson & Strand 2011; distances are to segments.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> half = np.array([[0.0, 0.5, 1.0, 1.0]] * 9)  # the edge goes through the middles of the second column
    >>> field = (0.5 - fathom.sdf(half, range=1, dtype=np.float64)) * 1
    >>> field[4].tolist()
    [1.0, 0.0, -1.0, -0.5]
    >>> fathom.sdf(half, (18, 8), dtype=np.uint8).shape
    (18, 8)
    """
    images = Images(coverage, "coverage", ndim, None, backend, threads, progress, stream=stream)
    shape = images.space
    if len(shape) != 2:
        raise ValueError(
            f"coverage has the shape {images.given.shape}; a texture is made of one image of height and width, "
            "or with ndim=2 one of each image of a batch"
        )
    pad = number(pad, "pad")
    if size is not None:
        size = _size(size)
    elif out is not None:
        size = tuple(out.shape[-2:])
    else:
        more = math.ceil(2 * pad) if 0 <= pad < 2**30 else 0
        size = (shape[0] + more, shape[1] + more)
    wanted = (*images.batch, *size)
    if out is None:
        texture = images.given.output(wanted, _TEXTURE.allowed[0] if dtype is None else named(dtype, _TEXTURE.allowed))
    else:
        texture = images.given.output_into(out, _TEXTURE, wanted, dtype)
    images.run(_core.sdf, number(range, "range"), pad, bool(invert), texture)
    return texture.finish()


def _size(size: Any) -> tuple[int, int]:
    if isinstance(size, str) or not hasattr(size, "__len__") or len(size) != 2:
        raise TypeError(f"size must be a pair of integers, height and width, not {size!r}")
    height, width = (whole(extent, "size") for extent in size)
    if min(height, width) < 0 or height * width >= 2**48:
        raise ValueError(f"size is {size!r}; give a height and a width of 0 or more that memory holds")
    return height, width
