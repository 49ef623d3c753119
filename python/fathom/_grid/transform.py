"""Distances, nearest sites and signed fields: the calls around grid::distance_transform() of the C++ library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .._arrays.annotations import (
    Array, ArrayLike, Floats, HostArray, Integers, No, Out, SameKind, Singles, Stream, Yes, overload,
)  # fmt: skip
from .._arrays.dtypes import (
    COORDINATES,
    DISTANCES,
    FLOATS,
    INDICES,
    NEAREST,
    SQUARED,
    Kind,
    for_indices,
    for_squares,
    named,
)
from .._arrays.take import take
from .._common.options import Backend, Metric, Spacing
from .._common.progress import Progress, listener
from .call import Call
from .options import Border, Region, Settings, Sites, Surface, sites_among

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import SiteOptions

    class RegionOptions(SiteOptions, total=False):
        region: Region

    class TransformOptions(RegionOptions, total=False):
        signed: bool

    class SignedOptions(RegionOptions, total=False):
        surface: Surface


@overload
def distance_transform(
    x: HostArray, *, squared: No = False, return_indices: No = False, dtype: None = None,
    out: None = None, **options: Unpack[TransformOptions],
) -> Singles: ...
@overload
def distance_transform(
    x: HostArray, *, squared: bool = False, return_indices: No = False, dtype: npt.DTypeLike | None = None,
    out: None = None, **options: Unpack[TransformOptions],
) -> npt.NDArray[Any]: ...
@overload
def distance_transform(
    x: HostArray, *, squared: bool = False, return_indices: Yes, dtype: npt.DTypeLike | None = None,
    out: Array | None = None, indices_out: Array | None = None, **options: Unpack[TransformOptions],
) -> tuple[npt.NDArray[Any], Integers]: ...
@overload
def distance_transform(
    x: SameKind, *, squared: bool = False, return_indices: No = False, dtype: npt.DTypeLike | None = None,
    out: None = None, **options: Unpack[TransformOptions],
) -> SameKind: ...
@overload
def distance_transform(
    x: SameKind, *, squared: bool = False, return_indices: Yes, dtype: npt.DTypeLike | None = None,
    out: Array | None = None, indices_out: Array | None = None, **options: Unpack[TransformOptions],
) -> tuple[SameKind, SameKind]: ...
@overload
def distance_transform(
    x: ArrayLike, *, squared: bool = False, return_indices: No = False, dtype: npt.DTypeLike | None = None,
    out: Out, **options: Unpack[TransformOptions],
) -> Out: ...
@overload
def distance_transform(
    x: HostArray, *, squared: bool = False, return_indices: bool = False, return_offsets: Yes,
    dtype: npt.DTypeLike | None = None, out: Array | None = None, indices_out: Array | None = None,
    offsets_out: Array | None = None, **options: Unpack[TransformOptions],
) -> tuple[npt.NDArray[Any], ...]: ...
@overload
def distance_transform(
    x: ArrayLike, *, squared: bool = False, return_indices: bool = False, return_offsets: bool = False,
    dtype: npt.DTypeLike | None = None, out: Array | None = None, indices_out: Array | None = None,
    offsets_out: Array | None = None, **options: Unpack[TransformOptions],
) -> Any: ...
def distance_transform(
    x: ArrayLike,
    *,
    sites: Sites = "zero",
    spacing: Spacing = None,
    metric: Metric = "euclidean",
    border: Border = "open",
    squared: bool = False,
    signed: bool = False,
    max_distance: float | None = None,
    region: Region = None,
    ndim: int | None = None,
    return_indices: bool = False,
    return_offsets: bool = False,
    dtype: npt.DTypeLike | None = None,
    out: Array | None = None,
    indices_out: Array | None = None,
    offsets_out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Exact distance from each element to its nearest site.

    Parameters
    ----------
    x : array, shape (*batch, *space)
        Any array that speaks DLPack, ``__array_interface__``, ``__cuda_array_interface__`` or the buffer protocol, or
        nested lists, of bool, integers or floats. It is not copied where its rows are contiguous and its elements
        native; else a copy is made: of reversed, strided or Fortran-ordered rows, foreign byte order, half precision.
    sites : str or (str, number)
        Which elements are sites: ``"zero"``, ``"nonzero"`` (NaN is), ``"labels"`` (for each element, the elements with
        another label; label 0 has distance 0), or a comparison by ``>=``, ``>``, ``<=``, ``<``, ``==`` or ``!=``, as
        text or a pair: ``">=0.5"``, ``"!= 7"``, ``("==", 2**53 + 1)``. Integers are compared whole with any number; for
        floats the number is rounded to their type first. ``"==nan"`` finds NaN, ``"!=nan"`` everything else.
    spacing : float or sequence of float, optional
        Physical size of an element along each space axis, finite and > 0; 1 if not given.
    metric : {"euclidean", "taxicab", "chessboard"}
        How distance is measured.
    border : str or sequence of str
        What lies outside, for all space axes or each: ``"open"`` (nothing), ``"sites"``, ``"periodic"`` (the array
        again).
    squared : bool
        Squared Euclidean distances: exact integers for unit spacing.
    signed : bool
        Negative inside, positive outside, zero on the faces between; see :func:`signed_distance`.
    max_distance : float, optional
        Farther elements get +inf (integers: the type's maximum) and the index -1, in the unit of the spacing. Spacings
        that are no whole numbers leave room for their rounding: three steps of 0.1 are within 0.3.
    region : sequence of slice, (int, int) or None, optional
        Part of the result to compute from the whole input, one entry per space axis.
    ndim : int, optional
        How many trailing axes are space, 1 to 8; the axes before them are a batch of independent images. All, if not
        given.
    return_indices : bool
        Also give the coordinates of the nearest sites.
    return_offsets : bool
        Also give the ways to the nearest sites.
    dtype : dtype, optional
        float32 (default) or float64; for `squared`, uint32, uint64 or float64 (default: the narrowest that is exact).
    out, indices_out, offsets_out : array, optional
        Where to put the results. Shapes and dtypes must be those of the results (`indices_out`: int32 or int64;
        `offsets_out`: float32 or float64).
    backend : {None, "auto", "cpu", "cuda"}
        Where to compute; None and "auto": where `x` lies.
    threads : int, optional
        Most threads to use; all processors if not given. Results do not depend on it.
    stream : optional
        CUDA stream to order the work on, for arrays on a CUDA device: PyTorch's, CuPy's, an address, or anything with
        ``__cuda_stream__``; by default the current stream of PyTorch or CuPy. The call returns as soon as the work is
        on the stream. Arrays of other libraries, such as JAX, have no current stream: the default one is taken, and the
        call waits for the result.
    progress : bool or callable, optional
        True shows a bar on standard error; a function is called with the share done, in [0, 1]. For arrays on a CUDA
        device the work is only on its way then.

    Returns
    -------
    distances : array, shape (*batch, *region)
        The same kind of array as `x` (`out`, if given), in the unit of the spacing: correctly rounded roots of exact
        squares. +inf (integers: the type's maximum) where there is no site.
    indices : array of int32, shape (*batch, ndim, *region)
        With `return_indices`: coordinates of the nearest site in its image, -1 where there is none or where it lies
        beyond a border of sites. Of equally near sites the one with the lowest linear index.
    offsets : array of float32, shape (*batch, ndim, *region)
        With `return_offsets`, float64 if `dtype` is: the way to the same site along each axis, site minus element, in
        the unit of the spacing; over a periodic border where that is shorter. Steps times spacing in float64, rounded
        once; NaN where the index is -1.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use; the message names it and says what would do. Nothing has been computed.
    fathom.DeviceError
        An array lies on a device that cannot be reached, or `backend` asks for one; the device failed.
    KeyboardInterrupt
        Ctrl-C stops long calls; the outputs are then unspecified.

    Notes
    -----
    Cost O(N) in practice. Source: Hirata 1996, Meijster et al. 2000, Felzenszwalb & Huttenlocher 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> mask = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], np.uint8)
    >>> fathom.distance_transform(mask, squared=True)
    array([[8, 5, 4],
           [5, 2, 1],
           [4, 1, 0]], dtype=uint32)
    >>> distances, indices = fathom.distance_transform(mask, spacing=(2, 0.5), return_indices=True)
    >>> float(distances[0, 2]), indices[:, 0, 2].tolist()
    (4.0, [2, 2])

    >>> _, offsets = fathom.distance_transform(mask, spacing=(2, 0.5), return_offsets=True)
    >>> offsets[:, 0, 0].tolist()
    [4.0, 1.0]

    A batch of images in one call:

    >>> fathom.distance_transform(np.stack([mask, 1 - mask]), ndim=2).shape
    (2, 3, 3)
    """
    if indices_out is not None and not return_indices:
        raise ValueError("indices_out is given, but return_indices is False; set it to True")
    if offsets_out is not None and not return_offsets:
        raise ValueError("offsets_out is given, but return_offsets is False; set it to True")
    settings = Settings(sites_among(x, sites), spacing, metric, border, max_distance, backend, threads, signed)
    call = Call(take(x, "x", stream), ndim, region, settings, listener(progress))
    coordinates = call.components(COORDINATES, indices_out, INDICES[0]) if return_indices else None
    kind, usual = (SQUARED, for_squares(call.space, spacing)) if squared else (DISTANCES, FLOATS[0])
    result = call.output(kind, out, dtype, usual)
    offsets = None
    if return_offsets:
        is_double = dtype is not None and named(dtype, kind.allowed) == FLOATS[1]
        offsets = call.components(Kind("offsets_out", FLOATS), offsets_out, FLOATS[is_double])
    outputs = {"squared" if squared else "distance": result}
    # A 0-d array has no axes that components could lie along.
    if call.space and coordinates is not None:
        outputs["coordinates"] = coordinates
    if call.space and offsets is not None:
        outputs["offset"] = offsets
    call.run(outputs)
    if coordinates is None and offsets is None:
        return result.finish()
    return tuple([output.finish() for output in (result, coordinates, offsets) if output is not None])


@overload
def signed_distance(
    x: HostArray, *, dtype: None = None, out: None = None, **options: Unpack[SignedOptions]
) -> Singles: ...
@overload
def signed_distance(
    x: HostArray, *, dtype: npt.DTypeLike | None, out: None = None, **options: Unpack[SignedOptions]
) -> Floats: ...
@overload
def signed_distance(
    x: SameKind, *, dtype: npt.DTypeLike | None = None, out: None = None, **options: Unpack[SignedOptions]
) -> SameKind: ...
@overload
def signed_distance(
    x: ArrayLike, *, dtype: npt.DTypeLike | None = None, out: Out, **options: Unpack[SignedOptions]
) -> Out: ...
@overload
def signed_distance(
    x: ArrayLike, *, dtype: npt.DTypeLike | None = None, out: Array | None = None, **options: Unpack[SignedOptions]
) -> Any: ...
def signed_distance(
    x: ArrayLike,
    *,
    sites: Sites = "zero",
    spacing: Spacing = None,
    metric: Metric = "euclidean",
    border: Border = "open",
    surface: Surface = "faces",
    max_distance: float | None = None,
    region: Region = None,
    ndim: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Signed distance to the boundary of an object: negative inside, positive outside.

    Parameters
    ----------
    x : array, shape (*batch, *space)
        As for :func:`distance_transform`. Inside are the nonzero elements; with a comparison for `sites`, those for
        which it is true.
    surface : {"faces", "centers"}
        Where the field is zero: on the faces between inside and outside, ±(d - ½), or nowhere, ±d to the nearest
        element of the other side. "faces" needs equal spacings, but for axes of one element.
    sites, spacing, metric, border, max_distance, region, ndim, dtype, out, backend, threads, stream, progress
        As for :func:`distance_transform`. What a border of sites adds is outside.

    Returns
    -------
    array of float32 or float64, shape (*batch, *region)
        The same kind of array as `x`, in the unit of the spacing; ±inf where the other side is empty.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.signed_distance(np.array([[0, 0, 1, 1, 1]]))
    array([[ 1.5,  0.5, -0.5, -1.5, -2.5]], dtype=float32)
    >>> fathom.signed_distance(np.array([[0, 0, 1, 1, 1]]), surface="centers")
    array([[ 2.,  1., -1., -2., -3.]], dtype=float32)
    """
    settings = Settings(sites_among(x, sites), spacing, metric, border, max_distance, backend, threads, True, surface)
    call = Call(take(x, "x", stream), ndim, region, settings, listener(progress))
    result = call.output(DISTANCES, out, dtype, FLOATS[0])
    call.run({"distance": result})
    return result.finish()


@overload
def nearest_site(
    x: HostArray, *, dtype: npt.DTypeLike | None = None, out: None = None, **options: Unpack[RegionOptions]
) -> Integers: ...
@overload
def nearest_site(
    x: SameKind, *, dtype: npt.DTypeLike | None = None, out: None = None, **options: Unpack[RegionOptions]
) -> SameKind: ...
@overload
def nearest_site(
    x: ArrayLike, *, dtype: npt.DTypeLike | None = None, out: Out, **options: Unpack[RegionOptions]
) -> Out: ...
@overload
def nearest_site(
    x: ArrayLike, *, dtype: npt.DTypeLike | None = None, out: Array | None = None, **options: Unpack[RegionOptions]
) -> Any: ...
def nearest_site(
    x: ArrayLike,
    *,
    sites: Sites = "zero",
    spacing: Spacing = None,
    metric: Metric = "euclidean",
    border: Border = "open",
    max_distance: float | None = None,
    region: Region = None,
    ndim: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Array | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Any:
    """Linear index of the site nearest to each element: the feature transform, or discrete Voronoi diagram.

    Parameters
    ----------
    x, sites, spacing, metric, border, max_distance, region, ndim, backend, threads, stream, progress
        As for :func:`distance_transform`.
    dtype : dtype, optional
        int32 or int64; by default the narrowest that holds all indices.
    out : array, optional
        Where to put the result.

    Returns
    -------
    array of int32 or int64, shape (*batch, *region)
        Row-major index into the element's whole image, the lowest of equally near sites; -1 where there is no site
        within `max_distance` or where it lies beyond a border of sites. For coordinates, use :func:`distance_transform`
        with ``return_indices=True``.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`distance_transform`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> labels = np.array([[5, 0, 0, 0, 7]])
    >>> nearest = fathom.nearest_site(labels, sites="nonzero")
    >>> nearest
    array([[0, 0, 0, 4, 4]], dtype=int32)
    >>> labels.ravel()[nearest]
    array([[5, 5, 5, 7, 7]])
    """
    settings = Settings(sites_among(x, sites), spacing, metric, border, max_distance, backend, threads)
    call = Call(take(x, "x", stream), ndim, region, settings, listener(progress))
    result = call.output(NEAREST, out, dtype, for_indices(call.space))
    call.run({"nearest": result})
    return result.finish()
